//! Check-in of passengers, and undo.

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    model::{Admitted, Outcome},
    rules,
    store::{self, NewBoarding},
};
use crate::{
    app::App,
    bookings::{self, BookingRow},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        db::Failure,
        error::{Error, Result},
    },
    sailings::Voyage,
    tickets::Ticket,
};

/// A scanned ticket code.
pub struct Shown<'a> {
    pub code: &'a str,
    /// Id of the scan, chosen by the device.
    pub scan_id: Option<&'a str>,
    pub at: DateTime<Utc>,
}

/// Outcome of a scan and its passenger.
pub struct Scanned {
    pub outcome: Outcome,
    pub repeated: bool,
    pub admitted: Option<Admitted>,
}

impl From<Outcome> for Scanned {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, repeated: false, admitted: None }
    }
}

/// Processes a scan by its id; a repeated scan has the outcome of the first time.
pub async fn board_scan(
    app: &App,
    caller: &Caller,
    voyage: &Voyage,
    scan_id: &str,
    shown: &Shown<'_>,
) -> Result<Scanned> {
    let digest = Sha256::digest(shown.code.trim().to_ascii_uppercase());
    let digest = BASE64_STANDARD.encode(digest);
    if let Some((outcome, of)) = store::refused(&app.db, voyage.id, scan_id).await? {
        return Ok(match of == digest {
            true => Scanned { outcome, repeated: true, admitted: None },
            false => Outcome::ScanIdReused.into(),
        });
    }
    let scanned = board(app, caller, voyage, shown).await?;
    if !matches!(scanned.outcome, Outcome::Boarded | Outcome::Undone | Outcome::ScanIdReused) {
        let (outcome, now) = (scanned.outcome, app.clock.now());
        store::keep_refused(&app.db, voyage.id, scan_id, digest, outcome, now).await?;
    }
    Ok(scanned)
}

/// Checks the passenger of the code in, once. A refusal is an outcome, not an error.
pub async fn board(
    app: &App,
    caller: &Caller,
    voyage: &Voyage,
    shown: &Shown<'_>,
) -> Result<Scanned> {
    let Some(ticket) = app.tickets.read(shown.code) else { return Ok(Outcome::Forged.into()) };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, mut admitted) = match find(&mut tx, voyage, ticket).await? {
        Ok(found) => found,
        Err(refused) => return Ok(refused.into()),
    };
    let refused =
        |outcome, admitted| Ok(Scanned { outcome, repeated: false, admitted: Some(admitted) });
    if let Some(scan_id) = shown.scan_id
        && let Some(handed) = store::handed_in(&mut tx, voyage.id, scan_id).await?
    {
        if (handed.booking_id, handed.passenger_id) != (booking.id, admitted.passenger_id) {
            return Ok(Outcome::ScanIdReused.into());
        }
        admitted.boarded_at = Some(handed.boarded_at).filter(|_| handed.undone_at.is_none());
        let outcome = match handed.undone_at {
            Some(_) => Outcome::Undone,
            None => Outcome::Boarded,
        };
        return Ok(Scanned { outcome, repeated: true, admitted: Some(admitted) });
    }
    if let Some(outcome) = rules::refusal(booking.status) {
        return refused(outcome, admitted);
    }
    if admitted.boarded_at.is_some() {
        return refused(Outcome::AlreadyBoarded, admitted);
    }
    let boarded_at = rules::boarded_at(shown.at, now);
    let new = NewBoarding {
        sailing_id: voyage.id,
        booking_id: booking.id,
        passenger_id: admitted.passenger_id,
        scan_id: shown.scan_id,
        boarded_at,
        by: caller.person.id,
    };
    match store::insert(&mut tx, new, now).await {
        Ok(()) => {}
        Err(failure) if is_closed(&failure) => return refused(Outcome::ManifestClosed, admitted),
        // Two devices used the same id for scans of different bookings at the same time.
        Err(failure) if failure.is_unique() => {
            return Err(Error::Contention("a concurrent check-in came first".into()));
        }
        Err(failure) => return Err(failure.into()),
    }
    let before = admitted.clone();
    admitted.boarded_at = Some(boarded_at);
    copy(&mut tx, &booking, &admitted).await?;
    record(&mut tx, "passenger.boarded", &before, &admitted, "").await?;
    tx.commit().await?;
    Ok(Scanned { outcome: Outcome::Boarded, repeated: false, admitted: Some(admitted) })
}

