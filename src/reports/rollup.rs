//! Roll-up of booking transitions into report figures, and rebuild from the bookings and their money.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::Value;

use super::figures::{BookingAmounts, Figures, Money, SaleKey, StatusChange};
use crate::{
    app::App,
    bookings::Price,
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        ids::Uuid,
        roll_up::rebuilt,
        set_aside::{self, Pass, RowJob},
    },
    ledger,
};

/// Only one process at a time changes the figures.
const LOCK: &str = "reports";

const JOB: RowJob = RowJob::RollUpReports;
/// More failing transitions than this indicate another problem.
const TOO_MANY: usize = 1_000;

/// Rolls up all transitions; returns their number.
pub async fn roll_up(app: &App) -> Result<u64> {
    let mut done = 0;
    loop {
        let pass = roll_up_batch(app).await?;
        done += pass.done;
        if !pass.more {
            return Ok(done);
        }
    }
}

/// Rolls up a batch and retries failed transitions. If a batch fails, its transitions are rolled up
/// one by one, and those that fail again are set aside. Reports also count transitions that are not
/// rolled up, so they are exact in any order.
pub async fn roll_up_batch(app: &App) -> Result<Pass> {
    const SOME: usize = 2_000;
    let now = app.clock.now();
    let one = |row| async move {
        roll_up_transitions(app, &[change_of(row)]).await.map(|done| done == 1)
    };
    let again = set_aside::retry(&app.db, JOB, now, one).await?;
    let noted = set_aside::noted(&app.db, JOB).await?;
    if noted.len() > TOO_MANY {
        return Err(Error::internal(format!(
            "{} booking transitions cannot be rolled up",
            noted.len()
        )));
    }
    let limit = SOME + noted.len();
    let waiting: Vec<(i64,)> = app
        .db
        .sql("SELECT id FROM booking_moves ORDER BY id LIMIT CAST($1 AS BIGINT)")
        .without_cached_plan()
        .bind(limit as i64)
        .all()
        .await?;
    let more = waiting.len() == limit;
    let waiting: Vec<i64> =
        waiting.into_iter().map(|(id,)| id).filter(|id| !noted.contains(&row_of(*id))).collect();
    let done = match set_aside::guarded(roll_up_transitions(app, &waiting)).await {
        Ok(done) => done,
        Err(error) if error.is_transient() => return Err(error),
        Err(error) => {
            tracing::warn!(%error,
                "rolling up a batch of booking transitions failed; retrying them one by one");
            let rows = waiting.into_iter().map(row_of).collect();
            set_aside::each(&app.db, JOB, rows, 1, now, one).await?
        }
    };
    Ok(Pass { done: again + done, more })
}

/// Encodes the number of a transition as a UUID for `set_aside`.
fn row_of(id: i64) -> Uuid {
    Uuid::from_u128(u128::from(id.unsigned_abs()))
}

fn change_of(row: Uuid) -> i64 {
    row.as_u128() as i64
}

/// Rolls up the given transitions unless another process has; returns their number.
async fn roll_up_transitions(app: &App, ids: &[i64]) -> Result<u64> {
    if ids.is_empty() {
        return Ok(0);
    }
    let zone = app.config.timezone;
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    if !is_kept(&mut tx, zone).await? {
        // Not a failure of the transitions.
        return Err(Error::Unavailable("the reports were built for another time zone".into()));
    }
    let taken = tx.sql_among(
        "DELETE FROM booking_moves WHERE id IN",
        ids.len(),
        "RETURNING partner_id, route_id, type, method, from_status, to_status, at, passengers,
           subtotal, discount, tax, total, commission, partner_net, received, refund, refund_tax,
           reseller_id, margin, surcharge",
    );
    let moves: Vec<StatusChange> =
        ids.iter().fold(taken, |taken, id| taken.bind(*id)).all().await?;
    let mut figures = Figures::default();
    for moved in &moves {
        figures.apply(moved, zone);
    }
    figures.store(&mut tx).await?;
    tx.commit().await?;
    Ok(moves.len() as u64)
}

