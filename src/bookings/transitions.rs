//! Status transitions of bookings, with their postings and events.

use chrono::{DateTime, Utc};

use super::{
    earnings,
    model::{BookingRow, BookingStatus},
    prices::{self, Price, Shares},
    rules::{self, BorneBy, Event, Refund},
    store::{self, TransitionDetails},
};
use crate::{
    app::App,
    events::{self, BookingCancelled, BookingRef, DomainEvent},
    kernel::{
        db::{Failure, Tx},
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account, Due, DueKind, Posting, Source},
    refunds::{self, NewRefund, RefundKind},
    sailings::offers,
};

/// Moves the booking by the table of transitions and announces it. 409 if there is no such
/// transition, or the status has changed meanwhile. `Ok(false)`: there are no seats left to take
/// again.
pub async fn move_booking(
    tx: &mut Tx,
    booking: &BookingRow,
    event: Event,
    details: TransitionDetails,
    now: DateTime<Utc>,
) -> Result<bool> {
    let to = rules::next(booking.status, event).ok_or_else(invalid_transition)?;
    match store::advance(tx, booking.id, booking.status, to, details, now).await {
        Ok(true) => {}
        Ok(false) => return Err(invalid_transition()),
        Err(failure) if is_sold_out(&failure) => return Ok(false),
        Err(failure) => return Err(failure.into()),
    }
    let booking_id = booking.id;
    let subject = BookingRef { booking_id };
    let announced = match event {
        Event::Pay => Some(DomainEvent::BookingPaid(subject)),
        Event::Expire => Some(DomainEvent::BookingExpired(subject)),
        Event::Complete => Some(DomainEvent::BookingCompleted(subject)),
        Event::Refund => Some(DomainEvent::BookingRefunded(subject)),
        // The booker gets the mail of a cancellation: the money is refunded.
        Event::LatePayment | Event::Cancel | Event::CancelOwing => {
            Some(cancelled_event(booking_id, false))
        }
        // The event of the reschedule announces it, with the difference.
        Event::Reinstate => None,
        // Those who pay refunds are told of the refund itself.
        Event::RefundReturned => None,
    };
    if let Some(announced) = announced {
        events::emit(tx, announced, now).await?;
    }
    Ok(true)
}

fn cancelled_event(booking_id: Uuid, tells_reason: bool) -> DomainEvent {
    let cancelled = BookingCancelled { booking_id, tells_reason, by_sailing: false };
    DomainEvent::BookingCancelled(cancelled)
}

/// A cancellation that the rules have decided.
pub struct Cancellation<'a> {
    pub refund: Refund,
    pub reason: &'a str,
    /// Whether the mail to the booker contains the reason.
    pub tells_reason: bool,
}

/// Cancels the booking, posts its money, and announces it. Returns the booking afterwards; `None`
/// if its row has changed since `booking` was read.
pub async fn cancel(
    tx: &mut Tx,
    booking: &BookingRow,
    cancellation: &Cancellation<'_>,
    now: DateTime<Utc>,
) -> Result<Option<BookingRow>> {
    let Cancellation { refund, reason, tells_reason } = cancellation;
    let to = rules::next(booking.status, refund.event()).ok_or_else(invalid_transition)?;
    let refund_amount = refund.is_due().then_some(refund.amount);
    let cancelled = store::cancel(tx, booking, to, refund_amount, reason, now).await?;
    let Some(store::Cancelled { collected, owed }) = cancelled else { return Ok(None) };
    let due = match booking.status {
        BookingStatus::Paid => settle_cancelled(tx, booking, refund.amount, collected, now).await?,
        BookingStatus::Completed => {
            let borne_by = refund.borne_by.unwrap_or(BorneBy::Partner);
            refund_completed(tx, booking, refund.amount, borne_by, now).await?
        }
        // Nothing was paid.
        _ => Vec::new(),
    };
    // The account of a reseller was credited with the refund.
    let is_credited = booking.reseller_id.is_some() && to == BookingStatus::RefundPending;
    if is_credited {
        store::end_refunded(tx, &[booking.id], now).await?;
    }
    let cancelled = cancelled_event(booking.id, *tells_reason);
    events::emit_all(tx, [cancelled].into_iter().chain(due), now).await?;
    let mut after = booking.clone();
    after.stored.status = if is_credited { BookingStatus::Refunded } else { to };
    after.stored.cancelled_at = Some(now);
    after.stored.cancel_reason = Some((*reason).to_owned());
    after.stored.refund_amount = refund_amount.or(booking.refund_amount);
    after.joined.owed = if is_credited { owed } else { owed + refund.amount };
    Ok(Some(after))
}

