//! Handlers of tickets.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::{code::TicketKey, drawn, file_name};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus, GuestCredentials, PathBooking, PathOwnBooking},
    events::{self, BookingRef, DomainEvent},
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{File, Kinds, OptionalBody, Reply},
    },
};

pub struct Pdf;

impl Kinds for Pdf {
    const KINDS: &'static [&'static str] = &["application/pdf"];
}

/// One page per passenger.
pub async fn get_ticket(
    State(app): State<App>,
    PathBooking(booking, _): PathBooking,
) -> Result<File<Pdf>> {
    good(&booking)?;
    let name = file_name(&booking);
    File::inline(&name, Pdf::KINDS[0], drawn(&app, booking).await?)
}

fn good(booking: &BookingRow) -> Result<()> {
    match booking.status {
        status if bookings::has_ticket(status) => Ok(()),
        BookingStatus::PendingPayment => Err(Error::invalid_state(
            "Tickets are available once the booking is paid.",
            "Tiket tersedia setelah pemesanan dibayar.",
        )),
        _ => Err(Error::invalid_state(
            "This booking is no longer valid and has no tickets.",
            "Pemesanan ini tidak berlaku lagi: tidak ada tiket.",
        )),
    }
}

/// Sent to the contact address of the booking only.
pub async fn resend_ticket(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    OptionalBody(credentials): OptionalBody<GuestCredentials>,
) -> Result<Reply> {
    let (booking, _) = path.authorize(&app, &credentials).await?;
    good(&booking)?;
    let id = booking.id;
    let now = app.clock.now();
    let wanted = DomainEvent::BookingTicketWanted(BookingRef { booking_id: id });
    match caller {
        Some(caller) => {
            let mut tx = caller.begin(&app.db, now).await?;
            events::emit(&mut tx, wanted, now).await?;
            let action = "booking.ticket_resent";
            tx.record(Change { action, entity: "booking", id, before: None, after: None }).await?;
            tx.commit().await?;
        }
        None => {
            let mut tx = app.db.begin().await?;
            events::emit(&mut tx, wanted, now).await?;
            tx.commit().await?;
        }
    }
    Ok(Reply::done("The tickets have been sent.", "Tiket telah dikirim."))
}

/// Public keys that verify tickets offline.
#[derive(Serialize, JsonSchema)]
pub struct TicketKeyring {
    pub algorithm: &'static str,
    /// The current signing key.
    #[serde(flatten)]
    pub current: TicketKey,
    /// Earlier keys whose tickets are still valid.
    pub older: Vec<TicketKey>,
}

pub async fn get_ticket_key(State(app): State<App>) -> Result<Reply<TicketKeyring>> {
    let mut keys = app.ticket_keys().public();
    let current = keys.remove(0);
    Ok(Reply::data(TicketKeyring { algorithm: "Ed25519", current, older: keys }))
}
