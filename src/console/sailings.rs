//! A day of sailings as a timetable.

use axum::response::Response;
use chrono::{Days, NaiveDate};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde::Serialize;
use serde_json::Value;

use crate::web::{
    client::Call,
    forms::Values,
    kinds,
    view::data,
    visit::{Visit, with_query},
};

/// Filters that links to this page have.
const FILTERS: &[&str] = &["mitra_id", "speedboat_id", "route_id", "status", "search"];
const PAGE_SIZE: i64 = 100;

#[derive(Serialize)]
struct Harbour {
    name: String,
    sailings: Vec<Value>,
}

pub fn day(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let app = visit.web.app();
        let today = app.clock.now().with_timezone(&app.config.timezone).date_naive();
        let date = visit.parameter("date").and_then(|date| date.parse().ok());
        let date: NaiveDate = date.unwrap_or(today);
        let day = date.to_string();
        let mut call =
            Call::of("list_route_times").query("start_date", day.clone()).query("end_date", day);
        let kept = visit
            .query
            .iter()
            .filter(|(name, value)| FILTERS.contains(&name.as_str()) && !value.is_empty());
        let kept: Vec<_> = kept.cloned().collect();
        call.query.extend(kept.iter().cloned());
        if let Some(format) = visit.parameter("format").map(str::to_owned) {
            return kinds::send(visit, call.query("format", format)).await;
        }
        let page = visit.parameter("page").unwrap_or("1").to_owned();
        let call = call.query("page", page).query("page_size", PAGE_SIZE.to_string());
        let answer = visit.ask(call).await;
        if !answer.is_success() {
            return visit.problem(&answer);
        }
        let days = |days: u64| date.checked_add_days(Days::new(days)).unwrap_or(date);
        let before = date.checked_sub_days(Days::new(1)).unwrap_or(date);
        // Whatever leads to another day or page keeps the filters.
        let link = |date: NaiveDate, name: &str, value: &str| {
            let mut query = vec![("date".to_owned(), date.to_string())];
            query.extend(kept.iter().cloned());
            query.push((name.to_owned(), value.to_owned()));
            with_query(&visit.path, &query)
        };
        let strip: Vec<_> =
            (0..7).map(days).map(|day| (day.to_string(), link(day, "page", ""))).collect();
        let figure = |name: &str| answer.pagination[name].as_i64().unwrap_or_default();
        let (page, last) = (figure("page"), figure("total_pages"));
        let to_page = |page: i64| link(date, "page", &page.to_string());
        let title = visit.page().title.say(visit.lang()).to_owned();
        let contents = context! {
            date => date.to_string(),
            before => link(before, "page", ""),
            after => link(days(1), "page", ""),
            strip => data(&strip),
            harbours => data(by_harbour(&answer.data)),
            total => figure("total_items"),
            page,
            last,
            previous => (page > 1).then(|| to_page(page - 1)),
            next => (page < last).then(|| to_page(page + 1)),
            file => link(date, "format", "csv"),
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
