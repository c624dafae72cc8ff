//! SQL of reports. Every statement combines stored figures with transitions that are not rolled up
//! yet.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    model::Sums,
    rules::{Cut, Window},
};
use crate::kernel::{
    clock::midnight,
    db::{Db, Statement},
    error::Result,
    ids::Uuid,
    money::Rupiah,
};

/// Sums by day, or by first day of a month; empty ones are omitted.
pub type Daily = BTreeMap<NaiveDate, Sums>;

/// Start and end of the window in UTC.
pub(super) fn moments(window: Window, zone: Tz) -> (DateTime<Utc>, DateTime<Utc>) {
    (midnight(window.start_date, zone), midnight(window.end_date + Days::new(1), zone))
}

#[derive(crate::kernel::db::FromRow)]
struct DaySums {
    /// Day of a stored figure, or time of a transition.
    day: Option<NaiveDate>,
    at: Option<DateTime<Utc>>,
    #[row(flatten)]
    sums: Sums,
}

/// Binds $1 to $8: months, days before and after them, start and end of the window.
fn in_window<'s>(statement: Statement<'s>, window: Window, cut: Cut, zone: Tz) -> Statement<'s> {
    let Cut { head, months: (first, after), tail } = cut;
    let (from, until) = moments(window, zone);
    statement
        .bind(first)
        .bind(after)
        .bind(head.start_date)
        .bind(head.end_date)
        .bind(tail.start_date)
        .bind(tail.end_date)
        .bind(from)
        .bind(until)
}

/// Figures of all partners: by day for a short window; for a long one by whole month, and by day
/// around them.
pub async fn sold(db: &Db, window: Window, zone: Tz) -> Result<Daily> {
    let cut = if window.is_short() { window.days() } else { window.whole_months() };
    sold_by(db, window, cut, zone).await
}

async fn sold_by(db: &Db, window: Window, cut: Cut, zone: Tz) -> Result<Daily> {
    let statement = db.sql(
        "SELECT day, CAST(NULL AS TIMESTAMPTZ) AS at, CAST(SUM(bookings) AS BIGINT) AS bookings,
           CAST(SUM(passengers) AS BIGINT) AS passengers, CAST(SUM(gross) AS BIGINT) AS gross,
           CAST(SUM(discount) AS BIGINT) AS discount, CAST(SUM(tax) AS BIGINT) AS tax,
           CAST(SUM(commission) AS BIGINT) AS commission,
           CAST(SUM(partner_net) AS BIGINT) AS partner_net,
           CAST(SUM(refunds) AS BIGINT) AS refunds,
           CAST(SUM(refund_tax) AS BIGINT) AS refund_tax, CAST(0 AS BIGINT) AS surcharge
         FROM (SELECT month AS day, bookings, passengers, gross, discount, tax, commission,
               partner_net, refunds, refund_tax
             FROM sales_months WHERE month >= $1 AND month < $2
           UNION ALL
           SELECT day, bookings, passengers, gross, discount, tax, commission, partner_net, refunds,
               refund_tax
             FROM sales_days WHERE day BETWEEN $3 AND $4
           UNION ALL
           SELECT day, bookings, passengers, gross, discount, tax, commission, partner_net, refunds,
               refund_tax
             FROM sales_days WHERE day BETWEEN $5 AND $6) each
         GROUP BY day
         UNION ALL
         SELECT CAST(NULL AS DATE), at, bookings, passengers, gross, discount, tax, commission,
           partner_net, refunds, refund_tax, 0
         FROM sales_moves WHERE at >= $7 AND at < $8",
    );
    let rows = in_window(statement, window, cut, zone).long().all().await?;
    Ok(by_day(rows, zone))
}

