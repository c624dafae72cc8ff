//! Reviews: decisions about money that could not be applied automatically.
//!
//! - Money that came in waits in `unapplied_payments`: it is applied, refunded, or, if the provider
//!   has voided it, dismissed.
//! - Money that the provider sent back without being owed waits in `suspense`: the partner bears it,
//!   the platform does, or it pays a refund that has become due.

use chrono::{DateTime, Utc};

use super::{
    apply,
    model::{Resolution, Review, ReviewReason},
    refunds as paying, store,
};
use crate::{
    bookings::{self, BookingRow, BookingStatus},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
    },
    ledger::{self, Account, Due, DueKind, Posting, Source},
    refunds::{self, NewRefund, PaidBy, RefundKind, RefundPayment},
};

/// A decision of a person.
pub struct Decision<'a> {
    pub action: Resolution,
    pub note: &'a str,
    /// Of a refund that is paid at once.
    pub paid_by: Option<PaidBy>,
    pub reference: Option<&'a str>,
    pub by: Uuid,
}

/// Resolves the review once.
pub async fn resolve(
    tx: &mut Tx,
    review: &Review,
    decision: Decision<'_>,
    now: DateTime<Utc>,
) -> Result<()> {
    bookings::lock_row(tx, review.booking_id).await?;
    let Decision { action, note, paid_by, reference, by } = decision;
    settle(tx, review, action, note, Some(by), now).await?;
    let Some(reference) = reference.filter(|_| action == Resolution::Refund) else {
        return Ok(());
    };
    let way = paid_by.unwrap_or(PaidBy::Bank);
    for refund in refunds::of_review(tx, review.id).await? {
        let amount = paying::payable(&refund, paying::cash_of(tx, &refund).await?, way)?;
        let booking = booking_of(tx, review).await?;
        let payment = RefundPayment {
            amount,
            by: way,
            reference: Some(reference),
            note: None,
            transfer_id: None,
            told_id: None,
            recorded_by: Some(by),
        };
        paying::pay(tx, &booking, &refund, payment, now).await?;
    }
    Ok(())
}

/// Resolves the review once; `by` is `None` if the provider has decided it. The caller has locked
/// the booking.
pub async fn settle(
    tx: &mut Tx,
    review: &Review,
    action: Resolution,
    note: &str,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    if !store::resolve(tx, review.id, action, note, by, now).await? {
        return Err(Error::invalid_state(
            "This review is already resolved.",
            "Tinjauan ini sudah diselesaikan.",
        ));
    }
    let booking = booking_of(tx, review).await?;
    let posting = Posting::new(Source::Review, review.id, action.as_str())
        .of_booking(booking.id, booking.partner_id);
    match review.reason {
        ReviewReason::UnowedRefund | ReviewReason::Chargeback => {
            resolve_refund(tx, &booking, review, action, posting, now).await
        }
        ReviewReason::WrongAmount | ReviewReason::Late | ReviewReason::Duplicate => {
            resolve_payment(tx, &booking, review, action, posting, now).await
        }
    }
}

async fn booking_of(tx: &mut Tx, review: &Review) -> Result<BookingRow> {
    let booking = bookings::get_in(tx, review.booking_id).await?;
    booking.ok_or_else(|| Error::internal("a review without booking"))
}

/// Money that came in. `Apply`: it pays the booking, or the difference of a reschedule, and the
/// excess is owed to the customer. `Refund`: all of it is owed to the customer. `Dismiss`: the
/// provider has voided the payment.
async fn resolve_payment(
    tx: &mut Tx,
    booking: &BookingRow,
    review: &Review,
    action: Resolution,
    posting: Posting,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = posting.debit(Account::UnappliedPayments, review.amount);
    let is_voided = store::is_voided(tx, review.id).await?;
    match action {
        Resolution::Dismiss if !is_voided => Err(Error::conflict(
            "money_taken",
            "The provider has taken this money; it cannot be dismissed.",
            "Penyedia pembayaran telah menerima uang ini; tidak dapat diabaikan.",
        )),
        Resolution::Dismiss => {
            ledger::post(tx, posting.credit(Account::GatewayClearing, review.amount), now).await
        }
        Resolution::Refund | Resolution::Apply if is_voided => Err(Error::conflict(
            "voided",
            "The provider has taken this money back; the review can only be dismissed.",
            "Penyedia pembayaran telah menarik kembali uang ini; tinjauan hanya dapat diabaikan.",
        )),
        Resolution::Refund => {
            ledger::post(tx, posting.credit(Account::RefundPayable, review.amount), now).await?;
            let kind = match review.reason {
                ReviewReason::Duplicate => RefundKind::Duplicate,
                ReviewReason::Late => RefundKind::Late,
                _ => RefundKind::Excess,
            };
            owe(tx, booking, review, kind, review.amount, now).await
        }
        Resolution::Apply => apply_money(tx, booking, review, posting, now).await,
        Resolution::ChargePartner | Resolution::WriteOff | Resolution::Match => Err(other_kind()),
    }
}

