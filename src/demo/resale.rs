//! A reseller that sells seats of one partner through OCTO.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use super::{
    Generator, PASSWORD,
    base_data::{BaseData, give_password},
    client::ApiClient,
};

/// Name and e-mail.
pub const RESELLER: (&str, &str) = ("Wisata Kuta", "agen@wisatakuta.example");
/// The partner that it sells: its boats have seats for groups, which testers of OCTO book.
const PARTNER: &str = "putu@gili.example";
/// Most passengers of one of its bookings.
const MAX_PARTY: i32 = 5;

/// The reseller, and what it sells.
pub struct Resale {
    id: String,
    partner_id: String,
    lines: Vec<String>,
    /// The key of the history, which is revoked at its end.
    key_id: String,
    client: ApiClient,
}

fn text(record: &Value, name: &str) -> Result<String, String> {
    record[name].as_str().map(str::to_owned).ok_or_else(|| format!("no {name} in {record}"))
}

pub async fn create(generator: &mut Generator) -> Result<Resale, String> {
    let admin = generator.admin().await?;
    let partner = generator.guest.signed_in(PARTNER, PASSWORD, "mitra").await?;
    let mut lines = Vec::new();
    for line in partner.get("/v1/mitra/lines").await?.as_array().into_iter().flatten() {
        let id = text(line, "id")?;
        // The way back is also sold as a ticket for any sailing of the day.
        let consent = json!({
            "resale": true, "day_ticket": !lines.is_empty(), "max_party": MAX_PARTY,
        });
        partner.put(&format!("/v1/mitra/lines/{id}"), consent).await?;
        lines.push(id);
    }
    let partner_id = text(&partner.get("/user/me").await?["mitra"], "id")?;
    let (name, email) = RESELLER;
    let reseller = json!({
        "name": name, "legal_name": "PT Wisata Kuta Sejahtera", "email": email,
        "phone": "081234567892", "address": "Jl. Legian 10, Kuta", "credit_limit": 500_000_000,
    });
    let reseller = admin.post("/v1/resellers", reseller).await?;
    give_password(generator, &reseller["user_id"]).await?;
    let id = text(&reseller, "id")?;
    let grant = json!({
        "mitra_id": partner_id, "margin_rate": 8,
        "refund_policy": [{ "hours_before": 1, "percent": 100 }],
    });
    admin.put(&format!("/v1/resellers/{id}/partners"), json!({ "grants": [grant] })).await?;
    let key = create_key(&admin, &id, "Riwayat").await?;
    let client = generator.guest.with_token(text(&key, "key")?);
    Ok(Resale { id, partner_id, lines, key_id: text(&key, "id")?, client })
}

async fn create_key(admin: &ApiClient, reseller: &str, name: &str) -> Result<Value, String> {
    let key = json!({ "name": name, "scopes": ["catalog", "bookings.read", "bookings.write"] });
    admin.post(&format!("/v1/resellers/{reseller}/keys"), key).await
}

/// A key of the reseller, which is shown once.
pub async fn new_key(client: &ApiClient) -> Result<String, String> {
    let admin = client.signed_in(super::ADMIN, PASSWORD, "admin").await?;
    let resellers = admin.get("/v1/resellers").await?;
    let key = create_key(&admin, &text(&resellers[0], "id")?, "Demo").await?;
    text(&key, "key")
}

/// Sales of a day: two travel, one is cancelled, and one is never confirmed.
pub async fn sell(resale: &Resale, day: NaiveDate) -> Result<(), String> {
    for (n, line) in (0..4_u64).zip(resale.lines.iter().cycle()) {
        let asked = json!({
            "productId": line, "optionId": "DEFAULT", "localDate": day + Days::new(1 + n % 3),
        });
        let found = resale.client.octo("/octo/availability", asked).await?;
        let open = found.as_array().into_iter().flatten().find(|one| one["available"] == true);
        let Some(open) = open else { continue };
        let mut items = vec![json!({ "unitId": "adult_foreign" }); 1 + n as usize % 3];
        items.push(json!({ "unitId": "child" }));
        let order = json!({
            "productId": line, "optionId": "DEFAULT", "availabilityId": open["id"],
            "unitItems": items, "resellerReference": format!("WK-{day}-{n}"),
        });
        // The sailing may be full meanwhile.
        let Ok(held) = resale.client.octo("/octo/bookings", order).await else { continue };
        let path = format!("/octo/bookings/{}", text(&held, "uuid")?);
        if n == 3 {
            continue;
        }
        let contact = json!({ "fullName": "Emma Jansen", "emailAddress": "emma@example.com" });
        resale.client.octo(&format!("{path}/confirm"), json!({ "contact": contact })).await?;
        if n == 2 {
            let reason = json!({ "reason": "Tamu sakit" });
            resale.client.octo(&format!("{path}/cancel"), reason).await?;
        }
    }
    Ok(())
}

/// Invoices the sales of a period, and records the transfer if it is paid. There may be none.
pub async fn invoice(
    generator: &mut Generator,
    resale: &Resale,
    (start, end): (NaiveDate, NaiveDate),
    is_paid: bool,
) -> Result<(), String> {
    let admin = generator.admin().await?;
    let desk = format!("/v1/resellers/{}", resale.id);
    let period = json!({ "start_date": start, "end_date": end });
    let Ok(invoice) = admin.post(&format!("{desk}/invoices"), period).await else { return Ok(()) };
    if is_paid {
        let transfer = json!({
            "amount": invoice["amount"], "reference": "BCA-WK-1", "received_on": end,
        });
        admin.post(&format!("{desk}/payments"), transfer).await?;
    }
    Ok(())
}

/// One sailing ahead is full, and the key of the history is revoked.
pub async fn finish(
    generator: &mut Generator,
    base: &BaseData,
    today: NaiveDate,
) -> Result<(), String> {
    let resale = &base.resale;
    let partner = generator.guest.signed_in(PARTNER, PASSWORD, "mitra").await?;
    let ahead = base.by_day.get(&(today + Days::new(10))).into_iter().flatten();
    for sailing in ahead.filter(|one| one.partner_id.to_string() == resale.partner_id) {
        let charter = json!({
            "type": "charter", "item_id": sailing.speedboat_id, "route_time_id": sailing.id,
            "qty": 1, "code_promo": "", "note": "Acara kantor",
            "contact": {
                "name": "Gede Wirawan", "email": "gede@example.com", "phone": "081234567893",
            },
            "passengers": [{ "name": "Gede Wirawan" }],
        });
        // Seats of it may be sold.
        let Ok(booking) = partner.post("/v1/booking/", charter).await else { continue };
        let path = format!("/v1/booking/{}/pay-cash", text(&booking, "id")?);
        partner.post(&path, Value::Null).await?;
        break;
    }
    let admin = generator.admin().await?;
    let key = format!("/v1/resellers/{}/keys/{}", resale.id, resale.key_id);
    admin.delete(&key).await.map(drop)
}
