//! Extending a published route.

use axum::extract::State;
use chrono::NaiveDate;

use super::routes::{
    PathRoute, departures_from, ensure_operating, ensure_zones, insert_sailings, lock_route,
    record, to_response,
};
use crate::{
    app::App,
    fleet,
    kernel::{
        caller::Caller,
        error::{Error, Fault, Result},
        http::{Body, Reply},
        lang::text,
    },
    sailings::{
        forms::{ExtendRoute, period_fault},
        model::{RouteRow, RouteStatus, ScheduleType},
        routes,
        view::Route,
    },
};

/// Publishes more days of a route with its own times, prices and boat, all or none. Idempotent.
pub async fn extend_route(
    State(app): State<App>,
    caller: Caller,
    PathRoute(seen): PathRoute,
    Body(ExtendRoute { end_date }): Body<ExtendRoute>,
) -> Result<Reply<Route>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, seen.speedboat_id).await?;
    let before = lock_route(&mut tx, seen.id).await?;
    if before.speedboat_id != seen.speedboat_id {
        return Err(Error::Contention("the boat of the draft was changed concurrently".into()));
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
    ensure_operating(&mut tx, &before).await?;
    ensure_zones(&mut tx, &before).await?;
    routes::extend(&mut tx, seen.id, end_date, now).await?;
    let route = routes::get_in(&mut tx, None, seen.id).await?.ok_or(Error::NotFound)?;
    let start = before.end_date.succ_opt().unwrap_or(before.end_date);
    let departures = departures_from(&route, start, now)?;
    insert_sailings(&mut tx, &route, &departures).await?;
    let (before, after) = (to_response(before), to_response(route));
    record(&mut tx, "route.extended", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The route has been extended.", "Rute telah diperpanjang."))
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
