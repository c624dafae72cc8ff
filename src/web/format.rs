//! How values look on a page: money, times, states. Whatever is returned as HTML is escaped.

use std::fmt::Write;

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use chrono_tz::Tz;
use serde_json::Value;

use super::words;
use crate::kernel::{html::escape, lang::Lang};

/// Language and time zone of a page, and who reads it.
#[derive(Clone, Copy, Debug)]
pub struct Locale {
    pub lang: Lang,
    /// The zone of everything that has no zone of its own.
    pub zone: Tz,
    /// Whether the person may open bookings.
    pub opens_bookings: bool,
}

/// Amounts of rupiah, by the last part of their path.
const MONEY: &[&str] = &[
    "adjustment",
    "amount",
    "balance",
    "closing",
    "collected",
    "commission",
    "commission_tax",
    "credit",
    "credit_limit",
    "debit",
    "difference",
    "excess",
    "expected",
    "fee",
    "fee_tax",
    "fee_taxes",
    "fees",
    "gross",
    "gross_revenue",
    "max_amount",
    "min_purchase",
    "minimum_amount",
    "net",
    "opening",
    "ours",
    "owed",
    "price",
    "received_base",
    "refund_amount",
    "salary",
    "settled",
    "subtotal",
    "tax",
    "theirs",
    "unit_price",
    "unknown_gross",
    "unsettled",
];

/// Fields whose values are words of the API.
const CHOICES: &[&str] = &[
    "account",
    "applies_to",
    "borne_by",
    "by",
    "category",
    "channel",
    "disabled_reason",
    "funded_by",
    "gender",
    "identity_type",
    "invoice_schedule",
    "kind",
    "level",
    "method",
    "names",
    "origin",
    "partnerType",
    "provider",
    "residency",
    "resolution",
    "role",
    "schedule",
    "schedule_type",
    "scopes",
    "source",
    "target_type",
    "timezone",
    "arrival_timezone",
    "type",
    "working_type",
    "reason",
];

/// Fields that are shown as chips.
const STATES: &[&str] = &["status", "state", "bank_account_status", "mitra_status"];

pub fn is_money(path: &str) -> bool {
    MONEY.contains(&last(path))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// `1234567` → `1.234.567`, in English `1,234,567`.
pub fn number(value: i64, lang: Lang) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push_str(lang.of(",", "."));
        }
        grouped.push(digit);
    }
    if value < 0 { format!("\u{2212}{grouped}") } else { grouped }
}

/// Rupiah are written as in Indonesia in both languages.
pub fn rupiah(value: i64) -> String {
    let amount = number(value.abs(), Lang::Id);
    let sign = if value < 0 { "\u{2212}" } else { "" };
    format!("{sign}Rp\u{a0}{amount}")
}

pub fn decimal(value: f64, lang: Lang) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match lang {
        Lang::Id => text.replace('.', ","),
        Lang::En => text.to_owned(),
    }
}

