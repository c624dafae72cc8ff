//! The first page: the search, all lines as links, promotions, and the call to partners.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde::Serialize;
use serde_json::Value;

use super::at;
use crate::web::{
    client::Call,
    forms::Values,
    offers::Search,
    view::data,
    visit::{Visit, with_query},
};

/// A harbour and where one can go from there.
#[derive(Serialize)]
pub struct Departures {
    from: String,
    place: Option<String>,
    /// Name and search of each destination.
    to: Vec<(String, String)>,
}

impl Departures {
    pub fn is_from(&self, harbour: &str) -> bool {
        self.from.eq_ignore_ascii_case(harbour.trim())
    }
}

pub fn front(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let promotions = Call::of("list_running_promotions").query("page_size", "6");
        let (search, promotions, partners) = tokio::join!(
            Search::form(&visit),
            visit.ask(promotions),
            visit.ask(Call::of("get_cta_partnership")),
        );
        if let Some(failure) = search.failure() {
            let failure = failure.clone();
            return visit.problem(&failure);
        }
        let lang = visit.lang();
        let title = lang.of("Speedboats between the islands", "Kapal cepat antarpulau");
        let call = Some(&partners.data).filter(|call| call["is_active"] == true);
        let contents = context! {
            search => search.contents(&visit, &at(&visit, "/book")),
            departures => data(departures(&visit, search.locations())),
            promotions => data(&promotions.data),
            call => data(call),
        };
        visit.render(200, "site_front.html", title, contents)
    }
    .boxed()
}

pub fn departures(visit: &Visit, locations: &Value) -> Vec<Departures> {
    let search = at(visit, "/search");
    let locations = locations.as_array().into_iter().flatten();
    let departures = locations.filter_map(|location| {
        let from = location["name"].as_str()?;
        let to = location["destinations"].as_array().into_iter().flatten();
        let to =
            to.filter_map(Value::as_str).map(|to| (to.to_owned(), search_link(&search, from, to)));
        let place = location["city"].as_str().or(location["province"].as_str());
        Some(Departures {
            from: from.to_owned(),
            place: place.map(str::to_owned),
            to: to.collect(),
        })
    });
    departures.filter(|one| !one.to.is_empty()).collect()
}

/// The search of a line on a page.
fn search_link(page: &str, from: &str, to: &str) -> String {
    with_query(page, &[("from".into(), from.into()), ("to".into(), to.into())])
}

/// Lines with the links to their searches on a page.
pub fn lines<'a>(
    page: &str,
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(&'a str, &'a str, String)> {
    pairs.map(|(from, to)| (from, to, search_link(page, from, to))).collect()
}

/// All lines, from where to where.
pub fn pairs(locations: &Value) -> impl Iterator<Item = (&str, &str)> {
    let locations = locations.as_array().into_iter().flatten();
    locations.flat_map(|location| {
        let from = location["name"].as_str().unwrap_or_default();
        let to = location["destinations"].as_array().into_iter().flatten();
        to.filter_map(Value::as_str).map(move |to| (from, to))
    })
}
