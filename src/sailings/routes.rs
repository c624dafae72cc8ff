//! The SQL of routes.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::json;

use super::{
    forms::{RouteForm, RoutesQuery},
    model::{RouteRow, RouteTime},
    zone::Zone,
};
use crate::{
    harbours::Ends,
    kernel::{
        db::{Db, Json, Tx},
        error::Result,
        http::Page,
        ids::{self, Uuid},
    },
    lines,
};

macro_rules! route {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.partner_id, r.speedboat_id, r.line_id, b.name AS speedboat_name,
               b.capacity AS speedboat_capacity, r.from_name, r.to_name, r.from_harbour_id,
               r.to_harbour_id, r.schedule_type, r.start_date, r.end_date, r.price, r.timezone,
               r.arrival_timezone, r.times, r.status, r.published_at, r.created_at
             FROM routes r JOIN speedboats b ON b.id = r.speedboat_id",
            $rest
        )
    };
}

/// `owner` restricts to one partner; `None` finds all.
const BY_ID: &str = route!(" WHERE r.id = $1 AND r.partner_id = COALESCE($2, r.partner_id)");

pub async fn get(db: &Db, owner: Option<Uuid>, id: Uuid) -> Result<Option<RouteRow>> {
    Ok(db.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, owner: Option<Uuid>, id: Uuid) -> Result<Option<RouteRow>> {
    Ok(tx.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

/// Locks the route's row. Lock order: boat, harbours, route, sailings.
pub async fn lock_row(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE routes SET updated_at = updated_at WHERE id = $1").bind(id).run().await?;
    Ok(())
}

pub async fn list(db: &Db, owner: Option<Uuid>, query: &RoutesQuery) -> Result<Page<RouteRow>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "start_date" => "r.start_date",
        "price" => "r.price",
        _ => "r.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(route!(""))
        .found_in("SELECT r.id FROM routes r")
        .filter("r.partner_id = ?", owner)
        .filter("r.speedboat_id = ?", query.speedboat_id)
        .filter("r.status = ?", query.status)
        .search(&["r.from_name", "r.to_name"], paging.search())
        .page(paging.sort(sort, "r.created_at"), "r.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Values of a route to be stored.
pub struct Stored<'a> {
    pub owner: Uuid,
    pub form: &'a RouteForm,
    pub times: &'a [RouteTime],
    pub ends: &'a Ends,
}

/// The line that the route belongs to.
async fn line_of(tx: &mut Tx, route: &Stored<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let Stored { owner, ends, .. } = route;
    lines::ensure(tx, *owner, (ends.from, ends.to), ends.timezone.as_str(), now).await
}

pub async fn insert(tx: &mut Tx, route: Stored<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    let line = line_of(tx, &route, now).await?;
    let Stored { owner, form, times, ends } = route;
    tx.sql(
        "INSERT INTO routes (id, partner_id, speedboat_id, from_name, to_name, from_harbour_id,
           to_harbour_id, schedule_type, start_date, end_date, price, timezone, arrival_timezone,
           times, status, created_at, updated_at, line_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'draft', $15, $15,
           $16)",
    )
    .bind(id)
    .bind(owner)
    .bind(form.speedboat_id)
    .bind(form.from.as_str().to_owned())
    .bind(form.to.as_str().to_owned())
    .bind(ends.from)
    .bind(ends.to)
    .bind(form.schedule_type)
    .bind(form.start_date)
    .bind(form.end_date)
    .bind(form.price)
    .bind(ends.timezone)
    .bind(ends.arrival_timezone)
    .bind(json!(times))
    .bind(now)
    .bind(line)
    .run()
    .await?;
    Ok(id)
}

/// Updates a draft; `false` if it is no longer a draft.
pub async fn change(tx: &mut Tx, id: Uuid, route: Stored<'_>, now: DateTime<Utc>) -> Result<bool> {
    let line = line_of(tx, &route, now).await?;
    let Stored { owner, form, times, ends } = route;
    let changed = tx
        .sql(
            "UPDATE routes SET speedboat_id = $1, from_name = $2, to_name = $3,
               from_harbour_id = $4, to_harbour_id = $5, schedule_type = $6, start_date = $7,
               end_date = $8, price = $9, timezone = $10, arrival_timezone = $11, times = $12,
               updated_at = $13, line_id = $16
             WHERE id = $14 AND partner_id = $15 AND status = 'draft'",
        )
        .bind(form.speedboat_id)
        .bind(form.from.as_str().to_owned())
        .bind(form.to.as_str().to_owned())
        .bind(ends.from)
        .bind(ends.to)
        .bind(form.schedule_type)
        .bind(form.start_date)
        .bind(form.end_date)
        .bind(form.price)
        .bind(ends.timezone)
        .bind(ends.arrival_timezone)
        .bind(json!(times))
        .bind(now)
        .bind(id)
        .bind(owner)
        .bind(line)
        .run()
        .await?;
    Ok(changed == 1)
}

/// Publishes a draft; `false` if it is no longer a draft.
pub async fn publish(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let published = tx
        .sql(
            "UPDATE routes SET status = 'published', published_at = $1, updated_at = $1
             WHERE id = $2 AND status = 'draft'",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(published == 1)
}

/// Moves the last day of a published route, which has this boat from then on.
pub async fn extend(
    tx: &mut Tx,
    id: Uuid,
    end: NaiveDate,
    boat: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE routes SET end_date = $1, updated_at = $2, speedboat_id = $4
         WHERE id = $3 AND status = 'published' AND end_date < $1",
    )
    .bind(end)
    .bind(now)
    .bind(id)
    .bind(boat)
    .run()
    .await?;
    Ok(())
}

/// Deletes a draft.
pub async fn delete_draft(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let deleted =
        tx.sql("DELETE FROM routes WHERE id = $1 AND status = 'draft'").bind(id).run().await?;
    Ok(deleted == 1)
}

pub async fn archive(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let archived = tx
        .sql(
            "UPDATE routes SET status = 'archived', updated_at = $1
             WHERE id = $2 AND status = 'published'",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(archived == 1)
}

/// Archives the routes of a boat, except those whose upcoming sailings other boats have taken over.
pub async fn archive_all(tx: &mut Tx, boat: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE routes SET status = 'archived', updated_at = $1
         WHERE speedboat_id = $2 AND status <> 'archived'
           AND NOT EXISTS (SELECT 1 FROM sailings s WHERE s.route_id = routes.id
             AND s.speedboat_id <> $2 AND s.status = 'open' AND s.departure_at > $1)",
    )
    .bind(now)
    .bind(boat)
    .run()
    .await?;
    Ok(())
}

/// Number of a partner's published routes that have not ended.
pub async fn running(db: &Db, partner: Uuid, today: NaiveDate) -> Result<i64> {
    let running = db
        .sql(
            "SELECT COUNT(*) FROM routes
             WHERE partner_id = $1 AND status = 'published' AND end_date >= $2",
        )
        .bind(partner)
        .bind(today)
        .scalar()
        .await?;
    Ok(running)
}

/// The most lines that a partner's page lists.
const MOST_LINES: i64 = 100;

/// Between which harbours a partner sails: its published routes that have not ended.
pub async fn lines_of(db: &Db, partner: Uuid, today: NaiveDate) -> Result<Vec<(String, String)>> {
    let lines = db
        .sql(
            "SELECT f.name, t.name FROM routes r
             JOIN harbours f ON f.id = r.from_harbour_id
             JOIN harbours t ON t.id = r.to_harbour_id
             WHERE r.partner_id = $1 AND r.status = 'published' AND r.end_date >= $2
             GROUP BY f.id, f.name, t.id, t.name
             ORDER BY lower(f.name), lower(t.name), f.id, t.id LIMIT CAST($3 AS BIGINT)",
        )
        .bind(partner)
        .bind(today)
        .bind(MOST_LINES)
        .all()
        .await?;
    Ok(lines)
}

#[derive(crate::kernel::db::FromRow)]
pub struct Line {
    pub from_id: Uuid,
    pub from_name: String,
    pub aliases: Json<Vec<String>>,
    pub city: Option<String>,
    pub province: Option<String>,
    pub timezone: Zone,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub to_name: String,
}

/// Harbours that published routes connect that have not ended, with active boats and partners. While
/// the boat of a route is out of service or deleted, others may sail in its place.
pub async fn lines(db: &Db, today: NaiveDate, now: DateTime<Utc>) -> Result<Vec<Line>> {
    let lines = db
        .sql(
            "SELECT f.id AS from_id, f.name AS from_name, f.aliases, f.city, f.province,
               f.timezone, f.latitude, f.longitude, t.name AS to_name
             FROM (SELECT DISTINCT r.from_harbour_id, r.to_harbour_id
                FROM routes r
                JOIN speedboats b ON b.id = r.speedboat_id
                JOIN partners p ON p.id = r.partner_id
                  AND p.status <> 'suspended' AND p.verified_at IS NOT NULL
                WHERE r.status = 'published' AND r.end_date >= $1
                  AND ((b.status = 'active' AND b.deleted_at IS NULL) OR EXISTS (SELECT 1 FROM sailings s
                    JOIN speedboats o ON o.id = s.speedboat_id AND o.status = 'active'
                    WHERE s.route_id = r.id AND s.status = 'open' AND s.departure_at > $2))) c
             JOIN harbours f ON f.id = c.from_harbour_id
             JOIN harbours t ON t.id = c.to_harbour_id
             ORDER BY lower(f.name), f.id, lower(t.name), t.id",
        )
        .bind(today)
        .bind(now)
        .all()
        .await?;
    Ok(lines)
}
