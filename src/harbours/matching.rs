//! From the names that a route gives to its harbours.

use chrono::{DateTime, Utc};

use super::{model::Harbour, name::HarbourName, rules, store, zone::Zone};
use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::Uuid,
    lang::text,
};

/// What a route says about where it starts and ends.
pub struct Stops<'a> {
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
}

/// Finds the harbours by name or alias. Unknown ones are made. Holds the lock `harbours`, so that
/// they are neither merged nor deleted before the route is stored.
pub async fn match_ends(tx: &mut Tx, stops: &Stops<'_>, now: DateTime<Utc>) -> Result<Ends> {
    store::lock(tx).await?;
    let from = store::by_key(tx, stops.from.key()).await?;
    let to = store::by_key(tx, stops.to.key()).await?;
    let other = stops.kept_timezone.or_else(|| Some(from.as_ref()?.timezone));
    let other = other.unwrap_or(stops.service_zone);
    let timezone = rules::departure_zone(stops.timezone, from.as_ref(), other)?;
    let arrival_timezone = rules::arrival_zone(stops.timezone, timezone, to.as_ref());
    if let (Some(from), Some(to)) = (&from, &to)
        && from.id == to.id
    {
        let message =
            text("This is the same as the harbour of departure.", "Sama dengan pelabuhan asal.");
        return Err(Error::field("to", "same", message));
    }
    Ok(Ends {
        from: known_or_made(tx, from, stops.from, timezone, now).await?,
        to: known_or_made(tx, to, stops.to, timezone, now).await?,
        timezone,
        arrival_timezone,
    })
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
