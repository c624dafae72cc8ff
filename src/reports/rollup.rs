//! Keeping the figures: folding moves into them, and making them anew from the bookings.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    ops::AddAssign,
    time::Duration,
};

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use chrono_tz::Tz;

use super::model::Sums;
use crate::{
    app::App,
    kernel::{
        db::{Statement, Tx},
        error::{Error, Result},
        ids::Uuid,
    },
};

/// One process at a time changes the figures.
const LOCK: &str = "reports";

#[derive(sqlx::FromRow)]
struct Move {
    partner_id: Uuid,
    route_id: Uuid,
    #[sqlx(rename = "type")]
    kind: String,
    method: String,
    from_status: Option<String>,
    to_status: String,
    at: DateTime<Utc>,
    #[sqlx(flatten)]
    worth: Worth,
    refund: i64,
}

/// What a booking is worth.
#[derive(Clone, Copy, sqlx::FromRow)]
struct Worth {
    passengers: i32,
    subtotal: i64,
    discount: i64,
    tax: i64,
    total: i64,
    commission: i64,
    partner_net: i64,
}

#[derive(Clone, Copy, Default)]
struct Standing {
    bookings: i64,
    passengers: i64,
    subtotal: i64,
    commission: i64,
    partner_net: i64,
}

impl AddAssign for Standing {
    fn add_assign(&mut self, more: Self) {
        self.bookings += more.bookings;
        self.passengers += more.passengers;
        self.subtotal += more.subtotal;
        self.commission += more.commission;
        self.partner_net += more.partner_net;
    }
}

/// Of whom and what a sale is.
struct Of<'a> {
    partner_id: Uuid,
    route_id: Uuid,
    kind: &'a str,
    method: &'a str,
}

/// Figures to be added to those that are kept.
#[derive(Default)]
struct Figures {
    days: HashMap<(NaiveDate, String, String), Sums>,
    partner_days: HashMap<(Uuid, NaiveDate), Sums>,
    partner_months: HashMap<(NaiveDate, Uuid), Sums>,
    route_months: HashMap<(NaiveDate, Uuid, Uuid), Sums>,
    standings: HashMap<(Uuid, String), Standing>,
}

impl Figures {
    fn sale(&mut self, of: Of<'_>, day: NaiveDate, worth: Worth) {
        let sums = Sums {
            bookings: 1,
            passengers: worth.passengers.into(),
            gross: worth.total,
            discount: worth.discount,
            tax: worth.tax,
            commission: worth.commission,
            partner_net: worth.partner_net,
            refunds: 0,
        };
        let month = day.with_day(1).unwrap_or(day);
        *self.days.entry((day, of.kind.into(), of.method.into())).or_default() += sums;
        *self.partner_days.entry((of.partner_id, day)).or_default() += sums;
        *self.partner_months.entry((month, of.partner_id)).or_default() += sums;
        *self.route_months.entry((month, of.route_id, of.partner_id)).or_default() += sums;
    }

    fn refund(&mut self, of: Of<'_>, day: NaiveDate, refunds: i64) {
        let sums = Sums { refunds, ..Sums::default() };
        *self.days.entry((day, of.kind.into(), of.method.into())).or_default() += sums;
    }

    /// So many more (or less) bookings of this worth stand there. Pending ones are not kept.
    fn stand(&mut self, partner: Uuid, status: &str, times: i64, worth: Worth) {
        if status == "pending_payment" {
            return;
        }
        *self.standings.entry((partner, status.into())).or_default() += Standing {
            bookings: times,
            passengers: times * i64::from(worth.passengers),
            subtotal: times * worth.subtotal,
            commission: times * worth.commission,
            partner_net: times * worth.partner_net,
        };
    }

    fn happened(&mut self, moved: &Move, zone: Tz) {
        let Move { partner_id, route_id, worth, .. } = *moved;
        let day = moved.at.with_timezone(&zone).date_naive();
        let of = Of { partner_id, route_id, kind: &moved.kind, method: &moved.method };
        match moved.to_status.as_str() {
            "paid" => self.sale(of, day, worth),
            "refunded" => self.refund(of, day, moved.refund),
            _ => {}
        }
        if let Some(from) = &moved.from_status {
            self.stand(partner_id, from, -1, worth);
        }
        self.stand(partner_id, &moved.to_status, 1, worth);
    }

