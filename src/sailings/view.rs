//! Response types of routes and search.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    model::{BookingType, RouteStatus, RouteTime, ScheduleType},
    zone::Zone,
};
use crate::{
    fleet::Owner,
    kernel::{ids::Uuid, money::Rupiah},
};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Route {
    pub id: Uuid,
    pub mitra_id: Uuid,
    pub speedboat_id: Uuid,
    pub speedboat: RouteBoat,
    /// UUID of the line, which has the fares.
    pub line_id: Uuid,
    pub from: String,
    pub to: String,
    pub from_harbour_id: Uuid,
    pub to_harbour_id: Uuid,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    /// Whole rupiah per seat.
    pub price: Rupiah,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub times: Vec<PlannedTime>,
    pub status: RouteStatus,
    pub published_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A departure time of a route, with the day of its arrival.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RouteTime")]
pub struct PlannedTime {
    #[serde(flatten)]
    pub time: RouteTime,
    /// Calendar days from departure to arrival, each in the time zone of its harbour: 1 if it
    /// arrives on the next day, and -1 on the day before, which happens in a zone further west.
    pub arrival_day_offset: i64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RouteBoat {
    pub id: Uuid,
    pub name: String,
    pub capacity: i32,
}

/// A sailing that can be booked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Offer {
    pub route_time_id: Uuid,
    /// UUID of the speedboat.
    pub item_id: Uuid,
    #[serde(rename = "type")]
    pub kind: BookingType,
    pub from: String,
    pub to: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub duration_minutes: i32,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    /// Whole rupiah per seat.
    pub price: Rupiah,
    /// For all passengers at the first fare, or for the whole boat.
    pub total_price: Rupiah,
    /// The first one is the default. Empty for charters.
    pub fares: Vec<OfferFare>,
    pub available_seats: i32,
    pub speedboat: OfferBoat,
    pub mitra: Owner,
}

/// What a passenger pays by fare.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferFare {
    pub key: String,
    pub price: Rupiah,
    pub takes_seat: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferBoat {
    pub id: Uuid,
    pub name: String,
    pub capacity: i32,
    pub facilities: Vec<String>,
    pub photo_url: Option<String>,
}

/// Return journey, next to `data`.
#[derive(Serialize, JsonSchema)]
pub struct WayBack {
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    pub offers: Option<Vec<Offer>>,
}

/// A harbour with upcoming departures.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Location {
    pub harbour_id: Uuid,
    pub name: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    pub city: Option<String>,
    pub province: Option<String>,
    pub timezone: Zone,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
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
