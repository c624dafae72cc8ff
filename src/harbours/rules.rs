//! Pure rules of harbours: their names, and the zones of a route's times.

use super::{
    model::{Harbour, HarbourChange, HarbourStatus, NewHarbour},
    name::key,
    zone::Zone,
};
use crate::kernel::{
    error::{Error, Fault, Result},
    ids::{self, Uuid},
    lang::text,
    patch::Patch,
};

/// Most names that a harbour can have after a merge.
const MOST_NAMES: usize = 200;

/// Most unverified harbours of a partner that no published route uses.
const MOST_PENDING: i64 = 50;

/// The harbour that a form describes.
pub fn new_harbour(form: NewHarbour) -> Result<Harbour> {
    let name = form.name.as_str().to_owned();
    let aliases = form.aliases.unwrap_or_default();
    let harbour = Harbour {
        id: ids::fresh(),
        aliases: aliases_of(&name, aliases.iter().map(|alias| alias.as_str())),
        name,
        city: form.city.map(String::from),
        province: form.province.map(String::from),
        timezone: form.timezone,
        latitude: form.latitude,
        longitude: form.longitude,
        status: form.status.unwrap_or(HarbourStatus::Verified),
    };
    located(harbour)
}

/// A harbour that is known by name alone.
pub fn unverified(name: &str, timezone: Zone) -> Harbour {
    Harbour {
        id: ids::fresh(),
        name: name.to_owned(),
        aliases: Vec::new(),
        city: None,
        province: None,
        timezone,
        latitude: None,
        longitude: None,
        status: HarbourStatus::Unverified,
    }
}

/// The harbour after a change. Routes and travellers may know it by its old name, so that one stays
/// an alias unless the aliases are given.
pub fn changed(before: &Harbour, change: HarbourChange) -> Result<Harbour> {
    let name = change.name.map_or_else(|| before.name.clone(), |name| name.as_str().to_owned());
    let aliases = match &change.aliases {
        Patch::Set(aliases) => aliases_of(&name, aliases.iter().map(|alias| alias.as_str())),
        Patch::Clear => Vec::new(),
        Patch::Keep => aliases_of(&name, before.names()),
    };
    let harbour = Harbour {
        id: before.id,
        aliases,
        name,
        city: change.city.over(before.city.clone()),
        province: change.province.over(before.province.clone()),
        timezone: change.timezone.unwrap_or(before.timezone),
        latitude: change.latitude.over(before.latitude),
        longitude: change.longitude.over(before.longitude),
        status: change.status.unwrap_or(before.status),
    };
    located(harbour)
}

/// The harbour that remains of a merge, with the names of both.
pub fn merged(from: &Harbour, into: &Harbour) -> Result<Harbour> {
    let names = into.names().chain(from.names());
    let aliases = aliases_of(&into.name, names);
    if aliases.len() >= MOST_NAMES {
        return Err(Error::conflict(
            "too_many_aliases",
            "The harbour would have too many aliases. Remove some first.",
            "Pelabuhan akan memiliki terlalu banyak alias. Hapus sebagian terlebih dahulu.",
        ));
    }
    Ok(Harbour { aliases, ..into.clone() })
}

/// The names other than `name`, each once.
fn aliases_of<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut seen = std::collections::HashSet::from([key(name)]);
    names.filter(|name| seen.insert(key(name))).map(str::to_owned).collect()
}

/// 422 if only half of the position is known.
fn located(harbour: Harbour) -> Result<Harbour> {
    let missing = match (harbour.latitude, harbour.longitude) {
        (None, Some(_)) => "latitude",
        (Some(_), None) => "longitude",
        _ => return Ok(harbour),
    };
    let message = text("State latitude and longitude.", "Sebutkan garis lintang dan garis bujur.");
    Err(Error::field(missing, "required", message))
}

/// What the search of the list compares.
pub fn search_keys(harbour: &Harbour) -> String {
    let places = [&harbour.city, &harbour.province].into_iter().flatten().map(String::as_str);
    let keys: Vec<_> = harbour.names().chain(places).map(key).collect();
    keys.join("\n")
}

/// The zone of a route's departures: as given, else that of a verified harbour of departure, else
/// another one. 422 if the given one contradicts a verified harbour.
pub fn departure_zone(given: Option<Zone>, from: Option<&Harbour>, other: Zone) -> Result<Zone> {
    match (given, from) {
        (Some(given), Some(from)) if from.is_verified() && from.timezone != given => {
            let message = text(
                "This is not the time zone of the harbour of departure.",
                "Ini bukan zona waktu pelabuhan asal.",
            );
            Err(Error::field("timezone", "contradiction", message))
        }
        (Some(given), _) => Ok(given),
        (None, Some(from)) if from.is_verified() => Ok(from.timezone),
        (None, _) => Ok(other),
    }
}

