//! What callers send and get.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::CalledOff,
    kernel::{schema::Input, text::Note},
    sailings::{SailingDetail, TimeOfDay},
};

#[derive(Deserialize, JsonSchema)]
pub struct CancelSailing {
    /// Sent to everyone who booked.
    pub reason: Note,
}

impl Input for CancelSailing {}

#[derive(Deserialize, JsonSchema)]
pub struct MoveSailing {
    /// `HH:MM`, local to the route.
    pub departure_time: TimeOfDay,
    pub arrival_time: TimeOfDay,
    /// New day of departure. Default: unchanged.
    pub date: Option<NaiveDate>,
    /// Sent to everyone who booked.
    pub reason: Note,
}

impl Input for MoveSailing {
    fn tidy(value: &mut Value) {
        if value["date"].as_str().is_some_and(|date| date.trim().is_empty()) {
            value["date"] = Value::Null;
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CancelledSailing {
    #[serde(flatten)]
    pub sailing: SailingDetail,
    pub bookings: CalledOff,
}

#[derive(Serialize, JsonSchema)]
pub struct MovedSailing {
    #[serde(flatten)]
    pub sailing: SailingDetail,
    /// Number of bookings that have the new times.
    pub moved_bookings: usize,
}
