//! Handlers of tickets.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{drawn, file_name};
use crate::{
    app::App,
    bookings::{self, Actor, GuestCredentials, PathBooking, PathOwnBooking},
    events::{self, BookingRef, DomainEvent, Task, TicketsTo},
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        email::Email,
        error::{Error, Result},
        http::{File, Kinds, OptionalBody, Reply},
        ids::Uuid,
        lang::text,
        schema::Input,
    },
    ticket_codes::TicketKey,
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
    bookings::ensure_ticket(booking.status)?;
    let name = file_name(&booking);
    File::inline(&name, Pdf::KINDS[0], drawn(&app, booking).await?)
}

/// Who wants the tickets, and where they are sent.
#[derive(Default, Deserialize, JsonSchema)]
pub struct ResendTicket {
    /// The booking's code: proves a guest's ownership together with `email`.
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    /// Guests: the contact address of the booking. Partners and staff: the address that the tickets
    /// are sent to; default: the contact address.
    pub email: Option<Email>,
}

impl Input for ResendTicket {}

/// A booker gets them at the contact address only; partner and staff choose the address.
pub async fn resend_ticket(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    OptionalBody(form): OptionalBody<ResendTicket>,
) -> Result<Reply> {
    let ResendTicket { code, email } = form;
    let credentials = GuestCredentials { code: code.clone(), email: email.clone() };
    let (booking, actor) = path.authorize(&app, &credentials).await?;
    let names_it = |code: &str| code.trim().eq_ignore_ascii_case(&booking.code);
    if !code.as_deref().is_none_or(names_it) {
        let message = text("This is the code of another booking.", "Ini kode pemesanan lain.");
        return Err(Error::field("code", "mismatch", message));
    }
    bookings::ensure_ticket(booking.status)?;
    let id = booking.id;
    let now = app.clock.now();
    // A guest has named the contact address.
    let to = email.filter(|_| actor != Actor::Guest);
    match caller {
        Some(caller) => {
            let mut tx = caller.begin(&app.db, now).await?;
            send(&mut tx, id, to, now).await?;
            let action = "booking.ticket_resent";
            tx.record(Change { action, entity: "booking", id, before: None, after: None }).await?;
            tx.commit().await?;
        }
        None => {
            let mut tx = app.db.begin().await?;
            send(&mut tx, id, to, now).await?;
            tx.commit().await?;
        }
    }
    Ok(Reply::done("The tickets have been sent.", "Tiket telah dikirim."))
}

async fn send(tx: &mut Tx, booking_id: Uuid, to: Option<Email>, now: DateTime<Utc>) -> Result<()> {
    match to {
        Some(email) => {
            let task = Task::SendTickets(TicketsTo { booking_id, email });
            events::enqueue_mail(tx, &task, booking_id, now).await
        }
        None => {
            let wanted = DomainEvent::BookingTicketWanted(BookingRef { booking_id });
            events::emit(tx, wanted, now).await
        }
    }
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
