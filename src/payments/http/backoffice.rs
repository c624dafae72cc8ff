//! Back-office payments: cash, refunds by transfer, and reviews.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use crate::{
    app::App,
    bookings::{self, Actor, Booking, BookingRow, GuestCredentials, to_response},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        lang::text,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    payments::{
        apply,
        model::{Method, PaymentStatus, RefundForm, Resolve, Review, ReviewsQuery},
        refunds,
        reviews::{self, Decision},
        store::{self, NewPayment},
    },
    refunds::RefundPayment,
};

/// Records cash that was collected by staff of the platform or by the partner.
pub async fn pay_cash(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply<Booking>> {
    let credentials = GuestCredentials::default();
    let (_, actor) = bookings::booking_for(&app, Some(&caller), id, &credentials).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::lock_row(&mut tx, id).await?;
    let before = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    bookings::ensure_unpaid(before.status)?;
    bookings::ensure_not_resold(before.reseller_id)?;
    let attempt = store::newest_in(&mut tx, id).await?.map_or(1, |newest| newest.attempt + 1);
    let reference = format!("{}-{attempt}", before.code);
    let new = NewPayment {
        booking_id: id,
        attempt,
        provider: "cash",
        reference: &reference,
        status: PaymentStatus::Paid,
        amount: before.total,
        method: Some(Method::Cash),
        reschedule_id: None,
    };
    if !store::insert_in(&mut tx, new, now).await? {
        return Err(Error::Contention("another payment attempt was opened concurrently".into()));
    }
    apply::mark_paid(&mut tx, &before, now).await?;
    // Cash that a partner collects is charged to its account.
    let taken_by = match actor {
        Actor::Partner => Account::PartnerPayable,
        _ => Account::Cash,
    };
    let posting = Posting::new(Source::Booking, id, "paid")
        .of_booking(id, before.partner_id)
        .debit(taken_by, before.total)
        .credit(Account::CustomerDeposits, before.total);
    ledger::post(&mut tx, posting, now).await?;
    let paid = finish(&app, &caller, tx, before, "booking.paid_cash", None).await?;
    Ok(Reply::data(paid).saying("Recorded.", "Tercatat."))
}

/// Records the payment of the only refund of a booking that is due.
pub async fn record_refund(
    State(app): State<App>,
    caller: Caller,
    PathAnyBooking(id): PathAnyBooking,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<RefundForm>,
) -> Result<Reply<Once<Booking>>> {
    let path = format!("/v1/booking/{id}/refund");
    let key = Key::of_account(&caller, key, "record_refund", path, body);
    let refunded = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        refund(&app, &caller, id, &form, running).await
    });
    Ok(refunded.await?.saying("Recorded.", "Tercatat."))
}

async fn refund(
    app: &App,
    caller: &Caller,
    id: Uuid,
    form: &RefundForm,
    running: Option<&Running>,
) -> Result<Booking> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::lock_row(&mut tx, id).await?;
    let before = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let open = crate::refunds::unpaid_of(&mut tx, id).await?;
    // A repetition never pays another debt.
    if !open.is_empty() && store::is_paid_with(&mut tx, id, &form.reference).await? {
        return Err(Error::conflict(
            "already_paid",
            "A refund of this booking was already paid with this reference.",
            "Pengembalian dana pemesanan ini sudah dibayar dengan referensi ini.",
        ));
    }
    let [due] = open.as_slice() else {
        return Err(match open.is_empty() {
            true => bookings::invalid_transition(),
            false => Error::conflict(
                "several_due",
                "Several refunds of this booking are due. Pay each by its own id.",
                "Ada beberapa pengembalian dana untuk pemesanan ini. Bayar masing-masing.",
            ),
        });
    };
    refunds::ensure_payable(&mut tx, due).await?;
    let cash = refunds::cash_of(&mut tx, due).await?;
    let by = form.by.unwrap_or_else(|| refunds::default_method(cash));
    let payable = refunds::payable(due, cash, by)?;
    if form.amount.is_some_and(|amount| Rupiah(amount) != payable) {
        let message =
            text("This is not the amount that is due.", "Jumlah yang harus dikembalikan berbeda.");
        return Err(Error::field("amount", "due", message));
    }
    let payment = RefundPayment {
        amount: payable,
        by,
        reference: Some(&form.reference),
        note: form.note.as_deref(),
        transfer_id: None,
        told_id: None,
        recorded_by: Some(caller.person.id),
    };
    refunds::pay(&mut tx, &before, due, payment, now).await?;
    finish(app, caller, tx, before, "booking.refunded", running).await
}

async fn finish(
    app: &App,
    caller: &Caller,
    mut tx: AuditedTx,
    before: BookingRow,
    action: &'static str,
    running: Option<&Running>,
) -> Result<Booking> {
    let id = before.id;
    let after = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action,
        entity: "booking",
        id,
        before: Some(&to_response(app, before, false)?),
        after: Some(&to_response(app, after.clone(), false)?),
    })
    .await?;
    let answer = to_response(app, after, bookings::Readable::by(Some(caller)))?;
    if let Some(running) = running {
        running.keep_sealed(&mut tx, &app.sealer, &answer).await?;
    }
    tx.commit().await?;
    Ok(answer)
}

/// A booking, for those who may act on any.
pub struct PathAnyBooking(Uuid);

impl FromRequestParts<App> for PathAnyBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
        Ok(Self(id))
    }
}

impl aide::OperationInput for PathAnyBooking {}

pub async fn list_payment_reviews(
    State(app): State<App>,
    Query(query): Query<ReviewsQuery>,
) -> Result<Page<Review>> {
    store::reviews(&app.db, &query).await
}

pub struct PathReview(Review);

impl FromRequestParts<App> for PathReview {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::review(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathReview {}

pub async fn resolve_payment_review(
    State(app): State<App>,
    caller: Caller,
    PathReview(before): PathReview,
    Body(form): Body<Resolve>,
) -> Result<Reply<Review>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let decision = Decision {
        action: form.action,
        note: &form.note,
        paid_by: form.by,
        reference: form.reference.as_deref(),
        by: caller.person.id,
    };
    reviews::resolve(&mut tx, &before, decision, now).await?;
    let after = store::review_in(&mut tx, before.id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "payment_review.resolved",
        entity: "payment_review",
        id: before.id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The review has been resolved.", "Tinjauan telah diselesaikan."))
}
