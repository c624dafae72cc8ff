//! The rules of bookings: statuses, cancellation, rescheduling, corrections and payment. Pure functions;
//! time is an argument.

mod cancellation;
mod corrections;
mod payment;
mod policy;
mod refusal;
mod rescheduling;
mod status;

use chrono::{DateTime, TimeDelta, Utc};

use super::model::BookingStatus;
use crate::kernel::money::Rupiah;

pub use cancellation::{
    BorneBy, CancelOffer, CancelRequest, Refund, RefundChoice, cancel_offer, cancel_offer_of_some,
    cancellation, cancelling_some, depends_on_manifest,
};
pub use corrections::correcting;
pub use payment::{ensure_not_resold, ensure_unpaid, goes_back_at_provider, payable};
pub use policy::refund_percent;
pub use refusal::Refusal;
pub use rescheduling::{
    RescheduleCause, RescheduleOffer, reschedule_fee, reschedule_offer, rescheduling,
};
pub use status::{Event, ensure_ticket, has_ticket, is_live, next};

/// The role in which a booking is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The booker, who knows the code and the e-mail address.
    Guest,
    /// The partner whose sailing it is.
    Partner,
    /// Admins, and staff by rule.
    Staff,
    /// The system: the whole sailing is cancelled.
    Sailing,
}

/// The input of the rules of cancelling and rescheduling.
#[derive(Clone, Debug)]
pub struct BookingState {
    pub status: BookingStatus,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    /// Until when it is held unpaid.
    pub expires_at: DateTime<Utc>,
    /// The departure that it was sold with, if its sailing was moved.
    pub promised_at: Option<DateTime<Utc>>,
    pub is_boarded: bool,
    pub is_manifest_closed: bool,
    /// Cancelled together with its sailing.
    pub is_called_off: bool,
    pub is_partner_suspended: bool,
    /// Its journey was completed, also if it was refunded later.
    pub has_sailed: bool,
    /// Sold by a reseller, to whose account refunds go.
    pub is_resold: bool,
    pub was_paid: bool,
    pub total: Rupiah,
    /// What the provider has sent back of it without being owed.
    pub gone: Rupiah,
    /// The maximum refund in percent, after a reschedule.
    pub refund_cap: Option<i32>,
}

impl BookingState {
    /// The most that can be refunded.
    fn refundable(&self) -> Rupiah {
        (self.total - self.gone).max(Rupiah::ZERO)
    }

    fn has_departed(&self, now: DateTime<Utc>) -> bool {
        self.departure_at <= now
    }

    /// Whether the sailing was moved so far that the booker may refuse it.
    fn is_disrupted(&self) -> bool {
        is_disrupted(self.promised_at, self.departure_at)
    }

    /// Check-in and the manifest restrict a guest within this time before departure. Earlier they
    /// do not, so that a partner cannot lock customers in.
    fn is_near_departure(&self, now: DateTime<Utc>) -> bool {
        self.departure_at - now <= NEAR
    }

    /// The time from which a guest can no longer leave the sailing.
    fn guest_leaves_before(&self) -> DateTime<Utc> {
        match self.is_boarded || self.is_manifest_closed {
            true => self.departure_at - NEAR,
            false => self.departure_at,
        }
    }
}

const NEAR: TimeDelta = TimeDelta::hours(24);

/// Whether a sailing was moved so far that bookers may refuse it.
pub fn is_disrupted(promised_at: Option<DateTime<Utc>>, departure_at: DateTime<Utc>) -> bool {
    promised_at.is_some_and(|promised| (departure_at - promised).abs() >= TimeDelta::minutes(30))
}

/// A guest cannot leave a sailing near departure after check-in, or after the manifest was closed.
fn ensure_not_boarded(booking: &BookingState, now: DateTime<Utc>) -> Result<(), Refusal> {
    match booking {
        booking if !booking.is_near_departure(now) => Ok(()),
        booking if booking.is_manifest_closed => Err(Refusal::ManifestClosed),
        booking if booking.is_boarded => Err(Refusal::AlreadyBoarded),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_hour_more_or_less_is_too_much() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let moved_by =
            |minutes| is_disrupted(Some(departure), departure + TimeDelta::minutes(minutes));
        assert!(!is_disrupted(None, departure));
        assert!(!moved_by(29) && !moved_by(-29) && moved_by(30) && moved_by(-30));
    }
}
