//! Booking at the counter: search a sailing, fill in the form, check, take the cash.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::Value;

use crate::web::{
    checkout::{Place, checkout},
    forms::Values,
    offers::Search,
    visit::Visit,
};

const SEARCH: &str = "/console/bookings/new";

static COUNTER: Place = Place {
    search: SEARCH,
    form: "counter_form.html",
    check: "counter_check.html",
    is_customer: false,
    booked,
};

/// The booking; for those who may not see bookings, the next one.
fn booked(visit: &mut Visit, booking: &Value) -> String {
    match visit.may("get_booking") {
        true => format!("/console/bookings/{}", booking["id"].as_str().unwrap_or_default()),
        false => SEARCH.to_owned(),
    }
}

pub fn search_to_book(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        // A partner sells its own sailings.
        let partner = visit.me.as_ref().and_then(|me| me.profile["mitra"]["id"].as_str());
        let search = Search::run(&visit, partner).await;
        if let Some(failure) = search.failure() {
            let failure = failure.clone();
            return visit.problem(&failure);
        }
        let title = visit.page().title.say(visit.lang()).to_owned();
        let contents = context! { search => search.contents(&visit, SEARCH) };
        let status = search.status();
        visit.render(status, "counter_search.html", &title, contents)
    }
    .boxed()
}

pub fn book(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    checkout(visit, form, &COUNTER).boxed()
}
