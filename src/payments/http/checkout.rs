//! Buying: the sale, and where to pay for it.

use axum::extract::State;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    app::App,
    bookings::{
        self, Booking, BookingForm, BookingRow, BookingStatus, Knows, PathOwnBooking, shown,
    },
    kernel::{
        audit::Change,
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, OptionalBody, Reply},
        idempotency::{self, Claim, Key, Owner},
    },
    payments::{attempts, model::PaymentStatus, store},
};

/// Sells the seats, then asks the provider where to pay for them.
pub async fn create_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    context: Context,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<BookingForm>,
) -> Result<Reply<Once<Booking>>> {
    if caller.is_none() {
        form.without_urls()?;
    }
    let sold = "The seats are held. Please pay before the hold expires.";
    let sold_id = "Kursi ditahan. Mohon bayar sebelum waktunya habis.";
    let Some(key) = key else {
        let booking = bookings::sell(&app, caller.as_ref(), &context, &form, None).await?;
        let answer = with_payment(&app, booking).await?;
        return Ok(Reply::data(Once::New(answer)).saying(sold, sold_id));
    };
    let key = Key {
        caller: Owner::of(caller.as_ref(), Some(&form.contact.email)),
        operation: "create_booking",
        key,
        path: "/v1/booking".into(),
        body,
    };
    match key.claim(&app.db, app.clock.now()).await? {
        Claim::Replay(kept) => {
            let reply = Reply::data(Once::Written(first_answer(&app, &kept).await?));
            Ok(reply.saying(sold, sold_id).replayed())
        }
        Claim::Run(running) => {
            let sale = bookings::sell(&app, caller.as_ref(), &context, &form, Some(&running));
            let booking = match sale.await {
                Ok(booking) => booking,
                Err(refusal) => {
                    running.release(&app.db).await;
                    return Err(refusal);
                }
            };
            let answer = with_payment(&app, booking).await?;
            let answer = to_raw_value(&answer).map_err(Error::internal)?;
            running.amend(&app.db, &idempotency::sealed(&app.sealer, &answer)?).await;
            Ok(Reply::data(Once::Written(answer)).saying(sold, sold_id))
        }
    }
}

/// The answer that was given, sealed since it may hold identity numbers; or, of a request that did
/// not live to give one, the booking that it made.
async fn first_answer(app: &App, kept: &Value) -> Result<Box<RawValue>> {
    if let Some(answer) = idempotency::opened(&app.sealer, kept)? {
        return Ok(answer);
    }
    let id = kept["booking_id"].as_str().and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| Error::internal("a stored idempotent response has no booking"))?;
    let booking = bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    to_raw_value(&shown(app, booking, true)?).map_err(Error::internal)
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

/// Opens another attempt while the hold lasts; one that is still open is given again.
pub async fn pay_again(
    State(app): State<App>,
    caller: Option<Caller>,
    PathOwnBooking(id): PathOwnBooking,
    OptionalBody(knows): OptionalBody<Knows>,
) -> Result<Reply<Booking>> {
    let (booking, _) = bookings::booking_for(&app, caller.as_ref(), id, &knows).await?;
    if booking.status != BookingStatus::PendingPayment || booking.expires_at <= app.clock.now() {
        return Err(bookings::not_now());
    }
    match store::newest(&app.db, id).await? {
        Some(ended)
            if ended.status != PaymentStatus::Pending || attempts::is_elsewhere(&app, &ended) =>
        {
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
