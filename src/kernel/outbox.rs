//! Transactional outbox: items are inserted in the transaction of a change and delivered at least
//! once after its commit.
//!
//! Any process may deliver. A claim moves the due time of an item to the end of a lease and sets a
//! fresh lease id; only the holder of that lease can finish the item. A failed item is retried with
//! growing pauses. After the last attempt it stays as a dead letter for an operator.
//!
//! Events and each kind of follow-up work have separate queues: a mail server that hangs delays
//! mails and nothing else. Items of one lane are delivered in order.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;

use super::{
    db::{Db, Tx},
    error::{Error, Result},
    ids::{self, Uuid},
    set_aside::{self, RowJob},
};

const LEASE: TimeDelta = TimeDelta::seconds(60);
const MAX_ATTEMPTS: i32 = 16;
const LONGEST_PAUSE: i64 = 6 * 60 * 60;

#[derive(Debug, crate::kernel::db::FromRow)]
pub struct Item {
    pub id: Uuid,
    pub topic: String,
    pub payload: Value,
    pub attempts: i32,
    pub created_at: DateTime<Utc>,
    lane: Option<String>,
    lease: Uuid,
}

impl Item {
    /// Whether the attempts are used up without a recorded failure: the process crashed during the
    /// last one.
    pub fn is_poison(&self) -> bool {
        self.attempts > MAX_ATTEMPTS
    }

    /// Whether it becomes a dead letter if this attempt fails.
    pub fn is_last_try(&self) -> bool {
        self.attempts >= MAX_ATTEMPTS
    }

    /// Whether it has failed or was postponed before.
    pub fn is_retry(&self) -> bool {
        self.attempts > 1
    }
}

/// An item to insert.
pub struct New<'a> {
    pub topic: &'static str,
    pub payload: Value,
    /// Items of a lane are delivered in order.
    pub lane: Option<String>,
    pub due_at: DateTime<Utc>,
    pub queue: Queue,
    /// The item that it follows from, whose position in the lane it takes.
    pub after: Option<&'a Item>,
}

crate::string_enum! {
    /// Queues are delivered independently of one another.
    pub enum Queue {
        /// Domain events. Fanned out to mails, notifications and webhooks, in the database alone.
        Event = "event",
        Mail = "mail",
        Payment = "payment",
        Webhook = "webhook",
    }
}

/// The lane of items about one entity.
pub fn lane(id: Uuid) -> String {
    id.simple().to_string()
}

/// Inserts an item with high priority: `due_at` is backdated by one day.
pub async fn put(
    tx: &mut Tx,
    queue: Queue,
    topic: &'static str,
    payload: &impl Serialize,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let (payload, due_at) = (written(payload)?, now - TimeDelta::days(1));
    put_new(tx, New { topic, payload, lane: None, due_at, queue, after: None }, now).await
}

/// Inserts an event about an entity, behind its earlier events.
pub async fn put_about(
    tx: &mut Tx,
    about: Uuid,
    topic: &'static str,
    payload: &impl Serialize,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let (lane, queue, payload) = (Some(lane(about)), Queue::Event, written(payload)?);
    put_new(tx, New { topic, payload, lane, due_at: now, queue, after: None }, now).await
}

fn written(payload: &impl Serialize) -> Result<Value> {
    serde_json::to_value(payload).map_err(Error::internal)
}

/// Inserts many items in one statement.
pub async fn put_many(tx: &mut Tx, many: &[New<'_>], now: DateTime<Utc>) -> Result<()> {
    if many.is_empty() {
        return Ok(());
    }
    tx.insert_all(COLUMNS, 8, many, |statement, new| {
        statement
            .bind(ids::fresh())
            .bind(new.topic)
            .bind(new.payload.clone())
            .bind(0)
            .bind(new.due_at)
            .bind(new.lane.clone())
            .bind(new.queue)
            .bind(new.after.map_or(now, |event| event.created_at))
    })
    .await?;
    tx.posts();
    Ok(())
}

const COLUMNS: &str =
    "INSERT INTO outbox (id, topic, payload, attempts, due_at, lane, queue, created_at)";

pub async fn put_new(tx: &mut Tx, new: New<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO outbox (id, topic, payload, attempts, due_at, lane, queue, created_at)
         VALUES ($1, $2, $3, 0, $4, $5, $6, $7)",
    )
    .bind(id)
    .bind(new.topic)
    .bind(new.payload)
    .bind(new.due_at)
    .bind(new.lane)
    .bind(new.queue)
    .bind(new.after.map_or(now, |event| event.created_at))
    .run()
    .await?;
    tx.posts();
    Ok(id)
}

