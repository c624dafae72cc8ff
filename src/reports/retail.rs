//! What a partner sees of the sales of resellers: the retail price.
//!
//! The stored figures count what came in. For a booking of a reseller that is its net price, from which
//! a partner could work out the margin. So the figures of a partner add the surcharge: what travellers
//! pay beyond it. It is computed from the partner's resold bookings of the window.

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;

use super::{
    rules::Window,
    store::{Daily, RouteSales, moments},
};
use crate::{
    bookings::{self, FareLine, Price, TaxAmount},
    kernel::{
        db::{Db, Json},
        error::Result,
        ids::Uuid,
        money::Rupiah,
    },
};

/// A booking of a reseller is confirmed within hours of its reservation.
const LONGEST_HOLD: Days = Days::new(1);

/// What travellers paid beyond what came in.
#[derive(Clone, Copy, Debug)]
pub struct Surcharge {
    pub day: NaiveDate,
    /// The route that the booking was sold for.
    pub route_id: Uuid,
    pub amount: Rupiah,
}

#[derive(crate::kernel::db::FromRow)]
struct Sold {
    at: DateTime<Utc>,
    route_id: Uuid,
    fare_lines: Json<Vec<FareLine>>,
    taxes: Json<Vec<TaxAmount>>,
    /// The price of the sale, if the booking was moved since.
    was: Option<Json<Price>>,
}

#[derive(crate::kernel::db::FromRow)]
struct Moved {
    at: DateTime<Utc>,
    route_id: Uuid,
    /// What the reseller paid for the move, with its fee; negative: what it got back.
    difference: Rupiah,
    fee: Rupiah,
    was: Json<Price>,
    becomes: Json<Price>,
}

/// The route that the booking `k`, now on the sailing `s`, was sold for.
macro_rules! sold_route {
    () => {
        "COALESCE((SELECT f.route_id FROM reschedules m JOIN sailings f ON f.id = m.from_sailing_id
           WHERE m.booking_id = k.id AND m.status = 'done' ORDER BY m.done_at, m.id LIMIT 1),
           s.route_id) AS route_id"
    };
}

/// The surcharges of a partner. A move to a dearer sailing counts on its day, like the paid difference.
pub async fn surcharges(
    db: &Db,
    partner: Uuid,
    window: Window,
    zone: Tz,
) -> Result<Vec<Surcharge>> {
    let (from, until) = moments(window, zone);
    let sold: Vec<Sold> = db
        .sql(concat!(
            "SELECT k.paid_at AS at, k.fare_lines, k.taxes,
               (SELECT m.was FROM reschedules m WHERE m.booking_id = k.id AND m.status = 'done'
                ORDER BY m.done_at, m.id LIMIT 1) AS was, ",
            sold_route!(),
            " FROM bookings k JOIN sailings s ON s.id = k.sailing_id
             WHERE k.partner_id = $1 AND k.channel = 'reseller' AND k.created_at >= $2
               AND k.created_at < $4 AND k.paid_at >= $3 AND k.paid_at < $4"
        ))
        .bind(partner)
        .bind(from - LONGEST_HOLD)
        .bind(from)
        .bind(until)
        .long()
        .all()
        .await?;
    // `CROSS JOIN` makes SQLite begin with the reschedules of the window, which are few.
    let moved: Vec<Moved> = db
        .sql(concat!(
            "SELECT r.done_at AS at, r.difference, r.fee, r.was, r.becomes, ",
            sold_route!(),
            " FROM reschedules r
             CROSS JOIN bookings k
             JOIN sailings s ON s.id = k.sailing_id
             WHERE r.status = 'done' AND r.done_at >= $2 AND r.done_at < $3
               AND k.id = r.booking_id AND k.partner_id = $1 AND k.channel = 'reseller'"
        ))
        .bind(partner)
        .bind(from)
        .bind(until)
        .long()
        .all()
        .await?;
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
    let of_sale = |sale: &Sold| Surcharge {
        day: day(sale.at),
        route_id: sale.route_id,
        amount: match &sale.was {
            Some(was) => was.surcharge(),
            None => bookings::surcharge(&sale.fare_lines, &sale.taxes),
        },
    };
    let of_move = |moved: &Moved| Surcharge {
        day: day(moved.at),
        route_id: moved.route_id,
        amount: surcharge_of_move(
            moved.difference,
            bookings::change_of_surcharge(&moved.was, &moved.becomes, moved.fee),
        ),
    };
    Ok(sold.iter().map(of_sale).chain(moved.iter().map(of_move)).collect())
}

/// What a move adds to the paid difference if its prices are those of travellers. Only a difference
/// that is paid counts as a sale; one that is given back is a refund.
fn surcharge_of_move(difference: Rupiah, change: Rupiah) -> Rupiah {
    (difference + change).max(Rupiah::ZERO) - difference.max(Rupiah::ZERO)
}

/// Adds the surcharges to the days of a partner.
pub fn add_surcharges(daily: &mut Daily, surcharges: &[Surcharge]) {
    for Surcharge { day, amount, .. } in surcharges {
        daily.entry(*day).or_default().gross += amount.0;
    }
}

/// The best routes of a partner, of all of its routes in the window.
pub fn best_at_retail(
    mut routes: Vec<RouteSales>,
    surcharges: &[Surcharge],
    window: Window,
    limit: usize,
) -> Vec<RouteSales> {
    let mut of_routes: HashMap<Uuid, i64> = HashMap::new();
    for sold in surcharges.iter().filter(|sold| window.contains(sold.day)) {
        *of_routes.entry(sold.route_id).or_default() += sold.amount.0;
    }
    for route in &mut routes {
        route.gross += of_routes.get(&route.route_id).copied().unwrap_or_default();
    }
    routes.sort_by_key(|route| std::cmp::Reverse(route.gross));
    routes.truncate(limit);
    routes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_counts_what_a_traveller_would_have_paid_for_it() {
        for (difference, change, amount) in [
            (10_000, 500, 500),
            // The net price is agreed and stays, while the fare rises.
            (0, 20_000, 20_000),
            (-5_000, 8_000, 3_000),
            // The net price rises more than the fare.
            (10_000, -15_000, -10_000),
            (-5_000, 2_000, 0),
        ] {
            assert_eq!(surcharge_of_move(Rupiah(difference), Rupiah(change)), Rupiah(amount));
        }
    }
}
