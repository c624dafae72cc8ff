//! A sailing with boat, partner and route, for check-in, disruptions and the list of sailings.

use axum::{extract::FromRequestParts, http::request::Parts};
use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{forms::RouteTimesQuery, model::SailingStatus, zone::Zone};
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        db::{Db, EXACT, List, Total, Tx, like},
        error::{Error, Result},
        http::{Path, export},
        ids::Uuid,
        money::Rupiah,
    },
};

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct SailingDetail {
    pub id: Uuid,
    pub route_id: Uuid,
    pub mitra_id: Uuid,
    pub speedboat_id: Uuid,
    #[serde(rename = "from")]
    pub from_name: String,
    #[serde(rename = "to")]
    pub to_name: String,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub status: SailingStatus,
    /// Why the sailing was cancelled or moved.
    pub reason: Option<String>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub manifest_closed_at: Option<DateTime<Utc>>,
    #[serde(skip)]
    pub from_harbour_id: Uuid,
    #[serde(skip)]
    pub to_harbour_id: Uuid,
    #[serde(skip)]
    pub day: NaiveDate,
    #[serde(skip)]
    pub speedboat_name: String,
    #[serde(skip)]
    pub registration_number: String,
    #[serde(skip)]
    pub mitra_name: String,
}

impl SailingDetail {
    /// The sailing with its status at a time.
    pub fn seen_at(self, now: DateTime<Utc>) -> Self {
        Self { status: self.status.seen_at(self.departure_at, now), ..self }
    }
}

macro_rules! sailing {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.route_id, s.partner_id AS mitra_id, s.speedboat_id, r.from_name,
               r.to_name, r.timezone, r.arrival_timezone, s.from_harbour_id, s.to_harbour_id,
               s.departure_at, s.arrival_at, s.price, s.capacity,
               s.seats_taken, s.status, s.reason, s.cancelled_at, s.manifest_closed_at, s.day,
               b.name AS speedboat_name, b.registration_number, a.name AS mitra_name
             FROM sailings s
             JOIN routes r ON r.id = s.route_id
             JOIN speedboats b ON b.id = s.speedboat_id
             JOIN partners p ON p.id = s.partner_id
             JOIN accounts a ON a.id = p.account_id",
            $rest
        )
    };
}

