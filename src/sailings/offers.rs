//! Cache tags of search responses.
//!
//! A response depends on every sailing of its trip, also on those that it omits because they are
//! full: a released seat must become visible. So responses are tagged by trip, and not by the
//! sailings that they contain. A trip is known by its harbours, whatever names were searched for.

use chrono::{DateTime, NaiveDate, Utc};

use super::zone::Zone;
use crate::kernel::{db::Tx, error::Result, http::CacheTag, ids::Uuid};

/// Responses about one direction on one day, for a change of one sailing there.
pub fn trip_tag(from: Uuid, to: Uuid, departure_at: DateTime<Utc>, zone: Zone) -> CacheTag {
    let day = departure_at.with_timezone(&zone.tz()).date_naive();
    tag_of_trip(from, to, day)
}

/// Responses about one direction on any day, for a change that affects several days. Bookings move
/// only within a line, so this covers both sailings of a reschedule, also of a pending one.
pub fn line_tag(from: Uuid, to: Uuid) -> CacheTag {
    tag_of_line(from, to)
}

/// What a search of a trip depends on.
pub(super) fn search_tags(from: Uuid, to: Uuid, day: NaiveDate) -> [CacheTag; 2] {
    [tag_of_trip(from, to, day), tag_of_line(from, to)]
}

/// Of the sailing that a booking is on.
pub async fn trip_tag_of_booking(tx: &mut Tx, booking: Uuid) -> Result<CacheTag> {
    let (from, to, day): (Uuid, Uuid, NaiveDate) = tx
        .sql(
            "SELECT s.from_harbour_id, s.to_harbour_id, s.day FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id WHERE k.id = $1",
        )
        .bind(booking)
        .one()
        .await?;
    Ok(tag_of_trip(from, to, day))
}

/// Of the line that a booking is on.
pub async fn line_tag_of_booking(tx: &mut Tx, booking: Uuid) -> Result<CacheTag> {
    let (from, to): (Uuid, Uuid) = tx
        .sql(
            "SELECT s.from_harbour_id, s.to_harbour_id FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id WHERE k.id = $1",
        )
        .bind(booking)
        .one()
        .await?;
    Ok(tag_of_line(from, to))
}

fn tag_of_trip(from: Uuid, to: Uuid, day: NaiveDate) -> CacheTag {
    CacheTag::new("trip", (from, to, day))
}

fn tag_of_line(from: Uuid, to: Uuid) -> CacheTag {
    CacheTag::new("line", (from, to))
}
