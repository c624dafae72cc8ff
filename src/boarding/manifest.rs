//! The manifest: current, or as it was closed.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    model::{Listed, ListedBoat, ListedContact, ListedSailing, Manifest},
    rules, store,
};
use crate::{
    app::App,
    bookings::{self, BookingOnList},
    fleet::Owner,
    kernel::{
        audit::{AuditedTx, Change, ErasedJson},
        caller::Caller,
        csv,
        db::Tx,
        error::{Conflict, Error, Result},
        ids::Uuid,
        lang::text,
        personal::ERASED,
        seal::Sealer,
    },
    sailings::{self, SailingDetail, SailingStatus, offers},
    tickets::Ticket,
};

/// The stored manifest if closed, else the current one.
pub async fn read(app: &App, sailing: SailingDetail, readable: bool) -> Result<Manifest> {
    let now = app.clock.now();
    let sailing = sailing.seen_at(now);
    let manifest = match store::closed_manifest(&app.db, sailing.id).await? {
        Some(sealed) => {
            let mut kept: Manifest =
                serde_json::from_str(&app.sealer.open(&sealed)?).map_err(Error::internal)?;
            // The list is fixed, but the status of the sailing is current.
            kept.sailing.status = sailing.status;
            kept
        }
        None => {
            let aboard = bookings::boarding_list(&app.db, sailing.id).await?;
            build_manifest(app, sailing, &aboard, now)?
        }
    };
    Ok(reveal_identities(manifest, readable))
}

/// Closes the manifest: expires unpaid bookings and stores the list. Idempotent.
pub async fn close(app: &App, caller: &Caller, seen: SailingDetail) -> Result<()> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    // Lock order: bookings before their sailing. Locked twice to include bookings made in between.
    bookings::lock_rows(&mut tx, id).await?;
    bookings::expire_holds(&mut tx, id, now).await?;
    if !store::close(&mut tx, id, now + rules::CLOSABLE, now).await? {
        let sailing = sailings::sailing_in(&mut tx, id).await?;
        return match (sailing.status, sailing.manifest_closed_at) {
            (_, Some(_)) => Ok(()),
            (SailingStatus::Open, None) => Err(too_early(sailing.departure_at)),
            _ => {
                Err(Error::invalid_state("This sailing is cancelled.", "Pelayaran ini dibatalkan."))
            }
        };
    }
    bookings::expire_holds(&mut tx, id, now).await?;
    let sailing = sailings::sailing_in(&mut tx, id).await?.seen_at(now);
    let aboard = bookings::boarding_list_in(&mut tx, id).await?;
    let manifest = reveal_identities(build_manifest(app, sailing.clone(), &aboard, now)?, true);
    let content = serde_json::to_string(&manifest).map_err(Error::internal)?;
    store::store_manifest(&mut tx, id, app.sealer.seal(&content)?, caller.person.id, now).await?;
    record(&mut tx, "manifest.closed", &seen, &sailing).await?;
    let (from, to) = (sailing.from_harbour_id, sailing.to_harbour_id);
    let trip = offers::trip_tag(from, to, sailing.departure_at, sailing.timezone);
    let _invalidation = app.response_cache.invalidate_on_drop([trip]);
    tx.commit().await
}

fn too_early(departure_at: DateTime<Utc>) -> Error {
    Error::Conflict(Box::new(Conflict {
        word: "too_early",
        message: text(
            "The manifest can be closed 3 hours before departure at the earliest.",
            "Manifes paling cepat ditutup 3 jam sebelum keberangkatan.",
        ),
        data: Some(json!({ "opens_at": rules::manifest_opens_at(departure_at) })),
    }))
}

/// Undoes a close until departure: sales, reschedules and check-in are possible as before. Holds that
/// expired with the close stay expired. Idempotent.
pub async fn reopen(app: &App, caller: &Caller, seen: SailingDetail, reason: &str) -> Result<()> {
    let (id, now) = (seen.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    let reopened = store::reopen(&mut tx, id, now).await?;
    let sailing = sailings::sailing_in(&mut tx, id).await?;
    if !reopened {
        return match sailing.status {
            SailingStatus::Open if sailing.departure_at <= now => Err(sailings::departed()),
            SailingStatus::Open => Ok(()),
            _ => Err(Error::conflict(
                "cancelled",
                "This sailing has been cancelled.",
                "Pelayaran ini telah dibatalkan.",
            )),
        };
    }
    let after = Reopened { sailing: &sailing, reopen_reason: reason };
    record(&mut tx, "manifest.reopened", &seen, &after).await?;
    let (from, to) = (sailing.from_harbour_id, sailing.to_harbour_id);
    let trip = offers::trip_tag(from, to, sailing.departure_at, sailing.timezone);
    let _invalidation = app.response_cache.invalidate_on_drop([trip]);
    tx.commit().await
}

#[derive(Serialize)]
struct Reopened<'a> {
    #[serde(flatten)]
    sailing: &'a SailingDetail,
    reopen_reason: &'a str,
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: &SailingDetail,
    after: &impl ErasedJson,
) -> Result<()> {
    let (entity, id) = ("sailing", before.id);
    tx.record(Change { action, entity, id, before: Some(before), after: Some(after) }).await
}

