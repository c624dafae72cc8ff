//! When a record may be erased. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use crate::bookings::BookingStatus;

/// A provider can still report a payment of an unpaid booking for so long after its hold ended.
const LATE_PAYMENT: TimeDelta = TimeDelta::days(1);
/// Limits of the time until a record that may not be erased yet is checked again.
const MIN_RECHECK: TimeDelta = TimeDelta::hours(1);
const MAX_RECHECK: TimeDelta = TimeDelta::days(1);

/// Until when a booking must have been over for its personal data to be erased now; `None` if it is
/// never erased.
pub fn kept_until(days: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (days > 0).then(|| now - TimeDelta::days(days.into()))
}

/// What decides whether a booking is over.
#[derive(Clone, Copy, Debug)]
pub struct BookingState {
    pub status: BookingStatus,
    pub arrival_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub was_paid: bool,
    /// An open review, a refund, an excess or a difference that is owed, or a pending reschedule.
    pub owes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureState {
    Over,
    /// Not over; look again then.
    CheckAgainAt(DateTime<Utc>),
}

/// A booking is over when the journey is, or will not take place, and nobody owes anything for it.
pub fn erasure_state(booking: BookingState, now: DateTime<Utc>) -> ErasureState {
    use BookingStatus::{
        Cancelled, Completed, Expired, Paid, PendingPayment, RefundPending, Refunded,
    };
    let over_at = match booking.status {
        Completed | Refunded => now,
        Expired => booking.expires_at + LATE_PAYMENT,
        Cancelled if !booking.was_paid => booking.expires_at + LATE_PAYMENT,
        Cancelled => now,
        Paid => booking.arrival_at.max(now + MIN_RECHECK),
        PendingPayment => booking.expires_at.max(now + MIN_RECHECK),
        RefundPending => now + MIN_RECHECK,
    };
    match over_at <= now && !booking.owes {
        true => ErasureState::Over,
        false => ErasureState::CheckAgainAt(over_at.clamp(now + MIN_RECHECK, now + MAX_RECHECK)),
    }
}

/// When to look again at a partner or reseller that has duties.
pub fn next_account_check(now: DateTime<Utc>) -> DateTime<Utc> {
    now + MIN_RECHECK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booking(status: BookingStatus, was_paid: bool, owes: bool) -> BookingState {
        let at = |text: &str| text.parse().unwrap();
        BookingState {
            status,
            arrival_at: at("2026-11-20T00:00:00Z"),
            expires_at: at("2026-11-15T03:30:00Z"),
            was_paid,
            owes,
        }
    }

    #[test]
    fn nothing_is_erased_before_it_is_over() {
        use BookingStatus::*;
        let now: DateTime<Utc> = "2026-11-15T04:00:00Z".parse().unwrap();
        let later = now + TimeDelta::days(2);
        let is_over = |status, was_paid, owes, now| {
            erasure_state(booking(status, was_paid, owes), now) == ErasureState::Over
        };
        for status in [PendingPayment, Paid, RefundPending] {
            assert!(!is_over(status, true, false, later + TimeDelta::days(30)), "{status}");
        }
        for status in [Completed, Refunded] {
            assert!(is_over(status, true, false, now), "{status}");
            assert!(!is_over(status, true, true, now), "{status}");
        }
        assert!(is_over(Cancelled, true, false, now));
        for status in [Cancelled, Expired] {
            assert!(!is_over(status, false, false, now), "a late payment can come");
            assert!(is_over(status, false, false, later));
        }
    }

    #[test]
    fn what_waits_is_looked_at_within_a_day() {
        let now: DateTime<Utc> = "2026-11-15T04:00:00Z".parse().unwrap();
        let paid = booking(BookingStatus::Paid, true, false);
        assert_eq!(erasure_state(paid, now), ErasureState::CheckAgainAt(now + MAX_RECHECK));
        let owing = booking(BookingStatus::Completed, true, true);
        assert_eq!(erasure_state(owing, now), ErasureState::CheckAgainAt(now + MIN_RECHECK));
    }

    #[test]
    fn no_days_keep_for_ever() {
        let now: DateTime<Utc> = "2026-11-15T04:00:00Z".parse().unwrap();
        assert_eq!(kept_until(0, now), None);
        assert_eq!(kept_until(2, now), Some(now - TimeDelta::days(2)));
    }
}
