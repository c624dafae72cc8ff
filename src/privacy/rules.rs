//! When something is over, so that its personal data can be erased. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use crate::bookings::BookingStatus;

/// A provider can still report a payment of an unpaid booking for so long after its hold ended.
const LATE_PAYMENT: TimeDelta = TimeDelta::days(1);
/// How soon, and how late, to look again at something that is not over.
const SOONEST: TimeDelta = TimeDelta::hours(1);
const LATEST: TimeDelta = TimeDelta::days(1);

/// Until when a booking must have been over for its personal data to be erased now; `None` if it is
/// kept for ever.
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
pub enum Standing {
    Over,
    /// Not over; look again then.
    LookAgainAt(DateTime<Utc>),
}

/// A booking is over when the journey is, or will not take place, and nobody owes anything for it.
pub fn standing(booking: BookingState, now: DateTime<Utc>) -> Standing {
    use BookingStatus::{
        Cancelled, Completed, Expired, Paid, PendingPayment, RefundPending, Refunded,
    };
    let over_at = match booking.status {
        Completed | Refunded => now,
        Expired => booking.expires_at + LATE_PAYMENT,
        Cancelled if !booking.was_paid => booking.expires_at + LATE_PAYMENT,
        Cancelled => now,
        Paid => booking.arrival_at.max(now + SOONEST),
        PendingPayment => booking.expires_at.max(now + SOONEST),
        RefundPending => now + SOONEST,
    };
    match over_at <= now && !booking.owes {
        true => Standing::Over,
        false => Standing::LookAgainAt(over_at.clamp(now + SOONEST, now + LATEST)),
    }
}

/// When to look again at a partner or reseller that has duties.
pub fn account_look_again(now: DateTime<Utc>) -> DateTime<Utc> {
    now + SOONEST
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
            standing(booking(status, was_paid, owes), now) == Standing::Over
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
        assert_eq!(standing(paid, now), Standing::LookAgainAt(now + LATEST));
        let owing = booking(BookingStatus::Completed, true, true);
        assert_eq!(standing(owing, now), Standing::LookAgainAt(now + SOONEST));
    }

    #[test]
    fn no_days_keep_for_ever() {
        let now: DateTime<Utc> = "2026-11-15T04:00:00Z".parse().unwrap();
        assert_eq!(kept_until(0, now), None);
        assert_eq!(kept_until(2, now), Some(now - TimeDelta::days(2)));
    }
}
