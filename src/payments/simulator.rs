//! The pages of the payment simulator, on which a person can pay, fail or let a payment expire, and
//! accept, decline, delay or drop a refund or a payout. Available only if the simulator is the
//! configured provider.

use axum::{
    Form,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use chrono::TimeDelta;
use minijinja::context;
use serde::{Deserialize, Serialize};

use super::{apply, automatic, model::Payment, store};
use crate::{
    app::App,
    bookings::{self, BookingRow},
    config::PaymentProvider,
    kernel::{
        caller::Context,
        error::{Error, Result},
        http::Path,
        ids::Uuid,
    },
    providers::Outcome,
    settlements,
    transfers::{self, Transfer},
    web::{PublicPage, view::data},
};

pub async fn pay_page(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
    Path(reference): Path<String>,
) -> Result<Response> {
    let (payment, booking) = found(&app, &reference).await?;
    page(&PublicPage { app: &app, context: &context, headers: &headers }, &payment, &booking)
}

#[derive(Deserialize)]
pub struct Pressed {
    action: String,
}

/// Sends the notification of the chosen outcome through the regular callback.
pub async fn pay_page_pressed(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
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
    page(&PublicPage { app: &app, context: &context, headers: &headers }, &payment, &booking)
}

/// The newest transfers of the simulator.
pub async fn transfers_page(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
) -> Result<Response> {
    simulates_transfers(&app)?;
    let transfers = transfers::newest_of_provider(&app.db, "simulator").await?;
    show(&PublicPage { app: &app, context: &context, headers: &headers }, &transfers, false)
}

pub async fn transfer_page(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
    Path(id): Path<Uuid>,
) -> Result<Response> {
    let transfer = found_transfer(&app, id).await?;
    show(&PublicPage { app: &app, context: &context, headers: &headers }, &[transfer], true)
}

/// Decides as the provider would.
pub async fn transfer_page_pressed(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
    Path(id): Path<Uuid>,
    Form(pressed): Form<Pressed>,
) -> Result<Response> {
    let transfer = found_transfer(&app, id).await?;
    let now = app.clock.now();
    let by_person = |what: &str| format!("{what} on the page of the simulator");
    let outcome = match pressed.action.as_str() {
        "accept" => {
            let provider_id = format!("sim-{id}");
            Some(Outcome::Confirmed { provider_id, amount: Some(transfer.amount) })
        }
        "decline" => Some(Outcome::Rejected(by_person("declined"))),
        "reverse" => Some(Outcome::Reversed(by_person("reversed"))),
        "delay" => {
            transfers::postpone(&app.db, id, now + TimeDelta::hours(1)).await?;
            None
        }
        "drop" => {
            transfers::simulate_lost_response(&app.db, id, now).await?;
            None
        }
        _ => return Err(Error::NotFound),
    };
    if let Some(outcome) = outcome {
        match transfer.settlement_id {
            None => automatic::settle(&app, &transfer, &outcome, now).await?,
            Some(settlement) => {
                settlements::settle_payout(&app, &transfer, settlement, &outcome, now).await?;
            }
        }
    }
    let transfer = found_transfer(&app, id).await?;
    show(&PublicPage { app: &app, context: &context, headers: &headers }, &[transfer], true)
}

fn simulates_transfers(app: &App) -> Result<()> {
    let providers = app.providers();
    let all = [Some(&providers.refunds), providers.payouts.as_ref()];
    match all.into_iter().flatten().any(|provider| provider.name() == "simulator") {
        true => Ok(()),
        false => Err(Error::NotFound),
    }
}

async fn found_transfer(app: &App, id: Uuid) -> Result<Transfer> {
    simulates_transfers(app)?;
    let transfer = transfers::get(&app.db, id).await?;
    transfer.filter(|transfer| transfer.provider == "simulator").ok_or(Error::NotFound)
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

fn page(outside: &PublicPage<'_>, payment: &Payment, booking: &BookingRow) -> Result<Response> {
    // Where a provider would send the customer back to.
    let return_url = bookings::app_page(outside.app, booking);
    let contents = context! {
        home => return_url.as_str(),
        return_url => return_url.as_str(),
        total => payment.amount.to_string(),
        code => booking.code.as_str(),
        from => booking.joined.from_name.as_str(),
        to => booking.joined.to_name.as_str(),
        reference => payment.reference.as_str(),
        payment => payment.status.as_str(),
        booking => booking.status.as_str(),
    };
    let title = outside.lang().of("Payment simulator", "Simulator pembayaran");
    outside.render(StatusCode::OK, "pay.html", title, contents)
}

/// A transfer as the page shows it.
#[derive(Serialize)]
struct Shown<'a> {
    id: String,
    is_payout: bool,
    status: &'static str,
    is_open: bool,
    why: Option<&'a str>,
    amount: String,
}

/// The list of transfers, or the page of one with its buttons.
fn show(outside: &PublicPage<'_>, transfers: &[Transfer], single: bool) -> Result<Response> {
    let shown = transfers.iter().map(|transfer| Shown {
        id: transfer.id.to_string(),
        is_payout: transfer.settlement_id.is_some(),
        status: transfer.status.as_str(),
        is_open: transfer.status.is_open(),
        why: transfer.last_error.as_deref(),
        amount: transfer.amount.to_string(),
    });
    let contents =
        context! { home => "/pay/transfers", transfers => data(shown.collect::<Vec<_>>()), single };
    let title =
        outside.lang().of("Transfers of the payment simulator", "Transfer simulator pembayaran");
    outside.render(StatusCode::OK, "transfers.html", title, contents)
}
