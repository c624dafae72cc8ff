//! The sailings of today, the next one first.

use axum::response::Response;
use chrono::{DateTime, Days, NaiveDate, Utc};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::{Value, json};

use super::data;
use crate::web::{
    answer,
    client::{Call, Envelope},
    forms::Values,
    view::data as shown,
    visit::Visit,
};

const PAGE_SIZE: usize = 100;
/// A day has at most this many pages of sailings. Only the platform's own people see that many.
const PAGES: usize = 5;

/// The sailings of a day.
struct Day {
    sailings: Vec<Value>,
    /// Nothing sails today: these are of a later day.
    is_later: bool,
}

pub fn pier(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let day = match day(&visit).await {
            Ok(day) => day,
            Err(refusal) => return visit.problem(&refusal),
        };
        let title = visit.lang().of("Today at the pier", "Hari ini di dermaga");
        let contents = context! { sailings => shown(&day.sailings), is_later => day.is_later };
        visit.render(200, "pier.html", title, contents)
    }
    .boxed()
}

pub fn pier_data(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        match tokio::try_join!(day(&visit), data::common(&visit)) {
            Ok((day, common)) => {
                let list = json!({ "sailings": day.sailings, "is_later": day.is_later });
                let response = answer::json(200, &data::merged(common, list));
                visit.with_cookies(response)
            }
            Err(refusal) => visit.problem(&refusal),
        }
    }
    .boxed()
}

/// What sails today in the zone of its harbour, and what has not arrived yet; else the next day with
/// sailings.
async fn day(visit: &Visit) -> Result<Day, Envelope> {
    let now = visit.web.app().clock.now();
    let today = now.with_timezone(&visit.locale().zone).date_naive();
    let (before, after) = (today - Days::new(1), today + Days::new(1));
    let around = between(visit, before, after).await?;
    let mut found: Vec<_> = around.into_iter().filter(|one| is_current(one, now)).collect();
    let has_left =
        |one: &Value| data::end(one, "departure_at", "timezone").is_some_and(|(at, _)| at <= now);
    // Nothing departs any more today: the next day follows what is still at sea.
    let is_later = found.iter().all(|one| one["status"] == "cancelled" || has_left(one));
    if is_later {
        found.extend(next_day(visit, after, now).await?);
    }
    // What has not arrived comes first; the list is by departure.
    found.sort_by_key(|sailing| is_over(sailing, now));
    let locale = visit.locale();
    let sailings = found.iter().map(|sailing| data::sailing(sailing, locale)).collect();
    Ok(Day { sailings, is_later })
}

async fn between(visit: &Visit, start: NaiveDate, end: NaiveDate) -> Result<Vec<Value>, Envelope> {
    let mut found = Vec::new();
    for page in 1..=PAGES {
        let call = Call::of("list_route_times")
            .query("start_date", start.to_string())
            .query("end_date", end.to_string())
            .query("page", page.to_string())
            .query("page_size", PAGE_SIZE.to_string());
        let answer = visit.ask(call).await;
        let rows = match (answer.is_success(), &answer.data) {
            (true, Value::Array(rows)) => rows.clone(),
            _ => return Err(answer),
        };
        let is_last = rows.len() < PAGE_SIZE;
        found.extend(rows);
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// The sailings of the first day from `start` on that has any.
async fn next_day(
    visit: &Visit,
    start: NaiveDate,
    now: DateTime<Utc>,
) -> Result<Vec<Value>, Envelope> {
    let call = Call::of("list_route_times")
        .query("start_date", start.to_string())
        .query("status", "open")
        .query("page_size", PAGE_SIZE.to_string());
    let answer = visit.ask(call).await;
    if !answer.is_success() {
        return Err(answer);
    }
    let rows = answer.data.as_array().cloned().unwrap_or_default();
    let first = rows.iter().find(|row| !is_over(row, now)).and_then(local_day);
    Ok(rows.into_iter().filter(|row| local_day(row) == first).collect())
}

fn local_day(sailing: &Value) -> Option<NaiveDate> {
    let (at, zone) = data::end(sailing, "departure_at", "timezone")?;
    Some(at.with_timezone(&zone).date_naive())
}

fn is_current(sailing: &Value, now: DateTime<Utc>) -> bool {
    let Some((departure, zone)) = data::end(sailing, "departure_at", "timezone") else {
        return false;
    };
    let is_today = local_day(sailing) == Some(now.with_timezone(&zone).date_naive());
    is_today || (departure <= now && !is_over(sailing, now))
}

/// Whether it has arrived, or never will.
fn is_over(sailing: &Value, now: DateTime<Utc>) -> bool {
    let arrival = data::end(sailing, "arrival_at", "arrival_timezone");
    sailing["status"] == "cancelled" || arrival.is_some_and(|(arrival, _)| arrival <= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sailing(departure: &str, arrival: &str, status: &str) -> Value {
        json!({
            "departure_at": departure, "arrival_at": arrival, "status": status,
            "timezone": "Asia/Makassar", "arrival_timezone": "Asia/Makassar",
        })
    }

    #[test]
    fn today_is_the_day_of_the_harbour_and_includes_what_is_still_at_sea() {
        // 00.30 WITA on the 16th.
        let now = "2026-11-15T16:30:00Z".parse().unwrap();
        let current =
            |departure: &str, arrival: &str| is_current(&sailing(departure, arrival, "open"), now);
        assert!(current("2026-11-16T00:00:00Z", "2026-11-16T00:45:00Z"), "this morning");
        assert!(current("2026-11-15T15:00:00Z", "2026-11-15T17:00:00Z"), "at sea since yesterday");
        assert!(!current("2026-11-15T08:00:00Z", "2026-11-15T09:00:00Z"), "yesterday");
        assert!(!current("2026-11-16T17:00:00Z", "2026-11-16T18:00:00Z"), "tomorrow");
    }

    #[test]
    fn a_cancelled_sailing_is_over() {
        let now = "2026-11-15T16:30:00Z".parse().unwrap();
        let at = ("2026-11-16T00:00:00Z", "2026-11-16T00:45:00Z");
        assert!(is_over(&sailing(at.0, at.1, "cancelled"), now));
        assert!(!is_over(&sailing(at.0, at.1, "open"), now));
    }
}
