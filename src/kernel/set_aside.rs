//! Rows that a background job failed to process.
//!
//! - A row that fails permanently is recorded here. Batches skip recorded rows; each is retried alone
//!   with growing pauses and removed when it succeeds or has nothing left to do. One bad row
//!   therefore never blocks the others.
//! - A transient failure (database busy, transaction conflict) is not recorded.
//! - From its third failure on a row counts as set aside: it is logged as an error, counted in
//!   `/metrics`, and `dermaga doctor` names it.

use std::{collections::HashSet, panic::AssertUnwindSafe};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{FutureExt, StreamExt, stream};

use super::{
    db::Db,
    error::{Error, Result},
    ids::Uuid,
};

crate::string_enum! {
    /// Jobs that work row by row. Each is also the name of the job in logs and metrics.
    pub enum RowJob {
        /// The rows are bookings.
        ExpireHolds = "expire_holds",
        /// The rows are reschedules.
        DropReschedules = "drop_reschedules",
        /// The rows are bookings.
        CompleteJourneys = "complete_journeys",
        /// The rows are partners.
        SettleSchedules = "settle_schedules",
        /// The rows are moves of bookings; the id is the move's number.
        RollUpReports = "roll_up_reports",
        /// The rows are partners.
        DeleteUnverified = "delete_unverified_partners",
        /// The rows are items of the outbox that a newer version wrote.
        DeliverOutbox = "deliver_outbox",
        /// The rows are bookings.
        ErasePersonalData = "erase_personal_data",
        /// The rows are refunds.
        SendRefunds = "send_refunds",
        /// The rows are transfers.
        CallProvider = "call_provider",
        /// The rows are accounts, bookings and hashes of addresses.
        FinishErasures = "finish_erasures",
        /// The rows are resellers.
        InvoiceResellers = "invoice_resellers",
    }
}

/// Number of failures after which a row counts as set aside.
const FAILURES: i32 = 3;
const LONGEST_PAUSE: i64 = 60 * 60;
/// Number of transient failures after which a pass ends.
const TRANSIENT: usize = 20;

/// Result of one pass of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Number of processed rows.
    pub done: u64,
    /// Whether more rows are due.
    pub more: bool,
}

impl From<u64> for Pass {
    fn from(done: u64) -> Self {
        Self { done, more: false }
    }
}

impl From<()> for Pass {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// A row that failed repeatedly.
#[derive(Debug, crate::kernel::db::FromRow)]
pub struct SetAside {
    pub job: String,
    pub entity_id: Uuid,
    pub failures: i32,
    pub last_error: String,
    pub first_failed_at: DateTime<Utc>,
}

/// Converts a panic into an error, so that a row that causes a panic is handled like any failing
/// row.
pub async fn guarded<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(Error::from_panic(&*panic)))
}

/// Processes rows that have not failed before, one by one, `width` concurrently. Returns the number
/// of rows with work done; fails if one failed transiently.
pub async fn each<F, Fut>(
    db: &Db,
    job: RowJob,
    rows: Vec<Uuid>,
    width: usize,
    now: DateTime<Utc>,
    work: F,
) -> Result<u64>
where
    F: Fn(Uuid) -> Fut,
    Fut: Future<Output = Result<bool>>,
{
    Ok(attempt(db, job, rows, width, now, work).await?.1)
}

/// Retries failed rows that are due, one by one.
pub async fn retry<F, Fut>(db: &Db, job: RowJob, now: DateTime<Utc>, work: F) -> Result<u64>
where
    F: Fn(Uuid) -> Fut,
    Fut: Future<Output = Result<bool>>,
{
    const SOME: i64 = 100;
    let due: Vec<(Uuid,)> = db
        .sql(
            "SELECT entity_id FROM set_aside WHERE job = $1 AND next_try_at <= $2
             ORDER BY next_try_at LIMIT CAST($3 AS BIGINT)",
        )
        .bind(job)
        .bind(now)
        .bind(SOME)
        .all()
        .await?;
    let rows = due.into_iter().map(|(id,)| id).collect();
    let (succeeded, done) = attempt(db, job, rows, 1, now, work).await?;
    for id in succeeded {
        // If this fails, the next retry has nothing to do and removes the row.
        remove(db, job, id).await?;
    }
    Ok(done)
}

/// Removes the record of a row; returns whether there was one.
pub async fn remove(db: &Db, job: RowJob, id: Uuid) -> Result<bool> {
    let removed = db
        .sql("DELETE FROM set_aside WHERE job = $1 AND entity_id = $2")
        .bind(job)
        .bind(id)
        .run()
        .await?;
    if removed == 1 {
        tracing::info!(%job, %id, "a row that had failed was processed");
    }
    Ok(removed == 1)
}

