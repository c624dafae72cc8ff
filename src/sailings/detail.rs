//! A sailing with boat, partner and route, for check-in, disruptions and the list of sailings.

use axum::{extract::FromRequestParts, http::request::Parts};
use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{forms::RouteTimesQuery, model::SailingStatus, zone::Zone};
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        db::{Db, List, Total, Tx},
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
    let list = filtered(db, owner, query, now);
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
    Ok(filtered(db, owner, query, now).ids(sort, "s.id", export::LIMIT).await?)
}

pub async fn get_all(db: &Db, ids: &[Uuid]) -> Result<Vec<SailingDetail>> {
    let rows = db.sql_among(sailing!(" WHERE s.id IN"), ids.len(), "");
    Ok(ids.iter().fold(rows, |rows, id| rows.bind(*id)).long().all().await?)
}

fn filtered<'a>(
    db: &'a Db,
    owner: Option<Uuid>,
    query: &RouteTimesQuery,
    now: DateTime<Utc>,
) -> List<'a> {
    let paging = &query.paging;
    let found = match paging.search() {
        None => "SELECT s.id FROM sailings s",
        Some(_) => {
            "SELECT s.id FROM sailings s
             JOIN routes r ON r.id = s.route_id
             JOIN speedboats b ON b.id = s.speedboat_id"
        }
    };
    let list = db
        .list(sailing!(""))
        .found_in(found)
        .filter("s.partner_id = ?", owner)
        .filter("s.route_id = ?", query.route_id)
        .filter("s.speedboat_id = ?", query.speedboat_id)
        // All sailings of a boat are of one partner, and those are found by an index.
        .filter(
            "s.partner_id = (SELECT o.partner_id FROM speedboats o WHERE o.id = ?)",
            query.speedboat_id,
        )
        .filter("s.day >= ?", query.start_date)
        .filter("s.day <= ?", query.end_date)
        // Limits the range of the index, which has the time of departure and not its day.
        .filter("s.departure_at >= ?", query.start_date.and_then(earliest_departure))
        .filter("s.departure_at < ?", query.end_date.and_then(latest_departure))
        .search(&["r.from_name", "r.to_name", "b.name"], paging.search());
    match query.status {
        None => list,
        Some(SailingStatus::Open) => {
            list.only("s.status = 'open'").filter("s.departure_at > ?", Some(now))
        }
        Some(SailingStatus::Departed) => {
            list.only("s.status = 'open'").filter("s.departure_at <= ?", Some(now))
        }
        // SQLite uses a partial index only with its own condition in the query.
        Some(called_off @ (SailingStatus::Cancelled | SailingStatus::Withdrawn)) => {
            list.only("s.status <> 'open'").filter("s.status = ?", Some(called_off))
        }
    }
}

/// A time before every departure on this day, in whatever time zone.
fn earliest_departure(day: NaiveDate) -> Option<DateTime<Utc>> {
    midnight_utc(day.checked_sub_days(Days::new(1)))
}

/// A time after every departure on this day, in whatever time zone.
fn latest_departure(day: NaiveDate) -> Option<DateTime<Utc>> {
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
