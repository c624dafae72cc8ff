//! The SQL of payments.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    model::{Method, Payment, PaymentStatus, Resolution, Review, ReviewReason, ReviewsQuery},
    notice::Notice,
};
use crate::kernel::{
    db::{Db, Statement, Tx},
    error::Result,
    http::Page,
    ids::{self, Uuid},
    money::Rupiah,
};

/// The time after which another process may ask the provider.
pub const LEASE: TimeDelta = TimeDelta::seconds(30);

macro_rules! payment {
    ($rest:literal) => {
        concat!(
            "SELECT id, booking_id, attempt, provider, reference, status, amount, redirect_url,
               reschedule_id
             FROM payments",
            $rest
        )
    };
}

pub struct NewPayment<'a> {
    pub booking_id: Uuid,
    pub attempt: i32,
    pub provider: &'a str,
    pub reference: &'a str,
    pub status: PaymentStatus,
    pub amount: Rupiah,
    pub method: Option<Method>,
    pub reschedule_id: Option<Uuid>,
}

/// `false` if the attempt already exists.
pub async fn insert(db: &Db, new: NewPayment<'_>, now: DateTime<Utc>) -> Result<bool> {
    Ok(bound(db.sql(INSERT), new, now).run().await? == 1)
}

pub async fn insert_in(tx: &mut Tx, new: NewPayment<'_>, now: DateTime<Utc>) -> Result<bool> {
    Ok(bound(tx.sql(INSERT), new, now).run().await? == 1)
}

fn bound<'s>(statement: Statement<'s>, new: NewPayment<'_>, now: DateTime<Utc>) -> Statement<'s> {
    statement
        .bind(ids::fresh())
        .bind(new.booking_id)
        .bind(new.attempt)
        .bind(new.provider.to_owned())
        .bind(new.reference.to_owned())
        .bind(new.status)
        .bind(new.amount)
        .bind(new.method)
        .bind(now + LEASE)
        .bind((new.status == PaymentStatus::Paid).then_some(now))
        .bind(now)
        .bind(new.reschedule_id)
}

const INSERT: &str = "INSERT INTO payments (id, booking_id, attempt, provider, reference, status,
      amount, method, leased_until, paid_at, created_at, reschedule_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT DO NOTHING";

pub async fn newest(db: &Db, booking: Uuid) -> Result<Option<Payment>> {
    let payment = db
        .sql(payment!(" WHERE booking_id = $1 ORDER BY attempt DESC LIMIT 1"))
        .bind(booking)
        .maybe()
        .await?;
    Ok(payment)
}

/// The newest attempt to pay the difference of a reschedule.
pub async fn newest_of(db: &Db, reschedule: Uuid) -> Result<Option<Payment>> {
    let payment = db
        .sql(payment!(" WHERE reschedule_id = $1 ORDER BY attempt DESC LIMIT 1"))
        .bind(reschedule)
        .maybe()
        .await?;
    Ok(payment)
}

