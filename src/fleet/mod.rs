//! Speedboats.
//!
//! A boat never changes its partner. Registration numbers are unique among boats that are not
//! deleted. A deleted boat is kept for the history of its sailings.
//!
//! `sailings` handles the effect of changes on sailings.

mod http;
mod model;
mod store;

use crate::{
    app::App,
    kernel::{db::Db, error::Result, ids::Uuid},
};

pub use http::{
    PathSpeedboat, boat_in_service, create_speedboat, get_catalog_speedboat, get_speedboat,
    list_own_speedboats, list_speedboats, photos, record, to_response,
};
pub use model::{BoatStatus, Owner, Photo, Scope, Speedboat, SpeedboatChange, SpeedboatRow};
pub use store::{Counts, counts, delete, get_in, lock_row, lock_rows, update};

/// The boats of a partner that customers may see.
pub async fn in_service(app: &App, db: &Db, partner: Uuid, most: i64) -> Result<Vec<Speedboat>> {
    let rows = store::in_service(db, partner, most).await?;
    Ok(rows.into_iter().map(|row| to_response(app, row)).collect())
}
