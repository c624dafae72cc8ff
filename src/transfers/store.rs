//! The SQL of transfers.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    model::{Change, NewTransfer, Transfer, TransferStatus},
    rules,
};
use crate::{
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        seal::Sealer,
        set_aside::RowJob,
    },
    providers::Outcome,
};

/// Longer than the calls of one step take together.
const LEASE: TimeDelta = TimeDelta::minutes(2);

macro_rules! transfer {
    ($rest:literal) => {
        concat!(
            "SELECT id, refund_id, settlement_id, payment_id, transaction_id, provider, amount,
               status, account, provider_id, attempts, next_at, sent_at, accepted_at, last_error,
               created_at, finished_at
             FROM transfers",
            $rest
        )
    };
}

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Transfer>> {
    Ok(db.sql(transfer!(" WHERE id = $1")).bind(id).maybe().await?)
}

/// The transfer with this id at the provider.
pub async fn by_provider_id(db: &Db, provider: &'static str, id: &str) -> Result<Option<Transfer>> {
    let found = db
        .sql(transfer!(" WHERE provider_id = $1 AND provider = $2 ORDER BY id DESC LIMIT 1"))
        .bind(id.to_owned())
        .bind(provider)
        .maybe()
        .await?;
    Ok(found)
}

/// The transfer of a payment that a provider names by our id or by its own.
pub async fn by_key(tx: &mut Tx, payment: Uuid, key: &str) -> Result<Option<Transfer>> {
    let id: Option<Uuid> = key.parse().ok();
    let found = tx
        .sql(transfer!(
            " WHERE payment_id = $1 AND (id = $2 OR provider_id = $3) ORDER BY id DESC LIMIT 1"
        ))
        .bind(payment)
        .bind(id)
        .bind(key.to_owned())
        .maybe()
        .await?;
    Ok(found)
}

/// A transfer of the payment that is on its way with this amount.
pub async fn open_of_payment(
    tx: &mut Tx,
    payment: Uuid,
    amount: Rupiah,
) -> Result<Option<Transfer>> {
    let found = tx
        .sql(transfer!(
            " WHERE payment_id = $1 AND amount = $2 AND status IN ('created', 'sent', 'accepted')
             ORDER BY id LIMIT 1"
        ))
        .bind(payment)
        .bind(amount)
        .maybe()
        .await?;
    Ok(found)
}

/// The transfer of a refund that is on its way.
pub async fn open_of_refund(tx: &mut Tx, refund: Uuid) -> Result<Option<Transfer>> {
    let found = tx
        .sql(transfer!(" WHERE refund_id = $1 AND status IN ('created', 'sent', 'accepted')"))
        .bind(refund)
        .maybe()
        .await?;
    Ok(found)
}

/// The transfer of a settlement that is on its way.
pub async fn open_of_settlement(tx: &mut Tx, settlement: Uuid) -> Result<Option<Transfer>> {
    let found = tx
        .sql(transfer!(" WHERE settlement_id = $1 AND status IN ('created', 'sent', 'accepted')"))
        .bind(settlement)
        .maybe()
        .await?;
    Ok(found)
}

pub async fn newest_of_provider(db: &Db, provider: &'static str) -> Result<Vec<Transfer>> {
    let newest = db
        .sql(transfer!(" WHERE provider = $1 ORDER BY id DESC LIMIT 50"))
        .bind(provider)
        .all()
        .await?;
    Ok(newest)
}

/// Creates a transfer, which the job sends at once.
pub async fn insert(tx: &mut Tx, new: NewTransfer<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO transfers (id, refund_id, settlement_id, payment_id, transaction_id, provider,
           amount, status, account, next_at, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'created', $8, $9, $9, $9)",
    )
    .bind(id)
    .bind(new.refund_id)
    .bind(new.settlement_id)
    .bind(new.payment_id)
    .bind(new.transaction_id.map(str::to_owned))
    .bind(new.provider.to_owned())
    .bind(new.amount)
    .bind(new.account)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