/// The zone of a route's arrivals: that of a verified harbour of arrival, else the one in which the
/// partner's own routes have it, else that of the departures. A zone that the route gives is that of
/// both ends, unless the harbour of arrival is verified.
pub fn arrival_zone(
    given: Option<Zone>,
    departure: Zone,
    to: Option<&Harbour>,
    own: Option<Zone>,
) -> Zone {
    match to {
        Some(to) if to.is_verified() => to.timezone,
        _ if given.is_some() => departure,
        _ => own.unwrap_or(departure),
    }
}

/// 422 on the fields that made harbours if the partner has too many.
pub fn ensure_few(pending: i64, made: &[&'static str]) -> Result<()> {
    if pending <= MOST_PENDING {
        return Ok(());
    }
    let fault = |field: &&'static str| {
        let message = text(
            "This harbour is unknown, and your routes already name 50 harbours that are not \
             verified. Publish these routes, or ask for the harbours to be verified.",
            "Pelabuhan ini tidak dikenal, dan rute Anda sudah menyebut 50 pelabuhan yang belum \
             diverifikasi. Terbitkan rute tersebut atau minta verifikasi pelabuhannya.",
        );
        Fault::new(*field, "max", message)
    };
    Err(Error::Invalid(made.iter().map(fault).collect()))
}

/// 409 if the harbour cannot get another zone: a verified one with routes keeps its own.
pub fn ensure_zone_may_change(before: &Harbour, after: Zone, is_used: bool) -> Result<()> {
    match before.is_verified() && before.timezone != after && is_used {
        false => Ok(()),
        true => Err(Error::conflict(
            "in_use",
            "The time zone of a verified harbour with routes cannot be changed.",
            "Zona waktu pelabuhan terverifikasi yang memiliki rute tidak dapat diubah.",
        )),
    }
}

/// 422 if a harbour is merged into itself.
pub fn ensure_two(id: Uuid, into: Uuid) -> Result<()> {
    match id == into {
        false => Ok(()),
        true => {
            let message = text(
                "A harbour cannot be merged into itself.",
                "Pelabuhan tidak dapat digabungkan dengan dirinya sendiri.",
            );
            Err(Error::field("into_id", "same", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harbour(name: &str, timezone: Zone, status: HarbourStatus) -> Harbour {
        Harbour { status, ..unverified(name, timezone) }
    }

    #[test]
    fn names_are_kept_once() {
        let names = ["SANUR", "Sanur Bali", "sanur  bali", "Sánur", "Matahari Terbit"];
        assert_eq!(aliases_of("Sanur", names.into_iter()), ["Sanur Bali", "Matahari Terbit"]);
    }

    #[test]
    fn a_route_departs_in_the_zone_of_a_verified_harbour() {
        let known = harbour("Sanur", Zone::Wita, HarbourStatus::Verified);
        let guess = harbour("Somewhere", Zone::Wita, HarbourStatus::Unverified);
        let zone = |given, from| departure_zone(given, from, Zone::Wib).ok();
        assert_eq!(zone(None, Some(&known)), Some(Zone::Wita));
        assert_eq!(zone(Some(Zone::Wita), Some(&known)), Some(Zone::Wita));
        assert_eq!(zone(Some(Zone::Wib), Some(&known)), None);
        assert_eq!(zone(Some(Zone::Wit), Some(&guess)), Some(Zone::Wit));
        assert_eq!(zone(None, Some(&guess)), Some(Zone::Wib));
        assert_eq!(zone(None, None), Some(Zone::Wib));
    }

    #[test]
    fn a_route_arrives_in_the_zone_of_its_harbour() {
        let known = harbour("Gilimanuk", Zone::Wita, HarbourStatus::Verified);
        let guess = harbour("Somewhere", Zone::Wita, HarbourStatus::Unverified);
        let (wib, wit) = (Zone::Wib, Zone::Wit);
        assert_eq!(arrival_zone(None, wib, Some(&known), None), Zone::Wita);
        assert_eq!(arrival_zone(Some(wib), wib, Some(&known), Some(wit)), Zone::Wita);
        assert_eq!(arrival_zone(None, wib, Some(&guess), None), wib, "a guess of others");
        assert_eq!(arrival_zone(None, wib, Some(&guess), Some(wit)), wit);
        assert_eq!(arrival_zone(Some(wib), wib, Some(&guess), Some(wit)), wib);
        assert_eq!(arrival_zone(None, wit, None, None), wit);
    }
}
