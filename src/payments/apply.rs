//! Applies payment events. The only place where a notification of a provider moves money.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    model::{Payment, PaymentStatus, ReviewReason},
    notice::Notice,
    store::{self, NewReview},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus, Event, TransitionDetails},
    events::{self, ConfirmPayment, DomainEvent, PaymentReview, Task},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    sailings::offers,
};

/// The outcome of a refund by the provider that was not owed. It counts as no incoming money.
pub const UNOWED_REFUND: &str = "unowed_refund";

/// Stores a notification that could not be confirmed with the provider, and schedules another try.
pub async fn keep_unconfirmed(
    app: &App,
    payment: &Payment,
    told: &Notice,
    raw: &Value,
) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let kept = store::record_event(&mut tx, payment, told, raw, "unconfirmed", now);
    if kept.await?.is_some() {
        let confirm = ConfirmPayment { booking_id: payment.booking_id, notice: raw.clone() };
        events::enqueue(&mut tx, &Task::ConfirmPayment(confirm), now).await?;
    }
    Ok(tx.commit().await?)
}

/// Applies the event at most once.
pub async fn apply(app: &App, payment: &Payment, notice: &Notice, raw: &Value) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    // Serialises everything that happens to this booking.
    bookings::lock_row(&mut tx, payment.booking_id).await?;
    // The most frequent outcome; others are corrected below.
    let expected = if notice.status == PaymentStatus::Paid { "paid" } else { "received" };
    let kept = store::record_event(&mut tx, payment, notice, raw, expected, now);
    let event = kept.await?;
    let payment = &store::get_in(&mut tx, payment.id).await?;
    let mut invalidation = None;
    if let Some(event) = event {
        let booking = bookings::get_in(&mut tx, payment.booking_id).await?;
        let booking = booking.ok_or_else(|| Error::internal("a payment without booking"))?;
        // Paying a pending booking does not change its seats.
        if payment.reschedule_id.is_some() || booking.status != BookingStatus::PendingPayment {
            let line = offers::line_tag(&booking.joined.from_name, &booking.joined.to_name);
            invalidation = Some(app.response_cache.invalidate_on_drop([line]));
        }
        let outcome = match notice.status {
            PaymentStatus::Pending => "noted",
            PaymentStatus::Failed => end_attempt(&mut tx, payment, PaymentStatus::Failed).await?,
            PaymentStatus::Expired => end_attempt(&mut tx, payment, PaymentStatus::Expired).await?,
            PaymentStatus::Paid => {
                apply_paid(&mut tx, &booking, payment, notice, event, now).await?
            }
            PaymentStatus::Refunded => {
                apply_refunded(&mut tx, &booking, payment, notice, event, now).await?
            }
        };
        if outcome != expected {
            store::set_outcome(&mut tx, event, outcome).await?;
        }
    }
    tx.commit().await?;
    drop(invalidation);
    Ok(())
}

/// Ends this attempt alone. A later notification never reverts a payment.
async fn end_attempt(
    tx: &mut Tx,
    payment: &Payment,
    status: PaymentStatus,
) -> Result<&'static str> {
    store::end(tx, payment.id, status).await?;
    Ok("ended")
}

async fn apply_paid(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    if store::is_already_applied(tx, event).await? {
        return Ok("confirmed");
    }
    let review = |reason| UnappliedPayment { payment, event, reason, amount: notice.amount };
    if let Some(reschedule) = payment.reschedule_id {
        if notice.amount != payment.amount {
            return review(ReviewReason::WrongAmount)
                .hold_for_review(tx, payment.amount, now)
                .await;
        }
        if !bookings::reschedule::complete_paid(tx, booking, reschedule, now).await? {
            return review(ReviewReason::Late).hold_for_review(tx, payment.amount, now).await;
        }
        store::set_paid(tx, payment.id, notice.method, now).await?;
        return Ok("paid");
    }
    if notice.amount != booking.total {
        return review(ReviewReason::WrongAmount).hold_for_review(tx, booking.total, now).await;
    }
    let mut booking = booking.clone();
    if booking.status == BookingStatus::PendingPayment && booking.departure_at <= now {
        // The sailing has departed, so the hold is over; the job has not expired it yet.
        let details = TransitionDetails::default();
        bookings::move_booking(tx, &booking, Event::Expire, details, now).await?;
        booking.stored.status = BookingStatus::Expired;
    }
    let booking = &booking;
    match booking.status {
        BookingStatus::PendingPayment => {}
        BookingStatus::Expired if bookings::can_take_again(tx, booking, now).await? => {}
        BookingStatus::Expired => {
            store::set_paid(tx, payment.id, notice.method, now).await?;
            return late_payment(tx, booking, notice.amount, now).await;
        }
        BookingStatus::Cancelled if booking.paid_at.is_none() => {
            return review(ReviewReason::Late).hold_for_review(tx, booking.total, now).await;
        }
        _ => return review(ReviewReason::Duplicate).hold_for_review(tx, booking.total, now).await,
    }
    store::set_paid(tx, payment.id, notice.method, now).await?;
    mark_paid(tx, booking, now).await?;
    let posting = Posting::new(Source::Booking, booking.id, "paid")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::GatewayClearing, booking.total)
        .credit(Account::CustomerDeposits, booking.total);
    ledger::post(tx, posting, now).await?;
    Ok("paid")
}

