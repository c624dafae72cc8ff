//! The SQL of speedboats.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::model::{BoatStatus, SpeedboatChange, SpeedboatRow, SpeedboatsQuery};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::{Error, Result},
    http::Page,
    ids::{self, Uuid},
    patch::Patch,
};

macro_rules! speedboat {
    ($rest:literal) => {
        concat!(
            "SELECT b.id, b.partner_id, a.name AS partner_name, b.name, b.registration_number,
               b.capacity, b.year_built, b.manufacturer, b.engine, b.facilities, b.description,
               b.photos, b.status, b.created_at, b.updated_at
             FROM speedboats b
             JOIN partners p ON p.id = b.partner_id
             JOIN accounts a ON a.id = p.account_id",
            $rest
        )
    };
}

/// `owner` restricts to one partner; `None` finds all.
const BY_ID: &str = speedboat!(
    " WHERE b.id = $1 AND b.deleted_at IS NULL AND b.partner_id = COALESCE($2, b.partner_id)"
);

pub async fn get(db: &Db, owner: Option<Uuid>, id: Uuid) -> Result<Option<SpeedboatRow>> {
    Ok(db.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, owner: Option<Uuid>, id: Uuid) -> Result<Option<SpeedboatRow>> {
    Ok(tx.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

/// Locks the boat's row, and so its schedule, until this transaction ends.
pub async fn lock_row(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE speedboats SET updated_at = updated_at WHERE id = $1").bind(id).run().await?;
    Ok(())
}

/// Locks the rows of several boats, always in the same order.
pub async fn lock_rows(tx: &mut Tx, mut ids: Vec<Uuid>) -> Result<()> {
    ids.sort();
    ids.dedup();
    for id in ids {
        lock_row(tx, id).await?;
    }
    Ok(())
}

/// A boat that is in service, of a partner that is on sale.
pub async fn on_sale(db: &Db, id: Uuid) -> Result<Option<SpeedboatRow>> {
    let boat = db.sql(speedboat!(
        " WHERE b.id = $1 AND b.deleted_at IS NULL AND b.status = 'active'
            AND p.status <> 'suspended' AND p.verified_at IS NOT NULL"
    ));
    Ok(boat.bind(id).maybe().await?)
}

/// The boats of a partner that customers may see, by name.
pub async fn in_service(db: &Db, partner: Uuid, most: i64) -> Result<Vec<SpeedboatRow>> {
    let boats = db.sql(speedboat!(
        " WHERE b.partner_id = $1 AND b.deleted_at IS NULL AND b.status = 'active'
          ORDER BY lower(b.name), b.id LIMIT CAST($2 AS BIGINT)"
    ));
    Ok(boats.bind(partner).bind(most).all().await?)
}

pub async fn list(
    db: &Db,
    owner: Option<Uuid>,
    query: &SpeedboatsQuery,
) -> Result<Page<SpeedboatRow>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(b.name)",
        "capacity" => "b.capacity",
        "status" => "b.status",
        _ => "b.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(speedboat!(""))
        .found_in("SELECT b.id FROM speedboats b")
        .only("b.deleted_at IS NULL")
        .filter("b.partner_id = ?", owner)
        .filter("b.status = ?", query.status)
        .search(&["b.name", "b.registration_number"], paging.search())
        .page(paging.sort(sort, "b.created_at"), "b.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn insert(
    tx: &mut Tx,
    owner: Uuid,
    boat: SpeedboatChange,
    photos: Patch<Value>,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    let none = || Some(json!([]));
    tx.sql(
        "INSERT INTO speedboats (id, partner_id, name, registration_number, capacity, year_built,
           manufacturer, engine, facilities, description, photos, status, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)",
    )
    .bind(id)
    .bind(owner)
    .bind(boat.name.to_string())
    .bind(boat.registration_number.to_string())
    .bind(boat.capacity)
    .bind(boat.year_built.over::<i32>(None))
    .bind(boat.manufacturer.over::<String>(None))
    .bind(boat.engine.over::<String>(None))
    .bind(boat.facilities.over::<Value>(None).or_else(none))
    .bind(boat.description.over::<String>(None))
    .bind(photos.over::<Value>(None).or_else(none))
    .bind(boat.status.unwrap_or(BoatStatus::Active))
    .bind(now)
    .run()
    .await
    .map_err(taken)?;
    Ok(id)
}

pub async fn update(
    tx: &mut Tx,
    before: &SpeedboatRow,
    change: SpeedboatChange,
    photos: Patch<Value>,
    now: DateTime<Utc>,
) -> Result<()> {
    let before = before.clone();
    let facilities = change.facilities.over(Some(before.facilities));
    tx.sql(
        "UPDATE speedboats SET name = $1, registration_number = $2, capacity = $3,
           year_built = $4, manufacturer = $5, engine = $6, facilities = $7, description = $8,
           photos = $9, status = $10, updated_at = $11
         WHERE id = $12",
    )
    .bind(change.name.to_string())
    .bind(change.registration_number.to_string())
    .bind(change.capacity)
    .bind(change.year_built.over(before.year_built))
    .bind(change.manufacturer.over(before.manufacturer))
    .bind(change.engine.over(before.engine))
    .bind(facilities.unwrap_or(json!([])))
    .bind(change.description.over(before.description))
    .bind(photos.over(Some(before.photos)).unwrap_or(json!([])))
    .bind(change.status.unwrap_or(before.status))
    .bind(now)
    .bind(before.id)
    .run()
    .await
    .map_err(taken)?;
    Ok(())
}

fn taken(failure: Failure) -> Error {
    match failure.is_unique() {
        true => Error::conflict(
            "already_exists",
            "A speedboat with this registration number already exists.",
            "Kapal dengan nomor registrasi ini sudah ada.",
        ),
        false => failure.into(),
    }
}

/// Marks the boat as deleted; it is kept for history.
pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE speedboats SET deleted_at = $1, updated_at = $1 WHERE id = $2")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

#[derive(crate::kernel::db::FromRow)]
pub struct Counts {
    pub total: i64,
    pub active: i64,
    pub maintenance: i64,
    pub inactive: i64,
    pub total_capacity: i64,
}

pub async fn counts(db: &Db, owner: Option<Uuid>) -> Result<Counts> {
    macro_rules! counts {
        ($rest:literal) => {
            concat!(
                "SELECT COUNT(*) AS total,
                   COUNT(CASE WHEN status = 'active' THEN 1 END) AS active,
                   COUNT(CASE WHEN status = 'maintenance' THEN 1 END) AS maintenance,
                   COUNT(CASE WHEN status = 'inactive' THEN 1 END) AS inactive,
                   CAST(COALESCE(SUM(capacity), 0) AS BIGINT) AS total_capacity
                 FROM speedboats WHERE deleted_at IS NULL",
                $rest
            )
        };
    }
    let counts = match owner {
        Some(owner) => db.sql(counts!(" AND partner_id = $1")).bind(owner),
        None => db.sql(counts!("")),
    };
    Ok(counts.one().await?)
}
