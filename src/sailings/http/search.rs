//! Handlers of search and locations.

use axum::extract::State;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::Value;

use crate::{
    app::App,
    files,
    fleet::Owner,
    kernel::{
        db::Total,
        error::Result,
        http::{Body, CacheTags, Paged, Reply},
    },
    sailings::{
        forms::{OfferSort, SearchForm},
        model::BookingType,
        offers::search_tags,
        routes,
        search::{self, OfferRow, Offers, Wanted},
        view::{Location, Offer, OfferBoat, OfferFare, WayBack},
    },
};

/// Page size of the return journey, which is not paged.
const WHOLE_DAY: i64 = 2_000;

pub async fn search_sailings(
    State(app): State<App>,
    Body(form): Body<SearchForm>,
) -> Result<Paged<Vec<Offer>, WayBack>> {
    let cutoff = TimeDelta::minutes(app.config.booking_cutoff_minutes.into());
    let now = app.clock.now();
    let (page, limit) = (form.page.unwrap_or(1), form.page_size.unwrap_or(20));
    let kind = form.kind.unwrap_or(BookingType::Speedboat);
    let there = Wanted {
        from_key: form.from.key(),
        to_key: form.to.key(),
        day: form.date,
        qty: form.qty,
        kind,
        partner: form.mitra_id,
        now,
        closed_until: now + cutoff,
        sort: form.sort_by.unwrap_or(OfferSort::Departure),
        limit,
        offset: (page - 1) * limit,
    };
    let back = form.return_date.map(|day| Wanted {
        from_key: there.to_key.clone(),
        to_key: there.from_key.clone(),
        day,
        limit: WHOLE_DAY,
        offset: 0,
        ..there
    });
    let offer = |row| to_response(&app, row, kind, form.qty);
    let mut tags = CacheTags::default();
    let there = offers(&app, &there, cutoff, &mut tags).await?;
    let back = match back {
        Some(wanted) => Some(offers(&app, &wanted, cutoff, &mut tags).await?),
        None => None,
    };
    let offers = there.rows.into_iter().map(offer).collect();
    let way_back = back.map(|back| back.rows.into_iter().map(offer).collect());
    let offers = Paged::new(offers, page, limit, Total::exactly(there.total)).tagged(tags);
    Ok(offers.beside(WayBack { offers: way_back }))
}

/// A page of offers. The response is right until the first sailing of all pages closes.
async fn offers(
    app: &App,
    wanted: &Wanted,
    cutoff: TimeDelta,
    tags: &mut CacheTags,
) -> Result<Offers> {
    let offers = search::offers(&app.db, wanted).await?;
    if let Some((from, to)) = offers.trip {
        tags.tags.extend(search_tags(from, to, wanted.day));
    }
    let closing = offers.closing;
    let by_service = closing.first_departure_at.map(|first| first - cutoff);
    let closes = by_service.into_iter().chain(closing.first_closes_at);
    tags.until = tags.until.into_iter().chain(closes).min();
    Ok(offers)
}

fn to_response(app: &App, row: OfferRow, kind: BookingType, qty: i32) -> Offer {
    let fares = row.fares.iter().map(|fare| OfferFare {
        key: fare.key.clone(),
        price: fare.of(row.price),
        takes_seat: fare.takes_seat,
    });
    // Charters ignore fares.
    let fares: Vec<_> = fares.filter(|_| kind == BookingType::Speedboat).collect();
    let total_price = match kind {
        BookingType::Speedboat => {
            fares.first().map_or(row.price, |fare| fare.price) * i64::from(qty)
        }
        BookingType::Charter => row.price * i64::from(row.capacity),
    };
    let photo = row.photos.get(0).and_then(Value::as_str).and_then(|id| id.parse().ok());
    Offer {
        route_time_id: row.id,
        item_id: row.speedboat_id,
        kind,
        from: row.from_name,
        to: row.to_name,
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
            name: row.speedboat_name,
            capacity: row.capacity,
            facilities: serde_json::from_value(row.facilities).unwrap_or_default(),
            photo_url: photo.map(|id| files::public_url(app, id)),
        },
        mitra: Owner { id: row.partner_id, name: row.partner_name },
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
    for line in routes::lines(&app.db, first_day(now), now).await? {
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