/// Daily figures of one partner or of all. For one partner only bookings, passengers, gross and surcharge
/// are available.
pub async fn daily(db: &Db, partner: Option<Uuid>, window: Window, zone: Tz) -> Result<Daily> {
    let Some(partner) = partner else {
        return sold_by(db, window, window.days(), zone).await;
    };
    let (from, until) = moments(window, zone);
    let rows = db
        .sql(
            "SELECT day, CAST(NULL AS TIMESTAMPTZ) AS at, bookings, passengers, gross,
               CAST(0 AS BIGINT) AS discount, CAST(0 AS BIGINT) AS tax,
               CAST(0 AS BIGINT) AS commission, CAST(0 AS BIGINT) AS partner_net,
               CAST(0 AS BIGINT) AS refunds, CAST(0 AS BIGINT) AS refund_tax, surcharge
             FROM partner_days WHERE partner_id = $5 AND day BETWEEN $1 AND $2
             UNION ALL
             SELECT CAST(NULL AS DATE), at, bookings, passengers, gross, 0, 0, 0, 0, 0, 0, surcharge
             FROM sales_moves WHERE partner_id = $5 AND at >= $3 AND at < $4",
        )
        .bind(window.start_date)
        .bind(window.end_date)
        .bind(from)
        .bind(until)
        .bind(partner)
        .long()
        .all()
        .await?;
    Ok(by_day(rows, zone))
}

/// The figures as their partner sees them: with what travellers paid to resellers. From what came in it
/// could work out their margin.
pub fn at_retail(daily: &mut Daily) {
    for sums in daily.values_mut() {
        sums.gross += sums.surcharge;
    }
}

fn by_day(rows: Vec<DaySums>, zone: Tz) -> Daily {
    let mut daily = Daily::new();
    for DaySums { day, at, sums } in rows {
        let moment = at.map(|at| at.with_timezone(&zone).date_naive());
        if let Some(day) = day.or(moment) {
            *daily.entry(day).or_default() += sums;
        }
    }
    daily
}

/// A slice of a breakdown.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Part {
    pub key: String,
    pub gross: i64,
    pub bookings: i64,
}

