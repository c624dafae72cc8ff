//! The points of a chart. Pure.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};

use super::{
    model::{Point, Sums},
    rules::Window,
};

/// Days of a short window or months of a long one, including empty ones.
pub fn series(daily: &BTreeMap<NaiveDate, Sums>, window: Window) -> Vec<Point> {
    let mut points = Vec::new();
    let mut day = window.start_date;
    while day <= window.end_date {
        let (format, last) = match window.is_short() {
            true => ("%Y-%m-%d", day),
            false => ("%Y-%m", Window::month(day).end_date.min(window.end_date)),
        };
        let bucket = day.format(format).to_string();
        let mut point = Point { bucket, gross_revenue: 0, bookings: 0 };
        for (_, sums) in daily.range(day..=last) {
            point.gross_revenue += sums.gross;
            point.bookings += sums.bookings;
        }
        points.push(point);
        day = last + Days::new(1);
    }
    points
}

#[cfg(test)]
mod tests {
    use chrono::Datelike;
    use proptest::prelude::*;

    use super::*;

    fn days() -> impl Strategy<Value = NaiveDate> {
        let first = NaiveDate::from_ymd_opt(2020, 1, 1).unwrap();
        (0..5_000_u64).prop_map(move |n| first + Days::new(n))
    }

    proptest! {
        #[test]
        fn a_series_has_every_bucket_and_loses_nothing(
            start in days(), length in 0..900_u64, sales in proptest::collection::vec(0..900_u64, 0..40),
        ) {
            let window = Window::new(start, start + Days::new(length));
            let mut daily = BTreeMap::<NaiveDate, Sums>::new();
            for n in sales {
                let sums = daily.entry(start + Days::new(n)).or_default();
                sums.gross += 7;
                sums.bookings += 1;
            }
            let points = series(&daily, window);
            let inside = daily.iter().filter(|(day, _)| window.contains(**day));
            let gross: i64 = inside.map(|(_, sums)| sums.gross).sum();
            prop_assert_eq!(points.iter().map(|p| p.gross_revenue).sum::<i64>(), gross);
            let buckets = match length + 1 {
                ..=62 => length as usize + 1,
                _ => {
                    let end = window.end_date;
                    let months = |day: NaiveDate| day.year() * 12 + day.month0() as i32;
                    (months(end) - months(start) + 1) as usize
                }
            };
            prop_assert_eq!(points.len(), buckets);
            prop_assert!(points.windows(2).all(|two| two[0].bucket < two[1].bucket));
        }
    }
}
