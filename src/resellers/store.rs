//! The SQL of resellers.

use chrono::{DateTime, NaiveDate, Utc};

use super::model::{
    InvoiceSchedule, ResellerRow, ResellerSort, ResellerStatus, ResellersQuery, Terms, is_clear,
};
use crate::kernel::{
    db::{Db, Tx},
    error::{Error, Result},
    http::Page,
    ids::{self, Uuid},
    seal::Sealer,
};

macro_rules! reseller {
    ($rest:literal) => {
        concat!(
            "SELECT e.id, e.account_id AS user_id, a.name, e.legal_name, e.npwp, a.email,
               e.ops_email, a.phone, e.address, e.status, e.credit_limit, e.balance,
               e.invoice_schedule, e.terms_days, e.max_holds, e.rate_per_minute,
               e.currency_precision, e.created_at
             FROM resellers e JOIN accounts a ON a.id = e.account_id",
            $rest
        )
    };
}

const BY_ID: &str = reseller!(" WHERE e.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<ResellerRow>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<ResellerRow> {
    tx.sql(BY_ID).bind(id).maybe().await?.ok_or(Error::NotFound)
}

/// `own` restricts to one reseller; `None` finds all.
pub async fn list(db: &Db, own: Option<Uuid>, query: &ResellersQuery) -> Result<Page<ResellerRow>> {
    let sort = query.sort_by.map(|by| match by {
        ResellerSort::Name => "lower(a.name)",
        ResellerSort::Balance => "e.balance",
        ResellerSort::CreatedAt => "e.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(reseller!(""))
        .filter("e.id = ?", own)
        .filter("e.status = ?", query.status)
        .search(&["a.name", "e.legal_name", "a.email"], paging.search())
        .page(paging.sort(sort, "e.created_at"), "e.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Locks the reseller: orders changes of its keys, grants, invoices and payments. Sales lock the row
/// by their posting.
pub async fn lock_row(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<ResellerRow> {
    tx.sql("UPDATE resellers SET updated_at = $1 WHERE id = $2").bind(now).bind(id).run().await?;
    get_in(tx, id).await
}

pub async fn insert(tx: &mut Tx, account: Uuid, terms: &Terms, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO resellers (id, account_id, legal_name, npwp, ops_email, address, status,
           credit_limit, invoice_schedule, terms_days, max_holds, rate_per_minute,
           currency_precision, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $9, $10, $11, $12, $13, $13)",
    )
    .bind(id)
    .bind(account)
    .bind(terms.legal_name.clone())
    .bind(terms.npwp.clone())
    .bind(terms.ops_email.clone())
    .bind(terms.address.clone())
    .bind(terms.credit_limit)
    .bind(terms.invoice_schedule)
    .bind(terms.terms_days)
    .bind(terms.max_holds)
    .bind(terms.rate_per_minute)
    .bind(terms.currency_precision)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

pub async fn update(tx: &mut Tx, id: Uuid, terms: &Terms) -> Result<()> {
    tx.sql(
        "UPDATE resellers SET legal_name = $1, npwp = $2, ops_email = $3, address = $4,
           credit_limit = $5, invoice_schedule = $6, terms_days = $7, max_holds = $8,
           rate_per_minute = $9, currency_precision = $10
         WHERE id = $11",
    )
    .bind(terms.legal_name.clone())
    .bind(terms.npwp.clone())
    .bind(terms.ops_email.clone())
    .bind(terms.address.clone())
    .bind(terms.credit_limit)
    .bind(terms.invoice_schedule)
    .bind(terms.terms_days)
    .bind(terms.max_holds)
    .bind(terms.rate_per_minute)
    .bind(terms.currency_precision)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

pub async fn set_status(
    tx: &mut Tx,
    id: Uuid,
    status: ResellerStatus,
    reason: Option<&str>,
) -> Result<()> {
    tx.sql("UPDATE resellers SET status = $1, status_reason = $2 WHERE id = $3")
        .bind(status)
        .bind(reason.map(str::to_owned))
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// The schedule of each reseller, and the last day that it has invoiced.
pub async fn schedules(db: &Db) -> Result<Vec<(Uuid, InvoiceSchedule, Option<NaiveDate>)>> {
    Ok(db.sql("SELECT id, invoice_schedule, invoiced_until FROM resellers").all().await?)
}

/// Locks the reseller for its scheduled invoice; `false` if another process has made it.
pub async fn claim_invoice(
    tx: &mut Tx,
    id: Uuid,
    end: NaiveDate,
    now: DateTime<Utc>,
) -> Result<bool> {
    let claimed = tx
        .sql(
            "UPDATE resellers SET invoiced_until = $1, updated_at = $2
             WHERE id = $3 AND (invoiced_until IS NULL OR invoiced_until < $1)",
        )
        .bind(end)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(claimed == 1)
}

/// Re-encrypts tax numbers of older keys, and encrypts those that are stored in clear; returns the
/// number of rows.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let rows: Vec<(Uuid, String)> =
        db.sql("SELECT id, npwp FROM resellers WHERE npwp IS NOT NULL").all().await?;
    let mut resealed = 0;
    for (id, stored) in rows {
        resealed += reseal_row(db, sealer, id, stored).await?;
    }
    Ok(resealed)
}

/// Encrypts tax numbers that are stored in clear; returns the number of rows. A row that fails is
/// logged and keeps its number.
pub async fn seal_clear(db: &Db, sealer: &Sealer) -> Result<u64> {
    // What is encrypted has a colon behind the id of its key.
    let rows: Vec<(Uuid, String)> =
        db.sql("SELECT id, npwp FROM resellers WHERE npwp NOT LIKE '%:%'").all().await?;
    let mut sealed = 0;
    for (id, stored) in rows {
        match reseal_row(db, sealer, id, stored).await {
            Ok(rows) => sealed += rows,
            Err(error) => {
                tracing::warn!(%id, %error, "the tax number of a reseller could not be encrypted");
            }
        }
    }
    Ok(sealed)
}

/// Returns the number of changed rows: 0 if the number is encrypted with the current key, or if it was
/// changed meanwhile.
async fn reseal_row(db: &Db, sealer: &Sealer, id: Uuid, stored: String) -> Result<u64> {
    let new = match is_clear(&stored) {
        true => Some(sealer.seal(&stored)?),
        false => sealer.reseal(&stored)?,
    };
    let Some(new) = new else { return Ok(0) };
    let update = db.sql("UPDATE resellers SET npwp = $1 WHERE id = $2 AND npwp = $3");
    Ok(update.bind(new).bind(id).bind(stored).run().await?)
}
