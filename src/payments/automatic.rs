//! Refunds that the service sends through the payment provider.
//!
//! A due refund becomes a transfer of one payment, the one with most left. If that does not cover it,
//! the rest is sent as another transfer once the first is confirmed.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    apply,
    model::{Method, Payment, PaymentStatus, ReviewReason},
    notice::Notice,
    refunds::{self as payments_refunds, ReportedKind, ReportedRefund},
    store::{self, NewReportedRefund, NewReview},
};
use crate::{
    app::App,
    bookings::{self, BookingRow},
    events::{self, DomainEvent, RefundRef},
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account, Posting, Source},
    providers::{Outcome, PaidPayment, Provider, Refundability},
    refunds::{self, PaidBy, Refund, RefundPayment, RefundStatus},
    transfers::{self, Change, NewTransfer, Transfer, TransferStatus},
};

/// Sends a batch of refunds, if the service is configured to, and retries those that have failed to
/// be processed.
pub async fn send_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 50;
    const JOB: RowJob = RowJob::SendRefunds;
    if !app.providers().sends_refunds {
        return Ok(Pass::default());
    }
    let provider = &app.providers().refunds;
    let now = app.clock.now();
    let due = refunds::to_send(&app.db, SOME, now).await?;
    let more = due.len() == SOME as usize;
    let send = |id| send_one(app, provider, id);
    let done = set_aside::each(&app.db, JOB, due, 4, now, send).await?;
    let again = set_aside::retry(&app.db, JOB, now, send).await?;
    Ok(Pass { done: done + again, more })
}

