//! Booking a sailing as a guest.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Value;

use super::{bookings, in_english};
use crate::web::{
    checkout::{Place, checkout},
    forms::Values,
    visit::Visit,
};

const GUEST: Place = Place {
    search: "/search",
    form: "site_form.html",
    check: "site_check.html",
    is_customer: true,
    booked,
};

static INDONESIAN: Place = GUEST;
static ENGLISH: Place = Place { search: "/en/search", ..GUEST };

pub fn site_book(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    let place = if in_english(visit.lang()) { &ENGLISH } else { &INDONESIAN };
    checkout(visit, form, place).boxed()
}

/// The page of the new booking, which this browser may open.
fn booked(visit: &mut Visit, booking: &Value) -> String {
    bookings::remember(visit, booking);
    bookings::page_of(visit, booking["code"].as_str().unwrap_or_default())
}
