//! Mails about settlements.

use super::{
    model::{SettlementRow, SettlementStatus},
    store,
};
use crate::{
    app::App,
    kernel::{
        error::Result,
        ids::Uuid,
        lang::{Text, text},
        mail::Letter,
    },
    partners,
};

fn plain(value: String) -> Text {
    Text::new(value.clone(), value)
}

/// The account that it was paid to, masked.
fn account(settlement: &SettlementRow) -> String {
    let said = |name: &str| {
        let bank = settlement.bank_account.as_ref();
        bank.and_then(|bank| bank[name].as_str()).unwrap_or_default().to_owned()
    };
    format!("{} {}", said("bank_code"), said("account_number"))
}

/// The mail about a payout that failed or came back; `None` if there is no recipient, or if it was
/// paid meanwhile.
pub async fn return_letter(app: &App, id: Uuid) -> Result<Option<Letter>> {
    let Some(settlement) = store::get(&app.db, id).await? else { return Ok(None) };
    let Some(partner) = partners::find(&app.db, settlement.partner_id).await? else {
        return Ok(None);
    };
    let Some(reason) = settlement.failure.clone() else { return Ok(None) };
    let Ok(to) = partner.email.parse() else { return Ok(None) };
    Ok(Some(Letter {
        to,
        name: partner.name,
        lang: partner.lang,
        subject: Text::new(
            format!("The payout of {} came back", settlement.net),
            format!("Pencairan {} dikembalikan", settlement.net),
        ),
        paragraphs: vec![text(
            "The bank did not credit your account. Please check your bank account in your profile; \
             we will pay you again.",
            "Bank tidak mengkredit rekening Anda. Periksa rekening pada profil Anda; kami akan \
             membayar kembali.",
        )],
        facts: vec![
            (text("Settlement", "Settlement"), plain(settlement.code.clone())),
            (text("Amount", "Jumlah"), plain(settlement.net.to_string())),
            (text("Account", "Rekening"), plain(account(&settlement))),
            (text("Reason", "Alasan"), plain(reason)),
        ],
        action: None,
        attachment: None,
    }))
}

/// The mail about a settlement that was paid out; `None` if there is no recipient, or if the payout
/// came back meanwhile.
pub async fn letter(app: &App, id: Uuid) -> Result<Option<Letter>> {
    let Some(settlement) = store::get(&app.db, id).await? else { return Ok(None) };
    if settlement.status != SettlementStatus::Released {
        return Ok(None);
    }
    let Some(partner) = partners::find(&app.db, settlement.partner_id).await? else {
        return Ok(None);
    };
    // The placeholder of an erased partner is no address.
    let Ok(to) = partner.email.parse() else { return Ok(None) };
    let account = account(&settlement);
    let period = format!("{} – {}", settlement.start_date, settlement.end_date);
    Ok(Some(Letter {
        to,
        name: partner.name,
        lang: partner.lang,
        subject: Text::new(
            format!("{} has been paid out to you", settlement.net),
            format!("{} telah dikirim kepada Anda", settlement.net),
        ),
        paragraphs: vec![text(
            "We have paid out your earnings. The settlement lists every booking.",
            "Kami telah membayarkan pendapatan Anda. Rincian setiap pemesanan ada pada settlement.",
        )],
        facts: vec![
            (text("Settlement", "Settlement"), plain(settlement.code)),
            (text("Period", "Periode"), plain(period)),
            (text("Bookings", "Pemesanan"), plain(settlement.booking_count.to_string())),
            (text("Gross", "Bruto"), plain(settlement.gross.to_string())),
            (
                text("Commission and tax", "Komisi dan pajak"),
                plain((settlement.commission + settlement.commission_tax).to_string()),
            ),
            (text("Paid out", "Dibayarkan"), plain(settlement.net.to_string())),
            (text("Account", "Rekening"), plain(account)),
            (text("Reference", "Referensi"), plain(settlement.reference.unwrap_or_default())),
        ],
        action: None,
        attachment: None,
    }))
}