/// Makes a transfer of the refund, or leaves it to a person.
async fn send_one(app: &App, provider: &Provider, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let Some(refund) = refunds::get(&app.db, id).await? else { return Ok(false) };
    let mut tx = app.db.begin().await?;
    bookings::lock_row(&mut tx, refund.booking_id).await?;
    let refund = refunds::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let wanted = refund.status == RefundStatus::Due && refund.send_at.is_some_and(|at| at <= now);
    if !wanted {
        return Ok(false);
    }
    let (candidates, owed) = candidates(&mut tx, &refund, provider.name()).await?;
    let Some((payment, amount)) = choose(provider, &candidates, owed, now) else {
        let reason = "no payment of this booking can be refunded through the provider";
        refunds::leave_to_a_person(&mut tx, id, reason).await?;
        tx.commit().await?;
        return Ok(true);
    };
    if !refunds::set_sent(&mut tx, id).await? {
        return Ok(false);
    }
    let new = NewTransfer {
        refund_id: Some(id),
        settlement_id: None,
        payment_id: Some(payment.payment_id),
        transaction_id: Some(&payment.transaction_id),
        provider: provider.name(),
        amount,
        account: None,
    };
    transfers::insert(&mut tx, new, now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Money that a booking received through a provider.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
struct Received {
    payment_id: Uuid,
    reference: String,
    transaction_id: String,
    channel: Option<Value>,
    method: Method,
    amount: Rupiah,
    paid_at: DateTime<Utc>,
    /// What the provider has refunded of the payment, and what is on its way.
    refunded: Rupiah,
    review_id: Option<Uuid>,
    /// How the review of this money was resolved.
    resolution: Option<String>,
}

impl Received {
    fn left(&self) -> Rupiah {
        (self.amount - self.refunded).max(Rupiah::ZERO)
    }
}

/// The money that the refund may be taken from, and how much of the refund: cash goes back as cash. A
/// refund that follows from a review is of the money that was reviewed; others are of the money that
/// paid for the booking. A refund that came back can be sent again.
async fn candidates(
    tx: &mut Tx,
    refund: &Refund,
    provider: &'static str,
) -> Result<(Vec<Received>, Rupiah)> {
    let cash = payments_refunds::cash_of(tx, refund).await?;
    let owed = refund.unpaid - cash.map_or(Rupiah::ZERO, |cash| cash.part);
    let received: Vec<Received> = tx
        .sql(
            "SELECT y.id AS payment_id, y.reference, e.transaction_id, y.channel, e.method,
               e.amount, e.received_at AS paid_at, v.id AS review_id, v.resolution,
               CAST(COALESCE((SELECT SUM(o.amount) FROM told_refunds o
                   WHERE o.payment_id = y.id), 0)
                 - COALESCE((SELECT SUM(p.amount)
                     FROM told_refunds o JOIN refund_payments p ON p.told_id = o.id
                     WHERE o.payment_id = y.id AND p.returned_at IS NOT NULL), 0)
                 + COALESCE((SELECT SUM(t.amount) FROM transfers t WHERE t.payment_id = y.id
                     AND t.status IN ('created', 'sent', 'accepted')), 0) AS BIGINT) AS refunded
             FROM payments y JOIN payment_events e ON e.payment_id = y.id
             LEFT JOIN payment_reviews v ON v.event_id = e.id
             WHERE y.booking_id = $1 AND y.provider = $2
               AND e.outcome IN ('paid', 'refund_due', 'review')",
        )
        .bind(refund.booking_id)
        .bind(provider)
        .all()
        .await?;
    let fits = |received: &Received| match refund.review_id {
        Some(review) => received.review_id == Some(review),
        None => received.review_id.is_none() || received.resolution.as_deref() == Some("apply"),
    };
    Ok((received.into_iter().filter(fits).collect(), owed))
}

/// The payment with most left, and how much of it is refunded.
fn choose<'a>(
    provider: &Provider,
    candidates: &'a [Received],
    owed: Rupiah,
    now: DateTime<Utc>,
) -> Option<(&'a Received, Rupiah)> {
    let mut fitting: Vec<_> = candidates
        .iter()
        .filter_map(|received| {
            let payment = PaidPayment {
                reference: received.reference.clone(),
                transaction_id: received.transaction_id.clone(),
                method: received.method.to_string(),
                channel: received.channel.clone().unwrap_or_default(),
                paid_at: received.paid_at,
            };
            let amount = owed.min(received.left());
            let fits = match provider.refundability(&payment, now) {
                Refundability::Partial => amount > Rupiah::ZERO,
                Refundability::Full => amount > Rupiah::ZERO && amount == received.amount,
                Refundability::None => false,
            };
            fits.then_some((received, amount))
        })
        .collect();
    fitting.sort_by_key(|(received, _)| std::cmp::Reverse(received.left()));
    fitting.into_iter().next()
}

/// Whether the refund can be sent now: automatic refunds are switched on, and a payment of its booking
/// can be refunded at the provider.
pub async fn can_be_sent(app: &App, tx: &mut Tx, refund: &Refund) -> Result<bool> {
    let provider = &app.providers().refunds;
    if !app.providers().sends_refunds {
        return Ok(false);
    }
    let (candidates, owed) = candidates(tx, refund, provider.name()).await?;
    Ok(choose(provider, &candidates, owed, app.clock.now()).is_some())
}

/// The payment that a transfer refunds, and the reason that the provider is told.
pub async fn facts(db: &Db, transfer: &Transfer) -> Result<(PaidPayment, String)> {
    #[derive(crate::kernel::db::FromRow)]
    struct Row {
        reference: String,
        method: Option<Method>,
        channel: Option<Value>,
        transaction_id: Option<String>,
        paid_at: Option<DateTime<Utc>>,
        code: String,
    }
    let row: Row = db
        .sql(
            "SELECT y.reference, y.method, y.channel, y.transaction_id, y.paid_at, r.code
             FROM transfers t JOIN payments y ON y.id = t.payment_id
             JOIN refunds r ON r.id = t.refund_id WHERE t.id = $1",
        )
        .bind(transfer.id)
        .one()
        .await?;
    let payment = PaidPayment {
        transaction_id: transfer
            .transaction_id
            .clone()
            .or(row.transaction_id)
            .unwrap_or_else(|| row.reference.clone()),
        reference: row.reference,
        method: row.method.unwrap_or(Method::Other).to_string(),
        channel: row.channel.unwrap_or_default(),
        paid_at: row.paid_at.unwrap_or(transfer.created_at),
    };
    Ok((payment, row.code))
}

/// Applies what the provider said about the refund.
pub async fn settle(
    app: &App,
    transfer: &Transfer,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<()> {
    let of_refund = || Error::internal("a transfer without refund");
    let refund = transfer.refund_id.ok_or_else(of_refund)?;
    let refund = refunds::get(&app.db, refund).await?.ok_or_else(of_refund)?;
    let mut tx = app.db.begin().await?;
    bookings::lock_row(&mut tx, refund.booking_id).await?;
    let (transfer, change) = transfers::record(&mut tx, transfer.id, outcome, now).await?;
    match change {
        Change::None => {}
        Change::Confirmed { reference, amount } => {
            confirm(&mut tx, &transfer, &reference, amount, now).await?;
        }
        Change::Failed(reason) => fail(&mut tx, refund.id, &reason, now).await?,
        Change::Reversed(reason) => {
            take_back(&mut tx, transfer.id, refund.id, &reason, now).await?;
        }
    }
    Ok(tx.commit().await?)
}

/// Applies a provider's report that it refuses a refund that we sent.
pub async fn fail_reported_refund(
    tx: &mut Tx,
    transfer: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let Some(refund) = store::refund_of_transfer(tx, transfer).await? else { return Ok(()) };
    let rejected = Outcome::Rejected(reason.to_owned());
    let (_, change) = transfers::record(tx, transfer, &rejected, now).await?;
    match change {
        Change::Failed(reason) => fail(tx, refund, &reason, now).await,
        Change::Reversed(reason) => take_back(tx, transfer, refund, &reason, now).await,
        Change::None | Change::Confirmed { .. } => Ok(()),
    }
}

/// What the transfer had paid came back. Nothing happens if a person has recorded that before.
async fn take_back(
    tx: &mut Tx,
    transfer: Uuid,
    refund: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let Some(payment) = refunds::payment_of_transfer(tx, transfer).await? else { return Ok(()) };
    let refund = refunds::get_in(tx, refund).await?.ok_or(Error::NotFound)?;
    let booking = bookings::get_in(tx, refund.booking_id).await?.ok_or(Error::NotFound)?;
    payments_refunds::take_back_payment(tx, &booking, &refund, payment, reason, now).await?;
    Ok(())
}

/// The refund waits for a person.
async fn fail(tx: &mut Tx, refund: Uuid, reason: &str, now: DateTime<Utc>) -> Result<()> {
    if !refunds::set_failed(tx, refund, reason).await? {
        return Ok(());
    }
    let refund = refunds::get_in(tx, refund).await?.ok_or(Error::NotFound)?;
    let failed = RefundRef { refund_id: refund.id, booking_id: refund.booking_id };
    events::emit(tx, DomainEvent::RefundFailed(failed), now).await
}

/// The provider was asked and has confirmed the transfer.
async fn confirm(
    tx: &mut Tx,
    transfer: &Transfer,
    reference: &str,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let payment = transfer.payment_id.ok_or_else(|| Error::internal("a refund of no payment"))?;
    let payment = store::get_in(tx, payment).await?;
    if was_reported(tx, payment.id, &transfer.id.to_string(), reference).await? {
        // A notification named the refund before we knew the provider's id of it, so it was matched
        // by its amount. If that paid another refund, a person has to look.
        let refund = transfer.refund_id.unwrap_or_default();
        return fail(tx, refund, "the provider's refund was matched to another one", now).await;
    }
    let told = reported_by(transfer, amount);
    let since = Some(transfer.created_at);
    let (_, amount) = payments_refunds::added(tx, &payment, &told, since).await?;
    let told = Told { told: &told, reference, amount, event: None };
    pay_reported(tx, &payment, transfer, told, now).await.map(drop)
}

async fn was_reported(tx: &mut Tx, payment: Uuid, key: &str, reference: &str) -> Result<bool> {
    let told: Option<(Uuid,)> = tx
        .sql("SELECT id FROM told_refunds WHERE payment_id = $1 AND told_key IN ($2, $3) LIMIT 1")
        .bind(payment)
        .bind(key.to_owned())
        .bind(reference.to_owned())
        .maybe()
        .await?;
    Ok(told.is_some())
}

/// Reported refunds, except our own that the bank can still decline. The provider reports those again
/// when they are paid. Its sums include them, so they are deducted.
pub async fn without_accepted(
    tx: &mut Tx,
    payment: &Payment,
    told: &[ReportedRefund],
    now: DateTime<Utc>,
) -> Result<Vec<ReportedRefund>> {
    let mut rest = Vec::with_capacity(told.len());
    let mut accepted = Rupiah::ZERO;
    for one in told {
        let open = match &one.key {
            Some(key) if !one.is_final => transfers::by_key(tx, payment.id, key).await?,
            _ => None,
        };
        let Some(transfer) = open.filter(|transfer| transfer.status.is_open()) else {
            rest.push(one.clone());
            continue;
        };
        accepted = accepted + one.amount;
        if transfer.status != TransferStatus::Accepted {
            let provider_id = transfer.provider_id.unwrap_or_else(|| transfer.id.to_string());
            let outcome = Outcome::Accepted { provider_id };
            transfers::record(tx, transfer.id, &outcome, now).await?;
        }
    }
    for one in &mut rest {
        one.total = one.total.map(|total| total - accepted);
        if one.key.is_none() {
            one.amount = one.amount - accepted;
        }
    }
    rest.retain(|one| one.amount > Rupiah::ZERO);
    Ok(rest)
}

/// Applies a told refund that we have sent ourselves: it confirms its transfer. `None`: it is not ours
/// and is matched by its amount.
pub async fn apply_to_transfer(
    tx: &mut Tx,
    payment: &Payment,
    told: &ReportedRefund,
    event: Uuid,
    now: DateTime<Utc>,
) -> Result<Option<&'static str>> {
    if told.kind == ReportedKind::Chargeback {
        return Ok(None);
    }
    let (_, amount) = payments_refunds::added(tx, payment, told, None).await?;
    let transfer = match (&told.key, told.transfer) {
        (_, Some(id)) => transfers::by_key(tx, payment.id, &id.to_string()).await?,
        (Some(key), None) => transfers::by_key(tx, payment.id, key).await?,
        // A sum of all refunds so far: the one that was added.
        (None, None) => transfers::open_of_payment(tx, payment.id, amount).await?,
    };
    let Some(transfer) = transfer else { return Ok(None) };
    let reference = transfer.provider_id.clone().or_else(|| told.key.clone());
    let reference = reference.unwrap_or_else(|| transfer.id.to_string());
    match transfer.status {
        TransferStatus::Confirmed | TransferStatus::Reversed => return Ok(Some("confirmed")),
        TransferStatus::Failed => drop(transfers::confirm_late(tx, transfer.id, now).await?),
        TransferStatus::Created | TransferStatus::Sent | TransferStatus::Accepted => {
            let provider_id = reference.clone();
            let confirmed = Outcome::Confirmed { provider_id, amount: Some(amount) };
            transfers::record(tx, transfer.id, &confirmed, now).await?;
        }
    }
    let told = reported_by(&transfer, amount);
    let told = Told { told: &told, reference: &reference, amount, event: Some(event) };
    pay_reported(tx, payment, &transfer, told, now).await.map(Some)
}

/// A refund that we have sent, as the provider would tell it: our id is its key. Refunds at Xendit
/// name no transaction.
fn reported_by(transfer: &Transfer, amount: Rupiah) -> ReportedRefund {
    let transaction = match transfer.provider.as_str() {
        "xendit" => String::new(),
        _ => transfer.transaction_id.clone().unwrap_or_default(),
    };
    ReportedRefund {
        kind: ReportedKind::Refund,
        transaction,
        key: Some(transfer.id.to_string()),
        amount,
        total: None,
        transfer: Some(transfer.id),
        is_final: true,
    }
}

/// A refund that the provider says it has paid.
struct Told<'a> {
    told: &'a ReportedRefund,
    reference: &'a str,
    /// What was not told before.
    amount: Rupiah,
    event: Option<Uuid>,
}

