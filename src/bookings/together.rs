//! What happens to all bookings of a sailing at once.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{
    model::{BookingStatus, Chapter},
    moves::not_now,
    reschedule,
    rules::{self, Event},
    store,
};
use crate::{
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        outbox,
    },
    ledger::{self, Account, Due, DueKind},
};

/// A cancelled booking whose whole price is due.
#[derive(sqlx::FromRow)]
pub struct Owed {
    #[sqlx(flatten)]
    chapter: Chapter,
    total: Rupiah,
    /// The day of departure where it departs.
    day: NaiveDate,
    /// Cash that the partner took for it.
    collected: Rupiah,
}

/// Outcome for the bookings of a cancelled sailing.
#[derive(Default, Serialize, JsonSchema)]
pub struct CalledOff {
    /// Number of bookings that were unpaid or free of charge.
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
    reschedule::drop_towards(tx, sailing, now).await?;
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
    let news = |booking: &Owed| {
        let id = booking.chapter.id;
        (id, json!({ "booking_id": id, "by_sailing": true }))
    };
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
        booking
            .chapter
            .posting("refund_due")
            .debit(Account::CustomerDeposits, booking.total)
            .credit(Account::RefundPayable, booking.total)
    };
    let due = |booking: &Owed| Due {
        partner_id: booking.chapter.partner_id,
        booking_id: booking.chapter.id,
        reschedule_id: booking.chapter.reschedule_id,
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
    outbox::put_all(tx, "booking.expired", &news, now).await?;
    reschedule::drop_towards(tx, sailing, now).await
}