impl Locale {
    fn weekday(self, date: NaiveDate) -> &'static str {
        let index = date.weekday().num_days_from_monday() as usize;
        match self.lang {
            Lang::En => ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][index],
            Lang::Id => ["Sen", "Sel", "Rab", "Kam", "Jum", "Sab", "Min"][index],
        }
    }

    fn month(self, date: NaiveDate) -> &'static str {
        let index = date.month0() as usize;
        match self.lang {
            Lang::En => {
                ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                    [index]
            }
            Lang::Id => {
                ["Jan", "Feb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des"]
                    [index]
            }
        }
    }

    /// `Sen 16 Nov 2026`, which does not break.
    pub fn day(self, date: NaiveDate) -> String {
        let (weekday, month) = (self.weekday(date), self.month(date));
        format!("{weekday}\u{a0}{}\u{a0}{month}\u{a0}{}", date.day(), date.year())
    }

    /// `16 Nov`
    pub fn short_day(self, date: NaiveDate) -> String {
        format!("{}\u{a0}{}", date.day(), self.month(date))
    }

    /// `Sen 16 Nov 2026, 08.00 WITA`
    pub fn when(self, at: DateTime<Utc>, zone: Tz) -> String {
        let local = at.with_timezone(&zone);
        let (day, clock) = (self.day(local.date_naive()), local.format("%H.%M"));
        format!("{day}, {clock}\u{a0}{}", zone_name(zone, at))
    }

    /// `08.00`
    pub fn clock(self, at: DateTime<Utc>, zone: Tz) -> String {
        at.with_timezone(&zone).format("%H.%M").to_string()
    }

    /// `+1 day`; empty for the same day. `-1 day` for an arrival in a zone further west.
    pub fn days_later(self, days: i64) -> String {
        match days {
            0 => String::new(),
            ..=-1 => format!("{days}\u{a0}{}", self.lang.of("day", "hari")),
            1 => self.lang.of("+1\u{a0}day", "+1\u{a0}hari").into(),
            _ => format!("+{days}\u{a0}{}", self.lang.of("days", "hari")),
        }
    }

    /// A chip: tone, sign and word.
    pub fn chip(self, value: &str) -> String {
        let (tone, word) = match words::state(value) {
            Some(state) => (state.tone, state.word(self.lang)),
            None => ("none", value),
        };
        format!("<span class=\"chip {tone}\">{}</span>", escape(word))
    }

    /// How a field of a record looks, as HTML. `path` may name a format: `refunds:money`.
    pub fn cell(self, record: &Value, path: &str) -> String {
        let (path, format) = path.split_once(':').unwrap_or((path, ""));
        let (parent, name) = parent_of(record, path);
        match (format, name) {
            ("", "journey") => journey(parent),
            ("", "seats") => fill(parent),
            ("", "uses") => uses(parent, self.lang),
            ("", "booking_code") if self.opens_bookings => booking_link(parent),
            _ => self.value(parent, name, format),
        }
    }

    /// How a field of a record looks that is really there, as HTML.
    pub fn field(self, record: &Value, name: &str) -> String {
        self.value(record, name, "")
    }

    fn value(self, parent: &Value, name: &str, format: &str) -> String {
        match (&parent[name], format) {
            (Value::Null, _) => "<span class=\"none\">–</span>".into(),
            (Value::Bool(yes), _) => self.lang.of_bool(*yes).into(),
            (amount, "money") => amount.as_i64().map(rupiah).unwrap_or_default(),
            (Value::String(text), "chip") => self.chip(text),
            (Value::String(text), "code") => format!("<code>{}</code>", escape(text)),
            (Value::String(text), "long") => {
                format!("<span class=\"long\">{}</span>", escape(text))
            }
            (Value::Number(figure), _) => self.figure(figure, name),
            (Value::String(text), _) => self.text(text, name, parent),
            (Value::Array(all), _) => self.list(all),
            (object @ Value::Object(_), _) => self.object(object),
        }
    }

    /// The same without HTML.
    pub fn plain(self, record: &Value, path: &str) -> String {
        let html = self.cell(record, path);
        let mut text = String::with_capacity(html.len());
        let mut in_tag = false;
        for c in html.chars() {
            match c {
                '<' => in_tag = true,
                '>' if in_tag => in_tag = false,
                c if !in_tag => text.push(c),
                _ => {}
            }
        }
        let entities =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        entities.iter().fold(text, |text, (entity, c)| text.replace(entity, c))
    }

    fn figure(self, figure: &serde_json::Number, name: &str) -> String {
        let percent = name == "rate" || name.ends_with("_rate") || name.ends_with("percent");
        match figure.as_i64() {
            Some(value) if MONEY.contains(&name) => rupiah(value),
            // Neither years nor places in a list are grouped.
            Some(value)
                if ["year_built", "number", "version", "response_status"].contains(&name) =>
            {
                value.to_string()
            }
            Some(value) if !percent => number(value, self.lang),
            _ => {
                let value = decimal(figure.as_f64().unwrap_or_default(), self.lang);
                if percent { format!("{value}\u{a0}%") } else { value }
            }
        }
    }

    fn text(self, text: &str, name: &str, parent: &Value) -> String {
        if name == "code" {
            return format!("<span class=\"code\">{}</span>", escape(text));
        }
        if name == "arrival_time" {
            let days = parent["arrival_day_offset"].as_i64().unwrap_or_default();
            return match self.days_later(days) {
                later if later.is_empty() => escape(text),
                later => format!("{} {later}", escape(text)),
            };
        }
        if STATES.contains(&name) {
            return self.chip(text);
        }
        if CHOICES.contains(&name) {
            return escape(words::value_of(name, text, self.lang));
        }
        if let Ok(at) = text.parse::<DateTime<Utc>>() {
            return time(text, &self.when(at, self.zone_of(name, parent)));
        }
        if let Ok(date) = text.parse::<NaiveDate>() {
            return time(text, &self.day(date));
        }
        if text.is_empty() {
            return "<span class=\"none\">–</span>".into();
        }
        escape(text)
    }

    /// The zone of a time: that of the place where it happens, else the service's.
    fn zone_of(self, name: &str, parent: &Value) -> Tz {
        let zone = match name {
            "arrival_at" => &parent["arrival_timezone"],
            "departure_at" => &parent["timezone"],
            _ => return self.zone,
        };
        zone.as_str().and_then(|zone| zone.parse().ok()).unwrap_or(self.zone)
    }

    fn list(self, all: &[Value]) -> String {
        let words = all.iter().map(|one| match one {
            Value::String(text) => escape(words::value(text, self.lang)),
            Value::Object(_) => self.object(one),
            other => escape(&other.to_string()),
        });
        let words: Vec<_> = words.collect();
        if words.is_empty() { "<span class=\"none\">–</span>".into() } else { words.join(", ") }
    }

    fn object(self, value: &Value) -> String {
        if let Some(name) = value["name"].as_str() {
            return escape(name);
        }
        if let (Some(_), Some(_)) =
            (value["departure_time"].as_str(), value["arrival_time"].as_str())
        {
            let shown = ["departure_time", "arrival_time"].map(|name| self.cell(value, name));
            let days = value["days"].as_array().map(|_| self.cell(value, "days"));
            let days = days.map(|days| format!(" ({days})")).unwrap_or_default();
            return format!("{}{days}", shown.join(" – "));
        }
        let date = |name: &str| value[name].as_str()?.parse::<NaiveDate>().ok();
        if let (Some(start), Some(end)) = (date("start_date"), date("end_date")) {
            return format!("{} – {}", self.short_day(start), self.day(end));
        }
        let fields = value.as_object().into_iter().flatten();
        let words = fields.filter(|(_, value)| !value.is_null()).map(|(name, _)| {
            format!("{} {}", escape(&words::label(name, self.lang)), self.cell(value, name))
        });
        words.collect::<Vec<_>>().join(" · ")
    }
}

