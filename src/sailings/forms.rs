//! Request types of routes, sailings and search.

use chrono::{Datelike, NaiveDate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    model::{BookingType, RouteStatus, RouteTime, SailingStatus, ScheduleType, TimeOfDay, Weekday},
    zone::Zone,
};
use crate::{
    harbours::{HarbourName, key},
    kernel::{
        error::Fault,
        http::{ListFormat, Pages, Paging},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        patch::Patch,
        schema::Input,
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct RouteTimeForm {
    departure_time: TimeOfDay,
    /// Local to the harbour of arrival.
    arrival_time: TimeOfDay,
    #[schemars(length(min = 1, max = 7), extend("uniqueItems" = true))]
    days: Option<Vec<Weekday>>,
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    price: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RouteForm {
    pub speedboat_id: Uuid,
    pub from: HarbourName,
    pub to: HarbourName,
    pub schedule_type: ScheduleType,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    pub price: i64,
    /// Of the harbour of departure. Default: that of the harbour, else the service's. Left out of an
    /// update from the same harbour it stays as it is.
    #[serde(default)]
    pub timezone: Patch<Zone>,
    #[schemars(length(min = 1, max = 48))]
    times: Vec<RouteTimeForm>,
}

/// Trims the names.
fn trim(value: &mut Value, names: &[&str]) {
    for name in names {
        if let Some(text) = value[name].as_str().map(|text| text.trim().to_owned()) {
            value[name] = Value::String(text);
        }
    }
}

impl RouteForm {
    pub fn times(&self) -> Vec<RouteTime> {
        let weekly = self.schedule_type == ScheduleType::Weekly;
        let time = |form: &RouteTimeForm| RouteTime {
            id: ids::fresh(),
            departure_time: form.departure_time,
            arrival_time: form.arrival_time,
            days: form.days.clone().filter(|_| weekly),
            price: form.price.map(Rupiah),
        };
        self.times.iter().map(time).collect()
    }
}

impl Input for RouteForm {
    fn tidy(value: &mut Value) {
        let blank = value["timezone"].as_str().is_some_and(|zone| zone.trim().is_empty());
        if blank {
            value["timezone"] = Value::Null;
        }
        trim(value, &["from", "to"]);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let text_of = |name: &str| value[name].as_str();
        for name in ["from", "to"] {
            if text_of(name).is_some_and(|name| !name.is_empty() && key(name).is_empty()) {
                let message = text("This is not a valid name.", "Ini bukan nama yang valid.");
                faults.push(Fault::new(name, "format", message));
            }
        }
        if let (Some(from), Some(to)) = (text_of("from"), text_of("to"))
            && key(from) == key(to)
        {
            let message = text(
                "This is the same as the harbour of departure.",
                "Sama dengan pelabuhan asal.",
            );
            faults.push(Fault::new("to", "same", message));
        }
        let date = |name: &str| text_of(name).and_then(|date| date.parse::<NaiveDate>().ok());
        if let (Some(start), Some(end)) = (date("start_date"), date("end_date")) {
            let once = text_of("schedule_type") == Some(ScheduleType::Once.as_str());
            faults.extend(period_fault(start, end, once));
        }
        if text_of("schedule_type") == Some(ScheduleType::Weekly.as_str()) {
            let times = value["times"].as_array().into_iter().flatten().enumerate();
            for (index, _) in times.filter(|(_, time)| time.is_object() && time["days"].is_null()) {
                let message = text("State the days.", "Sebutkan harinya.");
                faults.push(Fault::new(format!("times[{index}].days"), "required", message));
            }
        }
    }
}

/// Maximum length of a route in days.
pub const LONGEST: u64 = 366;

/// Validates the period of a route.
pub fn period_fault(start: NaiveDate, end: NaiveDate, once: bool) -> Option<Fault> {
    let days = (end - start).num_days() + 1;
    let (rule, message) = if days < 1 {
        ("order", text("The end is before the start.", "Berakhir sebelum dimulai."))
    } else if once && days > 1 {
        (
            "once",
            text(
                "A route with a single trip starts and ends on the same day.",
                "Rute sekali jalan dimulai dan berakhir pada hari yang sama.",
            ),
        )
    } else if days > LONGEST as i64 {
        ("max_days", text("A route has at most 366 days.", "Rute paling lama 366 hari."))
    } else if end.year() > 2200 {
        ("max", text("This is too far in the future.", "Terlalu jauh ke depan."))
    } else {
        return None;
    };
    Some(Fault::new("end_date", rule, message))
}

#[derive(Deserialize, JsonSchema)]
pub struct ExtendRoute {
    /// New last day of the route.
    pub end_date: NaiveDate,
    /// The boat of the added sailings, and of the route from then on. Default: the boat of the
    /// route.
    pub speedboat_id: Option<Uuid>,
}

impl Input for ExtendRoute {}

crate::string_enum! {
    pub enum RouteSort { StartDate = "start_date", Price = "price", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct RoutesQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub mitra_id: Option<Uuid>,
    pub speedboat_id: Option<Uuid>,
    pub status: Option<RouteStatus>,
    pub sort_by: Option<RouteSort>,
}

impl Input for RoutesQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct SailingsQuery {
    #[serde(flatten)]
    pub paging: Pages,
    /// Day of departure in the route's time zone.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
}

impl Input for SailingsQuery {}

crate::string_enum! {
    pub enum RouteTimeSort { DepartureAt = "departure_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct RouteTimesQuery {
    #[serde(flatten)]
    pub paging: Paging,
    /// Day of departure in the route's time zone.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    /// Ignored for partners and crew, who see their own.
    pub mitra_id: Option<Uuid>,
    pub speedboat_id: Option<Uuid>,
    pub route_id: Option<Uuid>,
    pub status: Option<SailingStatus>,
    /// The only order, earliest first unless `sort_dir` is `desc`.
    pub sort_by: Option<RouteTimeSort>,
    /// `csv`: all sailings that are found, as a file.
    pub format: Option<ListFormat>,
}

impl Input for RouteTimesQuery {}

crate::string_enum! {
    pub enum OfferSort { Departure = "departure", Price = "price", Duration = "duration" }
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchForm {
    pub from: HarbourName,
    pub to: HarbourName,
    /// Day of departure in the route's time zone.
    pub date: NaiveDate,
    #[schemars(range(min = 1, max = 500))]
    pub qty: i32,
    /// Also searches the return journey on this day.
    pub return_date: Option<NaiveDate>,
    #[serde(rename = "type")]
    pub kind: Option<BookingType>,
    /// Only sailings of this partner.
    pub mitra_id: Option<Uuid>,
    pub sort_by: Option<OfferSort>,
    #[schemars(range(min = 1, max = 1_000_000))]
    pub page: Option<i64>,
    #[schemars(range(min = 1, max = 100))]
    pub page_size: Option<i64>,
}

impl Input for SearchForm {
    fn tidy(value: &mut Value) {
        trim(value, &["from", "to"]);
        for name in ["return_date", "type", "sort_by"] {
            if value[name].as_str().is_some_and(|text| text.trim().is_empty()) {
                value[name] = Value::Null;
            }
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let date = |name: &str| value[name].as_str().and_then(|d| d.parse::<NaiveDate>().ok());
        if let (Some(out), Some(back)) = (date("date"), date("return_date"))
            && back < out
        {
            let message =
                text("The return is before the outward journey.", "Tanggal pulang lebih awal.");
            faults.push(Fault::new("return_date", "order", message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole() {
        let fault = |start, end, once| {
            let date = |text: &str| text.parse().unwrap();
            period_fault(date(start), date(end), once).map(|fault| fault.rule.into_owned())
        };
        assert_eq!(fault("2026-01-01", "2027-01-01", false), None, "366 days");
        assert_eq!(fault("2026-01-01", "2027-01-02", false).unwrap(), "max_days");
        assert_eq!(fault("2026-01-02", "2026-01-01", false).unwrap(), "order");
        assert_eq!(fault("2026-01-01", "2026-01-02", true).unwrap(), "once");
        assert_eq!(fault("2026-01-01", "2026-01-01", true), None);
    }
}
