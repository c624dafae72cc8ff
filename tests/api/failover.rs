//! A PostgreSQL with a synchronous standby, and what happens when its primary is killed.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use dermaga::{
    config::{DatabaseUrl, Url},
    kernel::db::Db,
};
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    cluster::{Cluster, binaries, create, run, start, start_standby},
    world::World,
};

const OPTIONS: &str = "-c fsync=off";

async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn enable_synchronous_replication(primary: &Cluster, url: &str) {
    run(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'").await;
    run(primary, "SELECT pg_reload_conf()").await;
    let db = Db::open(url).await.unwrap();
    let count = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait_until("the standby follows", async || db.sql(count).scalar::<i64>().await.unwrap() == 1)
        .await;
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_takes_over_and_nothing_that_was_confirmed_is_lost() {
    let Some(bin) = binaries() else { return };
    let primary = start(&bin, OPTIONS).unwrap();
    let url = create(&primary, "CREATE DATABASE dermaga").await;
    let standby = start_standby(&bin, &primary, OPTIONS).unwrap();
    enable_synchronous_replication(&primary, &url).await;
    let both = format!(
        "postgres:///dermaga?host={}&host={}&user=postgres&target_session_attrs=read-write",
        primary.socket.display(),
        standby.socket.display(),
    );
    Db::open(&both).await.unwrap().migrate().await.unwrap();
    let address = Some(DatabaseUrl(Url(both)));
    let world = World::on_sqlite().await.with(|config| config.database_url = address).await;
    let admin = world.admin().await;

    let (numbers, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let client = async || {
        let mut confirmed = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let code = format!("T{}", numbers.fetch_add(1, Ordering::Relaxed));
            let tax = json!({
                "name": "Tax", "code": code, "rate": 1, "applies_to": "booking", "is_active": false,
            });
            let answer = world.post("/v1/configurations/taxs", tax).by(&admin).send().await;
            match answer.status {
                200 => confirmed.push((code, Instant::now())),
                503 => tokio::time::sleep(Duration::from_millis(100)).await,
                // Not known whether it was done.
                500.. => {}
                _ => panic!("{}", answer.body),
            }
        }
        confirmed
    };
    let failover = async {
        wait_until("something was sold", async || numbers.load(Ordering::Relaxed) > 200).await;
        drop(primary);
        let killed = Instant::now();
        run(&standby, "SELECT pg_promote()").await;
        let count = "SELECT COUNT(*) FROM taxes";
        wait_until("it is back", async || world.db().sql(count).scalar::<i64>().await.is_ok())
            .await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        is_over.store(true, Ordering::Relaxed);
        killed
    };
    let (confirmed, killed) = tokio::join!(join_all((0..8).map(|_| client())), failover);
    let confirmed: Vec<_> = confirmed.into_iter().flatten().collect();
    let first_after = confirmed.iter().map(|(_, at)| *at).filter(|at| *at > killed).min();
    let gap = first_after.expect("it goes on") - killed;
    assert!(gap < Duration::from_secs(30), "it took {gap:?}");
    let stored: Vec<(String,)> = world.db().sql("SELECT code FROM taxes").all().await.unwrap();
    let lost: Vec<_> =
        confirmed.iter().filter(|(code, _)| !stored.contains(&(code.clone(),))).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