/// The value at a path, and the object that holds it.
fn parent_of<'v, 'p>(record: &'v Value, path: &'p str) -> (&'v Value, &'p str) {
    match path.rsplit_once('.') {
        Some((parents, name)) => {
            (parents.split('.').fold(record, |value, part| &value[part]), name)
        }
        None => (record, path),
    }
}

/// The value at a path.
pub fn at<'v>(record: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(record, |value, part| &value[part])
}

pub fn time(machine: &str, words: &str) -> String {
    format!("<time datetime=\"{}\">{}</time>", escape(machine), escape(words))
}

fn journey(record: &Value) -> String {
    let end = |name: &str| escape(record[name].as_str().unwrap_or_default());
    format!(
        "<span class=\"journey\">{} <span aria-hidden=\"true\">→</span> {}</span>",
        end("from"),
        end("to")
    )
}

/// The code of a booking leads to the booking.
fn booking_link(record: &Value) -> String {
    let code = escape(record["booking_code"].as_str().unwrap_or("–"));
    match record["booking_id"].as_str() {
        Some(id) => format!("<a href=\"/console/bookings/{}\">{code}</a>", escape(id)),
        None => code,
    }
}

fn fill(record: &Value) -> String {
    let count = |name: &str| record[name].as_i64().unwrap_or_default();
    fill_bar(count("seats_taken"), count("capacity"))
}

/// How often a promotion was used, of its quota if it has one.
fn uses(record: &Value, lang: Lang) -> String {
    let used = record["used"].as_i64().unwrap_or_default();
    match record["quota"].as_i64() {
        Some(quota) => fill_bar(used, quota),
        None => number(used, lang),
    }
}

/// A bar that shows how full a boat is. The widths are SVG attributes: the policy of the pages
/// allows no styles in elements.
pub fn fill_bar(taken: i64, capacity: i64) -> String {
    let percent = if capacity > 0 { (taken * 100 / capacity).clamp(0, 100) } else { 0 };
    let level = match percent {
        100 => "full",
        85.. => "near",
        _ => "some",
    };
    let mut bar = String::from("<span class=\"fill\">");
    let _ = write!(
        bar,
        "<svg class=\"{level}\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"6\" rx=\"3\"/>\
         <rect class=\"level\" width=\"{percent}\" height=\"6\" rx=\"3\"/></svg> {taken}/{capacity}</span>"
    );
    bar
}

