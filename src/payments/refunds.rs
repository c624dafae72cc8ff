//! Payments of refunds: what they mean for the booking, and refunds that a provider tells of.

use chrono::{DateTime, Utc};

use super::{
    apply, automatic,
    model::{Payment, PaymentStatus, Resolution, ReviewReason},
    reviews,
    store::{self, NewReportedRefund, NewReview},
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
    transfers,
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

/// The part of a refund that goes back as cash, and who took that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cash {
    pub taker: CashTaker,
    pub part: Rupiah,
}

/// The unpaid refunds of the booking with the cash in each; the caller has locked the booking. Cash
/// that has not gone back yet is returned first, to the oldest refund first. All other money came
/// through the provider, as all money of a review did.
async fn unpaid_with_cash(
    tx: &mut Tx,
    booking: Uuid,
) -> Result<(Vec<(Refund, Rupiah)>, Option<CashTaker>)> {
    let unpaid = refunds::unpaid_of(tx, booking).await?;
    let taken = store::cash_taken(tx, booking).await?;
    let mut left = taken.map_or(Rupiah::ZERO, |(_, left)| left);
    let each = unpaid.into_iter().map(|refund| {
        let part = match refund.review_id {
            Some(_) => Rupiah::ZERO,
            None => refund.unpaid.min(left),
        };
        left = left - part;
        (refund, part)
    });
    Ok((each.collect(), taken.map(|(taker, _)| taker)))
}

/// The part of this refund that goes back as cash; `None`: there is none.
pub async fn cash_of(tx: &mut Tx, refund: &Refund) -> Result<Option<Cash>> {
    let (unpaid, taker) = unpaid_with_cash(tx, refund.booking_id).await?;
    let part = unpaid.iter().find(|(other, _)| other.id == refund.id).map(|(_, part)| *part);
    let part = part.filter(|part| *part > Rupiah::ZERO);
    Ok(taker.zip(part).map(|(taker, part)| Cash { taker, part }))
}

/// The default method of a refund: cash as cash, by whoever took it,
/// and anything else by bank transfer.
pub fn default_method(cash: Option<Cash>) -> PaidBy {
    match cash.map(|cash| cash.taker) {
        None => PaidBy::Bank,
        Some(CashTaker::Staff) => PaidBy::Cash,
        Some(CashTaker::Partner) => PaidBy::Partner,
    }
}

