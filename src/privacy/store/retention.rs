//! What is due for erasure: bookings that have been over for long enough, and requests of people.

use chrono::{DateTime, Utc};

use crate::{
    kernel::{
        db::{Db, Tx},
        email::Email,
        error::Result,
        ids::Uuid,
        set_aside::RowJob,
    },
    privacy::model::PendingKind,
};

/// Bookings that were over at a time and are not erased, the oldest first. Those that failed before
/// and those that owe something are left out, so they never hold up the others.
pub async fn expired(db: &Db, until: DateTime<Utc>, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(concat!(
            "SELECT k.id FROM bookings k WHERE k.erased_at IS NULL
               AND k.status IN ('completed', 'expired', 'cancelled', 'refunded') AND ",
            over_at!(),
            " <= $1 AND NOT ",
            owes!(),
            " AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $2 AND a.entity_id = k.id)
             ORDER BY ",
            over_at!(),
            " LIMIT CAST($3 AS BIGINT)"
        ))
        .without_cached_plan()
        .bind(until)
        .bind(RowJob::ErasePersonalData)
        .bind(limit)
        .long()
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// A request of a person, as far as it is not done.
#[derive(crate::kernel::db::FromRow)]
pub struct Pending {
    pub kind: PendingKind,
    pub entity_id: Uuid,
    pub subject: String,
}

/// Requests that are due and have not failed before.
pub async fn due(db: &Db, now: DateTime<Utc>, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT e.entity_id FROM pending_erasures e WHERE e.next_try_at <= $1 AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $2 AND a.entity_id = e.entity_id)
             ORDER BY e.next_try_at LIMIT CAST($3 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(RowJob::FinishErasures)
        .bind(limit)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Requests of one person that are due.
pub async fn due_of(
    db: &Db,
    subject: &str,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<Pending>> {
    let rows = db
        .sql(
            "SELECT kind, entity_id, subject FROM pending_erasures
             WHERE subject = $1 AND next_try_at <= $2 AND kind <> 'letters'
             ORDER BY next_try_at LIMIT CAST($3 AS BIGINT)",
        )
        .bind(subject.to_owned())
        .bind(now)
        .bind(limit)
        .all()
        .await?;
    Ok(rows)
}

pub async fn pending(db: &Db, id: Uuid) -> Result<Option<Pending>> {
    let pending = db
        .sql(
            "SELECT kind, entity_id, subject FROM pending_erasures
             WHERE kind IN ('account', 'booking', 'letters') AND entity_id = $1",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(pending)
}

/// Numbers of accounts and bookings of a person that are still to be erased.
pub async fn count_pending(db: &Db, subject: &str) -> Result<(u64, u64)> {
    let (accounts, bookings): (i64, i64) =
        db.sql(COUNT_PENDING).bind(subject.to_owned()).one().await?;
    Ok((accounts.unsigned_abs(), bookings.unsigned_abs()))
}

pub async fn count_pending_in(tx: &mut Tx, subject: &str) -> Result<(u64, u64)> {
    let (accounts, bookings): (i64, i64) =
        tx.sql(COUNT_PENDING).bind(subject.to_owned()).one().await?;
    Ok((accounts.unsigned_abs(), bookings.unsigned_abs()))
}

const COUNT_PENDING: &str = "SELECT COUNT(CASE WHEN kind = 'account' THEN 1 END),
      COUNT(CASE WHEN kind = 'booking' THEN 1 END)
    FROM pending_erasures WHERE subject = $1";

pub async fn insert_pending(tx: &mut Tx, pending: &Pending, due: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO pending_erasures (kind, entity_id, subject, requested_at, next_try_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (kind, entity_id) DO UPDATE SET next_try_at = excluded.next_try_at",
    )
    .bind(pending.kind)
    .bind(pending.entity_id)
    .bind(pending.subject.clone())
    .bind(due)
    .run()
    .await?;
    Ok(())
}

/// All bookings with this contact address.
pub async fn insert_pending_bookings(
    tx: &mut Tx,
    email: &Email,
    subject: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO pending_erasures (kind, entity_id, subject, requested_at, next_try_at)
         SELECT 'booking', k.id, $2, $3, $3 FROM bookings k WHERE k.contact_email = $1
         ON CONFLICT (kind, entity_id) DO UPDATE SET next_try_at = excluded.next_try_at",
    )
    .bind(email.clone())
    .bind(subject.to_owned())
    .bind(now)
    .run()
    .await?;
    Ok(())
}

pub async fn postpone(db: &Db, pending: &Pending, until: DateTime<Utc>) -> Result<()> {
    db.sql("UPDATE pending_erasures SET next_try_at = $1 WHERE kind = $2 AND entity_id = $3")
        .bind(until)
        .bind(pending.kind)
        .bind(pending.entity_id)
        .run()
        .await?;
    Ok(())
}

pub async fn delete_pending(db: &Db, kind: PendingKind, id: Uuid) -> Result<()> {
    db.sql(DELETE_PENDING).bind(kind).bind(id).run().await?;
    Ok(())
}

pub async fn delete_pending_in(tx: &mut Tx, kind: PendingKind, id: Uuid) -> Result<()> {
    tx.sql(DELETE_PENDING).bind(kind).bind(id).run().await?;
    Ok(())
}

const DELETE_PENDING: &str = "DELETE FROM pending_erasures WHERE kind = $1 AND entity_id = $2";
