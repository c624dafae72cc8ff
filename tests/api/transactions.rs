//! Transactions: atomic, durable, isolated.

use std::time::Duration;

use dermaga::kernel::db::{Db, Tx};
use futures_util::future::join_all;

use crate::{on_both_engines, world::World};

on_both_engines![
    uncommitted_changes_are_rolled_back,
    a_future_dropped_in_the_middle_leaves_the_writer_usable,
    a_failed_transaction_fails_alone,
    a_lock_makes_others_wait,
    values_of_domain_types_round_trip,
    a_deadlock_is_contention,
    a_refused_single_statement_fails_alone,
    the_queue_is_bounded,
    readers_are_queued,
    a_cancelled_write_in_the_queue_has_no_effect,
];

async fn put(tx: &mut Tx, name: &str) -> Result<u64, dermaga::kernel::db::Failure> {
    let insert = "INSERT INTO locks (name, taken) VALUES ($1, 0)";
    tx.sql(insert).bind(name.to_owned()).run().await
}

async fn names(db: &Db) -> Vec<String> {
    let rows = db
        .sql("SELECT name FROM locks WHERE name <> 'reports' ORDER BY name")
        .all::<(String,)>()
        .await
        .unwrap();
    rows.into_iter().map(|(name,)| name).collect()
}

async fn uncommitted_changes_are_rolled_back(world: World) {
    let db = world.db();
    let mut tx = db.begin().await.unwrap();
    put(&mut tx, "a").await.unwrap();
    assert_eq!(names(db).await, [""; 0], "nobody else sees it yet");
    drop(tx);
    let mut tx = db.begin().await.unwrap();
    put(&mut tx, "b").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(names(db).await, ["b"]);
}

async fn a_future_dropped_in_the_middle_leaves_the_writer_usable(world: World) {
    let db = world.db().clone();
    // Cancelled at every stage: waiting, beginning, writing, committing.
    for micros in (0..4_000).step_by(97) {
        let (mine, name) = (db.clone(), format!("cut {micros:04}"));
        let work = async move {
            let mut tx = mine.begin().await.unwrap();
            for step in 0..4 {
                put(&mut tx, &format!("{name} {step}")).await.unwrap();
            }
            tx.commit().await.unwrap();
        };
        let _ = tokio::time::timeout(Duration::from_micros(micros), work).await;
        let kept = db.clone();
        let mut tx = kept.begin().await.unwrap();
        put(&mut tx, &format!("kept {micros:04}")).await.unwrap();
        tx.commit().await.unwrap();
    }
    let all = names(&db).await;
    let kept = all.iter().filter(|name| name.starts_with("kept")).count();
    assert_eq!(kept, 42);
    // A cancelled transaction is committed as a whole or not at all.
    assert_eq!((all.len() - kept) % 4, 0, "{all:?}");
}

