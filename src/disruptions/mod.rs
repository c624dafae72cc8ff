//! Disruptions: cancelling and moving sailings with their bookings.
//!
//! - A sailing is cancelled or moved in one transaction with all of its bookings.
//! - Bookers who have paid for a cancelled sailing get a full refund; unpaid bookings are
//!   cancelled.
//! - The bookings of a moved sailing stay valid. If it moved by 30 minutes or more, bookers may
//!   cancel with a full refund.
//! - Lock order: boat, bookings, sailing.

mod http;
mod model;

pub use http::{cancel_sailing, move_sailing};
