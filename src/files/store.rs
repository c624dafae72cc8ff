//! The SQL of files.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    model::{Kind, Purpose},
    rules::Quota,
};
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::Uuid,
};

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct File {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub filename: String,
    pub content_type: Kind,
    pub size: i64,
    pub purpose: Purpose,
    /// `None` while pending.
    pub object_key: Option<String>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
}

/// Whether the e-mail address of an account is verified.
pub async fn is_owner_verified(tx: &mut Tx, owner: Uuid) -> Result<bool> {
    let verified =
        tx.sql("SELECT email_verified FROM accounts WHERE id = $1").bind(owner).scalar().await?;
    Ok(verified)
}

/// Registers a pending file; `false` if the owner's quota is used up.
pub async fn announce(tx: &mut Tx, file: &File, quota: Option<Quota>) -> Result<bool> {
    if !take_room(tx, file, quota).await? {
        return Ok(false);
    }
    tx.sql(
        "INSERT INTO files (id, owner_id, filename, content_type, size, purpose, status,
           expires_at, created_at, checked_at, in_use)
         VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $8, FALSE)",
    )
    .bind(file.id)
    .bind(file.owner_id)
    .bind(file.filename.clone())
    .bind(file.content_type)
    .bind(file.size)
    .bind(file.purpose)
    .bind(file.expires_at)
    .bind(file.created_at)
    .run()
    .await?;
    Ok(true)
}

/// Adds the file to the owner's counters; `false` if the quota is used up.
async fn take_room(tx: &mut Tx, file: &File, quota: Option<Quota>) -> Result<bool> {
    let most = quota.unwrap_or(Quota { files: i64::MAX, bytes: i64::MAX });
    tx.sql(
        "INSERT INTO file_usage (account_id, files, bytes) VALUES ($1, 0, 0)
         ON CONFLICT (account_id) DO NOTHING",
    )
    .bind(file.owner_id)
    .run()
    .await?;
    let taken = tx
        .sql(
            "UPDATE file_usage SET files = files + 1, bytes = bytes + $1
             WHERE account_id = $2 AND files < $3 AND bytes <= $4",
        )
        .bind(file.size)
        .bind(file.owner_id)
        .bind(most.files)
        .bind(most.bytes - file.size)
        .run()
        .await?;
    Ok(taken == 1)
}

async fn give_room_back(tx: &mut Tx, owner: Uuid, files: i64, bytes: i64) -> Result<()> {
    tx.sql("UPDATE file_usage SET files = files - $1, bytes = bytes - $2 WHERE account_id = $3")
        .bind(files)
        .bind(bytes)
        .bind(owner)
        .run()
        .await?;
    Ok(())
}

