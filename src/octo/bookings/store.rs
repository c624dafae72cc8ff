//! The SQL of resellers' bookings.

use chrono::{DateTime, NaiveDate, Utc};

use crate::{
    bookings::{Boarded, BookingStatus, FareLine, Price, StoredPassenger, TaxAmount},
    kernel::{
        db::{Db, Failure, Json, Tx},
        error::Result,
        ids::{self, Uuid},
        money::Rupiah,
    },
    octo::{
        product::ProductId,
        request::Contact,
        store::{LineRow, SailingRow, line_columns, line_tables, sailing_columns},
    },
};

/// What is stored of a booking, apart from its line and sailing.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct StoredBooking {
    pub id: Uuid,
    pub code: String,
    pub status: BookingStatus,
    pub octo_uuid: Uuid,
    pub reseller_reference: Option<String>,
    pub is_day_ticket: bool,
    pub octo_contact: Option<Json<Contact>>,
    pub note: String,
    pub passengers: Json<Vec<StoredPassenger>>,
    pub boarded: Json<Boarded>,
    pub fare_lines: Json<Vec<FareLine>>,
    pub taxes: Json<Vec<TaxAmount>>,
    pub total: Rupiah,
    pub expires_at: DateTime<Utc>,
    pub paid_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub cancel_reason: Option<String>,
    pub refund_amount: Option<Rupiah>,
    pub promised_at: Option<DateTime<Utc>>,
    pub called_off: bool,
    pub refund_cap: Option<i32>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A booking of a reseller.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Row {
    #[row(flatten)]
    pub stored: StoredBooking,
    #[row(flatten)]
    pub line: LineRow,
    #[row(flatten)]
    pub sailing: SailingRow,
}

impl std::ops::Deref for Row {
    type Target = StoredBooking;

    fn deref(&self) -> &StoredBooking {
        &self.stored
    }
}

macro_rules! bookings {
    ($rest:literal) => {
        concat!(
            "SELECT k.id, k.code, k.status, k.octo_uuid, k.reseller_reference,
               k.day_ticket AS is_day_ticket, k.octo_contact, k.note, k.passengers, k.boarded, k.fare_lines, k.taxes,
               k.total, k.expires_at, k.paid_at, k.cancelled_at, k.cancel_reason, k.refund_amount,
               k.promised_at, k.called_off, k.refund_cap, k.created_at, k.updated_at, ",
            line_columns!(),
            ", ",
            sailing_columns!(),
            " FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id
             JOIN speedboats b ON b.id = s.speedboat_id
             JOIN lines l ON l.id = s.line_id",
            line_tables!(),
            $rest
        )
    };
}

const BY_UUID: &str = bookings!(" WHERE k.reseller_id = $1 AND k.octo_uuid = $2");

pub async fn get(db: &Db, reseller: Uuid, uuid: Uuid) -> Result<Option<Row>> {
    Ok(db.sql(BY_UUID).bind(reseller).bind(uuid).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, reseller: Uuid, uuid: Uuid) -> Result<Option<Row>> {
    Ok(tx.sql(BY_UUID).bind(reseller).bind(uuid).maybe().await?)
}

/// The hash of the request that made a booking, if there is one with this uuid.
pub async fn digest(db: &Db, reseller: Uuid, uuid: Uuid) -> Result<Option<String>> {
    let digest: Option<(Option<String>,)> = db
        .sql("SELECT request_digest FROM bookings WHERE reseller_id = $1 AND octo_uuid = $2")
        .bind(reseller)
        .bind(uuid)
        .maybe()
        .await?;
    Ok(digest.map(|(digest,)| digest.unwrap_or_default()))
}

/// Locks the booking's row until the transaction ends. `false`: there is none.
pub async fn lock(tx: &mut Tx, reseller: Uuid, uuid: Uuid) -> Result<bool> {
    let locked = tx
        .sql(
            "UPDATE bookings SET updated_at = updated_at
             WHERE reseller_id = $1 AND octo_uuid = $2",
        )
        .bind(reseller)
        .bind(uuid)
        .run()
        .await?;
    Ok(locked == 1)
}

/// Which bookings are listed.
pub struct Asked {
    pub filter: Filter,
    pub product: Option<ProductId>,
    pub partner: Option<Uuid>,
}

pub enum Filter {
    ResellerReference(String),
    SupplierReference(String),
    /// Days of travel.
    Days(NaiveDate, NaiveDate),
}

macro_rules! listed {
    ($filter:literal) => {
        concat!(
            bookings!(
                " WHERE k.reseller_id = $1 AND ($2 IS NULL OR l.partner_id = $2)
                    AND ($3 IS NULL OR l.id = $3) AND ($4 IS NULL OR k.day_ticket = $4) AND "
            ),
            $filter,
            " ORDER BY k.created_at DESC, k.id DESC LIMIT CAST($5 AS BIGINT)"
        )
    };
}

/// The newest first, at most `limit`.
pub async fn list(db: &Db, reseller: Uuid, asked: &Asked, limit: i64) -> Result<Vec<Row>> {
    let of = |statement| {
        db.sql(statement)
            .bind(reseller)
            .bind(asked.partner)
            .bind(asked.product.map(|product| product.line))
            .bind(asked.product.map(|product| product.day_ticket))
            .bind(limit)
    };
    let statement = match &asked.filter {
        Filter::ResellerReference(reference) => {
            of(listed!("k.reseller_reference = $6")).bind(reference.clone())
        }
        Filter::SupplierReference(code) => of(listed!("k.code = $6")).bind(code.clone()),
        // The index has departures; the day in any zone is within these two days of it.
        Filter::Days(first, last) => {
            let start = |day: NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
            let (from, until) = (
                start(first.pred_opt().unwrap_or(*first)),
                start(last.succ_opt().unwrap_or(*last)),
            );
            of(listed!("s.day BETWEEN $6 AND $7 AND k.departure_at >= $8 AND k.departure_at < $9"))
                .bind(*first)
                .bind(*last)
                .bind(from)
                .bind(until)
                .long()
        }
    };
    Ok(statement.all().await?)
}

/// The columns of a hold that a reseller changes.
pub struct Change<'a> {
    /// The sailing and the line that it is sold on from now on.
    pub line: &'a LineRow,
    pub sailing: &'a SailingRow,
    pub day_ticket: bool,
    pub seats: i32,
    pub price: &'a Price,
    pub passengers: &'a [StoredPassenger],
    pub expires_at: DateTime<Utc>,
}

