//! Applies payment events. The only place where a notification of a provider moves money.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    automatic,
    model::{Payment, PaymentStatus, ReviewReason},
    notice::Notice,
    refunds::{self, ReportedKind, ReportedRefund},
    reviews,
    store::{self, NewReview, TakenMoney},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus, Event, TransitionDetails},
    config::PaymentProvider,
    events::{self, ConfirmPayment, DomainEvent, PaymentReview, Task},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    refunds::RefundKind,
    sailings::offers,
};

/// The outcome of a refund by the provider that was not owed. It counts as no incoming money.
pub const UNOWED_REFUND: &str = "unowed_refund";
/// The outcome of a payment that the provider took back before it was applied.
const VOIDED: &str = "voided";
/// The outcome of a payment whose refund was told before.
const REVERSED_PAYMENT: &str = "came_and_went";
const UNCONFIRMED: &str = "unconfirmed";

/// Stores a notification that could not be confirmed with the provider, and schedules another try.
pub async fn keep_unconfirmed(
    app: &App,
    payment: &Payment,
    told: &Notice,
    raw: &Value,
) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let kept = store::record_event(&mut tx, payment, told, raw, UNCONFIRMED, now);
    if kept.await?.is_some() {
        let confirm = ConfirmPayment { booking_id: payment.booking_id, notice: raw.clone() };
        events::enqueue(&mut tx, &Task::ConfirmPayment(confirm), now).await?;
    }
    Ok(tx.commit().await?)
}

/// Applies an ordinary payment in three statements. `false`, and nothing has changed, if it is none.
async fn apply_ordinary(
    app: &App,
    payment: &Payment,
    notice: &Notice,
    raw: &Value,
    now: DateTime<Utc>,
) -> Result<bool> {
    if notice.status != PaymentStatus::Paid || payment.status != PaymentStatus::Pending {
        return Ok(false);
    }
    let mut tx = app.db.begin().await?;
    if !store::record_ordinary_payment(&mut tx, payment, notice, raw, now).await?
        || !bookings::pay_held(&mut tx, payment.booking_id, notice.amount, now).await?
    {
        return Ok(false);
    }
    ledger::post(&mut tx, paid(payment.booking_id, notice.amount), now).await?;
    tx.commit().await?;
    app.db.notify_outbox();
    Ok(true)
}

/// The posting of a price that was paid.
fn paid(booking: Uuid, total: Rupiah) -> Posting {
    Posting::new(Source::Booking, booking, "paid")
        .about_booking(booking)
        .debit(Account::GatewayClearing, total)
        .credit(Account::CustomerDeposits, total)
}

