//! The search, the most frequent read: the harbours of two names, one index range, then a lookup of
//! boat and partner for each sailing of that day. Searches of one trip on one day differ in seats,
//! type, order and page only, so they share what was read (`ReadCache`), and the JSON of its offers.

use std::sync::{Arc, OnceLock};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{forms::OfferSort, model::BookingType, offers::search_tags, zone::Zone};
use crate::{
    app::App,
    harbours,
    kernel::{
        db::{Db, Json},
        error::Result,
        http::{CacheTag, CacheTags},
        ids::Uuid,
        money::Rupiah,
        read_cache::{Kept, ReadCache},
    },
    lines::Fare,
};

/// The most sailings of one trip and day that a search considers, the first of the day.
pub const MOST_SAILINGS: usize = 2_000;

/// About how many bytes the JSON of an offer has besides its texts, and that of a fare.
const JSON: usize = 640;
const JSON_OF_FARE: usize = 64;

/// The bookable sailings of trips that were searched for a moment ago.
pub type Trips = ReadCache<Trip, Vec<FoundSailing>>;

impl App {
    pub fn trips(&self) -> &Trips {
        self.domain()
    }
}

/// The keys of two harbour names, and the day of departure.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Trip {
    pub from_key: String,
    pub to_key: String,
    pub day: NaiveDate,
}

/// A sailing of a trip, and its offers, each rendered when it is first sent.
pub struct FoundSailing {
    pub row: OfferRow,
    pub seats: OnceLock<OfferJson>,
    pub charter: OnceLock<OfferJson>,
}

impl From<OfferRow> for FoundSailing {
    fn from(row: OfferRow) -> Self {
        Self { row, seats: OnceLock::new(), charter: OnceLock::new() }
    }
}

/// The JSON of an offer without its total price, which alone depends on the number of passengers.
pub struct OfferJson {
    pub before_total: String,
    pub after_total: String,
    /// The total price of one passenger.
    pub total_of_one: Rupiah,
}

/// A sailing with at least one free seat.
#[derive(crate::kernel::db::FromRow)]
pub struct OfferRow {
    pub id: Uuid,
    pub speedboat_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub duration_minutes: i32,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub speedboat_name: String,
    pub facilities: Json<Vec<String>>,
    pub photos: Json<Vec<String>>,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub fares: Json<Vec<Fare>>,
    closes_at: Option<DateTime<Utc>>,
    from_harbour_id: Uuid,
    to_harbour_id: Uuid,
}

impl OfferRow {
    /// About how much memory it takes, with the JSON of its offers.
    fn bytes(&self) -> usize {
        let names = [&self.from_name, &self.to_name, &self.speedboat_name, &self.partner_name];
        let texts = names.into_iter().chain(&*self.facilities).chain(&*self.photos);
        let texts: usize = texts.map(|text| text.len() + size_of::<String>()).sum();
        let row = size_of::<FoundSailing>() + texts + self.fares.len() * (size_of::<Fare>() + 16);
        // Only an empty boat is chartered.
        let charter = if self.seats_taken == 0 { JSON + texts } else { 0 };
        row + JSON + texts + self.fares.len() * JSON_OF_FARE + charter
    }
}

/// What is searched for among the sailings of a trip.
pub struct Wanted {
    pub qty: i32,
    pub kind: BookingType,
    /// `None`: all partners.
    pub partner: Option<Uuid>,
    pub now: DateTime<Utc>,
    /// How long before its departure a sailing closes whose line has no cutoff.
    pub cutoff: TimeDelta,
    pub sort: OfferSort,
    pub limit: usize,
    pub offset: usize,
}

impl Wanted {
    fn closes_at(&self, row: &OfferRow) -> DateTime<Utc> {
        row.closes_at.unwrap_or_else(|| row.departure_at - self.cutoff)
    }

    fn matches(&self, row: &OfferRow) -> bool {
        row.departure_at > self.now
            && self.closes_at(row) > self.now
            && row.capacity - row.seats_taken >= self.qty
            // A charter needs an empty boat.
            && (self.kind == BookingType::Speedboat || row.seats_taken == 0)
            && self.partner.is_none_or(|partner| partner == row.partner_id)
    }
}

/// A page of bookable sailings.
pub struct Offers<'t> {
    pub sailings: Vec<&'t FoundSailing>,
    /// On all pages.
    pub total: usize,
    /// When the first sailing of all pages closes.
    pub first_closes_at: Option<DateTime<Utc>>,
}

