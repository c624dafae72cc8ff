//! Pure rules of schedules: due days, periods and the next settlement.

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

/// The due day that the schedule settles today, unless it has settled it: `last_run` is the last due
/// day that it has settled.
pub fn unsettled_due(
    configuration: &SettlementConfiguration,
    last_run: Option<NaiveDate>,
    today: NaiveDate,
) -> Option<NaiveDate> {
    last_due(configuration, today).filter(|due| last_run.is_none_or(|last| last < *due))
}

/// The next settlement of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextSettlement {
    /// The day on which the schedule settles.
    pub on: NaiveDate,
    /// The last day of departure that is included.
    pub until: NaiveDate,
}

/// Months have due days at most so many days apart.
const LONGEST_PERIOD: usize = 31;

/// `is_owed`: whether the partner has open dues. The schedule passes over partners without any, so a
/// due day up to today that it has not settled is settled today only with some.
pub fn next_settlement(
    configuration: &SettlementConfiguration,
    last_run: Option<NaiveDate>,
    is_owed: bool,
    today: NaiveDate,
) -> Option<NextSettlement> {
    let settled_on = |day: NaiveDate| {
        let due = unsettled_due(configuration, last_run, day)?;
        let is_settled = if day == today { is_owed } else { due == day };
        is_settled.then(|| NextSettlement { on: day, until: period(configuration, due).1 })
    };
    today.iter_days().take(1 + LONGEST_PERIOD).find_map(settled_on)
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

    #[test]
    fn the_next_settlement_is_on_the_next_due_day() {
        let mut weekly = agreed(Schedule::Weekly, Some(1), 2);
        weekly.scheduled_on = Some(date("2026-11-11"));
        let next = |configuration: &SettlementConfiguration, last_run, is_owed, today| {
            let last_run: Option<&str> = last_run;
            next_settlement(configuration, last_run.map(date), is_owed, date(today))
        };
        let monday = |on, until| Some(NextSettlement { on: date(on), until: date(until) });
        let first = monday("2026-11-16", "2026-11-13");
        let second = monday("2026-11-23", "2026-11-20");
        // Neither the Monday before the schedule was chosen nor the present one counts twice.
        assert_eq!(next(&weekly, None, true, "2026-11-15"), first);
        assert_eq!(next(&weekly, None, true, "2026-11-16"), first);
        assert_eq!(next(&weekly, Some("2026-11-16"), true, "2026-11-16"), second);
        // Nothing is owed on the due day.
        assert_eq!(next(&weekly, None, false, "2026-11-16"), second);
        assert_eq!(next(&weekly, None, false, "2026-11-18"), second);
        // The service was down on the due day.
        let late = monday("2026-11-18", "2026-11-13");
        assert_eq!(next(&weekly, None, true, "2026-11-18"), late);

        let mut monthly = agreed(Schedule::Monthly, Some(28), 0);
        monthly.scheduled_on = Some(date("2026-12-28"));
        let in_a_month = monday("2027-01-28", "2027-01-27");
        assert_eq!(next(&monthly, None, true, "2026-12-28"), in_a_month);
        assert_eq!(next(&agreed(Schedule::Manual, None, 0), None, true, "2026-12-28"), None);
    }

    /// What the schedule does on a day: the due day that it settles. Something is owed.
    fn runs(
        configuration: &SettlementConfiguration,
        last_run: &mut Option<NaiveDate>,
        today: NaiveDate,
    ) -> Option<NaiveDate> {
        let due = unsettled_due(configuration, *last_run, today)?;
        *last_run = Some(due);
        Some(due)
    }

    proptest! {
        #[test]
        fn the_schedule_settles_on_the_announced_day(
            schedule in 0..3_usize, day in 1..=28_i32, hold in 0..60_i32, chosen in 0..400_u64,
            waited in 0..90_u64, last_run in proptest::option::of(0..90_u64), is_owed: bool,
        ) {
            let schedule = [Schedule::Daily, Schedule::Weekly, Schedule::Monthly][schedule];
            let day = match schedule {
                Schedule::Weekly => Some(1 + day % 7),
                Schedule::Monthly => Some(day),
                _ => None,
            };
            let mut configuration = agreed(schedule, day, hold);
            let chosen = date("2024-01-01") + Days::new(chosen);
            configuration.scheduled_on = Some(chosen);
            let today = chosen + Days::new(waited);
            // The schedule has run on some day until today, or never.
            let run_on = last_run.map(|days| chosen + Days::new(days)).filter(|day| *day <= today);
            let mut last_run = None;
            if let Some(day) = run_on {
                runs(&configuration, &mut last_run, day);
            }
            let announced = next_settlement(&configuration, last_run, is_owed, today).unwrap();

            // Something is owed from today on, or from tomorrow on; what is owed then is of a
            // departure that a missed due day does not include.
            let mut first = None;
            for day in today.iter_days().take(70) {
                let missed = last_due(&configuration, day).is_some_and(|due| due < day);
                if !is_owed && (day == today || missed) {
                    continue;
                }
                if let Some(due) = runs(&configuration, &mut last_run, day) {
                    first = Some(NextSettlement { on: day, until: period(&configuration, due).1 });
                    break;
                }
            }
            prop_assert_eq!(Some(announced), first);
        }

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
