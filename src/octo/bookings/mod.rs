//! Bookings of resellers: held, changed, confirmed on account, cancelled.

mod cancel;
mod change;
mod confirm;
mod hold;
mod items;
mod store;
mod view;

use axum::{
    body::Bytes,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use self::store::{Asked, Filter, Row};
use super::{
    access::Client,
    error::{Problem, Result},
    params::Params,
    product::{OPTION, ProductId},
    request::{self, Fields, Reply},
};
use crate::{
    app::App,
    bookings,
    files::{SignedAction, signature_allows},
    kernel::{caller::Context, error::Error, ids::Uuid},
    resellers::Scope,
    sailings::offers,
    tickets,
};

/// The most bookings of a list, which has no pages.
const MOST: i64 = 2_000;
/// The longest period of travel that is listed.
const LONGEST_PERIOD: i64 = 31;

/// The booking, if it is one of the client's. Others do not exist.
async fn find(app: &App, client: &Client, uuid: Uuid) -> Result<Row> {
    let row = store::get(&app.db, client.reseller_id, uuid).await?;
    visible(client, row, uuid)
}

/// Under the base of a partner, bookings of others do not exist.
fn visible(client: &Client, row: Option<Row>, uuid: Uuid) -> Result<Row> {
    let is_of_base = |row: &Row| client.partner_id.is_none_or(|only| only == row.line.partner_id);
    row.filter(is_of_base).ok_or_else(|| Problem::booking(uuid.to_string()))
}

/// Its offers in cached responses are out of date once the transaction has ended.
fn trip_of(row: &Row) -> crate::kernel::http::CacheTag {
    let line = &row.line;
    let (from, to) = (line.from_harbour_id, line.to_harbour_id);
    offers::trip_tag(from, to, row.sailing.departure_at, line.timezone)
}

pub async fn create_booking(
    State(app): State<App>,
    client: Client,
    context: Context,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::BookingsWrite)?;
    let body = request::body(body).await?;
    let row = hold::hold(&app, &client, &context, &body).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

pub async fn get_booking(State(app): State<App>, client: Client, params: Params) -> Result<Reply> {
    client.may(Scope::BookingsRead)?;
    let row = find(&app, &client, params.booking()?).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

/// What a list is asked for by.
fn filter(params: &Params) -> Result<Filter> {
    let days =
        (params.date("localDate")?, params.date("localDateStart")?, params.date("localDateEnd")?);
    if let Some(code) = params.text("supplierReference")? {
        return Ok(Filter::SupplierReference(code.trim().to_ascii_uppercase()));
    }
    if let Some(reference) = params.text("resellerReference")? {
        return Ok(Filter::ResellerReference(reference.to_owned()));
    }
    match days {
        (Some(date), None, None) => Ok(Filter::Days(date, date)),
        (None, Some(start), Some(end))
            if start <= end && (end - start).num_days() < LONGEST_PERIOD =>
        {
            Ok(Filter::Days(start, end))
        }
        _ => Err(Problem::bad_request(
            "State resellerReference, supplierReference, localDate, or localDateStart and \
             localDateEnd of at most 31 days.",
            "Isi resellerReference, supplierReference, localDate, atau localDateStart dan \
             localDateEnd paling lama 31 hari.",
        )),
    }
}

pub async fn list_bookings(
    State(app): State<App>,
    client: Client,
    params: Params,
) -> Result<Reply> {
    client.may(Scope::BookingsRead)?;
    let filter = filter(&params)?;
    let (product, option) = (params.text("productId")?, params.text("optionId")?);
    let product = match product {
        Some(sent) => Some(ProductId::parse(sent).ok_or_else(|| Problem::product(json!(sent)))?),
        None => None,
    };
    let asked = Asked { filter, product, partner: client.partner_id };
    let rows = match option.is_none_or(|id| id == OPTION) {
        true => store::list(&app.db, client.reseller_id, &asked, MOST + 1).await?,
        false => Vec::new(),
    };
    if rows.len() as i64 > MOST {
        return Err(Problem::bad_request(
            "These are more than 2,000 bookings; ask for a shorter period.",
            "Lebih dari 2.000 pemesanan; gunakan periode yang lebih pendek.",
        ));
    }
    Ok(Reply(Value::Array(view::records(&app, &client, rows).await?)))
}

pub async fn update_booking(
    State(app): State<App>,
    client: Client,
    params: Params,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::BookingsWrite)?;
    let body = request::body(body).await?;
    let uuid = params.booking()?;
    let row = change::change(&app, &client, uuid, Fields::of("body", &body)?).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

pub async fn extend_booking(
    State(app): State<App>,
    client: Client,
    params: Params,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::BookingsWrite)?;
    let body = request::body(body).await?;
    let minutes = request::expiration_minutes(Fields::of("body", &body)?, 30)?;
    let row = hold::extend(&app, &client, params.booking()?, minutes).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

pub async fn confirm_booking(
    State(app): State<App>,
    client: Client,
    params: Params,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::BookingsWrite)?;
    let body = request::body(body).await?;
    let fields = Fields::of("body", &body)?;
    let row = confirm::confirm(&app, &client, &params, fields).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

pub async fn cancel_booking(
    State(app): State<App>,
    client: Client,
    params: Params,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::BookingsWrite)?;
    let body = request::body(body).await?;
    let fields = Fields::of("body", &body)?;
    let row = cancel::cancel(&app, &client, &params, fields).await?;
    Ok(Reply(view::record(&app, &client, row).await?))
}

/// The tickets of a booking as a PDF document, by a signed address.
pub async fn get_voucher(State(app): State<App>, params: Params) -> Result<Response> {
    let not_found = || Problem::Failed(Error::NotFound);
    let id = request::uuid(params.last()).ok_or_else(not_found)?;
    let signature = params.signature();
    // Addresses stay valid when the key is replaced.
    let mut keys = std::iter::once(&app.secret_key).chain(&app.config.old_secret_keys.0);
    let (action, now) = (SignedAction::Voucher(id), app.clock.now());
    if !keys.any(|key| signature_allows(key, action, &signature, now)) {
        return Err(not_found());
    }
    let booking = bookings::get(&app.db, id).await?.ok_or_else(not_found)?;
    match tickets::attachment(&app, booking).await? {
        Some(tickets) => {
            let name = format!("inline; filename=\"{}\"", tickets.name);
            let headers = [
                (header::CONTENT_TYPE, "application/pdf".to_owned()),
                (header::CONTENT_DISPOSITION, name),
            ];
            Ok((headers, tickets.pdf).into_response())
        }
        // Cancelled.
        None => {
            let mut response = StatusCode::GONE.into_response();
            response.extensions_mut().insert(crate::kernel::http::Complete);
            Ok(response)
        }
    }
}
