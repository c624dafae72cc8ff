//! Payment attempts: requested from the provider when a booking is made, and retried until it
//! answers.

use chrono::{DateTime, Utc};

use super::{
    gateway::Order,
    model::{Payment, PaymentStatus},
    store::{self, NewPayment},
};
use crate::{
    app::App,
    bookings::{
        self, BookingRow, BookingStatus, OpensPayment, PaymentRecord, reschedule::Reschedule,
    },
    config::PaymentProvider,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
    },
};

/// The request that creates a booking asks the provider itself within this time.
const REQUEST_GRACE: chrono::TimeDelta = chrono::TimeDelta::seconds(20);
/// How many references are tried before an operator has to decide.
const MAX_ATTEMPTS: i32 = 4;

/// Payment attempts at the configured provider.
pub struct PaymentAttempts;

impl OpensPayment for PaymentAttempts {
    async fn first_address(app: &App, booking: &BookingRow) -> Option<String> {
        first_address(app, booking).await.ok().flatten()
    }
}

/// The payment page of the first attempt, which was opened with the booking. `None`: the provider
/// has not answered yet.
async fn first_address(app: &App, booking: &BookingRow) -> Result<Option<String>> {
    let reference = booking.joined.payment_reference.as_deref().unwrap_or_default();
    if app.gateway().provider == PaymentProvider::Simulator {
        return Ok(Some(bookings::simulator_url(app, reference)));
    }
    let leased = store::lease(&app.db, reference, app.clock.now()).await?;
    Ok(if leased {
        request_address(app, booking, &Invoice::of(booking, reference)).await.ok()
    } else {
        None
    })
}

/// Opens another attempt. `None`: there is no payment page yet, or a concurrent request has opened
/// it.
pub async fn open_attempt(app: &App, booking: &BookingRow, attempt: i32) -> Result<Option<String>> {
    let provider = app.gateway().provider;
    let reference = format!("{}-{attempt}", booking.code);
    let new = NewPayment {
        booking_id: booking.id,
        attempt,
        provider: provider.as_str(),
        reference: &reference,
        status: PaymentStatus::Pending,
        amount: booking.total,
        method: None,
        reschedule_id: None,
    };
    if !insert(app, new, app.clock.now()).await? {
        return Ok(None);
    }
    Ok(match provider {
        PaymentProvider::Simulator => Some(bookings::simulator_url(app, &reference)),
        _ => request_address(app, booking, &Invoice::of(booking, &reference)).await.ok(),
    })
}

/// `false` if the attempt already exists. The booking is locked before its payments, as everywhere.
async fn insert(app: &App, new: NewPayment<'_>, now: DateTime<Utc>) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    bookings::lock_row(&mut tx, new.booking_id).await?;
    let is_new = store::insert_in(&mut tx, new, now).await?;
    tx.commit().await?;
    Ok(is_new)
}

/// The newest attempt to pay the difference of a pending reschedule, opened if there is none.
pub async fn difference_payment(
    app: &App,
    booking: &BookingRow,
    wanted: &Reschedule,
) -> Result<PaymentRecord> {
    let newest = store::newest_of(&app.db, wanted.id).await?;
    let open = newest.filter(|payment| {
        payment.status == PaymentStatus::Pending && !is_at_other_provider(app, payment)
    });
    let payment = match open {
        Some(payment) => payment,
        None => {
            let last = store::newest(&app.db, booking.id).await?;
            let attempt = last.map_or(1, |last| last.attempt + 1);
            let new = NewPayment {
                booking_id: booking.id,
                attempt,
                provider: app.gateway().provider.as_str(),
                reference: &format!("{}-{attempt}", booking.code),
                status: PaymentStatus::Pending,
                amount: wanted.difference,
                method: None,
                reschedule_id: Some(wanted.id),
            };
            // The lease has already expired, so that this request can ask the provider at once.
            insert(app, new, app.clock.now() - store::LEASE).await?;
            let opened = store::newest_of(&app.db, wanted.id).await?;
            opened.ok_or_else(|| {
                Error::Contention("another payment attempt was opened concurrently".into())
            })?
        }
    };
    let redirect_url = match app.gateway().provider {
        PaymentProvider::Simulator => Some(bookings::simulator_url(app, &payment.reference)),
        _ if payment.redirect_url.is_some() => payment.redirect_url,
        _ => {
            let leased = store::lease(&app.db, &payment.reference, app.clock.now()).await?;
            let invoice = Invoice {
                reference: &payment.reference,
                amount: payment.amount,
                expires_at: wanted.expires_at,
            };
            if leased { request_address(app, booking, &invoice).await.ok() } else { None }
        }
    };
    Ok(PaymentRecord {
        provider: payment.provider,
        reference: payment.reference,
        status: payment.status.to_string(),
        method: None,
        redirect_url,
        paid_at: None,
    })
}

