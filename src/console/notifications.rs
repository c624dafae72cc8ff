//! Opening a notification marks it as read and leads to what it is about.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Value;

use crate::web::{client::Call, forms::Values, visit::Visit};

/// A form: following a link changes nothing.
pub fn open_notification(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        if form.is_none() {
            return visit.redirect("/console/notifications");
        }
        let call = Call::of("read_notification").params(&visit.params);
        let answer = visit.ask(call).await;
        if !answer.is_success() {
            return visit.problem(&answer);
        }
        let to = subject(&visit, &answer.data);
        visit.redirect(&to)
    }
    .boxed()
}

/// The page of what a notification is about, if the person may see it.
fn subject(visit: &Visit, notification: &Value) -> String {
    let data = &notification["data"];
    let id = |name: &str| data[name].as_str();
    let kind = notification["type"].as_str().unwrap_or_default();
    let candidates = [
        (kind == "payment.review")
            .then(|| ("list_payment_reviews", "/console/payment-reviews".into())),
        id("booking_id").map(|id| ("get_booking", format!("/console/bookings/{id}"))),
        id("settlement_id").map(|id| ("get_settlement", format!("/console/settlements/{id}"))),
        id("sailing_id").map(|id| ("get_route_time", format!("/console/sailings/{id}"))),
        id("mitra_id").map(|id| ("partner_overview", format!("/console/partners/{id}"))),
        kind.starts_with("partner.").then(|| ("get_onboarding", "/console/onboarding".into())),
    ];
    let mut candidates = candidates.into_iter().flatten();
    let found = candidates.find(|(operation, _)| visit.may(operation));
    found.map_or_else(|| "/console/notifications".to_owned(), |(_, path)| path)
}
