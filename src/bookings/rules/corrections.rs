//! Corrections of passengers and contact.

use chrono::{DateTime, Utc};

use super::{
    BookingState,
    refusal::{Refusal, over},
};
use crate::bookings::model::BookingStatus;

/// Whether passengers and contact of a booking can be corrected, by any actor: until the manifest is
/// closed, which names them.
pub fn correcting(booking: &BookingState, now: DateTime<Utc>) -> Result<(), Refusal> {
    use BookingStatus::*;
    match booking.status {
        PendingPayment if booking.expires_at <= now => Err(Refusal::Expired),
        PendingPayment | Paid if booking.has_departed(now) => Err(Refusal::Departed),
        PendingPayment | Paid if booking.is_manifest_closed => Err(Refusal::ManifestClosed),
        PendingPayment | Paid => Ok(()),
        Completed => Err(Refusal::Departed),
        status @ (Expired | Cancelled | RefundPending | Refunded) => Err(over(status)),
    }
}
