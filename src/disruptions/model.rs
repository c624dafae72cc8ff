//! What callers send and get.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::CancelledBookings,
    kernel::{error::Fault, ids::Uuid, lang::text, schema::Input, text::Note},
    sailings::{SailingDetail, TimeOfDay, Weekday, bulk::SkippedSailing, period_fault},
};

#[derive(Deserialize, JsonSchema)]
pub struct CancelSailing {
    /// Sent to everyone who booked.
    pub reason: Note,
}

impl Input for CancelSailing {}

/// Fields that are left out keep their value.
#[derive(Deserialize, JsonSchema)]
pub struct UpdateSailing {
    /// `HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before.
    pub departure_time: Option<TimeOfDay>,
    pub arrival_time: Option<TimeOfDay>,
    /// New day of departure. Default: unchanged.
    pub date: Option<NaiveDate>,
    /// Whole rupiah per seat, for new bookings.
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    pub price: Option<i64>,
    /// Another boat of the partner.
    pub speedboat_id: Option<Uuid>,
    /// Sent to everyone who booked. Required if the time of a sailing with bookings changes.
    pub reason: Option<Note>,
}

impl UpdateSailing {
    pub fn has_times(&self) -> bool {
        self.departure_time.is_some() || self.arrival_time.is_some() || self.date.is_some()
    }

    /// Whether it concerns those who have booked already.
    pub fn moves(&self) -> bool {
        self.has_times() || self.speedboat_id.is_some()
    }
}

impl Input for UpdateSailing {
    fn tidy(value: &mut Value) {
        blank_is_null(value, &["departure_time", "arrival_time", "date", "speedboat_id", "reason"]);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let fields = ["departure_time", "arrival_time", "date", "price", "speedboat_id"];
        if fields.iter().all(|field| value[field].is_null()) {
            faults.push(nothing_to_change("body"));
        }
    }
}

/// Forms send missing values as empty strings.
fn blank_is_null(value: &mut Value, names: &[&str]) {
    for name in names {
        if value[name].as_str().is_some_and(|text| text.trim().is_empty()) {
            value[name] = Value::Null;
        }
    }
}

fn nothing_to_change(field: &str) -> Fault {
    let message = text("State what is to be changed.", "Sebutkan yang akan diubah.");
    Fault::new(field, "required", message)
}

/// A change of many sailings of a route.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct UpdateSailings {
    /// First day of departure, in the route's time zone.
    pub start_date: NaiveDate,
    /// Last day of departure, at most 366 days.
    pub end_date: NaiveDate,
    /// Only sailings on these days.
    #[schemars(length(min = 1, max = 7), extend("uniqueItems" = true))]
    pub days: Option<Vec<Weekday>>,
    /// Only sailings that depart at these times.
    #[schemars(length(min = 1, max = 48))]
    pub departure_times: Option<Vec<TimeOfDay>>,
    pub set: SailingValues,
    /// Sent to everyone who booked. Required if the time of a sailing with bookings changes.
    pub reason: Option<Note>,
}

/// Fields that are left out keep their value.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SailingValues {
    /// Whole rupiah per seat, for new bookings.
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    pub price: Option<i64>,
    /// Another boat of the partner.
    pub speedboat_id: Option<Uuid>,
    /// `HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before.
    pub departure_time: Option<TimeOfDay>,
    pub arrival_time: Option<TimeOfDay>,
    /// Takes sailings without bookings off sale. Not together with other values.
    pub withdraw: Option<bool>,
}

impl SailingValues {
    pub fn withdraws(&self) -> bool {
        self.withdraw == Some(true)
    }

    /// Whether it concerns those who have booked already.
    pub fn moves(&self) -> bool {
        self.speedboat_id.is_some() || self.departure_time.is_some() || self.arrival_time.is_some()
    }
}

impl Input for UpdateSailings {
    fn tidy(value: &mut Value) {
        blank_is_null(value, &["reason"]);
        if value["set"].is_object() {
            blank_is_null(&mut value["set"], &["speedboat_id", "departure_time", "arrival_time"]);
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let date = |name: &str| value[name].as_str().and_then(|d| d.parse::<NaiveDate>().ok());
        if let (Some(start), Some(end)) = (date("start_date"), date("end_date")) {
            faults.extend(period_fault(start, end, false));
        }
        let set = &value["set"];
        if !set.is_object() {
            return;
        }
        let fields = ["price", "speedboat_id", "departure_time", "arrival_time"];
        let has_values = fields.iter().any(|field| !set[field].is_null());
        match (set["withdraw"] == Value::Bool(true), has_values) {
            (false, false) => faults.push(nothing_to_change("set")),
            (true, true) => {
                let message = text(
                    "A sailing is either withdrawn or changed.",
                    "Pelayaran ditarik atau diubah, tidak keduanya.",
                );
                faults.push(Fault::new("set.withdraw", "alone", message));
            }
            _ => {}
        }
    }
}

/// Maximum number of sailings in `skipped`.
pub const MAX_SKIPPED: usize = 500;

#[derive(Serialize, JsonSchema)]
pub struct UpdatedSailings {
    pub changed: usize,
    /// Number of sailings that had these values already.
    pub unchanged: usize,
    /// Sailings that were not changed, at most 500.
    pub skipped: Vec<SkippedSailing>,
    /// Number of all sailings that were not changed.
    pub skipped_count: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct CancelledSailing {
    #[serde(flatten)]
    pub sailing: SailingDetail,
    pub bookings: CancelledBookings,
}

#[derive(Serialize, JsonSchema)]
pub struct UpdatedSailing {
    #[serde(flatten)]
    pub sailing: SailingDetail,
    /// Number of bookings that have the new times or the new boat.
    pub moved_bookings: usize,
}
