//! Further payment attempts while the hold lasts.

use axum::extract::State;

use crate::{
    app::App,
    bookings::{self, Booking, GuestCredentials, PathOwnBooking, to_response},
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{OptionalBody, Reply},
    },
    payments::{attempts, model::PaymentStatus, store},
};

/// Opens another attempt while the hold lasts; returns the open one if there is one.
pub async fn pay_again(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    OptionalBody(credentials): OptionalBody<GuestCredentials>,
) -> Result<Reply<Booking>> {
    let (booking, _) = path.authorize(&app, &credentials).await?;
    let id = booking.id;
    bookings::payable(booking.status, booking.expires_at, app.clock.now())?;
    bookings::ensure_not_resold(booking.reseller_id)?;
    match store::newest(&app.db, id).await? {
        Some(ended)
            if ended.status != PaymentStatus::Pending
                || attempts::is_at_other_provider(&app, &ended) =>
        {
            attempts::open_attempt(&app, &booking, ended.attempt + 1).await?;
        }
        // If the provider has not answered yet, ask again.
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
    Ok(Reply::data(to_response(&app, booking, bookings::Readable::by(caller.as_ref()))?))
}
