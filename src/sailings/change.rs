//! SQL of cancelling and changing one sailing. Its bookings are handled by `disruptions`.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::json;

use super::{detail::SailingDetail, http::conflict, model::SailingStatus, rules::Span, store};
use crate::kernel::{
    db::Tx,
    error::{Conflict, Error, Result},
    ids::Uuid,
    lang::text,
    money::Rupiah,
};

/// Cancels a sailing that has not arrived; `false` if it is no longer open.
pub async fn cancel(tx: &mut Tx, id: Uuid, reason: &str, now: DateTime<Utc>) -> Result<bool> {
    let cancelled = tx
        .sql(
            "UPDATE sailings SET status = 'cancelled', cancelled_at = $1, reason = $2
             WHERE id = $3 AND status = 'open' AND arrival_at > $1",
        )
        .bind(now)
        .bind(reason.to_owned())
        .bind(id)
        .run()
        .await?;
    Ok(cancelled == 1)
}

/// New day and times of a sailing.
pub struct NewTimes {
    pub day: NaiveDate,
    pub span: Span,
}

/// Another boat of the same partner.
pub struct NewBoat {
    pub id: Uuid,
    pub capacity: i32,
}

/// What changes; `None` stays.
#[derive(Default)]
pub struct SailingChange {
    pub times: Option<NewTimes>,
    pub boat: Option<NewBoat>,
    pub price: Option<Rupiah>,
}

impl SailingChange {
    pub fn is_empty(&self) -> bool {
        self.times.is_none() && self.boat.is_none() && self.price.is_none()
    }

    /// Whether it concerns those who have booked already.
    pub fn moves(&self) -> bool {
        self.times.is_some() || self.boat.is_some()
    }
}

/// Locks the sailing's row. Lock order: boat, route, bookings, sailings.
pub async fn lock_row(tx: &mut Tx, id: Uuid) -> Result<()> {
    let lock = tx.sql("UPDATE sailings SET seats_taken = seats_taken WHERE id = $1");
    lock.bind(id).run().await?;
    Ok(())
}

/// 409 if a sailing can no longer be changed. One that should have departed can still be given
/// another departure until it should have arrived.
pub fn ensure_changeable(
    sailing: &SailingDetail,
    is_retimed: bool,
    now: DateTime<Utc>,
) -> Result<()> {
    let over = if is_retimed { sailing.arrival_at } else { sailing.departure_at };
    match sailing.status {
        SailingStatus::Withdrawn => Err(Error::conflict(
            "withdrawn",
            "This sailing has been withdrawn.",
            "Pelayaran ini telah ditarik.",
        )),
        SailingStatus::Cancelled => Err(Error::conflict(
            "cancelled",
            "This sailing has been cancelled.",
            "Pelayaran ini telah dibatalkan.",
        )),
        _ if over <= now => Err(departed()),
        _ if sailing.manifest_closed_at.is_some() => Err(Error::conflict(
            "manifest_closed",
            "The manifest of this sailing is closed.",
            "Manifes pelayaran ini sudah ditutup.",
        )),
        SailingStatus::Open | SailingStatus::Departed => Ok(()),
    }
}

pub fn departed() -> Error {
    Error::conflict("departed", "This sailing has departed.", "Pelayaran ini sudah berangkat.")
}

/// Changes a sailing whose row is locked; so are both boats if it moves. 409 if the boat has another
/// sailing at that time or too few seats.
pub async fn change(
    tx: &mut Tx,
    sailing: &SailingDetail,
    change: &SailingChange,
    reason: Option<&str>,
    now: DateTime<Utc>,
) -> Result<()> {
    let was = (sailing.departure_at, sailing.arrival_at);
    let (day, span) = change.times.as_ref().map_or((sailing.day, was), |new| (new.day, new.span));
    let boat = change.boat.as_ref().map_or(sailing.speedboat_id, |boat| boat.id);
    let capacity = change.boat.as_ref().map_or(sailing.capacity, |boat| boat.capacity);
    if sailing.seats_taken > capacity {
        return Err(too_small(sailing.seats_taken, capacity));
    }
    let (departure_at, arrival_at) = span;
    if change.moves() {
        let taken = store::overlapping(tx, boat, span).await?;
        let overlaps = |(start, end): Span| start < arrival_at && departure_at < end;
        let there = taken.iter().find(|there| there.id != sailing.id && overlaps(there.span()));
        if let Some(there) = there {
            return Err(conflict(Some((span, there.span(), Some(there)))));
        }
    }
    let reason = reason.filter(|_| change.moves()).or(sailing.reason.as_deref());
    tx.sql(
        "UPDATE sailings SET day = $1, departure_at = $2, arrival_at = $3, duration_minutes = $4,
           speedboat_id = $5, capacity = $6, price = $7, reason = $8,
           -- A late sailing can get a departure in the future.
           tallied = (tallied AND $2 <= $10)
         WHERE id = $9",
    )
    .bind(day)
    .bind(departure_at)
    .bind(arrival_at)
    .bind((arrival_at - departure_at).num_minutes() as i32)
    .bind(boat)
    .bind(capacity)
    .bind(change.price.unwrap_or(sailing.price))
    .bind(reason.map(str::to_owned))
    .bind(sailing.id)
    .bind(now)
    .run()
    .await
    .map_err(|failure| match failure {
        f if f.is_exclusion() => conflict(None),
        f => f.into(),
    })?;
    Ok(())
}

fn too_small(seats_taken: i32, capacity: i32) -> Error {
    Error::Conflict(Box::new(Conflict {
        word: "in_use",
        message: text(
            "The boat has fewer seats than are sold.",
            "Jumlah kursi kapal kurang dari yang sudah terjual.",
        ),
        data: Some(json!({ "seats_taken": seats_taken, "capacity": capacity })),
    }))
}