pub fn is_sold_out(failure: &Failure) -> bool {
    failure.names("sailings_seats") || failure.names("promotions_quota")
}

/// 409: there is no such transition.
pub fn invalid_transition() -> Error {
    Error::invalid_state(
        "The current status of the booking does not allow this.",
        "Status pemesanan saat ini tidak memungkinkan hal ini.",
    )
}

/// Posts the money of a paid booking that is cancelled: `refund` is owed to the customer, the rest
/// is shared between the partner, the platform and the state. Cash that the partner collected is
/// charged to its account. Returns what the caller announces of the refund.
pub async fn settle_cancelled(
    tx: &mut Tx,
    booking: &BookingRow,
    refund: Rupiah,
    collected: Rupiah,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    let segment = booking.ledger_segment();
    let owed = segment.refund(RefundKind::Cancellation, refund);
    let due = |shares: &_| segment.due(DueKind::Kept, booking.day(), shares, 1, collected);
    settle(tx, &booking.price(), owed, |kind| segment.posting(kind), due, now).await
}

/// The same for the share of passengers who are cancelled while the rest travels. Cash that the
/// partner collected stays with the rest.
pub async fn settle_share(
    tx: &mut Tx,
    booking: &BookingRow,
    (cancellation, share): (Uuid, &Price),
    refund: Rupiah,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    let segment = booking.ledger_segment();
    let owed = segment.refund(RefundKind::Cancellation, refund);
    let owed = NewRefund { cancellation_id: Some(cancellation), ..owed };
    let posting = |kind| {
        let posting = Posting::new(Source::Cancellation, cancellation, kind);
        posting.of_booking(booking.id, booking.partner_id)
    };
    let due = |shares: &_| Due {
        source_id: Some(cancellation),
        ..segment.due(DueKind::Kept, booking.day(), shares, 1, Rupiah::ZERO)
    };
    settle(tx, share, owed, posting, due, now).await
}

/// Posts a price that was paid and is cancelled.
async fn settle(
    tx: &mut Tx,
    price: &Price,
    owed: NewRefund,
    posting: impl Fn(&'static str) -> Posting,
    due: impl Fn(&Shares) -> Due,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    let refund = owed.amount;
    let shares = prices::kept(price, price.total - refund);
    let kept = posting("kept")
        .debit(Account::CustomerDeposits, shares.paid)
        .credit(Account::PartnerPayable, shares.partner)
        .credit(Account::CommissionRevenue, shares.commission)
        .credit_taxes(shares.by_code());
    let back = posting("refund_due")
        .debit(Account::CustomerDeposits, refund)
        .credit(Account::RefundPayable, refund);
    ledger::post_all(tx, &[back, kept], now).await?;
    ledger::record_dues(tx, &[due(&shares)], now).await?;
    let tax = price.tax - shares.tax();
    refunds::create_silently(tx, NewRefund { tax, ..owed }, now).await
}

/// Posts a refund after the journey. The partner bears it, or the platform.
async fn refund_completed(
    tx: &mut Tx,
    booking: &BookingRow,
    refund: Rupiah,
    borne_by: BorneBy,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    // The state keeps the tax of what the platform gives out of its own pocket.
    let tax = match borne_by {
        BorneBy::Partner => {
            let (reversal, due) = earnings::reversal(booking, refund);
            let owed = refund_due(booking, refund, Account::CustomerDeposits);
            ledger::post_all(tx, &[reversal, owed], now).await?;
            ledger::record_dues(tx, &[due], now).await?;
            prices::taken_back(&booking.price(), refund).tax()
        }
        BorneBy::Platform => {
            ledger::post(tx, refund_due(booking, refund, Account::Losses), now).await?;
            Rupiah::ZERO
        }
    };
    let complaint = booking.ledger_segment().refund(RefundKind::Complaint, refund);
    refunds::create_silently(tx, NewRefund { tax, ..complaint }, now).await
}

/// The money of a refund comes from this account.
fn refund_due(booking: &BookingRow, amount: Rupiah, from: Account) -> Posting {
    booking
        .ledger_segment()
        .posting("refund_due")
        .debit(from, amount)
        .credit(Account::RefundPayable, amount)
}

/// Expires all holds that are due.
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

/// Expires a batch of holds, and retries those that have failed before. Each has its own
/// transaction, several run concurrently. Locks are taken in the order booking, sailing.
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
    if !expired {
        return Ok(false);
    }
    let event = DomainEvent::BookingExpired(BookingRef { booking_id: id });
    events::emit(&mut tx, event, now).await?;
    let trip = offers::trip_tag_of_booking(&mut tx, id).await?;
    let _invalidation = app.response_cache.invalidate_on_drop([trip]);
    tx.commit().await?;
    Ok(true)
}
