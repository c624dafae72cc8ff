//! What routes and sailings are made of, and what callers send and get.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    harbour::{Harbour, key},
    zone::Zone,
};
use crate::{
    fleet::Owner,
    kernel::{
        error::Fault,
        http::Paging,
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        schema::Input,
    },
};

crate::words! {
    pub enum ScheduleType { Once = "once", Daily = "daily", Weekly = "weekly" }
}

crate::words! {
    pub enum RouteStatus { Draft = "draft", Published = "published", Archived = "archived" }
}

crate::words! {
    pub enum Weekday {
        Mon = "mon",
        Tue = "tue",
        Wed = "wed",
        Thu = "thu",
        Fri = "fri",
        Sat = "sat",
        Sun = "sun",
    }
}

/// `HH:MM`, local to the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct TimeOfDay(
    #[schemars(with = "String", regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))] NaiveTime,
);

impl TimeOfDay {
    pub fn time(self) -> NaiveTime {
        self.0
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        NaiveTime::parse_from_str(&text, "%H:%M").map(Self).map_err(|error| error.to_string())
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> String {
        time.0.format("%H:%M").to_string()
    }
}

/// A departure that a route has, each day or on some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteTime {
    pub id: Uuid,
    pub departure_time: TimeOfDay,
    pub arrival_time: TimeOfDay,
    /// For weekly routes.
    pub days: Option<Vec<Weekday>>,
    /// Where it differs from the route's.
    pub price: Option<Rupiah>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RouteTimeForm {
    departure_time: TimeOfDay,
    arrival_time: TimeOfDay,
    #[schemars(length(min = 1, max = 7), extend("uniqueItems" = true))]
    days: Option<Vec<Weekday>>,
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    price: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RouteForm {
    pub speedboat_id: Uuid,
    pub from: Harbour,
    pub to: Harbour,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    pub price: i64,
    /// The service's unless given.
    pub timezone: Option<Zone>,
    #[schemars(length(min = 1, max = 48))]
    times: Vec<RouteTimeForm>,
}

/// Spaces around a name do not count.
fn trim(value: &mut Value, names: &[&str]) {
    for name in names {
        if let Some(text) = value[name].as_str().map(|text| text.trim().to_owned()) {
            value[name] = Value::String(text);
        }
    }
}

impl RouteForm {
    pub fn times(&self) -> Vec<RouteTime> {
        let weekly = self.schedule_type == ScheduleType::Weekly;
        let time = |form: &RouteTimeForm| RouteTime {
            id: ids::fresh(),
            departure_time: form.departure_time,
            arrival_time: form.arrival_time,
            days: form.days.clone().filter(|_| weekly),
            price: form.price.map(Rupiah),
        };
        self.times.iter().map(time).collect()
    }
}

impl Input for RouteForm {
    fn tidy(value: &mut Value) {
        let blank = value["timezone"].as_str().is_some_and(|zone| zone.trim().is_empty());
        if blank {
            value["timezone"] = Value::Null;
        }
        trim(value, &["from", "to"]);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let text_of = |name: &str| value[name].as_str();
        for name in ["from", "to"] {
            if text_of(name).is_some_and(|name| !name.is_empty() && key(name).is_empty()) {
                let message = text("This is no name.", "Ini bukan nama.");
                faults.push(Fault::new(name, "format", message));
            }
        }
        if let (Some(from), Some(to)) = (text_of("from"), text_of("to"))
            && key(from) == key(to)
        {
            let message = text("This is where it departs from.", "Sama dengan asal.");
            faults.push(Fault::new("to", "same", message));
        }
        let date = |name: &str| text_of(name).and_then(|date| date.parse::<NaiveDate>().ok());
        if let (Some(start), Some(end)) = (date("start_date"), date("end_date")) {
            let once = text_of("schedule_type") == Some(ScheduleType::Once.as_str());
            faults.extend(period_fault(start, end, once));
        }
        if text_of("schedule_type") == Some(ScheduleType::Weekly.as_str()) {
            let times = value["times"].as_array().into_iter().flatten().enumerate();
            for (index, _) in times.filter(|(_, time)| time.is_object() && time["days"].is_null()) {
                let message = text("Say on which days.", "Sebutkan harinya.");
                faults.push(Fault::new(format!("times[{index}].days"), "required", message));
            }
        }
    }
}

/// Why a route cannot run over these days.
fn period_fault(start: NaiveDate, end: NaiveDate, once: bool) -> Option<Fault> {
    let days = (end - start).num_days() + 1;
    let (rule, message) = if days < 1 {
        ("order", text("It ends before it starts.", "Berakhir sebelum dimulai."))
    } else if once && days > 1 {
        ("once", text("A single trip starts and ends on one day.", "Sekali jalan hanya satu hari."))
    } else if days > 366 {
        ("max_days", text("At most 366 days.", "Paling lama 366 hari."))
    } else if end.year() > 2200 {
        ("max", text("That is too far ahead.", "Terlalu jauh ke depan."))
    } else {
        return None;
    };
    Some(Fault::new("end_date", rule, message))
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct RouteRow {
    pub id: Uuid,
    pub partner_id: Uuid,
    pub speedboat_id: Uuid,
    pub speedboat_name: String,
    pub speedboat_capacity: i32,
    pub from_name: String,
    pub to_name: String,
    pub from_key: String,
    pub to_key: String,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub price: Rupiah,
    pub timezone: Zone,
    pub times: Value,
    pub status: RouteStatus,
    pub published_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Route {
    pub id: Uuid,
    pub mitra_id: Uuid,
    pub speedboat_id: Uuid,
    pub speedboat: RouteBoat,
    pub from: String,
    pub to: String,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    /// For a seat.
    pub price: Rupiah,
    pub timezone: Zone,
    pub times: Vec<RouteTime>,
    pub status: RouteStatus,
    pub published_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RouteBoat {
    pub id: Uuid,
    pub name: String,
    pub capacity: i32,
}

crate::words! {
    pub enum RouteSort { StartDate = "start_date", Price = "price", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct RoutesQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub mitra_id: Option<Uuid>,
    pub speedboat_id: Option<Uuid>,
    pub status: Option<RouteStatus>,
    pub sort_by: Option<RouteSort>,
}

impl Input for RoutesQuery {}

crate::words! {
    pub enum SailingStatus {
        Open = "open",
        Cancelled = "cancelled",
        Withdrawn = "withdrawn",
        /// Open no longer, since it has left.
        Departed = "departed",
    }
}

impl SailingStatus {
    /// An open sailing that has left is departed.
    pub fn seen_at(self, departure_at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        let left = self == Self::Open && departure_at <= now;
        if left { Self::Departed } else { self }
    }
}

/// One dated departure of a boat.
#[derive(Clone, Debug, Serialize, JsonSchema, sqlx::FromRow)]
pub struct Sailing {
    pub id: Uuid,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub status: SailingStatus,
}

impl Sailing {
    pub fn seen_at(self, now: DateTime<Utc>) -> Self {
        Self { status: self.status.seen_at(self.departure_at, now), ..self }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SailingsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    /// Day of departure, where it departs.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
}

impl Input for SailingsQuery {}

crate::words! {
    /// Seats, or the whole boat.
    pub enum BookingType { Speedboat = "speedboat", Charter = "charter" }
}

crate::words! {
    pub enum OfferSort { Departure = "departure", Price = "price", Duration = "duration" }
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchForm {
    pub from: Harbour,
    pub to: Harbour,
    /// Day of departure, where it departs.
    pub date: NaiveDate,
    #[schemars(range(min = 1, max = 500))]
    pub qty: i32,
    /// With it the way back is searched, too.
    pub return_date: Option<NaiveDate>,
    #[serde(rename = "type")]
    pub kind: Option<BookingType>,
    pub sort_by: Option<OfferSort>,
    #[schemars(range(min = 1, max = 1_000_000))]
    pub page: Option<i64>,
    #[schemars(range(min = 1, max = 100))]
    pub page_size: Option<i64>,
}

impl Input for SearchForm {
    fn tidy(value: &mut Value) {
        trim(value, &["from", "to"]);
        for name in ["return_date", "type", "sort_by"] {
            if value[name].as_str().is_some_and(|text| text.trim().is_empty()) {
                value[name] = Value::Null;
            }
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let date = |name: &str| value[name].as_str().and_then(|d| d.parse::<NaiveDate>().ok());
        if let (Some(out), Some(back)) = (date("date"), date("return_date"))
            && back < out
        {
            let message = text("The way back is before the way out.", "Tanggal pulang lebih awal.");
            faults.push(Fault::new("return_date", "order", message));
        }
    }
}

/// A sailing that can be booked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Offer {
    pub route_time_id: Uuid,
    /// The speedboat.
    pub item_id: Uuid,
    #[serde(rename = "type")]
    pub kind: BookingType,
    pub from: String,
    pub to: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub duration_minutes: i32,
    pub timezone: Zone,
    /// For a seat.
    pub price: Rupiah,
    pub total_price: Rupiah,
    pub available_seats: i32,
    pub speedboat: OfferBoat,
    pub mitra: Owner,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferBoat {
    pub id: Uuid,
    pub name: String,
    pub capacity: i32,
    pub facilities: Vec<String>,
    pub photo_url: Option<String>,
}

/// Stands beside the way out.
#[derive(Serialize, JsonSchema)]
pub struct WayBack {
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    pub offers: Option<Vec<Offer>>,
}

/// A harbour that can be departed from.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Location {
    pub name: String,
    pub timezone: Zone,
    pub destinations: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct SpeedboatSummary {
    pub total: i64,
    pub active: i64,
    pub maintenance: i64,
    pub inactive: i64,
    pub total_capacity: i64,
    pub upcoming_sailings: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole() {
        let fault = |start, end, once| {
            let date = |text: &str| text.parse().unwrap();
            period_fault(date(start), date(end), once).map(|fault| fault.rule.into_owned())
        };
        assert_eq!(fault("2026-01-01", "2027-01-01", false), None, "366 days");
        assert_eq!(fault("2026-01-01", "2027-01-02", false).unwrap(), "max_days");
        assert_eq!(fault("2026-01-02", "2026-01-01", false).unwrap(), "order");
        assert_eq!(fault("2026-01-01", "2026-01-02", true).unwrap(), "once");
        assert_eq!(fault("2026-01-01", "2026-01-01", true), None);
    }
}
