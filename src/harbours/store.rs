//! The SQL of harbours.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::{
    model::{Harbour, HarbourRow, HarbourSort, HarboursQuery},
    name::key,
    rules,
    zone::Zone,
};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::{Conflict, Error, Result},
    http::Page,
    ids::Uuid,
    lang::text,
};

macro_rules! harbour {
    ($rest:literal) => {
        concat!(
            "SELECT h.id, h.name, h.aliases, h.city, h.province, h.timezone, h.latitude,
               h.longitude, h.status
             FROM harbours h",
            $rest
        )
    };
}

const BY_ID: &str = harbour!(" WHERE h.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Harbour>> {
    let row: Option<HarbourRow> = db.sql(BY_ID).bind(id).maybe().await?;
    Ok(row.map(Harbour::from))
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<Harbour>> {
    let row: Option<HarbourRow> = tx.sql(BY_ID).bind(id).maybe().await?;
    Ok(row.map(Harbour::from))
}

pub async fn by_key(tx: &mut Tx, key: String) -> Result<Option<Harbour>> {
    let row: Option<HarbourRow> = tx
        .sql(harbour!(" JOIN harbour_names n ON n.harbour_id = h.id WHERE n.key = $1"))
        .bind(key)
        .maybe()
        .await?;
    Ok(row.map(Harbour::from))
}

/// Changes of harbours, and the matching of names, are made one after the other.
pub async fn lock(tx: &mut Tx) -> Result<()> {
    Ok(tx.lock("harbours").await?)
}

/// Unverified harbours that the caller of the list sees.
pub enum Seen {
    All,
    /// Those of published routes.
    Published,
    /// Those of published routes and of the partner's own.
    PublishedAndOwn(Uuid),
}

pub async fn list(db: &Db, seen: Seen, query: &HarboursQuery) -> Result<Page<Harbour>> {
    let sort = match query.sort_by {
        None | Some(HarbourSort::Name) => "lower(h.name)",
        Some(HarbourSort::CreatedAt) => "h.created_at",
    };
    let paging = &query.paging;
    let words = paging.search().map(key);
    let list = match seen {
        Seen::All => db.list(harbour!("")),
        Seen::Published => db.list(harbour!("")).only(
            "(h.status = 'verified' OR EXISTS (SELECT 1 FROM routes r
               WHERE (r.from_harbour_id = h.id OR r.to_harbour_id = h.id)
                 AND r.status = 'published'))",
        ),
        Seen::PublishedAndOwn(partner) => db.list(harbour!("")).filter(
            "(h.status = 'verified' OR EXISTS (SELECT 1 FROM routes r
               WHERE (r.from_harbour_id = h.id OR r.to_harbour_id = h.id)
                 AND (r.status = 'published' OR r.partner_id = ?)))",
            Some(partner),
        ),
    };
    let rows = list
        .filter("h.id = ?", query.id)
        .filter("h.status = ?", query.status)
        .search(&["h.search_keys"], words.as_deref())
        .page(paging.sort(Some(sort), sort), "h.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows).each(|row: HarbourRow| row.into()))
}

pub async fn insert(tx: &mut Tx, harbours: &[Harbour], now: DateTime<Utc>) -> Result<()> {
    tx.insert_all(
        "INSERT INTO harbours (id, name, aliases, city, province, timezone, latitude, longitude,
           status, search_keys, created_at, updated_at)",
        12,
        harbours,
        |statement, harbour| {
            statement
                .bind(harbour.id)
                .bind(harbour.name.clone())
                .bind(json!(harbour.aliases))
                .bind(harbour.city.clone())
                .bind(harbour.province.clone())
                .bind(harbour.timezone)
                .bind(harbour.latitude)
                .bind(harbour.longitude)
                .bind(harbour.status)
                .bind(rules::search_keys(harbour))
                .bind(now)
                .bind(now)
        },
    )
    .await?;
    insert_names(tx, harbours).await
}

