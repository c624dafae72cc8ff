//! Payments of refunds: what they mean for the booking, and refunds that a provider tells of.

use chrono::{DateTime, Utc};

use super::{
    apply, automatic,
    model::{Payment, PaymentStatus, Resolution, ReviewReason},
    reviews,
    store::{self, NewReview, NewToldRefund},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus, Event, TransitionDetails},
    events::{self, DifferenceRefunded, DomainEvent, RefundRef},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    refunds::{self, PaidBy, Refund, RefundKind, RefundPayment, RefundStatus},
};

crate::string_enum! {
    /// Who took the cash of a booking.
    pub enum CashTaker { Staff = "staff", Partner = "partner" }
}

/// Whether the refund ends the booking, rather than correcting its price. Money of a review was
/// never applied to the booking, and that of some passengers leaves the rest as it is.
fn ends_booking(refund: &Refund) -> bool {
    use RefundKind::*;
    match refund.kind {
        Cancellation | Late | Complaint => {
            refund.review_id.is_none() && refund.cancellation_id.is_none()
        }
        Excess | Difference | Duplicate => false,
    }
}

/// Who took the money of this refund in cash; `None`: it came through the provider, as all money
/// of a review did.
pub async fn cash_taker(tx: &mut Tx, refund: &Refund) -> Result<Option<CashTaker>> {
    match refund.review_id {
        Some(_) => Ok(None),
        None => store::cash_taker(tx, refund.booking_id).await,
    }
}

/// The way on which a refund of the booking goes back if nobody says otherwise: cash as cash, by
/// whoever took it, and anything else by bank transfer.
pub fn usual_way(cash: Option<CashTaker>) -> PaidBy {
    match cash {
        None => PaidBy::Bank,
        Some(CashTaker::Staff) => PaidBy::Cash,
        Some(CashTaker::Partner) => PaidBy::Partner,
    }
}

/// Whether a refund may go back on this way. Cash goes back as cash.
pub fn is_allowed(cash: Option<CashTaker>, by: PaidBy) -> bool {
    match cash {
        None => matches!(by, PaidBy::Bank | PaidBy::Provider),
        Some(CashTaker::Staff) => by == PaidBy::Cash,
        Some(CashTaker::Partner) => matches!(by, PaidBy::Partner | PaidBy::Cash),
    }
}

/// 422 if the refund may not go back on this way.
pub fn ensure_allowed(cash: Option<CashTaker>, by: PaidBy) -> Result<()> {
    if is_allowed(cash, by) {
        return Ok(());
    }
    let message = match cash {
        None => text(
            "This was paid through the payment provider; refund it by provider or bank.",
            "Ini dibayar melalui penyedia pembayaran; kembalikan lewat penyedia atau bank.",
        ),
        Some(CashTaker::Staff) => text(
            "This was paid in cash; refund it in cash.",
            "Ini dibayar tunai; kembalikan secara tunai.",
        ),
        Some(CashTaker::Partner) => text(
            "The partner took this in cash; it is refunded by the partner or in cash.",
            "Mitra menerima ini secara tunai; dikembalikan oleh mitra atau secara tunai.",
        ),
    };
    Err(Error::field("by", "other_way", message))
}

/// 409 unless a person may pay this refund now.
pub fn ensure_payable(refund: &Refund) -> Result<()> {
    match refund.status {
        RefundStatus::Due | RefundStatus::Failed | RefundStatus::Returned => Ok(()),
        RefundStatus::Sent => Err(Error::invalid_state(
            "This refund is on its way at the payment provider.",
            "Pengembalian ini sedang diproses penyedia pembayaran.",
        )),
        RefundStatus::Paid | RefundStatus::Void => Err(Error::invalid_state(
            "Nothing of this refund is owed.",
            "Tidak ada yang terutang dari pengembalian ini.",
        )),
    }
}

/// Whether the refund can be sent through the payment provider now: automatic refunds are switched
/// on, and the payment can be refunded there.
pub async fn can_be_sent(app: &App, tx: &mut Tx, refund: &Refund) -> Result<bool> {
    automatic::can_be_sent(app, tx, refund).await
}

/// Pays all or a part of a refund. When nothing is left of it, its booking is refunded, or the
/// customer is told of the payment. The caller has locked the booking.
pub async fn pay(
    tx: &mut Tx,
    booking: &BookingRow,
    refund: &Refund,
    payment: RefundPayment<'_>,
    now: DateTime<Utc>,
) -> Result<Refund> {
    let after = refunds::pay(tx, refund, payment, now).await?;
    if after.unpaid > Rupiah::ZERO {
        return Ok(after);
    }
    if ends_booking(refund) && booking.status == BookingStatus::RefundPending {
        let details = TransitionDetails::default();
        bookings::move_booking(tx, booking, Event::Refund, details, now).await?;
        store::set_refunded(tx, booking.id).await?;
    } else {
        let event = DifferenceRefunded {
            booking_id: booking.id,
            amount: refund.amount,
            for_passengers: refund.cancellation_id.is_some(),
        };
        events::emit(tx, DomainEvent::BookingDifferenceRefunded(event), now).await?;
    }
    Ok(after)
}

