//! One search box for everything.

use axum::response::Response;
use futures_util::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use minijinja::context;
use serde::Serialize;
use serde_json::Value;

use crate::web::{
    client::Call,
    forms::Values,
    kinds::{Cell, cells},
    view::data,
    visit::{Visit, with_query},
};

/// What is searched: operation, page, and the fields that are shown.
const PLACES: &[(&str, &str, &str)] = &[
    ("list_bookings", "/console/bookings", "code contact.name sailing.journey status"),
    ("list_partners", "/console/partners", "name email status"),
    ("list_speedboats", "/console/boats", "name registration_number mitra.name status"),
    ("list_staff", "/console/staff", "name email permission.name"),
];

#[derive(Serialize)]
struct Found {
    title: String,
    all: String,
    rows: Vec<(String, Vec<Cell>)>,
}

pub fn find(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let wanted = visit.parameter("q").unwrap_or_default().trim().to_owned();
        let places =
            PLACES.iter().filter(|(operation, ..)| !wanted.is_empty() && visit.may(operation));
        let (asking, text) = (&visit, wanted.as_str());
        let answers = join_all(places.map(|(operation, path, columns)| async move {
            let call = Call::of(operation).query("search", text).query("page_size", "5");
            (*path, *columns, asking.ask(call).await)
        }));
        let answers = answers.await;
        // A booking code is unique, so it leads straight to its booking.
        let exact = answers.iter().find_map(|(path, _, answer)| {
            let row = answer.data.as_array()?.first()?;
            let is_code = row["code"].as_str()?.eq_ignore_ascii_case(&wanted);
            is_code.then(|| format!("{path}/{}", row["id"].as_str().unwrap_or_default()))
        });
        if let Some(path) = exact {
            return visit.redirect(&path);
        }
        let found = answers.iter().filter_map(|(path, columns, answer)| {
            found(&visit, &wanted, path, columns, &answer.data)
        });
        let found: Vec<_> = found.collect();
        let title = visit.page().title.say(visit.lang()).to_owned();
        let contents = context! { q => wanted.as_str(), found => data(&found) };
        visit.render(200, "find.html", &title, contents)
    }
    .boxed()
}

fn found(visit: &Visit, wanted: &str, path: &str, columns: &str, answer: &Value) -> Option<Found> {
    let rows = answer.as_array().or_else(|| answer["items"].as_array())?;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let id = row["id"].as_str().unwrap_or_default();
            (format!("{path}/{id}"), cells(row, columns, visit.locale()))
        })
        .collect();
    let page = visit.web.pages().iter().find(|page| page.path == path)?;
    let all = with_query(path, &[("search".to_owned(), wanted.to_owned())]);
    (!rows.is_empty()).then(|| Found { title: page.title.say(visit.lang()).to_owned(), all, rows })
}