/// Claims up to `limit` due items for the duration of a lease. Of a lane only the first item that
/// is not dead can be claimed.
pub async fn claim(db: &Db, queue: Queue, now: DateTime<Utc>, limit: i64) -> Result<Vec<Item>> {
    if !any_due(db, queue, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = db.begin().await?;
    // The CTE is evaluated once, and the first item of a lane is an index lookup; a join could
    // repeat either for every row. The UPDATE checks the conditions again on rows that another
    // process has just claimed.
    let items = tx
        .sql(
            "WITH due AS MATERIALIZED
               (SELECT o.id FROM outbox o
                WHERE o.queue = $5 AND o.due_at <= $3 AND o.dead_at IS NULL
                  AND (o.lane IS NULL OR o.id = (SELECT e.id FROM outbox e
                    WHERE e.lane = o.lane AND e.dead_at IS NULL
                    ORDER BY e.created_at, e.id LIMIT 1))
                ORDER BY o.due_at LIMIT CAST($4 AS BIGINT))
             UPDATE outbox SET due_at = $1, lease = $2, attempts = attempts + 1
             WHERE due_at <= $3 AND dead_at IS NULL AND id IN (SELECT id FROM due)
             RETURNING id, topic, payload, attempts, created_at, lease, lane",
        )
        .without_cached_plan()
        .bind(now + LEASE)
        .bind(ids::fresh())
        .bind(now)
        .bind(limit)
        .bind(queue)
        .all()
        .await?;
    tx.commit().await?;
    Ok(items)
}

/// A read that saves a write transaction when nothing is due.
async fn any_due(db: &Db, queue: Queue, now: DateTime<Utc>) -> Result<bool> {
    let due = db
        .sql(
            "SELECT id FROM outbox
             WHERE queue = $1 AND due_at <= $2 AND dead_at IS NULL LIMIT 1",
        )
        .without_cached_plan()
        .bind(queue)
        .bind(now)
        .maybe::<(Uuid,)>()
        .await?;
    Ok(due.is_some())
}

/// Removes a delivered item, unless the lease has expired and another process has claimed it.
pub async fn done(db: &Db, item: &Item) -> Result<()> {
    db.sql("DELETE FROM outbox WHERE id = $1 AND lease = $2")
        .without_cached_plan()
        .bind(item.id)
        .bind(item.lease)
        .run()
        .await?;
    Ok(())
}

/// Removes items of one claim in the transaction of their effects. Returns those whose lease is
/// still held; the effects of the others must not be committed here.
pub async fn done_all(tx: &mut Tx, items: &[Item]) -> Result<Vec<Uuid>> {
    let Some(first) = items.first() else { return Ok(Vec::new()) };
    let head = "DELETE FROM outbox WHERE lease = $1 AND id IN";
    let statement = tx.sql_among(head, items.len(), "RETURNING id").bind(first.lease);
    let removed: Vec<(Uuid,)> =
        items.iter().fold(statement, |statement, item| statement.bind(item.id)).all().await?;
    Ok(removed.into_iter().map(|(id,)| id).collect())
}

/// Schedules a retry, or marks the item as dead after its last attempt.
pub async fn failed(db: &Db, item: &Item, why: &str, now: DateTime<Utc>) -> Result<()> {
    let dead = item.is_last_try();
    let mut tx = db.begin().await?;
    let again_at = now + pause(item.attempts);
    tx.sql(
        "UPDATE outbox SET due_at = $1, dead_at = $2, last_error = $3, lease = NULL
         WHERE id = $4 AND lease = $5",
    )
    .without_cached_plan()
    .bind(again_at)
    .bind(dead.then_some(now))
    .bind(why.chars().take(1_000).collect::<String>())
    .bind(item.id)
    .bind(item.lease)
    .run()
    .await?;
    if !dead {
        delay_lane(&mut tx, item, again_at).await?;
    }
    Ok(tx.commit().await?)
}

/// Postpones the items behind this one in its lane until it is due again.
async fn delay_lane(tx: &mut Tx, item: &Item, until: DateTime<Utc>) -> Result<()> {
    let Some(lane) = &item.lane else { return Ok(()) };
    tx.sql(
        "UPDATE outbox SET due_at = $1
         WHERE lane = $2 AND dead_at IS NULL AND due_at < $1 AND lease IS NULL",
    )
    .without_cached_plan()
    .bind(until)
    .bind(lane.clone())
    .run()
    .await?;
    Ok(())
}

/// Keeps an item whose topic this version does not know, because a newer version wrote it and can
/// deliver it. It is retried with growing pauses, never becomes a dead letter, and is recorded in
/// `set_aside`, where operators see it.
pub async fn postpone(db: &Db, item: &Item, now: DateTime<Utc>) -> Result<()> {
    let why = Error::internal(format!("this version does not know {}", item.topic));
    let again_at = set_aside::note(db, RowJob::DeliverOutbox, item.id, &why, now).await?;
    let mut tx = db.begin().await?;
    // Counted as one attempt, so that its delivery removes the record.
    tx.sql(
        "UPDATE outbox SET due_at = $1, attempts = 1, last_error = $2, lease = NULL
         WHERE id = $3 AND lease = $4",
    )
    .without_cached_plan()
    .bind(again_at)
    .bind(why.to_string())
    .bind(item.id)
    .bind(item.lease)
    .run()
    .await?;
    delay_lane(&mut tx, item, again_at).await?;
    Ok(tx.commit().await?)
}

/// Removes the record of a postponed item after its delivery.
pub async fn forget_postponed(db: &Db, item: &Item) -> Result<()> {
    set_aside::remove(db, RowJob::DeliverOutbox, item.id).await.map(drop)
}

/// Makes the postponed items of a lane due at once.
pub async fn hurry(tx: &mut Tx, lane: &str, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE outbox SET due_at = $1
         WHERE lane = $2 AND dead_at IS NULL AND due_at > $1 AND lease IS NULL",
    )
    .bind(now)
    .bind(lane.to_owned())
    .run()
    .await?;
    tx.posts();
    Ok(())
}

