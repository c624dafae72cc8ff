//! Boarding: the sailings, their manifests and check-in.
//!
//! - A passenger is checked in to a sailing at most once, whatever the number of devices; a unique
//!   index enforces it. A scan has an id, so that submitting it again changes nothing.
//! - A manifest is closed at the earliest 3 hours before departure, and can be opened again until
//!   departure. A closed manifest does not change: triggers refuse sales, reschedules, check-ins and
//!   undo.
//! - The manifest shows identity numbers in full to those in charge of the sailing. Crew boards
//!   passengers and sees them masked.

mod checkin;
mod csv;
mod http;
mod manifest;
mod model;
mod page;
mod rules;
mod store;

pub use http::{
    check_in, close_manifest, get_manifest, get_route_time, list_route_times, reopen_manifest,
    undo_check_in,
};
pub use manifest::erase_from_manifests;
pub use store::reseal;
