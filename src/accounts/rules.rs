//! Pure rules of accounts.

use chrono::{DateTime, Datelike, Utc};
use chrono_tz::Tz;

use crate::kernel::clock::midnight;

/// Midnight of the first of this month, where the service is.
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
