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
    sailings::SailingDetail,
    tickets::Ticket,
};

/// A scanned ticket code.
pub struct TicketScan<'a> {
    pub code: &'a str,
    /// Id of the scan, chosen by the device.
    pub scan_id: Option<&'a str>,
    pub at: DateTime<Utc>,
}

/// Outcome of a scan and its passenger.
pub struct ScanOutcome {
    pub outcome: Outcome,
    pub repeated: bool,
    pub admitted: Option<Admitted>,
}

impl From<Outcome> for ScanOutcome {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, repeated: false, admitted: None }
    }
}

/// Processes a scan by its id; a repeated scan has the outcome of the first time.
pub async fn board_scan(
    app: &App,
    caller: &Caller,
    sailing: &SailingDetail,
    scan_id: &str,
    scan: &TicketScan<'_>,
) -> Result<ScanOutcome> {
    let digest = Sha256::digest(scan.code.trim().to_ascii_uppercase());
    let digest = BASE64_STANDARD.encode(digest);
    if let Some((outcome, of)) = store::refused(&app.db, sailing.id, scan_id).await? {
        return Ok(match of == digest {
            true => ScanOutcome { outcome, repeated: true, admitted: None },
            false => Outcome::ScanIdReused.into(),
        });
    }
    let scanned = board(app, caller, sailing, scan).await?;
    if !matches!(scanned.outcome, Outcome::Boarded | Outcome::Undone | Outcome::ScanIdReused) {
        let (outcome, now) = (scanned.outcome, app.clock.now());
        store::keep_refused(&app.db, sailing.id, scan_id, digest, outcome, now).await?;
    }
    Ok(scanned)
}

/// Checks the passenger of the code in, once. A refusal is an outcome, not an error.
pub async fn board(
    app: &App,
    caller: &Caller,
    sailing: &SailingDetail,
    scan: &TicketScan<'_>,
) -> Result<ScanOutcome> {
    let Some(ticket) = app.ticket_keys().read(scan.code) else { return Ok(Outcome::Forged.into()) };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, mut admitted) = match find_ticket(&mut tx, sailing, ticket).await? {
        Ok(found) => found,
        Err(refused) => return Ok(refused.into()),
    };
    let refused =
        |outcome, admitted| Ok(ScanOutcome { outcome, repeated: false, admitted: Some(admitted) });
    if let Some(scan_id) = scan.scan_id
        && let Some(earlier) = store::earlier_scan(&mut tx, sailing.id, scan_id).await?
    {
        if (earlier.booking_id, earlier.passenger_id) != (booking.id, admitted.passenger_id) {
            return Ok(Outcome::ScanIdReused.into());
        }
        admitted.boarded_at = Some(earlier.boarded_at).filter(|_| earlier.undone_at.is_none());
        let outcome = match earlier.undone_at {
            Some(_) => Outcome::Undone,
            None => Outcome::Boarded,
        };
        return Ok(ScanOutcome { outcome, repeated: true, admitted: Some(admitted) });
    }
    if let Some(outcome) = rules::refusal(booking.status) {
        return refused(outcome, admitted);
    }
    if admitted.boarded_at.is_some() {
        return refused(Outcome::AlreadyBoarded, admitted);
    }
    let boarded_at = rules::boarded_at(scan.at, now);
    let new = NewBoarding {
        sailing_id: sailing.id,
        booking_id: booking.id,
        passenger_id: admitted.passenger_id,
        scan_id: scan.scan_id,
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
    copy_to_booking(&mut tx, &booking, &admitted).await?;
    record(&mut tx, "passenger.boarded", &before, &admitted, "").await?;
    tx.commit().await?;
    Ok(ScanOutcome { outcome: Outcome::Boarded, repeated: false, admitted: Some(admitted) })
}

/// Undoes a check-in.
pub async fn undo(
    app: &App,
    caller: &Caller,
    sailing: &SailingDetail,
    code: &str,
    reason: &str,
) -> Result<ScanOutcome> {
    let Some(ticket) = app.ticket_keys().read(code) else { return Ok(Outcome::Forged.into()) };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, mut admitted) = match find_ticket(&mut tx, sailing, ticket).await? {
        Ok(found) => found,
        Err(refused) => return Ok(refused.into()),
    };
    let undone =
        store::undo(&mut tx, sailing.id, admitted.passenger_id, caller.person.id, now).await;
    let outcome = match undone {
        Ok(true) => Outcome::Undone,
        Ok(false) => Outcome::NotBoarded,
        Err(failure) if is_closed(&failure) => Outcome::ManifestClosed,
        Err(failure) => return Err(failure.into()),
    };
    if outcome != Outcome::Undone {
        return Ok(ScanOutcome { outcome, repeated: false, admitted: Some(admitted) });
    }
    let before = admitted.clone();
    admitted.boarded_at = None;
    copy_to_booking(&mut tx, &booking, &admitted).await?;
    record(&mut tx, "passenger.unboarded", &before, &admitted, reason).await?;
    tx.commit().await?;
    Ok(ScanOutcome { outcome, repeated: false, admitted: Some(admitted) })
}

/// Locks the booking and finds the passenger of the ticket.
async fn find_ticket(
    tx: &mut AuditedTx,
    sailing: &SailingDetail,
    ticket: Ticket,
) -> Result<Result<(BookingRow, Admitted), Outcome>> {
    bookings::lock_row(tx, ticket.booking_id).await?;
    let Some(booking) = bookings::get_in(tx, ticket.booking_id).await? else {
        return Ok(Err(Outcome::Forged));
    };
    if booking.sailing_id != sailing.id {
        return Ok(Err(Outcome::WrongSailing));
    }
    if ticket.sailing_id != sailing.id {
        return Ok(Err(Outcome::TicketReplaced));
    }
    if booking.cancelled_passengers.iter().any(|passenger| passenger.place == ticket.place) {
        return Ok(Err(Outcome::Cancelled));
    }
    let mut passenger = None;
    for (index, one) in booking.passengers.iter().enumerate() {
        if one.place_at(index)? == ticket.place {
            passenger = Some(one);
        }
    }
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

async fn copy_to_booking(
    tx: &mut AuditedTx,
    booking: &BookingRow,
    admitted: &Admitted,
) -> Result<()> {
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
struct AuditedPassenger<'a> {
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
    let after = AuditedPassenger { admitted, reason };
    tx.record(Change {
        action,
        entity: "booking",
        id: admitted.booking_id,
        before: Some(before),
        after: Some(&after),
    })
    .await
}
