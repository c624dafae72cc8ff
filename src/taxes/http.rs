//! Handlers of taxes.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    model::{AppliesTo, Tax, TaxForm, TaxRow, TaxesQuery},
    store,
};
use crate::{
    app::App,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
};

/// The tax of the path.
pub struct PathTax(TaxRow);

impl FromRequestParts<App> for PathTax {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::get(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathTax {}

pub async fn list_taxes(
    State(app): State<App>,
    Query(query): Query<TaxesQuery>,
) -> Result<Page<Tax>> {
    store::list(&app.db, &query).await
}

pub async fn create_tax(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<TaxForm>,
) -> Result<Reply<Tax>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    tx.lock("taxes").await?;
    ensure_same_meaning(&mut tx, &form).await?;
    let base = form.base_factor.clone().over(None).unwrap_or_default();
    let id = store::insert(&mut tx, &form, base, now).await?;
    let tax = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?.into();
    record(&mut tx, "tax.created", None, Some(&tax)).await?;
    tx.commit().await?;
    Ok(Reply::data(tax).saying("The tax has been created.", "Pajak ditambahkan."))
}

pub async fn update_tax(
    State(app): State<App>,
    caller: Caller,
    PathTax(found): PathTax,
    Body(form): Body<TaxForm>,
) -> Result<Reply<Tax>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = locked(&mut tx, &found).await?;
    let used = is_used(&mut tx, &before).await?;
    // Ledger lines and stored prices name the tax by its code.
    let means_another = form.code.to_string() != before.code
        || is_on_commission(form.applies_to) != is_on_commission(before.applies_to);
    if used && means_another {
        return Err(Error::conflict(
            "in_use",
            "This tax has been charged: its code stays, and commission stays commission.",
            "Pajak ini sudah pernah dikenakan: kode dan jenis dasarnya tidak dapat diubah.",
        ));
    }
    ensure_same_meaning(&mut tx, &form).await?;
    let base = form.base_factor.clone().over(Some(before.base_factor())).unwrap_or_default();
    let active_since = match (used, form.is_active) {
        (true, _) => before.active_since,
        (false, true) => before.active_since.or(Some(now)),
        (false, false) => None,
    };
    store::update(&mut tx, before.id, &form, base, active_since).await?;
    let after = store::get_in(&mut tx, before.id).await?.ok_or(Error::NotFound)?.into();
    record(&mut tx, "tax.updated", Some(&before.into()), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_tax(
    State(app): State<App>,
    caller: Caller,
    PathTax(found): PathTax,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = locked(&mut tx, &found).await?;
    match is_used(&mut tx, &before).await? {
        true => store::retire(&mut tx, before.id, now).await?,
        false => store::delete(&mut tx, before.id).await?,
    }
    record(&mut tx, "tax.deleted", Some(&before.into()), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The tax has been deleted.", "Pajak dihapus."))
}

/// The tax as it is now. Changes of taxes are made one after the other.
async fn locked(tx: &mut Tx, found: &TaxRow) -> Result<TaxRow> {
    tx.lock("taxes").await?;
    store::get_in(tx, found.id).await?.ok_or(Error::NotFound)
}

/// Whether a booking was made while the tax was active, so that its code may be in prices and in
/// the ledger.
async fn is_used(tx: &mut Tx, tax: &TaxRow) -> Result<bool> {
    match tax.active_since {
        Some(since) => store::sold_since(tx, since).await,
        None => Ok(false),
    }
}

/// Prices and ledger lines with the code of a deleted tax stay on bookings, or on commission.
async fn ensure_same_meaning(tx: &mut Tx, form: &TaxForm) -> Result<()> {
    let retired = store::retired_on_commission(tx, &form.code).await?;
    match retired.into_iter().any(|was| was != is_on_commission(form.applies_to)) {
        true => Err(Error::conflict(
            "in_use",
            "A deleted tax with this code has been charged on another base. Choose another code.",
            "Pajak terhapus dengan kode ini pernah dikenakan atas dasar lain. Pilih kode lain.",
        )),
        false => Ok(()),
    }
}

fn is_on_commission(applies_to: AppliesTo) -> bool {
    applies_to == AppliesTo::Commission
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Tax>,
    after: Option<&Tax>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "tax",
        id: before.or(after).map(|tax| tax.id).unwrap_or_default(),
        before: before.map(|tax| tax as _),
        after: after.map(|tax| tax as _),
    })
    .await
}
