//! Handlers of granted partners.

use axum::extract::State;

use super::PathReseller;
use crate::{
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
        error::Result,
        http::{Body, Reply},
    },
    resellers::{
        grants::{self, Grants, GrantsForm},
        store,
    },
};

pub async fn get_reseller_grants(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
) -> Result<Reply<Grants>> {
    let grants = grants::get(&app.db, reseller.id).await?;
    Ok(Reply::data(match caller.role {
        Role::Reseller => grants.for_reseller(),
        Role::Admin | Role::Staff | Role::Mitra | Role::Crew => grants,
    }))
}

pub async fn set_reseller_grants(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
    Body(form): Body<GrantsForm>,
) -> Result<Reply<Grants>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, reseller.id, now).await?;
    let before = grants::get_in(&mut tx, reseller.id).await?;
    grants::replace(&mut tx, reseller.id, &before, &form, now).await?;
    let after = grants::get_in(&mut tx, reseller.id).await?;
    tx.record(Change {
        action: "reseller.partners_granted",
        entity: "reseller",
        id: reseller.id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}
