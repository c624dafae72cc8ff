//! Handlers of routes.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use chrono::{DateTime, NaiveDate, Utc};
use serde_json::json;

use crate::{
    app::App,
    fleet::{self, BoatStatus, SpeedboatRow},
    harbours::{self, Ends, Stops},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Conflict, Error, Result},
        http::{Body, Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        lang::text,
        patch::Patch,
    },
    partners::{self, PartnerStatus},
    sailings::{
        forms::{RouteForm, RoutesQuery, SailingsQuery},
        model::{RouteRow, RouteStatus, RouteTime, Sailing},
        routes::{self, Stored},
        rules::{self, Departure, Plan, Span},
        store::{self, SailingSpan},
        view::{PlannedTime, Route, RouteBoat},
        zone::Zone,
    },
};

/// The route of the path, if the caller may see it.
pub struct PathRoute(pub RouteRow);

impl FromRequestParts<App> for PathRoute {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Ok(Self(
            routes::get(&app.db, caller.partner_filter(None)?, id).await?.ok_or(Error::NotFound)?,
        ))
    }
}

impl aide::OperationInput for PathRoute {}

pub async fn list_routes(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<RoutesQuery>,
) -> Result<Page<Route>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    Ok(routes::list(&app.db, owner, &query).await?.each(to_response))
}

pub async fn get_route(PathRoute(row): PathRoute) -> Reply<Route> {
    Reply::data(to_response(row))
}

pub async fn create_route(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<RouteForm>,
) -> Result<Reply<Once<Route>>> {
    let key = Key::of_account(&caller, key, "create_route", "/v1/mitra/speedboat-routes", body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The draft has been saved.", "Draf tersimpan."))
}

async fn create(
    app: &App,
    caller: &Caller,
    form: &RouteForm,
    running: Option<&Running>,
) -> Result<Route> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let boat = lock_boat(&mut tx, caller.partner_filter(None)?, form).await?;
    let owner = boat.partner_id;
    let (times, ends) = (form.times(), match_ends(app, &mut tx, owner, form, None, now).await?);
    let stored = Stored { owner, form, times: &times, ends: &ends };
    let id = routes::insert(&mut tx, stored, now).await?;
    harbours::settle(&mut tx, owner, &ends, &[]).await?;
    let route = to_response(routes::get_in(&mut tx, None, id).await?.ok_or(Error::NotFound)?);
    record(&mut tx, "route.created", None, Some(&route)).await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(route)).await?;
    }
    tx.commit().await?;
    Ok(route)
}

pub async fn update_route(
    State(app): State<App>,
    caller: Caller,
    PathRoute(seen): PathRoute,
    Body(form): Body<RouteForm>,
) -> Result<Reply<Route>> {
    let id = seen.id;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    // The partner of a route never changes.
    let boat = lock_boat(&mut tx, Some(seen.partner_id), &form).await?;
    let owner = boat.partner_id;
    let ends = match_ends(&app, &mut tx, owner, &form, Some(&seen), now).await?;
    let times = form.times();
    let before = lock_route(&mut tx, id).await?;
    let stored = Stored { owner, form: &form, times: &times, ends: &ends };
    if !routes::change(&mut tx, id, stored, now).await? {
        return Err(Error::invalid_state(
            "Only a draft can be changed.",
            "Hanya draf yang dapat diubah.",
        ));
    }
    let former = [before.from_harbour_id, before.to_harbour_id];
    harbours::settle(&mut tx, owner, &ends, &former).await?;
    let after = to_response(routes::get_in(&mut tx, None, id).await?.ok_or(Error::NotFound)?);
    record(&mut tx, "route.updated", Some(&to_response(before)), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The draft has been saved.", "Draf tersimpan."))
}

pub async fn publish_route_by_post(
    state: State<App>,
    caller: Caller,
    route: PathRoute,
) -> Result<Reply<Route>> {
    publish_route(state, caller, route).await
}

/// Puts all departures of a draft on sale, or none. Idempotent.
pub async fn publish_route(
    State(app): State<App>,
    caller: Caller,
    PathRoute(seen): PathRoute,
) -> Result<Reply<Route>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, seen.speedboat_id).await?;
    let before = lock_route(&mut tx, seen.id).await?;
    let published = routes::publish(&mut tx, seen.id, now).await?;
    let route = routes::get_in(&mut tx, None, seen.id).await?.ok_or(Error::NotFound)?;
    if !published {
        return already_published(route);
    }
    if route.speedboat_id != seen.speedboat_id {
        return Err(Error::Contention("the boat of the draft was changed concurrently".into()));
    }
    ensure_operating(&mut tx, &route).await?;
    ensure_zones(&mut tx, &route).await?;
    let departures = departures(&route, now)?;
    insert_sailings(&mut tx, &route, &departures).await?;
    let (before, after) = (to_response(before), to_response(route));
    record(&mut tx, "route.published", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    analyze_after(&app, &departures).await;
    Ok(Reply::data(after).saying("The sailings are now on sale.", "Jadwal mulai dijual."))
}

