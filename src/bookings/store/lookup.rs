//! The SQL of finding the bookings of an address.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    kernel::{
        address_hash::AddressHash,
        db::{Db, Tx},
        email::Email,
        error::Result,
    },
    sailings::Zone,
};

/// A booking as it is listed in the mail to its address.
#[derive(crate::kernel::db::FromRow)]
pub struct FoundBooking {
    pub code: String,
    pub contact_name: String,
    pub departure_at: DateTime<Utc>,
    pub from_name: String,
    pub to_name: String,
    pub timezone: Zone,
}

/// The bookings of an address that depart after a time, the latest departure first.
pub async fn of_address(
    db: &Db,
    email: &Email,
    since: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<FoundBooking>> {
    let found = db
        .sql(
            "SELECT k.code, k.contact_name, k.departure_at, r.from_name, r.to_name, r.timezone
             FROM bookings k
             JOIN sailings s ON s.id = k.sailing_id
             JOIN routes r ON r.id = s.route_id
             WHERE k.contact_email = $1 AND k.departure_at >= $2 AND k.reseller_id IS NULL
             ORDER BY k.departure_at DESC, k.id LIMIT CAST($3 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(since)
        .bind(limit)
        .long()
        .all()
        .await?;
    Ok(found)
}

const WINDOW: TimeDelta = TimeDelta::hours(1);

/// Counts a request for the bookings of an address; `false` if there were three within the hour. One
/// statement decides, so it holds for all processes.
pub async fn count_lookup(tx: &mut Tx, address: &AddressHash, now: DateTime<Utc>) -> Result<bool> {
    let counted = tx
        .sql(
            "INSERT INTO booking_lookups (address, latest_at) VALUES ($1, $2)
             ON CONFLICT (address) DO UPDATE SET third_at = booking_lookups.second_at,
               second_at = booking_lookups.latest_at, latest_at = $2
             WHERE booking_lookups.third_at IS NULL OR booking_lookups.third_at <= $3",
        )
        .bind(address.text())
        .bind(now)
        .bind(now - WINDOW)
        .run()
        .await?;
    Ok(counted == 1)
}

/// Deletes requests that no longer count.
pub async fn sweep_lookups(db: &Db, now: DateTime<Utc>) -> Result<()> {
    let old = db.sql("DELETE FROM booking_lookups WHERE latest_at <= $1").bind(now - WINDOW);
    old.run().await?;
    Ok(())
}