/// Applies the event at most once.
pub async fn apply(app: &App, payment: &Payment, notice: &Notice, raw: &Value) -> Result<()> {
    let now = app.clock.now();
    if apply_ordinary(app, payment, notice, raw, now).await? {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    // Serialises everything that happens to this booking.
    bookings::lock_row(&mut tx, payment.booking_id).await?;
    let kept = store::record_event(&mut tx, payment, notice, raw, "received", now).await?;
    let event = match kept {
        // A repetition can list a refund that is new; each is recognised by its own id.
        None if !notice.refunds.is_empty() => store::event_id(&mut tx, payment, notice).await?,
        kept => kept,
    };
    let payment = &store::get_in(&mut tx, payment.id).await?;
    let mut invalidation = None;
    if let Some(event) = event {
        let booking = bookings::get_in(&mut tx, payment.booking_id).await?;
        let booking = booking.ok_or_else(|| Error::internal("a payment without booking"))?;
        // Paying a pending booking does not change its seats.
        if payment.reschedule_id.is_some() || booking.status != BookingStatus::PendingPayment {
            let (from, to) = (booking.joined.from_harbour_id, booking.joined.to_harbour_id);
            let line = offers::line_tag(from, to);
            invalidation = Some(app.response_cache.invalidate_on_drop([line]));
        }
        let outcome = match notice.status {
            PaymentStatus::Pending => "noted",
            PaymentStatus::Failed => {
                fail(&mut tx, &booking, payment, notice, event, raw, now).await?
            }
            PaymentStatus::Expired => end_attempt(&mut tx, payment, PaymentStatus::Expired).await?,
            PaymentStatus::Paid => {
                let outcome = apply_paid(&mut tx, &booking, payment, notice, event, now).await?;
                if app.gateway().provider != PaymentProvider::Simulator {
                    ask_again_about_failure(&mut tx, payment, event, now).await?;
                }
                outcome
            }
            PaymentStatus::Refunded => apply_refunds(&mut tx, payment, notice, event, now).await?,
        };
        let is_news = kept.is_some() || outcome != "confirmed";
        if outcome != "received" && is_news {
            store::set_outcome(&mut tx, event, outcome).await?;
        }
    }
    tx.commit().await?;
    drop(invalidation);
    Ok(())
}

/// Applies each told refund. The outcome is that of the most serious one.
async fn apply_refunds(
    tx: &mut Tx,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let seriousness = |outcome: &&str| ["confirmed", "refunded"].iter().position(|o| o == outcome);
    let mut outcomes = vec!["confirmed"];
    for told in &automatic::without_accepted(tx, payment, &notice.refunds, now).await? {
        // The one before can have moved the booking.
        let booking = bookings::get_in(tx, payment.booking_id).await?.ok_or(Error::NotFound)?;
        outcomes
            .push(refunds::apply_reported_refund(tx, &booking, payment, told, event, now).await?);
    }
    let worst = outcomes.into_iter().max_by_key(|outcome| seriousness(outcome).unwrap_or(2));
    Ok(worst.unwrap_or("confirmed"))
}

/// The attempt has failed. If its money was reported before, the provider takes it back: some
/// virtual accounts and stores are settled and denied within minutes. That is believed only if the
/// provider says so itself, because a notification does not sign its status.
async fn fail(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    raw: &Value,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let Some(taken) = store::taken_money(tx, event).await? else {
        return end_attempt(tx, payment, PaymentStatus::Failed).await;
    };
    if !notice.confirmed {
        ask_again(tx, payment, raw.clone(), now).await?;
        return Ok(UNCONFIRMED);
    }
    let TakenMoney { id, amount } = taken;
    if store::has_open_review(tx, id).await? {
        return Ok(VOIDED);
    }
    let gone = store::reported_total(tx, payment.id, &notice.transaction_id).await?;
    let told = ReportedRefund {
        kind: ReportedKind::Voided,
        transaction: notice.transaction_id.clone(),
        key: Some(format!("void:{}", notice.transaction_id)),
        amount: amount - gone,
        total: None,
        transfer: None,
        is_final: true,
    };
    refunds::apply_reported_refund(tx, booking, payment, &told, event, now).await
}

/// The provider refuses a refund that we have sent.
pub async fn fail_refund(app: &App, payment: &Payment, transfer: Uuid, reason: &str) -> Result<()> {
    let mut tx = app.db.begin().await?;
    bookings::lock_row(&mut tx, payment.booking_id).await?;
    automatic::fail_reported_refund(&mut tx, transfer, reason, app.clock.now()).await?;
    Ok(tx.commit().await?)
}

async fn ask_again(
    tx: &mut Tx,
    payment: &Payment,
    notice: Value,
    now: DateTime<Utc>,
) -> Result<()> {
    let confirm = ConfirmPayment { booking_id: payment.booking_id, notice };
    events::enqueue(tx, &Task::ConfirmPayment(confirm), now).await
}

/// A failure that was stored before its payment may have come after it: the provider is asked.
async fn ask_again_about_failure(
    tx: &mut Tx,
    payment: &Payment,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let Some((failure, raw)) = store::earlier_failure(tx, event).await? else { return Ok(()) };
    if raw["order_id"].is_string() {
        store::set_outcome(tx, failure, UNCONFIRMED).await?;
        ask_again(tx, payment, raw, now).await?;
    }
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
    store::set_transaction(tx, payment.id, notice).await?;
    let applied = matches!(payment.status, PaymentStatus::Paid | PaymentStatus::Refunded);
    let gone = store::open_unowed(tx, payment).await?;
    let went: Rupiah = gone.iter().map(|review| review.amount).sum();
    if !applied && !gone.is_empty() && went == notice.amount {
        reviews::close_reversed_payment(tx, &gone, now).await?;
        store::end(tx, payment.id, PaymentStatus::Failed).await?;
        return Ok(REVERSED_PAYMENT);
    }
    let review =
        |reason| UnappliedPayment { booking, payment, event, reason, amount: notice.amount };
    if let Some(reschedule) = payment.reschedule_id {
        if notice.amount != payment.amount {
            return review(ReviewReason::WrongAmount)
                .hold_for_review(tx, payment.amount, now)
                .await;
        }
        let taken = bookings::reschedule::take_paid(tx, booking, reschedule, now).await?;
        let Some(reschedule) = taken else {
            return review(ReviewReason::Late).hold_for_review(tx, payment.amount, now).await;
        };
        // Before the posting, which counts for the paid attempt.
        store::set_paid(tx, payment.id, notice.method, now).await?;
        bookings::reschedule::complete(tx, booking, &reschedule, now).await?;
        return Ok("paid");
    }
    // A booking that was paid may cost something else since: passengers were cancelled, or it moved.
    // An attempt of before then asked for what it cost at that time.
    let expected = if booking.paid_at.is_some() { payment.amount } else { booking.total };
    if notice.amount != expected {
        return review(ReviewReason::WrongAmount).hold_for_review(tx, expected, now).await;
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
        _ => return review(ReviewReason::Duplicate).hold_for_review(tx, expected, now).await,
    }
    store::set_paid(tx, payment.id, notice.method, now).await?;
    mark_paid(tx, booking, now).await?;
    ledger::post(tx, paid(booking.id, booking.total), now).await?;
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
    let details = TransitionDetails { refund_amount: Some(amount) };
    bookings::move_booking(tx, booking, Event::LatePayment, details, now).await?;
    let posting = Posting::new(Source::Booking, booking.id, "late_payment")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::GatewayClearing, amount)
        .credit(Account::RefundPayable, amount);
    ledger::post(tx, posting, now).await?;
    let owed = booking.ledger_segment().refund(RefundKind::Late, amount);
    crate::refunds::create(tx, owed, now).await?;
    announce_review(tx, booking.id, ReviewReason::Late, amount, now).await?;
    Ok("refund_due")
}

/// A payment that needs a review.
struct UnappliedPayment<'a> {
    booking: &'a BookingRow,
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
        let Self { booking, payment, event, reason, amount } = self;
        let posting = Posting::new(Source::Payment, event, "unapplied")
            .of_booking(booking.id, booking.partner_id)
            .debit(Account::GatewayClearing, amount)
            .credit(Account::UnappliedPayments, amount);
        ledger::post(tx, posting, now).await?;
        let new = NewReview { event_id: event, payment, reason, amount, expected };
        store::insert_review(tx, new, now).await?;
        announce_review(tx, payment.booking_id, reason, amount, now).await?;
        Ok("review")
    }
}

pub async fn announce_review(
    tx: &mut Tx,
    booking_id: Uuid,
    reason: ReviewReason,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let review = PaymentReview { booking_id, reason: reason.as_str().to_owned(), amount };
    events::emit(tx, DomainEvent::PaymentReview(review), now).await
}