/// Replaces all values and names.
pub async fn update(tx: &mut Tx, harbour: &Harbour, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE harbours SET name = $1, aliases = $2, city = $3, province = $4, timezone = $5,
           latitude = $6, longitude = $7, status = $8, search_keys = $9, updated_at = $10
         WHERE id = $11",
    )
    .bind(harbour.name.clone())
    .bind(json!(harbour.aliases))
    .bind(harbour.city.clone())
    .bind(harbour.province.clone())
    .bind(harbour.timezone)
    .bind(harbour.latitude)
    .bind(harbour.longitude)
    .bind(harbour.status)
    .bind(rules::search_keys(harbour))
    .bind(now)
    .bind(harbour.id)
    .run()
    .await?;
    delete_names(tx, harbour.id).await?;
    insert_names(tx, std::slice::from_ref(harbour)).await
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    delete_names(tx, id).await?;
    tx.sql("DELETE FROM harbours WHERE id = $1").bind(id).run().await?;
    Ok(())
}

async fn insert_names(tx: &mut Tx, harbours: &[Harbour]) -> Result<()> {
    let names: Vec<(Uuid, &str)> = harbours
        .iter()
        .flat_map(|harbour| harbour.names().map(|name| (harbour.id, name)))
        .collect();
    tx.insert_all(
        "INSERT INTO harbour_names (key, harbour_id, name)",
        3,
        &names,
        |statement, (id, name)| statement.bind(key(name)).bind(*id).bind((*name).to_owned()),
    )
    .await
    .map_err(|failure: Failure| if failure.is_unique() { taken(None) } else { failure.into() })
}

async fn delete_names(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM harbour_names WHERE harbour_id = $1").bind(id).run().await?;
    Ok(())
}

/// 409 with the other harbour if one of the names belongs to another. The primary key of
/// `harbour_names` decides; this finds out who has it.
pub async fn ensure_names_free(tx: &mut Tx, harbour: &Harbour) -> Result<()> {
    let keys: Vec<String> = harbour.names().map(key).collect();
    let find = tx.sql_among(
        "SELECT n.name, h.id, h.name FROM harbour_names n JOIN harbours h ON h.id = n.harbour_id
         WHERE h.id <> $1 AND n.key IN",
        keys.len(),
        "ORDER BY n.key LIMIT 1",
    );
    let find = keys.into_iter().fold(find.bind(harbour.id), |find, key| find.bind(key));
    let other: Option<(String, Uuid, String)> = find.maybe().await?;
    other.map_or(Ok(()), |other| Err(taken(Some(other))))
}

fn taken(by: Option<(String, Uuid, String)>) -> Error {
    let message = text(
        "Another harbour already has this name or alias.",
        "Nama atau alias ini sudah dipakai pelabuhan lain.",
    );
    let data =
        by.map(|(name, id, of)| json!({ "name": name, "harbour": { "id": id, "name": of } }));
    Error::Conflict(Box::new(Conflict { word: "already_exists", message, data }))
}

/// Whether a route starts or ends there. A sailing has the harbours of its route.
pub async fn is_used(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let used: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM routes WHERE from_harbour_id = $1
             UNION ALL SELECT id FROM routes WHERE to_harbour_id = $1 LIMIT 1",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(used.is_some())
}

/// Number of unverified harbours of a partner's routes that no published route uses.
pub async fn count_pending(tx: &mut Tx, partner: Uuid) -> Result<i64> {
    let count = tx
        .sql(
            "SELECT COUNT(*) FROM harbours h
             WHERE h.status = 'unverified' AND h.id IN
                 (SELECT from_harbour_id FROM routes WHERE partner_id = $1
                  UNION SELECT to_harbour_id FROM routes WHERE partner_id = $1)
               AND NOT EXISTS (SELECT 1 FROM routes r
                 WHERE (r.from_harbour_id = h.id OR r.to_harbour_id = h.id)
                   AND r.status = 'published')",
        )
        .bind(partner)
        .scalar()
        .await?;
    Ok(count)
}

