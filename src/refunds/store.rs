//! The SQL of refunds, and the postings of their payments.

use chrono::{DateTime, Utc};

use super::model::{NewRefund, PaidBy, Refund, RefundPayment, RefundStatus};
use crate::{
    events::{self, DomainEvent, RefundRef},
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
    },
    ledger::{self, Due, DueKind, Posting, Source},
};

macro_rules! refund {
    ($rest:literal) => {
        concat!(
            "SELECT id, code, booking_id, partner_id, kind, amount, unpaid, tax, status, paid_by,
               reference, note, reschedule_id, review_id, cancellation_id, send_at, attempts, last_error,
               due_at, paid_at
             FROM refunds",
            $rest
        )
    };
}

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Refund>> {
    Ok(db.sql(refund!(" WHERE id = $1")).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<Refund>> {
    Ok(tx.sql(refund!(" WHERE id = $1")).bind(id).maybe().await?)
}

/// All refunds of a booking, oldest first.
pub async fn of_booking(tx: &mut Tx, booking: Uuid) -> Result<Vec<Refund>> {
    let refunds = tx.sql(refund!(" WHERE booking_id = $1 ORDER BY due_at, id")).bind(booking);
    Ok(refunds.all().await?)
}

/// The refunds of a booking that are still owed, oldest first. The caller has locked the booking.
pub async fn unpaid_of(tx: &mut Tx, booking: Uuid) -> Result<Vec<Refund>> {
    let refunds =
        tx.sql(refund!(" WHERE booking_id = $1 AND unpaid > 0 ORDER BY due_at, id")).bind(booking);
    Ok(refunds.all().await?)
}

/// The same, without a lock.
pub async fn unpaid(db: &Db, booking: Uuid) -> Result<Vec<Refund>> {
    let refunds =
        db.sql(refund!(" WHERE booking_id = $1 AND unpaid > 0 ORDER BY due_at, id")).bind(booking);
    Ok(refunds.all().await?)
}

pub async fn create(tx: &mut Tx, new: NewRefund, now: DateTime<Utc>) -> Result<()> {
    create_all(tx, &[new], now).await
}

/// Creates the refund, if it is more than zero, and returns what the caller announces of it.
pub async fn create_silently(
    tx: &mut Tx,
    new: NewRefund,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    insert_all(tx, &[new], now, now).await
}

/// Creates the refunds and announces them; those of zero are omitted.
pub async fn create_all(tx: &mut Tx, new: &[NewRefund], now: DateTime<Utc>) -> Result<()> {
    create_all_later(tx, new, now, now).await
}

/// The same for refunds that are not sent before `send_at`.
pub async fn create_all_later(
    tx: &mut Tx,
    new: &[NewRefund],
    send_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<()> {
    let due = insert_all(tx, new, send_at, now).await?;
    events::emit_all(tx, due, now).await
}

async fn insert_all(
    tx: &mut Tx,
    new: &[NewRefund],
    send_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Vec<DomainEvent>> {
    let owed = new.iter().filter(|new| new.amount > Rupiah::ZERO);
    let owed: Vec<_> = owed.map(|new| (ids::fresh(), *new)).collect();
    let (credited, due): (Vec<_>, Vec<_>) =
        owed.into_iter().partition(|(_, new)| new.reseller_id.is_some());
    insert_paid(tx, &credited, now).await?;
    tx.insert_all(
        "INSERT INTO refunds (id, code, booking_id, partner_id, kind, amount, unpaid, tax,
           status, reschedule_id, review_id, cancellation_id, send_at, due_at)",
        14,
        &due,
        |statement, (id, new)| {
            statement
                .bind(*id)
                .bind(ids::fresh_code("RFD"))
                .bind(new.booking_id)
                .bind(new.partner_id)
                .bind(new.kind)
                .bind(new.amount)
                .bind(new.amount)
                .bind(new.tax)
                .bind(RefundStatus::Due)
                .bind(new.reschedule_id)
                .bind(new.review_id)
                .bind(new.cancellation_id)
                .bind(send_at)
                .bind(now)
        },
    )
    .await?;
    let due = due.iter().map(|(id, new)| RefundRef { refund_id: *id, booking_id: new.booking_id });
    Ok(due.map(DomainEvent::RefundDue).collect())
}

/// Refunds of bookings that resellers have sold go to their accounts at once.
async fn insert_paid(tx: &mut Tx, new: &[(Uuid, NewRefund)], now: DateTime<Utc>) -> Result<()> {
    tx.insert_all(
        "INSERT INTO refunds (id, code, booking_id, partner_id, kind, amount, unpaid, tax,
           status, paid_by, reschedule_id, review_id, cancellation_id, due_at, paid_at)",
        15,
        new,
        |statement, (id, new)| {
            statement
                .bind(*id)
                .bind(ids::fresh_code("RFD"))
                .bind(new.booking_id)
                .bind(new.partner_id)
                .bind(new.kind)
                .bind(new.amount)
                .bind(Rupiah::ZERO)
                .bind(new.tax)
                .bind(RefundStatus::Paid)
                .bind(PaidBy::Account)
                .bind(new.reschedule_id)
                .bind(new.review_id)
                .bind(new.cancellation_id)
                .bind(now)
                .bind(now)
        },
    )
    .await?;
    let paid: Vec<_> = new.iter().map(|(id, new)| (ids::fresh(), *id, *new)).collect();
    tx.insert_all(
        "INSERT INTO refund_payments (id, refund_id, amount, tax, paid_by, paid_at)",
        6,
        &paid,
        |statement, (id, refund, new)| {
            statement
                .bind(*id)
                .bind(*refund)
                .bind(new.amount)
                .bind(new.tax)
                .bind(PaidBy::Account)
                .bind(now)
        },
    )
    .await?;
    let posting = |(id, _, new): &(Uuid, Uuid, NewRefund)| {
        Posting::new(Source::Refund, *id, "paid")
            .of_booking(new.booking_id, new.partner_id)
            .of_reseller(new.reseller_id)
            .debit(ledger::Account::RefundPayable, new.amount)
            .credit(ledger::Account::ResellerReceivable, new.amount)
    };
    ledger::post_all(tx, &paid.iter().map(posting).collect::<Vec<_>>(), now).await
}

/// The refunds of a review.
pub async fn of_review(tx: &mut Tx, review: Uuid) -> Result<Vec<Refund>> {
    let refunds = tx.sql(refund!(" WHERE review_id = $1 ORDER BY due_at, id")).bind(review);
    Ok(refunds.all().await?)
}

/// It is sent again. `false`: nothing is owed, or it is on its way.
pub async fn send_again(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let again = tx
        .sql(
            "UPDATE refunds SET status = 'due', send_at = $1, last_error = NULL
             WHERE id = $2 AND status IN ('due', 'failed', 'returned')",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(again == 1)
}

/// Pays all or a part of a refund: records it, posts it, and credits the partner with cash that it
/// handed back. Returns the refund afterwards. The caller has locked the booking.
pub async fn pay(
    tx: &mut Tx,
    refund: &Refund,
    payment: RefundPayment<'_>,
    now: DateTime<Utc>,
) -> Result<Refund> {
    let RefundPayment { amount, by, .. } = payment;
    if amount > refund.unpaid {
        return Err(Error::internal("a refund is paid with more than is owed"));
    }
    if by == PaidBy::Cash {
        let today = tx.date_of(now);
        ledger::ensure_cash(tx, amount, today).await?;
    }
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO refund_payments (id, refund_id, amount, paid_by, reference, transfer_id,
           told_id, recorded_by, paid_at, tax)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id)
    .bind(refund.id)
    .bind(amount)
    .bind(by)
    .bind(payment.reference.map(str::to_owned))
    .bind(payment.transfer_id)
    .bind(payment.told_id)
    .bind(payment.recorded_by)
    .bind(now)
    .bind(refund.tax_of_next(amount))
    .run()
    .await?;
    // A part leaves the status alone: a refund that is being sent stays sent.
    let paid = tx
        .sql(
            "UPDATE refunds SET unpaid = unpaid - $1, paid_by = $2,
               reference = COALESCE($3, reference), note = COALESCE($4, note),
               status = CASE WHEN unpaid = $1 THEN 'paid' ELSE status END,
               paid_at = CASE WHEN unpaid = $1 THEN $5 END,
               send_at = CASE WHEN unpaid = $1 THEN NULL ELSE send_at END,
               last_error = CASE WHEN unpaid = $1 THEN NULL ELSE last_error END
             WHERE id = $6 AND unpaid >= $1",
        )
        .bind(amount)
        .bind(by)
        .bind(payment.reference.map(str::to_owned))
        .bind(payment.note.map(str::to_owned))
        .bind(now)
        .bind(refund.id)
        .run()
        .await?;
    if paid != 1 {
        return Err(Error::Contention("the refund was paid concurrently".into()));
    }
    post(tx, refund, (id, "paid"), amount, by, now).await?;
    get_in(tx, refund.id).await?.ok_or_else(|| Error::internal("a paid refund is gone"))
}

/// The newest payment of a refund that did not bounce: its id, amount and way.
pub async fn newest_payment(tx: &mut Tx, refund: Uuid) -> Result<Option<(Uuid, Rupiah, PaidBy)>> {
    let newest = tx
        .sql(
            "SELECT id, amount, paid_by FROM refund_payments
             WHERE refund_id = $1 AND returned_at IS NULL ORDER BY paid_at DESC, id DESC LIMIT 1",
        )
        .bind(refund)
        .maybe()
        .await?;
    Ok(newest)
}

/// What a transfer has paid of its refund, unless it came back.
pub async fn payment_of_transfer(
    tx: &mut Tx,
    transfer: Uuid,
) -> Result<Option<(Uuid, Rupiah, PaidBy)>> {
    let payment = tx
        .sql(
            "SELECT p.id, p.amount, p.paid_by FROM transfers t
             JOIN refund_payments p ON p.refund_id = t.refund_id AND p.transfer_id = t.id
             WHERE t.id = $1 AND p.returned_at IS NULL",
        )
        .bind(transfer)
        .maybe()
        .await?;
    Ok(payment)
}

/// A payment of the refund came back: what it paid is due again.
pub async fn take_back(
    tx: &mut Tx,
    refund: &Refund,
    (payment, amount, by): (Uuid, Rupiah, PaidBy),
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Refund> {
    let returned = tx
        .sql(
            "UPDATE refund_payments SET returned_at = $1, return_reason = $2
             WHERE id = $3 AND returned_at IS NULL",
        )
        .bind(now)
        .bind(reason.to_owned())
        .bind(payment)
        .run()
        .await?;
    if returned != 1 {
        return Err(Error::Contention("the payment was returned concurrently".into()));
    }
    tx.sql(
        "UPDATE refunds SET unpaid = unpaid + $1, status = 'returned', paid_at = NULL,
           send_at = NULL, last_error = $2
         WHERE id = $3",
    )
    .bind(amount)
    .bind(reason.to_owned())
    .bind(refund.id)
    .run()
    .await?;
    post(tx, refund, (payment, "returned"), -amount, by, now).await?;
    get_in(tx, refund.id).await?.ok_or_else(|| Error::internal("a returned refund is gone"))
}

/// Posts a payment, or (with a negative amount) its return.
async fn post(
    tx: &mut Tx,
    refund: &Refund,
    (payment, kind): (Uuid, &'static str),
    amount: Rupiah,
    by: PaidBy,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = Posting::new(Source::Refund, payment, kind)
        .of_booking(refund.booking_id, refund.partner_id)
        .debit(ledger::Account::RefundPayable, amount)
        .credit(by.account(), amount);
    ledger::post(tx, posting, now).await?;
    if by != PaidBy::Partner {
        return Ok(());
    }
    // The due of a returned payment has an id of its own: one source has one due of a kind.
    let source = if kind == "paid" { payment } else { ids::fresh() };
    let day = tx.date_of(now);
    let amounts = (Rupiah::ZERO, -amount);
    let due = Due::of_source(refund.partner_id, DueKind::Returned, source, day, amounts);
    let due = Due { booking_id: Some(refund.booking_id), ..due };
    ledger::record_dues(tx, &[due], now).await
}

/// The refund is no longer owed. `false`: a part of it is paid or on its way.
pub async fn void(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let void = tx
        .sql(
            "UPDATE refunds SET status = 'void', unpaid = 0, send_at = NULL
             WHERE id = $1 AND unpaid = amount AND status IN ('due', 'failed', 'returned')",
        )
        .bind(id)
        .run()
        .await?;
    Ok(void == 1)
}
