//! What must happen after a commit, written within it and delivered at least once.
//!
//! Any process may deliver. An item is claimed by moving its due time past a lease, under a
//! fresh lease id; whoever finishes it must still hold that lease. What fails comes back later and
//! later, and after the last try stays as a dead letter for a person to look at.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    db::{Db, Tx},
    error::{Error, Result},
    ids::{self, Uuid},
};

const LEASE: TimeDelta = TimeDelta::seconds(60);
const MAX_ATTEMPTS: i32 = 16;
const LONGEST_PAUSE: i64 = 6 * 60 * 60;

#[derive(Debug, sqlx::FromRow)]
pub struct Item {
    pub id: Uuid,
    pub topic: String,
    pub payload: Value,
    pub attempts: i32,
    pub created_at: DateTime<Utc>,
    lease: Uuid,
}

impl Item {
    /// Tried as often as it may be, and never heard of again: whoever had it crashed.
    pub fn is_poison(&self) -> bool {
        self.attempts > MAX_ATTEMPTS
    }

    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.payload).map_err(Error::internal)
    }
}

/// Puts an item in; it is due at once.
pub async fn put(
    tx: &mut Tx,
    topic: &'static str,
    payload: &impl Serialize,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at)
         VALUES ($1, $2, $3, 0, $4, $4)",
    )
    .bind(id)
    .bind(topic)
    .bind(serde_json::to_value(payload).map_err(Error::internal)?)
    .bind(now)
    .run()
    .await?;
    tx.posts();
    Ok(id)
}

/// Puts many items of a topic in, in one statement.
pub async fn put_all(
    tx: &mut Tx,
    topic: &'static str,
    payloads: &[Value],
    now: DateTime<Utc>,
) -> Result<()> {
    tx.insert_all(
        "INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at)",
        6,
        payloads,
        |statement, payload| {
            statement
                .bind(ids::fresh())
                .bind(topic)
                .bind(payload.clone())
                .bind(0)
                .bind(now)
                .bind(now)
        },
    )
    .await?;
    tx.posts();
    Ok(())
}

/// Takes up to `limit` items that are due, for the time of a lease.
pub async fn claim(db: &Db, now: DateTime<Utc>, limit: i64) -> Result<Vec<Item>> {
    if !any_due(db, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = db.begin().await?;
    // The outer conditions are checked again on a row that another process has just claimed.
    let items = tx
        .sql(
            "UPDATE outbox SET due_at = $1, lease = $2, attempts = attempts + 1
             WHERE due_at <= $3 AND dead_at IS NULL AND id IN
               (SELECT id FROM outbox WHERE due_at <= $3 AND dead_at IS NULL
                ORDER BY due_at LIMIT $4)
             RETURNING id, topic, payload, attempts, created_at, lease",
        )
        .bind(now + LEASE)
        .bind(ids::fresh())
        .bind(now)
        .bind(limit)
        .all()
        .await?;
    tx.commit().await?;
    Ok(items)
}

/// Spares an idle service a write transaction at every look.
async fn any_due(db: &Db, now: DateTime<Utc>) -> Result<bool> {
    let due = db
        .sql("SELECT id FROM outbox WHERE due_at <= $1 AND dead_at IS NULL LIMIT 1")
        .bind(now)
        .maybe::<(Uuid,)>()
        .await?;
    Ok(due.is_some())
}

/// Removes a delivered item, in the transaction of its effect where it has one. `false`: the
/// lease was lost, somebody else has it now, and the effect must not be committed twice.
pub async fn done(tx: &mut Tx, item: &Item) -> Result<bool> {
    let removed = tx
        .sql("DELETE FROM outbox WHERE id = $1 AND lease = $2")
        .bind(item.id)
        .bind(item.lease)
        .run()
        .await?;
    Ok(removed == 1)
}

/// Sends an item back, or lays it to rest after its last try.
pub async fn failed(db: &Db, item: &Item, why: &str, now: DateTime<Utc>) -> Result<()> {
    let dead = item.attempts >= MAX_ATTEMPTS;
    db.sql(
        "UPDATE outbox SET due_at = $1, dead_at = $2, last_error = $3, lease = NULL
         WHERE id = $4 AND lease = $5",
    )
    .bind(now + pause(item.attempts))
    .bind(dead.then_some(now))
    .bind(why.chars().take(1_000).collect::<String>())
    .bind(item.id)
    .bind(item.lease)
    .run()
    .await?;
    Ok(())
}

/// 5 s, 10 s, 20 s, … up to six hours: about a day until the last try.
fn pause(attempts: i32) -> TimeDelta {
    let seconds = 5_i64.saturating_mul(1 << (attempts - 1).clamp(0, 30));
    TimeDelta::seconds(seconds.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_within_a_day() {
        let pauses: Vec<_> = (1..MAX_ATTEMPTS).map(pause).collect();
        assert!(pauses.is_sorted());
        assert_eq!(pauses[0], TimeDelta::seconds(5));
        let whole = pauses.iter().sum::<TimeDelta>();
        assert!(whole > TimeDelta::hours(20) && whole < TimeDelta::days(1), "{whole}");
        assert_eq!(pause(i32::MAX), TimeDelta::seconds(LONGEST_PAUSE));
    }
}