macro_rules! by {
    ($column:literal) => {
        concat!(
            "SELECT key, CAST(SUM(gross) AS BIGINT) AS gross,
               CAST(SUM(bookings) AS BIGINT) AS bookings
             FROM (SELECT ",
            $column,
            " AS key, gross, bookings FROM sales_months WHERE month >= $1 AND month < $2
               UNION ALL
               SELECT ",
            $column,
            ", gross, bookings FROM sales_days WHERE day BETWEEN $3 AND $4
               UNION ALL
               SELECT ",
            $column,
            ", gross, bookings FROM sales_days WHERE day BETWEEN $5 AND $6
               UNION ALL
               SELECT ",
            $column,
            ", gross, bookings FROM sales_moves WHERE at >= $7 AND at < $8) sold
             GROUP BY key HAVING SUM(bookings) <> 0 OR SUM(gross) <> 0"
        )
    };
}

/// Dimension of a breakdown.
#[derive(Clone, Copy)]
pub enum By {
    Method,
    Type,
}

pub async fn parts(db: &Db, by: By, window: Window, zone: Tz) -> Result<Vec<Part>> {
    let statement = match by {
        By::Method => by!("method"),
        By::Type => by!("type"),
    };
    let parts = in_window(db.sql(statement), window, window.whole_months(), zone);
    Ok(parts.long().all().await?)
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct PartnerSales {
    pub id: Uuid,
    pub name: String,
    #[serde(rename = "gross_revenue")]
    pub gross: i64,
    pub bookings: i64,
}

/// Sales by partner, largest first: whole months from monthly figures, the rest from daily ones.
pub async fn by_partner(
    db: &Db,
    window: Window,
    zone: Tz,
    limit: i64,
) -> Result<Vec<PartnerSales>> {
    let sales = db.sql(
        "SELECT p.id, a.name, sold.gross, sold.bookings
         FROM (SELECT partner_id, CAST(SUM(gross) AS BIGINT) AS gross,
             CAST(SUM(bookings) AS BIGINT) AS bookings
           FROM (SELECT partner_id, gross, bookings FROM partner_months
               WHERE month >= $1 AND month < $2
             UNION ALL
             SELECT partner_id, gross, bookings FROM partner_days WHERE day BETWEEN $3 AND $4
             UNION ALL
             SELECT partner_id, gross, bookings FROM partner_days WHERE day BETWEEN $5 AND $6
             UNION ALL
             SELECT partner_id, gross, bookings FROM sales_moves
               WHERE at >= $7 AND at < $8) each
           GROUP BY partner_id HAVING SUM(bookings) <> 0 OR SUM(gross) <> 0) sold
         JOIN partners p ON p.id = sold.partner_id
         JOIN accounts a ON a.id = p.account_id
         ORDER BY sold.gross DESC, p.id LIMIT CAST($9 AS BIGINT)",
    );
    let sales = in_window(sales, window, window.whole_months(), zone);
    Ok(sales.bind(limit).long().all().await?)
}

/// Sales of a reseller.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct ResellerSales {
    pub id: Uuid,
    pub name: String,
    bookings: i64,
    passengers: i64,
    gross: i64,
    margin: i64,
    refunds: i64,
}

impl ResellerSales {
    pub fn sums(&self) -> Sums {
        let Self { bookings, passengers, gross, margin, refunds, .. } = *self;
        Sums { bookings, passengers, gross, margin, refunds, ..Sums::default() }
    }
}

/// Sales of every reseller with any.
pub async fn by_reseller(db: &Db, window: Window, zone: Tz) -> Result<Vec<ResellerSales>> {
    let (from, until) = moments(window, zone);
    let sales = db
        .sql(
            "SELECT e.id, a.name, sold.bookings, sold.passengers, sold.gross, sold.margin,
               sold.refunds
             FROM (SELECT reseller_id, CAST(SUM(bookings) AS BIGINT) AS bookings,
                 CAST(SUM(passengers) AS BIGINT) AS passengers,
                 CAST(SUM(gross) AS BIGINT) AS gross, CAST(SUM(margin) AS BIGINT) AS margin,
                 CAST(SUM(refunds) AS BIGINT) AS refunds
               FROM (SELECT reseller_id, bookings, passengers, gross, margin, refunds
                   FROM reseller_days WHERE day BETWEEN $1 AND $2
                 UNION ALL
                 SELECT reseller_id, bookings, passengers, gross, margin, refunds
                   FROM sales_moves
                   WHERE reseller_id IS NOT NULL AND at >= $3 AND at < $4) each
               GROUP BY reseller_id
               HAVING SUM(bookings) <> 0 OR SUM(gross) <> 0 OR SUM(margin) <> 0
                 OR SUM(refunds) <> 0) sold
             JOIN resellers e ON e.id = sold.reseller_id
             JOIN accounts a ON a.id = e.account_id",
        )
        .bind(window.start_date)
        .bind(window.end_date)
        .bind(from)
        .bind(until)
        .long()
        .all()
        .await?;
    Ok(sales)
}

/// Partners with the highest sales of a month.
pub async fn top_partners(
    db: &Db,
    day: NaiveDate,
    zone: Tz,
    limit: i64,
) -> Result<Vec<PartnerSales>> {
    by_partner(db, Window::month(day), zone, limit).await
}

/// Reference to a partner.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Seller {
    #[row(rename = "mitra_id")]
    pub id: Uuid,
    #[row(rename = "mitra_name")]
    pub name: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct RouteSales {
    pub route_id: Uuid,
    #[serde(rename = "from")]
    pub from_name: String,
    #[serde(rename = "to")]
    pub to_name: String,
    #[row(flatten)]
    pub mitra: Seller,
    #[serde(rename = "gross_revenue")]
    pub gross: i64,
    pub bookings: i64,
    pub passengers: i64,
}

/// Routes with the highest sales of a month: of all partners, or those that one partner sees, with what
/// travellers paid to resellers. A booking counts for the route that it was sold for.
pub async fn top_routes(
    db: &Db,
    partner: Option<Uuid>,
    day: NaiveDate,
    zone: Tz,
    limit: i64,
) -> Result<Vec<RouteSales>> {
    let month = Window::month(day);
    let (from, until) = moments(month, zone);
    let sales = db
        .sql(
            "SELECT r.id AS route_id, r.from_name, r.to_name, r.partner_id AS mitra_id,
               a.name AS mitra_name, sold.gross, sold.bookings, sold.passengers
             FROM (SELECT route_id, CAST(SUM(gross) AS BIGINT) AS gross,
                 CAST(SUM(bookings) AS BIGINT) AS bookings,
                 CAST(SUM(passengers) AS BIGINT) AS passengers
               FROM (SELECT route_id, bookings, passengers,
                     CASE WHEN $4 IS NULL THEN gross ELSE gross + surcharge END AS gross
                   FROM route_months WHERE month = $1 AND ($4 IS NULL OR partner_id = $4)
                 UNION ALL
                 SELECT route_id, bookings, passengers,
                     CASE WHEN $4 IS NULL THEN gross ELSE gross + surcharge END
                   FROM sales_moves
                   WHERE at >= $2 AND at < $3 AND ($4 IS NULL OR partner_id = $4)) each
               GROUP BY route_id HAVING SUM(bookings) <> 0 OR SUM(gross) <> 0) sold
             JOIN routes r ON r.id = sold.route_id
             JOIN partners p ON p.id = r.partner_id
             JOIN accounts a ON a.id = p.account_id
             ORDER BY sold.gross DESC, r.id LIMIT CAST($5 AS BIGINT)",
        )
        .bind(month.start_date)
        .bind(from)
        .bind(until)
        .bind(partner)
        .bind(limit)
        .long()
        .all()
        .await?;
    Ok(sales)
}

#[derive(crate::kernel::db::FromRow)]
struct StandingRow {
    status: String,
    bookings: i64,
    passengers: i64,
    subtotal: Rupiah,
    commission: Rupiah,
    partner_net: Rupiah,
}

/// Bookings by status; amounts are of paid and completed ones.
#[derive(Clone, Debug, Default)]
pub struct Standings {
    pub by_status: BTreeMap<String, i64>,
    pub passengers: i64,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub net: Rupiah,
}

impl Standings {
    pub fn count(&self, statuses: &[&str]) -> i64 {
        statuses.iter().filter_map(|status| self.by_status.get(*status)).sum()
    }

    pub fn total(&self) -> i64 {
        self.by_status.values().sum()
    }
}

/// Totals of one partner or of all.
pub async fn standings(db: &Db, partner: Option<Uuid>) -> Result<Standings> {
    let rows: Vec<StandingRow> = db
        .sql(
            "SELECT status, CAST(SUM(bookings) AS BIGINT) AS bookings,
               CAST(SUM(passengers) AS BIGINT) AS passengers,
               CAST(SUM(subtotal) AS BIGINT) AS subtotal,
               CAST(SUM(commission) AS BIGINT) AS commission,
               CAST(SUM(partner_net) AS BIGINT) AS partner_net
             FROM (SELECT status, bookings, passengers, subtotal, commission, partner_net
                 FROM partner_standings WHERE $1 IS NULL OR partner_id = $1
               UNION ALL
               SELECT to_status, 1, passengers, subtotal, commission, partner_net
                 FROM booking_moves WHERE to_status <> 'rescheduled'
                   AND ($1 IS NULL OR partner_id = $1)
               UNION ALL
               SELECT from_status, -1, -passengers, -subtotal, -commission, -partner_net
                 FROM booking_moves WHERE from_status NOT IN ('pending_payment', 'rescheduled')
                   AND ($1 IS NULL OR partner_id = $1)
               UNION ALL
               SELECT status, COUNT(*), 0, 0, 0, 0 FROM bookings
                 WHERE status = 'pending_payment' AND ($1 IS NULL OR partner_id = $1)
                 GROUP BY status) each
             GROUP BY status",
        )
        .bind(partner)
        .long()
        .all()
        .await?;
    let mut standings = Standings::default();
    for row in rows {
        if ["paid", "completed"].contains(&row.status.as_str()) {
            standings.passengers += row.passengers;
            standings.gross = standings.gross + row.subtotal;
            standings.commission = standings.commission + row.commission;
            standings.net = standings.net + row.partner_net;
        }
        standings.by_status.insert(row.status, row.bookings);
    }
    Ok(standings)
}