pub fn zone_name(zone: Tz, at: DateTime<Utc>) -> String {
    match zone {
        Tz::Asia__Jakarta | Tz::Asia__Pontianak => "WIB".into(),
        Tz::Asia__Makassar => "WITA".into(),
        Tz::Asia__Jayapura => "WIT".into(),
        other => at.with_timezone(&other).format("%Z").to_string(),
    }
}

impl Lang {
    fn of_bool(self, yes: bool) -> &'static str {
        if yes { self.of("Yes", "Ya") } else { self.of("No", "Tidak") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOCALE: Locale = Locale { lang: Lang::Id, zone: Tz::Asia__Jakarta, opens_bookings: true };

    #[test]
    fn money_is_grouped_and_does_not_break() {
        assert_eq!(rupiah(150_000), "Rp\u{a0}150.000");
        assert_eq!(rupiah(-1_234_567), "\u{2212}Rp\u{a0}1.234.567");
        assert_eq!(rupiah(0), "Rp\u{a0}0");
        assert_eq!(number(1_234, Lang::En), "1,234");
    }

    #[test]
    fn a_time_is_in_the_zone_of_its_place() {
        let record = json!({ "departure_at": "2026-11-16T00:00:00Z", "timezone": "Asia/Makassar",
                             "created_at": "2026-11-16T00:00:00Z" });
        let words = |path| LOCALE.cell(&record, path);
        assert!(
            words("departure_at").contains(">Sen\u{a0}16\u{a0}Nov\u{a0}2026, 08.00\u{a0}WITA<")
        );
        assert!(words("created_at").contains(">Sen\u{a0}16\u{a0}Nov\u{a0}2026, 07.00\u{a0}WIB<"));
    }

    #[test]
    fn an_arrival_on_a_later_day_says_so() {
        let time = |days: i64| {
            json!({ "departure_time": "23:30", "arrival_time": "01:00", "days": ["mon"],
                    "arrival_day_offset": days })
        };
        assert_eq!(LOCALE.cell(&time(0), "arrival_time"), "01:00");
        assert_eq!(LOCALE.cell(&time(1), "arrival_time"), "01:00 +1\u{a0}hari");
        assert_eq!(LOCALE.cell(&time(2), "arrival_time"), "01:00 +2\u{a0}hari");
        let english = Locale { lang: Lang::En, ..LOCALE };
        assert_eq!(english.cell(&time(1), "arrival_time"), "01:00 +1\u{a0}day");
        assert_eq!(english.cell(&time(-1), "arrival_time"), "01:00 -1\u{a0}day");
        let times = json!({ "times": [time(1)] });
        assert_eq!(english.cell(&times, "times"), "23:30 – 01:00 +1\u{a0}day (Mon)");
    }

    #[test]
    fn a_cell_has_a_plain_text() {
        let record = json!({ "name": "A & <b>", "created_at": "2026-11-16T00:00:00Z" });
        assert_eq!(LOCALE.plain(&record, "name"), "A & <b>");
        assert_eq!(
            LOCALE.plain(&record, "created_at"),
            "Sen\u{a0}16\u{a0}Nov\u{a0}2026, 07.00\u{a0}WIB"
        );
    }

    #[test]
    fn a_cell_follows_name_and_value() {
        let record = json!({
            "price": { "total": 150_000 }, "status": "paid", "name": "<b>", "days": ["mon", "tue"],
            "rate": 12.5, "is_active": false, "note": null, "count": 1200, "amount": 5000,
            "start": "2026-11-16", "by": "cash", "kind": "other", "total": 700,
        });
        let words = |path| LOCALE.cell(&record, path);
        assert_eq!(words("price.total:money"), "Rp\u{a0}150.000");
        assert_eq!(words("amount"), "Rp\u{a0}5.000");
        assert_eq!(words("count"), "1.200");
        assert_eq!(words("status"), "<span class=\"chip ok\">Lunas</span>");
        assert_eq!(words("name"), "&lt;b&gt;");
        assert_eq!(words("days"), "Sen, Sel");
        assert_eq!(words("rate"), "12,5\u{a0}%");
        assert_eq!(words("is_active"), "Tidak");
        assert_eq!(words("note"), "<span class=\"none\">–</span>");
        assert!(words("start").contains(">Sen\u{a0}16\u{a0}Nov\u{a0}2026<"));
        assert_eq!((words("by"), words("kind")), ("Tunai".into(), "other".into()));
    }
}
