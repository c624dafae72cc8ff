//! Changing many sailings of a route in one transaction.

use std::collections::HashMap;

use axum::extract::State;
use serde::Serialize;

use super::{
    http::{new_boat, news, reason_required},
    model::{MAX_SKIPPED, UpdateSailings, UpdatedSailings},
};
use crate::{
    app::App,
    bookings,
    events::{self, DomainEvent, SailingMoved},
    fleet,
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        money::Rupiah,
    },
    sailings::{
        self, PathRoute,
        bulk::{self, Filter, NewValues, Period, PlannedChange},
        offers,
    },
};

/// Sailings that cannot be changed are skipped. The bookings of the others stay valid, as in
/// `update_sailing`.
pub async fn update_sailings(
    State(app): State<App>,
    caller: Caller,
    PathRoute(route): PathRoute,
    Body(form): Body<UpdateSailings>,
) -> Result<Reply<UpdatedSailings>> {
    let (now, set) = (app.clock.now(), &form.set);
    let period = Period { route: route.id, start: form.start_date, end: form.end_date };
    let mut tx = caller.begin(&app.db, now).await?;
    let boats = match set.moves() {
        true => bulk::lock_boats(&mut tx, &period, set.speedboat_id).await?,
        false => HashMap::new(),
    };
    sailings::lock_route_row(&mut tx, route.id).await?;
    let boat = match set.speedboat_id {
        Some(id) => {
            Some(fleet::boat_in_service(&mut tx, route.partner_id, id, "set.speedboat_id").await?)
        }
        None => None,
    };
    let mut selected = bulk::read(&mut tx, &period).await?;
    if set.moves() && selected.iter().any(|one| !boats.contains_key(&one.speedboat_id)) {
        return Err(Error::Contention("a boat was changed concurrently".into()));
    }
    let (days, departure_times) = (form.days.as_deref(), form.departure_times.as_deref());
    let filter = Filter { days, departure_times };
    selected.retain(|sailing| filter.matches(sailing, route.timezone));
    let zones = (route.timezone, route.arrival_timezone);

    let (plan, changed) = if set.withdraws() {
        let (withdrawn, mut plan) = bulk::plan_withdrawal(selected, now);
        let changed = bulk::withdraw(&mut tx, &period, &mut plan, &withdrawn, now).await?;
        (plan, changed)
    } else {
        let new = NewValues {
            price: set.price.map(Rupiah),
            boat: boat.as_ref().map(new_boat),
            departure_time: set.departure_time,
            arrival_time: set.arrival_time,
        };
        let mut plan = bulk::plan(selected, &new, zones, now);
        let mut changed = 0;
        if set.moves() {
            let calendars = bulk::calendars(&mut tx, &period, set.speedboat_id, &plan).await?;
            bulk::drop_conflicts(&mut plan, &calendars);
            let ids: Vec<_> = plan.take_moving().iter().map(|one| one.sailing.id).collect();
            bookings::lock_rows_of(&mut tx, &ids).await?;
            plan.add(bulk::plan(bulk::lock(&mut tx, &ids).await?, &new, zones, now));
            let moving = plan.take_moving();
            let news_of = |change: &PlannedChange| {
                let was = &boats[&change.sailing.speedboat_id];
                let boat = boat.as_ref().filter(|_| change.has_other_boat());
                (change.sailing.id, news(change.is_retimed(), was, boat))
            };
            let news = moving.iter().map(news_of).collect();
            let by_partner = caller.is_partner_in_person();
            move_all(&mut tx, &period, &moving, &form, &news, by_partner, now).await?;
            changed += moving.len();
        }
        // What is left keeps its time and its boat.
        if let Some(price) = new.price {
            changed += bulk::set_price(&mut tx, &period, &mut plan, price, now).await?;
        }
        (plan, changed)
    };

    let unchanged = plan.unchanged;
    let mut skipped = plan.into_skipped();
    let skipped_count = skipped.len();
    skipped.truncate(MAX_SKIPPED);
    let updated = UpdatedSailings { changed, unchanged, skipped, skipped_count };
    let after = AuditedUpdate { request: &form, outcome: &updated };
    tx.record(Change {
        action: "route.sailings_changed",
        entity: "route",
        id: route.id,
        before: None,
        after: Some(&after),
    })
    .await?;
    let line = offers::line_tag(route.from_harbour_id, route.to_harbour_id);
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    Ok(Reply::data(updated).saying("The sailings have been changed.", "Pelayaran telah diubah."))
}

/// Moves sailings with their bookings. Everyone who booked is told once; the partner and staff are
/// told of sailings with bookings only.
async fn move_all(
    tx: &mut crate::kernel::db::Tx,
    period: &Period,
    changes: &[PlannedChange],
    form: &UpdateSailings,
    news: &HashMap<crate::kernel::ids::Uuid, bookings::SailingNews>,
    by_partner: bool,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<()> {
    let concerns_bookers =
        |change: &PlannedChange| change.is_retimed() && change.sailing.seats_taken > 0;
    if form.reason.is_none() && changes.iter().any(concerns_bookers) {
        return Err(reason_required());
    }
    if changes.is_empty() {
        return Ok(());
    }
    let change = bulk::move_all(tx, period, changes, form.reason.as_deref()).await?;
    let bookings = bookings::follow_sailings(tx, change, news, now).await?;
    bulk::forget(tx, change).await?;
    let moved = changes.iter().filter(|change| change.is_retimed()).filter_map(|change| {
        let sailing_id = change.sailing.id;
        let bookings = *bookings.get(&sailing_id)?;
        let was_departure_at = change.sailing.departure_at;
        let event = SailingMoved { sailing_id, bookings, was_departure_at, by_partner };
        Some(DomainEvent::SailingMoved(event))
    });
    events::emit_all(tx, moved, now).await
}

#[derive(Serialize)]
struct AuditedUpdate<'a> {
    #[serde(flatten)]
    request: &'a UpdateSailings,
    #[serde(flatten)]
    outcome: &'a UpdatedSailings,
}