pub async fn newest_in(tx: &mut Tx, booking: Uuid) -> Result<Option<Payment>> {
    let payment = tx
        .sql(payment!(" WHERE booking_id = $1 ORDER BY attempt DESC LIMIT 1"))
        .bind(booking)
        .maybe()
        .await?;
    Ok(payment)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Payment> {
    Ok(tx.sql(payment!(" WHERE id = $1")).bind(id).one().await?)
}

pub async fn by_reference(db: &Db, reference: &str) -> Result<Option<Payment>> {
    let payment =
        db.sql(payment!(" WHERE reference = $1")).bind(reference.to_owned()).maybe().await?;
    Ok(payment)
}

/// Acquires the right to ask the provider for this payment; `false` if another process has it.
pub async fn lease(db: &Db, reference: &str, now: DateTime<Utc>) -> Result<bool> {
    let leased = db
        .sql(
            "UPDATE payments SET leased_until = $1
             WHERE reference = $2 AND redirect_url IS NULL AND leased_until <= $3",
        )
        .bind(now + LEASE)
        .bind(reference.to_owned())
        .bind(now)
        .run()
        .await?;
    Ok(leased == 1)
}

/// The provider refuses this attempt.
pub async fn refuse(db: &Db, reference: &str) -> Result<()> {
    db.sql("UPDATE payments SET status = 'failed' WHERE reference = $1 AND status = 'pending'")
        .bind(reference.to_owned())
        .run()
        .await?;
    Ok(())
}

/// Releases the lease.
pub async fn release(db: &Db, reference: &str, now: DateTime<Utc>) -> Result<()> {
    db.sql("UPDATE payments SET leased_until = $1 WHERE reference = $2 AND redirect_url IS NULL")
        .bind(now)
        .bind(reference.to_owned())
        .run()
        .await?;
    Ok(())
}

pub async fn set_address(db: &Db, reference: &str, redirect_url: &str) -> Result<()> {
    db.sql("UPDATE payments SET redirect_url = $1 WHERE reference = $2")
        .bind(redirect_url.to_owned())
        .bind(reference.to_owned())
        .run()
        .await?;
    Ok(())
}

/// Records a notification; `None` if it was recorded before. One that was stored unconfirmed counts
/// as new when it is confirmed.
pub async fn record_event(
    tx: &mut Tx,
    payment: &Payment,
    notice: &Notice,
    raw: &Value,
    outcome: &'static str,
    now: DateTime<Utc>,
) -> Result<Option<Uuid>> {
    let kept: Option<(Uuid,)> = tx
        .sql(
            "INSERT INTO payment_events (id, payment_id, provider, transaction_id, status, amount,
               method, raw, outcome, received_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7,
               CASE WHEN EXISTS (SELECT 1 FROM payments y JOIN bookings k ON k.id = y.booking_id
                 WHERE y.id = $2 AND k.erased_at IS NOT NULL) THEN $11 ELSE $8 END, $9, $10)
             ON CONFLICT (payment_id, transaction_id, status, amount)
             DO UPDATE SET outcome = excluded.outcome
             WHERE payment_events.outcome = 'unconfirmed' AND excluded.outcome <> 'unconfirmed'
             RETURNING id",
        )
        .bind(ids::fresh())
        .bind(payment.id)
        .bind(payment.provider.clone())
        .bind(notice.transaction_id.clone())
        .bind(notice.provider_status.clone())
        .bind(notice.amount)
        .bind(notice.method)
        .bind(raw.clone())
        .bind(outcome)
        .bind(now)
        // What a provider says of the payer is not kept for a booking that was erased.
        .bind(json!({}))
        .maybe()
        .await?;
    Ok(kept.map(|(id,)| id))
}

/// Whether an earlier notification has applied the same money, e.g. a capture that is settled
/// later.
pub async fn is_already_applied(tx: &mut Tx, event: Uuid) -> Result<bool> {
    let earlier: Option<(Uuid,)> = tx
        .sql(
            "SELECT o.id FROM payment_events e JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
               AND o.amount = e.amount AND o.id <> e.id
             WHERE e.id = $1 AND o.outcome IN ('paid', 'refund_due', 'review') LIMIT 1",
        )
        .bind(event)
        .maybe()
        .await?;
    Ok(earlier.is_some())
}

pub async fn set_outcome(tx: &mut Tx, event: Uuid, outcome: &'static str) -> Result<()> {
    tx.sql("UPDATE payment_events SET outcome = $1 WHERE id = $2")
        .bind(outcome)
        .bind(event)
        .run()
        .await?;
    Ok(())
}

