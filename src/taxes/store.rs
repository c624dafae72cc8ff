//! The SQL of taxes.

use chrono::{DateTime, Utc};

use super::model::{Tax, TaxForm, TaxesQuery};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::{Error, Result},
    http::Page,
    ids::{self, Uuid},
};

const BY_ID: &str =
    "SELECT id, name, code, rate, applies_to, is_active, created_at FROM taxes WHERE id = $1";

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Tax>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<Tax>> {
    Ok(tx.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn list(db: &Db, query: &TaxesQuery) -> Result<Page<Tax>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(name)",
        "code" => "code",
        _ => "created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list("SELECT id, name, code, rate, applies_to, is_active, created_at FROM taxes")
        .filter("applies_to = ?", query.applies_to)
        .filter("is_active = ?", query.is_active)
        .search(&["name", "code"], paging.search())
        .page(paging.sort(sort, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn insert(tx: &mut Tx, form: &TaxForm, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO taxes (id, name, code, rate, applies_to, is_active, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(id)
    .bind(form.name.to_string())
    .bind(form.code.to_string())
    .bind(form.rate)
    .bind(form.applies_to)
    .bind(form.is_active)
    .bind(now)
    .run()
    .await
    .map_err(taken)?;
    Ok(id)
}

pub async fn update(tx: &mut Tx, id: Uuid, form: &TaxForm) -> Result<()> {
    tx.sql(
        "UPDATE taxes SET name = $1, code = $2, rate = $3, applies_to = $4, is_active = $5
         WHERE id = $6",
    )
    .bind(form.name.to_string())
    .bind(form.code.to_string())
    .bind(form.rate)
    .bind(form.applies_to)
    .bind(form.is_active)
    .bind(id)
    .run()
    .await
    .map_err(taken)?;
    Ok(())
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM taxes WHERE id = $1").bind(id).run().await?;
    Ok(())
}

fn taken(failure: Failure) -> Error {
    match failure.is_unique() {
        true => Error::conflict(
            "already_exists",
            "A tax with this code already exists.",
            "Pajak dengan kode ini sudah ada.",
        ),
        false => failure.into(),
    }
}
