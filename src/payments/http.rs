//! Handlers of payments, and of the sale that begins one.

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, request::Parts},
};
use serde_json::{Value, json};

use super::{
    apply, attempts,
    model::{Method, PayAgain, PaymentStatus, RefundForm, Resolve, Review, ReviewsQuery},
    reviews,
    store::{self, NewPayment},
};
use crate::{
    app::App,
    bookings::{
        self, Booking, BookingAccess, BookingForm, BookingRow, BookingStatus, Knows,
        PathOwnBooking, shown,
    },
    kernel::{
        audit::Change,
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Body, MAX_BODY, OptionalBody, Page, Path, Query, Reply, unreadable},
        idempotency::{Claim, Key},
        ids::Uuid,
        lang::text,
    },
    ledger::{self, Account, Posting, Source},
};

/// The key that makes a repeat harmless, where the request carries one.
pub struct IdempotencyKey(Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let header = parts.headers.get("idempotency-key").map(|key| key.to_str());
        match header {
            None => Ok(Self(None)),
            Some(key) => Ok(Self(Some(Key::parse(key.unwrap_or_default())?))),
        }
    }
}

impl aide::OperationInput for IdempotencyKey {}

/// Sells the seats, then asks the provider where to pay for them.
pub async fn create_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    context: Context,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted,
) -> Result<Reply<Sold>> {
    let sold = "Your seats are held. Please pay in time.";
    let sold_id = "Kursi Anda ditahan. Mohon bayar tepat waktu.";
    let Some(key) = key else {
        let booking = bookings::sell(&app, caller.as_ref(), &context, &form, None).await?;
        let answer = json!(with_payment(&app, booking).await?);
        return Ok(Reply::data(Sold(answer)).saying(sold, sold_id));
    };
    let key = Key {
        caller: caller.as_ref().map(|caller| caller.person.id),
        operation: "create_booking",
        key,
        path: "/v1/booking".into(),
        body,
    };
    match key.claim(&app.db, app.clock.now()).await? {
        Claim::Replay(kept) => {
            let replayed = HeaderName::from_static("idempotency-replayed");
            let reply = Reply::data(Sold(first_answer(&app, &kept).await?));
            let reply = reply.saying(sold, sold_id);
            Ok(reply.header(replayed, HeaderValue::from_static("true")))
        }
        Claim::Run(running) => {
            let sale = bookings::sell(&app, caller.as_ref(), &context, &form, Some(&running));
            let booking = match sale.await {
                Ok(booking) => booking,
                Err(refusal) => {
                    running.release(&app.db).await?;
                    return Err(refusal);
                }
            };
            let answer = json!(with_payment(&app, booking).await?);
            let sealed = app.sealer.seal(&answer.to_string())?;
            running.amend(&app.db, &json!({ "sealed": sealed })).await?;
            Ok(Reply::data(Sold(answer)).saying(sold, sold_id))
        }
    }
}

/// A booking, new or as it was answered before.
#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Sold(#[schemars(with = "Booking")] Value);

/// The answer that was given, sealed since it may hold identity numbers; or, of a request that did
/// not live to give one, the booking that it made.
async fn first_answer(app: &App, kept: &Value) -> Result<Value> {
    if let Some(sealed) = kept["sealed"].as_str() {
        return serde_json::from_str(&app.sealer.open(sealed)?).map_err(Error::internal);
    }
    let id = kept["booking_id"].as_str().and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| Error::internal("a kept answer says nothing"))?;
    let booking = bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    Ok(json!(shown(app, booking, true)?))
}

/// What was sold stays sold, whatever the provider does.
async fn with_payment(app: &App, booking: BookingRow) -> Result<Booking> {
    let address = match booking.status {
        BookingStatus::PendingPayment => {
            attempts::first_address(app, &booking).await.ok().flatten()
        }
        _ => None,
    };
    shown(app, BookingRow { payment_redirect_url: address, ..booking }, true)
}

/// The form, and the bytes it came in.
pub struct Fingerprinted(BookingForm, Vec<u8>);

impl<S: Send + Sync> axum::extract::FromRequest<S> for Fingerprinted {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, MAX_BODY).await.map_err(unreadable)?;
        let request = Request::from_parts(parts, bytes.clone().into());
        let Body(form) = Body::from_request(request, state).await?;
        Ok(Self(form, bytes.to_vec()))
    }
}

impl aide::OperationInput for Fingerprinted {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        Body::<BookingForm>::operation_input(ctx, operation);
    }
}

/// Opens another attempt while the hold lasts; one that is still open is given again.
pub async fn pay_again(
    State(app): State<App>,
    caller: Option<Caller>,
    PathOwnBooking(id): PathOwnBooking,
    OptionalBody(form): OptionalBody<PayAgain>,
) -> Result<Reply<Booking>> {
    let knows = Knows { code: form.code, email: form.email };
    let (booking, _) = bookings::booking_for(&app, caller.as_ref(), id, &knows).await?;
    if booking.status != BookingStatus::PendingPayment || booking.expires_at <= app.clock.now() {
        return Err(bookings::not_now());
    }
    match store::newest(&app.db, id).await? {
        Some(ended) if ended.status != PaymentStatus::Pending => {
            attempts::open(&app, &booking, ended.attempt + 1).await?;
        }
        // Where nobody has answered so far, ask again.
        _ => drop(attempts::ensure(&app, id).await),
    }
    if let Some(caller) = &caller {
        let mut tx = caller.begin(&app.db, app.clock.now()).await?;
        tx.record(Change {
            action: "booking.payment_opened",
            entity: "booking",
            id,
            before: None,
            after: None,
        })
        .await?;
        tx.commit().await?;
    }
    let booking = bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    Ok(Reply::data(shown(&app, booking, bookings::readable(caller.as_ref()))?))
}

