//! Moving bookings from status to status, with the money that moves along.

use chrono::{DateTime, NaiveDate, Utc};
use futures_util::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{
    earnings,
    model::{BookingRow, BookingStatus},
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
    },
    ledger::{self, Account, Due, DueKind, Posting, Source},
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
    };
    outbox::put_about(tx, booking.id, topic, &json!({ "booking_id": booking.id }), now).await?;
    Ok(true)
}

pub fn no_seats(failure: &Failure) -> bool {
    failure.names("sailings_seats") || failure.names("promotions_quota")
}

pub fn not_now() -> Error {
    Error::invalid_state(
        "The booking's status does not allow this now.",
        "Status pemesanan saat ini tidak memungkinkan hal ini.",
    )
}

/// Whoever is on board, or on a list that was closed, does not leave by themselves.
pub fn still_ashore(booking: &BookingRow) -> Result<()> {
    if booking.manifest_closed_at.is_some() {
        return Err(Error::conflict(
            "manifest_closed",
            "The manifest of this sailing is closed.",
            "Manifes penumpang pelayaran ini sudah ditutup.",
        ));
    }
    if !booking.boarded()?.is_empty() {
        return Err(Error::conflict(
            "already_boarded",
            "Somebody of this booking is on board already.",
            "Sebagian penumpang pemesanan ini sudah naik kapal.",
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
    let share = Posting::new(Source::Booking, booking.id, "kept")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::CustomerDeposits, kept)
        .credit(Account::PartnerPayable, partner)
        .credit(Account::CommissionRevenue, commission)
        .credit(Account::TaxPayable, tax);
    ledger::post(tx, share, now).await?;
    let due = Due {
        partner_id: booking.partner_id,
        booking_id: booking.id,
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
    let posting = Posting::new(Source::Booking, booking.id, "refund_due")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::CustomerDeposits, due)
        .credit(Account::RefundPayable, due);
    ledger::post(tx, posting, now).await
}

/// A cancelled booking whose whole price is due.
#[derive(sqlx::FromRow)]
pub struct Owed {
    id: Uuid,
    partner_id: Uuid,
    total: Rupiah,
    /// The day of departure where it departs.
    day: NaiveDate,
    /// Cash that the partner took for it.
    collected: Rupiah,
}

/// What became of a sailing's bookings.
#[derive(Default, Serialize, JsonSchema)]
pub struct CalledOff {
    /// That had not been paid, or cost nothing.
    pub cancelled: usize,
    pub refund_due: usize,
    pub refund_total: Rupiah,
}

/// Cancels every live booking of a sailing that was called off, in full: a fixed number of
/// statements, however many they are. Whoever calls has closed the sailing, so none is added.
pub async fn call_off(
    tx: &mut Tx,
    sailing: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<CalledOff> {
    let (unpaid, paid) = (BookingStatus::PendingPayment, BookingStatus::Paid);
    let edge = |from, event| {
        let to = rules::next(from, event).ok_or_else(not_now)?;
        Ok::<_, Error>((from, to))
    };
    let owing = edge(paid, Event::CancelOwing)?;
    let owed = store::cancel_all(tx, sailing, owing, true, reason, now).await?;
    let free = edge(paid, Event::Cancel)?;
    let mut others = store::cancel_all(tx, sailing, free, false, reason, now).await?;
    let held = edge(unpaid, Event::Cancel)?;
    others.extend(store::cancel_all(tx, sailing, held, false, reason, now).await?);
    owe_all(tx, &owed, now).await?;
    // The partner knows, or hears of the sailing as a whole.
    let news =
        |booking: &Owed| (booking.id, json!({ "booking_id": booking.id, "by_sailing": true }));
    let news: Vec<_> = owed.iter().chain(&others).map(news).collect();
    outbox::put_all(tx, "booking.cancelled", &news, now).await?;
    Ok(CalledOff {
        cancelled: others.len(),
        refund_due: owed.len(),
        refund_total: owed.iter().map(|booking| booking.total).sum(),
    })
}

/// Posts that the whole price of each is due. Cash that the partner took is on its account.
async fn owe_all(tx: &mut Tx, owed: &[Owed], now: DateTime<Utc>) -> Result<()> {
    let posting = |booking: &Owed| {
        Posting::new(Source::Booking, booking.id, "refund_due")
            .of_booking(booking.id, booking.partner_id)
            .debit(Account::CustomerDeposits, booking.total)
            .credit(Account::RefundPayable, booking.total)
    };
    let due = |booking: &Owed| Due {
        partner_id: booking.partner_id,
        booking_id: booking.id,
        kind: DueKind::Kept,
        day: booking.day,
        gross: Rupiah::ZERO,
        commission: Rupiah::ZERO,
        commission_tax: Rupiah::ZERO,
        collected: booking.collected,
    };
    ledger::post_all(tx, &owed.iter().map(posting).collect::<Vec<_>>(), now).await?;
    ledger::owe_all(tx, &owed.iter().map(due).collect::<Vec<_>>(), now).await
}

/// Lets the bookings of a sailing follow it to its new times; says how many live ones that are.
pub async fn follow(
    tx: &mut Tx,
    sailing: Uuid,
    departure_at: DateTime<Utc>,
    arrival_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<usize> {
    let moved = store::follow(tx, sailing, departure_at, arrival_at).await?;
    let news: Vec<_> = moved.iter().map(|(id,)| (*id, json!({ "booking_id": id }))).collect();
    outbox::put_all(tx, "booking.moved", &news, now).await?;
    Ok(moved.len())
}

/// Lets the unpaid holds on a sailing go that closes now.
pub async fn expire_all(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<()> {
    let expired = store::expire_all(tx, sailing, now).await?;
    let news: Vec<_> = expired.iter().map(|(id,)| (*id, json!({ "booking_id": id }))).collect();
    outbox::put_all(tx, "booking.expired", &news, now).await
}

/// Expires what is due, each hold in a transaction of its own, several side by side: it takes a
/// booking, then its sailing, like everyone else.
pub async fn expire_due(app: &App) -> Result<u64> {
    const SOME: i64 = 500;
    let mut expired = 0;
    loop {
        let due = store::due(&app.db, SOME, app.clock.now()).await?;
        let more = due.len() == SOME as usize;
        let mut done = stream::iter(due).map(|id| expire_one(app, id)).buffer_unordered(8);
        while let Some(done) = done.next().await {
            expired += u64::from(done?);
        }
        if !more {
            return Ok(expired);
        }
    }
}

async fn expire_one(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let expired = store::expire(&mut tx, id, now).await?;
    if expired {
        outbox::put_about(&mut tx, id, "booking.expired", &json!({ "booking_id": id }), now)
            .await?;
    }
    tx.commit().await?;
    Ok(expired)
}
