//! Handlers of disruptions.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde_json::json;

use super::model::{CancelSailing, CancelledSailing, MoveSailing, MovedSailing};
use crate::{
    app::App,
    bookings, fleet,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
        outbox,
    },
    sailings::{self, NewTimes, PathVoyage, Voyage},
};

/// Every paid booking becomes refund due, every unpaid one is over.
pub async fn cancel_sailing(
    State(app): State<App>,
    caller: Caller,
    PathVoyage(seen): PathVoyage,
    Body(CancelSailing { reason }): Body<CancelSailing>,
) -> Result<Reply<CancelledSailing>> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::hold_all(&mut tx, id).await?;
    let before = sailings::voyage_in(&mut tx, id).await?;
    if !sailings::cancel(&mut tx, id, &reason, now).await? {
        return Err(Error::invalid_state(
            "This sailing can no longer be cancelled.",
            "Pelayaran ini tidak dapat dibatalkan lagi.",
        ));
    }
    // Those that were made while the first were taken.
    bookings::hold_all(&mut tx, id).await?;
    let outcome = bookings::call_off(&mut tx, id, &reason, now).await?;
    let count = outcome.cancelled + outcome.refund_due;
    let news = json!({ "sailing_id": id, "bookings": count });
    outbox::put_about(&mut tx, id, "sailing.cancelled", &news, now).await?;
    let sailing = sailings::voyage_in(&mut tx, id).await?;
    let cancelled = CancelledSailing { sailing, bookings: outcome };
    record(&mut tx, "sailing.cancelled", &before, &cancelled).await?;
    tx.commit().await?;
    Ok(Reply::data(cancelled)
        .saying("The sailing has been cancelled.", "Pelayaran telah dibatalkan."))
}

/// The bookings stand; they have the new times.
pub async fn move_sailing(
    State(app): State<App>,
    caller: Caller,
    PathVoyage(seen): PathVoyage,
    Body(form): Body<MoveSailing>,
) -> Result<Reply<MovedSailing>> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::hold(&mut tx, seen.speedboat_id).await?;
    bookings::hold_all(&mut tx, id).await?;
    let before = sailings::voyage_in(&mut tx, id).await?;
    let times = new_times(&before, &form, now)?;
    if times.span == (before.departure_at, before.arrival_at) {
        let moved = MovedSailing { sailing: before.seen_at(now), moved_bookings: 0 };
        return Ok(Reply::data(moved).saying(
            "The sailing already has these times.",
            "Pelayaran sudah pada waktu tersebut.",
        ));
    }
    sailings::shift(&mut tx, &before, &times, &form.reason, now).await?;
    let (departure_at, arrival_at) = times.span;
    let count = bookings::follow(&mut tx, id, departure_at, arrival_at, now).await?;
    let was = before.departure_at;
    let news = json!({ "sailing_id": id, "bookings": count, "was_departure_at": was });
    outbox::put_about(&mut tx, id, "sailing.moved", &news, now).await?;
    let sailing = sailings::voyage_in(&mut tx, id).await?;
    let moved = MovedSailing { sailing, moved_bookings: count };
    record(&mut tx, "sailing.moved", &before, &moved).await?;
    tx.commit().await?;
    Ok(Reply::data(moved).saying("The sailing has been moved.", "Jadwal pelayaran telah diubah."))
}

/// An arrival that is not after the departure is on the next day, as in a route.
fn new_times(voyage: &Voyage, form: &MoveSailing, now: DateTime<Utc>) -> Result<NewTimes> {
    let day = form.date.unwrap_or(voyage.day);
    let span = sailings::span(day, form.departure_time, form.arrival_time, voyage.timezone.tz());
    let too_far = day > voyage.day + chrono::Days::new(366);
    match span {
        Some(span) if span.0 > now && !too_far => Ok(NewTimes { day, span }),
        _ => {
            let message =
                text("The departure must be in the future.", "Keberangkatan harus di masa depan.");
            let field = if form.date.is_some() { "date" } else { "departure_time" };
            Err(Error::field(field, "past", message))
        }
    }
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: &Voyage,
    after: &impl crate::kernel::audit::ErasedJson,
) -> Result<()> {
    let (entity, id) = ("sailing", before.id);
    tx.record(Change { action, entity, id, before: Some(before), after: Some(after) }).await
}
