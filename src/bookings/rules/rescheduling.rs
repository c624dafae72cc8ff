//! Rescheduling of a booking, and its fee.

use chrono::{DateTime, Utc};

use super::{
    Actor, BookingState, ensure_not_boarded,
    policy::{fee_percent, percent_of, step_end},
    refusal::{Refusal, over},
};
use crate::{bookings::model::BookingStatus, kernel::money::Rupiah};

/// Why a booking may be rescheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescheduleCause {
    /// By choice of the booker, the partner or staff.
    Choice,
    /// Its sailing was cancelled, or moved far. There is no fee.
    Disruption,
}

/// Whether a booking may be rescheduled, by any actor. The only place that decides it; the cost
/// depends on the other sailing (`reschedule`).
pub fn rescheduling(
    booking: &BookingState,
    now: DateTime<Utc>,
) -> Result<RescheduleCause, Refusal> {
    use BookingStatus::*;
    match booking.status {
        PendingPayment => Err(Refusal::NotPaid),
        Paid if booking.has_departed(now) => Err(Refusal::Departed),
        Paid => {
            ensure_not_boarded(booking, now)?;
            match booking.is_disrupted() {
                true => Ok(RescheduleCause::Disruption),
                false => Ok(RescheduleCause::Choice),
            }
        }
        // Its sailing was cancelled. A booking that was free of charge is `cancelled` and may be
        // rescheduled as well. What a chargeback has taken does not pay for another journey.
        RefundPending | Cancelled
            if booking.is_called_off && booking.was_paid && booking.gone == Rupiah::ZERO =>
        {
            Ok(RescheduleCause::Disruption)
        }
        Completed => Err(Refusal::Departed),
        status @ (Expired | Cancelled | RefundPending | Refunded) => Err(over(status)),
    }
}

/// The fee of a reschedule. A guest who chooses to move pays it, by the policy; nobody else does.
pub fn reschedule_fee(
    booking: &BookingState,
    actor: Actor,
    cause: RescheduleCause,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<Rupiah, Refusal> {
    match (cause, actor) {
        (RescheduleCause::Choice, Actor::Guest) => {
            let percent = fee_percent(policy, booking.departure_at, now);
            Ok(percent_of(booking.total, percent.ok_or(Refusal::TooLate)?))
        }
        _ => Ok(Rupiah::ZERO),
    }
}

/// What a reschedule now costs beside the difference of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescheduleOffer {
    pub fee: Rupiah,
    /// Until when it stays so, if nothing else happens; `None`: without an end.
    pub until: Option<DateTime<Utc>>,
}

/// What [`rescheduling`] and [`reschedule_fee`] decide for this actor now, and until when.
pub fn reschedule_offer(
    booking: &BookingState,
    actor: Actor,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<RescheduleOffer, Refusal> {
    let cause = rescheduling(booking, now)?;
    let fee = reschedule_fee(booking, actor, cause, policy, now)?;
    // A booking whose sailing was cancelled has no departure to wait for.
    if booking.status != BookingStatus::Paid {
        return Ok(RescheduleOffer { fee, until: None });
    }
    let changes_at = step_end(policy, booking.departure_at, now, |later| {
        reschedule_fee(booking, actor, cause, policy, later) != Ok(fee)
    });
    // Check-in and the manifest bind whoever reschedules.
    let last = booking.guest_leaves_before();
    Ok(RescheduleOffer { fee, until: Some(changes_at.map_or(last, |at| at.min(last))) })
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::bookings::rules::samples::{any_actor, any_state, at_noon, booking};

    const FEES: [(u32, u8); 3] = [(48, 0), (12, 10), (2, 25)];

    #[test]
    fn who_may_reschedule() {
        use BookingStatus::*;
        let of = |status| rescheduling(&booking(status), at_noon());
        assert_eq!(of(Paid), Ok(RescheduleCause::Choice));
        assert_eq!(of(PendingPayment), Err(Refusal::NotPaid));
        assert_eq!(of(Completed), Err(Refusal::Departed));
        assert_eq!(of(Expired), Err(Refusal::Expired));
        for over in [Cancelled, RefundPending, Refunded] {
            assert_eq!(of(over), Err(Refusal::AlreadyCancelled));
        }
        for called_off in [Cancelled, RefundPending] {
            let state = BookingState { is_called_off: true, ..booking(called_off) };
            assert_eq!(rescheduling(&state, at_noon()), Ok(RescheduleCause::Disruption));
            let unpaid = BookingState { was_paid: false, ..state };
            assert_eq!(rescheduling(&unpaid, at_noon()), Err(Refusal::AlreadyCancelled));
        }
    }

    proptest! {
        #[test]
        fn an_offer_is_what_happens_and_holds_until_it_ends(
            booking in any_state(), actor in any_actor(), share in 0.0_f64..1.0,
        ) {
            let (now, tick) = (at_noon(), TimeDelta::seconds(1));
            let fee_at = |at| {
                let cause = rescheduling(&booking, at)?;
                reschedule_fee(&booking, actor, cause, &FEES, at)
            };
            let offer = reschedule_offer(&booking, actor, &FEES, now);
            prop_assert_eq!(offer.map(|offer| offer.fee), fee_at(now));
            if let Ok(RescheduleOffer { fee, until: Some(until) }) = offer {
                let part = ((until - now).num_seconds() as f64 * share) as i64;
                prop_assert_eq!(fee_at(now + TimeDelta::seconds(part)), Ok(fee));
                prop_assert!(fee_at(until + tick) != Ok(fee));
            }
        }
    }
}