fn build_manifest(
    app: &App,
    sailing: SailingDetail,
    aboard: &[BookingOnList],
    now: DateTime<Utc>,
) -> Result<Manifest> {
    let mut passengers = Vec::new();
    for booking in aboard {
        for (index, passenger) in booking.passengers.iter().enumerate() {
            let (sailing_id, booking_id) = (sailing.id, booking.id);
            let place = passenger.place_at(index)?;
            passengers.push(Listed {
                number: 0,
                passenger_id: passenger.id,
                name: passenger.name.clone(),
                name_given: passenger.resold.as_ref().is_none_or(|resold| resold.name_given),
                gender: passenger.gender,
                age: passenger.birth_date.and_then(|birth| rules::age(birth, sailing.day)),
                birth_date: passenger.birth_date,
                identity_type: passenger.identity_type,
                identity_number: app.sealer.open_number(passenger.identity_number.as_deref())?,
                nationality: passenger.nationality.clone(),
                fare: passenger.fare.clone(),
                takes_seat: passenger.takes_seat,
                contact: ListedContact {
                    name: booking.contact_name.clone(),
                    phone: booking.contact_phone.clone(),
                },
                booking_code: booking.code.clone(),
                checked_in_at: booking.boarded.get(&passenger.id).copied(),
                ticket_code: app.ticket_keys().sign(Ticket { sailing_id, booking_id, place }),
            });
        }
    }
    passengers
        .sort_by_cached_key(|passenger| (passenger.name.to_lowercase(), passenger.passenger_id));
    for (number, passenger) in (1..).zip(&mut passengers) {
        passenger.number = number;
    }
    Ok(Manifest {
        totals: rules::totals(aboard.len(), &passengers),
        closed_at: sailing.manifest_closed_at,
        as_of: now,
        sailing: ListedSailing {
            id: sailing.id,
            from: sailing.from_name,
            to: sailing.to_name,
            departure_at: sailing.departure_at,
            arrival_at: sailing.arrival_at,
            timezone: sailing.timezone,
            arrival_timezone: sailing.arrival_timezone,
            status: sailing.status,
            speedboat: ListedBoat {
                id: sailing.speedboat_id,
                name: sailing.speedboat_name,
                registration_number: sailing.registration_number,
                capacity: sailing.capacity,
            },
            mitra: Owner { id: sailing.mitra_id, name: sailing.mitra_name },
        },
        passengers,
    })
}

fn reveal_identities(mut manifest: Manifest, readable: bool) -> Manifest {
    for passenger in &mut manifest.passengers {
        let number = passenger.identity_number.take();
        passenger.identity_number = number.map(|number| number.revealed_if(readable));
    }
    manifest
}

/// Replaces the passengers and the contact of a booking by placeholders in the closed manifests that
/// list them. The booking's row must be locked.
pub async fn erase_from_manifests(
    tx: &mut Tx,
    sealer: &Sealer,
    booking: Uuid,
    code: &str,
) -> Result<()> {
    for (sailing, sealed) in store::lock_manifests(tx, booking).await? {
        let mut manifest: Value =
            serde_json::from_str(&sealer.open(&sealed)?).map_err(Error::internal)?;
        if erase_passengers(&mut manifest, code) {
            store::replace_manifest(tx, sailing, sealer.seal(&manifest.to_string())?).await?;
        }
    }
    Ok(())
}

/// Says whether there were any.
fn erase_passengers(manifest: &mut Value, code: &str) -> bool {
    const EMPTY: [&str; 6] =
        ["gender", "age", "birth_date", "identity_type", "identity_number", "nationality"];
    let mut found = false;
    for passenger in manifest["passengers"].as_array_mut().into_iter().flatten() {
        if passenger["booking_code"].as_str() == Some(code) {
            for field in EMPTY {
                passenger[field] = Value::Null;
            }
            passenger["name"] = json!(ERASED);
            passenger["contact"] = json!({ "name": ERASED, "phone": "" });
            found = true;
        }
    }
    found
}

/// One line per passenger.
pub fn csv(manifest: &Manifest) -> Vec<u8> {
    let header = [
        "number",
        "name",
        "gender",
        "age",
        "birth_date",
        "identity_type",
        "identity_number",
        "nationality",
        "contact_name",
        "contact_phone",
        "booking_code",
        "checked_in_at",
        "fare",
        "departure_at",
        "timezone",
        "arrival_at",
        "arrival_timezone",
    ];
    let sailing = &manifest.sailing;
    let mut lines = csv::line(&header).to_vec();
    for passenger in &manifest.passengers {
        let said = |value: Option<String>| csv::harmless(&value.unwrap_or_default());
        // Serialised to apply the masking for this reader.
        let number = serde_json::json!(passenger.identity_number);
        lines.extend_from_slice(&csv::line(&[
            passenger.number.to_string(),
            csv::harmless(&passenger.marked_name()),
            said(passenger.gender.map(|gender| gender.to_string())),
            said(passenger.age.map(|age| age.to_string())),
            said(passenger.birth_date.map(|day| day.to_string())),
            said(passenger.identity_type.map(|kind| kind.to_string())),
            said(number.as_str().map(str::to_owned)),
            said(passenger.nationality.clone()),
            csv::harmless(&passenger.contact.name),
            csv::harmless(&passenger.contact.phone),
            passenger.booking_code.clone(),
            said(passenger.checked_in_at.map(|at| at.to_rfc3339())),
            said(passenger.fare.clone()),
            sailing.departure_at.to_rfc3339(),
            sailing.timezone.to_string(),
            sailing.arrival_at.to_rfc3339(),
            sailing.arrival_timezone.to_string(),
        ]));
    }
    lines
}