/// Returns the rows that succeeded, and the number with work done.
async fn attempt<F, Fut>(
    db: &Db,
    job: RowJob,
    rows: Vec<Uuid>,
    width: usize,
    now: DateTime<Utc>,
    work: F,
) -> Result<(Vec<Uuid>, u64)>
where
    F: Fn(Uuid) -> Fut,
    Fut: Future<Output = Result<bool>>,
{
    let (mut succeeded, mut done) = (Vec::new(), 0);
    let (mut failed, mut transient) = (Vec::new(), Vec::new());
    {
        let run = |id| guarded(work(id)).map(move |outcome| (id, outcome));
        let mut outcomes = stream::iter(rows).map(run).buffer_unordered(width);
        while let Some((id, outcome)) = outcomes.next().await {
            match outcome {
                Ok(did) => {
                    done += u64::from(did);
                    succeeded.push(id);
                }
                Err(error) if error.is_transient() => transient.push(error),
                Err(error) => failed.push((id, error)),
            }
            if transient.len() == TRANSIENT {
                break;
            }
        }
    }
    // Only after all have ended: they may wait for the same writer and are not polled meanwhile.
    for (id, error) in failed {
        note(db, job, id, &error, now).await?;
    }
    match transient.into_iter().next() {
        Some(error) => Err(error),
        None => Ok((succeeded, done)),
    }
}

/// Records a failure of a row; returns when to retry it.
pub async fn note(
    db: &Db,
    job: RowJob,
    id: Uuid,
    error: &Error,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>> {
    let mut tx = db.begin().await?;
    let failures: i32 = tx
        .sql(
            "INSERT INTO set_aside (job, entity_id, failures, last_error, first_failed_at,
               next_try_at)
             VALUES ($1, $2, 1, $3, $4, $4)
             ON CONFLICT (job, entity_id) DO UPDATE SET failures = set_aside.failures + 1,
               last_error = excluded.last_error
             RETURNING failures",
        )
        .bind(job)
        .bind(id)
        .bind(error.to_string().chars().take(1_000).collect::<String>())
        .bind(now)
        .scalar()
        .await?;
    let again_at = now + pause(failures);
    tx.sql("UPDATE set_aside SET next_try_at = $1 WHERE job = $2 AND entity_id = $3")
        .bind(again_at)
        .bind(job)
        .bind(id)
        .run()
        .await?;
    tx.commit().await?;
    if failures >= FAILURES {
        tracing::error!(%job, %id, failures, %error, "a row failed repeatedly and is skipped");
    } else {
        tracing::warn!(%job, %id, failures, %error, "a row failed and will be retried");
    }
    Ok(again_at)
}

/// 5 s, 10 s, 20 s, … up to an hour.
fn pause(failures: i32) -> TimeDelta {
    let seconds = 5_i64.saturating_mul(1 << (failures - 1).clamp(0, 30));
    TimeDelta::seconds(seconds.min(LONGEST_PAUSE))
}

/// Failed rows of a job that have not succeeded since.
pub async fn noted(db: &Db, job: RowJob) -> Result<HashSet<Uuid>> {
    let rows: Vec<(Uuid,)> =
        db.sql("SELECT entity_id FROM set_aside WHERE job = $1").bind(job).all().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Number of set-aside rows per job.
pub async fn counts(db: &Db) -> Result<Vec<(RowJob, i64)>> {
    let counts: Vec<(String, i64)> = db
        .sql("SELECT job, COUNT(*) FROM set_aside WHERE failures >= $1 GROUP BY job")
        .bind(FAILURES)
        .all()
        .await?;
    let of = |job: RowJob| counts.iter().find(|(name, _)| name == job.as_str());
    Ok(RowJob::ALL.iter().map(|job| (*job, of(*job).map_or(0, |(_, count)| *count))).collect())
}

/// Number of set-aside rows, and the oldest of them.
pub async fn list(db: &Db, limit: i64) -> Result<(i64, Vec<SetAside>)> {
    let count = db
        .sql("SELECT COUNT(*) FROM set_aside WHERE failures >= $1")
        .bind(FAILURES)
        .scalar()
        .await?;
    let rows = db
        .sql(
            "SELECT job, entity_id, failures, last_error, first_failed_at FROM set_aside
             WHERE failures >= $1 ORDER BY first_failed_at, entity_id LIMIT CAST($2 AS BIGINT)",
        )
        .bind(FAILURES)
        .bind(limit)
        .all()
        .await?;
    Ok((count, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let pauses: Vec<_> = (1..20).map(pause).collect();
        assert!(pauses.is_sorted());
        assert_eq!(pauses[0], TimeDelta::seconds(5));
        assert_eq!(pause(i32::MAX), TimeDelta::hours(1));
    }
}
