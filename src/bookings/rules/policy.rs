//! Policies of refunds and fees: steps of hours before departure, each with a percentage.

use chrono::{DateTime, TimeDelta, Utc};

use crate::kernel::money::{Rate, Rupiah};

/// The percentage of the first step whose hours before departure are reached. Steps are sorted by
/// hours, descending.
fn policy_step(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<i32> {
    let ahead = departure_at - now;
    let step = policy.iter().find(|(hours, _)| ahead >= TimeDelta::hours((*hours).into()));
    step.map(|(_, percent)| i32::from(*percent))
}

/// The refund of a cancellation by the booker, in percent.
pub fn refund_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> i32 {
    policy_step(policy, departure_at, now).unwrap_or(0)
}

/// The fee of a reschedule by choice, in percent; `None` if it is too late.
pub fn fee_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<i32> {
    policy_step(policy, departure_at, now)
}

/// The end of the first step of a policy that ends after now and changes something.
pub(super) fn step_end(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
    changes: impl Fn(DateTime<Utc>) -> bool,
) -> Option<DateTime<Utc>> {
    let ends = policy.iter().map(|(hours, _)| departure_at - TimeDelta::hours((*hours).into()));
    // A step includes its last moment.
    ends.filter(|end| *end >= now).find(|end| changes(*end + TimeDelta::microseconds(1)))
}

/// Rounded down.
pub fn percent_of(total: Rupiah, percent: i32) -> Rupiah {
    Rate::basis_points(percent * 100).unwrap_or_default().floor_of(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_follows_the_policy_to_the_second() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let policy = [(24, 100), (6, 50)];
        let at = |ahead: TimeDelta| {
            percent_of(Rupiah(99_999), refund_percent(&policy, departure, departure - ahead)).0
        };
        assert_eq!(at(TimeDelta::hours(24)), 99_999);
        assert_eq!(at(TimeDelta::hours(24) - TimeDelta::seconds(1)), 49_999, "rounded down");
        assert_eq!(at(TimeDelta::hours(6)), 49_999);
        assert_eq!(at(TimeDelta::hours(6) - TimeDelta::seconds(1)), 0);
        assert_eq!(at(-TimeDelta::hours(1)), 0);
        assert_eq!(refund_percent(&[], departure, departure), 0);
        assert_eq!(fee_percent(&[(6, 10)], departure, departure), None, "too late to change");
        assert_eq!(fee_percent(&[(0, 0)], departure, departure), Some(0));
    }
}
