//! Charts as SVG, drawn on the server: a filled line, and a table of the same figures beside it.

use std::fmt::Write;

use serde_json::Value;

use super::format::{Locale, rupiah};
use crate::kernel::html::escape;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

/// A series of points with `bucket` and a figure.
pub fn line(points: &[Value], figure: &str, label: &str, locale: Locale) -> String {
    let values: Vec<i64> =
        points.iter().map(|point| point[figure].as_i64().unwrap_or_default()).collect();
    let Some(highest) = values.iter().copied().max().filter(|_| values.len() > 1) else {
        return String::new();
    };
    let top = round_up(highest.max(1));
    let x = |index: usize| WIDTH * index as f64 / (values.len() - 1) as f64;
    let floor = HEIGHT - BOTTOM;
    let y = |value: i64| floor - (floor - TOP) * value.max(0) as f64 / top as f64;
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escape(label)
    );
    for step in 0..=2 {
        let value = top * step / 2;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\
             <text class=\"axis\" x=\"0\" y=\"{1:.1}\">{2}</text>",
            y(value),
            y(value) - 4.0,
            escape(&short(value, locale)),
        );
    }
    let mut path = String::new();
    for (index, value) in values.iter().enumerate() {
        let _ =
            write!(path, "{}{:.1} {:.1}", if index == 0 { "M" } else { "L" }, x(index), y(*value));
    }
    let _ = write!(
        svg,
        "<path class=\"area\" d=\"{path}L{WIDTH} {floor}L0 {floor}Z\"/><path class=\"line\" d=\"{path}\"/>"
    );
    for (index, (point, value)) in points.iter().zip(&values).enumerate() {
        let bucket = bucket(point["bucket"].as_str().unwrap_or_default(), locale);
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {}</title></circle>",
            x(index),
            y(*value),
            escape(&bucket),
            escape(&rupiah(*value)),
        );
        if index % values.len().div_ceil(6) == 0 {
            let _ = write!(
                svg,
                "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x(index),
                HEIGHT - 6.0,
                escape(&bucket),
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

/// A day, a month or a year, in words.
pub fn bucket(bucket: &str, locale: Locale) -> String {
    match bucket.parse() {
        Ok(date) => locale.short_day(date),
        Err(_) => match format!("{bucket}-01").parse::<chrono::NaiveDate>() {
            Ok(date) => {
                let day = locale.day(date);
                day.split('\u{a0}').skip(2).collect::<Vec<_>>().join(" ")
            }
            Err(_) => bucket.to_owned(),
        },
    }
}

/// The next round number: 1, 2 or 5 with zeros.
fn round_up(value: i64) -> i64 {
    let mut unit = 1i64;
    loop {
        for step in [1, 2, 5] {
            let candidate = unit.saturating_mul(step);
            if candidate >= value {
                return candidate;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// `1500000` → `1,5 jt`
fn short(value: i64, locale: Locale) -> String {
    let lang = locale.lang;
    let scaled = |divisor: f64, word: &str| {
        let figure = super::format::decimal(value as f64 / divisor, lang);
        format!("{figure}\u{a0}{word}")
    };
    match value {
        1_000_000_000.. => scaled(1e9, lang.of("bn", "M")),
        1_000_000.. => scaled(1e6, lang.of("m", "jt")),
        1_000.. => scaled(1e3, lang.of("k", "rb")),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use serde_json::json;

    use super::*;
    use crate::kernel::lang::Lang;

    #[test]
    fn a_chart_has_a_point_for_each_figure() {
        let locale = Locale { lang: Lang::Id, zone: Tz::Asia__Jakarta, opens_bookings: true };
        let points = [
            json!({ "bucket": "2026-11-01", "gross_revenue": 0 }),
            json!({ "bucket": "2026-11-02", "gross_revenue": 1_500_000 }),
        ];
        let svg = line(&points, "gross_revenue", "Pendapatan <b>", locale);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("2\u{a0}Nov: Rp\u{a0}1.500.000"));
        assert!(svg.contains("2\u{a0}jt"), "the axis ends at a round number: {svg}");
        assert!(svg.contains("aria-label=\"Pendapatan &lt;b&gt;\""));
        assert!(!svg.contains("style="));
        assert_eq!(line(&points[..1], "gross_revenue", "", locale), "");
        assert_eq!(bucket("2026-11", locale), "Nov 2026");
    }
}
