//! Months, and the rule that nothing is posted into a closed one.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Serialize, Serializer};

use crate::kernel::{
    clock::midnight,
    db::Tx,
    error::{Error, Result},
    lang::text,
};

/// How long after its end a month can be closed: until then a transaction of its last day may still
/// be running.
const AFTER_ITS_END: TimeDelta = TimeDelta::hours(1);

/// The first year that the books know.
const FIRST_YEAR: i32 = 2000;

/// A calendar month, written `2026-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(NaiveDate);

impl Month {
    pub fn of(day: NaiveDate) -> Self {
        Self(day.with_day(1).unwrap_or(day))
    }

    pub fn first_day(self) -> NaiveDate {
        self.0
    }

    pub fn last_day(self) -> NaiveDate {
        self.next().0 - Days::new(1)
    }

    pub fn next(self) -> Self {
        Self(self.0 + Months::new(1))
    }

    pub fn previous(self) -> Self {
        Self(self.0 - Months::new(1))
    }

    /// Whether it ended at least an hour ago.
    pub fn can_be_closed(self, zone: Tz, now: DateTime<Utc>) -> bool {
        midnight(self.next().0, zone) + AFTER_ITS_END <= now
    }
}

impl FromStr for Month {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_written_well = text.len() == 7
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let first = is_written_well.then(|| format!("{text}-01").parse::<NaiveDate>().ok());
        let first = first.flatten().filter(|first| first.year() >= FIRST_YEAR);
        first.map(Self).ok_or(())
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m"))
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Locks the books: orders dated postings and the closing of months.
pub async fn lock(tx: &mut Tx) -> Result<()> {
    Ok(tx.lock("finance").await?)
}

/// The last closed month. Everything up to its end is closed.
pub async fn last_closed(tx: &mut Tx) -> Result<Option<Month>> {
    let month: Option<NaiveDate> = tx
        .sql("SELECT MAX(month) FROM finance_periods WHERE closed_at IS NOT NULL")
        .scalar()
        .await?;
    Ok(month.map(Month::of))
}

/// Locks the books and refuses a day in a closed month: 409 `period_closed`. The caller posts in the
/// same transaction.
pub async fn ensure_open(tx: &mut Tx, day: NaiveDate) -> Result<()> {
    lock(tx).await?;
    match last_closed(tx).await? {
        Some(closed) if Month::of(day) <= closed => Err(Error::conflict(
            "period_closed",
            "This month is closed.",
            "Bulan ini sudah ditutup.",
        )),
        _ => Ok(()),
    }
}

/// A day that something can be posted on: not in the future, not before the year 2000, in a month that
/// is open. `field` is the name of the day in the request.
pub async fn ensure_postable(
    tx: &mut Tx,
    field: &str,
    day: NaiveDate,
    now: DateTime<Utc>,
) -> Result<()> {
    if day > tx.date_of(now) {
        let message = text("This day is in the future.", "Tanggal ini belum tiba.");
        return Err(Error::field(field, "max", message));
    }
    if day.year() < FIRST_YEAR {
        let message = text("This day is before the year 2000.", "Tanggal ini sebelum tahun 2000.");
        return Err(Error::field(field, "min", message));
    }
    ensure_open(tx, day).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_written_in_one_way() {
        let month: Month = "2026-11".parse().unwrap();
        assert_eq!(month.to_string(), "2026-11");
        assert_eq!(month.last_day().to_string(), "2026-11-30");
        assert_eq!(month.next().previous(), month);
        for bad in ["2026-1", "2026-13", "2026-00", "1999-12", "2026-11-01", "+026-11", "20x6-11"] {
            assert!(bad.parse::<Month>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_month_can_be_closed_an_hour_after_its_end() {
        let october: Month = "2026-10".parse().unwrap();
        let at = |time: &str| october.can_be_closed(Tz::Asia__Jakarta, time.parse().unwrap());
        assert!(!at("2026-10-31T17:59:59Z"));
        assert!(at("2026-10-31T18:00:00Z"));
    }
}
