//! The SQL of bookings.

macro_rules! booking {
    ($rest:literal) => {
        concat!(
            "SELECT k.id, k.code, k.type, k.status, k.channel, k.sailing_id, k.speedboat_id,
               k.partner_id, k.departure_at, k.arrival_at, k.qty, k.seats, k.promotion_id,
               k.code_promo, k.note, k.contact_name, k.contact_email, k.contact_phone, k.lang,
               k.passengers, k.cancelled_passengers, k.boarded, k.accepted_terms, k.accepted_terms_id, k.unit_price,
               k.fare_lines, k.subtotal, k.discount, k.taxes, k.tax, k.total, k.commission_rate, k.commission,
               k.commission_taxes, k.commission_tax, k.partner_discount, k.partner_net,
               k.expires_at, k.promised_at, k.paid_at, k.completed_at, k.cancelled_at, k.cancel_reason,
               k.refund_amount, k.refund_account, k.reschedule_id, k.refund_cap,
               CAST(COALESCE((SELECT SUM(o.unpaid) FROM refunds o
                 WHERE o.booking_id = k.id AND o.unpaid > 0), 0) AS BIGINT) AS owed,
               CAST(COALESCE((SELECT SUM(v.amount) FROM payment_reviews v
                 WHERE v.booking_id = k.id AND v.resolution IN ('charge_partner', 'write_off')),
                 0) AS BIGINT) AS gone,
               k.created_at, k.called_off, k.reseller_id, k.margin, k.day_ticket, k.email_receipt,
               (SELECT x.name FROM resellers e JOIN accounts x ON x.id = e.account_id
                WHERE e.id = k.reseller_id) AS reseller_name, s.manifest_closed_at, s.reason AS sailing_reason,
               r.from_name, r.to_name, s.from_harbour_id, s.to_harbour_id, r.timezone,
               r.arrival_timezone, b.name AS speedboat_name,
               a.name AS partner_name, p.status = 'suspended' AS partner_suspended,
               y.provider AS payment_provider,
               y.reference AS payment_reference, y.status AS payment_status,
               y.method AS payment_method, y.redirect_url AS payment_redirect_url,
               y.paid_at AS payment_paid_at
             FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id
             JOIN routes r ON r.id = s.route_id
             JOIN speedboats b ON b.id = k.speedboat_id
             JOIN partners p ON p.id = k.partner_id
             JOIN accounts a ON a.id = p.account_id
             LEFT JOIN payments y ON y.id =
               (SELECT n.id FROM payments n WHERE n.booking_id = k.id AND n.reschedule_id IS NULL
                ORDER BY CASE WHEN n.status IN ('paid', 'refunded') THEN 0 ELSE 1 END,
                  n.attempt DESC LIMIT 1)",
            $rest
        )
    };
}

mod list;
mod lookup;
mod partial;
mod sailing;
mod sale;
mod words;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    earnings::CompletedBooking,
    model::{BookingRow, BookingStatus, StoredPassenger},
    rules::is_live,
};
use crate::{
    kernel::{
        db::{Db, Failure, Json, Statement, Tx},
        error::Result,
        ids::Uuid,
        money::Rupiah,
        seal::Sealer,
        set_aside::RowJob,
    },
    ledger::with_collected,
    lines::Fare,
};

pub use list::{list, list_ids};
pub use lookup::{FoundBooking, count_lookup, of_address, sweep_lookups};
pub use partial::{PartialCancellation, cancel_passengers};
pub use sailing::{
    boarding_list, boarding_list_in, cancel_all, expire_all, follow, follow_all, lock_rows,
    lock_rows_of, set_boarded,
};
pub use sale::{INSERT_BOOKING, SELECT_OFFER, bind_new, offer};
pub use words::index_texts;

const BY_ID: &str = booking!(" WHERE k.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<BookingRow>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

/// The most bookings of [`revisions`].
pub const REVISIONS: usize = 16;

/// Which change of each booking, its payments or its refunds was the last one.
pub async fn revisions(db: &Db, ids: &[Uuid]) -> Result<HashMap<Uuid, i64>> {
    // Two statements that stay prepared, and not one for each number of bookings.
    let rows: Vec<(Uuid, i64)> = match ids {
        [id] => db.sql("SELECT id, revision FROM bookings WHERE id = $1").bind(*id).all().await?,
        _ => {
            let statement = db.sql(
                "SELECT id, revision FROM bookings WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8,
                   $9, $10, $11, $12, $13, $14, $15, $16)",
            );
            let ids = ids.iter().map(|id| Some(*id)).chain(std::iter::repeat(None));
            ids.take(REVISIONS).fold(statement, Statement::bind).all().await?
        }
    };
    Ok(rows.into_iter().collect())
}

