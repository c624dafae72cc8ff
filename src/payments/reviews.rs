//! Deciding about money that could not be applied by itself.

use chrono::{DateTime, Utc};

use super::{
    apply,
    model::{Method, Resolution, Review},
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

/// Resolves the review once. Applied money pays the booking, and what is above the total goes
/// back; refunded money has left the bank; what is dismissed was never ours.
pub async fn resolve(
    tx: &mut Tx,
    review: &Review,
    action: Resolution,
    note: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    bookings::hold(tx, review.booking_id).await?;
    if !store::resolve(tx, review.id, action, note, by, now).await? {
        return Err(Error::invalid_state("This is resolved already.", "Ini sudah diselesaikan."));
    }
    if review.event_status.contains("refund") || review.event_status == "REFUNDED" {
        // It took no money in: there is none to move, only something to know of.
        return match action {
            Resolution::Dismiss => Ok(()),
            _ => Err(bookings::not_now()),
        };
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
                BookingStatus::PendingPayment => true,
                BookingStatus::Expired => bookings::can_take_again(tx, &booking, now).await?,
                _ => false,
            };
            if !payable || review.amount < booking.total {
                return Err(bookings::not_now());
            }
            store::set_paid(tx, review.payment_id, Method::Other, now).await?;
            apply::pay(tx, &booking, now).await?;
            posting
                .of_booking(booking.id, booking.partner_id)
                .credit(Account::CustomerDeposits, booking.total)
                .credit(Account::RefundPayable, review.amount - booking.total)
        }
    };
    ledger::post(tx, posting, now).await
}
