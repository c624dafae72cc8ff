//! Cache tags of search responses.
//!
//! A response depends on every sailing of its trip, also on those that it omits because they are
//! full: a released seat must become visible. So responses are tagged by trip, and not by the
//! sailings that they contain.

use chrono::{DateTime, NaiveDate, Utc};

use super::{harbour, zone::Zone};
use crate::kernel::{db::Tx, error::Result, http::CacheTag, ids::Uuid};

/// Responses about one direction on one day, for a change of one sailing there.
pub fn trip_tag(from: &str, to: &str, departure_at: DateTime<Utc>, zone: Zone) -> CacheTag {
    let day = departure_at.with_timezone(&zone.tz()).date_naive();
    tag_of_trip(&harbour::key(from), &harbour::key(to), day)
}

/// Responses about one direction on any day, for a change that affects several days. Bookings move
/// only within a line, so this covers both sailings of a reschedule, also of a pending one.
pub fn line_tag(from: &str, to: &str) -> CacheTag {
    tag_of_line(&harbour::key(from), &harbour::key(to))
}

/// What a search of a trip depends on.
pub(super) fn search_tags(from_key: &str, to_key: &str, day: NaiveDate) -> [CacheTag; 2] {
    [tag_of_trip(from_key, to_key, day), tag_of_line(from_key, to_key)]
}

/// Of the sailing that a booking is on.
pub async fn trip_tag_of_booking(tx: &mut Tx, booking: Uuid) -> Result<CacheTag> {
    let (from_key, to_key, day): (String, String, NaiveDate) = tx
        .sql(
            "SELECT s.from_key, s.to_key, s.day FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id WHERE k.id = $1",
        )
        .bind(booking)
        .one()
        .await?;
    Ok(tag_of_trip(&from_key, &to_key, day))
}

/// Of the line that a booking is on.
pub async fn line_tag_of_booking(tx: &mut Tx, booking: Uuid) -> Result<CacheTag> {
    let (from_key, to_key): (String, String) = tx
        .sql(
            "SELECT s.from_key, s.to_key FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id WHERE k.id = $1",
        )
        .bind(booking)
        .one()
        .await?;
    Ok(tag_of_line(&from_key, &to_key))
}

fn tag_of_trip(from_key: &str, to_key: &str, day: NaiveDate) -> CacheTag {
    CacheTag::new("trip", (from_key, to_key, day))
}

fn tag_of_line(from_key: &str, to_key: &str) -> CacheTag {
    CacheTag::new("line", (from_key, to_key))
}
