//! Notifications of providers, and their outcome.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::{
    kernel::{
        db::{Db, Tx},
        error::Result,
        ids::{self, Uuid},
        money::Rupiah,
    },
    payments::{model::Payment, notice::Notice},
};

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