/// Ends an attempt that is still pending.
pub async fn end(tx: &mut Tx, id: Uuid, status: PaymentStatus) -> Result<()> {
    tx.sql("UPDATE payments SET status = $1 WHERE id = $2 AND status = 'pending'")
        .bind(status)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

pub async fn set_paid(tx: &mut Tx, id: Uuid, method: Method, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE payments SET status = 'paid', method = $1, paid_at = $2 WHERE id = $3")
        .bind(method)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

pub async fn set_refunded(tx: &mut Tx, booking: Uuid) -> Result<()> {
    tx.sql("UPDATE payments SET status = 'refunded' WHERE booking_id = $1 AND status = 'paid'")
        .bind(booking)
        .run()
        .await?;
    Ok(())
}

/// The total that was paid for a booking, and the part that was not refunded.
pub async fn paid_and_remaining(tx: &mut Tx, booking: Uuid) -> Result<(Rupiah, Rupiah)> {
    let parts = tx
        .sql(
            "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT),
               CAST(COALESCE(SUM(CASE WHEN status = 'paid' THEN amount END), 0) AS BIGINT)
             FROM payments WHERE booking_id = $1 AND status IN ('paid', 'refunded')",
        )
        .bind(booking)
        .one()
        .await?;
    Ok(parts)
}

pub async fn set_part_refunded(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE payments SET status = 'refunded' WHERE id = $1").bind(id).run().await?;
    Ok(())
}

pub struct NewReview<'a> {
    pub event_id: Uuid,
    pub payment: &'a Payment,
    pub reason: ReviewReason,
    pub amount: Rupiah,
    pub expected: Rupiah,
}

pub async fn insert_review(tx: &mut Tx, new: NewReview<'_>, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO payment_reviews (id, event_id, payment_id, booking_id, reason, amount,
           expected, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(ids::fresh())
    .bind(new.event_id)
    .bind(new.payment.id)
    .bind(new.payment.booking_id)
    .bind(new.reason)
    .bind(new.amount)
    .bind(new.expected)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

macro_rules! review {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.booking_id, v.reason, v.amount, v.expected, v.resolution, v.note,
               v.resolved_at, v.created_at, v.excess, e.outcome AS event_outcome,
               e.method AS event_method, v.payment_id
             FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id",
            $rest
        )
    };
}

pub async fn review(db: &Db, id: Uuid) -> Result<Option<Review>> {
    Ok(db.sql(review!(" WHERE v.id = $1")).bind(id).maybe().await?)
}

pub async fn review_in(tx: &mut Tx, id: Uuid) -> Result<Option<Review>> {
    Ok(tx.sql(review!(" WHERE v.id = $1")).bind(id).maybe().await?)
}

pub async fn reviews(db: &Db, query: &ReviewsQuery) -> Result<Page<Review>> {
    let paging = &query.paging;
    let list = db.list(review!("")).filter("v.reason = ?", query.reason);
    let list = match query.open {
        Some(true) => list.only("v.resolution IS NULL"),
        Some(false) => list.only("v.resolution IS NOT NULL"),
        None => list,
    };
    let rows = list
        .page(paging.sort(None, "v.created_at"), "v.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn set_excess(tx: &mut Tx, id: Uuid, excess: Rupiah) -> Result<()> {
    tx.sql("UPDATE payment_reviews SET excess = $1 WHERE id = $2")
        .bind(excess)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// An excess of the booking that is still owed to the customer.
pub async fn owed_excess(tx: &mut Tx, booking: Uuid) -> Result<Option<(Uuid, Rupiah)>> {
    let owed = tx
        .sql(
            "SELECT id, excess FROM payment_reviews
             WHERE booking_id = $1 AND excess > 0 AND excess_paid_at IS NULL
             ORDER BY created_at LIMIT 1",
        )
        .bind(booking)
        .maybe()
        .await?;
    Ok(owed)
}

pub async fn excess_paid(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE payment_reviews SET excess_paid_at = $1 WHERE id = $2")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// `false` if it was already resolved.
pub async fn resolve(
    tx: &mut Tx,
    id: Uuid,
    resolution: Resolution,
    note: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let resolved = tx
        .sql(
            "UPDATE payment_reviews SET resolution = $1, note = $2, resolved_by = $3,
               resolved_at = $4
             WHERE id = $5 AND resolution IS NULL",
        )
        .bind(resolution)
        .bind(note.to_owned())
        .bind(by)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(resolved == 1)
}
