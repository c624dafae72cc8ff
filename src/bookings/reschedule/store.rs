//! The SQL of reschedules.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bookings::{
        model::{BookingRow, SailingContext, StoredPassenger},
        prices::Price,
    },
    kernel::{
        db::{Db, Failure, Json, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        set_aside::RowJob,
    },
};

crate::string_enum! {
    pub enum RescheduleStatus {
        /// The difference has to be paid first.
        Pending = "pending",
        Done = "done",
        /// Not paid in time, or superseded.
        Dropped = "dropped",
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Reschedule {
    pub id: Uuid,
    pub booking_id: Uuid,
    pub from_sailing_id: Uuid,
    pub to_sailing_id: Uuid,
    pub status: RescheduleStatus,
    pub seats: i32,
    was: Value,
    becomes: Value,
    pub fee: Rupiah,
    /// The amount to pay; negative if owed to the customer.
    pub difference: Rupiah,
    pub refund_cap: Option<i32>,
    pub reason: String,
    pub expires_at: DateTime<Utc>,
}

impl Reschedule {
    pub fn was(&self) -> Result<Price> {
        Price::deserialize(&self.was).map_err(Error::internal)
    }

    pub fn becomes(&self) -> Result<Price> {
        Price::deserialize(&self.becomes).map_err(Error::internal)
    }
}

pub struct NewReschedule<'a> {
    pub id: Uuid,
    pub booking: &'a BookingRow,
    pub to_sailing_id: Uuid,
    pub departure_at: DateTime<Utc>,
    pub status: RescheduleStatus,
    pub seats: i32,
    pub reason: &'a str,
    pub requested_by: Option<Uuid>,
    pub was: &'a Price,
    pub becomes: &'a Price,
    pub fee: Rupiah,
    pub difference: Rupiah,
    /// What travellers would have paid beyond the difference.
    pub surcharge: Rupiah,
    pub refund_cap: Option<i32>,
    pub expires_at: DateTime<Utc>,
}

/// A pending one takes its seats by the trigger of its table; an exclusion failure means that there
/// are none.
pub async fn insert(
    tx: &mut Tx,
    new: NewReschedule<'_>,
    now: DateTime<Utc>,
) -> Result<(), Failure> {
    tx.sql(
        "INSERT INTO reschedules (id, booking_id, from_sailing_id, to_sailing_id, status, type,
           seats, reason, requested_by, was, becomes, fee, difference, refund_cap, expires_at,
           done_at, created_at, departure_at, surcharge)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
           $18, $19)",
    )
    .bind(new.id)
    .bind(new.booking.id)
    .bind(new.booking.sailing_id)
    .bind(new.to_sailing_id)
    .bind(new.status)
    .bind(new.booking.kind)
    .bind(new.seats)
    .bind(new.reason.to_owned())
    .bind(new.requested_by)
    .bind(json!(new.was))
    .bind(json!(new.becomes))
    .bind(new.fee)
    .bind(new.difference)
    .bind(new.refund_cap)
    .bind(new.expires_at)
    .bind((new.status == RescheduleStatus::Done).then_some(now))
    .bind(now)
    .bind(new.departure_at)
    .bind(new.surcharge)
    .run()
    .await
    .map(drop)
}

macro_rules! reschedule {
    ($rest:literal) => {
        concat!(
            "SELECT id, booking_id, from_sailing_id, to_sailing_id, status, seats, was, becomes, fee,
               difference, refund_cap, reason, expires_at
             FROM reschedules",
            $rest
        )
    };
}

