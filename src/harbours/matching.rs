//! From the names that a route gives to its harbours.

use chrono::{DateTime, Utc};

use super::{model::Harbour, name::HarbourName, rules, store, zone::Zone};
use crate::{
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        lang::text,
    },
    lines,
};

/// What a route says about where it starts and ends.
pub struct Stops<'a> {
    pub partner: Uuid,
    pub from: &'a HarbourName,
    pub to: &'a HarbourName,
    /// As given.
    pub timezone: Option<Zone>,
    /// That of the route so far, which a verified harbour overrules.
    pub kept_timezone: Option<Zone>,
    pub service_zone: Zone,
}

/// The harbours of a route, and the zones of its times.
pub struct Ends {
    pub from: Uuid,
    pub to: Uuid,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    /// The fields whose names were unknown.
    made: Vec<&'static str>,
}

/// Finds the harbours by name or alias. Unknown ones are made. Holds the lock `harbours`, so that
/// they are neither merged nor deleted before the route is stored. [`settle`] follows then.
pub async fn match_ends(tx: &mut Tx, stops: &Stops<'_>, now: DateTime<Utc>) -> Result<Ends> {
    store::lock(tx).await?;
    let from = store::by_key(tx, stops.from.key()).await?;
    let to = store::by_key(tx, stops.to.key()).await?;
    let own_from = own_zone(tx, stops, from.as_ref()).await?;
    let other = stops.kept_timezone.or(own_from).unwrap_or(stops.service_zone);
    let timezone = rules::departure_zone(stops.timezone, from.as_ref(), other)?;
    let own_to = own_zone(tx, stops, to.as_ref()).await?;
    let arrival_timezone = rules::arrival_zone(stops.timezone, timezone, to.as_ref(), own_to);
    if let (Some(from), Some(to)) = (&from, &to)
        && from.id == to.id
    {
        let message =
            text("This is the same as the harbour of departure.", "Sama dengan pelabuhan asal.");
        return Err(Error::field("to", "same", message));
    }
    let made = [("from", from.is_none()), ("to", to.is_none())];
    Ok(Ends {
        from: known_or_made(tx, from, stops.from, timezone, now).await?,
        to: known_or_made(tx, to, stops.to, timezone, now).await?,
        timezone,
        arrival_timezone,
        made: made.into_iter().filter_map(|(field, made)| made.then_some(field)).collect(),
    })
}

/// The zone in which the partner's newest route there has an unverified harbour. The zone of the
/// harbour itself may be the guess of another partner.
async fn own_zone(
    tx: &mut Tx,
    stops: &Stops<'_>,
    harbour: Option<&Harbour>,
) -> Result<Option<Zone>> {
    match harbour {
        Some(harbour) if !harbour.is_verified() => {
            store::zone_of_partner(tx, stops.partner, harbour.id).await
        }
        _ => Ok(None),
    }
}

/// Call this when the route is stored. `former` are the harbours that it had before. 422 if the
/// partner has made too many.
pub async fn settle(tx: &mut Tx, partner: Uuid, ends: &Ends, former: &[Uuid]) -> Result<()> {
    delete_unused(tx, former).await?;
    match ends.made.as_slice() {
        [] => Ok(()),
        made => rules::ensure_few(store::count_pending(tx, partner).await?, made),
    }
}

/// Deletes those that are known by name alone and that no route uses. The caller holds the lock
/// `harbours`.
pub async fn delete_unused(tx: &mut Tx, harbours: &[Uuid]) -> Result<()> {
    for id in harbours {
        let harbour = store::get_in(tx, *id).await?;
        if harbour.is_some_and(|harbour| harbour.is_name_only()) && !store::is_used(tx, *id).await?
        {
            lines::delete_of_harbour(tx, *id).await?;
            store::delete(tx, *id).await?;
        }
    }
    Ok(())
}

async fn known_or_made(
    tx: &mut Tx,
    known: Option<Harbour>,
    name: &HarbourName,
    zone: Zone,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    if let Some(known) = known {
        return Ok(known.id);
    }
    let made = rules::unverified(name.as_str(), zone);
    store::insert(tx, std::slice::from_ref(&made), now).await?;
    Ok(made.id)
}