/// Pays the refund of a transfer with what has moved. What is more than is owed waits in `suspense`
/// for a review; what is less leaves the refund to a person.
async fn pay_reported(
    tx: &mut Tx,
    payment: &Payment,
    transfer: &Transfer,
    told: Told<'_>,
    now: DateTime<Utc>,
) -> Result<&'static str> {
    let booking = bookings::get_in(tx, payment.booking_id).await?.ok_or(Error::NotFound)?;
    let refund = transfer.refund_id.ok_or_else(|| Error::internal("a transfer without refund"))?;
    let refund = refunds::get_in(tx, refund).await?.ok_or(Error::NotFound)?;
    if told.amount <= Rupiah::ZERO {
        // Its money was matched to another refund. If this one is still on its way, a person looks.
        fail(tx, refund.id, "the provider's refund was matched to another one", now).await?;
        return Ok("confirmed");
    }
    let told_id = ids::fresh();
    let new = NewReportedRefund {
        id: told_id,
        payment,
        told: told.told,
        told_key: &transfer.id.to_string(),
        amount: told.amount,
        event_id: told.event,
    };
    if !store::insert_reported(tx, new, now).await? {
        return Ok("confirmed");
    }
    let part = told.amount.min(refund.unpaid);
    let mut unpaid = refund.unpaid;
    if part > Rupiah::ZERO {
        let paid = RefundPayment {
            amount: part,
            by: PaidBy::Provider,
            reference: Some(told.reference),
            note: None,
            transfer_id: Some(transfer.id),
            told_id: Some(told_id),
            recorded_by: None,
        };
        unpaid = payments_refunds::pay(tx, &booking, &refund, paid, now).await?.unpaid;
    }
    if unpaid > Rupiah::ZERO {
        match told.amount == transfer.amount {
            true => refunds::send_rest(tx, refund.id, now).await?,
            false => {
                let (told, sent) = (told.amount, transfer.amount);
                let reason = format!("the provider refunded {told} instead of {sent}");
                fail(tx, refund.id, &reason, now).await?;
            }
        }
    }
    match told.amount - part {
        Rupiah::ZERO => Ok("refunded"),
        left => {
            let event = match told.event {
                Some(event) => event,
                None => record_answer(tx, payment, transfer, told.amount, now).await?,
            };
            hold_unowed(tx, &booking, payment, (told_id, event), (left, part), now).await?;
            Ok(apply::UNOWED_REFUND)
        }
    }
}

