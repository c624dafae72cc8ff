//! Choosing another sailing, and where to pay what it costs more.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    app::App,
    bookings::{
        self, Booking, BookingAccess, BookingRow, PathOwnBooking, PaymentRecord, PriceRecord,
        RescheduleForm,
        reschedule::{self, Granted, Reschedule, RescheduleStatus, Wish},
        shown,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Reply},
        idempotency::{self, Claim, Key, Owner, Running},
        ids::Uuid,
        money::Rupiah,
    },
    payments::attempts,
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
    pub id: Uuid,
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

/// By its booker: for the difference and a fee. By partner or staff, or after a disruption: for
/// the difference alone.
pub async fn reschedule_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    PathOwnBooking(id): PathOwnBooking,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<RescheduleForm>,
) -> Result<Reply<Once<Rescheduled>>> {
    let (seen, access) = bookings::booking_for(&app, caller.as_ref(), id, &form.knows).await?;
    if access == BookingAccess::Booker {
        bookings::reason_without_url(form.reason.as_deref().unwrap_or_default())?;
    }
    let caller = caller.as_ref();
    let Some(key) = key else {
        let moved = reschedule(&app, caller, &seen, access, &form, None).await?;
        let pays = moved.pays();
        return Ok(saying(Reply::data(Once::New(moved)), pays));
    };
    let key = Key {
        caller: Owner::of(caller, form.knows.email.as_ref()),
        operation: "reschedule_booking",
        key,
        path: format!("/v1/booking/{id}/reschedule"),
        body,
    };
    match key.claim(&app.db, app.clock.now()).await? {
        Claim::Replay(kept) => {
            let answer = first_answer(&app, caller, id, &kept).await?;
            let said: Value = serde_json::from_str(answer.get()).map_err(Error::internal)?;
            let pays = said["reschedule"]["payment"].is_object();
            Ok(saying(Reply::data(Once::Written(answer)).replayed(), pays))
        }
        Claim::Run(running) => {
            let moved = reschedule(&app, caller, &seen, access, &form, Some(&running)).await;
            let moved = match moved {
                Ok(moved) => moved,
                Err(refusal) => {
                    running.release(&app.db).await;
                    return Err(refusal);
                }
            };
            running.amend(&app.db, &idempotency::sealed(&app.sealer, &moved)?).await;
            let pays = moved.pays();
            Ok(saying(Reply::data(Once::New(moved)), pays))
        }
    }
}

impl Rescheduled {
    fn pays(&self) -> bool {
        self.reschedule.as_ref().is_some_and(|record| record.payment.is_some())
    }
}

fn saying(reply: Reply<Once<Rescheduled>>, pays: bool) -> Reply<Once<Rescheduled>> {
    match pays {
        true => reply.saying(
            "The new seats are held. Please pay the difference before the hold expires.",
            "Kursi baru ditahan. Mohon bayar selisihnya sebelum waktunya habis.",
        ),
        false => reply.saying("The booking has been rescheduled.", "Pemesanan telah dipindahkan."),
    }
}

async fn reschedule(
    app: &App,
    caller: Option<&Caller>,
    seen: &BookingRow,
    access: BookingAccess,
    form: &RescheduleForm,
    running: Option<&Running>,
) -> Result<Rescheduled> {
    let to = reschedule::target(app, seen, form.route_time_id).await?;
    let wish = Wish {
        booking_id: seen.id,
        to: &to,
        reason: form.reason.as_deref().unwrap_or_default(),
        access,
        by: caller.map(|caller| caller.person.id),
    };
    let granted = grant(app, caller, &wish, running).await?;
    answer(app, caller, seen.id, granted.reschedule.as_ref()).await
}

/// The booking as it is now, and where the difference is paid.
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
                    Some(attempts::for_difference(app, &after, wanted).await?)
                }
                _ => None,
            };
            Some(recorded(wanted, payment)?)
        }
        None => None,
    };
    let booking = shown(app, after, bookings::readable(caller))?;
    Ok(Rescheduled { booking, reschedule: record })
}

/// The answer that was given; or, of a request that did not live to give one, what came of it.
async fn first_answer(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    kept: &Value,
) -> Result<Box<RawValue>> {
    if let Some(answer) = idempotency::opened(&app.sealer, kept)? {
        return Ok(answer);
    }
    let wanted = match kept["reschedule_id"].as_str() {
        Some(id) => Some(reschedule::get(&app.db, id.parse().map_err(Error::internal)?).await?),
        None => None,
    };
    to_raw_value(&answer(app, caller, id, wanted.as_ref()).await?).map_err(Error::internal)
}

async fn grant(
    app: &App,
    caller: Option<&Caller>,
    wish: &Wish<'_>,
    running: Option<&Running>,
) -> Result<Granted> {
    let Some(caller) = caller else {
        let mut tx = app.db.begin().await?;
        let granted = reschedule::request(app, &mut tx, wish).await?;
        keep(&mut tx, &granted, running).await?;
        tx.commit().await?;
        return Ok(granted);
    };
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let granted = reschedule::request(app, &mut tx, wish).await?;
    if granted.new {
        let id = wish.booking_id;
        let after = bookings::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
        tx.record(Change {
            action: "booking.rescheduled",
            entity: "booking",
            id,
            before: Some(&shown(app, granted.before.clone(), false)?),
            after: Some(&Rescheduled {
                booking: shown(app, after, false)?,
                reschedule: granted.reschedule.as_ref().map(|w| recorded(w, None)).transpose()?,
            }),
        })
        .await?;
        keep(&mut tx, &granted, running).await?;
        tx.commit().await?;
    }
    Ok(granted)
}

/// What was granted; the answer itself follows once it is known where to pay.
async fn keep(tx: &mut Tx, granted: &Granted, running: Option<&Running>) -> Result<()> {
    let Some(running) = running else { return Ok(()) };
    let id = granted.reschedule.as_ref().map(|wanted| wanted.id);
    running.keep(tx, &json!({ "reschedule_id": id })).await
}

fn recorded(wanted: &Reschedule, payment: Option<PaymentRecord>) -> Result<RescheduleRecord> {
    Ok(RescheduleRecord {
        id: wanted.id,
        status: wanted.status,
        route_time_id: wanted.to_sailing_id,
        reason: wanted.reason.clone(),
        price: wanted.becomes()?.into(),
        fee: wanted.fee,
        difference: wanted.difference,
        expires_at: payment.is_some().then_some(wanted.expires_at),
        payment,
    })
}