/// `owner` restricts to one partner; `None` finds all.
pub async fn get(db: &Db, owner: Option<Uuid>, id: Uuid) -> Result<Option<SailingDetail>> {
    let sailing = db
        .sql(sailing!(" WHERE s.id = $1 AND ($2 IS NULL OR s.partner_id = $2)"))
        .bind(id)
        .bind(owner);
    Ok(sailing.maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<SailingDetail> {
    Ok(tx.sql(sailing!(" WHERE s.id = $1")).bind(id).one().await?)
}

/// One page of sailings by departure, and their total number. `owner` restricts to one partner.
pub async fn list(
    db: &Db,
    owner: Option<Uuid>,
    query: &RouteTimesQuery,
    now: DateTime<Utc>,
) -> Result<(Vec<SailingDetail>, Total)> {
    let paging = &query.paging;
    let sort = paging.sort(Some("s.departure_at"), "s.departure_at");
    let list = found(db, owner, query, now).await?;
    let (rows, total) = list.page(sort, "s.id", paging.limit(), paging.offset()).await?;
    Ok((rows.into_iter().map(|row: SailingDetail| row.seen_at(now)).collect(), total))
}

/// The ids of all sailings of the list, in its order.
pub async fn list_ids(
    db: &Db,
    owner: Option<Uuid>,
    query: &RouteTimesQuery,
    now: DateTime<Utc>,
) -> Result<Vec<Uuid>> {
    let sort = query.paging.sort(Some("s.departure_at"), "s.departure_at");
    Ok(found(db, owner, query, now).await?.ids(sort, "s.id", export::LIMIT).await?)
}

pub async fn get_all(db: &Db, ids: &[Uuid]) -> Result<Vec<SailingDetail>> {
    let rows = db.sql_among(sailing!(" WHERE s.id IN"), ids.len(), "");
    Ok(ids.iter().fold(rows, |rows, id| rows.bind(*id)).long().all().await?)
}

/// The columns that filters check. An index by departure has all of them except the partner.
const COLUMNS: &str =
    "SELECT s.id, s.route_id, s.speedboat_id, s.day, s.status, s.departure_at FROM sailings s";
const COLUMNS_WITH_PARTNER: &str = "SELECT s.id, s.route_id, s.speedboat_id, s.day, s.status,
   s.departure_at, s.partner_id
 FROM sailings s";
/// A count checks at most this many sailings.
const EXAMINED: i64 = 40_000;

/// The routes whose ends are like `?`.
macro_rules! routes_like {
    ($value:literal) => {
        concat!(
            "(SELECT r.id FROM routes r WHERE lower(r.from_name) LIKE lower(",
            $value,
            ") ESCAPE '\\' OR lower(r.to_name) LIKE lower(",
            $value,
            ") ESCAPE '\\')"
        )
    };
}

/// The boats whose names are like `?`.
macro_rules! boats_like {
    ($value:literal) => {
        concat!(
            "(SELECT b.id FROM speedboats b WHERE lower(b.name) LIKE lower(",
            $value,
            ") ESCAPE '\\')"
        )
    };
}

/// How many sailings words find, at most one more than [`EXACT`] each.
#[derive(Clone, Copy, crate::kernel::db::FromRow)]
struct Frequency {
    by_route: i64,
    by_boat: i64,
}

impl Frequency {
    async fn of(db: &Db, words: &str) -> Result<Self> {
        let frequency = db
            .sql(concat!(
                "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM sailings m WHERE m.route_id IN ",
                routes_like!("$1"),
                " LIMIT CAST($2 AS BIGINT)) f) AS by_route,
                   (SELECT COUNT(*) FROM (SELECT 1 FROM sailings m WHERE m.speedboat_id IN ",
                boats_like!("$1"),
                " LIMIT CAST($2 AS BIGINT)) f) AS by_boat"
            ))
            .without_cached_plan()
            .bind(words.to_owned())
            .bind(EXACT + 1)
            .long()
            .one()
            .await?;
        Ok(frequency)
    }

    /// Whether the words can drive the query.
    fn is_rare(self) -> bool {
        self.by_route <= EXACT && self.by_boat <= EXACT
    }

    fn narrow<'a>(self, list: List<'a>, words: Option<String>) -> List<'a> {
        let by_route = concat!("s.route_id IN ", routes_like!("?"));
        let by_boat = concat!("s.speedboat_id IN ", boats_like!("?"));
        // No index supports both at once.
        let by_both = concat!(
            "s.id IN (SELECT m.id FROM sailings m WHERE m.route_id IN ",
            routes_like!("?"),
            " UNION ALL SELECT m.id FROM sailings m WHERE m.speedboat_id IN ",
            boats_like!("?"),
            ")"
        );
        match (self.by_route, self.by_boat) {
            (_, 0) => list.filter(by_route, words),
            (0, _) => list.filter(by_boat, words),
            _ => list.filter(by_both, words),
        }
    }
}

/// What finds the sailings of a list; the other filters are only checked, by conditions that no index
/// supports. So the plan depends neither on the engine nor on its statistics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Route,
    Boat,
    Partner,
    /// Words that few sailings contain.
    Search,
    /// Few sailings are cancelled or withdrawn.
    CalledOff,
    /// Departure, which is also the order of the list.
    Departure,
}

async fn found<'a>(
    db: &'a Db,
    owner: Option<Uuid>,
    query: &RouteTimesQuery,
    now: DateTime<Utc>,
) -> Result<List<'a>> {
    let words = query.paging.search().map(like);
    let is_narrow = query.route_id.or(query.speedboat_id).or(owner).is_some();
    let frequency = match &words {
        Some(words) if !is_narrow => Some(Frequency::of(db, words).await?),
        _ => None,
    };
    let rare = frequency.filter(|frequency| frequency.is_rare());
    let called_off = match query.status {
        Some(status @ (SailingStatus::Cancelled | SailingStatus::Withdrawn)) => Some(status),
        _ => None,
    };
    let choices = [
        (query.route_id.is_some(), Driver::Route),
        (query.speedboat_id.is_some(), Driver::Boat),
        (owner.is_some(), Driver::Partner),
        (rare.is_some(), Driver::Search),
        (called_off.is_some(), Driver::CalledOff),
    ];
    let driver = choices.into_iter().find(|(given, _)| *given);
    let driver = driver.map_or(Driver::Departure, |(_, driver)| driver);
    let columns = if owner.is_some() { COLUMNS_WITH_PARTNER } else { COLUMNS };
    let list = db
        .list(sailing!(""))
        .found_in("SELECT s.id FROM sailings s")
        .examining(columns, EXAMINED)
        .sorted_apart(driver == Driver::Search);
    let list = match (driver, rare) {
        (Driver::Search, Some(rare)) => rare.narrow(list, words.clone()),
        (Driver::Search, None) => list,
        (Driver::Route, _) => list.filter("s.route_id = ?", query.route_id),
        (Driver::Boat, _) => list.filter("s.speedboat_id = ?", query.speedboat_id),
        (Driver::Partner, _) => list.filter("s.partner_id = ?", owner),
        // SQLite uses a partial index only with its own condition in the query.
        (Driver::CalledOff, _) => {
            list.only("s.status <> 'open'").filter("s.status = ?", called_off)
        }
        (Driver::Departure, _) => list,
    };
    let other = |one| move |_: &Uuid| driver != one;
    let list = list
        // Nothing comes before the route.
        .check("COALESCE(s.speedboat_id, s.id) = ?", query.speedboat_id.filter(other(Driver::Boat)))
        .check("COALESCE(s.partner_id, s.id) = ?", owner.filter(other(Driver::Partner)))
        .check("s.status || '' = ?", called_off.filter(|_| driver != Driver::CalledOff))
        .check("s.day >= ?", query.start_date)
        .check("s.day <= ?", query.end_date);
    // One range of the index, which has the time of departure before its day.
    let (mut from, mut until) =
        (query.start_date.and_then(earliest_departure), query.end_date.and_then(latest_departure));
    let is_open = |list: List<'a>| list.check("s.status || '' = ?", Some("open"));
    let list = match query.status {
        Some(SailingStatus::Open) => {
            from = from.max(Some(now + TimeDelta::microseconds(1)));
            is_open(list)
        }
        Some(SailingStatus::Departed) => {
            let after = now + TimeDelta::microseconds(1);
            until = Some(until.map_or(after, |until| until.min(after)));
            is_open(list)
        }
        Some(SailingStatus::Cancelled | SailingStatus::Withdrawn) | None => list,
    };
    let list = list.filter("s.departure_at >= ?", from).filter("s.departure_at < ?", until);
    let by_words_alone = query.status.is_none()
        && query.start_date.is_none()
        && query.end_date.is_none()
        && words.is_some()
        && driver == Driver::Departure;
    let total = by_words_alone.then(|| Total::counted(EXACT + 1));
    let list = list.known(total);
    let words = words.filter(|_| driver != Driver::Search);
    Ok(list.check(
        concat!(
            "(COALESCE(s.route_id, s.id) IN ",
            routes_like!("?"),
            " OR COALESCE(s.speedboat_id, s.id) IN ",
            boats_like!("?"),
            ")"
        ),
        words,
    ))
}

/// A time before every departure on this day, in whatever time zone.
pub fn earliest_departure(day: NaiveDate) -> Option<DateTime<Utc>> {
    midnight_utc(day.checked_sub_days(Days::new(1)))
}

/// A time after every departure on this day, in whatever time zone.
pub fn latest_departure(day: NaiveDate) -> Option<DateTime<Utc>> {
    midnight_utc(day.checked_add_days(Days::new(2)))
}

/// `None` outside of the years that are stored, whose texts sort by time.
fn midnight_utc(day: Option<NaiveDate>) -> Option<DateTime<Utc>> {
    let day = day.filter(|day| (0..=9999).contains(&day.year()))?;
    Some(day.and_time(NaiveTime::MIN).and_utc())
}

/// The sailing of the path, if the caller may see it.
pub struct PathSailing(pub SailingDetail);

impl FromRequestParts<App> for PathSailing {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Ok(Self(get(&app.db, caller.crew_filter(None)?, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathSailing {}