/// An answer of the provider is recorded like a notification where it needs a review.
async fn record_answer(
    tx: &mut Tx,
    payment: &Payment,
    transfer: &Transfer,
    amount: Rupiah,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let notice = Notice {
        reference: payment.reference.clone(),
        transaction_id: format!("transfer-{}", transfer.id),
        provider_status: "refund".into(),
        status: PaymentStatus::Refunded,
        amount,
        gross: payment.amount,
        method: Method::Other,
        refunds: Vec::new(),
        channel: json!({}),
        takes_back: false,
        confirmed: true,
    };
    let raw = json!({});
    let event = store::record_event(tx, payment, &notice, &raw, apply::UNOWED_REFUND, now).await?;
    event.ok_or_else(|| Error::internal("an answer was recorded before"))
}

/// Money that left without being owed.
async fn hold_unowed(
    tx: &mut Tx,
    booking: &BookingRow,
    payment: &Payment,
    (told, event_id): (Uuid, Uuid),
    (left, expected): (Rupiah, Rupiah),
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = Posting::new(Source::Payment, told, "unowed_refund")
        .of_booking(booking.id, booking.partner_id)
        .debit(Account::Suspense, left)
        .credit(Account::GatewayClearing, left);
    ledger::post(tx, posting, now).await?;
    let reason = ReviewReason::UnowedRefund;
    let new = NewReview { event_id, payment, reason, amount: left, expected };
    let review = store::insert_review(tx, new, now).await?;
    store::set_unmatched(tx, told, left, review).await?;
    apply::announce_review(tx, booking.id, reason, left, now).await
}
