//! Lines: what all routes of a partner between two harbours have in common, above all their fares.
//!
//! - A line is made with its first route. It is removed only with a partner that never sailed or a
//!   harbour that no route uses, or joins another one when harbours are merged.
//! - `percent` of a fare is of the sailing's price, so fares follow every change of prices.
//! - A booking keeps the fares that it was sold for; changing a line affects new bookings alone.
//! - Sailings have a copy of the line's `cutoff_minutes`, from which the database computes when
//!   their sale ends. Lock order: line before sailings.

mod fares;
mod http;
mod model;
mod store;

pub use fares::{Category, Fare, FarePrice, Residency, fare_name};
pub use http::{get_line, list_lines, update_line};
pub use model::PassengerNames;
pub use store::{delete_of_harbour, ensure, lock_cutoff, merge_harbours};
