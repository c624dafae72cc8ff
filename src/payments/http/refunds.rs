//! Refunds: what customers are owed, and how it is paid.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde_json::json;

use crate::{
    app::App,
    bookings,
    kernel::{
        access::{Role, Rule},
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, OptionalBody, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        money::Rupiah,
    },
    payments::{
        model::{PayRefund, ReturnRefund},
        refunds as paying,
    },
    refunds::{self, PaidBy, Refund, RefundPayment, RefundRecord, RefundsQuery},
};

/// A partner sees the refunds of its own bookings, but not those that go to the account of a reseller.
pub async fn list_refunds(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<RefundsQuery>,
) -> Result<Page<RefundRecord>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    let page = refunds::list(&app, caller.role, owner, &query).await?;
    page.try_each(|refund| Ok(refund.shown_to(caller.role)))
}

/// The refund of the path; 404 if it belongs to another partner.
pub struct PathRefund(RefundRecord);

impl FromRequestParts<App> for PathRefund {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let caller = <Caller as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let owner = caller.partner_filter(None)?;
        let refund = refunds::record(app, owner, id).await?.ok_or(Error::NotFound)?;
        Ok(Self(refund.shown_to(caller.role)))
    }
}

impl aide::OperationInput for PathRefund {}

/// Shows the whole account number to those who have to transfer the money.
pub async fn get_refund(
    caller: Caller,
    PathRefund(refund): PathRefund,
) -> Result<Reply<RefundRecord>> {
    let pays = refund.unpaid > Rupiah::ZERO && caller.may(Rule::BookingsWrite);
    Ok(Reply::data(refund.revealed_if(pays)))
}

/// Records that a refund was paid.
pub async fn pay_refund(
    State(app): State<App>,
    caller: Caller,
    PathRefund(before): PathRefund,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<PayRefund>,
) -> Result<Reply<Once<RefundRecord>>> {
    let path = format!("/v1/refunds/{}/pay", before.id);
    let key = Key::of_account(&caller, key, "pay_refund", path, body);
    let paid = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        pay(&app, &caller, before.id, &form, running).await
    });
    Ok(paid.await?.saying("Recorded.", "Tercatat."))
}

async fn pay(
    app: &App,
    caller: &Caller,
    id: Uuid,
    form: &PayRefund,
    running: Option<&Running>,
) -> Result<RefundRecord> {
    // A partner hands back cash that it took; all other money is the platform's.
    if caller.role == Role::Mitra && form.by != PaidBy::Partner {
        return Err(Error::Forbidden);
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, refund) = locked(&mut tx, id).await?;
    let before = refunds::record_in(app, &mut tx, id).await?;
    paying::ensure_payable(&mut tx, &refund).await?;
    let cash = paying::cash_of(&mut tx, &refund).await?;
    let payment = RefundPayment {
        amount: paying::payable(&refund, cash, form.by)?,
        by: form.by,
        reference: Some(&form.reference),
        note: form.note.as_deref().filter(|note| !note.is_empty()),
        transfer_id: None,
        told_id: None,
        recorded_by: Some(caller.person.id),
    };
    paying::pay(&mut tx, &booking, &refund, payment, now).await?;
    finish(app, tx, &before, "refund.paid", running).await
}

/// Records that the newest payment of a refund bounced.
pub async fn return_refund(
    State(app): State<App>,
    caller: Caller,
    PathRefund(before): PathRefund,
    OptionalBody(form): OptionalBody<ReturnRefund>,
) -> Result<Reply<RefundRecord>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (booking, refund) = locked(&mut tx, before.id).await?;
    if booking.reseller_id.is_some() {
        return Err(Error::conflict(
            "on_account",
            "This refund was credited to the account of a reseller; nothing can come back.",
            "Pengembalian ini dikreditkan ke akun agen penjual; tidak ada yang dapat kembali.",
        ));
    }
    let reason = form.reason.as_deref().unwrap_or_default();
    paying::take_back(&mut tx, &booking, &refund, reason, now).await?;
    let after = finish(&app, tx, &before, "refund.returned", None).await?;
    Ok(Reply::data(after).saying("The refund is due again.", "Pengembalian terutang kembali."))
}

/// Sends a refund through the payment provider that was refused, came back or waits for a person.
pub async fn retry_refund(
    State(app): State<App>,
    caller: Caller,
    PathRefund(before): PathRefund,
) -> Result<Reply<RefundRecord>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (_, refund) = locked(&mut tx, before.id).await?;
    paying::ensure_payable(&mut tx, &refund).await?;
    if !paying::can_be_sent(&app, &mut tx, &refund).await? {
        return Err(Error::conflict(
            "not_refundable",
            "This refund cannot be sent through the payment provider. Pay it otherwise.",
            "Pengembalian ini tidak dapat dikirim lewat penyedia pembayaran. Bayar dengan cara lain.",
        ));
    }
    if !refunds::send_again(&mut tx, refund.id, now).await? {
        return Err(Error::Contention("the refund was changed concurrently".into()));
    }
    let after = finish(&app, tx, &before, "refund.retried", None).await?;
    Ok(Reply::data(after).saying("The refund will be sent.", "Pengembalian akan dikirim."))
}

/// The refund and its booking, whose row is locked.
async fn locked(tx: &mut AuditedTx, id: Uuid) -> Result<(bookings::BookingRow, Refund)> {
    let booking_id = refunds::get_in(tx, id).await?.ok_or(Error::NotFound)?.booking_id;
    bookings::lock_row(tx, booking_id).await?;
    let booking = bookings::get_in(tx, booking_id).await?.ok_or(Error::NotFound)?;
    let refund = refunds::get_in(tx, id).await?.ok_or(Error::NotFound)?;
    Ok((booking, refund))
}

/// Writes the audit entry and the idempotent response, then commits.
async fn finish(
    app: &App,
    mut tx: AuditedTx,
    before: &RefundRecord,
    action: &'static str,
    running: Option<&Running>,
) -> Result<RefundRecord> {
    let after = refunds::record_in(app, &mut tx, before.id).await?;
    tx.record(Change {
        action,
        entity: "refund",
        id: after.id,
        before: Some(before),
        after: Some(&after),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(after)).await?;
    }
    tx.commit().await?;
    Ok(after)
}
