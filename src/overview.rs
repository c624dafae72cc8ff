//! Overview of one partner, with figures of all domains.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    bookings::{self, Booking},
    kernel::{error::Result, http::Reply, money::Rupiah},
    ledger,
    partners::{Partner, PathPartner},
    reports, sailings, settlements,
};

#[derive(Serialize, JsonSchema)]
pub struct PartnerOverview {
    pub mitra: Partner,
    pub fleet: FleetFigures,
    pub bookings: BookingFigures,
    pub finance: FinanceFigures,
    pub recent_bookings: Vec<Booking>,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct FleetFigures {
    pub speedboats: i64,
    pub active_routes: i64,
    pub upcoming_sailings: i64,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct BookingFigures {
    pub total: i64,
    pub paid: i64,
    pub completed: i64,
    pub cancelled: i64,
    pub passengers: i64,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct FinanceFigures {
    pub gross: Rupiah,
    pub commission: Rupiah,
    /// What the partner has earned: gross less commission and its tax of journeys that were sailed
    /// and of money that was kept.
    pub net: Rupiah,
    /// What of it was not paid out; negative if the partner owes.
    pub unsettled: Rupiah,
    pub settled: Rupiah,
}

pub async fn partner_overview(
    State(app): State<App>,
    PathPartner(mitra): PathPartner,
) -> Result<Reply<PartnerOverview>> {
    let published = sailings::published(&app, mitra.id).await?;
    let fleet = FleetFigures {
        speedboats: mitra.speedboat_count,
        active_routes: published.active_routes,
        upcoming_sailings: published.upcoming_sailings,
    };
    reports::are_made(&app, &app.db).await?;
    let sold = reports::standings(&app.db, Some(mitra.id)).await?;
    let bookings = BookingFigures {
        total: sold.total(),
        paid: sold.count(&["paid"]),
        completed: sold.count(&["completed"]),
        cancelled: sold.count(&["cancelled", "refund_pending", "refunded"]),
        passengers: sold.passengers,
    };
    let finance = FinanceFigures {
        gross: sold.gross,
        commission: sold.commission,
        net: ledger::earned(&app.db, Some(mitra.id)).await?,
        unsettled: ledger::unsettled(&app.db, Some(mitra.id)).await?,
        settled: settlements::settled(&app, mitra.id).await?,
    };
    let recent_bookings = bookings::recent(&app, mitra.id).await?;
    Ok(Reply::data(PartnerOverview { mitra, fleet, bookings, finance, recent_bookings }))
}
