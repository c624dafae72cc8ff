//! The SQL of permissions.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::model::{Permission, PermissionForm, PermissionsQuery};
use crate::{
    accounts,
    kernel::{
        access::Level,
        db::{Db, Failure, Tx},
        error::{Error, Result},
        http::Page,
        ids::{self, Uuid},
    },
};

#[derive(crate::kernel::db::FromRow)]
struct Row {
    id: Uuid,
    name: String,
    description: String,
    level: Level,
    rules: Value,
    staff_count: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Row> for Permission {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            name: row.name,
            description: row.description,
            level: row.level,
            rules: accounts::rules(Some(row.rules)),
            staff_count: row.staff_count,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

macro_rules! permission {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.name, p.description, p.level, p.rules, p.created_at, p.updated_at,
               (SELECT COUNT(*) FROM staff s WHERE s.permission_id = p.id) AS staff_count
             FROM permissions p",
            $rest
        )
    };
}

/// Sorts by level, highest first.
pub const BY_LEVEL: &str = "CASE p.level WHEN 'owner' THEN 5 WHEN 'manager' THEN 4
    WHEN 'supervisor' THEN 3 WHEN 'operator' THEN 2 ELSE 1 END";

pub async fn list(db: &Db, query: &PermissionsQuery) -> Result<Page<Permission>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(p.name)",
        "level" => BY_LEVEL,
        _ => "p.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(permission!(""))
        .filter("p.level = ?", query.level)
        .search(&["p.name"], paging.search())
        .page(paging.sort(sort, "p.created_at"), "p.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows).each(|row: Row| row.into()))
}

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Permission>> {
    let row: Option<Row> = db.sql(permission!(" WHERE p.id = $1")).bind(id).maybe().await?;
    Ok(row.map(Into::into))
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<Permission>> {
    let row: Option<Row> = tx.sql(permission!(" WHERE p.id = $1")).bind(id).maybe().await?;
    Ok(row.map(Into::into))
}

pub async fn insert(tx: &mut Tx, form: &PermissionForm, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO permissions (id, name, description, level, rules, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6)",
    )
    .bind(id)
    .bind(form.name.to_string())
    .bind(form.description.to_string())
    .bind(form.level)
    .bind(json!(form.rules))
    .bind(now)
    .run()
    .await
    .map_err(taken)?;
    Ok(id)
}

pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    form: &PermissionForm,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE permissions SET name = $1, description = $2, level = $3, rules = $4,
           updated_at = $5
         WHERE id = $6",
    )
    .bind(form.name.to_string())
    .bind(form.description.to_string())
    .bind(form.level)
    .bind(json!(form.rules))
    .bind(now)
    .bind(id)
    .run()
    .await
    .map_err(taken)?;
    Ok(())
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM permissions WHERE id = $1").bind(id).run().await?;
    Ok(())
}

fn taken(failure: Failure) -> Error {
    match failure.is_unique() {
        true => Error::conflict(
            "already_exists",
            "A permission with this name already exists.",
            "Hak akses dengan nama ini sudah ada.",
        ),
        false => failure.into(),
    }
}
