//! Resellers: agencies that sell seats through OCTO, on account.
//!
//! - A reseller owes the net price of what it sells. Its lines of `reseller_receivable` in the ledger
//!   add up to its balance, which a trigger maintains.
//! - A sale takes credit: the balance never passes the limit.

mod credit;
mod grants;
mod http;
mod invoices;
mod keys;
mod model;
mod networks;
mod payments;
mod schedule;
mod store;

use crate::{
    app::App,
    kernel::{db::Db, error::Result, ids::Uuid},
};

pub use credit::{ensure as ensure_credit, overdue_before};
pub use http::{
    create_reseller, create_reseller_invoice, create_reseller_key, find, get_reseller,
    get_reseller_grants, list_reseller_invoices, list_reseller_keys, list_resellers,
    record_reseller_payment, resend_reseller_invitation, revoke_reseller_key, set_reseller_grants,
    suspend_reseller, unsuspend_reseller, update_reseller,
};
pub use model::{NetFare, PolicyStep, ResellerStatus, Scope, open_npwp};
pub use schedule::run as run_schedules;

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}

/// Encrypts tax numbers that an earlier version has stored in clear.
pub async fn seal_clear(app: &App) -> Result<()> {
    let sealed = store::seal_clear(&app.db, &app.sealer).await?;
    if sealed == 0 {
        return Ok(());
    }
    tracing::info!(sealed, "tax numbers of resellers were encrypted");
    app.db.has_erased();
    if let Err(error) = app.db.scrub().await {
        tracing::warn!(%error, "the database could not be scrubbed");
    }
    Ok(())
}

/// Where a reseller is told of changes, and its name.
pub async fn address(db: &Db, id: Uuid) -> Result<(String, String)> {
    let address = db
        .sql(
            "SELECT COALESCE(e.ops_email, a.email), a.name
             FROM resellers e JOIN accounts a ON a.id = e.account_id WHERE e.id = $1",
        )
        .bind(id)
        .one()
        .await?;
    Ok(address)
}
