//! The dashboard, with figures of all domains.
//!
//! A partner sees its own figures. Staff see amounts only with `reports.read`.

use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    kernel::{
        access::{Role, Rule},
        caller::Caller,
        clock::midnight,
        db::Db,
        error::Result,
        http::Reply,
        ids::Uuid,
    },
    partners::{awaiting_approval, awaiting_review},
    reports::{self, Figure, PartnerSales, Point, RouteSales, Seller, Sums, Window},
    sailings::Zone,
};

/// Days of the series.
const DAYS: u64 = 30;

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
    let (db, zone, as_of, today) = (&app.db, app.config.timezone, app.clock.now(), app.today());
    let month = Window::month(today);
    let last_month = Window::month(month.start_date - Days::new(1));
    let series = Window::days_until(today, DAYS);
    // One statement for all three periods.
    let span = Window::new(last_month.start_date.min(series.start_date), month.end_date);
    let top_partners = async {
        match partner {
            None => reports::top_partners(db, today, zone, 5).await.map(Some),
            Some(_) => Ok(None),
        }
    };
    let (daily, departures, pending, top_routes, top_partners, upcoming_departures, ()) = tokio::try_join!(
        reports::daily(db, partner, span, zone),
        departures(&app, partner, today, month, last_month),
        pending(db, partner),
        reports::top_routes(db, partner, today, zone, 5),
        top_partners,
        upcoming(db, partner, as_of),
        reports::are_made(&app),
    )?;
    let of = |window: Window| {
        let mut sums = Sums::default();
        for (_, day) in daily.iter().filter(|(day, _)| window.contains(**day)) {
            sums += *day;
        }
        sums
    };
    let (on_today, now, then) = (of(Window::new(today, today)), of(month), of(last_month));
    Ok(Reply::data(Dashboard {
        as_of,
        today: Today {
            bookings: on_today.bookings,
            passengers: on_today.passengers,
            gross_revenue: money.then_some(on_today.gross),
            departures: departures.today,
        },
        month: ThisMonth {
            bookings: Figure::new(now.bookings, then.bookings),
            passengers: Figure::new(now.passengers, then.passengers),
            gross_revenue: money.then(|| Figure::new(now.gross, then.gross)),
            departures: Figure::new(departures.month, departures.last_month),
        },
        pending: Pending { refunds_amount: pending.refunds_amount.filter(|_| money), ..pending },
        revenue_series: money.then(|| reports::series(&daily, series)),
        top_routes: Some(top_routes).filter(|_| money),
        top_partners: top_partners.filter(|_| money),
        upcoming_departures,
    }))
}

#[derive(crate::kernel::db::FromRow)]
struct Departures {
    today: i64,
    month: i64,
    last_month: i64,
}

/// Sailings that were not cancelled.
async fn departures(
    app: &App,
    partner: Option<Uuid>,
    today: NaiveDate,
    month: Window,
    last_month: Window,
) -> Result<Departures> {
    macro_rules! counted {
        ($condition:literal) => {
            concat!(
                "SELECT COUNT(CASE WHEN departure_at >= $3 AND departure_at < $4 THEN 1 END)
                   AS today,
                   COUNT(CASE WHEN departure_at >= $2 THEN 1 END) AS month,
                   COUNT(CASE WHEN departure_at < $2 THEN 1 END) AS last_month
                 FROM sailings WHERE status = 'open' AND departure_at >= $1 AND departure_at < $5",
                $condition
            )
        };
    }
    let start = |day: NaiveDate| midnight(day, app.config.timezone);
    let statement = match partner {
        Some(_) => counted!(" AND partner_id = $6"),
        None => counted!(""),
    };
    let statement = app
        .db
        .sql(statement)
        .bind(start(last_month.start_date))
        .bind(start(month.start_date))
        .bind(start(today))
        .bind(start(today + Days::new(1)))
        .bind(start(month.end_date + Days::new(1)));
    Ok(statement.bind_some(partner).long().one().await?)
}

async fn pending(db: &Db, partner: Option<Uuid>) -> Result<Pending> {
    let pending: Pending = db
        .sql(concat!(
            "SELECT (SELECT COUNT(DISTINCT w.partner_id) FROM ",
            awaiting_review!(),
            " w) AS partner_reviews, (SELECT COUNT(*) FROM ",
            awaiting_approval!(),
            " w) AS bank_approvals,
               (SELECT COUNT(*) FROM settlements
                WHERE status IN ('pending', 'processing')
                  AND ($1 IS NULL OR partner_id = $1)) AS settlements,
               (SELECT COUNT(*) FROM refunds
                WHERE unpaid > 0 AND ($1 IS NULL OR partner_id = $1)) AS refunds,
               (SELECT CAST(COALESCE(SUM(unpaid), 0) AS BIGINT) FROM refunds
                WHERE unpaid > 0 AND ($1 IS NULL OR partner_id = $1)) AS refunds_amount,
               (SELECT COUNT(*) FROM payment_reviews WHERE resolution IS NULL) AS payment_reviews"
        ))
        .bind(partner)
        .long()
        .one()
        .await?;
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

async fn upcoming(db: &Db, partner: Option<Uuid>, now: DateTime<Utc>) -> Result<Vec<Departure>> {
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
                 WHERE s.status = 'open' AND s.departure_at >= $1",
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
