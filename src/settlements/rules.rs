//! Pure rules of schedules: due days and periods.

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::partners::settlement_configuration::{Schedule, SettlementConfiguration};

/// The latest due day up to today; `None` before the schedule was set.
pub fn last_due(configuration: &SettlementConfiguration, today: NaiveDate) -> Option<NaiveDate> {
    let day = configuration.day.and_then(|day| u32::try_from(day).ok()).unwrap_or(1);
    let due = match configuration.schedule {
        Schedule::Manual => return None,
        Schedule::Daily => today,
        Schedule::Weekly => {
            let past = (today.weekday().number_from_monday() + 7 - day) % 7;
            today - Days::new(past.into())
        }
        Schedule::Monthly => {
            let this_month = today.with_day(day)?;
            if this_month <= today { this_month } else { this_month - Months::new(1) }
        }
    };
    configuration.scheduled_on.is_none_or(|since| due > since).then_some(due)
}

/// First and last day of departure that a due day covers: its period, shifted back by the hold
/// days.
pub fn period(configuration: &SettlementConfiguration, due: NaiveDate) -> (NaiveDate, NaiveDate) {
    let held = Days::new(u64::try_from(configuration.hold_days).unwrap_or(0));
    let start = match configuration.schedule {
        Schedule::Manual | Schedule::Daily => due - Days::new(1),
        Schedule::Weekly => due - Days::new(7),
        Schedule::Monthly => due - Months::new(1),
    };
    (start - held, due - Days::new(1) - held)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{kernel::money::Rupiah, partners::settlement_configuration::standard_commission};

    fn agreed(schedule: Schedule, day: Option<i32>, hold_days: i32) -> SettlementConfiguration {
        SettlementConfiguration {
            mitra_id: None,
            commission_rate: standard_commission(),
            resale_commission_rate: None,
            schedule,
            day,
            hold_days,
            minimum_amount: Rupiah::ZERO,
            inherited: Vec::new(),
            scheduled_on: None,
        }
    }

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn periods_are_as_written_on_the_calendar() {
        let weekly = agreed(Schedule::Weekly, Some(1), 0);
        // The 15th of November 2026 is a Sunday.
        assert_eq!(last_due(&weekly, date("2026-11-15")), Some(date("2026-11-09")));
        assert_eq!(last_due(&weekly, date("2026-11-16")), Some(date("2026-11-16")));
        let (start, end) = period(&weekly, date("2026-11-16"));
        assert_eq!((start, end), (date("2026-11-09"), date("2026-11-15")));

        let monthly = agreed(Schedule::Monthly, Some(28), 3);
        assert_eq!(last_due(&monthly, date("2027-01-05")), Some(date("2026-12-28")));
        let (start, end) = period(&monthly, date("2026-12-28"));
        assert_eq!((start, end), (date("2026-11-25"), date("2026-12-24")));

        let daily = agreed(Schedule::Daily, None, 1);
        assert_eq!(last_due(&daily, date("2026-03-01")), Some(date("2026-03-01")));
        let yesterday = date("2026-02-27");
        assert_eq!(period(&daily, date("2026-03-01")), (yesterday, yesterday));

        assert_eq!(last_due(&agreed(Schedule::Manual, None, 0), date("2026-03-01")), None);
    }

    #[test]
    fn a_new_schedule_waits_for_its_first_day() {
        let mut weekly = agreed(Schedule::Weekly, Some(1), 0);
        weekly.scheduled_on = Some(date("2026-11-11"));
        assert_eq!(last_due(&weekly, date("2026-11-15")), None);
        assert_eq!(last_due(&weekly, date("2026-11-16")), Some(date("2026-11-16")));
    }

    proptest! {
        #[test]
        fn each_period_begins_where_the_last_one_ended(
            schedule in 0..3_usize, day in 1..=28_i32, hold in 0..60_i32, at in 0..4_000_u64,
        ) {
            let schedule = [Schedule::Daily, Schedule::Weekly, Schedule::Monthly][schedule];
            let day = match schedule {
                Schedule::Weekly => Some(1 + day % 7),
                Schedule::Monthly => Some(day),
                _ => None,
            };
            let configuration = agreed(schedule, day, hold);
            let today = date("2024-01-01") + Days::new(at);
            let due = last_due(&configuration, today).unwrap();
            prop_assert!(due <= today && due > today - Days::new(31));
            let before = last_due(&configuration, due - Days::new(1)).unwrap();
            let (start, end) = period(&configuration, due);
            prop_assert!(start <= end);
            prop_assert_eq!(period(&configuration, before).1 + Days::new(1), start);
            prop_assert_eq!(last_due(&configuration, due), Some(due));
        }
    }
}
