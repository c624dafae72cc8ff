//! A PostgreSQL with a streaming replica: what is read there, and what happens when it is behind or
//! away.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use dermaga::{
    app::App,
    config::{Config, DatabaseUrl, ReplicaUrl, Url},
    doctor,
    kernel::{clock::Clock, db::Db},
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, binaries, create, run, start, start_standby},
    harbour::{order, search_body},
    memory::folder,
    postgres,
    world::{Someone, World},
};

/// Long enough for a slow machine: where a test says nothing else, the replica stays in use.
const LONG: u32 = 600;
/// The shortest that is allowed.
const SHORT: u32 = 2;
/// The query of a report.
const MONTH: &str = "period_type=Bulanan&comparison_mode=Month-over-month";

struct Pair {
    world: World,
    replica: Cluster,
    /// The database on the replica.
    replica_url: String,
    _primary: Cluster,
}

async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

impl Pair {
    /// `None` where PostgreSQL is not installed.
    async fn new(max_lag: u32) -> Option<Self> {
        let bin = binaries()?;
        let options = "-c fsync=off";
        let primary = start(&bin, folder("dermaga-pg-").unwrap(), options).unwrap();
        let url = create(&primary, "CREATE DATABASE dermaga").await;
        // Statements on the replica lose against what the primary has done.
        let options = "-c fsync=off -c max_standby_streaming_delay=0";
        let replica =
            start_standby(&bin, folder("dermaga-pg-").unwrap(), &primary, options).unwrap();
        let socket = replica.socket.display();
        let replica_url = format!("postgres:///dermaga?host={socket}&user=postgres");
        let (database, of_replica) = (url.clone(), replica_url.clone());
        let change = |config: &mut Config| {
            config.database_url = Some(DatabaseUrl(Url(database)));
            config.replica_url = Some(ReplicaUrl(Url(of_replica)));
            config.replica_max_lag = max_lag;
        };
        let world = World::on_sqlite().await.with(change).await;
        Some(Self { world, replica, replica_url, _primary: primary })
    }

    fn is_used(&self) -> bool {
        self.world.db().replica_state().unwrap().in_use
    }

    /// Statements that the replica and that the primary has served.
    fn reads(&self) -> (u64, u64) {
        let state = self.world.db().replica_state().unwrap();
        (state.reads, state.primary_reads)
    }

    /// Waits until the replica has everything that was done so far, and this is known.
    async fn catches_up(&self) {
        let since = Instant::now();
        wait_until("the replica has it", async || {
            let _ = self.world.db().measure_replica().await;
            let state = self.world.db().replica_state().unwrap();
            state.in_use && state.lag < since.elapsed()
        })
        .await;
    }

    /// The replica receives changes, and does not show them until it is resumed.
    async fn pauses(&self) {
        run(&self.replica, "SELECT pg_wal_replay_pause()").await;
        let db = Db::open(&self.replica_url).await.unwrap();
        wait_until("the replica pauses", async || {
            let state = db.sql("SELECT pg_get_wal_replay_pause_state()").scalar::<String>().await;
            state.unwrap() == "paused"
        })
        .await;
        db.close().await;
    }

    async fn resumes(&self) {
        run(&self.replica, "SELECT pg_wal_replay_resume()").await;
    }

    /// Waits until something is read on the replica. On a slow machine a read may be given up there.
    async fn shows(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
        wait_until(what, async || {
            let _ = self.world.db().measure_replica().await;
            is_so().await
        })
        .await;
    }

    async fn wait_until_unused(&self) {
        wait_until("the replica is not used", async || {
            let _ = self.world.db().measure_replica().await;
            !self.is_used()
        })
        .await;
    }

    /// Changes the price of all sailings without the service.
    async fn sets_price(&self, price: i64) {
        let change = self.world.db().sql("UPDATE sailings SET price = $1").bind(price);
        assert!(change.run().await.unwrap() > 0);
    }

    /// The sailings of a search whose cached response is over.
    async fn finds(&self) -> Vec<Value> {
        self.world.advances_clock(TimeDelta::seconds(2));
        self.world.searches(search_body(1)).await
    }

