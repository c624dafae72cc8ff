//! Types of routes and sailings.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::zone::Zone;
use crate::kernel::{ids::Uuid, money::Rupiah};

crate::string_enum! {
    pub enum ScheduleType { Once = "once", Daily = "daily", Weekly = "weekly" }
}

crate::string_enum! {
    pub enum RouteStatus { Draft = "draft", Published = "published", Archived = "archived" }
}

crate::string_enum! {
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

/// `HH:MM`, local to the harbour.
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

    /// The local time of an instant.
    pub fn local(at: DateTime<Utc>, zone: Tz) -> Self {
        Self(at.with_timezone(&zone).time())
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

/// A departure time of a route, on all or some days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteTime {
    pub id: Uuid,
    pub departure_time: TimeOfDay,
    pub arrival_time: TimeOfDay,
    /// Days of a weekly route.
    pub days: Option<Vec<Weekday>>,
    /// Whole rupiah per seat, if it differs from the route's price.
    pub price: Option<Rupiah>,
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct RouteRow {
    pub id: Uuid,
    pub partner_id: Uuid,
    pub speedboat_id: Uuid,
    pub line_id: Uuid,
    pub speedboat_name: String,
    pub speedboat_capacity: i32,
    pub from_name: String,
    pub to_name: String,
    pub from_harbour_id: Uuid,
    pub to_harbour_id: Uuid,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub price: Rupiah,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub times: Value,
    pub status: RouteStatus,
    pub published_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

crate::string_enum! {
    pub enum SailingStatus {
        Open = "open",
        Cancelled = "cancelled",
        Withdrawn = "withdrawn",
        /// An open sailing whose departure has passed.
        Departed = "departed",
    }
}

impl SailingStatus {
    /// The status at a time: an open sailing becomes `departed`.
    pub fn seen_at(self, departure_at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        let left = self == Self::Open && departure_at <= now;
        if left { Self::Departed } else { self }
    }
}

/// A dated departure of a boat.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Sailing {
    pub id: Uuid,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub status: SailingStatus,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
}

impl Sailing {
    pub fn seen_at(self, now: DateTime<Utc>) -> Self {
        Self { status: self.status.seen_at(self.departure_at, now), ..self }
    }
}

crate::string_enum! {
    /// Single seats, or the whole boat.
    pub enum BookingType { Speedboat = "speedboat", Charter = "charter" }
}
