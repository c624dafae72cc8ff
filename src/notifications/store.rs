//! The SQL of notifications.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::model::{NotificationRow, NotificationsQuery};
use crate::kernel::{
    access::Rule,
    db::{Db, Tx},
    error::Result,
    http::Page,
    ids::{self, Uuid},
    outbox::Item,
};

macro_rules! notification {
    ($rest:literal) => {
        concat!("SELECT id, account_id, type, data, read_at, created_at FROM notifications", $rest)
    };
}

pub async fn get(db: &Db, owner: Uuid, id: Uuid) -> Result<Option<NotificationRow>> {
    let row = db
        .sql(notification!(" WHERE account_id = $1 AND id = $2"))
        .bind(owner)
        .bind(id)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn list(
    db: &Db,
    owner: Uuid,
    query: &NotificationsQuery,
) -> Result<Page<NotificationRow>> {
    let paging = &query.paging;
    let mut list = db.list(notification!("")).filter("account_id = ?", Some(owner));
    match query.unread {
        Some(true) => list = list.only("read_at IS NULL"),
        Some(false) => list = list.only("read_at IS NOT NULL"),
        None => {}
    }
    let page = list.page(paging.sort(None, "id"), "id", paging.limit(), paging.offset());
    Ok(paging.page(page.await?))
}

pub async fn unread(db: &Db, owner: Uuid) -> Result<i64> {
    let unread = db
        .sql("SELECT COUNT(*) FROM notifications WHERE account_id = $1 AND read_at IS NULL")
        .bind(owner)
        .scalar()
        .await?;
    Ok(unread)
}

/// Marks one notification or all as read; those that were read before keep their time.
pub async fn read(tx: &mut Tx, owner: Uuid, id: Option<Uuid>, now: DateTime<Utc>) -> Result<u64> {
    let read = tx
        .sql(
            "UPDATE notifications SET read_at = $1
             WHERE account_id = $2 AND read_at IS NULL AND ($3 IS NULL OR id = $3)",
        )
        .bind(now)
        .bind(owner)
        .bind(id)
        .run()
        .await?;
    Ok(read)
}

/// Batch size.
pub const SOME: usize = 1_000;

/// A batch after the given id, of all accounts or of one.
pub async fn newer_than(db: &Db, last: Uuid, owner: Option<Uuid>) -> Result<Vec<NotificationRow>> {
    let rows = match owner {
        None => db
            .sql(notification!(" WHERE id > $1 ORDER BY id LIMIT CAST($2 AS BIGINT)"))
            .bind(last)
            .bind(SOME as i64),
        Some(owner) => db
            .sql(notification!(
                " WHERE id > $1 AND account_id = $3 ORDER BY id LIMIT CAST($2 AS BIGINT)"
            ))
            .bind(last)
            .bind(SOME as i64)
            .bind(owner),
    };
    Ok(rows.all().await?)
}

/// The accounts of partners.
pub async fn accounts_of(tx: &mut Tx, partners: &[Uuid]) -> Result<HashMap<Uuid, Uuid>> {
    if partners.is_empty() {
        return Ok(HashMap::new());
    }
    let head = "SELECT id, account_id FROM partners WHERE id IN";
    let statement = tx.sql_among(head, partners.len(), "");
    let statement = partners.iter().fold(statement, |statement, id| statement.bind(*id));
    Ok(statement.all::<(Uuid, Uuid)>().await?.into_iter().collect())
}

/// The accounts of all active partners.
pub async fn all_partners(tx: &mut Tx) -> Result<Vec<Uuid>> {
    let accounts: Vec<(Uuid,)> =
        tx.sql("SELECT account_id FROM partners WHERE status = 'active'").all().await?;
    Ok(accounts.into_iter().map(|(id,)| id).collect())
}

/// Admins, and staff with the rule.
pub async fn staff_with(tx: &mut Tx, rule: Rule) -> Result<Vec<Uuid>> {
    let accounts: Vec<(Uuid,)> = tx
        .sql(
            "SELECT a.id FROM accounts a
             LEFT JOIN staff s ON s.account_id = a.id
             LEFT JOIN permissions p ON p.id = s.permission_id
             WHERE a.deleted_at IS NULL AND a.status = 'active'
               AND (a.role = 'admin'
                 OR (a.role = 'staff' AND CAST(p.rules AS TEXT) LIKE '%\"' || $1 || '\"%'))",
        )
        .bind(rule.as_str())
        .all()
        .await?;
    Ok(accounts.into_iter().map(|(id,)| id).collect())
}

pub struct NewNotification<'a> {
    pub item: &'a Item,
    pub data: &'a Value,
    pub account: Uuid,
}

pub async fn insert(tx: &mut Tx, new: &[NewNotification<'_>], now: DateTime<Utc>) -> Result<()> {
    tx.upsert_all(
        "INSERT INTO notifications (id, event_id, account_id, type, data, created_at)",
        6,
        new,
        "ON CONFLICT (event_id, account_id) DO NOTHING",
        |statement, NewNotification { item, data, account }| {
            statement
                .bind(ids::fresh())
                .bind(item.id)
                .bind(*account)
                .bind(item.topic.clone())
                .bind((*data).clone())
                .bind(now)
        },
    )
    .await?;
    Ok(())
}

pub async fn delete_before(db: &Db, before: DateTime<Utc>) -> Result<()> {
    db.sql("DELETE FROM notifications WHERE created_at < $1").bind(before).run().await?;
    Ok(())
}
