//! Changes of all bookings of a sailing at once.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    model::{BookingStatus, LedgerSegment},
    prices::{self, FareLine, TaxAmount},
    reschedule,
    rules::{self, Event},
    store,
    transitions::{invalid_transition, settle_cancelled},
};
use crate::{
    events::{self, BoatChanged, BookingCancelled, BookingRef, DomainEvent},
    kernel::{
        db::{Json, Tx},
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
    },
    ledger::{self, Account, Due, DueKind},
    refunds::{self, NewRefund, RefundKind},
};

/// How long the customers of a cancelled sailing can choose another one before they are refunded
/// automatically.
const CHOICE: TimeDelta = TimeDelta::hours(24);

/// A cancelled booking. Its whole price is due, less what a chargeback has taken of it.
#[derive(crate::kernel::db::FromRow)]
pub struct CancelledBooking {
    #[row(flatten)]
    segment: LedgerSegment,
    total: Rupiah,
    tax: Rupiah,
    fare_lines: Json<Vec<FareLine>>,
    taxes: Json<Vec<TaxAmount>>,
    gone: Rupiah,
    /// Local day of departure.
    day: NaiveDate,
    /// Cash that the partner took for it.
    collected: Rupiah,
}

/// Outcome for the bookings of a cancelled sailing.
#[derive(Default, Serialize, JsonSchema)]
pub struct CancelledBookings {
    /// Number of bookings that were unpaid or free of charge.
    pub cancelled: usize,
    pub refund_due: usize,
    /// For partners at the retail price, also of bookings of resellers.
    pub refund_total: Rupiah,
    /// What travellers have paid for them beyond what resellers owed.
    #[serde(skip)]
    surcharge: Rupiah,
}

impl CancelledBookings {
    /// For those who may not know what resellers pay.
    pub fn at_retail(self) -> Self {
        Self { refund_total: self.refund_total + self.surcharge, ..self }
    }
}