async fn owe(
    tx: &mut Tx,
    booking: &BookingRow,
    review: &Review,
    kind: RefundKind,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let owed = booking.ledger_segment().refund(kind, amount);
    refunds::create(tx, NewRefund { review_id: Some(review.id), ..owed }, now).await
}

/// Pays the booking, or the reschedule that the payment was for, where it still waits for that.
async fn apply_money(
    tx: &mut Tx,
    booking: &BookingRow,
    review: &Review,
    posting: Posting,
    now: DateTime<Utc>,
) -> Result<()> {
    let payment = store::get_in(tx, review.payment_id).await?;
    let (price, account) = match payment.reschedule_id {
        // The posting of the reschedule debits the clearing account once more.
        Some(_) => (payment.amount, Account::GatewayClearing),
        None => (booking.total, Account::CustomerDeposits),
    };
    if review.amount < price {
        return Err(bookings::invalid_transition());
    }
    // Before the booking is: the reports read the method when it becomes paid.
    store::set_paid(tx, payment.id, review.event_method, now).await?;
    match payment.reschedule_id {
        Some(reschedule) => {
            let taken = bookings::reschedule::take_paid(tx, booking, reschedule, now).await?;
            let reschedule = taken.ok_or_else(bookings::invalid_transition)?;
            bookings::reschedule::complete(tx, booking, &reschedule, now).await?;
        }
        None => {
            let payable = match booking.status {
                BookingStatus::PendingPayment => booking.departure_at > now,
                BookingStatus::Expired => bookings::can_take_again(tx, booking, now).await?,
                _ => false,
            };
            if !payable {
                return Err(bookings::invalid_transition());
            }
            apply::mark_paid(tx, booking, now).await?;
        }
    }
    let excess = review.amount - price;
    store::set_excess(tx, review.id, excess).await?;
    let posting = posting.credit(account, price).credit(Account::RefundPayable, excess);
    ledger::post(tx, posting, now).await?;
    owe(tx, booking, review, RefundKind::Excess, excess, now).await
}

/// Money that the provider sent back without being owed.
async fn resolve_refund(
    tx: &mut Tx,
    booking: &BookingRow,
    review: &Review,
    action: Resolution,
    posting: Posting,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = posting.credit(Account::Suspense, review.amount);
    match action {
        Resolution::ChargePartner => {
            let posting = posting.debit(Account::PartnerPayable, review.amount);
            ledger::post(tx, posting, now).await?;
            let day = tx.date_of(now);
            let amounts = (-review.amount, Rupiah::ZERO);
            let charge = DueKind::Charge;
            let due = Due::of_source(booking.partner_id, charge, review.id, day, amounts);
            let due = Due { booking_id: Some(booking.id), ..due };
            ledger::record_dues(tx, &[due], now).await
        }
        Resolution::WriteOff => {
            ledger::post(tx, posting.debit(Account::Losses, review.amount), now).await
        }
        Resolution::Match => {
            let key = store::told_key(tx, review.id).await?;
            paying::match_unowed(tx, booking, review.amount, &key, now).await?;
            ledger::post(tx, posting.debit(Account::GatewayClearing, review.amount), now).await
        }
        Resolution::Apply | Resolution::Refund | Resolution::Dismiss => Err(other_kind()),
    }
}

/// Closes reviews of refunds that were reported before their payment: both amounts cancel out.
pub async fn close_reversed_payment(
    tx: &mut Tx,
    reviews: &[Review],
    now: DateTime<Utc>,
) -> Result<()> {
    for review in reviews {
        let note = "The payment came after its refund.";
        if !store::resolve(tx, review.id, Resolution::Match, note, None, now).await? {
            return Err(Error::Contention("the review was resolved concurrently".into()));
        }
        let booking = booking_of(tx, review).await?;
        let posting = Posting::new(Source::Review, review.id, Resolution::Match.as_str())
            .of_booking(booking.id, booking.partner_id)
            .debit(Account::GatewayClearing, review.amount)
            .credit(Account::Suspense, review.amount);
        ledger::post(tx, posting, now).await?;
    }
    Ok(())
}

fn other_kind() -> Error {
    Error::invalid_state(
        "This decision is not possible for this kind of review.",
        "Keputusan ini tidak berlaku untuk jenis tinjauan ini.",
    )
}
