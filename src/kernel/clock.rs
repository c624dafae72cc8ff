//! The clock of the service. Time is passed as an argument and never read from the database.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SubsecRound, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    /// For tests: microseconds since 1970, changed by `advance` only.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn manual(at: DateTime<Utc>) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(at.timestamp_micros())))
    }

    /// The current time in microseconds, the precision of both engines.
    pub fn now(&self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now().trunc_subsecs(6),
            Self::Manual(micros) => {
                DateTime::from_timestamp_micros(micros.load(Ordering::SeqCst)).unwrap_or_default()
            }
        }
    }

    /// Advances a manual clock; no effect on the system clock.
    pub fn advance(&self, by: TimeDelta) {
        if let Self::Manual(micros) = self {
            micros.fetch_add(by.num_microseconds().unwrap_or(0), Ordering::SeqCst);
        }
    }
}

/// Start of a day in a time zone.
pub fn midnight(date: NaiveDate, zone: Tz) -> DateTime<Utc> {
    let local = date.and_time(NaiveTime::MIN);
    // If the zone skips midnight on that day (none in Indonesia does), use midnight in UTC.
    let start = zone.from_local_datetime(&local).earliest();
    start.map_or_else(|| local.and_utc(), |start| start.with_timezone(&Utc))
}

/// Start of the current month.
pub fn month_start(now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
    let today = now.with_timezone(&zone).date_naive();
    midnight(today.with_day(1).unwrap_or(today), zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_starts_at_local_midnight() {
        let start = |now: &str, zone| month_start(now.parse().unwrap(), zone).to_rfc3339();
        let jakarta = Tz::Asia__Jakarta;
        assert_eq!(start("2026-11-15T03:00:00Z", jakarta), "2026-10-31T17:00:00+00:00");
        assert_eq!(start("2026-10-31T17:00:00Z", jakarta), "2026-10-31T17:00:00+00:00");
        assert_eq!(start("2026-10-31T16:59:59Z", jakarta), "2026-09-30T17:00:00+00:00");
        assert_eq!(start("2026-12-31T15:30:00Z", Tz::Asia__Jayapura), "2026-12-31T15:00:00+00:00");
    }
}
