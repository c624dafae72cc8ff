//! SQL of the search, the most frequent read: the harbours of two names, one index range, then a
//! lookup of boat and partner for each sailing of that day.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;

use super::{forms::OfferSort, model::BookingType, zone::Zone};
use crate::{
    harbours,
    kernel::{
        db::{Db, Json},
        error::Result,
        ids::Uuid,
        money::Rupiah,
    },
    lines::Fare,
};

#[derive(crate::kernel::db::FromRow)]
pub struct OfferRow {
    pub id: Uuid,
    pub speedboat_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub duration_minutes: i32,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub speedboat_name: String,
    pub facilities: Value,
    pub photos: Value,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub fares: Json<Vec<Fare>>,
    from_harbour_id: Uuid,
    to_harbour_id: Uuid,
    total: i64,
    #[row(flatten)]
    closing: Closing,
}

/// When the first sailings of all pages close: those with the service's cutoff, counted from their
/// departure, and those with a cutoff of their line.
#[derive(Clone, Copy, Default, crate::kernel::db::FromRow)]
pub struct Closing {
    pub first_departure_at: Option<DateTime<Utc>>,
    pub first_closes_at: Option<DateTime<Utc>>,
}

pub struct Wanted {
    pub from_key: String,
    pub to_key: String,
    pub day: NaiveDate,
    pub qty: i32,
    pub kind: BookingType,
    /// `None`: all partners.
    pub partner: Option<Uuid>,
    pub now: DateTime<Utc>,
    /// Sailings without a cutoff of their line that depart before are closed for booking.
    pub closed_until: DateTime<Utc>,
    pub sort: OfferSort,
    pub limit: i64,
    pub offset: i64,
}

/// `$5` is the number of seats that must be free, `$6` how many may be taken.
macro_rules! offers {
    ($order:literal) => {
        concat!(
            "SELECT s.id, s.speedboat_id, r.from_name, r.to_name, s.departure_at, s.arrival_at,
               s.duration_minutes, r.timezone, r.arrival_timezone, s.price, s.capacity,
               s.seats_taken, s.from_harbour_id, s.to_harbour_id, b.name AS speedboat_name,
               b.facilities, b.photos, p.id AS partner_id, a.name AS partner_name, l.fares,
               COUNT(*) OVER () AS total,
               MIN(CASE WHEN s.closes_at IS NULL THEN s.departure_at END) OVER ()
                 AS first_departure_at,
               MIN(s.closes_at) OVER () AS first_closes_at
             FROM sailings s
             JOIN routes r ON r.id = s.route_id
             JOIN lines l ON l.id = s.line_id
             JOIN speedboats b ON b.id = s.speedboat_id AND b.status = 'active'
             JOIN partners p ON p.id = s.partner_id
               AND p.status <> 'suspended' AND p.verified_at IS NOT NULL
             JOIN accounts a ON a.id = p.account_id
             WHERE s.from_harbour_id = (SELECT n.harbour_id FROM harbour_names n WHERE n.key = $1)
               AND s.to_harbour_id = (SELECT n.harbour_id FROM harbour_names n WHERE n.key = $2)
               AND s.day = $3 AND s.status = 'open' AND s.departure_at > $9
               AND CASE WHEN s.closes_at IS NULL THEN s.departure_at > $4
                 ELSE s.closes_at > $9 END
               AND s.capacity - s.seats_taken >= $5
               AND s.seats_taken <= $6 AND NOT s.chartered AND s.manifest_closed_at IS NULL
               AND (s.partner_id = $10 OR $10 IS NULL)
             ORDER BY ",
            $order,
            " LIMIT CAST($7 AS BIGINT) OFFSET $8"
        )
    };
}

/// A page of bookable sailings.
pub struct Offers {
    pub rows: Vec<OfferRow>,
    /// Total and closing of all pages.
    pub total: i64,
    pub closing: Closing,
    /// The harbours of departure and of arrival. `None`: there is no harbour of one of the names.
    pub trip: Option<(Uuid, Uuid)>,
}

pub async fn offers(db: &Db, wanted: &Wanted) -> Result<Offers> {
    let rows = page(db, wanted, wanted.limit, wanted.offset).await?;
    let of_all = |row: &OfferRow| {
        let trip = (row.from_harbour_id, row.to_harbour_id);
        (row.total, row.closing, Some(trip))
    };
    let (total, closing, trip) = match rows.first() {
        Some(row) => of_all(row),
        None if wanted.offset == 0 => Default::default(),
        // Past the last page: the first row contains the total.
        None => page(db, wanted, 1, 0).await?.first().map_or_else(Default::default, of_all),
    };
    // Where nothing is found, the harbours are needed for the tags of the response.
    let trip = match trip {
        Some(trip) => Some(trip),
        None => harbours::trip_of(db, &wanted.from_key, &wanted.to_key).await?,
    };
    Ok(Offers { rows, total, closing, trip })
}

async fn page(db: &Db, wanted: &Wanted, limit: i64, offset: i64) -> Result<Vec<OfferRow>> {
    let text = match wanted.sort {
        OfferSort::Departure => offers!("s.departure_at, s.id"),
        OfferSort::Price => offers!("s.price, s.departure_at, s.id"),
        OfferSort::Duration => offers!("s.duration_minutes, s.departure_at, s.id"),
    };
    let at_most_taken = match wanted.kind {
        BookingType::Speedboat => i32::MAX,
        // A charter needs an empty boat.
        BookingType::Charter => 0,
    };
    let rows = db
        .sql(text)
        .bind(wanted.from_key.clone())
        .bind(wanted.to_key.clone())
        .bind(wanted.day)
        .bind(wanted.closed_until)
        .bind(wanted.qty)
        .bind(at_most_taken)
        .bind(limit)
        .bind(offset)
        .bind(wanted.now)
        .bind(wanted.partner)
        .all()
        .await?;
    Ok(rows)
}
