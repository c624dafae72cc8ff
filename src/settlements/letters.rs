//! Mails about settlements.

use super::store;
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

/// The mail about a settlement that was paid out; `None` if there is no recipient.
pub async fn letter(app: &App, id: Uuid) -> Result<Option<Letter>> {
    let Some(settlement) = store::get(&app.db, id).await? else { return Ok(None) };
    let Some(partner) = partners::find(&app.db, settlement.partner_id).await? else {
        return Ok(None);
    };
    // The placeholder of an erased partner is no address.
    let Ok(to) = partner.email.parse() else { return Ok(None) };
    let plain = |value: String| Text::new(value.clone(), value);
    let bank = settlement.bank_account.unwrap_or_default();
    let said = |name: &str| bank[name].as_str().unwrap_or_default().to_owned();
    let account = format!("{} {}", said("bank_code"), said("account_number"));
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
