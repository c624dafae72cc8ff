//! Routes, the sailings they become, and the search over them.
//!
//! - A route is a plan: it is a draft until it is published, and then one dated sailing for each
//!   day and time. Seats are sold on sailings alone.
//! - A boat is never in two places: the database refuses overlapping sailings of one boat, and
//!   whoever changes a boat's calendar holds the boat's row, so that a clash can be named.
//! - `seats_taken` never exceeds `capacity`; the table itself sees to it.
//! - Whether a sailing is offered is decided when it is looked for: boat and partner are asked
//!   then, so that nothing has to be rewritten when they change.
//! - Rows are taken in one order: boat, route, sailings.

mod detail;
mod forms;
mod harbour;
mod http;
mod model;
pub mod offers;
mod routes;
mod rules;
mod search;
mod shift;
mod store;
mod view;
mod zone;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid},
};

pub use http::{
    create_route, delete_route, delete_speedboat, list_locations, list_routes, list_sailings,
    publish_route, publish_route_by_post, search_sailings, speedboat_summary, update_route,
    update_speedboat,
};

pub use detail::{PathSailing, SailingDetail, get as sailing, get_in as sailing_in};
pub use forms::LONGEST as LONGEST_ROUTE;
pub use harbour::key as harbour_key;
pub use model::{BookingType, SailingStatus, TimeOfDay};
pub use rules::span;
pub use shift::{NewTimes, cancel, shift};
pub use zone::Zone;

/// What a partner has published and is still to sail.
pub struct Published {
    pub active_routes: i64,
    pub upcoming_sailings: i64,
}

pub async fn published(app: &App, partner: Uuid) -> Result<Published> {
    let now = app.clock.now();
    let today = now.with_timezone(&app.config.timezone).date_naive();
    Ok(Published {
        active_routes: routes::running(&app.db, partner, today).await?,
        upcoming_sailings: store::upcoming(&app.db, Some(partner), now).await?,
    })
}
