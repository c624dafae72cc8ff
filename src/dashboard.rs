//! The dashboard, with figures of all domains.
//!
//! A partner sees its own figures. Staff see amounts only with `reports.read`.

use axum::extract::State;
use chrono::{DateTime, Days, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    kernel::{
        access::{Role, Rule},
        caller::Caller,
        db::Db,
        error::Result,
        http::Reply,
        ids::Uuid,
    },
    partners::{awaiting_approval, awaiting_review},
    reports::{self, Figure, PartnerSales, Point, RouteSales, Seller, Sums, Window},
    sailings::{self, Zone},
};

/// Days of the series.
const DAYS: u64 = 30;
/// How many routes and partners are shown.
const TOP: i64 = 5;

#[derive(Serialize, JsonSchema)]
pub struct Dashboard {
    pub as_of: DateTime<Utc>,
    pub today: Today,
    /// This month, compared with the previous one.
    pub month: ThisMonth,
    pub pending: Pending,
    /// Null, like every amount, for staff without `reports.read`.
    pub revenue_series: Option<Vec<Point>>,
    /// This month.
    pub top_routes: Option<Vec<RouteSales>>,
    /// This month; null for a partner.
    pub top_partners: Option<Vec<PartnerSales>>,
    pub upcoming_departures: Vec<Departure>,
}

#[derive(Serialize, JsonSchema)]
pub struct Today {
    pub bookings: i64,
    pub passengers: i64,
    pub gross_revenue: Option<i64>,
    pub departures: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct ThisMonth {
    pub bookings: Figure,
    pub passengers: Figure,
    pub gross_revenue: Option<Figure>,
    pub departures: Figure,
}

/// Work that is pending.
#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Pending {
    /// Partners with documents to review. Null for a partner.
    pub partner_reviews: Option<i64>,
    /// Changed bank accounts to approve. Null for a partner.
    pub bank_approvals: Option<i64>,
    pub settlements: i64,
    /// Refunds that are not paid.
    pub refunds: i64,
    /// What is unpaid of them.
    pub refunds_amount: Option<i64>,
    /// Null for a partner.
    pub payment_reviews: Option<i64>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Departure {
    pub route_time_id: Uuid,
    #[serde(rename = "from")]
    pub from_name: String,
    #[serde(rename = "to")]
    pub to_name: String,
    pub departure_at: DateTime<Utc>,
    pub timezone: Zone,
    #[row(flatten)]
    pub speedboat: Boat,
    #[row(flatten)]
    pub mitra: Seller,
    pub capacity: i32,
    pub seats_taken: i32,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "DepartingBoat")]
pub struct Boat {
    #[row(rename = "speedboat_id")]
    pub id: Uuid,
    #[row(rename = "speedboat_name")]
    pub name: String,
}

