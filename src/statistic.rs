//! Figures of one partner or of all partners.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    kernel::{
        access::Role,
        caller::Caller,
        db::Db,
        error::Result,
        http::{Query, Reply},
        ids::Uuid,
        money::Rupiah,
        schema::Input,
    },
    ledger, partners,
    reports::{self, Percent, Point, Window},
    sailings,
};

/// Days of the series and of the occupancy.
const DAYS: u64 = 30;

#[derive(Deserialize, JsonSchema)]
pub struct StatisticQuery {
    /// UUID of the partner. Default: all partners. Ignored for partners, who see themselves.
    pub mitra_id: Option<Uuid>,
}

impl Input for StatisticQuery {}

#[derive(Serialize, JsonSchema)]
pub struct MitraStatistic {
    pub as_of: DateTime<Utc>,
    pub speedboats: i64,
    /// Published routes.
    pub routes: i64,
    pub sailings_today: i64,
    pub bookings: BookingsByStatus,
    /// Passengers of all paid and completed bookings, like the amounts.
    pub passengers: i64,
    pub gross: Rupiah,
    /// What was earned: gross less commission and its tax of journeys that were sailed and of money
    /// that was kept.
    pub net: Rupiah,
    /// What of it was not paid out; negative if partners owe.
    pub unsettled: Rupiah,
    /// Seats taken as a percentage of seats offered, of sailings that have departed in the last 30
    /// days, by the day at the harbour.
    pub occupancy_percent: Percent,
    pub series: Vec<Point>,
}

#[derive(Serialize, JsonSchema)]
pub struct BookingsByStatus {
    pub pending_payment: i64,
    pub paid: i64,
    pub completed: i64,
    pub expired: i64,
    pub cancelled: i64,
    pub refund_pending: i64,
    pub refunded: i64,
}

pub async fn mitra_statistic(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<StatisticQuery>,
) -> Result<Reply<MitraStatistic>> {
    let partner = caller.partner_filter(query.mitra_id)?;
    if let Some(id) = query.mitra_id.filter(|_| caller.role != Role::Mitra) {
        partners::known(&app.db, id).await?;
    }
    let window = Window::days_until(app.today(), DAYS);
    let db = &caller.on_replica(&app.db);
    let (fleet, standings, net, unsettled, mut daily, ()) = tokio::try_join!(
        fleet(&app, db, partner, window),
        reports::standings(db, partner),
        ledger::earned(db, partner),
        ledger::unsettled(db, partner),
        reports::daily(db, partner, window, app.config.timezone),
        reports::are_made(&app, db),
    )?;
    // Staff see what came in; a partner sees what its passengers paid.
    if caller.role == Role::Mitra {
        reports::at_retail(&mut daily);
    }
    let count = |status: &str| standings.count(&[status]);
    Ok(Reply::data(MitraStatistic {
        as_of: app.clock.now(),
        speedboats: fleet.speedboats,
        routes: fleet.routes,
        sailings_today: fleet.sailings_today,
        bookings: BookingsByStatus {
            pending_payment: count("pending_payment"),
            paid: count("paid"),
            completed: count("completed"),
            expired: count("expired"),
            cancelled: count("cancelled"),
            refund_pending: count("refund_pending"),
            refunded: count("refunded"),
        },
        passengers: standings.passengers,
        gross: standings.gross,
        net,
        unsettled,
        occupancy_percent: Percent::share(fleet.seats_taken, fleet.seats),
        series: reports::series(&daily, window),
    }))
}

#[derive(crate::kernel::db::FromRow)]
struct Fleet {
    speedboats: i64,
    routes: i64,
    sailings_today: i64,
    /// Of sailings that have departed in the window.
    seats: i64,
    seats_taken: i64,
}

/// Counts the sailings of a partner; for all partners reads the totals of days, and what has departed
/// and is not tallied yet (see `sailings/days.rs`).
async fn fleet(app: &App, db: &Db, partner: Option<Uuid>, window: Window) -> Result<Fleet> {
    macro_rules! counted {
        ($condition:literal, $sailings:literal) => {
            concat!(
                "SELECT (SELECT COUNT(*) FROM speedboats WHERE deleted_at IS NULL",
                $condition,
                ") AS speedboats, (SELECT COUNT(*) FROM routes WHERE status = 'published'",
                $condition,
                ") AS routes,
                   CAST(COALESCE(SUM(CASE WHEN day = $2 THEN departures END), 0) AS BIGINT)
                     AS sailings_today,
                   CAST(COALESCE(SUM(seats), 0) AS BIGINT) AS seats,
                   CAST(COALESCE(SUM(seats_taken), 0) AS BIGINT) AS seats_taken
                 FROM (",
                $sailings,
                ") each"
            )
        };
    }
    let statement = match partner {
        Some(_) => counted!(
            " AND partner_id = $4",
            "SELECT day, 1 AS departures,
               CASE WHEN departure_at <= $3 THEN capacity ELSE 0 END AS seats,
               CASE WHEN departure_at <= $3 THEN seats_taken ELSE 0 END AS seats_taken
             FROM sailings WHERE status = 'open' AND partner_id = $4 AND day BETWEEN $1 AND $2
               AND departure_at >= $5 AND departure_at < $6"
        ),
        None => counted!(
            "",
            "SELECT day, departures, seats, seats_taken FROM sailing_days
             WHERE day BETWEEN $1 AND $2
             UNION ALL
             SELECT day, departures, seats, seats_taken FROM sailing_moves
             WHERE day BETWEEN $1 AND $2
             UNION ALL
             SELECT day, 0, capacity, seats_taken FROM sailings
             WHERE status = 'open' AND NOT tallied AND departure_at <= $3 AND day BETWEEN $1 AND $2"
        ),
    };
    let statement = db
        .sql(statement)
        .bind(window.start_date)
        .bind(window.end_date)
        .bind(app.clock.now())
        .bind_some(partner);
    let statement = match partner {
        // Limits the range of the index, which has the time of departure and not its day.
        Some(_) => statement
            .bind(sailings::earliest_departure(window.start_date))
            .bind(sailings::latest_departure(window.end_date)),
        None => statement,
    };
    Ok(statement.long().one().await?)
}
