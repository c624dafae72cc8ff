//! Boarding: who is expected, who is on board, and the list that the harbour master gets.
//!
//! - A passenger boards a sailing once, however many devices scan the ticket: the database sees
//!   to it. A scan has a name of its own, so that handing it in again changes nothing.
//! - A manifest that is closed stays what it was. From then on nobody joins, boards or is taken
//!   off; the database refuses that, too.
//! - Identity numbers are in clear on the manifest, for those in charge of the sailing.

mod checkin;
mod http;
mod manifest;
mod model;
mod page;
mod rules;
mod store;

pub use http::{check_in, close_manifest, get_manifest, undo_check_in};
pub use store::reseal;
