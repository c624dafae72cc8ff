//! Handlers of speedboats that affect sailings.

use axum::extract::State;

use crate::{
    app::App,
    fleet::{self, PathSpeedboat, Scope, Speedboat, SpeedboatChange},
    kernel::{
        caller::Caller,
        error::{Error, Result},
        http::{Body, Query, Reply},
    },
    sailings::{days, routes, store, view::SpeedboatSummary},
};

/// A new capacity applies to all sailings that have not departed.
pub async fn update_speedboat(
    State(app): State<App>,
    caller: Caller,
    PathSpeedboat(seen): PathSpeedboat,
    Body(change): Body<SpeedboatChange>,
) -> Result<Reply<Speedboat>> {
    let id = seen.id;
    let photos = fleet::photos(&app, &caller, &change.photo_file_ids, Some(&seen.photos)).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, id).await?;
    let before =
        fleet::get_in(&mut tx, caller.partner_filter(None)?, id).await?.ok_or(Error::NotFound)?;
    if change.capacity != before.capacity {
        store::resize(&mut tx, id, change.capacity, now).await?;
    }
    fleet::update(&mut tx, &before, change, photos, now).await?;
    let after = fleet::get_in(&mut tx, None, id).await?.ok_or(Error::NotFound)?;
    let (before, after) = (fleet::to_response(&app, before), fleet::to_response(&app, after));
    fleet::record(&mut tx, "speedboat.updated", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

/// Archives its routes and withdraws its empty sailings; 409 if upcoming ones have bookings. A route
/// that other boats sail stays published.
pub async fn delete_speedboat(
    State(app): State<App>,
    caller: Caller,
    PathSpeedboat(seen): PathSpeedboat,
) -> Result<Reply> {
    let id = seen.id;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, id).await?;
    let before =
        fleet::get_in(&mut tx, caller.partner_filter(None)?, id).await?.ok_or(Error::NotFound)?;
    routes::archive_all(&mut tx, id, now).await?;
    store::withdraw_by_boat(&mut tx, id, now).await?;
    fleet::delete(&mut tx, id, now).await?;
    let before = fleet::to_response(&app, before);
    fleet::record(&mut tx, "speedboat.deleted", Some(&before), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The speedboat has been deleted.", "Kapal telah dihapus."))
}

pub async fn speedboat_summary(
    State(app): State<App>,
    caller: Caller,
    Query(scope): Query<Scope>,
) -> Result<Reply<SpeedboatSummary>> {
    let owner = caller.partner_filter(scope.mitra_id)?;
    let counts = fleet::counts(&app.db, owner).await?;
    Ok(Reply::data(SpeedboatSummary {
        total: counts.total,
        active: counts.active,
        maintenance: counts.maintenance,
        inactive: counts.inactive,
        total_capacity: counts.total_capacity,
        upcoming_sailings: days::upcoming(&app.db, owner, app.clock.now()).await?,
    }))
}
