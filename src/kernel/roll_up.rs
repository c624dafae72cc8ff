//! Totals that are kept by day.
//!
//! Triggers write each change as a row of a table of moves. A job adds these rows to a table of totals
//! and deletes them. A report reads both tables in one statement, so it is exact at any time.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{
    db::Db,
    error::{Error, Result},
    set_aside::Pass,
};

/// The statements of one table of totals. [`crate::roll_up`] makes them.
pub struct RollUp {
    /// Only one process at a time changes the totals.
    pub lock: &'static str,
    /// Counts one move, if there is any.
    pub any: &'static str,
    pub add: &'static str,
    pub delete: &'static str,
}

/// Rows of one run.
const BATCH: i64 = 5_000;

/// `roll_up!("lock", "moves" => "totals" by ("day", "method") of ("received", "settled"))`
#[macro_export]
macro_rules! roll_up {
    ($lock:expr, $moves:literal => $totals:literal by ($key:literal $(, $keys:literal)*)
     of ($sum:literal $(, $sums:literal)*)) => {
        $crate::kernel::roll_up::RollUp {
            lock: $lock,
            any: concat!("SELECT COUNT(*) FROM (SELECT 1 FROM ", $moves, " LIMIT 1) AS any_move"),
            add: concat!(
                "INSERT INTO ", $totals, " (", $key, $(", ", $keys,)* ", ", $sum, $(", ", $sums,)* ")
                 SELECT ", $key, $(", ", $keys,)*
                ", CAST(SUM(", $sum, ") AS BIGINT)", $(", CAST(SUM(", $sums, ") AS BIGINT)",)*
                " FROM (SELECT * FROM ", $moves, " ORDER BY id LIMIT CAST($1 AS BIGINT)) AS batch
                 GROUP BY ", $key, $(", ", $keys,)*
                " ON CONFLICT (", $key, $(", ", $keys,)* ") DO UPDATE SET ",
                $sum, " = ", $totals, ".", $sum, " + excluded.", $sum,
                $(", ", $sums, " = ", $totals, ".", $sums, " + excluded.", $sums,)*
            ),
            delete: concat!(
                "DELETE FROM ", $moves, " WHERE id IN (SELECT id FROM ", $moves,
                " ORDER BY id LIMIT CAST($1 AS BIGINT))"
            ),
        }
    };
}

impl RollUp {
    /// Adds some moves to the totals. Both statements see the same snapshot, thus the same moves.
    pub async fn run(&self, db: &Db) -> Result<Pass> {
        match self.try_run(db).await {
            // Another process is doing it.
            Err(Error::Contention(_)) => Ok(Pass::default()),
            done => done,
        }
    }

    async fn try_run(&self, db: &Db) -> Result<Pass> {
        // Most runs find nothing, and must not wait for the lock.
        if db.sql(self.any).without_cached_plan().scalar::<i64>().await? == 0 {
            return Ok(Pass::default());
        }
        let mut tx = db.begin_repeatable_read().await?;
        tx.lock(self.lock).await?;
        let added = tx.sql(self.add).without_cached_plan().bind(BATCH).run().await?;
        if added == 0 {
            return Ok(Pass::default());
        }
        let done = tx.sql(self.delete).without_cached_plan().bind(BATCH).run().await?;
        tx.commit().await?;
        Ok(Pass { done, more: done == BATCH as u64 })
    }
}

/// Rebuilds totals. Retries while another process changes them.
pub async fn rebuilt<'a, T>(make: impl Fn() -> BoxFuture<'a, Result<T>>) -> Result<T> {
    const TRIES: u32 = 50;
    let mut tried = 0;
    loop {
        tried += 1;
        match make().await {
            Err(Error::Contention(_) | Error::Unavailable(_)) if tried < TRIES => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            done => return done,
        }
    }
}
