//! The pages of the payment simulator, on which a person can pay, fail or let a payment expire, and
//! accept, decline, delay or drop a refund or a payout. Available only if the simulator is the
//! configured provider.

use askama::Template;
use axum::{
    Form,
    extract::State,
    http::header::CONTENT_SECURITY_POLICY,
    response::{Html, IntoResponse, Response},
};
use chrono::TimeDelta;
use serde::Deserialize;

use super::{apply, automatic, model::Payment, store};
use crate::{
    app::App,
    bookings::{self, BookingRow},
    config::PaymentProvider,
    kernel::{
        error::{Error, Result},
        http::Path,
        ids::Uuid,
    },
    providers::Outcome,
    settlements,
    transfers::{self, Transfer},
};

#[derive(Template)]
#[template(path = "pay.html")]
struct Page<'a> {
    booking: &'a BookingRow,
    payment: &'a Payment,
    total: String,
    /// Where a provider would send the customer back to.
    return_url: String,
}

pub async fn pay_page(State(app): State<App>, Path(reference): Path<String>) -> Result<Response> {
    let (payment, booking) = found(&app, &reference).await?;
    page(&app, &payment, &booking)
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
    page(&app, &payment, &booking)
}

#[derive(Template)]
#[template(path = "transfers.html")]
struct TransfersPage<'a> {
    transfers: &'a [Transfer],
    /// Whether it is the page of one transfer, with its buttons.
    single: bool,
}

/// The newest transfers of the simulator.
pub async fn transfers_page(State(app): State<App>) -> Result<Response> {
    simulates_transfers(&app)?;
    let transfers = transfers::newest_of_provider(&app.db, "simulator").await?;
    html(&TransfersPage { transfers: &transfers, single: false })
}

pub async fn transfer_page(State(app): State<App>, Path(id): Path<Uuid>) -> Result<Response> {
    let transfer = found_transfer(&app, id).await?;
    html(&TransfersPage { transfers: &[transfer], single: true })
}

/// Decides as the provider would.
pub async fn transfer_page_pressed(
    State(app): State<App>,
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
            transfers::forget_answer(&app.db, id, now).await?;
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
    html(&TransfersPage { transfers: &[transfer], single: true })
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

fn page(app: &App, payment: &Payment, booking: &BookingRow) -> Result<Response> {
    let (total, return_url) = (payment.amount.to_string(), bookings::app_page(app, booking));
    html(&Page { booking, payment, total, return_url })
}

fn html(page: &impl Template) -> Result<Response> {
    let page = page.render().map_err(Error::internal)?;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                  frame-ancestors 'none'";
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}
