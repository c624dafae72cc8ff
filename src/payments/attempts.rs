//! Asking the provider for a payment: at once when a booking is made, and again until it answers.

use super::{
    gateway::Order,
    model::PaymentStatus,
    store::{self, NewPayment},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus},
    config::PaymentProvider,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
    },
};

/// The request that made a booking asks by itself for so long.
const OWN_TIME: chrono::TimeDelta = chrono::TimeDelta::seconds(20);
/// How many references are tried before a person has to look.
const TRIES: i32 = 4;

/// Where the first attempt is paid, which was opened with the booking. `None`: the provider has not
/// answered so far.
pub async fn first_address(app: &App, booking: &BookingRow) -> Result<Option<String>> {
    let reference = booking.payment_reference.as_deref().unwrap_or_default();
    if app.gateway.provider == PaymentProvider::Simulator {
        return Ok(Some(bookings::simulator_page(app, reference)));
    }
    let leased = store::lease(&app.db, reference, app.clock.now()).await?;
    Ok(if leased { ask(app, booking, reference).await.ok() } else { None })
}

/// Opens another attempt; `None`: there is no address to pay at so far, or somebody else opened it.
pub async fn open(app: &App, booking: &BookingRow, attempt: i32) -> Result<Option<String>> {
    let provider = app.gateway.provider;
    let reference = format!("{}-{attempt}", booking.code);
    let new = NewPayment {
        booking_id: booking.id,
        attempt,
        provider: provider.as_str(),
        reference: &reference,
        status: PaymentStatus::Pending,
        amount: booking.total,
        method: None,
    };
    if !store::insert(&app.db, new, app.clock.now()).await? {
        return Ok(None);
    }
    Ok(match provider {
        PaymentProvider::Simulator => Some(bookings::simulator_page(app, &reference)),
        _ => ask(app, booking, &reference).await.ok(),
    })
}

async fn ask(app: &App, booking: &BookingRow, reference: &str) -> Result<String> {
    let order = Order {
        reference,
        amount: booking.total,
        name: &booking.contact_name,
        email: &booking.contact_email,
        phone: &booking.contact_phone,
        description: format!("{} - {}", booking.from_name, booking.to_name),
        now: app.clock.now(),
        expires_at: booking.expires_at,
        return_url: app.config.app_url(),
    };
    let answer = app.gateway.create(&order).await;
    match &answer {
        Ok(address) => store::set_address(&app.db, reference, address).await?,
        Err(error @ Error::Internal(_)) => {
            tracing::error!(%reference, %error, "the provider refuses this attempt");
            store::refuse(&app.db, reference).await?;
        }
        Err(error) => {
            tracing::warn!(%reference, %error, "no payment yet");
            store::release(&app.db, reference, app.clock.now()).await?;
        }
    }
    answer
}

/// Makes sure that a booking can be paid: what its own request could not do, or did not live to.
pub async fn ensure(app: &App, booking_id: Uuid) -> Result<()> {
    let Some(booking) = bookings::get(&app.db, booking_id).await? else { return Ok(()) };
    if booking.status != BookingStatus::PendingPayment || booking.expires_at <= app.clock.now() {
        return Ok(());
    }
    let waiting = || Error::Unavailable("somebody else is asking for this payment".into());
    if app.gateway.provider == PaymentProvider::Simulator {
        return Ok(());
    }
    let newest = store::newest(&app.db, booking_id).await?;
    match newest.ok_or_else(|| Error::internal("a booking without payment"))? {
        payment if payment.redirect_url.is_some() => Ok(()),
        // A reference that the provider has seen is used up: the next one, a few times.
        payment if payment.status == PaymentStatus::Failed && payment.attempt < TRIES => {
            match open(app, &booking, payment.attempt + 1).await? {
                Some(_) => Ok(()),
                None => Err(waiting()),
            }
        }
        payment if payment.status != PaymentStatus::Pending => Ok(()),
        _ if booking.created_at + OWN_TIME > app.clock.now() => Err(waiting()),
        payment => {
            if !store::lease(&app.db, &payment.reference, app.clock.now()).await? {
                return Err(waiting());
            }
            ask(app, &booking, &payment.reference).await.map(drop)
        }
    }
}
