//! The SQL of crew.

use chrono::{DateTime, Utc};

use super::model::{CrewMember, CrewQuery, CrewSort};
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    http::Page,
    ids::Uuid,
};

macro_rules! member {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.name, a.email, a.phone, a.status, (a.password_hash IS NULL) AS invited,
               a.last_login_at, c.created_at, c.invited_at
             FROM crew c JOIN accounts a ON a.id = c.account_id",
            $rest
        )
    };
}

pub async fn list(db: &Db, partner: Uuid, query: &CrewQuery) -> Result<Page<CrewMember>> {
    let sort = query.sort_by.map(|by| match by {
        CrewSort::Name => "lower(a.name)",
        CrewSort::CreatedAt => "c.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(member!(""))
        .filter("c.partner_id = ?", Some(partner))
        .search(&["a.name", "a.email", "a.phone"], paging.search())
        .page(paging.sort(sort, "c.created_at"), "a.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn get_in(tx: &mut Tx, partner: Uuid, id: Uuid) -> Result<Option<CrewMember>> {
    let member = tx.sql(member!(" WHERE c.partner_id = $1 AND c.account_id = $2"));
    Ok(member.bind(partner).bind(id).maybe().await?)
}

/// Number of crew members. The partner's row must be locked.
pub async fn count(tx: &mut Tx, partner: Uuid) -> Result<i64> {
    let count = tx.sql("SELECT COUNT(*) FROM crew WHERE partner_id = $1").bind(partner);
    Ok(count.scalar().await?)
}

pub async fn insert(tx: &mut Tx, partner: Uuid, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO crew (account_id, partner_id, invited_at, created_at)
         VALUES ($1, $2, $3, $3)",
    )
    .bind(id)
    .bind(partner)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

/// Records another invitation; `false` if the last one is not older than `since`.
pub async fn mark_invited(
    tx: &mut Tx,
    partner: Uuid,
    id: Uuid,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let marked = tx
        .sql(
            "UPDATE crew SET invited_at = $1
             WHERE partner_id = $2 AND account_id = $3 AND invited_at <= $4",
        )
        .bind(now)
        .bind(partner)
        .bind(id)
        .bind(since)
        .run()
        .await?;
    Ok(marked == 1)
}

/// Returns `false` if the member is already removed.
pub async fn delete(tx: &mut Tx, partner: Uuid, id: Uuid) -> Result<bool> {
    let deleted = tx
        .sql("DELETE FROM crew WHERE partner_id = $1 AND account_id = $2")
        .bind(partner)
        .bind(id)
        .run()
        .await?;
    Ok(deleted == 1)
}
