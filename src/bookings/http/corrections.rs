//! Handlers that correct passengers and contact.

use std::collections::HashMap;

use axum::extract::State;

use super::PathOwnBooking;
use crate::{
    app::App,
    bookings::{
        corrections::{self, CorrectContact, CorrectPassengers},
        fares,
        forms::GuestCredentials,
        lookup::{Readable, ensure_same_contact, to_answer, to_response},
        model::BookingRow,
        rules::{self, Actor},
        store,
        view::Booking,
    },
    events::{self, BookingRef, DomainEvent, FormerContact, Task},
    kernel::{
        audit::Change,
        caller::Caller,
        db::{Json, Tx},
        error::{Error, Result},
        http::{Body, Reply},
    },
};

/// By the booker, the partner or staff, until the manifest is closed.
pub async fn correct_passengers(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    Body(form): Body<CorrectPassengers>,
) -> Result<Reply<Booking>> {
    let (seen, actor) = path.authorize(&app, &form.credentials).await?;
    let now = app.clock.now();
    let after = match &caller {
        None => {
            let mut tx = app.db.begin().await?;
            let (before, after) = change_passengers(&app, &mut tx, &seen, &form, actor).await?;
            ensure_same_contact(&seen, &before)?;
            tx.commit().await?;
            after
        }
        Some(caller) => {
            let mut tx = caller.begin(&app.db, now).await?;
            let (before, after) = change_passengers(&app, &mut tx, &seen, &form, actor).await?;
            tx.record_anyone(Change {
                action: "booking.passengers_corrected",
                entity: "booking",
                id: seen.id,
                before: Some(&to_response(&app, before, Readable::AUDITED)?),
                after: Some(&to_response(&app, after.clone(), Readable::AUDITED)?),
            })
            .await?;
            tx.commit().await?;
            after
        }
    };
    let answer = to_answer(&app, after, Readable::by(caller.as_ref())).await?;
    Ok(Reply::data(answer).saying("Saved.", "Tersimpan."))
}

/// Returns the booking before and after. Closing the manifest locks the same row first, so it lists
/// what was corrected before it, and nothing is corrected after it.
async fn change_passengers(
    app: &App,
    tx: &mut Tx,
    seen: &BookingRow,
    form: &CorrectPassengers,
    actor: Actor,
) -> Result<(BookingRow, BookingRow)> {
    let now = app.clock.now();
    let before = correctable(app, tx, seen).await?;
    let passengers = corrections::apply(
        &before.passengers,
        &before.boarded,
        &form.passengers,
        actor,
        &app.sealer,
    )?;
    if actor == Actor::Guest {
        let fares = store::fares_of_in(tx, before.sailing_id).await?;
        let places: HashMap<_, _> = passengers.iter().map(|one| (one.id, one)).collect();
        let corrected = form.passengers.iter().enumerate();
        let corrected = corrected.filter_map(|(index, one)| Some((index, *places.get(&one.id)?)));
        fares::ensure_still_entitled(&fares, corrected, before.day())?;
    }
    let mut after = before.clone();
    if corrections::differ(&before.passengers, &passengers) {
        store::set_passengers(tx, before.id, &passengers, now).await?;
        let booking_id = before.id;
        let corrected = DomainEvent::BookingPassengersCorrected(BookingRef { booking_id });
        events::emit(tx, corrected, now).await?;
        after.stored.passengers = Json(passengers);
    }
    Ok((before, after))
}

/// By the partner or staff, until the manifest is closed. Whoever reads the new address can open the
/// booking.
pub async fn correct_contact(
    State(app): State<App>,
    caller: Caller,
    path: PathOwnBooking,
    Body(form): Body<CorrectContact>,
) -> Result<Reply<Booking>> {
    let (seen, actor) = path.authorize(&app, &GuestCredentials::default()).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = correctable(&app, &mut tx, &seen).await?;
    let mut after = before.clone();
    let contact = &mut after.stored;
    if let Some(name) = form.name {
        contact.contact_name = name.into();
    }
    if let Some(email) = form.email {
        contact.contact_email = email.into();
    }
    if let Some(phone) = form.phone {
        contact.contact_phone = phone.as_str().to_owned();
    }
    if before.contact_email != after.contact_email {
        after.stored.refund_account = None;
    }
    change_contact(&mut tx, &before, &after, actor, &app).await?;
    tx.record_anyone(Change {
        action: "booking.contact_corrected",
        entity: "booking",
        id: before.id,
        before: Some(&to_response(&app, before, Readable::AUDITED)?),
        after: Some(&to_response(&app, after.clone(), Readable::AUDITED)?),
    })
    .await?;
    tx.commit().await?;
    let answer = to_answer(&app, after, Readable::by(Some(&caller))).await?;
    Ok(Reply::data(answer).saying("Saved.", "Tersimpan."))
}

async fn change_contact(
    tx: &mut Tx,
    before: &BookingRow,
    after: &BookingRow,
    actor: Actor,
    app: &App,
) -> Result<()> {
    let (now, booking_id) = (app.clock.now(), before.id);
    let has_new_address = before.contact_email != after.contact_email;
    let same = !has_new_address
        && before.contact_name == after.contact_name
        && before.contact_phone == after.contact_phone;
    if same {
        return Ok(());
    }
    store::set_contact(tx, before, after, actor == Actor::Partner, now).await?;
    if has_new_address && let Ok(email) = before.contact_email.parse() {
        let name = before.contact_name.clone();
        let former = Task::TellFormerContact(FormerContact { booking_id, name, email });
        events::enqueue_mail(tx, &former, booking_id, now).await?;
    }
    let corrected = DomainEvent::BookingContactCorrected(BookingRef { booking_id });
    events::emit(tx, corrected, now).await
}

/// The booking, locked, if it can be corrected.
async fn correctable(app: &App, tx: &mut Tx, seen: &BookingRow) -> Result<BookingRow> {
    store::lock_row(tx, seen.id).await?;
    let booking = store::get_in(tx, seen.id).await?.ok_or(Error::NotFound)?;
    rules::correcting(&booking.state(), app.clock.now())?;
    Ok(booking)
}
