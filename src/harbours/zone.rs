//! Indonesian time zones, and local date formats.

use chrono::{DateTime, Datelike, Utc, Weekday};
use chrono_tz::Tz;

use crate::kernel::lang::{Lang, Text};

crate::string_enum! {
    /// Indonesian time zones.
    pub enum Zone {
        Wib = "Asia/Jakarta",
        Wita = "Asia/Makassar",
        Wit = "Asia/Jayapura",
    }
}

const MONTHS: [(&str, &str); 12] = [
    ("Jan", "Jan"),
    ("Feb", "Feb"),
    ("Mar", "Mar"),
    ("Apr", "Apr"),
    ("May", "Mei"),
    ("Jun", "Jun"),
    ("Jul", "Jul"),
    ("Aug", "Agu"),
    ("Sep", "Sep"),
    ("Oct", "Okt"),
    ("Nov", "Nov"),
    ("Dec", "Des"),
];

impl Zone {
    pub fn tz(self) -> Tz {
        match self {
            Zone::Wib => Tz::Asia__Jakarta,
            Zone::Wita => Tz::Asia__Makassar,
            Zone::Wit => Tz::Asia__Jayapura,
        }
    }

    /// The service's time zone if it is Indonesian, else that of Jakarta.
    pub fn of_service(tz: Tz) -> Self {
        Self::ALL.iter().copied().find(|zone| zone.tz() == tz).unwrap_or(Zone::Wib)
    }

    /// Local date: `Mon 16 Nov 2026`.
    pub fn day(self, at: DateTime<Utc>) -> Text {
        let local = at.with_timezone(&self.tz());
        let (day, hari) = match local.weekday() {
            Weekday::Mon => ("Mon", "Sen"),
            Weekday::Tue => ("Tue", "Sel"),
            Weekday::Wed => ("Wed", "Rab"),
            Weekday::Thu => ("Thu", "Kam"),
            Weekday::Fri => ("Fri", "Jum"),
            Weekday::Sat => ("Sat", "Sab"),
            Weekday::Sun => ("Sun", "Min"),
        };
        let (month, bulan) = MONTHS[local.month0() as usize];
        let (date, year) = (local.day(), local.year());
        Text::new(format!("{day} {date} {month} {year}"), format!("{hari} {date} {bulan} {year}"))
    }

    /// Local time: `08:00 WITA`.
    pub fn clock(self, at: DateTime<Utc>) -> Text {
        let local = at.with_timezone(&self.tz());
        Text::new(local.format("%H:%M %Z").to_string(), local.format("%H.%M %Z").to_string())
    }

    /// Local date and time: `Mon 16 Nov 2026, 08:00 WITA`.
    pub fn when(self, at: DateTime<Utc>) -> Text {
        let (day, clock) = (self.day(at), self.clock(at));
        let both = |lang| format!("{}, {}", day.say(lang), clock.say(lang));
        Text::new(both(Lang::En), both(Lang::Id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_said_as_at_the_harbour() {
        let said = Zone::Wita.when("2026-11-16T00:00:00Z".parse().unwrap());
        assert_eq!(said.say(Lang::En), "Mon 16 Nov 2026, 08:00 WITA");
        assert_eq!(said.say(Lang::Id), "Sen 16 Nov 2026, 08.00 WITA");
    }
}
