//! Pure rules of schedules: dates, times and weekdays of a route become departures in UTC.

use chrono::{DateTime, Datelike, NaiveDate, TimeZone, Utc};
use chrono_tz::Tz;

use super::model::{RouteTime, ScheduleType, TimeOfDay, Weekday};
use crate::kernel::money::Rupiah;

/// Times and price of a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    pub day: NaiveDate,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
}

pub struct Plan<'a> {
    pub schedule_type: ScheduleType,
    pub start: NaiveDate,
    pub end: NaiveDate,
    /// Of the times of departure.
    pub zone: Tz,
    pub arrival_zone: Tz,
    pub times: &'a [RouteTime],
    pub price: Rupiah,
}

/// All departures of the plan, in order.
pub fn departures(plan: &Plan<'_>) -> Vec<Departure> {
    let days = plan.start.iter_days().take_while(|day| *day <= plan.end);
    let mut all: Vec<_> = days.flat_map(|day| on_day(plan, day)).collect();
    all.sort_by_key(|departure| (departure.departure_at, departure.arrival_at));
    all
}

fn on_day<'a>(plan: &'a Plan<'_>, day: NaiveDate) -> impl Iterator<Item = Departure> + 'a {
    let today = Weekday::ALL[day.weekday().num_days_from_monday() as usize];
    let sails = move |time: &&RouteTime| match plan.schedule_type {
        ScheduleType::Weekly => time.days.as_ref().is_some_and(|days| days.contains(&today)),
        ScheduleType::Once | ScheduleType::Daily => true,
    };
    plan.times.iter().filter(sails).filter_map(move |time| {
        let span = span(day, time.departure_time, time.arrival_time, plan.zone, plan.arrival_zone);
        let (departure_at, arrival_at) = span?;
        let price = time.price.unwrap_or(plan.price);
        Some(Departure { day, departure_at, arrival_at, price })
    })
}

/// Departure on that day, and the next time at which a clock at the harbour of arrival shows the
/// time of arrival. In one zone, an arrival that is not later than the departure is on the next day.
pub fn span(
    day: NaiveDate,
    departs: TimeOfDay,
    arrives: TimeOfDay,
    zone: Tz,
    arrival_zone: Tz,
) -> Option<Span> {
    let instant = |zone: Tz, day: NaiveDate, time: TimeOfDay| {
        let local = zone.from_local_datetime(&day.and_time(time.time())).earliest();
        local.map(|local| local.with_timezone(&Utc))
    };
    let departure_at = instant(zone, day, departs)?;
    let first_day = departure_at.with_timezone(&arrival_zone).date_naive();
    let arrival_at = match instant(arrival_zone, first_day, arrives)? {
        same_day if same_day > departure_at => same_day,
        _ => instant(arrival_zone, first_day.succ_opt()?, arrives)?,
    };
    Some((departure_at, arrival_at))
}

/// Calendar days from departure to arrival, each in the zone of its harbour.
pub fn days_to_arrival(span: Span, zone: Tz, arrival_zone: Tz) -> i64 {
    let day = |at: DateTime<Utc>, zone| at.with_timezone(&zone).date_naive();
    (day(span.1, arrival_zone) - day(span.0, zone)).num_days()
}

/// The span of a sailing on `day` with another departure or arrival. Without a new arrival it takes
/// as long as before.
pub fn moved_span(
    day: NaiveDate,
    was: Span,
    departs: Option<TimeOfDay>,
    arrives: Option<TimeOfDay>,
    (zone, arrival_zone): (Tz, Tz),
) -> Option<Span> {
    let departs = departs.unwrap_or_else(|| TimeOfDay::local(was.0, zone));
    let moved = span(day, departs, arrives.unwrap_or(departs), zone, arrival_zone)?;
    Some(match arrives {
        Some(_) => moved,
        None => (moved.0, moved.0 + (was.1 - was.0)),
    })
}

/// Time of a sailing, from departure (included) to arrival (excluded).
pub type Span = (DateTime<Utc>, DateTime<Utc>);