/// Deletes the items of a queue and returns their number.
pub async fn forget(db: &Db, queue: Queue) -> Result<u64> {
    Ok(db.sql("DELETE FROM outbox WHERE queue = $1").bind(queue).run().await?)
}

#[derive(Debug, crate::kernel::db::FromRow)]
pub struct Dead {
    pub id: Uuid,
    pub topic: String,
    pub attempts: i32,
    pub last_error: Option<String>,
    pub dead_at: DateTime<Utc>,
}

/// The number of items to deliver, and the dead letters, newest first.
pub async fn state(db: &Db) -> Result<(i64, Vec<Dead>)> {
    let waiting = db.sql("SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL").scalar().await?;
    let dead = db
        .sql(
            "SELECT id, topic, attempts, last_error, dead_at FROM outbox
             WHERE dead_at IS NOT NULL ORDER BY dead_at DESC, id DESC LIMIT 1000",
        )
        .all()
        .await?;
    Ok((waiting, dead))
}

/// How far the delivery of a queue is behind.
#[derive(Debug, crate::kernel::db::FromRow)]
pub struct Backlog {
    pub queue: Queue,
    /// Items that are due; at most 10,000 are counted.
    pub due: i64,
    /// Since when the oldest of them is due.
    pub due_since: Option<DateTime<Utc>>,
    pub dead: i64,
}

pub async fn backlog(db: &Db, now: DateTime<Utc>) -> Result<Vec<Backlog>> {
    let mut all = Vec::new();
    for queue in Queue::ALL {
        // Items of high priority are due before they are created.
        let backlog = db
            .sql(
                "SELECT $1 AS queue, COUNT(*) AS due,
                   MIN(CASE WHEN due_at < created_at THEN created_at ELSE due_at END) AS due_since,
                   (SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL AND queue = $1) AS dead
                 FROM (SELECT due_at, created_at FROM outbox
                   WHERE queue = $1 AND dead_at IS NULL AND due_at <= $2
                   ORDER BY due_at LIMIT 10000) AS q",
            )
            .bind(*queue)
            .bind(now);
        all.push(backlog.one().await?);
    }
    Ok(all)
}

/// Makes one dead letter or all of them due again; returns their number.
pub async fn retry_dead(db: &Db, id: Option<Uuid>, now: DateTime<Utc>) -> Result<u64> {
    let revived = db
        .sql(
            "UPDATE outbox SET dead_at = NULL, attempts = 0, due_at = $1, last_error = NULL
             WHERE dead_at IS NOT NULL AND ($2 IS NULL OR id = $2)",
        )
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(revived)
}

/// 5 s, 10 s, 20 s, … up to six hours: about a day until the last attempt.
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