/// Builds the figures if they are missing or of another time zone.
pub async fn ensure(app: &App) -> Result<()> {
    if are_made(app, &app.db).await.is_err() {
        tracing::info!("building the report figures");
        made(app, false).await?;
    }
    Ok(())
}

/// Rebuilds the figures from the bookings, and the totals of the ledger; returns the number of
/// bookings.
pub async fn rebuild(app: &App) -> Result<u64> {
    let bookings = made(app, true).await?;
    ledger::rebuild(app).await?;
    app.db.analyze(["sales_days", "partner_days"]).await?;
    Ok(bookings)
}

async fn made(app: &App, anew: bool) -> Result<u64> {
    rebuilt(|| make(app, anew).boxed()).await
}

/// 503 if the figures are missing or of another time zone.
pub async fn are_made(app: &App, db: &Db) -> Result<()> {
    let kept = db.sql("SELECT zone FROM report_zones").maybe::<(String,)>().await?;
    match kept.is_some_and(|(kept,)| kept == app.config.timezone.name()) {
        true => Ok(()),
        false => Err(Error::Unavailable("the reports are not built for this time zone yet".into())),
    }
}

async fn is_kept(tx: &mut Tx, zone: Tz) -> Result<bool> {
    let kept: Option<(String,)> = tx.sql("SELECT zone FROM report_zones").maybe().await?;
    Ok(kept.is_some_and(|(kept,)| kept == zone.name()))
}

#[derive(crate::kernel::db::FromRow)]
struct Booked {
    id: Uuid,
    partner_id: Uuid,
    route_id: Uuid,
    reseller_id: Option<Uuid>,
    #[row(rename = "type")]
    kind: String,
    method: String,
    status: String,
    paid_at: Option<DateTime<Utc>>,
    #[row(flatten)]
    amounts: BookingAmounts,
}

impl Booked {
    fn key(&self) -> SaleKey<'_> {
        let Self { partner_id, route_id, reseller_id, ref kind, ref method, .. } = *self;
        SaleKey { partner_id, route_id, reseller_id, kind, method }
    }
}

/// A rescheduled booking.
#[derive(crate::kernel::db::FromRow)]
struct Changed {
    id: Uuid,
    partner_id: Uuid,
    from_route_id: Uuid,
    to_route_id: Uuid,
    reseller_id: Option<Uuid>,
    #[row(rename = "type")]
    kind: String,
    method: String,
    qty: i32,
    was: Value,
    becomes: Value,
    paid_at: DateTime<Utc>,
    done_at: DateTime<Utc>,
}

impl Changed {
    /// Corrects the sale, which was counted with the current values, to those before the
    /// reschedule, and changes the price when it took place.
    fn count(&self, figures: &mut Figures, day: impl Fn(DateTime<Utc>) -> NaiveDate) -> Result<()> {
        let amounts = |price: &Value| {
            let price = Price::deserialize(price).map_err(Error::internal)?;
            // Passengers may have been cancelled since. A charter has no lines, and keeps all.
            let passengers = match price.lines.as_slice() {
                [] => self.qty,
                lines => lines.iter().map(|line| line.count).sum(),
            };
            Ok::<_, Error>(BookingAmounts::of(passengers, &price))
        };
        let (was, becomes) = (amounts(&self.was)?, amounts(&self.becomes)?);
        let of = |route_id| SaleKey {
            partner_id: self.partner_id,
            route_id,
            reseller_id: self.reseller_id,
            kind: &self.kind,
            method: &self.method,
        };
        let (sold_on, moved_on) = (day(self.paid_at), day(self.done_at));
        figures.sale(&of(self.to_route_id), sold_on, becomes, -1);
        figures.sale(&of(self.from_route_id), sold_on, was, 1);
        figures.price(&of(self.to_route_id), moved_on, becomes, 1);
        figures.price(&of(self.from_route_id), moved_on, was, -1);
        Ok(())
    }
}