async fn a_failed_transaction_fails_alone(world: World) {
    let db = world.db();
    let mut first = db.begin().await.unwrap();
    put(&mut first, "taken").await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..32 {
        let db = db.clone();
        tasks.spawn(async move {
            let mut tx = db.begin().await.unwrap();
            put(&mut tx, &format!("n{n:02}")).await.unwrap();
            if n % 3 == 0 {
                let failure = put(&mut tx, "taken").await.unwrap_err();
                assert!(failure.is_unique());
                return;
            }
            if n % 3 == 1 {
                return;
            }
            tx.commit().await.unwrap();
        });
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    first.commit().await.unwrap();
    tasks.join_all().await;
    let expected = (0..32).filter(|n| n % 3 == 2).map(|n| format!("n{n:02}"));
    assert_eq!(names(db).await, expected.chain(["taken".into()]).collect::<Vec<_>>());
}

async fn a_lock_makes_others_wait(world: World) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let db = world.db().clone();
        tasks.spawn(async move {
            let mut tx = db.begin().await.unwrap();
            tx.lock("test").await.unwrap();
            // Read, then write: safe only because of the lock.
            let seen: i64 = tx
                .sql("SELECT COUNT(*) FROM locks WHERE name LIKE 'seen%'")
                .scalar()
                .await
                .unwrap();
            put(&mut tx, &format!("seen {seen:02}")).await.unwrap();
            tx.commit().await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(names(world.db()).await.len(), 17);
}

async fn values_of_domain_types_round_trip(world: World) {
    use chrono::{DateTime, NaiveDate, Utc};
    use dermaga::kernel::{ids, ids::Uuid, money::Rupiah};
    use serde_json::{Value, json};
    type Everything =
        (Uuid, String, i64, Rupiah, bool, NaiveDate, Value, DateTime<Utc>, Vec<u8>, Option<Uuid>);
    let sent: Everything = (
        ids::fresh(),
        "Ünïcode 'quoted' \\ %".into(),
        i64::MAX,
        Rupiah(-5),
        true,
        "2028-02-29".parse().unwrap(),
        json!({ "a": [1, 2.5, null, "b"] }),
        "2026-11-15T03:00:00.000001Z".parse().unwrap(),
        vec![0, 255],
        None,
    );
    let mut tx = world.db().begin().await.unwrap();
    tx.sql(
        "CREATE TABLE things (id UUID, t TEXT, n BIGINT, m BIGINT, b BOOLEAN, d DATE, j JSONB,
           at TIMESTAMPTZ, bytes BYTEA, none UUID)",
    )
    .run()
    .await
    .unwrap();
    tx.sql("INSERT INTO things VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
        .bind(sent.0)
        .bind(sent.1.clone())
        .bind(sent.2)
        .bind(sent.3)
        .bind(sent.4)
        .bind(sent.5)
        .bind(sent.6.clone())
        .bind(sent.7)
        .bind(sent.8.clone())
        .bind(sent.9)
        .run()
        .await
        .unwrap();
    tx.commit().await.unwrap();
    let back: Everything = world.db().sql("SELECT * FROM things").one().await.unwrap();
    assert_eq!(back, sent);
    let found = "SELECT COUNT(*) FROM things WHERE at > $1 AND at <= $2 AND id = $3";
    let found: i64 = world
        .db()
        .sql(found)
        .bind("2026-11-15T03:00:00Z".parse::<DateTime<Utc>>().unwrap())
        .bind(sent.7)
        .bind(sent.0)
        .scalar()
        .await
        .unwrap();
    assert_eq!(found, 1);
}

/// Two transactions that lock two rows in opposite order: on PostgreSQL one is rolled back and
/// reports contention; on SQLite, where writers are serialised, neither is.
async fn a_deadlock_is_contention(world: World) {
    let db = world.db().clone();
    for name in ["x", "y"] {
        let mut tx = db.begin().await.unwrap();
        put(&mut tx, name).await.unwrap();
        tx.commit().await.unwrap();
    }
    let both = tokio::sync::Barrier::new(2);
    let take = async |first: &'static str, second: &'static str| {
        let mut tx = db.begin().await?;
        let update = "UPDATE locks SET taken = taken + 1 WHERE name = $1";
        tx.sql(update).bind(first).run().await?;
        if db.engine() == "postgres" {
            both.wait().await;
        }
        tx.sql(update).bind(second).run().await?;
        tx.commit().await
    };
    let (a, b) = tokio::join!(take("x", "y"), take("y", "x"));
    let failures: Vec<_> = [a, b].into_iter().filter_map(Result::err).collect();
    assert_eq!(failures.len(), usize::from(db.engine() == "postgres"));
    assert!(failures.iter().all(|failure| failure.is_contention()), "{failures:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_that_queue_share_a_commit() {
    let world = World::on_sqlite().await;
    let db = world.db();
    let before = db.commits().unwrap();
    let mut first = db.begin().await.unwrap();
    put(&mut first, "first").await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..63 {
        let db = db.clone();
        tasks.spawn(async move {
            let mut tx = db.begin().await.unwrap();
            put(&mut tx, &format!("n{n}")).await.unwrap();
            tx.commit().await.unwrap();
        });
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    first.commit().await.unwrap();
    tasks.join_all().await;
    assert_eq!(names(db).await.len(), 64);
    let commits = db.commits().unwrap() - before;
    assert!(commits <= 8, "64 transactions took {commits} commits");
}

/// The database becomes unreachable under a running service, and recovers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_503_and_ends_by_itself() {
    let Some(world) = World::on_postgres().await else { return };
    let admin = world.admin().await;
    let url = world.app.config.database_url.as_ref().unwrap().0.0.clone();
    let name = url.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned();
    let elsewhere = url.replace(&name, "postgres");
    let switch = async |allowed: bool| {
        let text = format!(
            "ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed};
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        crate::cluster::run_at(&elsewhere, &text).await;
    };

    switch(false).await;
    let started = std::time::Instant::now();
    let answer = world.get("/user/me").by(&admin).send().await;
    assert_eq!(answer.header("retry-after"), "1");
    assert!(
        !answer.body.to_string().contains("database"),
        "nothing of the inside: {}",
        answer.body
    );
    answer.is(503, "unavailable");
    world.get("/health").send().await.is(503, "unavailable");
    world.get("/health/live").send().await.ok();
    assert!(started.elapsed() < Duration::from_secs(20), "10 s each at the most");

    switch(true).await;
    while world.get("/health").send().await.status != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.get("/user/me").by(&admin).send().await.ok();
}

async fn a_refused_single_statement_fails_alone(world: World) {
    let insert = async |n: usize| {
        let insert = "INSERT INTO locks (name, taken) VALUES ($1, 0)";
        world.db().sql(insert).bind(format!("n{:02}", n / 2)).run().await
    };
    let done = join_all((0..80).map(insert)).await;
    let refused: Vec<_> = done.iter().filter_map(|done| done.as_ref().err()).collect();
    assert!(refused.len() == 40 && refused.iter().all(|why| why.is_unique()), "{refused:?}");
    assert_eq!(names(world.db()).await.len(), 40);
}

/// Takes every connection that can write.
async fn hold_all(db: &Db) -> Vec<Tx> {
    let mut held = Vec::new();
    for _ in 0..if db.engine() == "sqlite" { 1 } else { 16 } {
        held.push(db.begin().await.unwrap());
    }
    held
}

async fn a_cancelled_write_in_the_queue_has_no_effect(world: World) {
    let held = hold_all(world.db()).await;
    let insert = "INSERT INTO locks (name, taken) VALUES ('late', 0)";
    let write = world.db().sql(insert).run();
    assert!(tokio::time::timeout(Duration::from_millis(50), write).await.is_err());
    drop(held);
    world.db().sql("INSERT INTO locks (name, taken) VALUES ('next', 0)").run().await.unwrap();
    assert_eq!(names(world.db()).await, ["next"]);
}

/// Callers in the queue are served; those beyond its limit fail at once.
async fn the_queue_is_bounded(world: World) {
    let mut held = hold_all(world.db()).await;
    let write = async |_| {
        let insert = "INSERT INTO locks (name, taken) VALUES ('x', 1) ON CONFLICT DO NOTHING";
        world.db().sql(insert).run().await
    };
    let release = async {
        // All callers are queued by now.
        tokio::time::sleep(Duration::from_millis(200)).await;
        held.clear();
    };
    let (done, ()) = tokio::join!(join_all((0..600).map(write)), release);
    let refused: Vec<_> = done.iter().filter_map(|done| done.as_ref().err()).collect();
    assert_eq!(refused.len(), 600 - 512);
    assert!(refused.iter().all(|why| why.is_unavailable()));
    write(0).await.unwrap();
}

async fn readers_are_queued(world: World) {
    // The readers of SQLite are not affected.
    let mut held = hold_all(world.db()).await;
    let read = async |_| world.db().sql("SELECT COUNT(*) FROM locks").scalar::<i64>().await;
    let release = async {
        let mut busy = false;
        for _ in 0..200 {
            busy |= world.db().is_busy();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        held.clear();
        busy
    };
    let (done, busy) = tokio::join!(join_all((0..600).map(read)), release);
    let refused: Vec<_> = done.iter().filter_map(|done| done.as_ref().err()).collect();
    assert!(!refused.is_empty() && refused.len() <= 600 - 512, "{}", refused.len());
    assert!(refused.iter().all(|why| why.is_unavailable()));
    assert!(busy, "what nobody waits for gives way");
    read(0).await.unwrap();
}

#[tokio::test]
async fn writes_succeed_after_another_process_released_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let db = Db::open(file.to_str().unwrap()).await.unwrap();
    db.sql("CREATE TABLE things (n BIGINT CHECK (n < 10))").run().await.unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let put = |n: i64| db.sql("INSERT INTO things VALUES ($1)").bind(n).run();
    let (one, two) = tokio::join!(put(1), put(2));
    assert!(one.unwrap_err().is_unavailable() && two.unwrap_err().is_unavailable());
    assert!(db.begin().await.err().unwrap().is_unavailable());
    drop(other);
    // Each member of a group has its own result.
    let in_a_transaction = async {
        let mut tx = db.begin().await.unwrap();
        tx.sql("INSERT INTO things VALUES (3)").run().await.unwrap();
        tx.commit().await
    };
    let dropped = async {
        let mut tx = db.begin().await.unwrap();
        tx.sql("INSERT INTO things VALUES (4)").run().await.unwrap();
    };
    let (one, ten, three, _, two) =
        tokio::join!(put(1), put(10), in_a_transaction, dropped, put(2));
    assert_eq!((one.unwrap(), two.unwrap()), (1, 1));
    assert!(ten.unwrap_err().is_check());
    three.unwrap();
    let all = db.sql("SELECT n FROM things ORDER BY n").all::<(i64,)>().await.unwrap();
    assert_eq!(all, [(1,), (2,), (3,)]);
    db.close().await;
    assert!(db.sql("DELETE FROM things").run().await.unwrap_err().is_unavailable());
    assert!(!file.with_extension("db-wal").exists(), "the log is checkpointed into the file");
}