/// Takes a provider's word: verified, kept, applied at most once.
pub async fn payment_callback(
    State(app): State<App>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Reply> {
    let told = app.gateway.read(&headers, &body)?;
    let payment = store::by_reference(&app.db, &told.reference).await?.ok_or(Error::NotFound)?;
    match app.gateway.confirm(told.clone()).await {
        Ok(notice) => apply::apply(&app, &payment, &notice, &body).await?,
        Err(error) => {
            tracing::warn!(reference = %told.reference, %error, "not confirmed");
            apply::keep_unconfirmed(&app, &payment, &told, &body).await?;
        }
    }
    Ok(Reply::done("Received.", "Diterima."))
}

/// Asks again about a word that was kept; its signature was checked when it came.
pub async fn confirm_later(app: &App, body: &Value) -> Result<()> {
    let told = super::notice::midtrans(body).ok_or_else(|| Error::internal("no notice"))?;
    let payment = store::by_reference(&app.db, &told.reference).await?;
    let payment = payment.ok_or_else(|| Error::internal("a notice without payment"))?;
    let notice = app.gateway.confirm(told).await?;
    apply::apply(app, &payment, &notice, body).await
}

/// A JSON object, as it came.
pub struct Raw(Value);

impl<S: Sync> axum::extract::FromRequest<S> for Raw {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes =
            axum::body::to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
        let body: Option<Value> = serde_json::from_slice(&bytes).ok().filter(Value::is_object);
        let why = text("The body is not a JSON object.", "Isi permintaan bukan objek JSON.");
        body.map(Self).ok_or(Error::Malformed(why))
    }
}

impl aide::OperationInput for Raw {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        Body::<AnyObject>::operation_input(ctx, operation);
    }
}

/// As the provider has it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct AnyObject {}

impl crate::kernel::schema::Input for AnyObject {}

/// Money on the counter: the platform's, or the partner's own.
pub async fn pay_cash(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply<Booking>> {
    let knows = Knows::default();
    let (_, access) = bookings::booking_for(&app, Some(&caller), id, &knows).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::hold(&mut tx, id).await?;
    let before = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if before.status != BookingStatus::PendingPayment {
        return Err(bookings::not_now());
    }
    let attempt = store::newest_in(&mut tx, id).await?.map_or(1, |newest| newest.attempt + 1);
    let reference = format!("{}-{attempt}", before.code);
    let new = NewPayment {
        booking_id: id,
        attempt,
        provider: "cash",
        reference: &reference,
        status: PaymentStatus::Paid,
        amount: before.total,
        method: Some(Method::Cash),
    };
    if !store::insert_in(&mut tx, new, now).await? {
        return Err(Error::Contention("another attempt was opened meanwhile".into()));
    }
    apply::pay(&mut tx, &before, now).await?;
    // A partner that takes cash already holds the money: it is on its account.
    let taken_by = match access {
        BookingAccess::Partner => Account::PartnerPayable,
        _ => Account::Cash,
    };
    let posting = Posting::new(Source::Booking, id, "paid")
        .of_booking(id, before.partner_id)
        .debit(taken_by, before.total)
        .credit(Account::CustomerDeposits, before.total);
    ledger::post(&mut tx, posting, now).await?;
    finish(&app, &caller, tx, before, "booking.paid_cash").await
}

/// The refund has left by transfer.
pub async fn record_refund(
    State(app): State<App>,
    caller: Caller,
    PathAnyBooking(id): PathAnyBooking,
    Body(form): Body<RefundForm>,
) -> Result<Reply<Booking>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::hold(&mut tx, id).await?;
    let before = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let owing = before.status == BookingStatus::RefundPending;
    if owing || !reviews::pay_excess(&mut tx, id, now).await? {
        apply::give_back(&mut tx, &before, Account::Bank, Some(&form.reference), now).await?;
    }
    finish(&app, &caller, tx, before, "booking.refunded").await
}

async fn finish(
    app: &App,
    caller: &Caller,
    mut tx: crate::kernel::audit::AuditedTx,
    before: BookingRow,
    action: &'static str,
) -> Result<Reply<Booking>> {
    let id = before.id;
    let after = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action,
        entity: "booking",
        id,
        before: Some(&shown(app, before, false)?),
        after: Some(&shown(app, after.clone(), false)?),
    })
    .await?;
    tx.commit().await?;
    let readable = bookings::readable(Some(caller));
    Ok(Reply::data(shown(app, after, readable)?).saying("Recorded.", "Tercatat."))
}

/// A booking that exists, for those who may deal with any.
pub struct PathAnyBooking(Uuid);

impl FromRequestParts<App> for PathAnyBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
        Ok(Self(id))
    }
}

impl aide::OperationInput for PathAnyBooking {}

pub async fn list_payment_reviews(
    State(app): State<App>,
    Query(query): Query<ReviewsQuery>,
) -> Result<Page<Review>> {
    store::reviews(&app.db, &query).await
}

pub struct PathReview(Review);

impl FromRequestParts<App> for PathReview {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::review(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathReview {}

pub async fn resolve_payment_review(
    State(app): State<App>,
    caller: Caller,
    PathReview(before): PathReview,
    Body(Resolve { action, note }): Body<Resolve>,
) -> Result<Reply<Review>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    reviews::resolve(&mut tx, &before, action, &note, caller.person.id, now).await?;
    let after = store::review_in(&mut tx, before.id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "payment_review.resolved",
        entity: "payment_review",
        id: before.id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("It is resolved.", "Sudah diselesaikan."))
}