pub async fn get(db: &Db, id: Uuid) -> Result<Option<File>> {
    let file = db
        .sql(
            "SELECT id, owner_id, filename, content_type, size, purpose, object_key, expires_at,
               created_at
             FROM files WHERE id = $1",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(file)
}

/// Assigns content to a pending file, which may be smaller than announced; `false` if another
/// upload came first.
pub async fn fill(tx: &mut Tx, file: &File, object_key: &str, size: i64) -> Result<bool> {
    let filled = tx
        .sql(
            "UPDATE files SET status = 'ready', object_key = $1, size = $2
             WHERE id = $3 AND status = 'pending'",
        )
        .bind(object_key.to_owned())
        .bind(size)
        .bind(file.id)
        .run()
        .await?;
    if filled == 1 && size != file.size {
        give_room_back(tx, file.owner_id, 0, file.size - size).await?;
    }
    Ok(filled == 1)
}

/// Protects a ready file from the cleanup job; `false` if it no longer exists.
pub async fn keep(db: &Db, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let kept = db
        .sql("UPDATE files SET checked_at = $1, in_use = TRUE WHERE id = $2 AND status = 'ready'")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(kept == 1)
}

/// Batch size of the cleanup job.
pub const SOME: usize = 1000;

/// A batch of pending files whose upload has expired.
pub async fn overdue(db: &Db, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT id FROM files WHERE status = 'pending' AND expires_at <= $1
             ORDER BY expires_at LIMIT 1000",
        )
        .bind(now)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

pub async fn forget_pending(tx: &mut Tx, id: Uuid) -> Result<()> {
    let gone: Option<(Uuid, i64)> = tx
        .sql("DELETE FROM files WHERE id = $1 AND status = 'pending' RETURNING owner_id, size")
        .bind(id)
        .maybe()
        .await?;
    match gone {
        Some((owner, size)) => give_room_back(tx, owner, 1, size).await,
        None => Ok(()),
    }
}

/// A ready file whose references are to be checked.
#[derive(crate::kernel::db::FromRow)]
pub struct Unchecked {
    pub id: Uuid,
    pub purpose: Purpose,
    pub in_use: bool,
}

/// A batch of files whose references were checked longest ago.
pub async fn unchecked(db: &Db, until: DateTime<Utc>) -> Result<Vec<Unchecked>> {
    let rows = db
        .sql(
            "SELECT id, purpose, in_use FROM files WHERE status = 'ready' AND checked_at <= $1
             ORDER BY checked_at LIMIT 1000",
        )
        .bind(until)
        .long()
        .all()
        .await?;
    Ok(rows)
}

/// The files that a column refers to.
pub async fn referred(db: &Db, ids: &[Uuid]) -> Result<Vec<Uuid>> {
    let statement = db.sql_among(
        "SELECT f.id FROM files f
         WHERE (EXISTS (SELECT 1 FROM accounts a WHERE a.avatar_file_id = f.id)
             OR EXISTS (SELECT 1 FROM partner_documents d WHERE d.file_id = f.id)
             OR EXISTS (SELECT 1 FROM promotions p WHERE p.image_file_id = f.id)
             OR EXISTS (SELECT 1 FROM settlements s WHERE s.proof_file_id = f.id)
             OR EXISTS (SELECT 1 FROM settlement_payouts s WHERE s.proof_file_id = f.id)
             OR EXISTS (SELECT 1 FROM cta_partnership c WHERE c.image_file_id = f.id))
           AND f.id IN",
        ids.len(),
        "",
    );
    let statement = ids.iter().fold(statement, |statement, id| statement.bind(*id));
    let rows: Vec<(Uuid,)> = statement.long().all().await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Ids of all photos of boats, including deleted boats.
pub async fn photos(db: &Db) -> Result<HashSet<Uuid>> {
    let rows: Vec<(Value,)> = db.sql("SELECT photos FROM speedboats").long().all().await?;
    let lists = rows.iter().filter_map(|(list,)| list.as_array());
    let ids = lists.flatten().filter_map(|id| id.as_str()?.parse().ok());
    Ok(ids.collect())
}

/// Whether any terms show the file.
pub async fn is_shown_in_terms(db: &Db, id: Uuid) -> Result<bool> {
    let shown: i64 = db
        .sql("SELECT COUNT(*) FROM terms WHERE lower(content) LIKE $1")
        .bind(format!("%/v1/files/{id}%"))
        .long()
        .scalar()
        .await?;
    Ok(shown > 0)
}

/// Stores the result of a check, unless a request has referred to the file in the meantime.
pub async fn set_checked(
    db: &Db,
    id: Uuid,
    in_use: bool,
    until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<()> {
    db.sql("UPDATE files SET checked_at = $1, in_use = $2 WHERE id = $3 AND checked_at <= $4")
        .bind(now)
        .bind(in_use)
        .bind(id)
        .bind(until)
        .run()
        .await?;
    Ok(())
}

/// Marks the files of an account as pending and expired, so that their contents are deleted before
/// their rows. A file that an admin uses elsewhere is kept.
pub async fn give_up_all(tx: &mut Tx, owner: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE files SET status = 'pending', object_key = NULL, expires_at = $1
         WHERE owner_id = $2
           AND NOT EXISTS (SELECT 1 FROM promotions p WHERE p.image_file_id = files.id)
           AND NOT EXISTS (SELECT 1 FROM settlements s WHERE s.proof_file_id = files.id)
           AND NOT EXISTS (SELECT 1 FROM settlement_payouts s WHERE s.proof_file_id = files.id)
           AND NOT EXISTS (SELECT 1 FROM cta_partnership c WHERE c.image_file_id = files.id)",
    )
    .bind(now)
    .bind(owner)
    .run()
    .await?;
    Ok(())
}

/// Marks avatar and documents of an account, and the given files, as pending and expired, so that
/// their content is deleted before their rows. The names of all its files are replaced.
pub async fn give_up_personal(
    tx: &mut Tx,
    owner: Uuid,
    documents: &[Uuid],
    now: DateTime<Utc>,
) -> Result<Vec<Uuid>> {
    let mut given_up: Vec<(Uuid,)> = tx
        .sql(
            "UPDATE files SET status = 'pending', object_key = NULL, filename = 'erased',
               expires_at = $1
             WHERE owner_id = $2 AND purpose IN ('avatar', 'document') RETURNING id",
        )
        .bind(now)
        .bind(owner)
        .all()
        .await?;
    for id in documents {
        given_up.extend(
            tx.sql(
                "UPDATE files SET status = 'pending', object_key = NULL, filename = 'erased',
                   expires_at = $1
                 WHERE id = $2 AND purpose = 'document' AND owner_id <> $3 RETURNING id",
            )
            .bind(now)
            .bind(*id)
            .bind(owner)
            .all::<(Uuid,)>()
            .await?,
        );
    }
    tx.sql("UPDATE files SET filename = 'erased' WHERE owner_id = $1").bind(owner).run().await?;
    Ok(given_up.into_iter().map(|(id,)| id).collect())
}

/// Marks a file without references since `until` as pending and expired, so that its content is
/// deleted before its row. No effect if a request has referred to it in the meantime.
pub async fn give_up(db: &Db, id: Uuid, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
    db.sql(
        "UPDATE files SET status = 'pending', object_key = NULL, expires_at = $1
         WHERE id = $2 AND status = 'ready' AND in_use = FALSE AND checked_at <= $3",
    )
    .bind(now)
    .bind(id)
    .bind(until)
    .run()
    .await?;
    Ok(())
}