pub async fn get_all(db: &Db, ids: &[Uuid]) -> Result<Vec<BookingRow>> {
    match ids {
        [] => Ok(Vec::new()),
        // This statement stays prepared.
        [id] => Ok(get(db, *id).await?.into_iter().collect()),
        _ => Ok(by_ids(db, ids).all().await?),
    }
}

/// The same for an export, which must not occupy the connections of short statements.
pub async fn get_all_long(db: &Db, ids: &[Uuid]) -> Result<Vec<BookingRow>> {
    Ok(by_ids(db, ids).long().all().await?)
}

fn by_ids<'d>(db: &'d Db, ids: &[Uuid]) -> Statement<'d> {
    let statement = db.sql_among(booking!(" WHERE k.id IN"), ids.len(), "");
    ids.iter().fold(statement, |statement, id| statement.bind(*id))
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<BookingRow>> {
    Ok(tx.sql(BY_ID).bind(id).maybe().await?)
}

/// Locks the booking's row until this transaction ends.
pub async fn lock_row(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE bookings SET updated_at = updated_at WHERE id = $1").bind(id).run().await?;
    Ok(())
}

/// Replaces the passengers. The row is locked by the caller.
pub async fn set_passengers(
    tx: &mut Tx,
    id: Uuid,
    passengers: &[StoredPassenger],
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql("UPDATE bookings SET passengers = $1, updated_at = $2 WHERE id = $3")
        .bind(Json(passengers.to_vec()))
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

const FARES: &str =
    "SELECT l.fares FROM sailings s JOIN lines l ON l.id = s.line_id WHERE s.id = $1";

/// The fares of the line that a sailing belongs to.
pub async fn fares_of(db: &Db, sailing: Uuid) -> Result<Vec<Fare>> {
    let (fares,): (Json<Vec<Fare>>,) = db.sql(FARES).bind(sailing).one().await?;
    Ok(fares.0)
}

pub async fn fares_of_in(tx: &mut Tx, sailing: Uuid) -> Result<Vec<Fare>> {
    let (fares,): (Json<Vec<Fare>>,) = tx.sql(FARES).bind(sailing).one().await?;
    Ok(fares.0)
}

/// Whether the partner has replaced the e-mail address of the contact.
pub async fn has_contact_by_partner(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let (by_partner,): (bool,) =
        tx.sql("SELECT contact_by_partner FROM bookings WHERE id = $1").bind(id).one().await?;
    Ok(by_partner)
}

/// Replaces the contact; a use of a promotion is counted under the new address from now on. A new
/// address has stated no account for refunds. The row is locked by the caller.
pub async fn set_contact(
    tx: &mut Tx,
    before: &BookingRow,
    after: &BookingRow,
    by_partner: bool,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE bookings SET contact_name = $1, contact_email = $2, contact_phone = $3,
           updated_at = $4,
           contact_by_partner = CASE WHEN contact_email = $2 THEN contact_by_partner ELSE $6 END,
           refund_account = CASE WHEN contact_email = $2 THEN refund_account END
         WHERE id = $5",
    )
    .bind(after.contact_name.clone())
    .bind(after.contact_email.clone())
    .bind(after.contact_phone.clone())
    .bind(now)
    .bind(before.id)
    .bind(by_partner)
    .run()
    .await?;
    let Some(promotion) = before.promotion_id else { return Ok(()) };
    if before.contact_email == after.contact_email || !is_live(before.status) {
        return Ok(());
    }
    tx.sql("UPDATE promotion_uses SET used = used - 1 WHERE promotion_id = $1 AND email = $2")
        .bind(promotion)
        .bind(before.contact_email.clone())
        .run()
        .await?;
    // The limit per customer binds new bookings; this one had its use before.
    tx.sql(
        "INSERT INTO promotion_uses (promotion_id, email, used) VALUES ($1, $2, 1)
         ON CONFLICT (promotion_id, email) DO UPDATE SET used = promotion_uses.used + 1",
    )
    .bind(promotion)
    .bind(after.contact_email.clone())
    .run()
    .await?;
    Ok(())
}

