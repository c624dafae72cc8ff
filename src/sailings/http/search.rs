//! Handlers of search and locations.

use std::fmt::Write;

use axum::extract::State;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::{
    app::App,
    files,
    fleet::Owner,
    kernel::{
        db::Total,
        error::{Error, Result},
        http::{Body, CacheTags, RenderedPage, Reply},
    },
    sailings::{
        forms::{OfferSort, SearchForm},
        model::BookingType,
        routes,
        search::{self, FoundSailing, MOST_SAILINGS, OfferJson, OfferRow, Trip, Wanted},
        view::{Location, Offer, OfferBoat, OfferFare, WayBack},
    },
};

pub async fn search_sailings(
    State(app): State<App>,
    Body(form): Body<SearchForm>,
) -> Result<RenderedPage<Vec<Offer>, WayBack>> {
    let (page, limit) = (form.page.unwrap_or(1), form.page_size.unwrap_or(20));
    let wanted = Wanted {
        qty: form.qty,
        kind: form.kind.unwrap_or(BookingType::Speedboat),
        partner: form.mitra_id,
        now: app.clock.now(),
        cutoff: TimeDelta::minutes(app.config.booking_cutoff_minutes.into()),
        sort: form.sort_by.unwrap_or(OfferSort::Departure),
        limit: limit as usize,
        offset: ((page - 1) * limit) as usize,
    };
    let there = Trip { from_key: form.from.key(), to_key: form.to.key(), day: form.date };
    let back = form.return_date.map(|day| {
        let trip = Trip { from_key: there.to_key.clone(), to_key: there.from_key.clone(), day };
        // The return journey is not paged.
        (trip, Wanted { limit: MOST_SAILINGS, offset: 0, ..wanted })
    });
    let mut tags = CacheTags::default();
    let (there, total) = offers(&app, there, &wanted, &mut tags).await?;
    let beside = match back {
        Some((trip, wanted)) => {
            format!("\"return\":{}", offers(&app, trip, &wanted, &mut tags).await?.0)
        }
        None => String::new(),
    };
    let total = Total::exactly(total as i64);
    Ok(RenderedPage::new(there, page, limit, total).beside(beside).tagged(tags))
}

/// A page of offers as JSON, and their number on all pages. The response is right until the first
/// sailing of all pages closes, and as long as the sailings that were read for it.
async fn offers(
    app: &App,
    trip: Trip,
    wanted: &Wanted,
    tags: &mut CacheTags,
) -> Result<(String, usize)> {
    let sailings = search::sailings(app, trip).await?;
    let offers = search::offers(&sailings, wanted);
    tags.tags.extend(&sailings.depends_on.tags);
    let ends = [tags.until, sailings.depends_on.until, offers.first_closes_at];
    tags.until = ends.into_iter().flatten().min();
    let rendered = offers.sailings.iter().map(|sailing| {
        let total = |json: &OfferJson| match wanted.kind {
            BookingType::Speedboat => json.total_of_one * i64::from(wanted.qty),
            BookingType::Charter => json.total_of_one,
        };
        rendered(app, sailing, wanted.kind).map(|json| (json, total(json)))
    });
    let rendered: Vec<_> = rendered.collect::<Result<_>>()?;
    let length = |(json, _): &(&OfferJson, _)| json.before_total.len() + json.after_total.len();
    let mut json =
        String::with_capacity(2 + rendered.iter().map(|one| length(one) + 16).sum::<usize>());
    json.push('[');
    for (index, (offer, total)) in rendered.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        json.push_str(&offer.before_total);
        // Writing to a string does not fail.
        let _ = write!(json, "{}", total.0);
        json.push_str(&offer.after_total);
    }
    json.push(']');
    Ok((json, offers.total))
}

fn rendered<'s>(app: &App, sailing: &'s FoundSailing, kind: BookingType) -> Result<&'s OfferJson> {
    let place = match kind {
        BookingType::Speedboat => &sailing.seats,
        BookingType::Charter => &sailing.charter,
    };
    if let Some(json) = place.get() {
        return Ok(json);
    }
    let offer = to_response(app, &sailing.row, kind);
    let total_of_one = offer.total_price;
    let json = serde_json::to_string(&offer).map_err(Error::internal)?;
    // No other field has this name, and texts have their quotes escaped.
    const FIELD: &str = "\"total_price\":";
    let (before, after) = json.split_once(FIELD).expect("an offer has a total price");
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    let json = OfferJson {
        before_total: format!("{before}{FIELD}"),
        after_total: after.to_owned(),
        total_of_one,
    };
    Ok(place.get_or_init(|| json))
}

/// The offer to one passenger.
fn to_response(app: &App, row: &OfferRow, kind: BookingType) -> Offer {
    let fares = row.fares.iter().map(|fare| OfferFare {
        key: fare.key.clone(),
        price: fare.of(row.price),
        takes_seat: fare.takes_seat,
    });
    // Charters ignore fares.
    let fares: Vec<_> = fares.filter(|_| kind == BookingType::Speedboat).collect();
    let total_price = match kind {
        BookingType::Speedboat => fares.first().map_or(row.price, |fare| fare.price),
        BookingType::Charter => row.price * i64::from(row.capacity),
    };
    let photo = row.photos.first().and_then(|id| id.parse().ok());
    Offer {
        route_time_id: row.id,
        item_id: row.speedboat_id,
        kind,
        from: row.from_name.clone(),
        to: row.to_name.clone(),
        departure_at: row.departure_at,
        arrival_at: row.arrival_at,
        duration_minutes: row.duration_minutes,
        timezone: row.timezone,
        arrival_timezone: row.arrival_timezone,
        price: row.price,
        total_price,
        fares,
        available_seats: row.capacity - row.seats_taken,
        speedboat: OfferBoat {
            id: row.speedboat_id,
            name: row.speedboat_name.clone(),
            capacity: row.capacity,
            facilities: row.facilities.0.clone(),
            photo_url: photo.map(|id| files::public_url(app, id)),
        },
        mitra: Owner { id: row.partner_id, name: row.partner_name.clone() },
    }
}

/// The day that has not ended in any zone. The westernmost zone is the last one to end a day.
pub fn first_day(now: DateTime<Utc>) -> NaiveDate {
    now.with_timezone(&chrono_tz::Asia::Jakarta).date_naive()
}

/// Harbours with upcoming departures and their destinations.
pub async fn list_locations(State(app): State<App>) -> Result<Reply<Vec<Location>>> {
    let now = app.clock.now();
    let mut locations: Vec<Location> = Vec::new();
    for line in routes::lines(&app.db_of_offers(), first_day(now), now).await? {
        match locations.last_mut() {
            Some(location) if location.harbour_id == line.from_id => {
                location.destinations.push(line.to_name);
            }
            _ => locations.push(Location {
                harbour_id: line.from_id,
                name: line.from_name,
                aliases: line.aliases.0,
                city: line.city,
                province: line.province,
                timezone: line.timezone,
                latitude: line.latitude,
                longitude: line.longitude,
                destinations: vec![line.to_name],
            }),
        }
    }
    Ok(Reply::data(locations))
}
