//! What becomes of an event: the one place where a provider's word moves money.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    model::{Payment, PaymentStatus, ReviewReason},
    notice::{Notice, Said},
    store::{self, NewReview},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus, Event, Trace},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        outbox::{self, Queue},
    },
    ledger::{self, Account, Posting, Source},
};

/// The outcome of an event that says that money went back which nobody owed: it took none in.
pub const UNOWED_REFUND: &str = "unowed_refund";

/// Keeps a word that the provider could not be asked about; it is asked again until it answers.
pub async fn keep_unconfirmed(
    app: &App,
    payment: &Payment,
    told: &Notice,
    raw: &Value,
) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let kept = store::keep_event(&mut tx, payment, told, raw, "unconfirmed", now);
    if kept.await?.is_some() {
        let news = json!({ "booking_id": payment.booking_id, "notice": raw });
        outbox::put(&mut tx, Queue::Payment, "payment.unconfirmed", &news, now).await?;
    }
    Ok(tx.commit().await?)
}

/// Applies the event once; saying it again changes nothing.
pub async fn apply(app: &App, payment: &Payment, notice: &Notice, raw: &Value) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    // Whoever else deals with this booking waits, or was first.
    bookings::hold(&mut tx, payment.booking_id).await?;
    // What most often comes of it; the few others are put right below.
    let expected = if notice.said == Said::Paid { "paid" } else { "received" };
    let kept = store::keep_event(&mut tx, payment, notice, raw, expected, now);
    let event = kept.await?;
    let payment = &store::get_in(&mut tx, payment.id).await?;
    let mut moves_seats = payment.reschedule_id.is_some();
    if let Some(event) = event {
        let booking = bookings::get_in(&mut tx, payment.booking_id).await?;
        let booking = booking.ok_or_else(|| Error::internal("a payment without booking"))?;
        moves_seats |= booking.status != BookingStatus::PendingPayment;
        let outcome = match notice.said {
            Said::Pending => "noted",
            Said::Failed => ended(&mut tx, payment, PaymentStatus::Failed).await?,
            Said::Expired => ended(&mut tx, payment, PaymentStatus::Expired).await?,
            Said::Paid => paid(&mut tx, &booking, payment, notice, event, now).await?,
            Said::Refunded => refunded(&mut tx, &booking, payment, notice, event, now).await?,
        };
        if outcome != expected {
            store::set_outcome(&mut tx, event, outcome).await?;
        }
    }
    let _until = moves_seats.then(|| app.shared.until_changed());
    Ok(tx.commit().await?)
}

/// Ends that attempt alone; a later word never undoes what was paid.
async fn ended(tx: &mut Tx, payment: &Payment, status: PaymentStatus) -> Result<&'static str> {
    store::end(tx, payment.id, status).await?;
    Ok("ended")
}

async fn paid(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    if store::already_taken(tx, event).await? {
        return Ok("confirmed");
    }
    let review = |reason| Waiting { payment, event, reason, amount: notice.amount };
    if let Some(reschedule) = payment.reschedule_id {
        if notice.amount != payment.amount {
            return review(ReviewReason::WrongAmount).wait(tx, payment.amount, now).await;
        }
        if !bookings::reschedule::paid(tx, booking, reschedule, now).await? {
            return review(ReviewReason::Late).wait(tx, payment.amount, now).await;
        }
        store::set_paid(tx, payment.id, notice.method, now).await?;
        return Ok("paid");
    }
    if notice.amount != booking.total {
        return review(ReviewReason::WrongAmount).wait(tx, booking.total, now).await;
    }
    let mut booking = booking.clone();
    if booking.status == BookingStatus::PendingPayment && booking.departure_at <= now {
        // The boat has left, and the hold with it; the job was only not there yet.
        let expire = bookings::move_booking(tx, &booking, Event::Expire, Trace::default(), now);
        expire.await?;
        booking.status = BookingStatus::Expired;
    }
    let booking = &booking;
    match booking.status {
        BookingStatus::PendingPayment => {}
        BookingStatus::Expired if bookings::can_take_again(tx, booking, now).await? => {}
        BookingStatus::Expired => {
            store::set_paid(tx, payment.id, notice.method, now).await?;
            return in_vain(tx, booking, notice.amount, now).await;
        }
        BookingStatus::Cancelled if booking.paid_at.is_none() => {
            return review(ReviewReason::Late).wait(tx, booking.total, now).await;
        }
        _ => return review(ReviewReason::Duplicate).wait(tx, booking.total, now).await,
    }
    store::set_paid(tx, payment.id, notice.method, now).await?;
    pay(tx, booking, now).await?;
    let posting = Posting::new(Source::Booking, booking.id, "paid")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::GatewayClearing, booking.total)
        .credit(Account::CustomerDeposits, booking.total);
    ledger::post(tx, posting, now).await?;
    Ok("paid")
}

