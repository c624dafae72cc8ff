//! Refunds that a provider reported, and how the money of a booking is refunded.

use chrono::{DateTime, Utc};

use crate::{
    kernel::{db::Tx, error::Result, ids::Uuid, money::Rupiah},
    payments::{
        model::Payment,
        refunds::{CashTaker, ReportedRefund},
    },
};

pub struct NewReportedRefund<'a> {
    pub id: Uuid,
    pub payment: &'a Payment,
    pub told: &'a ReportedRefund,
    pub told_key: &'a str,
    pub amount: Rupiah,
    pub event_id: Option<Uuid>,
}

/// `false` if it was told before.
pub async fn insert_reported(
    tx: &mut Tx,
    new: NewReportedRefund<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
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
pub struct ReportedSums {
    /// With an id of the provider.
    pub keyed: Rupiah,
    pub total: Rupiah,
}

pub async fn reported_sums(
    tx: &mut Tx,
    payment: Uuid,
    told: &ReportedRefund,
    since: Option<DateTime<Utc>>,
) -> Result<ReportedSums> {
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
pub async fn reported_total(tx: &mut Tx, payment: Uuid, transaction: &str) -> Result<Rupiah> {
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
pub async fn link_recorded_payment(
    tx: &mut Tx,
    booking: Uuid,
    id: Uuid,
    told: &ReportedRefund,
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

/// Who took the cash of a booking, and how much of it has not gone back; `None` if it was not paid in
/// cash.
pub async fn cash_taken(tx: &mut Tx, booking: Uuid) -> Result<Option<(CashTaker, Rupiah)>> {
    let taken: Option<(String, Rupiah)> = tx
        .sql(
            "SELECT account, amount - CAST(COALESCE((SELECT SUM(p.amount)
                 FROM refunds r JOIN refund_payments p ON p.refund_id = r.id
                 WHERE r.booking_id = $1 AND p.paid_by IN ('cash', 'partner')
                   AND p.returned_at IS NULL), 0) AS BIGINT)
             FROM ledger_lines
             WHERE source = 'booking' AND source_id = $1 AND kind = 'paid'
               AND account IN ('cash', 'partner_payable')",
        )
        .bind(booking)
        .maybe()
        .await?;
    Ok(taken.map(|(account, left)| {
        let taker = match account.as_str() {
            "cash" => CashTaker::Staff,
            _ => CashTaker::Partner,
        };
        (taker, left.max(Rupiah::ZERO))
    }))
}