/// Undoes a check-in.
pub async fn undo(
    app: &App,
    caller: &Caller,
    voyage: &Voyage,
    code: &str,
    reason: &str,
) -> Result<Scanned> {
    let Some(ticket) = app.tickets.read(code) else { return Ok(Outcome::Forged.into()) };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, mut admitted) = match find(&mut tx, voyage, ticket).await? {
        Ok(found) => found,
        Err(refused) => return Ok(refused.into()),
    };
    let undone =
        store::undo(&mut tx, voyage.id, admitted.passenger_id, caller.person.id, now).await;
    let outcome = match undone {
        Ok(true) => Outcome::Undone,
        Ok(false) => Outcome::NotBoarded,
        Err(failure) if is_closed(&failure) => Outcome::ManifestClosed,
        Err(failure) => return Err(failure.into()),
    };
    if outcome != Outcome::Undone {
        return Ok(Scanned { outcome, repeated: false, admitted: Some(admitted) });
    }
    let before = admitted.clone();
    admitted.boarded_at = None;
    copy(&mut tx, &booking, &admitted).await?;
    record(&mut tx, "passenger.unboarded", &before, &admitted, reason).await?;
    tx.commit().await?;
    Ok(Scanned { outcome, repeated: false, admitted: Some(admitted) })
}

/// Locks the booking and finds the passenger of the ticket.
async fn find(
    tx: &mut AuditedTx,
    voyage: &Voyage,
    ticket: Ticket,
) -> Result<Result<(BookingRow, Admitted), Outcome>> {
    bookings::hold(tx, ticket.booking_id).await?;
    let Some(booking) = bookings::get_in(tx, ticket.booking_id).await? else {
        return Ok(Err(Outcome::Forged));
    };
    if booking.sailing_id != voyage.id {
        return Ok(Err(Outcome::WrongSailing));
    }
    if ticket.sailing_id != voyage.id {
        return Ok(Err(Outcome::TicketReplaced));
    }
    let passenger = booking.passengers.get(usize::from(ticket.place));
    let Some(passenger) = passenger else { return Ok(Err(Outcome::Forged)) };
    let admitted = Admitted {
        booking_id: booking.id,
        booking_code: booking.code.clone(),
        boarded_at: booking.boarded.get(&passenger.id).copied(),
        passenger_id: passenger.id,
        passenger_name: passenger.name.clone(),
    };
    Ok(Ok((booking, admitted)))
}

async fn copy(tx: &mut AuditedTx, booking: &BookingRow, admitted: &Admitted) -> Result<()> {
    let mut boarded = booking.boarded.0.clone();
    match admitted.boarded_at {
        Some(at) => boarded.insert(admitted.passenger_id, at),
        None => boarded.remove(&admitted.passenger_id),
    };
    bookings::set_boarded(tx, booking.id, boarded).await
}

fn is_closed(failure: &Failure) -> bool {
    failure.names("manifest_closed")
}

#[derive(Serialize)]
struct Noted<'a> {
    #[serde(flatten)]
    admitted: &'a Admitted,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: &Admitted,
    admitted: &Admitted,
    reason: &str,
) -> Result<()> {
    let after = Noted { admitted, reason };
    tx.record(Change {
        action,
        entity: "booking",
        id: admitted.booking_id,
        before: Some(before),
        after: Some(&after),
    })
    .await
}
