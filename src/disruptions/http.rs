//! Handlers of disruptions.

use axum::extract::State;
use chrono::{DateTime, Utc};

use super::model::{CancelSailing, CancelledSailing, UpdateSailing, UpdatedSailing};
use crate::{
    app::App,
    bookings::{self, SailingNews},
    events::{self, DomainEvent, SailingCancelled, SailingMoved},
    fleet::{self, SpeedboatRow},
    kernel::{
        access::Role,
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
        money::Rupiah,
    },
    sailings::{self, NewBoat, NewTimes, PathSailing, SailingChange, SailingDetail, offers},
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
    let by_partner = caller.is_partner_in_person();
    let event = SailingCancelled { sailing_id: id, bookings: count, by_partner };
    events::emit(&mut tx, DomainEvent::SailingCancelled(event), now).await?;
    let sailing = sailings::sailing_in(&mut tx, id).await?;
    let cancelled = CancelledSailing { sailing, bookings: outcome };
    record(&mut tx, "sailing.cancelled", &before, &cancelled).await?;
    // Its bookings may have held seats for moves to other days.
    let line = offers::line_tag(before.from_harbour_id, before.to_harbour_id);
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    let cancelled = match caller.role {
        Role::Mitra => CancelledSailing { bookings: cancelled.bookings.at_retail(), ..cancelled },
        _ => cancelled,
    };
    Ok(Reply::data(cancelled)
        .saying("The sailing has been cancelled.", "Pelayaran telah dibatalkan."))
}

/// The bookings stay valid, with the new times and the new boat. A new price is for new bookings.
pub async fn update_sailing(
    State(app): State<App>,
    caller: Caller,
    PathSailing(seen): PathSailing,
    Body(form): Body<UpdateSailing>,
) -> Result<Reply<UpdatedSailing>> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    if form.moves() {
        let boats = [Some(seen.speedboat_id), form.speedboat_id];
        fleet::lock_rows(&mut tx, boats.into_iter().flatten().collect()).await?;
        bookings::lock_rows(&mut tx, id).await?;
    }
    sailings::lock_row(&mut tx, id).await?;
    let before = sailings::sailing_in(&mut tx, id).await?;
    if before.speedboat_id != seen.speedboat_id {
        return Err(Error::Contention("the boat was changed concurrently".into()));
    }
    sailings::ensure_changeable(&before, form.has_times(), now)?;
    let other_boat = form.speedboat_id.filter(|boat| *boat != before.speedboat_id);
    let boat = match other_boat {
        Some(boat) => {
            Some(fleet::boat_in_service(&mut tx, before.mitra_id, boat, "speedboat_id").await?)
        }
        None => None,
    };
    let change = SailingChange {
        times: new_times(&before, &form, now)?,
        boat: boat.as_ref().map(new_boat),
        price: form.price.map(Rupiah).filter(|price| *price != before.price),
    };
    // Times that it has already give it no later departure.
    sailings::ensure_changeable(&before, change.times.is_some(), now)?;
    if change.is_empty() {
        let same = UpdatedSailing { sailing: before.seen_at(now), moved_bookings: 0 };
        return Ok(Reply::data(same)
            .saying("The sailing is already like this.", "Pelayaran sudah seperti itu."));
    }
    let is_retimed = change.times.is_some();
    if is_retimed && before.seats_taken > 0 && form.reason.is_none() {
        return Err(reason_required());
    }
    sailings::change(&mut tx, &before, &change, form.reason.as_deref(), now).await?;
    let count = match change.moves() {
        true => {
            let news = news(is_retimed, &before.speedboat_name, boat.as_ref());
            bookings::follow_sailing(&mut tx, id, &news, now).await?
        }
        false => 0,
    };
    if is_retimed {
        let was_departure_at = before.departure_at;
        let by_partner = caller.is_partner_in_person();
        let event = SailingMoved { sailing_id: id, bookings: count, was_departure_at, by_partner };
        events::emit(&mut tx, DomainEvent::SailingMoved(event), now).await?;
    }
    let sailing = sailings::sailing_in(&mut tx, id).await?;
    let updated = UpdatedSailing { sailing, moved_bookings: count };
    let action = if is_retimed { "sailing.moved" } else { "sailing.changed" };
    record(&mut tx, action, &before, &updated).await?;
    let line = offers::line_tag(before.from_harbour_id, before.to_harbour_id);
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    Ok(Reply::data(updated).saying("The sailing has been changed.", "Pelayaran telah diubah."))
}

/// `None`: they stay. An arrival that is not after the departure is on the next day, as in a route.
fn new_times(
    sailing: &SailingDetail,
    form: &UpdateSailing,
    now: DateTime<Utc>,
) -> Result<Option<NewTimes>> {
    let day = form.date.unwrap_or(sailing.day);
    let was = (sailing.departure_at, sailing.arrival_at);
    let (departs, arrives) = (form.departure_time, form.arrival_time);
    let zones = (sailing.timezone.tz(), sailing.arrival_timezone.tz());
    let span = sailings::moved_span(day, was, departs, arrives, zones);
    let too_far = day > sailing.day + chrono::Days::new(366);
    match span {
        Some(span) if span == was => Ok(None),
        Some(span) if span.0 > now && !too_far => Ok(Some(NewTimes { day, span })),
        _ => {
            let message =
                text("The departure must be in the future.", "Keberangkatan harus di masa depan.");
            let field = if form.date.is_some() { "date" } else { "departure_time" };
            Err(Error::field(field, "past", message))
        }
    }
}

pub(super) fn new_boat(boat: &SpeedboatRow) -> NewBoat {
    NewBoat { id: boat.id, capacity: boat.capacity }
}

/// A boat is known to bookers by its name, which is on their tickets.
pub(super) fn news(is_retimed: bool, was: &str, boat: Option<&SpeedboatRow>) -> SailingNews {
    match boat {
        _ if is_retimed => SailingNews::NewTime,
        Some(boat) if boat.name != was => SailingNews::NewBoat { was: was.to_owned() },
        _ => SailingNews::Nothing,
    }
}

pub(super) fn reason_required() -> Error {
    let message = text(
        "State the reason: it is sent to everyone who booked.",
        "Sebutkan alasannya: alasan ini dikirim ke semua pemesan.",
    );
    Error::field("reason", "required", message)
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
