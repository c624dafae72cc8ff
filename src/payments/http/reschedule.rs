//! Rescheduling a booking, and the payment of the difference.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    app::App,
    bookings::{
        self, Actor, Booking, BookingRow, PathOwnBooking, PaymentRecord, PriceRecord, Readable,
        RescheduleForm,
        reschedule::{self, Reschedule, RescheduleOutcome, RescheduleRequest, RescheduleStatus},
        to_response,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Reply, once_amended},
        idempotency::{Key, Owner, Running},
        ids::Uuid,
        money::Rupiah,
    },
    payments::attempts,
    sailings::offers,
};

/// The booking and its reschedule.
#[derive(Serialize, JsonSchema)]
pub struct Rescheduled {
    #[serde(flatten)]
    pub booking: Booking,
    /// Null if the booking already has this sailing.
    pub reschedule: Option<RescheduleRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Reschedule")]
pub struct RescheduleRecord {
    /// Null in a dry run.
    pub id: Option<Uuid>,
    /// `pending` until the difference is paid; until then the booking keeps its sailing.
    pub status: RescheduleStatus,
    pub route_time_id: Uuid,
    pub reason: String,
    pub price: PriceRecord,
    pub fee: Rupiah,
    /// Amount to pay; negative if owed to the customer.
    pub difference: Rupiah,
    /// Payment of the difference.
    pub payment: Option<PaymentRecord>,
    /// Deadline of the payment.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A booker pays the difference and a fee; partner and staff, and anyone after a disruption, the
/// difference alone.
pub async fn reschedule_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<RescheduleForm>,
) -> Result<Reply<Once<Rescheduled>>> {
    let (booking, actor) = path.authorize(&app, &form.credentials).await?;
    if actor == Actor::Guest {
        bookings::reason_without_url(form.reason.as_deref().unwrap_or_default())?;
    }
    let (id, caller) = (booking.id, caller.as_ref());
    if form.dry_run == Some(true) {
        let preview = preview(&app, caller, &booking, actor, &form).await?;
        return Ok(Reply::data(Once::New(preview)));
    }
    let owner = Owner::of(caller, form.credentials.email.as_ref());
    let path = format!("/v1/booking/{id}/reschedule");
    let key = Key::of(owner, key, "reschedule_booking", path, body);
    let rescheduled = once_amended(
        &app.db,
        &app.sealer,
        key,
        app.clock.now(),
        async |kept| rescheduled_before(&app, caller, id, kept).await,
        async |running| reschedule(&app, caller, &booking, actor, &form, running).await,
    );
    Ok(rescheduled.await?.saying_for(|answer| match has_payment(answer) {
        true => (
            "The new seats are held. Please pay the difference before the hold expires.",
            "Kursi baru ditahan. Mohon bayar selisihnya sebelum waktunya habis.",
        ),
        false => ("The booking has been rescheduled.", "Pemesanan telah dipindahkan."),
    }))
}

fn has_payment(answer: &Once<Rescheduled>) -> bool {
    match answer {
        Once::New(answer) => {
            answer.reschedule.as_ref().is_some_and(|record| record.payment.is_some())
        }
        Once::Written(answer) => serde_json::from_str(answer.get())
            .is_ok_and(|answer: Value| answer["reschedule"]["payment"].is_object()),
    }
}

async fn reschedule(
    app: &App,
    caller: Option<&Caller>,
    booking: &BookingRow,
    actor: Actor,
    form: &RescheduleForm,
    running: Option<&Running>,
) -> Result<Rescheduled> {
    let to = reschedule::target(app, booking, form.route_time_id).await?;
    let request = RescheduleRequest {
        booking_id: booking.id,
        to: &to,
        reason: form.reason.as_deref().unwrap_or_default(),
        actor,
        by: caller.map(|caller| caller.person.id),
    };
    // The seats that are released or taken are on sailings of the same line.
    let line = offers::line_tag(to.from_harbour_id, to.to_harbour_id);
    let invalidation = app.response_cache.invalidate_on_drop([line]);
    let outcome = request_audited(app, caller, booking, &request, running).await?;
    drop(invalidation);
    answer(app, caller, booking.id, outcome.reschedule.as_ref()).await
}

/// What the request would do: it is done in a transaction that is not committed.
async fn preview(
    app: &App,
    caller: Option<&Caller>,
    booking: &BookingRow,
    actor: Actor,
    form: &RescheduleForm,
) -> Result<Rescheduled> {
    let to = reschedule::target(app, booking, form.route_time_id).await?;
    let request = RescheduleRequest {
        booking_id: booking.id,
        to: &to,
        reason: form.reason.as_deref().unwrap_or_default(),
        actor,
        by: caller.map(|caller| caller.person.id),
    };
    let mut tx = app.db.begin().await?;
    let outcome = reschedule::request(app, &mut tx, &request).await?;
    drop(tx);
    if caller.is_none() {
        bookings::ensure_same_contact(booking, &outcome.before)?;
    }
    let readable = Readable::by(caller);
    let record = outcome.reschedule.as_ref().map(|wanted| recorded(wanted, None, readable));
    let record = record.transpose()?;
    Ok(Rescheduled {
        booking: to_response(app, outcome.before, readable)?,
        reschedule: record.map(|record| RescheduleRecord { id: None, ..record }),
    })
}

/// The booking as it is now, with the payment page of the difference.
async fn answer(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    wanted: Option<&Reschedule>,
) -> Result<Rescheduled> {
    let after = bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let record = match wanted {
        Some(wanted) => {
            let payment = match wanted.status {
                RescheduleStatus::Pending => {
                    Some(attempts::difference_payment(app, &after, wanted).await?)
                }
                _ => None,
            };
            Some(recorded(wanted, payment, Readable::by(caller))?)
        }
        None => None,
    };
    let booking = to_response(app, after, Readable::by(caller))?;
    Ok(Rescheduled { booking, reschedule: record })
}

/// The outcome of an earlier request with the same key that ended before it answered.
async fn rescheduled_before(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    kept: &Value,
) -> Result<Rescheduled> {
    let wanted = match kept["reschedule_id"].as_str() {
        Some(id) => Some(reschedule::get(&app.db, id.parse().map_err(Error::internal)?).await?),
        None => None,
    };
    answer(app, caller, id, wanted.as_ref()).await
}

async fn request_audited(
    app: &App,
    caller: Option<&Caller>,
    seen: &BookingRow,
    request: &RescheduleRequest<'_>,
    running: Option<&Running>,
) -> Result<RescheduleOutcome> {
    let Some(caller) = caller else {
        let mut tx = app.db.begin().await?;
        let outcome = reschedule::request(app, &mut tx, request).await?;
        bookings::ensure_same_contact(seen, &outcome.before)?;
        keep_outcome(&mut tx, &outcome, running).await?;
        tx.commit().await?;
        return Ok(outcome);
    };
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let outcome = reschedule::request(app, &mut tx, request).await?;
    if outcome.is_new {
        let id = request.booking_id;
        let after = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
        tx.record(Change {
            action: "booking.rescheduled",
            entity: "booking",
            id,
            before: Some(&to_response(app, outcome.before.clone(), false)?),
            after: Some(&Rescheduled {
                booking: to_response(app, after, false)?,
                reschedule: outcome
                    .reschedule
                    .as_ref()
                    .map(|wanted| recorded(wanted, None, false.into()))
                    .transpose()?,
            }),
        })
        .await?;
        keep_outcome(&mut tx, &outcome, running).await?;
        tx.commit().await?;
    }
    Ok(outcome)
}

/// Stores the outcome; the answer follows once the payment page is known.
async fn keep_outcome(
    tx: &mut Tx,
    outcome: &RescheduleOutcome,
    running: Option<&Running>,
) -> Result<()> {
    let Some(running) = running else { return Ok(()) };
    let id = outcome.reschedule.as_ref().map(|wanted| wanted.id);
    running.keep(tx, &json!({ "reschedule_id": id })).await
}

fn recorded(
    wanted: &Reschedule,
    payment: Option<PaymentRecord>,
    readable: Readable,
) -> Result<RescheduleRecord> {
    let (was, becomes) = (wanted.was()?, wanted.becomes()?);
    Ok(RescheduleRecord {
        id: Some(wanted.id),
        status: wanted.status,
        route_time_id: wanted.to_sailing_id,
        reason: wanted.reason.clone(),
        difference: readable.difference(wanted.difference, &was, &becomes, wanted.fee),
        price: readable.price(becomes),
        fee: readable.fee(wanted.fee, &was),
        expires_at: payment.is_some().then_some(wanted.expires_at),
        payment,
    })
}
