//! Pure rules of windows, buckets and percentages.

use chrono::{Datelike, Days, Months, NaiveDate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::ledger::{Account, LedgerSums};

crate::string_enum! {
    pub enum PeriodType {
        Monthly = "Bulanan",
        Quarterly = "Kuartalan",
        Yearly = "Tahunan",
        Custom = "Custom",
    }
}

crate::string_enum! {
    pub enum ComparisonMode {
        Month = "Month-over-month",
        Quarter = "Quarter-over-Quarter",
        Year = "Year-over-Year",
    }
}

impl ComparisonMode {
    fn months(self) -> Months {
        Months::new(match self {
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Year => 12,
        })
    }
}

/// A range of days, both included. Empty if it ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ReportWindow")]
pub struct Window {
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
}

/// Maximum length of a custom window.
pub const LONGEST: Months = Months::new(5 * 12);
/// Maximum length of a window shown by days.
const BY_DAYS: i64 = 62;

/// First day of the month.
pub fn month_of(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

impl Window {
    pub fn new(start_date: NaiveDate, end_date: NaiveDate) -> Self {
        Self { start_date, end_date }
    }

    /// A window of `months` calendar months, starting with that of `first`.
    fn calendar(first: NaiveDate, months: u32) -> Self {
        Self::new(first, first + Months::new(months) - Days::new(1))
    }

    pub fn month(day: NaiveDate) -> Self {
        Self::calendar(month_of(day), 1)
    }

    /// The last `days` days up to and including `day`.
    pub fn days_until(day: NaiveDate, days: u64) -> Self {
        Self::new(day - Days::new(days.saturating_sub(1)), day)
    }

    /// The calendar month, quarter or year that contains `start`, or the given days.
    pub fn of(kind: PeriodType, start: NaiveDate, end: Option<NaiveDate>) -> Self {
        let month = month_of(start);
        match kind {
            PeriodType::Monthly => Self::calendar(month, 1),
            PeriodType::Quarterly => Self::calendar(month - Months::new(month.month0() % 3), 3),
            PeriodType::Yearly => Self::calendar(month - Months::new(month.month0()), 12),
            PeriodType::Custom => Self::new(start, end.unwrap_or(start)),
        }
    }

    pub fn previous(self, mode: ComparisonMode) -> Self {
        let back = mode.months();
        let after = self.end_date + Days::new(1);
        Self::new(self.start_date - back, after - back - Days::new(1))
    }

    pub fn contains(self, day: NaiveDate) -> bool {
        (self.start_date..=self.end_date).contains(&day)
    }

    /// Splits into whole months and the days around them.
    pub fn whole_months(self) -> Cut {
        let day = Days::new(1);
        let first = match month_of(self.start_date) {
            month if month == self.start_date => month,
            month => month + Months::new(1),
        };
        let after = month_of(self.end_date + day);
        if first >= after {
            return self.days();
        }
        let head = Self::new(self.start_date, first - day);
        Cut { head, months: (first, after), tail: Self::new(after, self.end_date) }
    }

    /// Splits into days only.
    pub fn days(self) -> Cut {
        let after = self.end_date + Days::new(1);
        Cut { head: self, months: (after, after), tail: Self::new(after, self.end_date) }
    }

    /// Whether it is shown by days instead of months.
    pub fn is_short(self) -> bool {
        (self.end_date - self.start_date).num_days() < BY_DAYS
    }
}

/// A window split into parts, because monthly figures are fewer than daily ones.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Days before the first whole month.
    pub head: Window,
    /// First day of the first month and first day after the last one.
    pub months: (NaiveDate, NaiveDate),
    /// Days after the last whole month.
    pub tail: Window,
}

pub fn commission_earned(books: &LedgerSums) -> i64 {
    -books.debited(Account::CommissionRevenue).0
}

/// What the platform has earned, less what it has spent.
pub fn platform_income(books: &LedgerSums) -> i64 {
    use Account::{BankFees, GatewayFees, Losses, PromotionExpense, ResellerMargin};
    let costs = [PromotionExpense, ResellerMargin, GatewayFees, Losses, BankFees];
    commission_earned(books) - costs.map(|cost| books.debited(cost).0).iter().sum::<i64>()
}

/// Average, rounded half up.
pub fn average(sum: i64, count: i64) -> i64 {
    if count == 0 { 0 } else { (2 * sum + count).div_euclid(2 * count) }
}

/// A percentage with two decimals, stored in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(i64);

impl Percent {
    /// `part` as a percentage of `whole`; 0 if `whole` is 0.
    pub fn share(part: i64, whole: i64) -> Self {
        Self(if whole == 0 { 0 } else { hundredths(part, whole) })
    }

    /// Change from `previous` to `current`; `None` if `previous` is 0.
    pub fn change(current: i64, previous: i64) -> Option<Self> {
        (previous != 0).then(|| Self(hundredths(current - previous, previous.abs())))
    }

    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 100.0
    }
}

fn hundredths(part: i64, whole: i64) -> i64 {
    let (part, whole) = (i128::from(part), i128::from(whole));
    let rounded = (2 * part * 10_000 + whole).div_euclid(2 * whole);
    i64::try_from(rounded).unwrap_or(i64::MAX)
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 100 {
            0 => serializer.serialize_i64(self.0 / 100),
            _ => serializer.serialize_f64(self.as_f64()),
        }
    }
}

