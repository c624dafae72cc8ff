//! The SQL of payments.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    gateway::Opened,
    model::{Method, Payment, PaymentStatus, Resolution, Review, ReviewReason, ReviewsQuery},
    notice::{Notice, RefundNotice},
    refunds::{CashTaker, ToldRefund},
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

pub async fn set_address(db: &Db, reference: &str, opened: &Opened) -> Result<()> {
    db.sql(
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

/// The payment that a refund at Xendit is of: by the provider's ids, or by our own transfer.
pub async fn refunded_payment(db: &Db, told: &RefundNotice) -> Result<Option<Payment>> {
    let by = [
        (payment!(" WHERE transaction_id = $1"), &told.invoice_id),
        (payment!(" WHERE channel ->> 'payment_id' = $1"), &told.payment_id),
        (payment!(" WHERE channel ->> 'payment_request_id' = $1"), &told.payment_request_id),
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

/// Records the notification of an ordinary payment: the first one of this attempt, of the price, for
/// seats that are held. A trigger marks the attempt as paid and announces the booking. `false`, and
/// nothing is written, for any other.
pub async fn record_ordinary_payment(
    tx: &mut Tx,
    payment: &Payment,
    notice: &Notice,
    raw: &Value,
    now: DateTime<Utc>,
) -> Result<bool> {
    let recorded = tx
        .sql(
            "INSERT INTO payment_events (id, payment_id, provider, transaction_id, status, amount,
               method, channel, raw, outcome, received_at)
             SELECT $1, y.id, y.provider, $3, $4, $5, $6, $7, $8, 'paid', $9
             FROM payments y JOIN bookings k ON k.id = y.booking_id
             WHERE y.id = $2 AND y.status = 'pending' AND y.reschedule_id IS NULL
               AND k.status = 'pending_payment' AND k.total = $5 AND k.departure_at > $9
               AND k.erased_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM payment_events e WHERE e.payment_id = y.id)
               AND NOT EXISTS (SELECT 1 FROM payment_reviews v
                 WHERE v.booking_id = k.id AND v.resolution IS NULL)
             ON CONFLICT DO NOTHING",
        )
        .bind(ids::fresh())
        .bind(payment.id)
        .bind(notice.transaction_id.clone())
        .bind(notice.provider_status.clone())
        .bind(notice.amount)
        .bind(notice.method)
        .bind(notice.channel.clone())
        .bind(raw.clone())
        .bind(now)
        .run()
        .await?;
    Ok(recorded == 1)
}

/// The event of a notification that was recorded before.
pub async fn event_id(tx: &mut Tx, payment: &Payment, notice: &Notice) -> Result<Option<Uuid>> {
    let known: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM payment_events
             WHERE payment_id = $1 AND transaction_id = $2 AND status = $3 AND amount = $4",
        )
        .bind(payment.id)
        .bind(notice.transaction_id.clone())
        .bind(notice.provider_status.clone())
        .bind(notice.amount)
        .maybe()
        .await?;
    Ok(known.map(|(id,)| id))
}

/// Money that an earlier notification has reported.
#[derive(crate::kernel::db::FromRow)]
pub struct TakenMoney {
    /// The event.
    pub id: Uuid,
    pub amount: Rupiah,
}

/// The money of the same transaction that was applied, or is held, before this event.
pub async fn taken_money(tx: &mut Tx, event: Uuid) -> Result<Option<TakenMoney>> {
    let taken = tx
        .sql(
            "SELECT o.id, o.amount FROM payment_events e JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
             WHERE e.id = $1 AND o.id <> e.id AND o.outcome IN ('paid', 'refund_due', 'review')
             ORDER BY o.received_at LIMIT 1",
        )
        .bind(event)
        .maybe()
        .await?;
    Ok(taken)
}

/// Whether money of this transaction was applied or is held.
pub async fn is_taken(db: &Db, payment: Uuid, transaction: &str) -> Result<bool> {
    let taken: Option<(Uuid,)> = db
        .sql(
            "SELECT id FROM payment_events
             WHERE payment_id = $1 AND transaction_id = $2
               AND outcome IN ('paid', 'refund_due', 'review') LIMIT 1",
        )
        .bind(payment)
        .bind(transaction.to_owned())
        .maybe()
        .await?;
    Ok(taken.is_some())
}

/// A failure of the same transaction that ended the attempt before this event.
pub async fn earlier_failure(tx: &mut Tx, event: Uuid) -> Result<Option<(Uuid, Value)>> {
    let failure = tx
        .sql(
            "SELECT o.id, o.raw FROM payment_events e JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
             WHERE e.id = $1 AND o.outcome = 'ended'
               AND o.status IN ('deny', 'cancel', 'failure')
             ORDER BY o.received_at DESC LIMIT 1",
        )
        .bind(event)
        .maybe()
        .await?;
    Ok(failure)
}

/// Whether the money of this event waits for a decision.
pub async fn has_open_review(tx: &mut Tx, event: Uuid) -> Result<bool> {
    let open: Option<(Uuid,)> = tx
        .sql(
            "SELECT v.id FROM payment_events e JOIN payments y ON y.id = e.payment_id
             JOIN payment_reviews v ON v.booking_id = y.booking_id AND v.event_id = e.id
             WHERE e.id = $1 AND v.resolution IS NULL LIMIT 1",
        )
        .bind(event)
        .maybe()
        .await?;
    Ok(open.is_some())
}

/// Whether an earlier notification has applied the same money, e.g. a capture that is settled
/// later.
pub async fn is_already_applied(tx: &mut Tx, event: Uuid) -> Result<bool> {
    let earlier: Option<(Uuid,)> = tx
        .sql(
            "SELECT o.id FROM payment_events e JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
               AND o.amount = e.amount AND o.id <> e.id
             WHERE e.id = $1 AND o.outcome IN ('paid', 'refund_due', 'review', 'came_and_went')
             LIMIT 1",
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

pub struct NewToldRefund<'a> {
    pub id: Uuid,
    pub payment: &'a Payment,
    pub told: &'a ToldRefund,
    pub told_key: &'a str,
    pub amount: Rupiah,
    pub event_id: Option<Uuid>,
}

/// `false` if it was told before.
pub async fn insert_told(tx: &mut Tx, new: NewToldRefund<'_>, now: DateTime<Utc>) -> Result<bool> {
    let told = tx
        .sql(
            "INSERT INTO told_refunds (id, payment_id, transaction_id, told_key, kind, amount,
               unmatched, event_id, told_at)
             VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8) ON CONFLICT DO NOTHING",
        )
        .bind(new.id)
        .bind(new.payment.id)
        .bind(new.told.transaction.clone())
        .bind(new.told_key.to_owned())
        .bind(new.told.kind)
        .bind(new.amount)
        .bind(new.event_id)
        .bind(now)
        .run()
        .await?;
    Ok(told == 1)
}

