//! Handlers of taxes.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    model::{Tax, TaxForm, TaxesQuery},
    store,
};
use crate::{
    app::App,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
};

/// The tax of the path.
pub struct PathTax(Tax);

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
    let id = store::insert(&mut tx, &form, now).await?;
    let tax = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    record(&mut tx, "tax.created", None, Some(&tax)).await?;
    tx.commit().await?;
    Ok(Reply::data(tax).saying("The tax has been created.", "Pajak ditambahkan."))
}

pub async fn update_tax(
    State(app): State<App>,
    caller: Caller,
    PathTax(before): PathTax,
    Body(form): Body<TaxForm>,
) -> Result<Reply<Tax>> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::update(&mut tx, before.id, &form).await?;
    let after = store::get_in(&mut tx, before.id).await?.ok_or(Error::NotFound)?;
    record(&mut tx, "tax.updated", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_tax(
    State(app): State<App>,
    caller: Caller,
    PathTax(before): PathTax,
) -> Result<Reply> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::delete(&mut tx, before.id).await?;
    record(&mut tx, "tax.deleted", Some(&before), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The tax has been deleted.", "Pajak dihapus."))
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
