//! What weather and harbours do to sailings: one command, and every booking has its outcome.
//!
//! - A sailing is cancelled or moved in one transaction with all of its bookings, or not at all.
//! - Whoever has paid for a cancelled sailing is owed everything; whoever has not, owes nothing.
//! - The bookings of a moved sailing stand. Where it moved far, their bookers may leave in full.
//! - Rows are taken in the order of everyone else: boat, bookings, sailing.

mod http;
mod model;

pub use http::{cancel_sailing, move_sailing};
