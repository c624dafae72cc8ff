//! A sailing with boat, partner and route, for check-in and disruptions.

use axum::{extract::FromRequestParts, http::request::Parts};
use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{model::SailingStatus, zone::Zone};
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        db::{Db, Tx},
        error::{Error, Result},
        http::Path,
        ids::Uuid,
        money::Rupiah,
    },
};

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct SailingDetail {
    pub id: Uuid,
    pub route_id: Uuid,
    pub mitra_id: Uuid,
    pub speedboat_id: Uuid,
    #[serde(rename = "from")]
    pub from_name: String,
    #[serde(rename = "to")]
    pub to_name: String,
    pub timezone: Zone,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub status: SailingStatus,
    /// Why the sailing was cancelled or moved.
    pub reason: Option<String>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub manifest_closed_at: Option<DateTime<Utc>>,
    #[serde(skip)]
    pub day: NaiveDate,
    #[serde(skip)]
    pub speedboat_name: String,
    #[serde(skip)]
    pub registration_number: String,
    #[serde(skip)]
    pub mitra_name: String,
}

impl SailingDetail {
    /// The sailing with its status at a time.
    pub fn seen_at(self, now: DateTime<Utc>) -> Self {
        Self { status: self.status.seen_at(self.departure_at, now), ..self }
    }
}

macro_rules! sailing {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.route_id, s.partner_id AS mitra_id, s.speedboat_id, r.from_name,
               r.to_name, r.timezone, s.departure_at, s.arrival_at, s.price, s.capacity,
               s.seats_taken, s.status, s.reason, s.cancelled_at, s.manifest_closed_at, s.day,
               b.name AS speedboat_name, b.registration_number, a.name AS mitra_name
             FROM sailings s
             JOIN routes r ON r.id = s.route_id
             JOIN speedboats b ON b.id = s.speedboat_id
             JOIN partners p ON p.id = s.partner_id
             JOIN accounts a ON a.id = p.account_id
             WHERE s.id = $1",
            $rest
        )
    };
}

/// `owner` restricts to one partner; `None` finds all.
pub async fn get(db: &Db, owner: Option<Uuid>, id: Uuid) -> Result<Option<SailingDetail>> {
    let sailing = db.sql(sailing!(" AND ($2 IS NULL OR s.partner_id = $2)")).bind(id).bind(owner);
    Ok(sailing.maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<SailingDetail> {
    Ok(tx.sql(sailing!("")).bind(id).one().await?)
}

/// The sailing of the path, if the caller may manage it.
pub struct PathSailing(pub SailingDetail);

impl FromRequestParts<App> for PathSailing {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Ok(Self(get(&app.db, caller.partner_filter(None)?, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathSailing {}