/// The first planned departure that overlaps another planned or existing one, and that one. Both
/// lists must be sorted by departure.
pub fn clash(planned: &[Departure], taken: &[Span]) -> Option<(Span, Span)> {
    let spans: Vec<Span> = planned.iter().map(|d| (d.departure_at, d.arrival_at)).collect();
    let within = spans.windows(2).find(|pair| pair[1].0 < pair[0].1).map(|p| (p[1], p[0]));
    let mut rest = taken.iter().peekable();
    for span in &spans {
        while rest.next_if(|there| there.1 <= span.0).is_some() {}
        let between = rest.peek().filter(|there| there.0 < span.1);
        if let Some(there) = between
            && within.is_none_or(|(first, _)| span.0 < first.0)
        {
            return Some((*span, **there));
        }
    }
    within
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::ids;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn time(departs: &str, arrives: &str, days: Option<Vec<Weekday>>) -> RouteTime {
        RouteTime {
            id: ids::fresh(),
            departure_time: departs.to_owned().try_into().unwrap(),
            arrival_time: arrives.to_owned().try_into().unwrap(),
            days,
            price: None,
        }
    }

    fn plan<'a>(
        kind: ScheduleType,
        from: &str,
        to: &str,
        zone: Tz,
        times: &'a [RouteTime],
    ) -> Plan<'a> {
        let (start, end) = (date(from), date(to));
        let (arrival_zone, price) = (zone, Rupiah(150_000));
        Plan { schedule_type: kind, start, end, zone, arrival_zone, times, price }
    }

    fn instants(plan: &Plan<'_>) -> Vec<String> {
        departures(plan).iter().map(|d| d.departure_at.format("%m-%dT%H:%M").to_string()).collect()
    }

    #[test]
    fn each_zone_is_right_to_the_minute() {
        let times = [time("00:30", "02:00", None)];
        for (zone, expected) in [
            (Tz::Asia__Jakarta, "12-31T17:30"),
            (Tz::Asia__Makassar, "12-31T16:30"),
            (Tz::Asia__Jayapura, "12-31T15:30"),
        ] {
            let plan = plan(ScheduleType::Once, "2027-01-01", "2027-01-01", zone, &times);
            assert_eq!(instants(&plan), [expected], "{zone}");
            assert_eq!(departures(&plan)[0].day, date("2027-01-01"), "the day where it departs");
        }
    }

    #[test]
    fn an_arrival_is_some_days_after_the_departure_by_the_calendars_of_both_harbours() {
        let days = |departs: &str, arrives: &str, arrival_zone| {
            let time = time(departs, arrives, None);
            let (zone, day) = (Tz::Asia__Jakarta, date("2026-11-16"));
            let span = span(day, time.departure_time, time.arrival_time, zone, arrival_zone);
            days_to_arrival(span.unwrap(), zone, arrival_zone)
        };
        let (here, east) = (Tz::Asia__Jakarta, Tz::Asia__Jayapura);
        assert_eq!(days("08:00", "09:00", here), 0);
        assert_eq!(days("08:00", "08:00", here), 1);
        assert_eq!(days("23:30", "01:00", here), 1);
        // At 21:30 it is 23:30 in the east.
        assert_eq!(days("21:30", "23:45", east), 0);
        assert_eq!(days("21:30", "00:30", east), 1);
        assert_eq!(days("22:30", "00:45", east), 1);
        assert_eq!(days("22:30", "00:15", east), 2);
    }

    #[test]
    fn a_route_runs_over_new_year_and_a_leap_day() {
        let times = [time("08:00", "09:00", None)];
        let jakarta = Tz::Asia__Jakarta;
        let year = plan(ScheduleType::Daily, "2026-12-30", "2027-01-02", jakarta, &times);
        assert_eq!(instants(&year), ["12-30T01:00", "12-31T01:00", "01-01T01:00", "01-02T01:00"]);
        let leap = plan(ScheduleType::Daily, "2028-02-28", "2028-03-01", jakarta, &times);
        assert_eq!(departures(&leap).len(), 3);
    }

    #[test]
    fn a_weekly_route_sails_on_its_days() {
        let days = |days: &[Weekday]| Some(days.to_vec());
        let times = [
            time("08:00", "09:00", days(&[Weekday::Mon, Weekday::Fri])),
            time("14:00", "15:00", days(&[Weekday::Sun])),
        ];
        // 2026-11-16 is a Monday.
        let week =
            plan(ScheduleType::Weekly, "2026-11-16", "2026-11-22", Tz::Asia__Jakarta, &times);
        assert_eq!(instants(&week), ["11-16T01:00", "11-20T01:00", "11-22T07:00"]);
    }

    #[test]
    fn an_arrival_that_is_not_later_is_on_the_next_day() {
        let hours = |departs, arrives| {
            let times = [time(departs, arrives, None)];
            let zone = Tz::Asia__Makassar;
            let plan = plan(ScheduleType::Once, "2026-12-31", "2026-12-31", zone, &times);
            let only = departures(&plan)[0];
            (only.arrival_at - only.departure_at).num_minutes()
        };
        assert_eq!(hours("22:00", "23:30"), 90);
        assert_eq!(hours("23:30", "00:15"), 45);
        assert_eq!(hours("10:00", "10:00"), 24 * 60);
    }

    #[test]
    fn an_arrival_is_local_to_its_harbour() {
        let (wib, wita, wit) = (Tz::Asia__Jakarta, Tz::Asia__Makassar, Tz::Asia__Jayapura);
        let minutes = |departs: &str, arrives: &str, zone, arrival_zone| {
            let time = |text: &str| text.to_owned().try_into().unwrap();
            let day = date("2026-12-31");
            let (start, end) = span(day, time(departs), time(arrives), zone, arrival_zone).unwrap();
            assert_eq!(start.with_timezone(&zone).date_naive(), day);
            (end - start).num_minutes()
        };
        assert_eq!(minutes("08:00", "09:45", wib, wita), 45, "eastwards");
        assert_eq!(minutes("08:00", "07:45", wita, wib), 45, "westwards, an earlier clock");
        assert_eq!(minutes("22:30", "00:15", wib, wita), 45, "over midnight");
        assert_eq!(minutes("00:15", "23:45", wita, wib), 30, "into the day before");
        assert_eq!(minutes("08:00", "07:00", wita, wib), 24 * 60, "not at once");
        assert_eq!(minutes("08:00", "07:00", wit, wib), 60);
    }

    fn overlap(a: Span, b: Span) -> bool {
        a.0 < b.1 && b.0 < a.1
    }

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minute * 60, 0).unwrap()
    }

    proptest! {
        #[test]
        fn there_is_one_departure_for_each_day_and_time(
            days in 1_i64..=366, minutes in proptest::collection::btree_set(0_u32..1_440, 1..48),
        ) {
            let times: Vec<_> = minutes.iter().map(|m| {
                let text = |m: u32| format!("{:02}:{:02}", m / 60, m % 60);
                time(&text(*m), &text((m + 1) % 1_440), None)
            }).collect();
            let end = date("2026-11-15") + chrono::Days::new(days as u64 - 1);
            let plan = plan(
                ScheduleType::Daily, "2026-11-15", &end.to_string(), Tz::Asia__Jakarta, &times,
            );
            let all = departures(&plan);
            prop_assert_eq!(all.len() as i64, days * minutes.len() as i64);
            prop_assert!(all.is_sorted_by_key(|d| d.departure_at));
            let minute = chrono::TimeDelta::minutes(1);
            prop_assert!(all.iter().all(|d| d.arrival_at - d.departure_at == minute));
            prop_assert!(clash(&all, &[]).is_none(), "one-minute trips at different minutes");
        }

        /// Against comparing everything with everything.
        #[test]
        fn a_clash_is_found_when_there_is_one(
            planned in proptest::collection::vec((0_i64..200, 1_i64..20), 0..12),
            free in proptest::collection::vec((0_i64..30, 1_i64..20), 0..12),
        ) {
            let mut planned: Vec<_> = planned.iter().map(|(start, length)| Departure {
                day: date("2026-11-15"),
                departure_at: at(*start),
                arrival_at: at(start + length),
                price: Rupiah(1),
            }).collect();
            planned.sort_by_key(|d| (d.departure_at, d.arrival_at));
            // What is there already does not overlap itself.
            let mut minute = 0;
            let taken: Vec<Span> = free.iter().map(|(pause, length)| {
                let start = minute + pause;
                minute = start + length;
                (at(start), at(minute))
            }).collect();
            let spans: Vec<Span> = planned.iter().map(|d| (d.departure_at, d.arrival_at)).collect();
            let among = spans.iter().enumerate()
                .any(|(i, a)| spans[..i].iter().any(|b| overlap(*a, *b)));
            let between = spans.iter().any(|a| taken.iter().any(|b| overlap(*a, *b)));
            let found = clash(&planned, &taken);
            prop_assert_eq!(found.is_some(), among || between);
            if let Some((a, b)) = found {
                prop_assert!(overlap(a, b));
            }
        }
    }
}