/// What was told of a transaction so far.
#[derive(crate::kernel::db::FromRow)]
pub struct ToldSums {
    /// With an id of the provider.
    pub keyed: Rupiah,
    pub total: Rupiah,
}

pub async fn told_sums(
    tx: &mut Tx,
    payment: Uuid,
    told: &ToldRefund,
    since: Option<DateTime<Utc>>,
) -> Result<ToldSums> {
    let sums = tx
        .sql(
            "SELECT CAST(COALESCE(SUM(CASE WHEN told_key NOT LIKE 'sum:%' THEN amount END), 0)
                 AS BIGINT) AS keyed,
               CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS total
             FROM told_refunds WHERE payment_id = $1 AND transaction_id = $2 AND kind = $3
               AND (told_key NOT LIKE 'sum:%' OR told_at >= $4)",
        )
        .bind(payment)
        .bind(told.transaction.clone())
        .bind(told.kind)
        .bind(since.unwrap_or_default())
        .one()
        .await?;
    Ok(sums)
}

/// What was told of a transaction so far, of every kind.
pub async fn told_total(tx: &mut Tx, payment: Uuid, transaction: &str) -> Result<Rupiah> {
    let sum = tx
        .sql(
            "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM told_refunds
             WHERE payment_id = $1 AND transaction_id = $2",
        )
        .bind(payment)
        .bind(transaction.to_owned())
        .scalar()
        .await?;
    Ok(Rupiah(sum))
}

pub async fn set_unmatched(tx: &mut Tx, told: Uuid, unmatched: Rupiah, review: Uuid) -> Result<()> {
    tx.sql("UPDATE told_refunds SET unmatched = $1, review_id = $2 WHERE id = $3")
        .bind(unmatched)
        .bind(review)
        .bind(told)
        .run()
        .await?;
    Ok(())
}

/// The provider's id of the refund that a review is about.
pub async fn told_key(tx: &mut Tx, review: Uuid) -> Result<String> {
    let key = tx.sql("SELECT told_key FROM told_refunds WHERE review_id = $1").bind(review);
    Ok(key.scalar().await?)
}

/// Links a payment through the provider that was recorded before the provider told it. `false`:
/// there is none.
pub async fn adopt(
    tx: &mut Tx,
    booking: Uuid,
    id: Uuid,
    told: &ToldRefund,
    amount: Rupiah,
) -> Result<bool> {
    // Another key is another refund than the one that a transfer has paid.
    let adopted = tx
        .sql(
            "UPDATE refund_payments SET told_id = $1 WHERE id =
               (SELECT p.id FROM refunds r JOIN refund_payments p ON p.refund_id = r.id
                WHERE r.booking_id = $2 AND p.paid_by = 'provider' AND p.told_id IS NULL
                  AND p.returned_at IS NULL AND p.amount = $3
                  AND (p.transfer_id = $4 OR p.recorded_by IS NOT NULL
                    OR (p.transfer_id IS NOT NULL AND $5))
                ORDER BY p.paid_at LIMIT 1)",
        )
        .bind(id)
        .bind(booking)
        .bind(amount)
        .bind(told.transfer)
        .bind(told.key.is_none())
        .run()
        .await?;
    Ok(adopted == 1)
}