async fn changed(tx: &mut Tx, last: Uuid, limit: i64) -> Result<Vec<Changed>> {
    let changed = tx
        .sql(
            "SELECT r.id, k.partner_id, f.route_id AS from_route_id, t.route_id AS to_route_id,
               k.reseller_id, k.type, k.qty, r.was, r.becomes, k.paid_at, r.done_at,
               COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = k.id
                 AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1),
                 'other') AS method
             FROM reschedules r
             JOIN bookings k ON k.id = r.booking_id
             JOIN sailings f ON f.id = r.from_sailing_id
             JOIN sailings t ON t.id = r.to_sailing_id
             WHERE r.status = 'done' AND r.id > $1 ORDER BY r.id LIMIT CAST($2 AS BIGINT)",
        )
        .bind(last)
        .bind(limit)
        .all()
        .await?;
    Ok(changed)
}

/// The share of passengers who were cancelled, on the route of that time. It remains sold.
async fn cancelled(tx: &mut Tx, last: Uuid, limit: i64) -> Result<Vec<Booked>> {
    let cancelled = tx
        .sql(
            "SELECT c.id, k.partner_id, s.route_id, k.reseller_id, k.type, k.status, k.paid_at,
               c.qty AS passengers, c.subtotal, c.discount, c.tax, c.total, c.commission,
               c.partner_net, CAST(0 AS BIGINT) AS margin, CAST(0 AS BIGINT) AS surcharge,
               COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = k.id
                 AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1),
                 'other') AS method
             FROM passenger_cancellations c
             JOIN bookings k ON k.id = c.booking_id
             JOIN sailings s ON s.id = c.sailing_id
             WHERE c.id > $1 ORDER BY c.id LIMIT CAST($2 AS BIGINT)",
        )
        .bind(last)
        .bind(limit)
        .all()
        .await?;
    Ok(cancelled)
}

/// Money that came in or went back beside the sale.
#[derive(crate::kernel::db::FromRow)]
struct Moved {
    id: Uuid,
    partner_id: Uuid,
    route_id: Uuid,
    reseller_id: Option<Uuid>,
    #[row(rename = "type")]
    kind: String,
    method: String,
    at: DateTime<Utc>,
    #[row(flatten)]
    money: Money,
}

impl Moved {
    fn key(&self) -> SaleKey<'_> {
        let Self { partner_id, route_id, reseller_id, ref kind, ref method, .. } = *self;
        SaleKey { partner_id, route_id, reseller_id, kind, method }
    }
}

/// The money that the triggers write, one statement for each kind of it.
const MONEY: [&str; 5] = [
    "SELECT y.id, k.partner_id, k.route_id, k.reseller_id, k.type, COALESCE(y.method, 'other') AS method,
       y.paid_at AS at, y.amount AS received, CAST(0 AS BIGINT) AS refund,
       CAST(0 AS BIGINT) AS refund_tax, CAST(0 AS BIGINT) AS surcharge
     FROM payments y JOIN sales_keys k ON k.booking_id = y.booking_id
     WHERE y.reschedule_id IS NOT NULL AND y.status IN ('paid', 'refunded') AND y.id > $1
     ORDER BY y.id LIMIT CAST($2 AS BIGINT)",
    "SELECT f.id, k.partner_id, k.route_id, k.reseller_id, k.type, k.method, f.due_at AS at,
       f.amount AS received, CAST(0 AS BIGINT) AS refund, CAST(0 AS BIGINT) AS refund_tax,
       CAST(0 AS BIGINT) AS surcharge
     FROM refunds f JOIN refund_keys k ON k.refund_id = f.id
     WHERE f.kind IN ('excess', 'duplicate', 'late') AND f.id > $1
     ORDER BY f.id LIMIT CAST($2 AS BIGINT)",
    "SELECT y.id, k.partner_id, k.route_id, k.reseller_id, k.type, k.method, y.paid_at AS at,
       CAST(0 AS BIGINT) AS received, y.amount AS refund, y.tax AS refund_tax,
       CAST(0 AS BIGINT) AS surcharge
     FROM refund_payments y JOIN refund_keys k ON k.refund_id = y.refund_id
     WHERE y.id > $1 ORDER BY y.id LIMIT CAST($2 AS BIGINT)",
    "SELECT y.id, k.partner_id, k.route_id, k.reseller_id, k.type, k.method, y.returned_at AS at,
       CAST(0 AS BIGINT) AS received, -y.amount AS refund, -y.tax AS refund_tax,
       CAST(0 AS BIGINT) AS surcharge
     FROM refund_payments y JOIN refund_keys k ON k.refund_id = y.refund_id
     WHERE y.returned_at IS NOT NULL AND y.id > $1 ORDER BY y.id LIMIT CAST($2 AS BIGINT)",
    "SELECT r.id, k.partner_id, k.route_id, k.reseller_id, k.type, k.method, r.done_at AS at,
       CAST(0 AS BIGINT) AS received, CAST(0 AS BIGINT) AS refund, CAST(0 AS BIGINT) AS refund_tax,
       r.surcharge
     FROM reschedules r JOIN sales_keys k ON k.booking_id = r.booking_id
     WHERE r.surcharge <> 0 AND r.id > $1 ORDER BY r.id LIMIT CAST($2 AS BIGINT)",
];