/// What a person can pay of the refund on this way: cash goes back as cash, and the rest through the
/// provider or the bank. 422 if it is nothing.
pub fn payable(refund: &Refund, cash: Option<Cash>, by: PaidBy) -> Result<Rupiah> {
    let part = match (by, cash) {
        (PaidBy::Bank | PaidBy::Provider, cash) => {
            refund.unpaid - cash.map_or(Rupiah::ZERO, |cash| cash.part)
        }
        (PaidBy::Cash, Some(cash)) => cash.part,
        (PaidBy::Partner, Some(Cash { taker: CashTaker::Partner, part })) => part,
        (PaidBy::Cash | PaidBy::Partner | PaidBy::Account, _) => Rupiah::ZERO,
    };
    if part > Rupiah::ZERO {
        return Ok(part);
    }
    let message = match cash.map(|cash| cash.taker) {
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

/// 409 unless a person may pay this refund now. One part of it may come back while another is on
/// its way.
pub async fn ensure_payable(tx: &mut Tx, refund: &Refund) -> Result<()> {
    let on_its_way = || {
        Error::invalid_state(
            "This refund is on its way at the payment provider.",
            "Pengembalian ini sedang diproses penyedia pembayaran.",
        )
    };
    match refund.status {
        RefundStatus::Due => Ok(()),
        RefundStatus::Failed | RefundStatus::Returned => {
            match transfers::open_of_refund(tx, refund.id).await? {
                None => Ok(()),
                Some(_) => Err(on_its_way()),
            }
        }
        RefundStatus::Sent => Err(on_its_way()),
        RefundStatus::Paid | RefundStatus::Void => Err(Error::invalid_state(
            "Nothing is owed for this refund.",
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

/// Pays these parts of refunds in their order until the amount is used up. Returns what is left of it.
async fn pay_in_order(
    tx: &mut Tx,
    booking: &BookingRow,
    open: &[(Refund, Rupiah)],
    payment: RefundPayment<'_>,
    now: DateTime<Utc>,
) -> Result<Rupiah> {
    let (mut left, mut booking) = (payment.amount, booking.clone());
    for (refund, payable) in open {
        let part = left.min(*payable);
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
    pub enum ReportedKind {
        Refund = "refund",
        /// The customer's bank took the money back.
        Chargeback = "chargeback",
        /// The provider took back a payment that it had reported as settled.
        Voided = "voided",
    }
}

/// A refund or chargeback that a provider tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedRefund {
    pub kind: ReportedKind,
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
    told: &ReportedRefund,
    since: Option<DateTime<Utc>>,
) -> Result<(String, Rupiah)> {
    let before = store::reported_sums(tx, payment.id, told, since).await?;
    let total = told.total.unwrap_or(before.keyed + told.amount);
    let added = total - before.total;
    Ok(match &told.key {
        Some(key) => (key.clone(), told.amount.min(added)),
        // A refund and a chargeback may be of the same sum.
        None => {
            let kind = match told.kind {
                ReportedKind::Refund => String::new(),
                kind => format!("{kind}:"),
            };
            (format!("sum:{kind}{}:{}", told.transaction, total.0), added)
        }
    })
}

/// Posts a told refund at once. It pays what this payment owes, an equal amount before all others,
/// then the oldest. What is not owed waits in `suspense` for a review. The caller has locked the
/// booking.
pub async fn apply_reported_refund(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    told: &ReportedRefund,
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
    let new = NewReportedRefund { id, payment, told, told_key: &key, amount, event_id };
    if !store::insert_reported(tx, new, now).await? {
        return Ok("confirmed");
    }
    // Recorded by hand, or by its transfer, before it was told.
    if told.kind == ReportedKind::Refund
        && store::link_recorded_payment(tx, booking.id, id, told, amount).await?
    {
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
    if told.kind != ReportedKind::Chargeback {
        let open = owed_of(tx, booking, payment, told, amount).await?;
        left = pay_in_order(tx, booking, &open, paid.clone(), now).await?;
    }
    // Money that waits for a decision has gone back without one.
    if told.kind == ReportedKind::Refund && left > Rupiah::ZERO {
        for review in store::open_incoming(tx, payment, left).await? {
            if review.amount <= left {
                let note = "Refunded by the payment provider.";
                reviews::settle(tx, &review, Resolution::Refund, note, None, now).await?;
                let open = refunds::of_review(tx, review.id).await?;
                let open: Vec<_> =
                    open.into_iter().map(|refund| (refund.clone(), refund.unpaid)).collect();
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
        ReportedKind::Refund => ReviewReason::UnowedRefund,
        ReportedKind::Chargeback | ReportedKind::Voided => ReviewReason::Chargeback,
    };
    let expected = amount - left;
    let new = NewReview { event_id: event, payment, reason, amount: left, expected };
    let review = store::insert_review(tx, new, now).await?;
    store::set_unmatched(tx, id, left, review).await?;
    apply::announce_review(tx, booking.id, reason, left, now).await?;
    Ok(apply::UNOWED_REFUND)
}

/// What a refund of this payment can pay: the debts of its own reviews, and, if it has paid the
/// booking, those of the booking, without the cash in them. One that is on its way is paid by its own
/// transfer alone.
async fn owed_of(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    told: &ReportedRefund,
    amount: Rupiah,
) -> Result<Vec<(Refund, Rupiah)>> {
    let applied = matches!(payment.status, PaymentStatus::Paid | PaymentStatus::Refunded);
    let sent = match told.transfer {
        Some(transfer) => store::refund_of_transfer(tx, transfer).await?,
        None => None,
    };
    let mut owed = Vec::new();
    for (refund, cash) in unpaid_with_cash(tx, booking.id).await?.0 {
        let part = refund.unpaid - cash;
        let is_own = match refund.review_id {
            Some(review) => store::payment_of_review(tx, review).await? == payment.id,
            None => applied && part > Rupiah::ZERO,
        };
        let is_free = refund.status != RefundStatus::Sent || told.key.is_none();
        if sent == Some(refund.id) {
            let unpaid = refund.unpaid;
            owed.push((refund, unpaid));
        } else if is_own && is_free {
            owed.push((refund, part));
        }
    }
    owed.sort_by_key(|(refund, part)| (sent != Some(refund.id), *part != amount));
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
    let unpaid = unpaid_with_cash(tx, booking.id).await?.0.into_iter();
    let mut open: Vec<_> = unpaid
        .filter(|(refund, _)| refund.status != RefundStatus::Sent)
        .map(|(refund, cash)| (refund.clone(), refund.unpaid - cash))
        .filter(|(_, part)| *part > Rupiah::ZERO)
        .collect();
    open.sort_by_key(|(_, part)| *part != amount);
    if open.iter().map(|(_, part)| *part).sum::<Rupiah>() < amount {
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
