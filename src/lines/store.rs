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
            "SELECT l.id, l.partner_id, f.name AS from_name, t.name AS to_name, l.timezone,
               l.resale, l.day_ticket, l.names, l.max_party, l.cutoff_minutes, l.fares,
               l.updated_at
             FROM lines l JOIN harbours f ON f.id = l.from_harbour_id
             JOIN harbours t ON t.id = l.to_harbour_id",
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
        .search(&["f.name", "t.name"], paging.search())
        .page(paging.sort(None, "l.created_at"), "l.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// The line of a route, which is made with its first route.
pub async fn ensure(
    tx: &mut Tx,
    partner: Uuid,
    (from, to): (Uuid, Uuid),
    timezone: &'static str,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = tx
        .sql(
            "INSERT INTO lines (id, partner_id, from_harbour_id, to_harbour_id, timezone, resale,
               day_ticket, names, max_party, cutoff_minutes, fares, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, FALSE, FALSE, 'lead', 9, NULL, $6, $7, $7)
             ON CONFLICT (partner_id, from_harbour_id, to_harbour_id, timezone)
               DO UPDATE SET updated_at = lines.updated_at
             RETURNING id",
        )
        .bind(ids::fresh())
        .bind(partner)
        .bind(from)
        .bind(to)
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

/// Moves the lines of a harbour to another one, which no route connects with it. Where the partner
/// has a line there, the routes and sailings join it, with its fares and its end of sale.
pub async fn merge_harbours(tx: &mut Tx, from: Uuid, into: Uuid) -> Result<()> {
    tx.sql(
        "DELETE FROM lines WHERE (from_harbour_id = $1 AND to_harbour_id = $2)
           OR (from_harbour_id = $2 AND to_harbour_id = $1)",
    )
    .bind(from)
    .bind(into)
    .run()
    .await?;
    let joined: Vec<(Uuid, Uuid, Option<i32>)> = tx
        .sql(
            "SELECT l.id, o.id, o.cutoff_minutes FROM lines l
             JOIN lines o ON o.partner_id = l.partner_id AND o.timezone = l.timezone
               AND o.from_harbour_id
                 = CASE WHEN l.from_harbour_id = $1 THEN $2 ELSE l.from_harbour_id END
               AND o.to_harbour_id
                 = CASE WHEN l.to_harbour_id = $1 THEN $2 ELSE l.to_harbour_id END
             WHERE l.from_harbour_id = $1 OR l.to_harbour_id = $1 ORDER BY l.id",
        )
        .bind(from)
        .bind(into)
        .all()
        .await?;
    for (line, other, cutoff) in joined {
        tx.sql("UPDATE routes SET line_id = $1 WHERE line_id = $2")
            .bind(other)
            .bind(line)
            .run()
            .await?;
        tx.sql("UPDATE sailings SET line_id = $1, cutoff_minutes = $2 WHERE line_id = $3")
            .bind(other)
            .bind(cutoff)
            .bind(line)
            .run()
            .await?;
        tx.sql("DELETE FROM lines WHERE id = $1").bind(line).run().await?;
    }
    tx.sql(
        "UPDATE lines SET
           from_harbour_id = CASE WHEN from_harbour_id = $1 THEN $2 ELSE from_harbour_id END,
           to_harbour_id = CASE WHEN to_harbour_id = $1 THEN $2 ELSE to_harbour_id END
         WHERE from_harbour_id = $1 OR to_harbour_id = $1",
    )
    .bind(from)
    .bind(into)
    .run()
    .await?;
    Ok(())
}

/// Removes the lines of a harbour that no route uses.
pub async fn delete_of_harbour(tx: &mut Tx, harbour: Uuid) -> Result<()> {
    tx.sql("DELETE FROM lines WHERE from_harbour_id = $1 OR to_harbour_id = $1")
        .bind(harbour)
        .run()
        .await?;
    Ok(())
}
