//! The OCTO supplier API: resellers sell seats of the partners that are granted to them.
//!
//! - `/octo` is the platform with all granted partners, `/octo/partners/{id}` one of them.
//! - There is no envelope: bare JSON, and 400 with a word for every refusal ([`error`]).
//! - A key is read with every request, with its reseller, its grants and the taxes ([`access`]).
//! - A product is a line, or the day ticket of a line; an availability is a sailing, or a day.
//! - A booking is held, confirmed on account, and cancelled like any other ([`bookings`]).

mod access;
mod availability;
mod bookings;
mod error;
mod limits;
mod notifications;
mod params;
mod pricing;
mod product;
mod request;
mod store;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::{MethodRouter, get, post},
};

use crate::{app::App, table::retry_on_contention};

pub use error::rendered;
pub use limits::KeyLimits;

/// Whether a path belongs to this API.
pub fn is_octo(path: &str) -> bool {
    path == "/octo" || path.starts_with("/octo/")
}

const VOUCHER: &str = "/octo/vouchers/{id}";

/// Whether the limits of a reseller's key count requests with these headers for a route. Keys that are
/// not good count by address there.
pub fn is_limited_by_key(route: &str, headers: &HeaderMap) -> bool {
    is_octo(route) && route != VOUCHER && access::bearer(headers).is_some()
}

/// Paths and handlers, for both bases.
pub fn handlers(app: &App) -> Vec<(&'static str, MethodRouter<App>)> {
    macro_rules! both {
        ($path:literal, $handler:expr) => {
            [(concat!("/octo", $path), $handler), (concat!("/octo/partners/{id}", $path), $handler)]
        };
    }
    let routes = [
        both!("/supplier", get(product::get_supplier)),
        both!("/products", get(product::list_products)),
        both!("/products/{product}", get(product::get_product)),
        both!("/capabilities", get(product::list_capabilities)),
        both!("/availability", post(availability::check_availability)),
        both!("/availability/calendar", post(availability::check_calendar)),
        both!("/bookings", get(bookings::list_bookings).post(bookings::create_booking)),
        both!(
            "/bookings/{uuid}",
            get(bookings::get_booking)
                .patch(bookings::update_booking)
                .delete(bookings::cancel_booking)
        ),
        both!("/bookings/{uuid}/extend", post(bookings::extend_booking)),
        both!("/bookings/{uuid}/confirm", post(bookings::confirm_booking)),
        both!("/bookings/{uuid}/cancel", post(bookings::cancel_booking)),
        both!(
            "/notifications/subscriptions",
            get(notifications::list_subscriptions).post(notifications::subscribe)
        ),
        both!(
            "/notifications/subscriptions/{subscription}",
            get(notifications::get_one)
                .patch(notifications::change)
                .delete(notifications::unsubscribe)
        ),
    ];
    let wrapped = |(path, handler): (&'static str, MethodRouter<App>)| {
        let handler = handler.route_layer(from_fn(retry_on_contention));
        (path, handler.route_layer(from_fn_with_state(app.clone(), announce)))
    };
    let voucher = [(VOUCHER, get(bookings::get_voucher))];
    routes.into_iter().flatten().map(wrapped).chain(voucher).collect()
}

/// Names the capabilities that are active, and the environment.
async fn announce(State(app): State<App>, request: Request, next: Next) -> Response {
    let pricing = access::wants_pricing(request.headers());
    let mut response = next.run(request).await;
    let active = if pricing { access::PRICING } else { "" };
    let environment = if app.config.octo_test.0 { "test" } else { "live" };
    let headers = response.headers_mut();
    headers.insert(access::CAPABILITIES, HeaderValue::from_static(active));
    headers.insert(access::ENVIRONMENT, HeaderValue::from_static(environment));
    response
}
