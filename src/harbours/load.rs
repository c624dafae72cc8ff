//! The harbours that the service brings. They are added at the first start, and those of a newer
//! version at the first start after the upgrade.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::{
    model::{Harbour, HarbourStatus},
    name::key,
    store,
    zone::Zone,
};
use crate::kernel::{
    db::{Db, Statement},
    error::{Error, Result},
    ids,
};

#[derive(Deserialize)]
struct KnownHarbour {
    name: String,
    aliases: Vec<String>,
    city: String,
    province: String,
    timezone: Zone,
    latitude: f64,
    longitude: f64,
}

fn known_harbours() -> Result<Vec<KnownHarbour>> {
    serde_json::from_str(include_str!("indonesia.json")).map_err(Error::internal)
}

const LOADED: &str = "SELECT key FROM loaded_harbours";

/// Adds the harbours that were never loaded. One that was changed, merged or deleted since is not
/// loaded again, and a name that another harbour has stays there.
pub async fn load(db: &Db, now: DateTime<Utc>) -> Result<usize> {
    match add_missing(db, now).await {
        // Another process has loaded them meanwhile, or a route has made one of them.
        Err(Error::Conflict(_)) => add_missing(db, now).await,
        done => done,
    }
}

async fn add_missing(db: &Db, now: DateTime<Utc>) -> Result<usize> {
    let known = known_harbours()?;
    let loaded = keys(db.sql(LOADED)).await?;
    if known.iter().all(|harbour| loaded.contains(&key(&harbour.name))) {
        return Ok(0);
    }
    let mut tx = db.begin_without_timeout().await?;
    let loaded = keys(tx.sql(LOADED)).await?;
    let mut taken = keys(tx.sql("SELECT key FROM harbour_names")).await?;
    let missing: Vec<_> =
        known.into_iter().filter(|harbour| !loaded.contains(&key(&harbour.name))).collect();
    let missing_keys: Vec<_> = missing.iter().map(|harbour| key(&harbour.name)).collect();
    let added: Vec<_> =
        missing.into_iter().filter_map(|harbour| new_harbour(harbour, &mut taken)).collect();
    store::insert(&mut tx, &added, now).await?;
    tx.upsert_all(
        "INSERT INTO loaded_harbours (key)",
        1,
        &missing_keys,
        "ON CONFLICT (key) DO NOTHING",
        |statement, key| statement.bind(key.clone()),
    )
    .await?;
    tx.commit().await?;
    Ok(added.len())
}

async fn keys(select: Statement<'_>) -> Result<HashSet<String>> {
    let keys: Vec<(String,)> = select.all().await?;
    Ok(keys.into_iter().map(|(key,)| key).collect())
}

/// `None` if another harbour has the name.
fn new_harbour(known: KnownHarbour, taken: &mut HashSet<String>) -> Option<Harbour> {
    if !taken.insert(key(&known.name)) {
        return None;
    }
    let aliases = known.aliases.into_iter().filter(|alias| taken.insert(key(alias)));
    Some(Harbour {
        id: ids::fresh(),
        name: known.name,
        aliases: aliases.collect(),
        city: Some(known.city),
        province: Some(known.province),
        timezone: known.timezone,
        latitude: Some(known.latitude),
        longitude: Some(known.longitude),
        status: HarbourStatus::Verified,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_consistent() {
        let known = known_harbours().unwrap();
        assert!(known.len() >= 60);
        let mut keys = HashSet::new();
        for harbour in &known {
            for name in std::iter::once(&harbour.name).chain(&harbour.aliases) {
                assert!(name.trim() == name && (2..=80).contains(&name.chars().count()), "{name}");
                assert!(keys.insert(key(name)), "{name} is there twice");
            }
            let KnownHarbour { name, latitude, longitude, .. } = harbour;
            assert!((-11.0..=6.0).contains(latitude), "{name} is not in Indonesia");
            assert!((95.0..=141.0).contains(longitude), "{name} is not in Indonesia");
            // The zones follow provinces, which follow longitudes but for Kalimantan.
            let expected = match harbour.province.as_str() {
                "Bali"
                | "Nusa Tenggara Barat"
                | "Nusa Tenggara Timur"
                | "Kalimantan Timur"
                | "Kalimantan Utara"
                | "Kalimantan Selatan"
                | "Sulawesi Utara"
                | "Sulawesi Tengah"
                | "Sulawesi Selatan"
                | "Sulawesi Tenggara"
                | "Gorontalo" => Zone::Wita,
                "Maluku" | "Maluku Utara" | "Papua" | "Papua Barat" | "Papua Barat Daya" => {
                    Zone::Wit
                }
                _ => Zone::Wib,
            };
            assert_eq!(harbour.timezone, expected, "{name}");
        }
    }
}