/// Updates the planner's statistics after many sailings were inserted. They are published even if it
/// fails.
pub(super) async fn analyze_after(app: &App, inserted: &[Departure]) {
    const MANY: usize = 1_000;
    if inserted.len() > MANY
        && let Err(error) = app.db.analyze(["sailings"]).await
    {
        tracing::warn!(%error, "the statistics of the sailings were not updated");
    }
}

/// Inserts sailings of a route whose boat is locked. 409 if the boat would be in two places at once.
pub(super) async fn insert_sailings(
    tx: &mut AuditedTx,
    route: &RouteRow,
    departures: &[Departure],
) -> Result<()> {
    let Some(first) = departures.first() else { return Ok(()) };
    let span = (first.departure_at, last_arrival(departures));
    let taken = store::overlapping(tx, route.speedboat_id, span).await?;
    let spans: Vec<Span> = taken.iter().map(|sailing| sailing.span()).collect();
    if let Some((ours, theirs)) = rules::clash(departures, &spans) {
        let there = taken.iter().find(|sailing| sailing.span() == theirs);
        return Err(conflict(Some((ours, theirs, there))));
    }
    store::insert(tx, route, departures)
        .await
        .map_err(|failure| if failure.is_exclusion() { conflict(None) } else { failure.into() })
}

/// Publishing again changes nothing; an archived route cannot be published.
fn already_published(route: RouteRow) -> Result<Reply<Route>> {
    match route.status {
        RouteStatus::Published => Ok(Reply::data(to_response(route))
            .saying("The route is already published.", "Rute ini sudah diterbitkan.")),
        RouteStatus::Draft | RouteStatus::Archived => Err(Error::invalid_state(
            "Only a draft can be published.",
            "Hanya draf yang dapat diterbitkan.",
        )),
    }
}

async fn ensure_operating(tx: &mut AuditedTx, route: &RouteRow) -> Result<()> {
    let boat = fleet::get_in(tx, None, route.speedboat_id).await?;
    if boat.is_none_or(|boat| boat.status != BoatStatus::Active) {
        return Err(Error::invalid_state(
            "The boat is not in service.",
            "Kapal sedang tidak beroperasi.",
        ));
    }
    ensure_partner_active(tx, route.partner_id).await
}

pub(super) async fn ensure_partner_active(tx: &mut AuditedTx, partner: Uuid) -> Result<()> {
    match partners::status(tx, partner).await? {
        PartnerStatus::Active => Ok(()),
        _ => {
            Err(Error::invalid_state("The partner is not active.", "Mitra belum atau tidak aktif."))
        }
    }
}

/// The future departures, at least one.
fn departures(route: &RouteRow, now: DateTime<Utc>) -> Result<Vec<Departure>> {
    let departures = departures_from(route, route.start_date, now)?;
    if departures.is_empty() {
        return Err(Error::invalid_state(
            "The route has no departure in the future.",
            "Rute tidak memiliki keberangkatan di masa depan.",
        ));
    }
    Ok(departures)
}

/// The future departures from a day on.
pub(super) fn departures_from(
    route: &RouteRow,
    start: NaiveDate,
    now: DateTime<Utc>,
) -> Result<Vec<Departure>> {
    let times: Vec<RouteTime> =
        serde_json::from_value(route.times.clone()).map_err(Error::internal)?;
    let zone = route.timezone.tz();
    let mut departures = rules::departures(&Plan {
        schedule_type: route.schedule_type,
        start: start.max(now.with_timezone(&zone).date_naive()),
        end: route.end_date,
        zone,
        arrival_zone: route.arrival_timezone.tz(),
        times: &times,
        price: route.price,
    });
    departures.retain(|departure| departure.departure_at > now);
    Ok(departures)
}

fn last_arrival(departures: &[Departure]) -> DateTime<Utc> {
    departures.iter().map(|departure| departure.arrival_at).max().unwrap_or_default()
}

/// 409 with the overlapping times: of another sailing, or (without an id) of the same draft.
pub fn conflict(clash: Option<(Span, Span, Option<&SailingSpan>)>) -> Error {
    let span = |(start, end): Span| json!({ "departure_at": start, "arrival_at": end });
    let data = clash.map(|(ours, theirs, there)| {
        let mut other = span(theirs);
        other["id"] = json!(there.map(|sailing| sailing.id));
        other["route_id"] = json!(there.map(|sailing| sailing.route_id));
        json!({ "planned": span(ours), "conflicts_with": other })
    });
    let message = text(
        "The boat would be in two places at once.",
        "Kapal akan berada di dua tempat sekaligus.",
    );
    Error::Conflict(Box::new(Conflict { word: "schedule_conflict", message, data }))
}

pub async fn list_sailings(
    State(app): State<App>,
    PathRoute(route): PathRoute,
    Query(query): Query<SailingsQuery>,
) -> Result<Page<Sailing>> {
    store::list(&app.db, route.id, &query, app.clock.now()).await
}

