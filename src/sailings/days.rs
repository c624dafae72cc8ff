//! Totals of open sailings by day, which the dashboard and the statistics read instead of sailings.
//!
//! Triggers write every change as a row of `sailing_moves`; a job adds these rows to `sailing_days` and
//! deletes them. Seats change with every sale, so those of a sailing are not counted before it has
//! departed: then the job marks it as tallied, and later changes are written as well. Reports add what
//! has departed and is not tallied yet.

use chrono::{DateTime, Days, NaiveDate, Utc};
use futures_util::FutureExt;

use crate::{
    app::App,
    kernel::{
        db::Db,
        error::Result,
        ids::Uuid,
        roll_up::{RollUp, rebuilt},
        set_aside::Pass,
    },
    roll_up,
};

/// Only one process at a time changes the totals.
const LOCK: &str = "sailing_days";

const DAYS: RollUp = roll_up!(
    LOCK, "sailing_moves" => "sailing_days"
    by ("day") of ("departures", "tallied", "seats", "seats_taken")
);

/// Tallies sailings that have departed and adds all changes to the totals; returns how many.
pub async fn roll_up(app: &App) -> Result<u64> {
    let mut done = 0;
    loop {
        let pass = roll_up_some(app).await?;
        done += pass.done;
        if !pass.more {
            return Ok(done);
        }
    }
}

/// The same for some of them.
pub async fn roll_up_some(app: &App) -> Result<Pass> {
    let (tallied, added) = (tally(app).await?, DAYS.run(&app.db).await?);
    Ok(Pass { done: tallied.done + added.done, more: tallied.more || added.more })
}

async fn tally(app: &App) -> Result<Pass> {
    const SOME: usize = 500;
    let now = app.clock.now();
    let departed: Vec<(Uuid,)> = app
        .db
        .sql(
            "SELECT id FROM sailings WHERE status = 'open' AND NOT tallied AND departure_at <= $1
             ORDER BY departure_at LIMIT CAST($2 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(SOME as i64)
        .all()
        .await?;
    if departed.is_empty() {
        return Ok(Pass::default());
    }
    let mut tx = app.db.begin().await?;
    let tallied = tx.sql_among(
        "UPDATE sailings SET tallied = TRUE
         WHERE status = 'open' AND NOT tallied AND departure_at <= $1 AND id IN",
        departed.len(),
        "",
    );
    let tallied = tallied.bind(now);
    let done = departed.iter().fold(tallied, |tallied, (id,)| tallied.bind(*id)).run().await?;
    tx.commit().await?;
    Ok(Pass { done, more: departed.len() == SOME })
}

/// Rebuilds the totals from the sailings.
pub async fn rebuild(app: &App) -> Result<()> {
    rebuilt(|| make(app).boxed()).await?;
    Ok(app.db.analyze(["sailing_days"]).await?)
}

/// Uses one snapshot; changes that happen meanwhile are added later. One statement per month, so that
/// none takes long.
async fn make(app: &App) -> Result<()> {
    const STEP: Days = Days::new(31);
    let mut tx = app.db.begin_repeatable_read().await?;
    tx.lock(LOCK).await?;
    tx.sql("DELETE FROM sailing_moves").run().await?;
    tx.sql("DELETE FROM sailing_days").run().await?;
    let first: Option<DateTime<Utc>> =
        tx.sql("SELECT MIN(departure_at) FROM sailings").scalar().await?;
    let last: Option<DateTime<Utc>> =
        tx.sql("SELECT MAX(departure_at) FROM sailings").scalar().await?;
    let Some((mut from, last)) = first.zip(last) else { return Ok(tx.commit().await?) };
    while from <= last {
        let until = from + STEP;
        tx.sql(
            "INSERT INTO sailing_days (day, departures, tallied, seats, seats_taken)
             SELECT day, COUNT(*), COUNT(CASE WHEN tallied THEN 1 END),
               CAST(SUM(CASE WHEN tallied THEN capacity ELSE 0 END) AS BIGINT),
               CAST(SUM(CASE WHEN tallied THEN seats_taken ELSE 0 END) AS BIGINT)
             FROM sailings
             WHERE status = 'open' AND departure_at >= $1 AND departure_at < $2
             GROUP BY day
             ON CONFLICT (day) DO UPDATE SET
               departures = sailing_days.departures + excluded.departures,
               tallied = sailing_days.tallied + excluded.tallied,
               seats = sailing_days.seats + excluded.seats,
               seats_taken = sailing_days.seats_taken + excluded.seats_taken",
        )
        .bind(from)
        .bind(until)
        .run()
        .await?;
        from = until;
    }
    Ok(tx.commit().await?)
}

/// Open sailings by day.
#[derive(crate::kernel::db::FromRow)]
pub struct Departures {
    pub day: NaiveDate,
    pub departures: i64,
}

/// Open sailings of one partner or of all, for each day with any.
pub async fn departures(
    db: &Db,
    partner: Option<Uuid>,
    (first, last): (NaiveDate, NaiveDate),
) -> Result<Vec<Departures>> {
    let by_day = match partner {
        Some(partner) => db
            .sql(
                "SELECT day, COUNT(*) AS departures FROM sailings
                 WHERE status = 'open' AND partner_id = $3 AND day BETWEEN $1 AND $2
                   AND departure_at >= $4 AND departure_at < $5
                 GROUP BY day",
            )
            .bind(first)
            .bind(last)
            .bind(partner)
            // Limits the range of the index, which has the time of departure and not its day.
            .bind(super::detail::earliest_departure(first))
            .bind(super::detail::latest_departure(last)),
        None => db
            .sql(
                "SELECT day, CAST(SUM(departures) AS BIGINT) AS departures
                 FROM (SELECT day, departures FROM sailing_days WHERE day BETWEEN $1 AND $2
                       UNION ALL
                       SELECT day, departures FROM sailing_moves WHERE day BETWEEN $1 AND $2) each
                 GROUP BY day",
            )
            .bind(first)
            .bind(last),
    };
    Ok(by_day.long().all().await?)
}

/// Number of upcoming sailings of one partner or of all.
pub async fn upcoming(db: &Db, partner: Option<Uuid>, now: DateTime<Utc>) -> Result<i64> {
    let count = match partner {
        Some(partner) => db
            .sql(
                "SELECT COUNT(*) FROM sailings
                 WHERE partner_id = $2 AND status = 'open' AND departure_at > $1",
            )
            .bind(now)
            .bind(partner),
        None => db
            .sql(
                "SELECT CAST(COALESCE(SUM(departures - tallied), 0) AS BIGINT)
                   - (SELECT COUNT(*) FROM sailings
                      WHERE status = 'open' AND NOT tallied AND departure_at <= $1)
                 FROM (SELECT departures, tallied FROM sailing_days
                       UNION ALL SELECT departures, tallied FROM sailing_moves) each",
            )
            .bind(now),
    };
    Ok(count.long().scalar().await?)
}
