//! The SQL of payments: attempts (here), notifications about them (`events`), refunds that a provider
//! told (`refunds`) and money that waits for a decision (`reviews`).

mod events;
mod refunds;
mod reviews;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    gateway::Opened,
    model::{Method, Payment, PaymentStatus},
    notice::{Notice, RefundNotice},
};
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::{self, Uuid},
    money::Rupiah,
};

pub use events::{
    TakenMoney, earlier_failure, event_id, is_already_applied, is_taken, record_event,
    record_ordinary_payment, set_outcome, taken_money,
};
pub use refunds::{
    NewReportedRefund, cash_taken, insert_reported, is_paid_with, link_recorded_payment,
    refund_of_transfer, reported_sums, reported_total, set_unmatched, told_key,
};
pub use reviews::{
    NewReview, has_open_review, insert_review, is_voided, open_incoming, open_unowed,
    payment_of_review, resolve, review, review_in, reviews, set_excess,
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
pub async fn insert_in(tx: &mut Tx, new: NewPayment<'_>, now: DateTime<Utc>) -> Result<bool> {
    let inserted = tx
        .sql(INSERT)
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
        .run()
        .await?;
    Ok(inserted == 1)
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

/// The payment that a refund at Xendit is of: by the provider's ids, or by our own transfer.
pub async fn refunded_payment(db: &Db, told: &RefundNotice) -> Result<Option<Payment>> {
    // SQLite uses an index of rows with a channel only if the statement asks for these.
    let by = [
        (payment!(" WHERE transaction_id = $1"), &told.invoice_id),
        (
            payment!(" WHERE channel IS NOT NULL AND channel ->> 'payment_id' = $1"),
            &told.payment_id,
        ),
        (
            payment!(" WHERE channel IS NOT NULL AND channel ->> 'payment_request_id' = $1"),
            &told.payment_request_id,
        ),
    ];
    for (statement, id) in by {
        let Some(id) = id else { continue };
        if let Some(found) = db.sql(statement).bind(id.clone()).maybe().await? {
            return Ok(Some(found));
        }
    }
    let Some(transfer) = told.transfer else { return Ok(None) };
    let found = db
        .sql(payment!(" WHERE id = (SELECT payment_id FROM transfers WHERE id = $1)"))
        .bind(transfer)
        .maybe()
        .await?;
    Ok(found)
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

/// The provider refuses this attempt. The booking is locked by the caller.
pub async fn refuse(tx: &mut Tx, reference: &str) -> Result<()> {
    tx.sql("UPDATE payments SET status = 'failed' WHERE reference = $1 AND status = 'pending'")
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

/// The payment page. The booking is locked by the caller.
pub async fn set_address(tx: &mut Tx, reference: &str, opened: &Opened) -> Result<()> {
    tx.sql(
        "UPDATE payments SET redirect_url = $1, transaction_id = COALESCE(transaction_id, $2)
         WHERE reference = $3",
    )
    .bind(opened.address.clone())
    .bind(opened.transaction_id.clone())
    .bind(reference.to_owned())
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

/// What the provider calls the payment, and how it was paid. The first transaction counts.
pub async fn set_transaction(tx: &mut Tx, id: Uuid, notice: &Notice) -> Result<()> {
    tx.sql(
        "UPDATE payments SET transaction_id = COALESCE(transaction_id, $1),
           channel = COALESCE(channel, $2)
         WHERE id = $3",
    )
    .bind(notice.transaction_id.clone())
    .bind(notice.channel.clone())
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// The refund of the booking came back.
pub async fn set_unrefunded(tx: &mut Tx, booking: Uuid) -> Result<()> {
    tx.sql("UPDATE payments SET status = 'paid' WHERE booking_id = $1 AND status = 'refunded'")
        .bind(booking)
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