    async fn price(&self) -> i64 {
        self.finds().await[0]["price"].as_i64().unwrap()
    }

    async fn gross(&self, by: &Someone) -> Value {
        let path = format!("/v1/finance/reports/overview?{MONTH}");
        let report = self.world.get(&path).by(by).send().await.ok();
        report["gross_revenue"]["current"].clone()
    }
}

fn ids(found: &[Value]) -> Vec<&str> {
    found.iter().map(|sailing| sailing["route_time_id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_and_reports_are_read_on_the_replica() {
    let Some(pair) = Pair::new(LONG).await else { return };
    let world = &pair.world;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let admin = world.admin().await;
    // Nothing is known about the replica yet.
    assert!(!pair.is_used());
    assert_eq!(pair.price().await, 150_000);
    assert_eq!(pair.reads().0, 0);
    pair.catches_up().await;
    let boat = format!("/v1/catalog/speedboats/{}", sailing.boat);
    for path in [
        "/v1/speedboats/locations",
        "/v1/catalog/partners",
        "/v1/catalog/partners/made-bahari.id",
        &boat,
        "/v1/dashboard",
        "/v1/dashboard/mitra-statistic",
        "/v1/finance/reports/overview",
        "/v1/finance/reports/revenue-breakdown/payment",
        "/v1/finance/reports/revenue-breakdown/type",
        "/v1/finance/reports/revenue-breakdown/partner",
        "/v1/finance/reports/revenue-breakdown/reseller",
        "/v1/finance/trial-balance",
        "/v1/finance/entries",
        "/v1/finance/taxes",
        "/v1/finance/reconciliation",
        "/v1/audit-logs",
        "/v1/audit-logs?format=csv",
        "/v1/booking/?format=csv",
        "/v1/settlements?format=csv",
        "/v1/mitra/manajemen?format=csv",
        "/v1/mitra/route-times?format=csv",
    ] {
        let query = if path.contains("/reports/") { format!("?{MONTH}") } else { String::new() };
        pair.shows(path, async || {
            world.advances_clock(TimeDelta::seconds(2));
            let before = pair.reads();
            let (status, _, _) = world.get(&format!("{path}{query}")).by(&admin).bytes().await;
            assert_eq!(status, 200, "{path}");
            let after = pair.reads();
            after.0 > before.0 && after.1 == before.1
        })
        .await;
    }
    // The replica stays behind: what is shown is its state. What decides is not read there.
    assert_eq!(pair.gross(&admin).await, 300_000);
    pair.pauses().await;
    pair.sets_price(175_000).await;
    pair.shows("the earlier price", async || pair.price().await == 150_000).await;
    let booked = world.paid_booking(&sailing, 1).await;
    assert_eq!(booked["price"]["unit_price"], 175_000);
    pair.shows("the earlier sum", async || pair.gross(&admin).await == 300_000).await;
    pair.resumes().await;
    pair.catches_up().await;
    assert_eq!(pair.price().await, 175_000);
    assert_eq!(pair.gross(&admin).await, 475_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ones_own_changes_are_seen_at_once() {
    let Some(pair) = Pair::new(LONG).await else { return };
    let world = &pair.world;
    let sailing = world.sailing().await;
    let other = world.sailing_of_another_day(&sailing).await;
    let (admin, another) = (world.admin().await, world.admin_with_email("b@dermaga.test").await);
    let seats = async |day: &str| {
        world.advances_clock(TimeDelta::seconds(2));
        let mut wish = search_body(1);
        wish["date"] = json!(day);
        world.searches(wish).await[0]["available_seats"].as_i64().unwrap()
    };
    pair.catches_up().await;
    assert_eq!((seats("2026-11-16").await, seats("2026-11-17").await), (30, 30));
    pair.pauses().await;
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    // Without the service, so that a read of the replica does not show it.
    let hidden = world.db().sql("UPDATE sailings SET seats_taken = 9 WHERE id = $1");
    hidden.bind(other.id.parse::<dermaga::kernel::ids::Uuid>().unwrap()).run().await.unwrap();
    // The state before the sale is not cached either.
    for _ in 0..3 {
        assert_eq!(seats("2026-11-16").await, 28);
        pair.shows("another trip", async || seats("2026-11-17").await == 30).await;
    }

    // An admin who has changed something sees it in the audit log; another one, a moment later.
    let tax = json!({ "name": "Tax", "code": "T1", "rate": 1, "applies_to": "booking", "is_active": false });
    world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    let logged = async |by: &Someone| {
        let log = world.get("/v1/audit-logs?entity_type=tax").by(by).send().await.ok();
        log.as_array().unwrap().len()
    };
    assert_eq!(logged(&admin).await, 1);
    pair.shows("the earlier log", async || logged(&another).await == 0).await;
    assert_eq!(logged(&admin).await, 1);

    // A change of all offers.
    let locations = async || {
        world.advances_clock(TimeDelta::seconds(2));
        let found = world.get("/v1/speedboats/locations").send().await.ok();
        found.as_array().unwrap().len()
    };
    pair.shows("the line", async || locations().await == 1).await;
    let partner = world.partner_path(&sailing.partner).await;
    let suspended = json!({ "reason": "Papers" });
    world.post(&format!("{partner}/suspend"), suspended).by(&admin).send().await.ok();
    assert_eq!(locations().await, 0);
    assert!(pair.finds().await.is_empty());

    pair.resumes().await;
    pair.catches_up().await;
    assert_eq!((logged(&admin).await, logged(&another).await), (1, 1));
    // The replica has the changes, so it is read again.
    pair.shows("all changes", async || {
        let before = pair.reads();
        assert_eq!((locations().await, pair.finds().await.len(), logged(&admin).await), (0, 0, 1));
        let after = pair.reads();
        after.0 >= before.0 + 3 && after.1 == before.1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_is_too_far_behind_is_not_read() {
    let Some(pair) = Pair::new(SHORT).await else { return };
    let world = &pair.world;
    world.sailing().await;
    let is_read_again = async || {
        wait_until("the replica is read again", async || {
            pair.catches_up().await;
            let (before, _) = pair.reads();
            pair.finds().await;
            pair.reads().0 > before
        })
        .await;
    };
    is_read_again().await;
    pair.pauses().await;
    pair.wait_until_unused().await;
    pair.sets_price(175_000).await;
    assert_eq!(pair.price().await, 175_000);
    pair.resumes().await;
    is_read_again().await;

    // A standby that has lost its primary has replayed all that it received, and is behind.
    run(&pair.replica, "ALTER SYSTEM SET primary_conninfo = ''").await;
    run(&pair.replica, "SELECT pg_reload_conf()").await;
    pair.wait_until_unused().await;
    pair.sets_price(200_000).await;
    assert_eq!(pair.price().await, 200_000);
    let primary = world.url().unwrap();
    let host = primary.split("host=").nth(1).and_then(|rest| rest.split('&').next()).unwrap();
    let follow =
        format!("ALTER SYSTEM SET primary_conninfo = 'host={host} user=postgres dbname=postgres'");
    run(&pair.replica, &follow).await;
    run(&pair.replica, "SELECT pg_reload_conf()").await;
    is_read_again().await;
    assert_eq!(pair.price().await, 200_000);

    // A promoted one goes its own way.
    run(&pair.replica, "SELECT pg_promote()").await;
    pair.wait_until_unused().await;
    pair.sets_price(225_000).await;
    assert_eq!(pair.price().await, 225_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_several_replicas_is_read_only_if_it_is_not_behind() {
    let Some(pair) = Pair::new(SHORT).await else { return };
    pair.world.sailing().await;
    pair.catches_up().await;
    let second = {
        let folder = folder("dermaga-pg-").unwrap();
        start_standby(&binaries().unwrap(), folder, &pair._primary, "-c fsync=off").unwrap()
    };
    let (a, b) = (pair.replica.socket.display(), second.socket.display());
    let both =
        format!("postgres:///dermaga?host={a}&host={b}&user=postgres&load_balance_hosts=random");
    pair.pauses().await;
    pair.sets_price(175_000).await;
    // A replica without this change is too far behind from now on.
    let max_lag = Duration::from_secs(SHORT.into());
    tokio::time::sleep(max_lag).await;
    wait_until("one replica is read, and the other one is not", async || {
        let db = Db::open(&pair.world.url().unwrap()).await.unwrap();
        let db = db.with_replica(&both, max_lag).unwrap();
        wait_until("a replica is used", async || {
            let _ = db.measure_replica().await;
            db.replica_state().unwrap().in_use
        })
        .await;
        // At the same time, so that there are most likely connections to both.
        let price = async || {
            let db = db.on_replica(None);
            db.sql("SELECT MIN(price) FROM sailings").scalar::<i64>().await.unwrap()
        };
        assert_eq!(join_all((0..8).map(|_| price())).await, [175_000; 8]);
        let state = db.replica_state().unwrap();
        db.close().await;
        state.reads > 0 && state.primary_reads > 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_when_the_replica_is_killed() {
    let Some(pair) = Pair::new(LONG).await else { return };
    let admin = pair.world.admin().await;
    pair.world.sailing().await;
    pair.catches_up().await;
    let found = async |config: &Config| {
        let findings = doctor::examine(config.clone()).await;
        findings.into_iter().find(|finding| finding.what == "replica").unwrap().found
    };
    let config = pair.world.app.config.clone();
    assert!(found(&config).await.unwrap().ends_with("ms behind"));

    let Pair { world, replica, replica_url, _primary } = pair;
    let (answered, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let client = async || {
        while !is_over.load(Ordering::Relaxed) {
            for path in ["/v1/dashboard", "/v1/finance/trial-balance", "/v1/audit-logs"] {
                world.get(path).by(&admin).send().await.ok();
            }
            world.advances_clock(TimeDelta::seconds(2));
            assert_eq!(ids(&world.searches(search_body(1)).await).len(), 1);
            answered.fetch_add(1, Ordering::Relaxed);
        }
    };
    let wait_for_answers = async |count: usize| {
        let enough = answered.load(Ordering::Relaxed) + count;
        wait_until("requests are answered", async || answered.load(Ordering::Relaxed) >= enough)
            .await;
    };
    let kill = async {
        wait_for_answers(8).await;
        assert!(world.db().replica_state().unwrap().reads > 0);
        drop(replica);
        wait_until("the replica is gone", async || Db::open(&replica_url).await.is_err()).await;
        wait_for_answers(8).await;
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(join_all((0..4).map(|_| client())), kill);
    assert!(!world.db().replica_state().unwrap().in_use);
    assert!(world.db().measure_replica().await.is_err());
    assert!(found(&config).await.unwrap_err().starts_with("it is not read"));
    // The service also starts without it.
    let world = world.restarts_with(|new| *new = config).await;
    assert_eq!(ids(&world.searches(search_body(1)).await).len(), 1);
}

/// The time that a statement sleeps on the replica alone.
const SLEEPS: &str = "SELECT pg_is_in_recovery() FROM locks WHERE name = 'replica'
    AND CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) IS NOT NULL ELSE TRUE END";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_the_replica_gives_up_is_repeated_on_the_primary() {
    let Some(pair) = Pair::new(LONG).await else { return };
    pair.catches_up().await;
    let replica = Db::open(&pair.replica_url).await.unwrap();
    let sleeping = async || {
        let sleeping = replica.sql(
            "SELECT COUNT(*) FROM pg_stat_activity
             WHERE wait_event = 'PgSleep' AND datname = current_database()",
        );
        sleeping.scalar::<i64>().await.unwrap() > 0
    };
    let is_on_replica = async || {
        let db = pair.world.db().on_replica(None);
        db.sql(SLEEPS).long().scalar::<bool>().await.unwrap()
    };
    // Its table is locked on the primary, and the replica must follow.
    let conflict = async {
        wait_until("the statement runs", sleeping).await;
        let mut tx = pair.world.db().begin().await.unwrap();
        tx.execute_script("LOCK TABLE locks IN ACCESS EXCLUSIVE MODE").await.unwrap();
        tx.commit().await.unwrap();
    };
    let (is_in_recovery, ()) = tokio::join!(is_on_replica(), conflict);
    assert!(!is_in_recovery);
    wait_until("the conflict is counted", async || {
        let conflicts = replica.sql(
            "SELECT confl_lock FROM pg_stat_database_conflicts WHERE datname = current_database()",
        );
        conflicts.scalar::<i64>().await.unwrap() >= 1
    })
    .await;

    // Its connection is closed.
    pair.catches_up().await;
    let close = async {
        wait_until("the statement runs", sleeping).await;
        run(
            &pair.replica,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
        )
        .await;
    };
    let (is_in_recovery, ()) = tokio::join!(is_on_replica(), close);
    assert!(!is_in_recovery);
    assert!(!pair.is_used(), "until it has answered again");
    pair.catches_up().await;

    // One that takes too long would do so on the primary as well.
    let hasty = format!("{}&options=-c%20statement_timeout%3D100ms", pair.replica_url);
    let url = pair.world.url().unwrap();
    let db = Db::open(&url).await.unwrap().with_replica(&hasty, Duration::from_secs(600)).unwrap();
    wait_until("the replica is used", async || {
        let _ = db.measure_replica().await;
        db.replica_state().unwrap().in_use
    })
    .await;
    let late = db.on_replica(None).sql(SLEEPS).long().scalar::<bool>().await;
    assert!(late.unwrap_err().is_unavailable());
    replica.close().await;
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_replica_is_measured_by_a_job_and_shown_by_metrics() {
    // The primary itself is a replica that is never behind.
    let Some(url) = postgres::database().await else { return };
    let (database, replica) = (url.clone(), url.clone());
    let change = |config: &mut Config| {
        config.database_url = Some(DatabaseUrl(Url(database)));
        config.replica_url = Some(ReplicaUrl(Url(replica)));
        config.replica_max_lag = LONG;
    };
    let world = World::on_sqlite().await.with(change).await;
    let metric = async |name: &str| {
        let text = world.get("/metrics").send().await.body.as_str().unwrap().to_owned();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        line.trim().parse::<f64>().unwrap()
    };
    assert_eq!(metric("dermaga_replica_in_use ").await, 0.0);
    let jobs = tokio::spawn(world.app.clone().run_jobs());
    wait_until("the job measures", async || metric("dermaga_replica_in_use ").await == 1.0).await;
    assert!(metric("dermaga_replica_lag_seconds ").await < f64::from(LONG));
    let admin = world.admin().await;
    world.get("/v1/finance/trial-balance").by(&admin).send().await.ok();
    assert!(metric("dermaga_replica_reads_total{target=\"replica\"} ").await >= 1.0);
    assert_eq!(metric("dermaga_replica_reads_total{target=\"primary\"} ").await, 0.0);
    world.app.stop();
    jobs.await.unwrap();
    world.db().close().await;
    postgres::remove(&url).await;
}

#[tokio::test]
async fn only_postgres_has_replicas() {
    let folder = tempfile::tempdir().unwrap();
    let replica_url = Some(ReplicaUrl(Url("postgres:///dermaga?host=/nowhere".into())));
    let config = Config { data_dir: folder.path().into(), replica_url, ..Config::default() };
    let refused = App::start(config.clone(), Clock::System).await.err().unwrap();
    assert!(refused.starts_with("DERMAGA_REPLICA_URL: only PostgreSQL has replicas"), "{refused}");
    let findings = doctor::examine(config.clone()).await;
    let failed = findings.into_iter().find_map(|finding| finding.found.err());
    assert_eq!(failed, Some(refused));
    let database_url = Some(DatabaseUrl(Url("postgres:///dermaga?host=/nowhere".into())));
    let secret_key =
        Some(dermaga::kernel::secret::Secret::new("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="));
    let config = Config { database_url, secret_key, replica_max_lag: 1, ..config };
    let refused = App::start(config, Clock::System).await.err().unwrap();
    assert!(refused.starts_with("DERMAGA_REPLICA_MAX_LAG: "), "{refused}");
}
