//! Mails to partners.

use super::{model::Partner, onboarding::DocumentType, store};
use crate::{
    app::App,
    events::RejectedDocument,
    kernel::{
        error::Result,
        ids::Uuid,
        lang::{Text, text},
        mail::Letter,
    },
};

/// The letters to a partner.
pub enum PartnerLetter {
    Welcome,
    Submitted,
    Approved,
    Revision { rejected: Vec<RejectedDocument> },
    ReviewResumed,
    BankChanged,
    BankApproved,
    BankRejected { reason: String },
    Suspended { reason: String },
    Unsuspended,
}

/// `None`: there is no such partner any more, or it was erased.
pub async fn letter(app: &App, id: Uuid, kind: PartnerLetter) -> Result<Option<Letter>> {
    let (subject, paragraphs) = match kind {
        PartnerLetter::Welcome => welcome(),
        PartnerLetter::Submitted => submitted(),
        PartnerLetter::Approved => approved(),
        PartnerLetter::Revision { rejected } => revision(rejected),
        PartnerLetter::ReviewResumed => review_resumed(),
        PartnerLetter::BankChanged => bank_changed(),
        PartnerLetter::BankApproved => bank_approved(),
        PartnerLetter::BankRejected { reason } => bank_rejected(reason),
        PartnerLetter::Suspended { reason } => suspended(reason),
        PartnerLetter::Unsuspended => unsuspended(),
    };
    let Some(partner) = store::get(&app.db, id).await? else { return Ok(None) };
    let Partner { name, email, lang, .. } = partner;
    // The placeholder of an erased partner is no address.
    let Ok(to) = email.parse() else { return Ok(None) };
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

fn revision(rejected: Vec<RejectedDocument>) -> (Text, Vec<Text>) {
    let mut paragraphs = vec![text(
        "Please send these documents again:",
        "Beberapa dokumen Anda perlu dikirim ulang:",
    )];
    paragraphs.extend(rejected.into_iter().map(|RejectedDocument { kind, note }| {
        // A type of a newer version is called by its own name.
        let (en, id) = match kind.parse() {
            Ok(kind) => called(kind),
            Err(_) => (kind.as_str(), kind.as_str()),
        };
        Text::new(format!("{en}: {note}"), format!("{id}: {note}"))
    }));
    paragraphs.push(text(
        "Until then you cannot publish new sailings. Sailings that are already on sale stay on \
         sale.",
        "Sampai saat itu Anda tidak dapat menerbitkan jadwal baru. Yang sudah dijual tetap dijual.",
    ));
    (text("Please correct your documents", "Mohon perbaiki dokumen Anda"), paragraphs)
}

fn review_resumed() -> (Text, Vec<Text>) {
    (
        text("Your documents are under review again", "Dokumen Anda kembali diperiksa"),
        vec![text(
            "We have accepted what we had rejected before. You need not send it again.",
            "Dokumen yang tadinya ditolak kami terima. Anda tidak perlu mengirim ulang.",
        )],
    )
}

fn bank_changed() -> (Text, Vec<Text>) {
    (
        text("Your bank account was changed", "Rekening Anda diubah"),
        vec![
            text(
                "We will check the new bank account. Until then your settlements are held.",
                "Kami akan memeriksa rekening baru. Sampai selesai, pencairan Anda ditahan.",
            ),
            text(
                "If you have not changed it yourself, change your password and contact us at once.",
                "Jika bukan Anda yang mengubahnya, segera ganti kata sandi dan hubungi kami.",
            ),
        ],
    )
}

fn bank_approved() -> (Text, Vec<Text>) {
    (
        text("Your bank account is approved", "Rekening Anda disetujui"),
        vec![text(
            "From now on your settlements are paid to the new bank account.",
            "Mulai sekarang pencairan Anda dibayarkan ke rekening baru.",
        )],
    )
}

fn bank_rejected(reason: String) -> (Text, Vec<Text>) {
    (
        text("Your bank account is rejected", "Rekening Anda ditolak"),
        vec![
            Text::new(format!("Reason: {reason}"), format!("Alasan: {reason}")),
            text(
                "The bank account that was approved last stays in force. To use another one, \
                 please correct your bank account.",
                "Rekening yang terakhir disetujui tetap berlaku. Untuk memakai rekening lain, \
                 mohon perbaiki rekening Anda.",
            ),
        ],
    )
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
