//! Moving bookings from status to status, with the money that moves along.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{
    earnings,
    model::BookingRow,
    rules::{self, Event},
    store::{self, Trace},
};
use crate::{
    app::App,
    kernel::{
        db::{Failure, Tx},
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        outbox,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account, Due, DueKind},
};

/// Moves the booking along the table, and tells the world. 409 when it cannot go there, or no
/// longer is where it was. `Ok(false)`: there are no seats left to take again.
pub async fn move_booking(
    tx: &mut Tx,
    booking: &BookingRow,
    event: Event,
    trace: Trace<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let to = rules::next(booking.status, event).ok_or_else(not_now)?;
    let mut news = json!({ "booking_id": booking.id });
    if trace.tells_reason {
        news["tells_reason"] = true.into();
    }
    match store::advance(tx, booking.id, booking.status, to, trace, now).await {
        Ok(true) => {}
        Ok(false) => return Err(not_now()),
        Err(failure) if no_seats(&failure) => return Ok(false),
        Err(failure) => return Err(failure.into()),
    }
    let topic = match event {
        Event::Pay => "booking.paid",
        Event::Expire => "booking.expired",
        Event::Cancel | Event::CancelOwing => "booking.cancelled",
        Event::Complete => "booking.completed",
        Event::Refund => "booking.refunded",
        // The customer hears of it as of a cancellation: the money comes back.
        Event::PayInVain => "booking.cancelled",
        Event::Reinstate => "booking.rescheduled",
    };
    outbox::put_about(tx, booking.id, topic, &news, now).await?;
    Ok(true)
}

pub fn no_seats(failure: &Failure) -> bool {
    failure.names("sailings_seats") || failure.names("promotions_quota")
}

pub fn not_now() -> Error {
    Error::invalid_state(
        "The current status of the booking does not allow this.",
        "Status pemesanan saat ini tidak memungkinkan hal ini.",
    )
}

/// Whoever is on board, or on a list that was closed, does not leave by themselves. Long before
/// departure nobody is, whatever a partner has written down.
pub fn still_ashore(booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    if booking.departure_at - now > TimeDelta::hours(24) {
        return Ok(());
    }
    if booking.manifest_closed_at.is_some() {
        return Err(Error::conflict(
            "manifest_closed",
            "The manifest of this sailing is closed.",
            "Manifes penumpang pelayaran ini sudah ditutup.",
        ));
    }
    if !booking.boarded.is_empty() {
        return Err(Error::conflict(
            "already_boarded",
            "A passenger of this booking is already checked in.",
            "Ada penumpang pemesanan ini yang sudah check-in.",
        ));
    }
    Ok(())
}

/// Posts what becomes of a paid booking's money when it is cancelled: `due` goes back to the
/// customer, the rest is kept for the partner, less commission and its tax. Cash that the partner
/// took is on its account.
pub async fn owe(tx: &mut Tx, booking: &BookingRow, due: Rupiah, now: DateTime<Utc>) -> Result<()> {
    refund_due(tx, booking, due, now).await?;
    let kept = booking.total - due;
    let (commission, tax, partner) = rules::share_of_kept(
        kept,
        booking.commission_rate,
        booking.commission,
        booking.commission_tax,
    );
    let share = booking
        .chapter()
        .posting("kept")
        .debit(Account::CustomerDeposits, kept)
        .credit(Account::PartnerPayable, partner)
        .credit(Account::CommissionRevenue, commission)
        .credit(Account::TaxPayable, tax);
    ledger::post(tx, share, now).await?;
    let due = Due {
        partner_id: booking.partner_id,
        booking_id: booking.id,
        reschedule_id: booking.reschedule_id,
        kind: DueKind::Kept,
        day: booking.day(),
        gross: kept,
        commission,
        commission_tax: tax,
        collected: ledger::collected(tx, booking.id).await?,
    };
    ledger::owe_all(tx, &[due], now).await
}

/// Posts what becomes of a completed booking's money when it is refunded after all.
pub async fn take_back(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    earnings::reverse(tx, booking, now).await?;
    refund_due(tx, booking, booking.total, now).await
}

async fn refund_due(
    tx: &mut Tx,
    booking: &BookingRow,
    due: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = booking
        .chapter()
        .posting("refund_due")
        .debit(Account::CustomerDeposits, due)
        .credit(Account::RefundPayable, due);
    ledger::post(tx, posting, now).await
}

/// Expires what is due.
pub async fn expire_due(app: &App) -> Result<u64> {
    let mut expired = 0;
    loop {
        let pass = expire_some(app).await?;
        expired += pass.done;
        if !pass.more {
            return Ok(expired);
        }
    }
}

/// Expires some of what is due, and retries what has failed before. Each hold has a transaction of
/// its own, several side by side, and takes a booking, then its sailing, like everyone else.
pub async fn expire_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 500;
    const JOB: RowJob = RowJob::ExpireHolds;
    let now = app.clock.now();
    let due = store::due(&app.db, SOME, now).await?;
    let more = due.len() == SOME as usize;
    let done = set_aside::each(&app.db, JOB, due, 8, now, |id| expire_one(app, id)).await?;
    let again = set_aside::retry(&app.db, JOB, now, |id| expire_one(app, id)).await?;
    Ok(Pass { done: done + again, more })
}

async fn expire_one(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let expired = store::expire(&mut tx, id, now).await?;
    if expired {
        outbox::put_about(&mut tx, id, "booking.expired", &json!({ "booking_id": id }), now)
            .await?;
    }
    let _until = expired.then(|| app.shared.until_changed());
    tx.commit().await?;
    Ok(expired)
}