pub async fn get(db: &Db, id: Uuid) -> Result<Reschedule> {
    Ok(db.sql(reschedule!(" WHERE id = $1")).bind(id).one().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Reschedule> {
    Ok(tx.sql(reschedule!(" WHERE id = $1")).bind(id).one().await?)
}

pub async fn booking_of(tx: &mut Tx, id: Uuid) -> Result<Uuid> {
    let of = tx.sql("SELECT booking_id FROM reschedules WHERE id = $1");
    Ok(of.bind(id).scalar().await?)
}

/// The pending reschedule of a booking.
pub async fn pending(tx: &mut Tx, booking: Uuid) -> Result<Option<Reschedule>> {
    let pending = tx.sql(reschedule!(" WHERE booking_id = $1 AND status = 'pending'"));
    Ok(pending.bind(booking).maybe().await?)
}

/// The same, without a transaction.
pub async fn pending_of(db: &Db, booking: Uuid) -> Result<Option<Reschedule>> {
    let pending = db.sql(reschedule!(" WHERE booking_id = $1 AND status = 'pending'"));
    Ok(pending.bind(booking).maybe().await?)
}

/// Whether a promotion has no use left.
pub async fn is_promotion_exhausted(db: &Db, promotion: Option<Uuid>) -> Result<bool> {
    let Some(id) = promotion else { return Ok(false) };
    let exhausted: Option<(Uuid,)> = db
        .sql("SELECT id FROM promotions WHERE id = $1 AND quota IS NOT NULL AND used >= quota")
        .bind(id)
        .maybe()
        .await?;
    Ok(exhausted.is_some())
}

/// Moves a pending one; `false` if it no longer is pending. A trigger adjusts the seats.
pub async fn end(tx: &mut Tx, id: Uuid, to: RescheduleStatus, now: DateTime<Utc>) -> Result<bool> {
    let ended = tx
        .sql(
            "UPDATE reschedules SET status = $1, done_at = $2
             WHERE id = $3 AND status = 'pending'",
        )
        .bind(to)
        .bind((to == RescheduleStatus::Done).then_some(now))
        .bind(id)
        .run()
        .await?;
    Ok(ended == 1)
}

/// Drops all pending reschedules to a sailing that closes; returns their bookings.
pub async fn drop_for_sailing(tx: &mut Tx, sailing: Uuid) -> Result<Vec<(Uuid,)>> {
    let dropped = tx
        .sql(
            "UPDATE reschedules SET status = 'dropped'
             WHERE to_sailing_id = $1 AND status = 'pending' RETURNING booking_id",
        )
        .bind(sailing)
        .all()
        .await?;
    Ok(dropped)
}

/// The number of a booking's reschedules that expired unpaid since then.
pub async fn dropped_since(tx: &mut Tx, booking: Uuid, since: DateTime<Utc>) -> Result<i64> {
    let dropped = tx
        .sql(
            "SELECT COUNT(*) FROM reschedules
             WHERE booking_id = $1 AND status = 'dropped' AND created_at > $2",
        )
        .bind(booking)
        .bind(since)
        .scalar()
        .await?;
    Ok(dropped)
}

/// The price that a booking was first sold for, if it was rescheduled since. Without the passengers
/// who were cancelled.
pub async fn first_price(tx: &mut Tx, booking: Uuid) -> Result<Option<Price>> {
    let first: Option<(Value,)> = tx
        .sql(
            "SELECT COALESCE(
               (SELECT c.sold FROM passenger_cancellations c
                WHERE c.booking_id = $1 AND c.sold IS NOT NULL
                ORDER BY c.qty_left LIMIT 1), r.was)
             FROM reschedules r WHERE r.booking_id = $1 AND r.status = 'done'
             ORDER BY r.done_at, r.id LIMIT 1",
        )
        .bind(booking)
        .maybe()
        .await?;
    first.map(|(was,)| Price::deserialize(&was).map_err(Error::internal)).transpose()
}

/// Those that were not paid in time and have not failed to be dropped before.
pub async fn due(db: &Db, limit: i64, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let due: Vec<(Uuid,)> = db
        .sql(
            "SELECT r.id FROM reschedules r
             WHERE r.status = 'pending' AND r.expires_at <= $1 AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $3 AND a.entity_id = r.id)
             ORDER BY r.expires_at LIMIT CAST($2 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(limit)
        .bind(RowJob::DropReschedules)
        .all()
        .await?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}

/// Locks the rows of both sailings in one order, so that opposite moves do not deadlock.
pub async fn lock_sailings(tx: &mut Tx, mut ids: Vec<Uuid>) -> Result<()> {
    ids.sort();
    ids.dedup();
    for id in ids {
        tx.sql("UPDATE sailings SET seats_taken = seats_taken WHERE id = $1")
            .bind(id)
            .run()
            .await?;
    }
    Ok(())
}

/// Whether a sailing is still on sale.
pub async fn is_open(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let open: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM sailings WHERE id = $1 AND status = 'open'
               AND manifest_closed_at IS NULL AND departure_at > $2",
        )
        .bind(id)
        .bind(now)
        .maybe()
        .await?;
    Ok(open.is_some())
}

/// Whether a sailing, which is locked, still has the departure, the price and the boat that were
/// read before.
pub async fn is_unchanged(tx: &mut Tx, seen: &SailingContext) -> Result<bool> {
    let same: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM sailings WHERE id = $1 AND departure_at = $2 AND price = $3
               AND speedboat_id = $4 AND capacity = $5",
        )
        .bind(seen.sailing_id)
        .bind(seen.departure_at)
        .bind(seen.seat_price)
        .bind(seen.speedboat_id)
        .bind(seen.capacity)
        .maybe()
        .await?;
    Ok(same.is_some())
}

