//! Harbours: where routes start and end.
//!
//! - A harbour has one name and any number of aliases. A name belongs to at most one harbour,
//!   compared without regard to case, accents and repeated spaces (`harbour_names`).
//! - A route names its harbours in free text. An unknown name makes an unverified harbour, which
//!   staff verify or merge into the one that was meant.
//! - Until a published route uses an unverified harbour, only the partners whose routes name it and
//!   staff see it. A partner has at most 50 of those. One that no route uses any more is deleted,
//!   unless staff have added something to it.
//! - The time zone of an unverified harbour is a guess, and no default for other partners. That of a verified one is a fact: it does
//!   not change while routes use the harbour, and a route cannot contradict it.
//! - A route stores the zones of its times, so neither a change of a harbour nor a merge moves a
//!   sailing.
//! - Whoever changes harbours or matches names holds the lock `harbours`. Lock order: boat,
//!   harbours, route, sailings.

mod http;
mod load;
mod matching;
mod model;
mod name;
mod rules;
mod store;
mod zone;

pub use http::{create_harbour, delete_harbour, list_harbours, merge_harbour, update_harbour};
pub use load::load;
pub use matching::{Ends, Stops, delete_unused, match_ends, settle};
pub use name::{HarbourName, key};
pub use store::{has_zones, lock, of_partner, trip_of};
pub use zone::Zone;
