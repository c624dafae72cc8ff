//! Handlers of disruptions.

use axum::extract::State;
use chrono::{DateTime, Utc};

use super::model::{CancelSailing, CancelledSailing, MoveSailing, MovedSailing};
use crate::{
    app::App,
    bookings,
    events::{self, DomainEvent, SailingCancelled, SailingMoved},
    fleet,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
    },
    sailings::{self, NewTimes, PathSailing, SailingDetail, offers},
};

/// Every paid booking becomes refund due, every unpaid one is over.
pub async fn cancel_sailing(
    State(app): State<App>,
    caller: Caller,
    PathSailing(seen): PathSailing,
    Body(CancelSailing { reason }): Body<CancelSailing>,
) -> Result<Reply<CancelledSailing>> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    bookings::lock_rows(&mut tx, id).await?;
    let before = sailings::sailing_in(&mut tx, id).await?;
    if !sailings::cancel(&mut tx, id, &reason, now).await? {
        return Err(Error::invalid_state(
            "This sailing can no longer be cancelled.",
            "Pelayaran ini tidak dapat dibatalkan lagi.",
        ));
    }
    // Those that were made while the first were taken.
    bookings::lock_rows(&mut tx, id).await?;
    let outcome = bookings::cancel_with_sailing(&mut tx, id, &reason, now).await?;
    let count = outcome.cancelled + outcome.refund_due;
    let event = SailingCancelled { sailing_id: id, bookings: count };
    events::emit(&mut tx, DomainEvent::SailingCancelled(event), now).await?;
    let sailing = sailings::sailing_in(&mut tx, id).await?;
    let cancelled = CancelledSailing { sailing, bookings: outcome };
    record(&mut tx, "sailing.cancelled", &before, &cancelled).await?;
    // Its bookings may have held seats for moves to other days.
    let line = offers::line_tag(&before.from_name, &before.to_name);
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    Ok(Reply::data(cancelled)
        .saying("The sailing has been cancelled.", "Pelayaran telah dibatalkan."))
}

/// The bookings stand; they have the new times.
pub async fn move_sailing(
    State(app): State<App>,
    caller: Caller,
    PathSailing(seen): PathSailing,
    Body(form): Body<MoveSailing>,
) -> Result<Reply<MovedSailing>> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    fleet::lock_row(&mut tx, seen.speedboat_id).await?;
    bookings::lock_rows(&mut tx, id).await?;
    let before = sailings::sailing_in(&mut tx, id).await?;
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
    let count = bookings::follow_sailing(&mut tx, id, departure_at, arrival_at, now).await?;
    let was_departure_at = before.departure_at;
    let event = SailingMoved { sailing_id: id, bookings: count, was_departure_at };
    events::emit(&mut tx, DomainEvent::SailingMoved(event), now).await?;
    let sailing = sailings::sailing_in(&mut tx, id).await?;
    let moved = MovedSailing { sailing, moved_bookings: count };
    record(&mut tx, "sailing.moved", &before, &moved).await?;
    let line = offers::line_tag(&before.from_name, &before.to_name);
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    Ok(Reply::data(moved).saying("The sailing has been moved.", "Jadwal pelayaran telah diubah."))
}

/// An arrival that is not after the departure is on the next day, as in a route.
fn new_times(sailing: &SailingDetail, form: &MoveSailing, now: DateTime<Utc>) -> Result<NewTimes> {
    let day = form.date.unwrap_or(sailing.day);
    let span = sailings::span(day, form.departure_time, form.arrival_time, sailing.timezone.tz());
    let too_far = day > sailing.day + chrono::Days::new(366);
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
    before: &SailingDetail,
    after: &impl crate::kernel::audit::ErasedJson,
) -> Result<()> {
    let (entity, id) = ("sailing", before.id);
    tx.record(Change { action, entity, id, before: Some(before), after: Some(after) }).await
}