/// Pays refunds in their order until the amount is used up. Returns what is left of it.
async fn pay_in_order(
    tx: &mut Tx,
    booking: &BookingRow,
    open: &[Refund],
    payment: RefundPayment<'_>,
    now: DateTime<Utc>,
) -> Result<Rupiah> {
    let (mut left, mut booking) = (payment.amount, booking.clone());
    for refund in open {
        let part = refund.unpaid.min(left);
        if part == Rupiah::ZERO {
            break;
        }
        pay(tx, &booking, refund, RefundPayment { amount: part, ..payment.clone() }, now).await?;
        left = left - part;
        booking = bookings::get_in(tx, booking.id).await?.ok_or(Error::NotFound)?;
    }
    Ok(left)
}

/// The newest payment of the refund bounced: it is due again, and so is the refund of its booking.
pub async fn take_back(
    tx: &mut Tx,
    booking: &BookingRow,
    refund: &Refund,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Refund> {
    let newest = refunds::newest_payment(tx, refund.id).await?;
    let newest = newest.filter(|_| refund.status == RefundStatus::Paid).ok_or_else(|| {
        Error::invalid_state("This refund has not been paid.", "Pengembalian ini belum dibayar.")
    })?;
    take_back_payment(tx, booking, refund, newest, reason, now).await
}

/// This payment of the refund came back.
pub async fn take_back_payment(
    tx: &mut Tx,
    booking: &BookingRow,
    refund: &Refund,
    payment: (Uuid, Rupiah, PaidBy),
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Refund> {
    let after = refunds::take_back(tx, refund, payment, reason, now).await?;
    if ends_booking(refund) && booking.status == BookingStatus::Refunded {
        let details = TransitionDetails::default();
        bookings::move_booking(tx, booking, Event::RefundReturned, details, now).await?;
        store::set_unrefunded(tx, booking.id).await?;
    }
    let failed = RefundRef { refund_id: refund.id, booking_id: booking.id };
    events::emit(tx, DomainEvent::RefundFailed(failed), now).await?;
    Ok(after)
}

crate::string_enum! {
    pub enum ToldKind {
        Refund = "refund",
        /// The customer's bank took the money back.
        Chargeback = "chargeback",
        /// The provider took back a payment that it had reported as settled.
        Voided = "voided",
    }
}

/// A refund or chargeback that a provider tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldRefund {
    pub kind: ToldKind,
    /// The provider's id of what is refunded. Sums are of one transaction.
    pub transaction: String,
    /// The provider's id of it; `None`: `amount` is the sum of all refunds so far.
    pub key: Option<String>,
    pub amount: Rupiah,
    /// The sum of all refunds so far, if the provider tells it.
    pub total: Option<Rupiah>,
    /// The transfer that we have sent, if it is one.
    pub transfer: Option<Uuid>,
    /// Whether the money has moved. A bank can still decline a refund that its provider has accepted.
    pub is_final: bool,
}

/// The key of a told refund, and what it adds to what was told before. A refund is told by its id and
/// by a sum, in any order; neither may count it again.
///
/// `since`: sums that were told before cannot contain it.
pub async fn added(
    tx: &mut Tx,
    payment: &Payment,
    told: &ToldRefund,
    since: Option<DateTime<Utc>>,
) -> Result<(String, Rupiah)> {
    let before = store::told_sums(tx, payment.id, told, since).await?;
    let total = told.total.unwrap_or(before.keyed + told.amount);
    let added = total - before.total;
    Ok(match &told.key {
        Some(key) => (key.clone(), told.amount.min(added)),
        None => (format!("sum:{}:{}", told.transaction, total.0), added),
    })
}

/// Posts a told refund at once. It pays what this payment owes, an equal amount before all others,
/// then the oldest. What is not owed waits in `suspense` for a review. The caller has locked the
/// booking.
pub async fn apply_told(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    told: &ToldRefund,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    if let Some(outcome) = automatic::apply_to_transfer(tx, payment, told, event, now).await? {
        return Ok(outcome);
    }
    let (key, amount) = added(tx, payment, told, None).await?;
    if amount <= Rupiah::ZERO {
        return Ok("confirmed");
    }
    let id = ids::fresh();
    let event_id = Some(event);
    let new = NewToldRefund { id, payment, told, told_key: &key, amount, event_id };
    if !store::insert_told(tx, new, now).await? {
        return Ok("confirmed");
    }
    // Recorded by hand, or by its transfer, before it was told.
    if told.kind == ToldKind::Refund && store::adopt(tx, booking.id, id, told, amount).await? {
        return Ok("refunded");
    }
    // The key of somebody else may look like one of ours.
    let transfer_id = match told.transfer {
        Some(id) if store::refund_of_transfer(tx, id).await?.is_some() => Some(id),
        _ => None,
    };
    let paid = RefundPayment {
        amount,
        by: PaidBy::Provider,
        reference: Some(&key),
        note: None,
        transfer_id,
        told_id: Some(id),
        recorded_by: None,
    };
    let mut left = amount;
    // A chargeback is a decision of the customer's bank, not a payment of what we owe.
    if told.kind != ToldKind::Chargeback {
        let open = owed_of(tx, booking, payment, told, amount).await?;
        left = pay_in_order(tx, booking, &open, paid.clone(), now).await?;
    }
    // Money that waits for a decision has gone back without one.
    if told.kind == ToldKind::Refund && left > Rupiah::ZERO {
        for review in store::open_incoming(tx, payment, left).await? {
            if review.amount <= left {
                let note = "Refunded by the payment provider.";
                reviews::settle(tx, &review, Resolution::Refund, note, None, now).await?;
                let open = refunds::of_review(tx, review.id).await?;
                let part = RefundPayment { amount: review.amount, ..paid.clone() };
                left = left - review.amount + pay_in_order(tx, booking, &open, part, now).await?;
            }
        }
    }
    if left == Rupiah::ZERO {
        return Ok("refunded");
    }
    let posting = Posting::new(Source::Payment, id, "unowed_refund")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::Suspense, left)
        .credit(Account::GatewayClearing, left);
    ledger::post(tx, posting, now).await?;
    let reason = match told.kind {
        ToldKind::Refund => ReviewReason::UnowedRefund,
        ToldKind::Chargeback | ToldKind::Voided => ReviewReason::Chargeback,
    };
    let expected = amount - left;
    let new = NewReview { event_id: event, payment, reason, amount: left, expected };
    let review = store::insert_review(tx, new, now).await?;
    store::set_unmatched(tx, id, left, review).await?;
    apply::announce_review(tx, booking.id, reason, left, now).await?;
    Ok(apply::UNOWED_REFUND)
}