/// The harbours of a partner's routes.
pub async fn of_partner(tx: &mut Tx, partner: Uuid) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = tx
        .sql(
            "SELECT from_harbour_id FROM routes WHERE partner_id = $1
             UNION SELECT to_harbour_id FROM routes WHERE partner_id = $1",
        )
        .bind(partner)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// The zone of the times there of the partner's newest route that uses the harbour.
pub async fn zone_of_partner(tx: &mut Tx, partner: Uuid, harbour: Uuid) -> Result<Option<Zone>> {
    let newest: Option<(Zone, DateTime<Utc>)> = tx
        .sql(
            "SELECT timezone, created_at FROM routes
             WHERE partner_id = $1 AND from_harbour_id = $2
             UNION ALL SELECT arrival_timezone, created_at FROM routes
             WHERE partner_id = $1 AND to_harbour_id = $2
             ORDER BY created_at DESC LIMIT 1",
        )
        .bind(partner)
        .bind(harbour)
        .maybe()
        .await?;
    Ok(newest.map(|(zone, _)| zone))
}

/// Whether a route connects the two.
pub async fn are_connected(tx: &mut Tx, one: Uuid, other: Uuid) -> Result<bool> {
    let route: Option<(Uuid,)> = tx
        .sql(
            "SELECT id FROM routes WHERE from_harbour_id = $1 AND to_harbour_id = $2
             UNION ALL SELECT id FROM routes WHERE from_harbour_id = $2 AND to_harbour_id = $1
             LIMIT 1",
        )
        .bind(one)
        .bind(other)
        .maybe()
        .await?;
    Ok(route.is_some())
}

/// Moves all routes to another harbour; their sailings follow by the foreign key. One statement for
/// each route: a statement has a time limit, and a route has up to 17,568 sailings.
/// 100,000 sailings of 100 routes take 5 s on SQLite; on PostgreSQL up to a minute on two busy cores,
/// because every row moves in all of its indexes.
pub async fn move_routes(tx: &mut Tx, from: Uuid, into: Uuid) -> Result<()> {
    let routes: Vec<(Uuid,)> = tx
        .sql(
            "SELECT id FROM routes WHERE from_harbour_id = $1
             UNION SELECT id FROM routes WHERE to_harbour_id = $1 ORDER BY id",
        )
        .bind(from)
        .all()
        .await?;
    for (route,) in routes {
        tx.sql(
            "UPDATE routes SET
               from_harbour_id = CASE WHEN from_harbour_id = $1 THEN $2 ELSE from_harbour_id END,
               to_harbour_id = CASE WHEN to_harbour_id = $1 THEN $2 ELSE to_harbour_id END
             WHERE id = $3",
        )
        .bind(from)
        .bind(into)
        .bind(route)
        .run()
        .await?;
    }
    Ok(())
}

/// Whether no verified harbour of the route contradicts the zones of its times.
pub async fn has_zones(tx: &mut Tx, route: Uuid, departure: Zone, arrival: Zone) -> Result<bool> {
    let contradiction: Option<(Uuid,)> = tx
        .sql(
            "SELECT r.id FROM routes r
             JOIN harbours f ON f.id = r.from_harbour_id
             JOIN harbours t ON t.id = r.to_harbour_id
             WHERE r.id = $1 AND ((f.status = 'verified' AND f.timezone <> $2)
               OR (t.status = 'verified' AND t.timezone <> $3))",
        )
        .bind(route)
        .bind(departure)
        .bind(arrival)
        .maybe()
        .await?;
    Ok(contradiction.is_none())
}

/// The harbours of two keys, if both are known.
pub async fn trip_of(db: &Db, from_key: &str, to_key: &str) -> Result<Option<(Uuid, Uuid)>> {
    let trip = db
        .sql(
            "SELECT f.harbour_id, t.harbour_id FROM harbour_names f, harbour_names t
             WHERE f.key = $1 AND t.key = $2",
        )
        .bind(from_key.to_owned())
        .bind(to_key.to_owned())
        .maybe()
        .await?;
    Ok(trip)
}