/// The refund that a transfer sends.
pub async fn refund_of_transfer(tx: &mut Tx, transfer: Uuid) -> Result<Option<Uuid>> {
    let found: Option<(Option<Uuid>,)> =
        tx.sql("SELECT refund_id FROM transfers WHERE id = $1").bind(transfer).maybe().await?;
    Ok(found.and_then(|(refund,)| refund))
}

pub async fn payment_of_review(tx: &mut Tx, review: Uuid) -> Result<Uuid> {
    let payment = tx.sql("SELECT payment_id FROM payment_reviews WHERE id = $1").bind(review);
    Ok(payment.scalar().await?)
}

/// Whether a refund of the booking was paid with this reference and did not bounce.
pub async fn is_paid_with(tx: &mut Tx, booking: Uuid, reference: &str) -> Result<bool> {
    let paid: Option<(Uuid,)> = tx
        .sql(
            "SELECT p.id FROM refunds r JOIN refund_payments p ON p.refund_id = r.id
             WHERE r.booking_id = $1 AND p.reference = $2 AND p.returned_at IS NULL LIMIT 1",
        )
        .bind(booking)
        .bind(reference.to_owned())
        .maybe()
        .await?;
    Ok(paid.is_some())
}

/// Who took the cash of a booking; `None` if it was not paid in cash.
pub async fn cash_taker(tx: &mut Tx, booking: Uuid) -> Result<Option<CashTaker>> {
    let taken: Option<(String,)> = tx
        .sql(
            "SELECT account FROM ledger_lines
             WHERE source = 'booking' AND source_id = $1 AND kind = 'paid'
               AND account IN ('cash', 'partner_payable')",
        )
        .bind(booking)
        .maybe()
        .await?;
    Ok(taken.map(|(account,)| match account.as_str() {
        "cash" => CashTaker::Staff,
        _ => CashTaker::Partner,
    }))
}

pub struct NewReview<'a> {
    pub event_id: Uuid,
    pub payment: &'a Payment,
    pub reason: ReviewReason,
    pub amount: Rupiah,
    pub expected: Rupiah,
}

/// Returns its id.
pub async fn insert_review(tx: &mut Tx, new: NewReview<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO payment_reviews (id, event_id, payment_id, booking_id, reason, amount,
           expected, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id)
    .bind(new.event_id)
    .bind(new.payment.id)
    .bind(new.payment.booking_id)
    .bind(new.reason)
    .bind(new.amount)
    .bind(new.expected)
    .bind(now)
    .run()
    .await?;
    Ok(id)
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

/// Open reviews of money that came in with this payment, an equal amount first.
pub async fn open_incoming(tx: &mut Tx, payment: &Payment, amount: Rupiah) -> Result<Vec<Review>> {
    let reviews = tx
        .sql(review!(
            " WHERE v.booking_id = $1 AND v.payment_id = $2 AND v.resolution IS NULL
                AND v.reason IN ('wrong_amount', 'late', 'duplicate')
                AND NOT EXISTS (SELECT 1 FROM payment_events o WHERE o.payment_id = e.payment_id
                  AND o.transaction_id = e.transaction_id AND o.outcome = 'voided')
              ORDER BY CASE WHEN v.amount = $3 THEN 0 ELSE 1 END, v.created_at, v.id"
        ))
        .bind(payment.booking_id)
        .bind(payment.id)
        .bind(amount)
        .all()
        .await?;
    Ok(reviews)
}

/// Open reviews of money that the provider sent back of this payment without being owed.
pub async fn open_unowed(tx: &mut Tx, payment: &Payment) -> Result<Vec<Review>> {
    let reviews = tx
        .sql(review!(
            " WHERE v.booking_id = $1 AND v.payment_id = $2 AND v.resolution IS NULL
                AND v.reason IN ('unowed_refund', 'chargeback') ORDER BY v.created_at, v.id"
        ))
        .bind(payment.booking_id)
        .bind(payment.id)
        .all()
        .await?;
    Ok(reviews)
}

pub async fn reviews(db: &Db, query: &ReviewsQuery) -> Result<Page<Review>> {
    let paging = &query.paging;
    let list = db
        .list(review!(""))
        .found_in("SELECT v.id FROM payment_reviews v")
        .filter("v.reason = ?", query.reason);
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

/// Whether the provider has taken back the money of the review.
pub async fn is_voided(tx: &mut Tx, review: Uuid) -> Result<bool> {
    let voided: Option<(Uuid,)> = tx
        .sql(
            "SELECT o.id FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id
             JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
             WHERE v.id = $1 AND o.outcome = 'voided' LIMIT 1",
        )
        .bind(review)
        .maybe()
        .await?;
    Ok(voided.is_some())
}

/// `false` if it was already resolved.
pub async fn resolve(
    tx: &mut Tx,
    id: Uuid,
    resolution: Resolution,
    note: &str,
    by: Option<Uuid>,
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
