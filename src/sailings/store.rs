//! The SQL of sailings.

use chrono::{DateTime, Utc};

use super::{
    forms::SailingsQuery,
    model::{RouteRow, Sailing},
    rules::{Departure, Span},
};
use crate::{
    kernel::{
        db::{Db, Failure, Tx},
        error::{Error, Result},
        http::Page,
        ids::{self, Uuid},
    },
    lines,
};

/// Inserts the sailings of a route. Its line is locked, so that they have its present cutoff.
pub async fn insert(
    tx: &mut Tx,
    route: &RouteRow,
    departures: &[Departure],
) -> Result<(), Failure> {
    let cutoff = lines::lock_cutoff(tx, route.line_id).await?;
    tx.insert_all(
        "INSERT INTO sailings (id, route_id, speedboat_id, partner_id, from_harbour_id,
           to_harbour_id, day, departure_at, arrival_at, duration_minutes, price, capacity,
           seats_taken, chartered, status, line_id, cutoff_minutes)",
        17,
        departures,
        |statement, departure| {
            let duration = (departure.arrival_at - departure.departure_at).num_minutes();
            statement
                .bind(ids::fresh())
                .bind(route.id)
                .bind(route.speedboat_id)
                .bind(route.partner_id)
                .bind(route.from_harbour_id)
                .bind(route.to_harbour_id)
                .bind(departure.day)
                .bind(departure.departure_at)
                .bind(departure.arrival_at)
                .bind(duration as i32)
                .bind(departure.price)
                .bind(route.speedboat_capacity)
                .bind(0_i32)
                .bind(false)
                .bind("open")
                .bind(route.line_id)
                .bind(cutoff)
        },
    )
    .await
}

/// Id and times of a sailing.
#[derive(crate::kernel::db::FromRow)]
pub struct SailingSpan {
    pub id: Uuid,
    pub route_id: Uuid,
    departure_at: DateTime<Utc>,
    arrival_at: DateTime<Utc>,
}

impl SailingSpan {
    pub fn span(&self) -> Span {
        (self.departure_at, self.arrival_at)
    }
}

/// Sailings of a boat that overlap a time span. Sailings of a boat do not overlap each other, so
/// these are the ones that depart within it and the last one before.
pub async fn overlapping(tx: &mut Tx, boat: Uuid, (start, end): Span) -> Result<Vec<SailingSpan>> {
    let spans = tx
        .sql(
            "SELECT id, route_id, departure_at, arrival_at FROM sailings
             WHERE speedboat_id = $1 AND status = 'open' AND departure_at < $3
               AND departure_at >= COALESCE(
                 (SELECT MAX(departure_at) FROM sailings
                  WHERE speedboat_id = $1 AND status = 'open' AND departure_at <= $2), $2)
             ORDER BY departure_at",
        )
        .bind(boat)
        .bind(start)
        .bind(end)
        .all()
        .await?;
    Ok(spans)
}

pub async fn list(
    db: &Db,
    route: Uuid,
    query: &SailingsQuery,
    now: DateTime<Utc>,
) -> Result<Page<Sailing>> {
    let paging = &query.paging;
    let rows = db
        .list(
            "SELECT s.id, s.departure_at, s.arrival_at, s.price, s.capacity, s.seats_taken, s.status,
               r.timezone, r.arrival_timezone
             FROM sailings s JOIN routes r ON r.id = s.route_id",
        )
        .filter("s.route_id = ?", Some(route))
        .filter("s.day >= ?", query.start_date)
        .filter("s.day <= ?", query.end_date)
        .page(
            paging.sort(Some("s.departure_at"), "s.departure_at"),
            "s.id",
            paging.limit(),
            paging.offset(),
        )
        .await?;
    Ok(paging.page(rows).each(|sailing: Sailing| sailing.seen_at(now)))
}

/// Withdraws empty upcoming sailings of a route; 409 if others have bookings.
pub async fn withdraw_by_route(tx: &mut Tx, route: Uuid, now: DateTime<Utc>) -> Result<()> {
    let withdraw = "UPDATE sailings SET status = 'withdrawn'
        WHERE route_id = $1 AND departure_at > $2 AND status = 'open' AND seats_taken = 0";
    let left = "SELECT id FROM sailings
        WHERE route_id = $1 AND departure_at > $2 AND status = 'open' LIMIT 1";
    withdrawn(tx, withdraw, left, route, now).await
}

/// Withdraws empty upcoming sailings of a boat; 409 if others have bookings.
pub async fn withdraw_by_boat(tx: &mut Tx, boat: Uuid, now: DateTime<Utc>) -> Result<()> {
    let withdraw = "UPDATE sailings SET status = 'withdrawn'
        WHERE speedboat_id = $1 AND departure_at > $2 AND status = 'open' AND seats_taken = 0";
    let left = "SELECT id FROM sailings
        WHERE speedboat_id = $1 AND departure_at > $2 AND status = 'open' LIMIT 1";
    withdrawn(tx, withdraw, left, boat, now).await
}

async fn withdrawn(
    tx: &mut Tx,
    withdraw: &'static str,
    left: &'static str,
    of: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(withdraw).bind(of).bind(now).run().await?;
    let booked: Option<(Uuid,)> = tx.sql(left).bind(of).bind(now).maybe().await?;
    booked.map_or(Ok(()), |_| Err(in_use()))
}

/// Sets the capacity of upcoming sailings. The check constraint refuses less than the seats sold,
/// also under concurrent sales.
pub async fn resize(tx: &mut Tx, boat: Uuid, capacity: i32, now: DateTime<Utc>) -> Result<()> {
    let resized = tx
        .sql(
            "UPDATE sailings SET capacity = $1
             WHERE speedboat_id = $2 AND departure_at > $3 AND status = 'open'
               AND capacity <> $1",
        )
        .bind(capacity)
        .bind(boat)
        .bind(now)
        .run()
        .await;
    match resized {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_check() => Err(in_use()),
        Err(failure) => Err(failure.into()),
    }
}

fn in_use() -> Error {
    Error::conflict(
        "in_use",
        "Upcoming sailings have bookings.",
        "Masih ada pemesanan pada jadwal mendatang.",
    )
}
