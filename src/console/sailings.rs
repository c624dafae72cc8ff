//! A day of sailings as a timetable.

use axum::response::Response;
use chrono::{Days, NaiveDate};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde::Serialize;
use serde_json::Value;

use crate::web::{client::Call, forms::Values, view::data, visit::Visit};

/// Filters that links to this page have.
const FILTERS: &[&str] = &["mitra_id", "speedboat_id", "route_id", "status", "search"];

#[derive(Serialize)]
struct Harbour {
    name: String,
    sailings: Vec<Value>,
}

pub fn day(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        if visit.parameter("format").is_some() {
            return crate::web::kinds::file(visit).await;
        }
        let app = visit.web.app();
        let today = app.clock.now().with_timezone(&app.config.timezone).date_naive();
        let date = visit.parameter("date").and_then(|date| date.parse().ok());
        let date: NaiveDate = date.unwrap_or(today);
        let day = date.to_string();
        let mut call = Call::of("list_route_times")
            .query("start_date", day.clone())
            .query("end_date", day)
            .query("page_size", "100");
        let kept = visit.query.iter().filter(|(name, _)| FILTERS.contains(&name.as_str()));
        let kept: Vec<_> = kept.cloned().collect();
        call.query.extend(kept.iter().cloned());
        let answer = visit.ask(call).await;
        if !answer.is_success() {
            return visit.problem(&answer);
        }
        let days = |days: u64| date.checked_add_days(Days::new(days)).unwrap_or(date);
        let before = date.checked_sub_days(Days::new(1)).unwrap_or(date);
        let title = visit.page().title.say(visit.lang()).to_owned();
        let strip: Vec<_> = (0..7).map(|offset| days(offset).to_string()).collect();
        let contents = context! {
            date => date.to_string(),
            before => before.to_string(),
            after => days(1).to_string(),
            strip => data(&strip),
            harbours => data(by_harbour(&answer.data)),
            total => answer.pagination["total_items"].as_i64(),
            kept => data(&kept),
        };
        visit.render(200, "day.html", &title, contents)
    }
    .boxed()
}

fn by_harbour(sailings: &Value) -> Vec<Harbour> {
    let mut harbours: Vec<Harbour> = Vec::new();
    for sailing in sailings.as_array().into_iter().flatten() {
        let name = sailing["from"].as_str().unwrap_or_default();
        match harbours.iter_mut().find(|harbour| harbour.name == name) {
            Some(harbour) => harbour.sailings.push(sailing.clone()),
            None => {
                harbours.push(Harbour { name: name.to_owned(), sailings: vec![sailing.clone()] });
            }
        }
    }
    harbours
}