/// Gives a hold another sailing, other passengers and another price. Triggers move its seats; an
/// exclusion failure means that there are none.
pub async fn change_hold(
    tx: &mut Tx,
    id: Uuid,
    change: &Change<'_>,
    now: DateTime<Utc>,
) -> Result<bool, Failure> {
    let price = change.price;
    let changed = tx
        .sql(
            "UPDATE bookings SET sailing_id = $1, speedboat_id = $2, partner_id = $3,
               departure_at = $4, arrival_at = $5, day_ticket = $6, qty = $7, seats = $8,
               unit_price = $9, fare_lines = $10, subtotal = $11, margin = $12, taxes = $13,
               tax = $14, total = $15, commission_rate = $16, commission = $17,
               commission_taxes = $18, commission_tax = $19, partner_net = $20, passengers = $21,
               expires_at = $22, promised_at = NULL, updated_at = $23, surcharge = $25
             WHERE id = $24 AND status = 'pending_payment'",
        )
        .bind(change.sailing.sailing_id)
        .bind(change.sailing.speedboat_id)
        .bind(change.line.partner_id)
        .bind(change.sailing.departure_at)
        .bind(change.sailing.arrival_at)
        .bind(change.day_ticket)
        .bind(change.passengers.len() as i32)
        .bind(change.seats)
        .bind(price.unit_price)
        .bind(Json(price.lines.clone()))
        .bind(price.subtotal)
        .bind(price.margin)
        .bind(Json(price.taxes.clone()))
        .bind(price.tax)
        .bind(price.total)
        .bind(price.commission_rate)
        .bind(price.commission)
        .bind(Json(price.commission_taxes.clone()))
        .bind(price.commission_tax)
        .bind(price.partner_net)
        .bind(Json(change.passengers.to_vec()))
        .bind(change.expires_at)
        .bind(now)
        .bind(id)
        .bind(price.surcharge())
        .run()
        .await?;
    Ok(changed == 1)
}

/// Locks sailings in one order, and reads whether one of them is as it was seen.
pub async fn lock_sailings(tx: &mut Tx, mut ids: Vec<Uuid>, seen: &SailingRow) -> Result<bool> {
    ids.sort();
    ids.dedup();
    for id in ids {
        tx.sql("UPDATE sailings SET seats_taken = seats_taken WHERE id = $1")
            .bind(id)
            .run()
            .await?;
    }
    let same: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM sailings WHERE id = $1 AND departure_at = $2 AND price = $3
               AND speedboat_id = $4 AND status = 'open' AND manifest_closed_at IS NULL",
        )
        .bind(seen.sailing_id)
        .bind(seen.departure_at)
        .bind(seen.price)
        .bind(seen.speedboat_id)
        .maybe()
        .await?;
    Ok(same.is_some())
}

/// Texts of a booking. Our own columns of the contact are normalised, and may be empty.
pub struct Texts<'a> {
    pub reference: Option<&'a str>,
    pub note: &'a str,
    pub contact: Option<&'a Contact>,
    pub name: &'a str,
    pub email: &'a str,
    pub phone: &'a str,
    pub email_receipt: bool,
    pub passengers: &'a [StoredPassenger],
}

pub async fn set_texts(tx: &mut Tx, id: Uuid, texts: &Texts<'_>, now: DateTime<Utc>) -> Result<()> {
    let contact = texts.contact.map(|contact| Json(contact.clone()));
    tx.sql(
        "UPDATE bookings SET reseller_reference = $1, note = $2, octo_contact = $3,
           contact_name = $4, contact_email = $5, contact_phone = $6,
           email_receipt = email_receipt OR $7, passengers = $8, updated_at = $9
         WHERE id = $10",
    )
    .bind(texts.reference.map(str::to_owned))
    .bind(texts.note.to_owned())
    .bind(contact)
    .bind(texts.name.to_owned())
    .bind(texts.email.to_owned())
    .bind(texts.phone.to_owned())
    .bind(texts.email_receipt)
    .bind(Json(texts.passengers.to_vec()))
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

pub async fn extend(
    tx: &mut Tx,
    id: Uuid,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE bookings SET expires_at = $1, updated_at = $2
         WHERE id = $3 AND status = 'pending_payment'",
    )
    .bind(expires_at)
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// The price goes on the account of the reseller.
pub async fn insert_payment(tx: &mut Tx, booking: &Row, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount, method,
           leased_until, paid_at, created_at)
         SELECT $1, k.id, 1, 'account', k.code || '-1', 'paid', k.total, 'account', $2, $2, $2
         FROM bookings k WHERE k.id = $3",
    )
    .bind(ids::fresh())
    .bind(now)
    .bind(booking.id)
    .run()
    .await?;
    Ok(())
}