/// Moves a booking that holds its seats to `paid`.
pub async fn mark_paid(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    match bookings::move_booking(tx, booking, Event::Pay, TransitionDetails::default(), now).await?
    {
        true => Ok(()),
        false => Err(Error::Contention("the held seats are no longer available".into())),
    }
}

/// Late payment for a sailing that has sold out: the booking becomes refundable.
async fn late_payment(
    tx: &mut Tx,
    booking: &BookingRow,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let details = TransitionDetails { refund_amount: Some(amount), ..Default::default() };
    bookings::move_booking(tx, booking, Event::LatePayment, details, now).await?;
    let posting = Posting::new(Source::Booking, booking.id, "paid_in_vain")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::GatewayClearing, amount)
        .credit(Account::RefundPayable, amount);
    ledger::post(tx, posting, now).await?;
    announce_review(tx, booking.id, ReviewReason::Late, amount, now).await?;
    Ok("refund_due")
}

async fn apply_refunded(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let due = booking.refund_amount.unwrap_or(Rupiah::ZERO);
    let ours = payment.status == PaymentStatus::Paid && payment.provider != "cash";
    // A rescheduled booking may have been paid in parts, which are refunded separately.
    if ours && booking.status == BookingStatus::RefundPending && notice.amount == payment.amount {
        let (parts, left) = store::paid_and_remaining(tx, booking.id).await?;
        if parts == due && left > notice.amount {
            store::set_part_refunded(tx, payment.id).await?;
            return Ok("part_refunded");
        }
        if parts == due && left == notice.amount {
            settle_refund(tx, booking, Account::GatewayClearing, None, now).await?;
            return Ok("refunded");
        }
    }
    if ours
        && let Some(owed) = bookings::reschedule::owed(tx, booking.id).await?
        && owed.1 == notice.amount
    {
        let by = Account::GatewayClearing;
        bookings::reschedule::pay_difference(tx, booking, owed, by, None, now).await?;
        return Ok("difference_refunded");
    }
    if booking.status != BookingStatus::RefundPending || notice.amount != due || !ours {
        // A refund at the provider that is not owed here: it needs a review.
        let reason = ReviewReason::WrongAmount;
        let new =
            NewReview { event_id: event, payment, reason, amount: notice.amount, expected: due };
        store::insert_review(tx, new, now).await?;
        announce_review(tx, payment.booking_id, reason, notice.amount, now).await?;
        return Ok(UNOWED_REFUND);
    }
    settle_refund(tx, booking, Account::GatewayClearing, None, now).await?;
    Ok("refunded")
}

/// Settles a refund that is due, paid out from this account.
pub async fn settle_refund(
    tx: &mut Tx,
    booking: &BookingRow,
    by: Account,
    reference: Option<&str>,
    now: DateTime<Utc>,
) -> Result<()> {
    let due = booking.refund_amount.unwrap_or(Rupiah::ZERO);
    let details = TransitionDetails { refund_reference: reference, ..Default::default() };
    bookings::move_booking(tx, booking, Event::Refund, details, now).await?;
    store::set_refunded(tx, booking.id).await?;
    let posting = booking
        .ledger_segment()
        .posting("refunded")
        .debit(Account::RefundPayable, due)
        .credit(by, due);
    ledger::post(tx, posting, now).await
}

/// A payment that needs a review.
struct UnappliedPayment<'a> {
    payment: &'a Payment,
    event: Uuid,
    reason: ReviewReason,
    amount: Rupiah,
}

impl UnappliedPayment<'_> {
    async fn hold_for_review(
        self,
        tx: &mut Tx,
        expected: Rupiah,
        now: DateTime<Utc>,
    ) -> Result<&'static str> {
        let Self { payment, event, reason, amount } = self;
        let posting = Posting::new(Source::Payment, event, "unapplied")
            .debit(Account::GatewayClearing, amount)
            .credit(Account::UnappliedPayments, amount);
        ledger::post(tx, posting, now).await?;
        let new = NewReview { event_id: event, payment, reason, amount, expected };
        store::insert_review(tx, new, now).await?;
        announce_review(tx, payment.booking_id, reason, amount, now).await?;
        Ok("review")
    }
}

async fn announce_review(
    tx: &mut Tx,
    booking_id: Uuid,
    reason: ReviewReason,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let review = PaymentReview { booking_id, reason: reason.as_str().to_owned(), amount };
    events::emit(tx, DomainEvent::PaymentReview(review), now).await
}