/// What a refund of this payment can pay: the debts of its own reviews, and, if it has paid the
/// booking, those of the booking. One that is on its way is paid by its own transfer alone.
async fn owed_of(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    told: &ToldRefund,
    amount: Rupiah,
) -> Result<Vec<Refund>> {
    let applied = matches!(payment.status, PaymentStatus::Paid | PaymentStatus::Refunded);
    let sent = match told.transfer {
        Some(transfer) => store::refund_of_transfer(tx, transfer).await?,
        None => None,
    };
    let mut owed = Vec::new();
    for refund in refunds::unpaid_of(tx, booking.id).await? {
        let is_own = match refund.review_id {
            Some(review) => store::payment_of_review(tx, review).await? == payment.id,
            None => applied && cash_taker(tx, &refund).await?.is_none(),
        };
        let is_free = refund.status != RefundStatus::Sent || told.key.is_none();
        if sent == Some(refund.id) || (is_own && is_free) {
            owed.push(refund);
        }
    }
    owed.sort_by_key(|refund| (sent != Some(refund.id), refund.unpaid != amount));
    Ok(owed)
}

/// A refund that nobody was owed turns out to pay debts of the booking. 409 unless they cover it.
pub async fn match_unowed(
    tx: &mut Tx,
    booking: &BookingRow,
    amount: Rupiah,
    reference: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut open = Vec::new();
    for refund in refunds::unpaid_of(tx, booking.id).await? {
        if refund.status != RefundStatus::Sent && cash_taker(tx, &refund).await?.is_none() {
            open.push(refund);
        }
    }
    open.sort_by_key(|refund| refund.unpaid != amount);
    if open.iter().map(|refund| refund.unpaid).sum::<Rupiah>() < amount {
        return Err(Error::conflict(
            "nothing_due",
            "This booking does not owe that much.",
            "Pemesanan ini tidak berutang sebanyak itu.",
        ));
    }
    let payment = RefundPayment {
        amount,
        by: PaidBy::Provider,
        reference: Some(reference),
        note: None,
        transfer_id: None,
        // The told refund is posted already; the posting of the review balances this one.
        told_id: None,
        recorded_by: None,
    };
    pay_in_order(tx, booking, &open, payment, now).await.map(drop)
}