pub async fn get_dashboard(State(app): State<App>, caller: Caller) -> Result<Reply<Dashboard>> {
    let partner = caller.partner_filter(None)?;
    // An impersonator sees what its own rules allow.
    let own = caller.role == Role::Mitra && caller.impersonator_may(Rule::ReportsRead);
    let money = own || caller.may(Rule::ReportsRead);
    let (db, zone) = (&caller.on_replica(&app.db), app.config.timezone);
    let (as_of, today) = (app.clock.now(), app.today());
    let month = Window::month(today);
    let last_month = Window::month(month.start_date - Days::new(1));
    let series = Window::days_until(today, DAYS);
    // One statement for all three periods.
    let span = Window::new(last_month.start_date.min(series.start_date), month.end_date);
    let top_partners = async {
        match partner {
            None => reports::top_partners(db, today, zone, TOP).await.map(Some),
            Some(_) => Ok(None),
        }
    };
    let (mut daily, departures, pending, top_routes, top_partners, upcoming, ()) = tokio::try_join!(
        reports::daily(db, partner, span, zone),
        sailings::departures(db, partner, (last_month.start_date, month.end_date)),
        pending(db, partner),
        reports::top_routes(db, partner, today, zone, TOP),
        top_partners,
        upcoming_departures(db, partner, as_of),
        reports::are_made(&app, db),
    )?;
    if partner.is_some() {
        reports::at_retail(&mut daily);
    }
    let of = |window: Window| {
        let mut sums = Sums::default();
        for (_, day) in daily.iter().filter(|(day, _)| window.contains(**day)) {
            sums += *day;
        }
        sums
    };
    let departing = |window: Window| -> i64 {
        let days = departures.iter().filter(|day| window.contains(day.day));
        days.map(|day| day.departures).sum()
    };
    let (on_today, now, then) = (of(Window::new(today, today)), of(month), of(last_month));
    Ok(Reply::data(Dashboard {
        as_of,
        today: Today {
            bookings: on_today.bookings,
            passengers: on_today.passengers,
            gross_revenue: money.then_some(on_today.gross),
            departures: departing(Window::new(today, today)),
        },
        month: ThisMonth {
            bookings: Figure::new(now.bookings, then.bookings),
            passengers: Figure::new(now.passengers, then.passengers),
            gross_revenue: money.then(|| Figure::new(now.gross, then.gross)),
            departures: Figure::new(departing(month), departing(last_month)),
        },
        pending: Pending { refunds_amount: pending.refunds_amount.filter(|_| money), ..pending },
        revenue_series: money.then(|| reports::series(&daily, series)),
        top_routes: Some(top_routes).filter(|_| money),
        top_partners: top_partners.filter(|_| money),
        upcoming_departures: upcoming,
    }))
}

async fn pending(db: &Db, partner: Option<Uuid>) -> Result<Pending> {
    macro_rules! counted {
        ($condition:literal) => {
            concat!(
                "SELECT (SELECT COUNT(DISTINCT w.partner_id) FROM ",
                awaiting_review!(),
                " w) AS partner_reviews, (SELECT COUNT(*) FROM ",
                awaiting_approval!(),
                " w) AS bank_approvals,
                   (SELECT COUNT(*) FROM settlements WHERE status IN ('pending', 'processing')",
                $condition,
                ") AS settlements, COUNT(*) AS refunds,
                   CAST(COALESCE(SUM(unpaid), 0) AS BIGINT) AS refunds_amount,
                   (SELECT COUNT(*) FROM payment_reviews WHERE resolution IS NULL)
                     AS payment_reviews
                 FROM refunds WHERE unpaid > 0",
                $condition
            )
        };
    }
    let statement = match partner {
        Some(_) => counted!(" AND partner_id = $1"),
        None => counted!(""),
    };
    let pending: Pending = db.sql(statement).bind_some(partner).long().one().await?;
    Ok(match partner {
        None => pending,
        // Not visible to partners.
        Some(_) => Pending {
            partner_reviews: None,
            bank_approvals: None,
            payment_reviews: None,
            ..pending
        },
    })
}

async fn upcoming_departures(
    db: &Db,
    partner: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Vec<Departure>> {
    macro_rules! departures {
        ($condition:literal) => {
            concat!(
                "SELECT s.id AS route_time_id, r.from_name, r.to_name, s.departure_at, r.timezone,
                   b.id AS speedboat_id, b.name AS speedboat_name, p.id AS mitra_id,
                   a.name AS mitra_name, s.capacity, s.seats_taken
                 FROM sailings s
                 JOIN routes r ON r.id = s.route_id
                 JOIN speedboats b ON b.id = s.speedboat_id
                 JOIN partners p ON p.id = s.partner_id
                 JOIN accounts a ON a.id = p.account_id
                 WHERE s.status = 'open' AND NOT s.tallied AND s.departure_at >= $1",
                $condition,
                " ORDER BY s.departure_at, s.id LIMIT 10"
            )
        };
    }
    let statement = match partner {
        Some(_) => departures!(" AND s.partner_id = $2"),
        None => departures!(""),
    };
    Ok(db.sql(statement).bind(now).bind_some(partner).long().all().await?)
}