/// Deletes a draft. Archives a published route and withdraws its empty sailings.
pub async fn delete_route(
    State(app): State<App>,
    caller: Caller,
    PathRoute(seen): PathRoute,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, seen.speedboat_id).await?;
    if seen.status == RouteStatus::Draft {
        harbours::lock(&mut tx).await?;
    }
    let before = lock_route(&mut tx, seen.id).await?;
    if routes::delete_draft(&mut tx, seen.id).await? {
        let former = [before.from_harbour_id, before.to_harbour_id];
        harbours::delete_unused(&mut tx, &former).await?;
    } else {
        if !routes::archive(&mut tx, seen.id, now).await? {
            return Err(Error::invalid_state(
                "This route is already archived.",
                "Rute ini sudah diarsipkan.",
            ));
        }
        store::withdraw_by_route(&mut tx, seen.id, now).await?;
    }
    record(&mut tx, "route.deleted", Some(&to_response(before)), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The route has been removed.", "Rute telah dihapus."))
}

/// Locks and reads the route.
pub(super) async fn lock_route(tx: &mut AuditedTx, id: Uuid) -> Result<RouteRow> {
    routes::lock_row(tx, id).await?;
    routes::get_in(tx, None, id).await?.ok_or(Error::NotFound)
}

/// Locks the boat, so that it cannot be deleted concurrently.
async fn lock_boat(
    tx: &mut AuditedTx,
    owner: Option<Uuid>,
    form: &RouteForm,
) -> Result<SpeedboatRow> {
    fleet::lock_row(tx, form.speedboat_id).await?;
    fleet::get_in(tx, owner, form.speedboat_id).await?.ok_or_else(|| {
        let message = text("This speedboat does not exist.", "Kapal ini tidak ada.");
        Error::field("speedboat_id", "unknown", message)
    })
}

/// The harbours of a new route, or of one that is changed.
async fn match_ends(
    app: &App,
    tx: &mut AuditedTx,
    partner: Uuid,
    form: &RouteForm,
    seen: Option<&RouteRow>,
    now: DateTime<Utc>,
) -> Result<Ends> {
    let same = |seen: &&RouteRow| harbours::key(&seen.from_name) == form.from.key();
    let stops = Stops {
        partner,
        from: &form.from,
        to: &form.to,
        timezone: match form.timezone {
            Patch::Set(zone) => Some(zone),
            Patch::Keep | Patch::Clear => None,
        },
        kept_timezone: match form.timezone {
            Patch::Keep => seen.filter(same).map(|seen| seen.timezone),
            Patch::Set(_) | Patch::Clear => None,
        },
        service_zone: Zone::of_service(app.config.timezone),
    };
    harbours::match_ends(tx, &stops, now).await
}

/// A harbour that was verified or merged since the draft was saved may have another time zone.
pub(super) async fn ensure_zones(tx: &mut AuditedTx, route: &RouteRow) -> Result<()> {
    let RouteRow { id, timezone, arrival_timezone, .. } = *route;
    match harbours::has_zones(tx, id, timezone, arrival_timezone).await? {
        true => Ok(()),
        false => Err(Error::invalid_state(
            "The time zone of a harbour has changed since the route was saved.",
            "Zona waktu pelabuhan telah berubah sejak rute ini disimpan.",
        )),
    }
}

pub(super) fn to_response(row: RouteRow) -> Route {
    let (zone, arrival_zone) = (row.timezone.tz(), row.arrival_timezone.tz());
    let times: Vec<RouteTime> = serde_json::from_value(row.times).unwrap_or_default();
    let planned = |time: RouteTime| {
        let (departs, arrives) = (time.departure_time, time.arrival_time);
        let span = rules::span(row.start_date, departs, arrives, zone, arrival_zone);
        let days = span.map(|span| rules::days_to_arrival(span, zone, arrival_zone));
        PlannedTime { time, arrival_day_offset: days.unwrap_or_default() }
    };
    Route {
        id: row.id,
        mitra_id: row.partner_id,
        speedboat_id: row.speedboat_id,
        speedboat: RouteBoat {
            id: row.speedboat_id,
            name: row.speedboat_name,
            capacity: row.speedboat_capacity,
        },
        line_id: row.line_id,
        from: row.from_name,
        to: row.to_name,
        from_harbour_id: row.from_harbour_id,
        to_harbour_id: row.to_harbour_id,
        schedule_type: row.schedule_type,
        start_date: row.start_date,
        end_date: row.end_date,
        price: row.price,
        timezone: row.timezone,
        arrival_timezone: row.arrival_timezone,
        times: times.into_iter().map(planned).collect(),
        status: row.status,
        published_at: row.published_at,
        created_at: row.created_at,
    }
}

pub(super) async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Route>,
    after: Option<&Route>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "route",
        id: before.or(after).map(|route| route.id).unwrap_or_default(),
        before: before.map(|route| route as _),
        after: after.map(|route| route as _),
    })
    .await
}
