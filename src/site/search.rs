//! Sailings of a day from one harbour to another.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use super::{
    at,
    front::{departures, pairs},
    structured,
};
use crate::web::{
    forms::Values,
    offers::Search,
    view::data,
    visit::{Visit, with_query},
};

pub fn site_search(mut visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let search = Search::run(&visit, None).await;
        if let Some(failure) = search.failure() {
            let failure = failure.clone();
            return visit.problem(&failure);
        }
        let ends = ["from", "to"].map(|name| visit.parameter(name).unwrap_or_default().to_owned());
        let title = match ends.iter().any(String::is_empty) {
            true => visit.lang().of("Search", "Cari").to_owned(),
            false => format!("{} → {}", ends[0], ends[1]),
        };
        // Where else one can go from there.
        let all = departures(&visit, search.locations());
        let others = all.into_iter().filter(|one| one.is_from(&ends[0])).collect::<Vec<_>>();
        let is_line = pairs(search.locations()).any(|(from, to)| ends[0] == from && ends[1] == to);
        let [from, to] = ends;
        let mut back = vec![("from".to_owned(), to), ("to".to_owned(), from)];
        back.extend(
            visit.query.iter().filter(|(name, _)| name == "date" || name == "qty").cloned(),
        );
        let contents = context! {
            search => search.contents(&visit, &at(&visit, "/book")),
            others => data(others),
            structured => structured::trips(&visit, search.offers()),
            way_back => with_query(&visit.path, &back),
        };
        // Only lines that exist are pages of their own for search engines.
        if !is_line {
            visit.is_listed = false;
        }
        let status = search.status();
        visit.render(status, "site_search.html", &title, contents)
    }
    .boxed()
}