/// Moves a booking whose seats are sure to `paid`.
pub async fn pay(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    match bookings::move_booking(tx, booking, Event::Pay, Trace::default(), now).await? {
        true => Ok(()),
        false => Err(Error::Contention("the held seats are no longer available".into())),
    }
}

/// Paid after the hold was over, and the seats are gone: it goes back.
async fn in_vain(
    tx: &mut Tx,
    booking: &BookingRow,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let trace = Trace { refund_amount: Some(amount.0), ..Trace::default() };
    bookings::move_booking(tx, booking, Event::PayInVain, trace, now).await?;
    let posting = Posting::new(Source::Booking, booking.id, "paid_in_vain")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::GatewayClearing, amount)
        .credit(Account::RefundPayable, amount);
    ledger::post(tx, posting, now).await?;
    let news = json!({ "booking_id": booking.id, "reason": "late", "amount": amount });
    outbox::put_about(tx, booking.id, "payment.review", &news, now).await?;
    Ok("refund_due")
}

async fn refunded(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    notice: &Notice,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let due = booking.refund_amount.unwrap_or(Rupiah::ZERO);
    let ours = payment.status == PaymentStatus::Paid && payment.provider != "cash";
    // A booking that moved may have been paid in parts, each of which goes back by itself.
    if ours && booking.status == BookingStatus::RefundPending && notice.amount == payment.amount {
        let (parts, left) = store::parts(tx, booking.id).await?;
        if parts == due && left > notice.amount {
            store::set_part_refunded(tx, payment.id).await?;
            return Ok("part_refunded");
        }
        if parts == due && left == notice.amount {
            give_back(tx, booking, Account::GatewayClearing, None, now).await?;
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
        // Somebody refunded at the provider what nobody here owes: a person has to look.
        let reason = ReviewReason::WrongAmount;
        let new =
            NewReview { event_id: event, payment, reason, amount: notice.amount, expected: due };
        store::insert_review(tx, new, now).await?;
        tell_of_review(tx, payment, reason, notice.amount, now).await?;
        return Ok(UNOWED_REFUND);
    }
    give_back(tx, booking, Account::GatewayClearing, None, now).await?;
    Ok("refunded")
}

/// Settles a refund that is due: the money has left by that account.
pub async fn give_back(
    tx: &mut Tx,
    booking: &BookingRow,
    by: Account,
    reference: Option<&str>,
    now: DateTime<Utc>,
) -> Result<()> {
    let due = booking.refund_amount.unwrap_or(Rupiah::ZERO);
    let trace = Trace { refund_reference: reference, ..Trace::default() };
    bookings::move_booking(tx, booking, Event::Refund, trace, now).await?;
    store::set_refunded(tx, booking.id).await?;
    let posting =
        booking.chapter().posting("refunded").debit(Account::RefundPayable, due).credit(by, due);
    ledger::post(tx, posting, now).await
}

/// A payment that needs a decision.
struct Waiting<'a> {
    payment: &'a Payment,
    event: Uuid,
    reason: ReviewReason,
    amount: Rupiah,
}

impl Waiting<'_> {
    async fn wait(self, tx: &mut Tx, expected: Rupiah, now: DateTime<Utc>) -> Result<&'static str> {
        let Self { payment, event, reason, amount } = self;
        let posting = Posting::new(Source::Payment, event, "unapplied")
            .debit(Account::GatewayClearing, amount)
            .credit(Account::UnappliedPayments, amount);
        ledger::post(tx, posting, now).await?;
        let new = NewReview { event_id: event, payment, reason, amount, expected };
        store::insert_review(tx, new, now).await?;
        tell_of_review(tx, payment, reason, amount, now).await?;
        Ok("review")
    }
}

async fn tell_of_review(
    tx: &mut Tx,
    payment: &Payment,
    reason: ReviewReason,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let news = json!({ "booking_id": payment.booking_id, "reason": reason, "amount": amount });
    outbox::put_about(tx, payment.booking_id, "payment.review", &news, now).await?;
    Ok(())
}