/// Whether an attempt belongs to another provider than the configured one.
pub fn is_at_other_provider(app: &App, payment: &Payment) -> bool {
    payment.status == PaymentStatus::Pending && payment.provider != app.gateway().provider.as_str()
}

/// A payment to request from the provider.
struct Invoice<'a> {
    reference: &'a str,
    amount: Rupiah,
    expires_at: DateTime<Utc>,
}

impl<'a> Invoice<'a> {
    fn of(booking: &BookingRow, reference: &'a str) -> Self {
        Self { reference, amount: booking.total, expires_at: booking.expires_at }
    }
}

async fn request_address(app: &App, booking: &BookingRow, invoice: &Invoice<'_>) -> Result<String> {
    let Invoice { reference, amount, expires_at } = *invoice;
    let order = Order {
        reference,
        amount,
        name: &booking.contact_name,
        email: &booking.contact_email,
        phone: &booking.contact_phone,
        description: format!("{} - {}", booking.joined.from_name, booking.joined.to_name),
        now: app.clock.now(),
        expires_at,
        return_url: bookings::app_page(app, booking),
    };
    let answer = app.gateway().create(&order).await;
    match &answer {
        Ok(opened) => {
            let mut tx = app.db.begin().await?;
            bookings::lock_row(&mut tx, booking.id).await?;
            store::set_address(&mut tx, reference, opened).await?;
            tx.commit().await?;
        }
        Err(error @ Error::Internal(_)) => {
            tracing::error!(%reference, %error, "the provider rejects this attempt");
            let mut tx = app.db.begin().await?;
            bookings::lock_row(&mut tx, booking.id).await?;
            store::refuse(&mut tx, reference).await?;
            tx.commit().await?;
        }
        Err(error) => {
            tracing::warn!(%reference, %error, "there is no payment yet");
            store::release(&app.db, reference, app.clock.now()).await?;
        }
    }
    answer.map(|opened| opened.address)
}

/// Makes sure that a booking has a payment page, if the request that created it could not get one.
pub async fn ensure(app: &App, booking_id: Uuid) -> Result<()> {
    let Some(booking) = bookings::get(&app.db, booking_id).await? else { return Ok(()) };
    if booking.status != BookingStatus::PendingPayment || booking.expires_at <= app.clock.now() {
        return Ok(());
    }
    let waiting = || Error::Unavailable("another process is checking this payment".into());
    if app.gateway().provider == PaymentProvider::Simulator {
        return Ok(());
    }
    let newest = store::newest(&app.db, booking_id).await?;
    match newest.ok_or_else(|| Error::internal("a booking without payment"))? {
        payment if payment.redirect_url.is_some() => Ok(()),
        // A reference is used up if the provider has seen it, or if it was meant for another
        // provider, since only notifications of that one would count. The next one is tried, a few
        // times.
        payment
            if payment.attempt < MAX_ATTEMPTS
                && (payment.status == PaymentStatus::Failed
                    || is_at_other_provider(app, &payment)) =>
        {
            match open_attempt(app, &booking, payment.attempt + 1).await? {
                Some(_) => Ok(()),
                None => Err(waiting()),
            }
        }
        payment if payment.status != PaymentStatus::Pending => Ok(()),
        _ if booking.created_at + REQUEST_GRACE > app.clock.now() => Err(waiting()),
        payment => {
            if !store::lease(&app.db, &payment.reference, app.clock.now()).await? {
                return Err(waiting());
            }
            request_address(app, &booking, &Invoice::of(&booking, &payment.reference))
                .await
                .map(drop)
        }
    }
}
