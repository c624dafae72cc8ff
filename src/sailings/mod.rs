//! Routes, their dated sailings, and the search.
//!
//! - A route is a draft until it is published; publishing creates one sailing per day and time.
//!   Seats are sold on sailings.
//! - The database refuses overlapping sailings of one boat. Changes of a boat's schedule also lock
//!   the boat's row, so that the response can name the conflict.
//! - `seats_taken` never exceeds `capacity`; a check constraint enforces it.
//! - Search joins boat and partner, so nothing has to be updated when their status changes.
//! - A sailing has the harbours of its route; search finds them by any of their names.
//! - Times of arrival are local to the harbour of arrival.
//! - Lock order: boat, harbours, route, bookings, sailings.

pub mod bulk;
mod change;
mod days;
mod detail;
mod forms;
mod http;
mod model;
pub mod offers;
mod routes;
mod rules;
mod search;
mod store;
mod view;
mod zone;

use crate::{
    app::App,
    kernel::{db::Db, error::Result, ids::Uuid},
};

pub use http::{
    PathRoute, create_route, delete_route, delete_speedboat, extend_route, get_route,
    list_locations, list_routes, list_sailings, publish_route, publish_route_by_post,
    search_sailings, speedboat_summary, update_route, update_speedboat,
};

pub use change::{
    NewBoat, NewTimes, SailingChange, cancel, change, departed, ensure_changeable, lock_row,
};
pub use days::{
    Departures, departures, rebuild as rebuild_days, roll_up as roll_up_days,
    roll_up_some as roll_up_some_days,
};
pub use detail::{
    PathSailing, SailingDetail, earliest_departure, get as sailing, get_all, get_in as sailing_in,
    latest_departure, list as sailings, list_ids,
};
pub use forms::{LONGEST as LONGEST_ROUTE, RouteTimesQuery, period_fault};
pub use model::{BookingType, SailingStatus, TimeOfDay, Weekday};
pub use routes::lock_row as lock_route_row;
pub use rules::moved_span;
pub use search::{SELECT_TRIP, Trips};
pub use zone::Zone;

/// Between which harbours a partner sails.
pub async fn lines_of(app: &App, db: &Db, partner: Uuid) -> Result<Vec<(String, String)>> {
    routes::lines_of(db, partner, http::first_day(app.clock.now())).await
}

/// Counts of a partner's active routes and upcoming sailings.
pub struct Published {
    pub active_routes: i64,
    pub upcoming_sailings: i64,
}

pub async fn published(app: &App, partner: Uuid) -> Result<Published> {
    let now = app.clock.now();
    let today = now.with_timezone(&app.config.timezone).date_naive();
    Ok(Published {
        active_routes: routes::running(&app.db, partner, today).await?,
        upcoming_sailings: days::upcoming(&app.db, Some(partner), now).await?,
    })
}