/// Where the booker wants refunds, encrypted. The row is locked by the caller.
pub async fn set_refund_account(
    tx: &mut Tx,
    id: Uuid,
    sealed: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql("UPDATE bookings SET refund_account = $1, updated_at = $2 WHERE id = $3")
        .bind(sealed.to_owned())
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// Columns that a transition writes besides the status.
#[derive(Default)]
pub struct TransitionDetails {
    pub refund_amount: Option<Rupiah>,
}

/// What belongs to the money of a booking that was just cancelled.
#[derive(crate::kernel::db::FromRow)]
pub struct Cancelled {
    /// Cash that its partner collected for it.
    pub collected: Rupiah,
    /// Its other refunds that are not paid yet.
    pub owed: Rupiah,
}

/// Cancels a booking if every column that the decision was based on is unchanged; `None` otherwise.
pub async fn cancel(
    tx: &mut Tx,
    seen: &BookingRow,
    to: BookingStatus,
    refund_amount: Option<Rupiah>,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Option<Cancelled>> {
    // The price changes only with a reschedule or a cancellation of some passengers, and the promised
    // departure only with the departure.
    let cancelled = tx
        .sql(with_collected!(
            "UPDATE bookings SET status = $1, updated_at = $2, cancelled_at = $2,
               cancel_reason = $3, refund_amount = COALESCE($4, refund_amount)
             WHERE id = $5 AND status = $6 AND departure_at = $7 AND sailing_id = $8
               AND COALESCE(reschedule_id, id) = $9 AND contact_email = $10
               AND qty = $11 AND total = $12
             RETURNING CAST(COALESCE((SELECT SUM(o.unpaid) FROM refunds o
               WHERE o.booking_id = bookings.id AND o.unpaid > 0), 0) AS BIGINT) AS owed, ",
            "bookings.id",
            "AS collected"
        ))
        .bind(to)
        .bind(now)
        .bind(reason.to_owned())
        .bind(refund_amount)
        .bind(seen.id)
        .bind(seen.status)
        .bind(seen.departure_at)
        .bind(seen.sailing_id)
        .bind(seen.reschedule_id.unwrap_or(seen.id))
        .bind(seen.contact_email.clone())
        .bind(seen.qty)
        .bind(seen.total)
        .maybe()
        .await?;
    Ok(cancelled)
}

/// Moves a booking that is in `from`; `false` if it no longer is. Triggers adjust seats and
/// promotion; an exclusion failure means that there are none left.
pub async fn advance(
    tx: &mut Tx,
    id: Uuid,
    from: BookingStatus,
    to: BookingStatus,
    details: TransitionDetails,
    now: DateTime<Utc>,
) -> Result<bool, Failure> {
    let at = |is: bool| is.then_some(now);
    let moved = tx
        .sql(
            "UPDATE bookings SET status = $1, updated_at = $2,
               paid_at = COALESCE(paid_at, $3), completed_at = COALESCE($4, completed_at),
               refund_amount = COALESCE($5, refund_amount),
               refunded_at = $6
             WHERE id = $7 AND status = $8",
        )
        .bind(to)
        .bind(now)
        .bind(at(to == BookingStatus::Paid))
        .bind(at(to == BookingStatus::Completed))
        .bind(details.refund_amount)
        .bind(at(to == BookingStatus::Refunded))
        .bind(id)
        .bind(from)
        .run()
        .await?;
    Ok(moved == 1)
}

/// Ends bookings whose refund was credited to the account of their reseller.
pub async fn end_refunded(tx: &mut Tx, ids: &[Uuid], now: DateTime<Utc>) -> Result<()> {
    for id in ids {
        tx.sql(
            "UPDATE bookings SET status = 'refunded', refunded_at = $1, updated_at = $1
             WHERE id = $2 AND status = 'refund_pending'",
        )
        .bind(now)
        .bind(*id)
        .run()
        .await?;
        tx.sql("UPDATE payments SET status = 'refunded' WHERE booking_id = $1 AND status = 'paid'")
            .bind(*id)
            .run()
            .await?;
    }
    Ok(())
}

/// Moves a booking whose seats are held to `paid`; `false` if it has changed meanwhile. The caller
/// announces it.
pub async fn pay_held(tx: &mut Tx, id: Uuid, total: Rupiah, now: DateTime<Utc>) -> Result<bool> {
    let paid = tx
        .sql(
            "UPDATE bookings SET status = 'paid', paid_at = $1, updated_at = $1,
               revision = revision + 1
             WHERE id = $2 AND status = 'pending_payment' AND total = $3 AND departure_at > $1",
        )
        .bind(now)
        .bind(id)
        .bind(total)
        .run()
        .await?;
    Ok(paid == 1)
}

/// Expires a hold; `false` if the booking was moved meanwhile.
pub async fn expire(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let expired = tx
        .sql(
            "UPDATE bookings SET status = 'expired', updated_at = $1
             WHERE id = $2 AND status = 'pending_payment' AND expires_at <= $1",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(expired == 1)
}

/// A batch of holds that are due and have not failed to expire before, oldest first.
pub async fn due(db: &Db, limit: i64, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let due: Vec<(Uuid,)> = db
        .sql(
            "SELECT k.id FROM bookings k
             WHERE k.status = 'pending_payment' AND k.expires_at <= $1 AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $3 AND a.entity_id = k.id)
             ORDER BY k.expires_at LIMIT CAST($2 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(limit)
        .bind(RowJob::ExpireHolds)
        .all()
        .await?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}

/// Paid bookings whose boat has arrived and that have not failed to complete before. The condition on
/// `departure_at` leaves out all that have not departed; `bookings_status_departure` has both times.
macro_rules! arrived {
    ($limit:literal, $now:literal, $job:literal) => {
        concat!(
            "SELECT k.id FROM bookings k
             WHERE k.status = 'paid' AND k.status <> 'pending_payment' AND k.departure_at <= ",
            $now,
            " AND k.arrival_at <= ",
            $now,
            " AND NOT EXISTS (SELECT 1 FROM set_aside a WHERE a.job = ",
            $job,
            " AND a.entity_id = k.id) ORDER BY k.departure_at LIMIT CAST(",
            $limit,
            " AS BIGINT)"
        )
    };
}

/// Completes paid bookings whose boat has arrived. The conditions outside of `$which` are checked
/// again on a row that was changed concurrently.
macro_rules! complete {
    ($($which:tt)+) => {
        concat!(
            "UPDATE bookings SET status = $1, completed_at = $2, updated_at = $2
             WHERE status = 'paid' AND arrival_at <= $2 AND id ",
            $($which)+,
            with_collected!(
                " RETURNING id, partner_id, reschedule_id, reseller_id, unit_price, subtotal,
                    discount, partner_discount, margin, taxes, tax, total, commission_rate, commission,
                    commission_taxes, commission_tax, partner_net,
                    (SELECT s.day FROM sailings s WHERE s.id = sailing_id) AS day, ",
                "bookings.id",
                "AS collected"
            )
        )
    };
}

/// Paid bookings whose boat has arrived, the earliest departure first. A read that saves a write
/// transaction when there are none.
pub async fn arrived(db: &Db, limit: i64, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let arrived: Vec<(Uuid,)> = db
        .sql(arrived!("$1", "$2", "$3"))
        .without_cached_plan()
        .bind(limit)
        .bind(now)
        .bind(RowJob::CompleteJourneys)
        .all()
        .await?;
    Ok(arrived.into_iter().map(|(id,)| id).collect())
}

/// Completes a batch of them, earliest first.
pub async fn complete(
    tx: &mut Tx,
    to: BookingStatus,
    limit: i64,
    now: DateTime<Utc>,
) -> Result<Vec<CompletedBooking>> {
    let sailed = tx
        .sql(complete!("IN (", arrived!("$3", "$2", "$4"), ")"))
        .without_cached_plan()
        .bind(to)
        .bind(now)
        .bind(limit)
        .bind(RowJob::CompleteJourneys)
        .all()
        .await?;
    Ok(sailed)
}

/// Completes one of them; `None` if there is nothing to complete any more.
pub async fn complete_one(
    tx: &mut Tx,
    id: Uuid,
    to: BookingStatus,
    now: DateTime<Utc>,
) -> Result<Option<CompletedBooking>> {
    let sailed = tx.sql(complete!("= $3"));
    Ok(sailed.bind(to).bind(now).bind(id).maybe().await?)
}

/// Whether the released seats and promotion of a booking are available again. Both rows are locked
/// until this transaction ends.
pub async fn can_take_again(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<bool> {
    let seats = tx
        .sql(
            "UPDATE sailings SET seats_taken = seats_taken
             WHERE id = $1 AND status = 'open' AND manifest_closed_at IS NULL AND NOT chartered
               AND departure_at > $2
               AND seats_taken + $3 <= capacity AND (NOT $4 OR seats_taken = 0)",
        )
        .bind(booking.sailing_id)
        .bind(now)
        .bind(booking.seats)
        .bind(booking.kind == crate::sailings::BookingType::Charter)
        .run()
        .await?;
    Ok(seats == 1 && promotion_is_left(tx, booking).await?)
}

/// Whether the promotion has a use left for a booking that released its own. The row is locked.
pub async fn promotion_is_left(tx: &mut Tx, booking: &BookingRow) -> Result<bool> {
    let Some(id) = booking.promotion_id else { return Ok(true) };
    let left = tx
        .sql(
            "UPDATE promotions SET used = used
             WHERE id = $1 AND (quota IS NULL OR used < quota)",
        )
        .bind(id)
        .run()
        .await?;
    Ok(left == 1)
}

pub async fn recent(db: &Db, partner: Uuid) -> Result<Vec<BookingRow>> {
    let rows = db
        .sql(booking!(" WHERE k.partner_id = $1 ORDER BY k.created_at DESC, k.id DESC LIMIT 10"))
        .bind(partner)
        .all()
        .await?;
    Ok(rows)
}

/// Re-encrypts identity numbers and refund accounts of older keys with the current one; returns the
/// number of bookings.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let mut resealed = 0;
    let mut last = Uuid::nil();
    loop {
        let rows: Vec<(Uuid, Value, Option<String>)> = db
            .sql(
                "SELECT id, passengers, refund_account FROM bookings WHERE id > $1
                 ORDER BY id LIMIT 500",
            )
            .bind(last)
            .all()
            .await?;
        let Some((id, ..)) = rows.last() else { return Ok(resealed) };
        last = *id;
        for (id, passengers, account) in rows {
            if let Some(account) = account
                && let Some(new) = sealer.reseal(&account)?
            {
                // Only if unchanged: a concurrent update uses the current key anyway.
                resealed += db
                    .sql(
                        "UPDATE bookings SET refund_account = $1
                         WHERE id = $2 AND refund_account = $3",
                    )
                    .bind(new)
                    .bind(id)
                    .bind(account)
                    .run()
                    .await?;
            }
            if resealed_passengers(passengers, sealer)?.is_some() {
                resealed += reseal_passengers(db, sealer, id).await?;
            }
        }
    }
}

/// `None` if nothing is sealed with an older key.
fn resealed_passengers(mut passengers: Value, sealer: &Sealer) -> Result<Option<Value>> {
    let mut changed = false;
    for passenger in passengers.as_array_mut().into_iter().flatten() {
        let Some(sealed) = passenger["identity_number"].as_str() else { continue };
        if let Some(new) = sealer.reseal(sealed)? {
            passenger["identity_number"] = Value::String(new);
            changed = true;
        }
    }
    Ok(changed.then_some(passengers))
}

/// Reads the passengers again under a lock: those that were corrected or erased stay so.
async fn reseal_passengers(db: &Db, sealer: &Sealer, id: Uuid) -> Result<u64> {
    let mut tx = db.begin().await?;
    lock_row(&mut tx, id).await?;
    let current = tx.sql("SELECT passengers FROM bookings WHERE id = $1").bind(id).scalar().await?;
    let Some(passengers) = resealed_passengers(current, sealer)? else { return Ok(0) };
    let update = tx.sql("UPDATE bookings SET passengers = $1 WHERE id = $2");
    let updated = update.bind(passengers).bind(id).run().await?;
    tx.commit().await?;
    Ok(updated)
}
