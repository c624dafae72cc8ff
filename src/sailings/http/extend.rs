//! Extending a published route.

use axum::extract::State;
use chrono::NaiveDate;

use super::routes::{
    PathRoute, analyze_after, departures_from, ensure_partner_active, ensure_zones,
    insert_sailings, lock_route, record, to_response,
};
use crate::{
    app::App,
    fleet::{self, BoatStatus},
    kernel::{
        audit::AuditedTx,
        caller::Caller,
        error::{Error, Fault, Result},
        http::{Body, Reply},
        lang::{Text, text},
    },
    sailings::{
        forms::{ExtendRoute, period_fault},
        model::{RouteRow, RouteStatus, ScheduleType},
        routes,
        view::Route,
    },
};

/// Publishes more days of a route with its own times and prices, all or none. Idempotent. The boat is
/// that of the route, unless another one takes over.
pub async fn extend_route(
    State(app): State<App>,
    caller: Caller,
    PathRoute(seen): PathRoute,
    Body(ExtendRoute { end_date, speedboat_id }): Body<ExtendRoute>,
) -> Result<Reply<Route>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let boats = [Some(seen.speedboat_id), speedboat_id];
    fleet::lock_rows(&mut tx, boats.into_iter().flatten().collect()).await?;
    let before = lock_route(&mut tx, seen.id).await?;
    if before.speedboat_id != seen.speedboat_id {
        return Err(Error::Contention("the boat of the route was changed concurrently".into()));
    }
    if before.status != RouteStatus::Published {
        return Err(Error::invalid_state(
            "Only a published route can be extended.",
            "Hanya rute yang diterbitkan dapat diperpanjang.",
        ));
    }
    let today = now.with_timezone(&before.timezone.tz()).date_naive();
    if let Some(fault) = extension_fault(&before, end_date, today) {
        return Err(Error::Invalid(vec![fault]));
    }
    if end_date == before.end_date {
        return Ok(Reply::data(to_response(before))
            .saying("The route already ends on this day.", "Rute sudah berakhir pada hari itu."));
    }
    let (owner, boat) = (before.partner_id, speedboat_id.unwrap_or(before.speedboat_id));
    match speedboat_id {
        Some(boat) => drop(fleet::boat_in_service(&mut tx, owner, boat, "speedboat_id").await?),
        None => ensure_own_boat(&mut tx, &before).await?,
    }
    ensure_partner_active(&mut tx, owner).await?;
    ensure_zones(&mut tx, &before).await?;
    routes::extend(&mut tx, seen.id, end_date, boat, now).await?;
    let route = routes::get_in(&mut tx, None, seen.id).await?.ok_or(Error::NotFound)?;
    let start = before.end_date.succ_opt().unwrap_or(before.end_date);
    let departures = departures_from(&route, start, now)?;
    insert_sailings(&mut tx, &route, &departures).await?;
    let (before, after) = (to_response(before), to_response(route));
    record(&mut tx, "route.extended", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    analyze_after(&app, &departures).await;
    Ok(Reply::data(after).saying("The route has been extended.", "Rute telah diperpanjang."))
}

/// 422 if the boat of the route was deleted or is out of service. Other boats may sail for it.
async fn ensure_own_boat(tx: &mut AuditedTx, route: &RouteRow) -> Result<()> {
    let boat = fleet::get_in(tx, None, route.speedboat_id).await?;
    if boat.is_some_and(|boat| boat.status == BoatStatus::Active) {
        return Ok(());
    }
    let name = &route.speedboat_name;
    let message = Text::new(
        format!("The boat of the route, {name}, is not in service. State another one."),
        format!("Kapal rute ini, {name}, tidak beroperasi. Sebutkan kapal lain."),
    );
    Err(Error::field("speedboat_id", "not_active", message))
}

/// The limits of a new route apply to what is still to come: a route may run for years, but it is
/// published for a year at most.
fn extension_fault(route: &RouteRow, end: NaiveDate, today: NaiveDate) -> Option<Fault> {
    if end < route.end_date {
        let message =
            text("The route ends later already.", "Rute ini sudah berakhir lebih lambat.");
        return Some(Fault::new("end_date", "order", message));
    }
    if end == route.end_date {
        return None;
    }
    let once = route.schedule_type == ScheduleType::Once;
    // Before its first day all of it is to come.
    let start = if once { route.start_date } else { route.start_date.max(today) };
    period_fault(start, end, once)
}
