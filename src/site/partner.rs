//! The public page of a partner, and the search that other sites embed.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::Value;

use super::{at, front::lines, structured};
use crate::web::{
    answer,
    client::{Call, Envelope},
    forms::Values,
    offers::Search,
    session::Session,
    view::data,
    visit::Visit,
};

/// Its lines, its boats, and a search among its sailings.
pub fn site_partner(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let partner = match partner(&visit).await {
            Ok(partner) => partner,
            Err(refusal) => return visit.problem(&refusal),
        };
        let text = |name: &str| partner[name].as_str().unwrap_or_default();
        // The page has one address, whatever it was asked for by.
        let page = at(&visit, &format!("/p/{}", text("slug")));
        if page != visit.path {
            return visit.redirect(&page);
        }
        let search = Search::run(&visit, Some(text("id"))).await;
        if let Some(failure) = search.failure() {
            let failure = failure.clone();
            return visit.problem(&failure);
        }
        let pairs = partner["lines"].as_array().into_iter().flatten();
        let pairs = pairs.filter_map(|line| Some((line["from"].as_str()?, line["to"].as_str()?)));
        let trips = structured::trips(&visit, search.offers());
        let contents = context! {
            partner => data(&partner),
            lines => data(lines(&page, pairs)),
            search => search.contents(&visit, &at(&visit, "/book")),
            structured => trips,
            description => partner["description"].as_str(),
        };
        let (status, title) = (search.status(), text("name").to_owned());
        visit.render(status, "site_partner.html", &title, contents)
    }
    .boxed()
}

/// A search form for other sites, of all partners or of one. What is found opens in the whole window.
pub fn site_widget(mut visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        // A frame on another site knows and changes nothing of this browser.
        visit.session = Session::default();
        let partner = match visit.param("slug").is_some() {
            true => match partner(&visit).await {
                Ok(partner) => Some(partner),
                Err(refusal) => {
                    let mut response = visit.problem(&refusal);
                    answer::allow_frames(&mut response);
                    return response;
                }
            },
            false => None,
        };
        let search = Search::form(&visit).await;
        let action = match &partner {
            Some(partner) => {
                at(&visit, &format!("/p/{}", partner["slug"].as_str().unwrap_or_default()))
            }
            None => at(&visit, "/search"),
        };
        let contents = context! {
            search => search.contents(&visit, &at(&visit, "/book")),
            partner => data(&partner),
            action,
        };
        let title = visit.lang().of("Search sailings", "Cari jadwal");
        let mut response = visit.render(200, "site_widget.html", title, contents);
        answer::allow_frames(&mut response);
        response
    }
    .boxed()
}

async fn partner(visit: &Visit) -> Result<Value, Envelope> {
    let slug = visit.param("slug").unwrap_or_default().to_owned();
    let answer = visit.ask(Call::of("get_catalog_partner").params(&[slug])).await;
    match answer.status {
        200 => Ok(answer.data),
        _ => Err(answer),
    }
}
