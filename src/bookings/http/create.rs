//! Creating a booking and opening its payment.

use axum::extract::State;
use serde_json::Value;

use crate::{
    app::App,
    bookings::{
        forms::BookingForm,
        lookup::to_response,
        model::{BookingRow, BookingStatus},
        sell::sell,
        store,
        view::Booking,
    },
    kernel::{
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Reply, once_amended},
        idempotency::{Key, Owner},
    },
};

/// Opens the first payment of a booking. Implemented by payments, which depend on bookings; the
/// table of operations connects the two.
pub trait OpensPayment: 'static {
    /// The payment page; `None` if the provider has not answered yet.
    fn first_address(
        app: &App,
        booking: &BookingRow,
    ) -> impl Future<Output = Option<String>> + Send;
}

/// Sells the seats, then asks the provider for a payment page.
pub async fn create_booking<P: OpensPayment>(
    State(app): State<App>,
    caller: Option<Caller>,
    context: Context,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<BookingForm>,
) -> Result<Reply<Once<Booking>>> {
    if caller.is_none() {
        form.without_urls()?;
    }
    let owner = Owner::of(caller.as_ref(), Some(&form.contact.email));
    let key = Key::of(owner, key, "create_booking", "/v1/booking", body);
    let sold = once_amended(
        &app.db,
        &app.sealer,
        key,
        app.clock.now(),
        async |kept| sold_before(&app, kept).await,
        async |running| {
            let booking = sell(&app, caller.as_ref(), &context, &form, running).await?;
            with_payment::<P>(&app, booking).await
        },
    );
    Ok(sold.await?.saying(
        "The seats are held. Please pay before the hold expires.",
        "Kursi ditahan. Mohon bayar sebelum waktunya habis.",
    ))
}

/// The booking of an earlier request with the same key that ended before it answered.
async fn sold_before(app: &App, kept: &Value) -> Result<Booking> {
    let id = kept["booking_id"].as_str().and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| Error::internal("a stored idempotent response has no booking"))?;
    let booking = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    to_response(app, booking, true)
}

/// The sale stands, whatever the provider answers.
async fn with_payment<P: OpensPayment>(app: &App, mut booking: BookingRow) -> Result<Booking> {
    if booking.status == BookingStatus::PendingPayment {
        booking.joined.payment_redirect_url = P::first_address(app, &booking).await;
    }
    to_response(app, booking, true)
}
