//! Disruptions: cancelling and changing published sailings with their bookings.
//!
//! - A sailing is cancelled or changed in one transaction with all of its bookings.
//! - Bookers who have paid for a cancelled sailing get a full refund; unpaid bookings are
//!   cancelled.
//! - The bookings of a moved sailing stay valid. If it moved by 30 minutes or more, bookers may
//!   cancel with a full refund.
//! - Another boat must have a seat for everyone who booked; the bookings go with it. A charter has
//!   paid for a whole boat and is not moved to a smaller one.
//! - A new price is for new bookings. A sale fails and is repeated if departure, price or boat are no
//!   longer what it read (trigger `bookings_take`).
//! - Lock order: boat, route, bookings, sailing.

mod http;
mod many;
mod model;

pub use http::{cancel_sailing, update_sailing};
pub use many::update_sailings;