/// Moves the booking to its new sailing. A trigger adjusts the seats; an exclusion failure means
/// that there are none. Disruptions of the old sailing are reset.
pub async fn move_booking_row(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: &Reschedule,
    price: &Price,
    passengers: Vec<StoredPassenger>,
    now: DateTime<Utc>,
) -> Result<bool, Failure> {
    let moved = tx
        .sql(
            "UPDATE bookings SET sailing_id = $1, seats = $2,
               speedboat_id = (SELECT s.speedboat_id FROM sailings s WHERE s.id = $1),
               departure_at = (SELECT s.departure_at FROM sailings s WHERE s.id = $1),
               arrival_at = (SELECT s.arrival_at FROM sailings s WHERE s.id = $1),
               unit_price = $3, subtotal = $4, discount = $5, taxes = $6, tax = $7, total = $8,
               commission = $9, commission_tax = $10, partner_net = $11, refund_cap = $12,
               commission_taxes = $17, partner_discount = $18, fare_lines = $19,
               passengers = $20, margin = $23, surcharge = $24,
               reschedule_id = $13, promised_at = (SELECT r.departure_at FROM reschedules r
                 JOIN sailings s ON s.id = r.to_sailing_id
                 WHERE r.id = $13 AND r.departure_at <> s.departure_at), boarded = '{}',
               called_off = FALSE, cancelled_at = NULL, cancel_reason = NULL,
               refund_amount = NULL, updated_at = $14
             WHERE id = $15 AND sailing_id = $16 AND qty = $21 AND total = $22",
        )
        .bind(reschedule.to_sailing_id)
        .bind(reschedule.seats)
        .bind(price.unit_price)
        .bind(price.subtotal)
        .bind(price.discount)
        .bind(json!(price.taxes))
        .bind(price.tax)
        .bind(price.total)
        .bind(price.commission)
        .bind(price.commission_tax)
        .bind(price.partner_net)
        .bind(reschedule.refund_cap)
        .bind(reschedule.id)
        .bind(now)
        .bind(reschedule.booking_id)
        .bind(reschedule.from_sailing_id)
        .bind(json!(price.commission_taxes))
        .bind(price.partner_discount)
        .bind(json!(price.lines))
        .bind(Json(passengers))
        .bind(booking.qty)
        .bind(booking.total)
        .bind(price.margin)
        .bind(price.surcharge())
        .run()
        .await?;
    Ok(moved == 1)
}

/// Records that the difference goes on the account of the reseller.
pub async fn insert_account_payment(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: &Reschedule,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
           method, leased_until, paid_at, created_at, reschedule_id)
         SELECT $1, $2, n.attempt, 'account', $3 || '-' || CAST(n.attempt AS TEXT), 'paid', $4,
           'account', $5, $5, $5, $6
         FROM (SELECT COALESCE(MAX(y.attempt), 0) + 1 AS attempt FROM payments y
               WHERE y.booking_id = $2) n",
    )
    .bind(ids::fresh())
    .bind(booking.id)
    .bind(booking.code.clone())
    .bind(reschedule.difference)
    .bind(now)
    .bind(reschedule.id)
    .run()
    .await?;
    Ok(())
}

/// The fees of a booking's reschedules that were not given back, with the price that each led to.
pub async fn unreturned_fees(tx: &mut Tx, booking: Uuid) -> Result<Vec<(Uuid, Rupiah, Price)>> {
    let fees: Vec<(Uuid, Rupiah, Value)> = tx
        .sql(
            "SELECT r.id, r.fee, r.becomes FROM reschedules r
             WHERE r.booking_id = $1 AND r.status = 'done' AND r.fee > 0 AND NOT EXISTS
               (SELECT 1 FROM ledger_lines l WHERE l.source = 'reschedule' AND l.source_id = r.id
                  AND l.kind = 'fee_returned')
             ORDER BY r.done_at, r.id",
        )
        .bind(booking)
        .all()
        .await?;
    let price = |becomes: &Value| Price::deserialize(becomes).map_err(Error::internal);
    fees.into_iter().map(|(id, fee, becomes)| Ok((id, fee, price(&becomes)?))).collect()
}
