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
    /// Told to every booker.
    pub reason: Note,
}

impl Input for CancelSailing {}

#[derive(Deserialize, JsonSchema)]
pub struct MoveSailing {
    /// Where it departs from, as is the other time.
    pub departure_time: TimeOfDay,
    pub arrival_time: TimeOfDay,
    /// The day of departure, unless it stays the same.
    pub date: Option<NaiveDate>,
    /// Told to every booker.
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
    /// How many bookings moved along.
    pub moved_bookings: usize,
}
