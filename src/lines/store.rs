//! The SQL of lines.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::{
    fares::Fare,
    model::{LineRow, LinesQuery},
};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::Result,
    http::Page,
    ids::{self, Uuid},
};

macro_rules! line {
    ($rest:literal) => {
        concat!(
            "SELECT l.id, l.partner_id, l.from_name, l.to_name, l.timezone, l.resale,
               l.day_ticket, l.names, l.max_party, l.cutoff_minutes, l.fares, l.updated_at
             FROM lines l",
            $rest
        )
    };
}

/// `owner` restricts to one partner; `None` finds all.
const BY_ID: &str = line!(" WHERE l.id = $1 AND l.partner_id = COALESCE($2, l.partner_id)");

pub async fn get(db: &Db, owner: Option<Uuid>, id: Uuid) -> Result<Option<LineRow>> {
    Ok(db.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, owner: Option<Uuid>, id: Uuid) -> Result<Option<LineRow>> {
    Ok(tx.sql(BY_ID).bind(id).bind(owner).maybe().await?)
}

pub async fn list(db: &Db, owner: Option<Uuid>, query: &LinesQuery) -> Result<Page<LineRow>> {
    let paging = &query.paging;
    let rows = db
        .list(line!(""))
        .filter("l.partner_id = ?", owner)
        .filter("l.resale = ?", query.resale)
        .search(&["l.from_name", "l.to_name"], paging.search())
        .page(paging.sort(None, "l.created_at"), "l.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// The line of a route, which is made with its first route. Harbours are pairs of name and key.
pub async fn ensure(
    tx: &mut Tx,
    partner: Uuid,
    (from_name, from_key): (&str, &str),
    (to_name, to_key): (&str, &str),
    timezone: &'static str,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = tx
        .sql(
            "INSERT INTO lines (id, partner_id, from_name, to_name, from_key, to_key, timezone,
               resale, day_ticket, names, max_party, cutoff_minutes, fares, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, FALSE, FALSE, 'lead', 9, NULL, $8, $9, $9)
             ON CONFLICT (partner_id, from_key, to_key, timezone)
               DO UPDATE SET updated_at = lines.updated_at
             RETURNING id",
        )
        .bind(ids::fresh())
        .bind(partner)
        .bind(from_name.to_owned())
        .bind(to_name.to_owned())
        .bind(from_key.to_owned())
        .bind(to_key.to_owned())
        .bind(timezone)
        .bind(json!(Fare::standard()))
        .bind(now)
        .scalar()
        .await?;
    Ok(id)
}

/// Locks the line and reads its cutoff, which new sailings copy.
pub async fn lock_cutoff(tx: &mut Tx, id: Uuid) -> Result<Option<i32>, Failure> {
    let (cutoff,): (Option<i32>,) = tx
        .sql("UPDATE lines SET updated_at = updated_at WHERE id = $1 RETURNING cutoff_minutes")
        .bind(id)
        .one()
        .await?;
    Ok(cutoff)
}

pub async fn update(tx: &mut Tx, line: &LineRow, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE lines SET resale = $1, day_ticket = $2, names = $3, max_party = $4,
           cutoff_minutes = $5, fares = $6, updated_at = $7
         WHERE id = $8",
    )
    .bind(line.resale)
    .bind(line.day_ticket)
    .bind(line.names)
    .bind(line.max_party)
    .bind(line.cutoff_minutes)
    .bind(json!(line.fares.0))
    .bind(now)
    .bind(line.id)
    .run()
    .await?;
    Ok(())
}

/// Copies the cutoff of a line to its upcoming sailings. The line is locked.
pub async fn copy_cutoff(tx: &mut Tx, line: &LineRow, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE sailings SET cutoff_minutes = $1
         WHERE line_id = $2 AND status = 'open' AND departure_at > $3",
    )
    .bind(line.cutoff_minutes)
    .bind(line.id)
    .bind(now)
    .run()
    .await?;
    Ok(())
}
