//! Reviews: decisions about money that could not be applied automatically.

use chrono::{DateTime, Utc};

use super::{
    apply,
    model::{Resolution, Review},
    store,
};
use crate::{
    bookings::{self, BookingStatus},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
    },
    ledger::{self, Account, Posting, Source},
};

/// Resolves the review once. `Apply`: the money pays the booking, and the excess is owed to the
/// customer. `Refund`: it was paid back by transfer. `Dismiss`: it was not received.
pub async fn resolve(
    tx: &mut Tx,
    review: &Review,
    action: Resolution,
    note: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    bookings::lock_row(tx, review.booking_id).await?;
    if !store::resolve(tx, review.id, action, note, by, now).await? {
        return Err(Error::invalid_state(
            "This review is already resolved.",
            "Tinjauan ini sudah diselesaikan.",
        ));
    }
    if review.event_outcome == apply::UNOWED_REFUND {
        return resolve_refund(tx, review, action, now).await;
    }
    let posting = Posting::new(Source::Review, review.id, action.as_str())
        .debit(Account::UnappliedPayments, review.amount);
    let posting = match action {
        Resolution::Dismiss => posting.credit(Account::GatewayClearing, review.amount),
        Resolution::Refund => posting.credit(Account::Bank, review.amount),
        Resolution::Apply => {
            let booking = bookings::get_in(tx, review.booking_id).await?;
            let booking = booking.ok_or_else(|| Error::internal("a review without booking"))?;
            let payable = match booking.status {
                BookingStatus::PendingPayment => booking.departure_at > now,
                BookingStatus::Expired => bookings::can_take_again(tx, &booking, now).await?,
                _ => false,
            };
            if !payable || review.amount < booking.total {
                return Err(bookings::invalid_transition());
            }
            store::set_paid(tx, review.payment_id, review.event_method, now).await?;
            store::set_excess(tx, review.id, review.amount - booking.total).await?;
            apply::mark_paid(tx, &booking, now).await?;
            posting
                .of_booking(booking.id, booking.partner_id)
                .credit(Account::CustomerDeposits, booking.total)
                .credit(Account::RefundPayable, review.amount - booking.total)
        }
    };
    ledger::post(tx, posting, now).await
}

/// A refund by the provider that was not owed when it was made. Applied, it settles a refund that
/// has become due since; dismissed, it changes nothing.
async fn resolve_refund(
    tx: &mut Tx,
    review: &Review,
    action: Resolution,
    now: DateTime<Utc>,
) -> Result<()> {
    let booking = bookings::get_in(tx, review.booking_id).await?;
    let booking = booking.ok_or_else(|| Error::internal("a review without booking"))?;
    let due = booking.status == BookingStatus::RefundPending
        && booking.refund_amount == Some(review.amount);
    match action {
        Resolution::Dismiss => Ok(()),
        Resolution::Apply if due => {
            apply::settle_refund(tx, &booking, Account::GatewayClearing, None, now).await
        }
        _ => Err(bookings::invalid_transition()),
    }
}

/// Records that an excess was paid back by transfer.
pub async fn pay_excess(tx: &mut Tx, booking: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let Some((review, excess)) = store::owed_excess(tx, booking).await? else { return Ok(false) };
    store::excess_paid(tx, review, now).await?;
    let posting = Posting::new(Source::Review, review, "excess_refunded")
        .debit(Account::RefundPayable, excess)
        .credit(Account::Bank, excess);
    ledger::post(tx, posting, now).await?;
    Ok(true)
}
