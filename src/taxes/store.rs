//! The SQL of taxes.

use chrono::{DateTime, Utc};

use super::model::{Tax, TaxForm, TaxRow, TaxesQuery};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::{Error, Result},
    http::Page,
    ids::{self, Uuid},
    money::BaseFactor,
};

macro_rules! tax {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, code, rate, applies_to, base_numerator, base_denominator, is_active,
               active_since, created_at
             FROM taxes",
            $rest
        )
    };
}

const BY_ID: &str = tax!(" WHERE id = $1 AND deleted_at IS NULL");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<TaxRow>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<TaxRow>> {
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
        .list(tax!(""))
        .only("deleted_at IS NULL")
        .filter("applies_to = ?", query.applies_to)
        .filter("is_active = ?", query.is_active)
        .search(&["name", "code"], paging.search())
        .page(paging.sort(sort, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows).each(|row: TaxRow| row.into()))
}

pub async fn insert(
    tx: &mut Tx,
    form: &TaxForm,
    base: BaseFactor,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO taxes (id, name, code, rate, applies_to, base_numerator, base_denominator,
           is_active, active_since, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id)
    .bind(form.name.to_string())
    .bind(form.code.to_string())
    .bind(form.rate)
    .bind(form.applies_to)
    .bind(base.numerator)
    .bind(base.denominator)
    .bind(form.is_active)
    .bind(form.is_active.then_some(now))
    .bind(now)
    .run()
    .await
    .map_err(taken)?;
    Ok(id)
}

pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    form: &TaxForm,
    base: BaseFactor,
    active_since: Option<DateTime<Utc>>,
) -> Result<()> {
    tx.sql(
        "UPDATE taxes SET name = $1, code = $2, rate = $3, applies_to = $4, base_numerator = $5,
           base_denominator = $6, is_active = $7, active_since = $8
         WHERE id = $9",
    )
    .bind(form.name.to_string())
    .bind(form.code.to_string())
    .bind(form.rate)
    .bind(form.applies_to)
    .bind(base.numerator)
    .bind(base.denominator)
    .bind(form.is_active)
    .bind(active_since)
    .bind(id)
    .run()
    .await
    .map_err(taken)?;
    Ok(())
}

/// Whether a booking was made since then. The end of an index answers it.
pub async fn sold_since(tx: &mut Tx, since: DateTime<Utc>) -> Result<bool> {
    let newest: Option<(DateTime<Utc>,)> =
        tx.sql("SELECT created_at FROM bookings ORDER BY created_at DESC LIMIT 1").maybe().await?;
    Ok(newest.is_some_and(|(newest,)| newest >= since))
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM taxes WHERE id = $1").bind(id).run().await?;
    Ok(())
}

/// Deletes a tax whose code may be in prices and in the ledger. The row keeps what the code means.
pub async fn retire(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE taxes SET is_active = FALSE, deleted_at = $1 WHERE id = $2")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// Whether deleted taxes with this code were on commission; empty if there are none.
pub async fn retired_on_commission(tx: &mut Tx, code: &str) -> Result<Vec<bool>> {
    let rows: Vec<(bool,)> = tx
        .sql(
            "SELECT DISTINCT applies_to = 'commission' FROM taxes
             WHERE upper(code) = upper($1) AND deleted_at IS NOT NULL",
        )
        .bind(code.to_owned())
        .all()
        .await?;
    Ok(rows.into_iter().map(|(on_commission,)| on_commission).collect())
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