/// Cancels every live booking of a cancelled sailing with a full refund, in a fixed number of
/// statements. The caller has closed the sailing, so no booking is added meanwhile.
pub async fn cancel_with_sailing(
    tx: &mut Tx,
    sailing: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<CancelledBookings> {
    reschedule::drop_for_sailing(tx, sailing, now).await?;
    let (unpaid, paid) = (BookingStatus::PendingPayment, BookingStatus::Paid);
    // As `rules::cancellation` decides for `Actor::Sailing`: paid bookings in full, unpaid ones
    // without a refund.
    let edge = |from, event| {
        let to = rules::next(from, event).ok_or_else(invalid_transition)?;
        Ok::<_, Error>((from, to))
    };
    let owing = edge(paid, Event::CancelOwing)?;
    let owed = store::cancel_all(tx, sailing, owing, true, reason, now).await?;
    let free = edge(paid, Event::Cancel)?;
    let mut others = store::cancel_all(tx, sailing, free, false, reason, now).await?;
    let is_whole = |booking: &&CancelledBooking| booking.gone == Rupiah::ZERO;
    post_refunds(tx, owed.iter().filter(is_whole), now).await?;
    let resold = owed.iter().filter(|booking| booking.segment.reseller_id.is_some());
    let credited: Vec<_> = resold.map(|booking| booking.segment.id).collect();
    store::end_refunded(tx, &credited, now).await?;
    // Chargebacks are few.
    for booking in owed.iter().chain(&others).filter(|booking| !is_whole(booking)) {
        let row = store::get_in(tx, booking.segment.id).await?.ok_or(Error::NotFound)?;
        let refund = (booking.total - booking.gone).max(Rupiah::ZERO);
        let due = settle_cancelled(tx, &row, refund, booking.collected, now).await?;
        events::emit_all(tx, due, now).await?;
    }
    let held = edge(unpaid, Event::Cancel)?;
    others.extend(store::cancel_all(tx, sailing, held, false, reason, now).await?);
    let moved = owed.iter().chain(&others).map(|booking| booking.segment);
    let moved: Vec<_> = moved.filter(|segment| segment.reschedule_id.is_some()).collect();
    reschedule::return_fees(tx, &moved, now).await?;
    // The partner gets one notification about the sailing instead.
    let cancelled = |booking: &CancelledBooking| {
        let booking_id = booking.segment.id;
        let cancelled = BookingCancelled { booking_id, tells_reason: false, by_sailing: true };
        DomainEvent::BookingCancelled(cancelled)
    };
    events::emit_all(tx, owed.iter().chain(&others).map(cancelled), now).await?;
    Ok(CancelledBookings {
        cancelled: others.len(),
        refund_due: owed.len(),
        refund_total: owed.iter().map(|booking| booking.total - booking.gone).sum(),
        surcharge: owed
            .iter()
            .map(|booking| prices::surcharge(&booking.fare_lines, &booking.taxes))
            .sum(),
    })
}

/// Posts the full price of each as owed, and the fees of earlier reschedules. Cash that the partner
/// collected is charged to its account.
async fn post_refunds(
    tx: &mut Tx,
    owed: impl Iterator<Item = &CancelledBooking> + Clone,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = |booking: &CancelledBooking| {
        booking
            .segment
            .posting("refund_due")
            .debit(Account::CustomerDeposits, booking.total)
            .credit(Account::RefundPayable, booking.total)
    };
    let due = |booking: &CancelledBooking| Due {
        partner_id: booking.segment.partner_id,
        booking_id: Some(booking.segment.id),
        reschedule_id: booking.segment.reschedule_id,
        kind: DueKind::Kept,
        source_id: None,
        day: booking.day,
        gross: Rupiah::ZERO,
        commission: Rupiah::ZERO,
        commission_tax: Rupiah::ZERO,
        collected: booking.collected,
    };
    let refund = |booking: &CancelledBooking| NewRefund {
        tax: booking.tax,
        ..booking.segment.refund(RefundKind::Cancellation, booking.total)
    };
    ledger::post_all(tx, &owed.clone().map(posting).collect::<Vec<_>>(), now).await?;
    ledger::record_dues(tx, &owed.clone().map(due).collect::<Vec<_>>(), now).await?;
    let refunds: Vec<_> = owed.map(refund).collect();
    refunds::create_all_later(tx, &refunds, now + CHOICE, now).await
}

/// What the bookers of a changed sailing are told.
#[derive(Clone)]
pub enum SailingNews {
    Nothing,
    /// It has another time, and perhaps another boat.
    NewTime,
    /// It has another boat at the same time.
    NewBoat {
        /// Name of the boat before.
        was: String,
    },
}

impl SailingNews {
    fn event(&self, booking_id: Uuid) -> Option<DomainEvent> {
        match self {
            Self::Nothing => None,
            Self::NewTime => Some(DomainEvent::BookingMoved(BookingRef { booking_id })),
            Self::NewBoat { was } => {
                let was_speedboat = was.clone();
                Some(DomainEvent::BookingBoatChanged(BoatChanged { booking_id, was_speedboat }))
            }
        }
    }
}

/// Gives the bookings of a changed sailing its times and its boat and announces it; returns the
/// number of live ones.
pub async fn follow_sailing(
    tx: &mut Tx,
    sailing: Uuid,
    news: &SailingNews,
    now: DateTime<Utc>,
) -> Result<usize> {
    let moved = store::follow(tx, sailing).await?;
    let count = moved.len();
    events::emit_all(tx, moved.into_iter().filter_map(|(id,)| news.event(id)), now).await?;
    Ok(count)
}

/// The same for all sailings of a change; returns the number of live bookings of each that has any.
pub async fn follow_sailings(
    tx: &mut Tx,
    change: Uuid,
    news: &HashMap<Uuid, SailingNews>,
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, usize>> {
    let moved = store::follow_all(tx, change).await?;
    let mut counts = HashMap::new();
    for (_, sailing) in &moved {
        *counts.entry(*sailing).or_default() += 1;
    }
    let event = |(booking, sailing): (Uuid, Uuid)| news.get(&sailing)?.event(booking);
    events::emit_all(tx, moved.into_iter().filter_map(event), now).await?;
    Ok(counts)
}

/// Expires the unpaid holds of a sailing that closes now.
pub async fn expire_holds(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<()> {
    let expired = store::expire_all(tx, sailing, now).await?;
    let expired = expired.into_iter().map(|(booking_id,)| BookingRef { booking_id });
    events::emit_all(tx, expired.map(DomainEvent::BookingExpired), now).await?;
    reschedule::drop_for_sailing(tx, sailing, now).await
}
