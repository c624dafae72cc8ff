//! Handlers of harbours.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    model::{Harbour, HarbourChange, HarboursQuery, MergeHarbour, NewHarbour},
    rules,
    store::{self, Seen},
};
use crate::{
    app::App,
    kernel::{
        access::Rule,
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
        lang::text,
    },
    lines,
};

/// The harbour of the path.
pub struct PathHarbour(Harbour);

impl FromRequestParts<App> for PathHarbour {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::get(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathHarbour {}

/// Whoever may change harbours sees all of them. Others see unverified ones of published routes, and
/// a partner those of its own routes as well.
pub async fn list_harbours(
    State(app): State<App>,
    caller: Option<Caller>,
    Query(query): Query<HarboursQuery>,
) -> Result<Page<Harbour>> {
    let seen = match &caller {
        Some(caller) if caller.may(Rule::HarboursWrite) => Seen::All,
        Some(caller) => caller.partner().map_or(Seen::Published, Seen::PublishedAndOwn),
        None => Seen::Published,
    };
    store::list(&app.db, seen, &query).await
}

pub async fn create_harbour(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<NewHarbour>,
) -> Result<Reply<Harbour>> {
    let harbour = rules::new_harbour(form)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock(&mut tx).await?;
    store::ensure_names_free(&mut tx, &harbour).await?;
    store::insert(&mut tx, std::slice::from_ref(&harbour), now).await?;
    record(&mut tx, "harbour.created", None, Some(&harbour)).await?;
    tx.commit().await?;
    Ok(Reply::data(harbour).saying("The harbour has been created.", "Pelabuhan ditambahkan."))
}

pub async fn update_harbour(
    State(app): State<App>,
    caller: Caller,
    PathHarbour(seen): PathHarbour,
    Body(change): Body<HarbourChange>,
) -> Result<Reply<Harbour>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock(&mut tx).await?;
    let before = store::get_in(&mut tx, seen.id).await?.ok_or(Error::NotFound)?;
    let after = rules::changed(&before, change)?;
    let is_used = store::is_used(&mut tx, before.id).await?;
    rules::ensure_zone_may_change(&before, after.timezone, is_used)?;
    store::ensure_names_free(&mut tx, &after).await?;
    store::update(&mut tx, &after, now).await?;
    record(&mut tx, "harbour.updated", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_harbour(
    State(app): State<App>,
    caller: Caller,
    PathHarbour(seen): PathHarbour,
) -> Result<Reply> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::lock(&mut tx).await?;
    let before = store::get_in(&mut tx, seen.id).await?.ok_or(Error::NotFound)?;
    if store::is_used(&mut tx, before.id).await? {
        return Err(Error::conflict(
            "in_use",
            "Routes use this harbour. Merge it into another one instead.",
            "Pelabuhan ini dipakai rute. Gabungkan saja dengan pelabuhan lain.",
        ));
    }
    lines::delete_of_harbour(&mut tx, before.id).await?;
    store::delete(&mut tx, before.id).await?;
    record(&mut tx, "harbour.deleted", Some(&before), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The harbour has been deleted.", "Pelabuhan dihapus."))
}

/// The harbour of the path gives its routes, sailings and names to another one and is deleted.
pub async fn merge_harbour(
    State(app): State<App>,
    caller: Caller,
    PathHarbour(seen): PathHarbour,
    Body(MergeHarbour { into_id }): Body<MergeHarbour>,
) -> Result<Reply<Harbour>> {
    rules::ensure_two(seen.id, into_id)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock(&mut tx).await?;
    let from = store::get_in(&mut tx, seen.id).await?.ok_or(Error::NotFound)?;
    let into = store::get_in(&mut tx, into_id).await?.ok_or_else(unknown_harbour)?;
    let is_used = store::is_used(&mut tx, from.id).await?;
    rules::ensure_zone_may_change(&from, into.timezone, is_used)?;
    if store::are_connected(&mut tx, from.id, into.id).await? {
        return Err(Error::conflict(
            "connected",
            "A route connects these two harbours.",
            "Ada rute di antara kedua pelabuhan ini.",
        ));
    }
    let merged = rules::merged(&from, &into)?;
    store::move_routes(&mut tx, from.id, into.id).await?;
    lines::merge_harbours(&mut tx, from.id, into.id).await?;
    store::delete(&mut tx, from.id).await?;
    store::update(&mut tx, &merged, now).await?;
    record(&mut tx, "harbour.merged", Some(&from), Some(&merged)).await?;
    tx.commit().await?;
    Ok(Reply::data(merged).saying("The harbours have been merged.", "Pelabuhan telah digabungkan."))
}

fn unknown_harbour() -> Error {
    let message = text("This harbour does not exist.", "Pelabuhan ini tidak ada.");
    Error::field("into_id", "unknown", message)
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Harbour>,
    after: Option<&Harbour>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "harbour",
        id: before.or(after).map(|harbour| harbour.id).unwrap_or_default(),
        before: before.map(|harbour| harbour as _),
        after: after.map(|harbour| harbour as _),
    })
    .await
}