/// Uses one snapshot; transitions that happen meanwhile are rolled up later.
async fn make(app: &App, anew: bool) -> Result<u64> {
    const SOME: usize = 10_000;
    let zone = app.config.timezone;
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
    let mut tx = app.db.begin_repeatable_read().await?;
    tx.lock(LOCK).await?;
    if !anew && is_kept(&mut tx, zone).await? {
        return Ok(0);
    }
    for statement in [
        "DELETE FROM booking_moves",
        "DELETE FROM sales_days",
        "DELETE FROM sales_months",
        "DELETE FROM partner_days",
        "DELETE FROM partner_months",
        "DELETE FROM route_months",
        "DELETE FROM reseller_days",
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
                "SELECT k.id, k.partner_id, s.route_id, k.reseller_id, k.type, k.status, k.paid_at,
                   k.qty AS passengers, k.subtotal, k.discount, k.tax, k.total, k.commission,
                   k.partner_net, k.margin, k.surcharge,
                   COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = k.id
                     AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1),
                     'other') AS method
                 FROM bookings k JOIN sailings s ON s.id = k.sailing_id
                 WHERE k.id > $1 ORDER BY k.id LIMIT CAST($2 AS BIGINT)",
            )
            .bind(last)
            .bind(SOME as i64)
            .all()
            .await?;
        for booked in &bookings {
            let Booked { partner_id, amounts, .. } = *booked;
            let of = booked.key();
            if let Some(paid_at) = booked.paid_at {
                figures.sale(&of, day(paid_at), amounts, 1);
            }
            figures.stand(partner_id, &booked.status, 1, amounts);
        }
        count += bookings.len() as u64;
        match bookings.last() {
            Some(booked) if bookings.len() == SOME => last = booked.id,
            _ => break,
        }
    }
    let (mut last, mut more) = (Uuid::nil(), true);
    while more {
        let moves = changed(&mut tx, last, SOME as i64).await?;
        more = moves.len() == SOME;
        last = moves.last().map_or(last, |moved| moved.id);
        for moved in &moves {
            moved.count(&mut figures, day)?;
        }
    }
    let (mut last, mut more) = (Uuid::nil(), true);
    while more {
        let shares = cancelled(&mut tx, last, SOME as i64).await?;
        more = shares.len() == SOME;
        last = shares.last().map_or(last, |share| share.id);
        for share in &shares {
            if let Some(paid_at) = share.paid_at {
                figures.share(&share.key(), day(paid_at), share.amounts);
            }
        }
    }
    for statement in MONEY {
        let (mut last, mut more) = (Uuid::nil(), true);
        while more {
            let rows: Vec<Moved> = tx.sql(statement).bind(last).bind(SOME as i64).all().await?;
            more = rows.len() == SOME;
            last = rows.last().map_or(last, |row| row.id);
            for moved in &rows {
                figures.money(&moved.key(), day(moved.at), moved.money);
            }
        }
    }
    figures.store(&mut tx).await?;
    tx.sql("INSERT INTO report_zones (zone, built_at) VALUES ($1, $2)")
        .bind(zone.name())
        .bind(app.clock.now())
        .run()
        .await?;
    tx.commit().await?;
    Ok(count)
}
