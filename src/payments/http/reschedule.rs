//! Choosing another sailing, and where to pay what it costs more.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    bookings::{
        self, Booking, PathOwnBooking, PaymentRecord, PriceRecord, RescheduleForm,
        reschedule::{self, Granted, Reschedule, RescheduleStatus, Wish},
        shown,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        ids::Uuid,
        money::Rupiah,
    },
    payments::attempts,
};

/// The booking, and what came of the wish.
#[derive(Serialize, JsonSchema)]
pub struct Rescheduled {
    #[serde(flatten)]
    pub booking: Booking,
    /// Null when it sails there already.
    pub reschedule: Option<RescheduleRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Reschedule")]
pub struct RescheduleRecord {
    pub id: Uuid,
    /// Pending until the difference is paid: until then the booking stays where it is.
    pub status: RescheduleStatus,
    pub route_time_id: Uuid,
    pub reason: String,
    pub price: PriceRecord,
    pub fee: Rupiah,
    /// What is to be paid, or (negative) is owed.
    pub difference: Rupiah,
    /// Where the difference is paid.
    pub payment: Option<PaymentRecord>,
    /// Until when it must be.
    pub expires_at: Option<DateTime<Utc>>,
}

/// By its booker: for the difference and a fee. By partner or staff, or after a disruption: for
/// the difference alone.
pub async fn reschedule_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    PathOwnBooking(id): PathOwnBooking,
    Body(form): Body<RescheduleForm>,
) -> Result<Reply<Rescheduled>> {
    let (seen, access) = bookings::booking_for(&app, caller.as_ref(), id, &form.knows).await?;
    let to = reschedule::target(&app, &seen, form.route_time_id).await?;
    let wish = Wish {
        booking_id: id,
        to: &to,
        reason: form.reason.as_deref().unwrap_or_default(),
        access,
        by: caller.as_ref().map(|caller| caller.person.id),
    };
    let granted = grant(&app, caller.as_ref(), &wish).await?;
    let after = bookings::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let record = match &granted.reschedule {
        Some(wanted) => {
            let payment = match wanted.status {
                RescheduleStatus::Pending => {
                    Some(attempts::for_difference(&app, &after, wanted).await?)
                }
                _ => None,
            };
            Some(recorded(wanted, payment)?)
        }
        None => None,
    };
    let booking = shown(&app, after, bookings::readable(caller.as_ref()))?;
    let pays = record.as_ref().is_some_and(|record| record.payment.is_some());
    let reply = Reply::data(Rescheduled { booking, reschedule: record });
    Ok(match pays {
        true => reply.saying(
            "The seats are held. Please pay the difference in time.",
            "Kursi ditahan. Mohon bayar selisihnya tepat waktu.",
        ),
        false => reply.saying("You sail there now.", "Jadwal Anda sudah dipindahkan."),
    })
}

async fn grant(app: &App, caller: Option<&Caller>, wish: &Wish<'_>) -> Result<Granted> {
    let Some(caller) = caller else {
        let mut tx = app.db.begin().await?;
        let granted = reschedule::request(app, &mut tx, wish).await?;
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
        tx.commit().await?;
    }
    Ok(granted)
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
