//! The boats.
//!
//! A boat belongs to one partner for good. Its registration number is one living boat's alone. A
//! deleted boat stays in the database for the history of its sailings.
//!
//! What a change of a boat means for its sailings is theirs to say: see `sailings`.

mod http;
mod model;
mod store;

pub use http::{
    PathSpeedboat, create_speedboat, get_speedboat, list_own_speedboats, list_speedboats, photos,
    record, shown,
};
pub use model::{BoatStatus, Owner, Scope, Speedboat, SpeedboatChange, SpeedboatRow};
pub use store::{Counts, counts, delete, get_in, hold, update};
