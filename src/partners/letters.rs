//! Mails to partners.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    model::Partner,
    onboarding::DocumentType,
    store,
    transitions::{Rejected, TransitionEvent},
};
use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        lang::{Text, text},
        mail::Letter,
    },
};

/// A partner was created.
#[derive(Serialize, Deserialize)]
pub struct Joined {
    pub partner_id: Uuid,
    /// Created by staff: the invitation is the only mail.
    #[serde(default)]
    pub invited: bool,
}

pub async fn letter(app: &App, event: &str, news: &Value) -> Result<Option<Letter>> {
    let (partner_id, (subject, paragraphs)) = match event {
        "partner.registered" => match Joined::deserialize(news).map_err(Error::internal)? {
            Joined { invited: true, .. } => return Ok(None),
            Joined { partner_id, .. } => (partner_id, welcome()),
        },
        event => {
            let TransitionEvent { partner_id, reason, rejected } =
                TransitionEvent::deserialize(news).map_err(Error::internal)?;
            let words = match event {
                "partner.submitted" => submitted(),
                "partner.approved" => approved(),
                "partner.revision" => revision(rejected),
                "partner.suspended" => suspended(reason.unwrap_or_default()),
                "partner.unsuspended" => unsuspended(),
                other => return Err(Error::internal(format!("no mail template for {other}"))),
            };
            (partner_id, words)
        }
    };
    let Some(partner) = store::get(&app.db, partner_id).await? else { return Ok(None) };
    let Partner { name, email, lang, .. } = partner;
    let to = email.parse().map_err(Error::internal)?;
    Ok(Some(Letter::new(to, name, lang, subject, paragraphs)))
}

fn welcome() -> (Text, Vec<Text>) {
    (
        text("Welcome to Dermaga", "Selamat datang di Dermaga"),
        vec![
            text(
                "Your account is ready. To start selling, please complete your business data and \
                 submit your documents.",
                "Akun Anda sudah siap. Untuk menjual kursi, lengkapi data usaha dan unggah \
                 dokumen Anda.",
            ),
            text(
                "You can save each step and continue later.",
                "Setiap langkah dapat disimpan dan dilanjutkan kemudian.",
            ),
        ],
    )
}

fn submitted() -> (Text, Vec<Text>) {
    (
        text("We have received your documents", "Dokumen Anda kami terima"),
        vec![text(
            "Thank you. We will review your documents and send you a mail when the review is \
             complete.",
            "Terima kasih. Kami akan memeriksa dokumen Anda dan mengabari setelah selesai.",
        )],
    )
}

fn approved() -> (Text, Vec<Text>) {
    (
        text("You can start selling", "Anda dapat mulai menjual"),
        vec![text(
            "Your documents are approved. You can publish your routes now.",
            "Dokumen Anda disetujui. Anda dapat menerbitkan rute sekarang.",
        )],
    )
}

fn revision(rejected: Vec<Rejected>) -> (Text, Vec<Text>) {
    let mut paragraphs = vec![text(
        "Please send these documents again:",
        "Beberapa dokumen Anda perlu dikirim ulang:",
    )];
    paragraphs.extend(rejected.into_iter().map(|Rejected { kind, note }| {
        let (en, id) = called(kind);
        Text::new(format!("{en}: {note}"), format!("{id}: {note}"))
    }));
    paragraphs.push(text(
        "Until then you cannot publish new sailings. Sailings that are already on sale stay on \
         sale.",
        "Sampai saat itu Anda tidak dapat menerbitkan jadwal baru. Yang sudah dijual tetap dijual.",
    ));
    (text("Please correct your documents", "Mohon perbaiki dokumen Anda"), paragraphs)
}

fn suspended(reason: String) -> (Text, Vec<Text>) {
    (
        text("Your partnership is suspended", "Kemitraan Anda ditangguhkan"),
        vec![
            text(
                "Your sailings are no longer offered and settlements are held. Paid bookings \
                 remain valid.",
                "Jadwal Anda tidak lagi ditawarkan dan pencairan ditahan. Pemesanan yang sudah \
                 dibayar tetap berlaku.",
            ),
            Text::new(format!("Reason: {reason}"), format!("Alasan: {reason}")),
        ],
    )
}

fn unsuspended() -> (Text, Vec<Text>) {
    (
        text("Your partnership is active again", "Kemitraan Anda aktif kembali"),
        vec![text(
            "You can sign in again, and your sailings are on sale again.",
            "Anda dapat masuk kembali, dan jadwal Anda dijual kembali.",
        )],
    )
}

fn called(kind: DocumentType) -> (&'static str, &'static str) {
    match kind {
        DocumentType::Ktp => ("Identity card (KTP)", "KTP"),
        DocumentType::Npwp => ("Tax number (NPWP)", "NPWP"),
        DocumentType::Nib => ("Business number (NIB)", "NIB"),
        DocumentType::Deed => ("Deed of establishment", "Akta pendirian"),
        DocumentType::BankBook => ("Bank book", "Buku tabungan"),
        DocumentType::OperatingPermit => ("Operating permit", "Izin operasi"),
    }
}
