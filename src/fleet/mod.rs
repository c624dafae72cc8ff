//! Speedboats.
//!
//! A boat never changes its partner. Registration numbers are unique among boats that are not
//! deleted. A deleted boat is kept for the history of its sailings.
//!
//! `sailings` handles the effect of changes on sailings.

mod http;
mod model;
mod store;

pub use http::{
    PathSpeedboat, boat_in_service, create_speedboat, get_catalog_speedboat, get_speedboat,
    list_own_speedboats, list_speedboats, photos, record, to_response,
};
pub use model::{BoatStatus, Owner, Scope, Speedboat, SpeedboatChange, SpeedboatRow};
pub use store::{Counts, counts, delete, get_in, lock_row, lock_rows, update};