/// The sailings of a trip that match, from all in the order of departure.
pub fn offers<'t>(sailings: &'t [FoundSailing], wanted: &Wanted) -> Offers<'t> {
    let mut found: Vec<_> = sailings.iter().filter(|found| wanted.matches(&found.row)).collect();
    // Stable: sailings that are equal stay in the order of departure.
    match wanted.sort {
        OfferSort::Departure => (),
        OfferSort::Price => found.sort_by_key(|found| found.row.price),
        OfferSort::Duration => found.sort_by_key(|found| found.row.duration_minutes),
    }
    let first_closes_at = found.iter().map(|found| wanted.closes_at(&found.row)).min();
    let total = found.len();
    let sailings = found.into_iter().skip(wanted.offset).take(wanted.limit).collect();
    Offers { sailings, total, first_closes_at }
}

/// The sailings of a trip that can be booked, in the order of departure.
pub async fn sailings(app: &App, trip: Trip) -> Result<Arc<Kept<Vec<FoundSailing>>>> {
    let read = async || {
        let db = app.db_of_offers();
        let (mut rows, mut tags) = tagged(&db, &trip, app.clock.now()).await?;
        // Which tags matter is known now.
        if db.replica_read_at().is_some_and(|at| app.response_cache.last_change(&tags) > Some(at)) {
            (rows, tags) = tagged(&app.db, &trip, app.clock.now()).await?;
        }
        let bytes = rows.iter().map(OfferRow::bytes).sum();
        let sailings = rows.into_iter().map(FoundSailing::from).collect();
        Ok((sailings, CacheTags { tags, until: None }, bytes))
    };
    app.trips().get_or_read(&app.response_cache, &app.clock, trip.clone(), read).await
}

/// The sailings of a trip, and the tags of changes that concern them.
async fn tagged(
    db: &Db,
    trip: &Trip,
    now: DateTime<Utc>,
) -> Result<(Vec<OfferRow>, Vec<CacheTag>)> {
    let rows = read(db, trip, now).await?;
    let harbours = match rows.first() {
        Some(row) => Some((row.from_harbour_id, row.to_harbour_id)),
        // Where nothing is found, the tags still need the harbours.
        None => harbours::trip_of(db, &trip.from_key, &trip.to_key).await?,
    };
    let tags = harbours.map(|(from, to)| search_tags(from, to, trip.day).to_vec());
    Ok((rows, tags.unwrap_or_default()))
}

/// The bookable sailings between two names of harbours on a day.
pub const SELECT_TRIP: &str =
    "SELECT s.id, s.speedboat_id, r.from_name, r.to_name, s.departure_at, s.arrival_at,
       s.duration_minutes, r.timezone, r.arrival_timezone, s.price, s.capacity,
       s.seats_taken, s.closes_at, s.from_harbour_id, s.to_harbour_id,
       b.name AS speedboat_name, b.facilities, b.photos, p.id AS partner_id,
       a.name AS partner_name, l.fares
     FROM sailings s
     JOIN routes r ON r.id = s.route_id
     JOIN lines l ON l.id = s.line_id
     JOIN speedboats b ON b.id = s.speedboat_id AND b.status = 'active'
     JOIN partners p ON p.id = s.partner_id
       AND p.status <> 'suspended' AND p.verified_at IS NOT NULL
     JOIN accounts a ON a.id = p.account_id
     WHERE s.from_harbour_id = (SELECT n.harbour_id FROM harbour_names n WHERE n.key = $1)
       AND s.to_harbour_id = (SELECT n.harbour_id FROM harbour_names n WHERE n.key = $2)
       AND s.day = $3 AND s.status = 'open' AND s.departure_at > $4
       AND s.seats_taken < s.capacity
       AND NOT s.chartered AND s.manifest_closed_at IS NULL
     ORDER BY s.departure_at, s.id LIMIT CAST($5 AS BIGINT)";

async fn read(db: &Db, trip: &Trip, now: DateTime<Utc>) -> Result<Vec<OfferRow>> {
    let rows = db
        .sql(SELECT_TRIP)
        .bind(trip.from_key.clone())
        .bind(trip.to_key.clone())
        .bind(trip.day)
        .bind(now)
        .bind(MOST_SAILINGS as i64)
        .all()
        .await?;
    Ok(rows)
}