    /// Adds them to what is kept.
    async fn keep(self, tx: &mut Tx) -> Result<()> {
        tx.upsert_all(
            "INSERT INTO sales_days (day, type, method, bookings, passengers, gross, discount,
               tax, commission, partner_net, refunds)",
            11,
            &sorted(self.days),
            "ON CONFLICT (day, type, method) DO UPDATE SET
               bookings = sales_days.bookings + excluded.bookings,
               passengers = sales_days.passengers + excluded.passengers,
               gross = sales_days.gross + excluded.gross,
               discount = sales_days.discount + excluded.discount,
               tax = sales_days.tax + excluded.tax,
               commission = sales_days.commission + excluded.commission,
               partner_net = sales_days.partner_net + excluded.partner_net,
               refunds = sales_days.refunds + excluded.refunds",
            |row, ((day, kind, method), sums)| {
                let row = row.bind(*day).bind(kind.clone()).bind(method.clone());
                sold(row, sums)
                    .bind(sums.discount)
                    .bind(sums.tax)
                    .bind(sums.commission)
                    .bind(sums.partner_net)
                    .bind(sums.refunds)
            },
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_days (partner_id, day, bookings, passengers, gross)",
            5,
            &sorted(self.partner_days),
            "ON CONFLICT (partner_id, day) DO UPDATE SET
               bookings = partner_days.bookings + excluded.bookings,
               passengers = partner_days.passengers + excluded.passengers,
               gross = partner_days.gross + excluded.gross",
            |row, ((partner, day), sums)| sold(row.bind(*partner).bind(*day), sums),
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_months (month, partner_id, bookings, passengers, gross)",
            5,
            &sorted(self.partner_months),
            "ON CONFLICT (month, partner_id) DO UPDATE SET
               bookings = partner_months.bookings + excluded.bookings,
               passengers = partner_months.passengers + excluded.passengers,
               gross = partner_months.gross + excluded.gross",
            |row, ((month, partner), sums)| sold(row.bind(*month).bind(*partner), sums),
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO route_months (month, route_id, partner_id, bookings, passengers, gross)",
            6,
            &sorted(self.route_months),
            "ON CONFLICT (month, route_id) DO UPDATE SET
               bookings = route_months.bookings + excluded.bookings,
               passengers = route_months.passengers + excluded.passengers,
               gross = route_months.gross + excluded.gross",
            |row, ((month, route, partner), sums)| {
                sold(row.bind(*month).bind(*route).bind(*partner), sums)
            },
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_standings (partner_id, status, bookings, passengers, subtotal,
               commission, partner_net)",
            7,
            &sorted(self.standings),
            "ON CONFLICT (partner_id, status) DO UPDATE SET
               bookings = partner_standings.bookings + excluded.bookings,
               passengers = partner_standings.passengers + excluded.passengers,
               subtotal = partner_standings.subtotal + excluded.subtotal,
               commission = partner_standings.commission + excluded.commission,
               partner_net = partner_standings.partner_net + excluded.partner_net",
            |row, ((partner, status), standing)| {
                row.bind(*partner)
                    .bind(status.clone())
                    .bind(standing.bookings)
                    .bind(standing.passengers)
                    .bind(standing.subtotal)
                    .bind(standing.commission)
                    .bind(standing.partner_net)
            },
        )
        .await?;
        Ok(())
    }
}

fn sold<'s>(row: Statement<'s>, sums: &Sums) -> Statement<'s> {
    row.bind(sums.bookings).bind(sums.passengers).bind(sums.gross)
}