impl JsonSchema for Percent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "description": "Percent, at most two decimals." })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn window(text: &str) -> Window {
        let (start, end) = text.split_once("..").unwrap();
        Window::new(date(start), date(end))
    }

    #[test]
    fn windows_are_those_of_the_calendar() {
        let of = |kind, day: &str| Window::of(kind, date(day), None);
        let month = PeriodType::Monthly;
        assert_eq!(of(month, "2026-11-15"), window("2026-11-01..2026-11-30"));
        assert_eq!(of(month, "2028-02-29"), window("2028-02-01..2028-02-29"));
        let quarter = PeriodType::Quarterly;
        assert_eq!(of(quarter, "2026-12-31"), window("2026-10-01..2026-12-31"));
        assert_eq!(of(quarter, "2027-01-01"), window("2027-01-01..2027-03-31"));
        let year = PeriodType::Yearly;
        assert_eq!(of(year, "2028-02-29"), window("2028-01-01..2028-12-31"));
        let custom = Window::of(PeriodType::Custom, date("2026-01-31"), Some(date("2026-02-03")));
        assert_eq!(custom, window("2026-01-31..2026-02-03"));
    }

    #[test]
    fn the_previous_window_is_exactly_as_defined() {
        use ComparisonMode::*;
        for (current, mode, previous) in [
            ("2026-11-01..2026-11-30", Month, "2026-10-01..2026-10-31"),
            ("2026-03-01..2026-03-31", Month, "2026-02-01..2026-02-28"),
            ("2026-11-01..2026-11-30", Quarter, "2026-08-01..2026-08-31"),
            ("2028-02-01..2028-02-29", Year, "2027-02-01..2027-02-28"),
            ("2027-02-01..2027-02-28", Year, "2026-02-01..2026-02-28"),
            ("2029-02-01..2029-02-28", Year, "2028-02-01..2028-02-29"),
            // Over New Year.
            ("2027-01-01..2027-03-31", Quarter, "2026-10-01..2026-12-31"),
            ("2027-01-01..2027-03-31", Month, "2026-12-01..2027-02-28"),
            ("2026-01-01..2026-12-31", Year, "2025-01-01..2025-12-31"),
            // Overlapping.
            ("2026-01-01..2026-12-31", Month, "2025-12-01..2026-11-30"),
            // Month ends.
            ("2026-03-31..2026-03-31", Month, "2026-02-28..2026-02-28"),
            ("2026-05-29..2026-05-31", Quarter, "2026-02-28..2026-02-28"),
            ("2028-02-29..2028-02-29", Year, "2027-02-28..2027-02-28"),
            // As defined, even if that is no day at all.
            ("2026-03-30..2026-03-30", Month, "2026-02-28..2026-02-27"),
        ] {
            assert_eq!(window(current).previous(mode), window(previous), "{current} {mode}");
        }
    }

    #[test]
    fn percentages_have_two_decimals_and_halves_go_up() {
        let change = |current, previous| Percent::change(current, previous).map(|p| p.0);
        assert_eq!(change(150, 100), Some(5_000));
        assert_eq!(change(50, 100), Some(-5_000));
        assert_eq!(change(1, 3), Some(-6_667));
        assert_eq!(change(5, 0), None);
        assert_eq!(change(-50, -100), Some(5_000), "less of a loss");
        assert_eq!(serde_json::to_string(&Percent::share(1, 3)).unwrap(), "33.33");
        assert_eq!(serde_json::to_string(&Percent::share(1, 2)).unwrap(), "50");
        assert_eq!(Percent::share(0, 0), Percent(0));
        assert_eq!(average(5, 2), 3);
        assert_eq!(average(0, 0), 0);
    }

    fn days() -> impl Strategy<Value = NaiveDate> {
        (0..5_000_u64).prop_map(|n| date("2020-01-01") + Days::new(n))
    }

    proptest! {
        #[test]
        fn a_calendar_window_holds_its_day_and_is_whole(day in days(), kind in 0..3_usize) {
            let kind = PeriodType::ALL[kind];
            let window = Window::of(kind, day, None);
            prop_assert!(window.contains(day));
            prop_assert_eq!(window.start_date.day(), 1);
            prop_assert_eq!((window.end_date + Days::new(1)).day(), 1);
            // Every day of it has the same window.
            for other in [window.start_date, window.end_date] {
                prop_assert_eq!(Window::of(kind, other, None), window);
            }
            // Stepping back by its own length, windows touch without overlap.
            let mode = ComparisonMode::ALL[[0, 1, 2][PeriodType::ALL.iter().position(|k| *k == kind).unwrap()]];
            let before = window.previous(mode);
            prop_assert_eq!(before.end_date + Days::new(1), window.start_date);
            prop_assert_eq!(Window::of(kind, before.start_date, None), before);
        }

        #[test]
        fn whole_months_and_the_days_around_them_are_the_window(start in days(), length in 0..900_u64) {
            let window = Window::new(start, start + Days::new(length));
            let Cut { head, months: (first, after), tail } = window.whole_months();
            let count = |w: Window| (w.end_date - w.start_date).num_days() + 1;
            prop_assert!(first <= after);
            prop_assert!(count(head) >= 0 && count(tail) >= 0);
            let all = count(head) + (after - first).num_days() + count(tail);
            prop_assert_eq!(all, count(window));
            if first < after {
                prop_assert!(first.day() == 1 && after.day() == 1);
                prop_assert_eq!(head.end_date + Days::new(1), first);
                prop_assert_eq!(tail.start_date, after);
                prop_assert!(count(head) < 31 && count(tail) < 31);
            }
        }
    }
}