/// Due transfers that have not failed to be processed before.
pub async fn due(db: &Db, limit: i64, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let due: Vec<(Uuid,)> = db
        .sql(
            "SELECT t.id FROM transfers t
             WHERE t.next_at IS NOT NULL AND t.next_at <= $1 AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $3 AND a.entity_id = t.id)
             ORDER BY t.next_at LIMIT CAST($2 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(limit)
        .bind(RowJob::CallProvider)
        .all()
        .await?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}

/// Acquires the right to call the provider, and commits that it is called. `false`: another process
/// has it, or it is not due.
pub async fn lease(db: &Db, transfer: &Transfer, now: DateTime<Utc>) -> Result<bool> {
    let leased = db
        .sql(
            "UPDATE transfers SET next_at = $1, attempts = attempts + 1,
               status = CASE status WHEN 'created' THEN 'sent' ELSE status END,
               sent_at = COALESCE(sent_at, $2), updated_at = $2
             WHERE id = $3 AND status = $4 AND attempts = $5 AND next_at <= $2",
        )
        .bind(now + LEASE)
        .bind(now)
        .bind(transfer.id)
        .bind(transfer.status)
        .bind(transfer.attempts)
        .run()
        .await?;
    Ok(leased == 1)
}

/// Works on it (again) at this time.
pub async fn postpone(db: &Db, id: Uuid, at: DateTime<Utc>) -> Result<()> {
    db.sql(
        "UPDATE transfers SET next_at = $1
         WHERE id = $2 AND status IN ('created', 'sent', 'accepted', 'confirmed')",
    )
    .bind(at)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// As if the answer of the provider had been lost.
pub async fn simulate_lost_response(db: &Db, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    db.sql(
        "UPDATE transfers SET status = 'sent', provider_id = NULL, accepted_at = NULL, next_at = $1,
           last_error = 'the answer was lost'
         WHERE id = $2 AND status = 'accepted'",
    )
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Records an outcome and returns the transfer before it, with what it changes. The caller has locked
/// the booking or the partner, and applies the change in the same transaction.
pub async fn record(
    tx: &mut Tx,
    id: Uuid,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<(Transfer, Change)> {
    let transfer: Transfer = tx.sql(transfer!(" WHERE id = $1")).bind(id).one().await?;
    let Some(next) = rules::next(&transfer, outcome, now) else {
        if let Outcome::Confirmed { .. } = outcome {
            tracing::error!(%id, "a provider confirms a transfer that had failed");
        }
        return Ok((transfer, Change::None));
    };
    let provider_id = match outcome {
        Outcome::Accepted { provider_id } | Outcome::Confirmed { provider_id, .. } => {
            Some(provider_id.clone())
        }
        _ => None,
    };
    let finished = !next.status.is_open();
    let updated = tx
        .sql(
            "UPDATE transfers SET status = $1, next_at = $2, last_error = $3,
               provider_id = COALESCE($4, provider_id), updated_at = $5,
               accepted_at = CASE WHEN $1 = 'accepted' THEN COALESCE(accepted_at, $5)
                 ELSE accepted_at END,
               finished_at = CASE WHEN $6 THEN COALESCE(finished_at, $5) END,
               account = CASE WHEN $6 THEN NULL ELSE account END,
               sent_at = CASE WHEN $9 AND sent_at = updated_at THEN NULL ELSE sent_at END
             WHERE id = $7 AND status = $8",
        )
        .bind(next.status)
        .bind(next.next_at)
        .bind(next.error)
        .bind(provider_id)
        .bind(now)
        .bind(finished)
        .bind(id)
        .bind(transfer.status)
        // A first call that was definitely not done leaves nothing to be forgotten.
        .bind(matches!(outcome, Outcome::Later(_) | Outcome::Config(_)))
        .run()
        .await?;
    match updated {
        1 => Ok((transfer, next.change)),
        _ => Err(Error::Contention("the transfer was changed concurrently".into())),
    }
}

/// Confirms a transfer that was recorded as failed. `false`: it was already confirmed.
pub async fn confirm_late(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let confirmed = tx
        .sql(
            "UPDATE transfers SET status = 'confirmed', next_at = NULL, finished_at = $1,
               updated_at = $1, last_error = NULL
             WHERE id = $2 AND status = 'failed'",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(confirmed == 1)
}

/// Leaves an unknown outcome to a person. `false`: it was done before.
pub async fn stop(tx: &mut Tx, id: Uuid, reason: &str, now: DateTime<Utc>) -> Result<bool> {
    let stopped = tx
        .sql(
            "UPDATE transfers SET next_at = NULL, last_error = $1, updated_at = $2
             WHERE id = $3 AND status = 'sent' AND next_at IS NOT NULL",
        )
        .bind(reason.to_owned())
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(stopped == 1)
}

/// A person has found out what became of a transfer that was left to them. `false`: it was not.
pub async fn resolve(
    tx: &mut Tx,
    id: Uuid,
    status: TransferStatus,
    reference: Option<&str>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let resolved = tx
        .sql(
            "UPDATE transfers SET status = $1, provider_id = COALESCE(provider_id, $2),
               finished_at = $3, updated_at = $3, account = NULL
             WHERE id = $4 AND status = 'sent' AND next_at IS NULL",
        )
        .bind(status)
        .bind(reference.map(str::to_owned))
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(resolved == 1)
}

/// Re-encrypts accounts of older keys; returns the number of rows.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let sealed: Vec<(Uuid, String)> =
        db.sql("SELECT id, account FROM transfers WHERE account IS NOT NULL").all().await?;
    let mut count = 0;
    for (id, account) in sealed {
        let Some(resealed) = sealer.reseal(&account)? else { continue };
        count += db
            .sql("UPDATE transfers SET account = $1 WHERE id = $2 AND account = $3")
            .bind(resealed)
            .bind(id)
            .bind(account)
            .run()
            .await?;
    }
    Ok(count)
}