/// In the order of their keys, as the tables lie.
fn sorted<K: Ord + Hash + Eq, V>(figures: HashMap<K, V>) -> Vec<(K, V)> {
    figures.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// Folds what has moved into the figures; says how much that was.
pub async fn fold(app: &App) -> Result<u64> {
    const SOME: usize = 2_000;
    let mut folded = 0;
    loop {
        let some = app.db.sql("SELECT id FROM booking_moves LIMIT 1");
        if some.maybe::<(i64,)>().await?.is_none() {
            return Ok(folded);
        }
        let done = fold_some(app, SOME).await?;
        folded += done as u64;
        if done < SOME {
            return Ok(folded);
        }
    }
}

async fn fold_some(app: &App, limit: usize) -> Result<usize> {
    let zone = app.config.timezone;
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    if !is_kept(&mut tx, zone).await? {
        return Err(Error::internal("the reports are kept in another time zone than this one's"));
    }
    let moves: Vec<Move> = tx
        .sql(
            "DELETE FROM booking_moves WHERE id IN
               (SELECT id FROM booking_moves ORDER BY id LIMIT $1)
             RETURNING partner_id, route_id, type, method, from_status, to_status, at,
               passengers, subtotal, discount, tax, total, commission, partner_net, refund",
        )
        .bind(limit as i64)
        .all()
        .await?;
    let mut figures = Figures::default();
    for moved in &moves {
        figures.happened(moved, zone);
    }
    figures.keep(&mut tx).await?;
    tx.commit().await?;
    Ok(moves.len())
}

/// Makes the figures if they were never made, or in another zone.
pub async fn ensure(app: &App) -> Result<()> {
    if are_made(app).await.is_err() {
        tracing::info!("making the figures of the reports");
        made(app, false).await?;
    }
    Ok(())
}

/// Makes the figures anew from the bookings; says of how many.
pub async fn rebuild(app: &App) -> Result<u64> {
    made(app, true).await
}

async fn made(app: &App, anew: bool) -> Result<u64> {
    const TRIES: u32 = 50;
    let mut tried = 0;
    loop {
        tried += 1;
        match make(app, anew).await {
            // Somebody else is at it, or has just folded.
            Err(Error::Contention(_) | Error::Unavailable(_)) if tried < TRIES => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            done => return done,
        }
    }
}

/// Refuses to answer from figures that are not there, or that were counted in other days.
pub async fn are_made(app: &App) -> Result<()> {
    let kept = app.db.sql("SELECT zone FROM report_zones").maybe::<(String,)>().await?;
    match kept.is_some_and(|(kept,)| kept == app.config.timezone.name()) {
        true => Ok(()),
        false => Err(Error::Unavailable("the reports are not made for this time zone".into())),
    }
}

async fn is_kept(tx: &mut Tx, zone: Tz) -> Result<bool> {
    let kept: Option<(String,)> = tx.sql("SELECT zone FROM report_zones").maybe().await?;
    Ok(kept.is_some_and(|(kept,)| kept == zone.name()))
}

#[derive(sqlx::FromRow)]
struct Booked {
    id: Uuid,
    partner_id: Uuid,
    route_id: Uuid,
    #[sqlx(rename = "type")]
    kind: String,
    method: String,
    status: String,
    paid_at: Option<DateTime<Utc>>,
    refunded_at: Option<DateTime<Utc>>,
    #[sqlx(flatten)]
    worth: Worth,
    refund: i64,
}

/// In one transaction that sees one moment: what moves meanwhile stays to be folded.
async fn make(app: &App, anew: bool) -> Result<u64> {
    const SOME: usize = 10_000;
    let zone = app.config.timezone;
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
    let mut tx = app.db.begin_still().await?;
    tx.lock(LOCK).await?;
    if !anew && is_kept(&mut tx, zone).await? {
        return Ok(0);
    }
    for statement in [
        "DELETE FROM booking_moves",
        "DELETE FROM sales_days",
        "DELETE FROM partner_days",
        "DELETE FROM partner_months",
        "DELETE FROM route_months",
        "DELETE FROM partner_standings",
        "DELETE FROM report_zones",
    ] {
        tx.sql(statement).run().await?;
    }
    let mut figures = Figures::default();
    let (mut last, mut count) = (Uuid::nil(), 0);
    loop {
        let bookings: Vec<Booked> = tx
            .sql(
                "SELECT k.id, k.partner_id, s.route_id, k.type, k.status, k.paid_at,
                   k.refunded_at, k.qty AS passengers, k.subtotal, k.discount, k.tax, k.total,
                   k.commission, k.partner_net, COALESCE(k.refund_amount, 0) AS refund,
                   COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = k.id
                     AND y.status IN ('paid', 'refunded') LIMIT 1), 'other') AS method
                 FROM bookings k JOIN sailings s ON s.id = k.sailing_id
                 WHERE k.id > $1 ORDER BY k.id LIMIT $2",
            )
            .bind(last)
            .bind(SOME as i64)
            .all()
            .await?;
        for booked in &bookings {
            let Booked { partner_id, route_id, worth, .. } = *booked;
            let of = || Of { partner_id, route_id, kind: &booked.kind, method: &booked.method };
            if let Some(paid_at) = booked.paid_at {
                figures.sale(of(), day(paid_at), worth);
                if let Some(refunded_at) = booked.refunded_at {
                    figures.refund(of(), day(refunded_at), booked.refund);
                }
            }
            figures.stand(partner_id, &booked.status, 1, worth);
        }
        count += bookings.len() as u64;
        match bookings.last() {
            Some(booked) if bookings.len() == SOME => last = booked.id,
            _ => break,
        }
    }
    figures.keep(&mut tx).await?;
    tx.sql("INSERT INTO report_zones (zone, built_at) VALUES ($1, $2)")
        .bind(zone.name())
        .bind(app.clock.now())
        .run()
        .await?;
    tx.commit().await?;
    Ok(count)
}
