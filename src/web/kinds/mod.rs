//! What most pages are: a list, a record, a form.

mod form;
mod list;
mod show;

pub use form::{form, form_with, submit};
pub use list::list;
pub use show::show;

use axum::{
    http::{
        HeaderValue, Uri,
        header::{CACHE_CONTROL, REFERER},
    },
    response::Response,
};
use serde::Serialize;
use serde_json::Value;

use super::{
    client::{Call, read},
    format::{Locale, at},
    page::{Kind, Page},
    visit::Visit,
    words,
};

/// A file or a stream, as the operation answers it.
pub async fn file(visit: Visit) -> Response {
    let operation = visit.page().operation;
    let mut call = visit.call(operation);
    let input = visit.web.client().input(operation);
    call.query =
        visit.query.iter().filter(|(name, _)| input.parameter(name).is_some()).cloned().collect();
    send(visit, call).await
}

/// Answers with a file or a stream, and with a page where there is none.
pub async fn send(visit: Visit, call: Call) -> Response {
    let mut response = visit.send(call).await;
    if response.status().is_success() {
        // A file that is public in the API is answered here for one person.
        if let Some(cached) = response.headers_mut().get_mut(CACHE_CONTROL) {
            let rule = cached.to_str().unwrap_or_default().replace("public", "private");
            *cached = HeaderValue::from_str(&rule).unwrap_or(HeaderValue::from_static("no-store"));
        }
        return visit.with_cookies(response);
    }
    let envelope = read(response, &visit.context).await;
    visit.problem(&envelope)
}

/// A link to another page.
#[derive(Debug, Serialize)]
pub struct Link {
    pub href: String,
    pub label: String,
    pub danger: bool,
}

/// The head of a column.
#[derive(Debug, Serialize)]
pub struct Column {
    pub label: String,
    /// Where the list is sorted by it.
    pub sort: Option<String>,
    /// `ascending` or `descending`.
    pub sorted: Option<&'static str>,
    pub class: &'static str,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    pub label: String,
    pub html: String,
    pub class: &'static str,
}

#[derive(Debug, Serialize)]
pub struct TableRow {
    pub href: Option<String>,
    pub cells: Vec<Cell>,
    pub actions: Vec<Link>,
}

/// The fields of a record.
pub fn cells(record: &Value, columns: &str, locale: Locale) -> Vec<Cell> {
    let cells = columns.split_whitespace().map(|column| {
        let path = column.split(':').next().unwrap_or(column);
        let class = if at(record, path).is_number() { "num" } else { "" };
        Cell { label: words::label(path, locale.lang), html: locale.cell(record, column), class }
    });
    cells.collect()
}

/// Puts parameters of the page and fields of a record into a path. `None` if one is missing.
pub fn fill(path: &str, visit: &Visit, record: &Value) -> Option<String> {
    fill_with(path, |name| {
        let of_page = visit.param(name).or_else(|| record[name].as_str());
        of_page.or_else(|| record["id"].as_str()).map(str::to_owned)
    })
}

/// Replaces each `{name}`.
fn fill_with(path: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&value(name)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// The pages directly under a path that the person may open, for some records at least.
pub fn pages_under<'v>(visit: &'v Visit, path: &str) -> Vec<&'v Page> {
    let is_child = |page: &Page| {
        page.path.rsplit_once('/').is_some_and(|(above, name)| {
            !name.starts_with('{') && without_names(above).eq(without_names(path))
        })
    };
    let is_offered = |page: &Page| {
        let is_new = page.path.ends_with("/new");
        is_new || matches!(page.kind, Kind::Form | Kind::List | Kind::Show)
    };
    let pages = visit.web.pages().iter().filter(|page| is_child(page));
    pages.filter(|page| is_offered(page) && page.menu.is_none() && visit.may(page.guard)).collect()
}

/// Links to those pages that fit this record.
pub fn actions(visit: &Visit, pages: &[&Page], record: &Value) -> Vec<Link> {
    let links = pages.iter().filter(|page| fits(page, record)).filter_map(|page| {
        Some(Link {
            href: fill(page.path, visit, record)?,
            label: page.title.say(visit.lang()).to_owned(),
            danger: page.danger,
        })
    });
    links.collect()
}

fn fits(page: &Page, record: &Value) -> bool {
    page.when.is_none_or(|(field, values)| match at(record, field) {
        Value::Bool(yes) => values.contains(&if *yes { "true" } else { "false" }),
        Value::Null => values.contains(&"null"),
        value => value.as_str().is_some_and(|value| values.contains(&value)),
    })
}

/// The parts of `/console/periods/{}` for `/console/periods/{month}`.
fn without_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part })
}

/// The page above, which a page leads back to.
pub fn back(visit: &Visit) -> Option<Link> {
    let mut path = visit.page().path;
    loop {
        (path, _) = path.rsplit_once('/')?;
        if path == "/console" {
            return None;
        }
        let page = visit.web.pages().iter().find(|page| page.path == path);
        if let Some(page) = page.filter(|page| page.public || visit.may(page.guard)) {
            let href = fill(path, visit, &Value::Null)?;
            return Some(Link {
                href: with_filters(visit, &href).unwrap_or(href),
                label: page.title.say(visit.lang()).to_owned(),
                danger: false,
            });
        }
    }
}

/// The page above with the filters and the page that the visitor comes from. Only in the console, whose
/// pages are not shared between visitors.
fn with_filters(visit: &Visit, above: &str) -> Option<String> {
    let referer: Uri = visit.headers.get(REFERER)?.to_str().ok()?.parse().ok()?;
    let is_above = referer.path() == above && above.starts_with("/console");
    let query = referer.query().filter(|query| is_above && query.len() <= 1_000)?;
    Some(format!("{above}?{query}"))
}
