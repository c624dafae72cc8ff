//! The page of the payment simulator, on which a person can pay, fail or let a payment expire.
//! Available only if the simulator is the configured provider.

use askama::Template;
use axum::{
    Form,
    extract::State,
    http::header::CONTENT_SECURITY_POLICY,
    response::{Html, IntoResponse, Response},
};
use serde::Deserialize;

use super::{apply, model::Payment, store};
use crate::{
    app::App,
    bookings::{self, BookingRow},
    config::PaymentProvider,
    kernel::{
        error::{Error, Result},
        http::Path,
    },
};

#[derive(Template)]
#[template(path = "pay.html")]
struct Page<'a> {
    booking: &'a BookingRow,
    payment: &'a Payment,
    total: String,
}

pub async fn pay_page(State(app): State<App>, Path(reference): Path<String>) -> Result<Response> {
    let (payment, booking) = found(&app, &reference).await?;
    page(&payment, &booking)
}

#[derive(Deserialize)]
pub struct Pressed {
    action: String,
}

/// Sends the notification of the chosen outcome through the regular callback.
pub async fn pay_page_pressed(
    State(app): State<App>,
    Path(reference): Path<String>,
    Form(pressed): Form<Pressed>,
) -> Result<Response> {
    let (payment, _) = found(&app, &reference).await?;
    let status = match pressed.action.as_str() {
        "pay" => "settlement",
        "fail" => "deny",
        "expire" => "expire",
        _ => return Err(Error::NotFound),
    };
    // One transaction id per reference, so that repeating it pays once.
    let id = format!("sim-{reference}");
    let body = app.gateway().simulate(&reference, payment.amount, status, id);
    let notice = app.gateway().read(&Default::default(), &body)?;
    apply::apply(&app, &payment, &notice, &body).await?;
    let (payment, booking) = found(&app, &reference).await?;
    page(&payment, &booking)
}

async fn found(app: &App, reference: &str) -> Result<(Payment, BookingRow)> {
    if app.gateway().provider != PaymentProvider::Simulator {
        return Err(Error::NotFound);
    }
    let payment = store::by_reference(&app.db, reference).await?;
    let payment = payment.filter(|payment| payment.provider == "simulator");
    let payment = payment.ok_or(Error::NotFound)?;
    let booking = bookings::get(&app.db, payment.booking_id).await?.ok_or(Error::NotFound)?;
    Ok((payment, booking))
}

fn page(payment: &Payment, booking: &BookingRow) -> Result<Response> {
    let total = payment.amount.to_string();
    let page = Page { booking, payment, total }.render().map_err(Error::internal)?;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                  frame-ancestors 'none'";
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}
