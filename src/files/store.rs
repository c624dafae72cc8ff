//! The SQL of files.

use chrono::{DateTime, Utc};

use super::model::{Kind, Purpose};
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::Uuid,
};

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct File {
    pub id: Uuid,
    pub owner_id: Uuid,
    pub filename: String,
    pub content_type: Kind,
    pub size: i64,
    pub purpose: Purpose,
    /// `None` while it is pending.
    pub object_key: Option<String>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
}

/// Announces a file whose content is still to come.
pub async fn announce(tx: &mut Tx, file: &File) -> Result<()> {
    tx.sql(
        "INSERT INTO files (id, owner_id, filename, content_type, size, purpose, status,
           expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8)",
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

/// Gives a pending file its content; `false` when another arrival was first.
pub async fn fill(tx: &mut Tx, id: Uuid, object_key: &str, size: i64) -> Result<bool> {
    let filled = tx
        .sql(
            "UPDATE files SET status = 'ready', object_key = $1, size = $2
             WHERE id = $3 AND status = 'pending'",
        )
        .bind(object_key.to_owned())
        .bind(size)
        .bind(id)
        .run()
        .await?;
    Ok(filled == 1)
}

/// How many are swept at a time.
pub const SOME: usize = 1000;

/// Pending files that should have come by now, some at a time.
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

pub async fn forget_pending(db: &Db, id: Uuid) -> Result<()> {
    db.sql("DELETE FROM files WHERE id = $1 AND status = 'pending'").bind(id).run().await?;
    Ok(())
}
