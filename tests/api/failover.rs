//! A PostgreSQL with a standby, and what happens when its primary is killed. The standby stops
//! receiving changes a while before: what is confirmed without it would be lost.

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
    cluster::{binaries, create, run, start, start_standby},
    memory::folder,
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

/// Waits until the standbys of the primary at this address are in these states.
async fn wait_for_standbys(url: &str, states: &[&str]) {
    let db = Db::open(url).await.unwrap();
    let state = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'";
    let is_so = async || {
        let found: Vec<(String,)> = db.sql(state).all().await.unwrap();
        found.iter().map(|(state,)| state.as_str()).eq(states.iter().copied())
    };
    wait_until(&format!("standbys are {states:?}"), is_so).await;
    db.close().await;
}

#[derive(Clone, Copy, PartialEq)]
enum Replication {
    Synchronous,
    Asynchronous,
}

/// Creates taxes from several clients meanwhile: ends the replication, kills the primary and promotes
/// the standby. Returns the codes that were confirmed and are lost.
async fn fail_over(replication: Replication) -> Option<Vec<String>> {
    let bin = binaries()?;
    let primary = start(&bin, folder("dermaga-pg-").unwrap(), OPTIONS).unwrap();
    let url = create(&primary, "CREATE DATABASE dermaga").await;
    let standby = start_standby(&bin, folder("dermaga-pg-").unwrap(), &primary, OPTIONS).unwrap();
    if replication == Replication::Synchronous {
        run(&primary, "ALTER SYSTEM SET synchronous_standby_names = '*'").await;
        run(&primary, "SELECT pg_reload_conf()").await;
        wait_for_standbys(&url, &["sync"]).await;
    } else {
        wait_for_standbys(&url, &["async"]).await;
    }
    let both = format!(
        "postgres:///dermaga?host={}&host={}&user=postgres&target_session_attrs=read-write",
        primary.socket.display(),
        standby.socket.display(),
    );
    Db::open(&both).await.unwrap().migrate().await.unwrap();
    let address = Some(DatabaseUrl(Url(both)));
    let world = World::on_sqlite().await.with(|config| config.database_url = address).await;
    let admin = world.admin().await;

    let (requests, confirmations) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let client = async || {
        let mut confirmed = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let code = format!("T{}", requests.fetch_add(1, Ordering::Relaxed));
            let tax = json!({
                "name": "Tax", "code": code, "rate": 1, "applies_to": "booking", "is_active": false,
            });
            let answer = world.post("/v1/configurations/taxs", tax).by(&admin).send().await;
            match answer.status {
                200 => {
                    confirmed.push((code, Instant::now()));
                    confirmations.fetch_add(1, Ordering::Relaxed);
                }
                503 => tokio::time::sleep(Duration::from_millis(100)).await,
                // Not known whether it was done.
                500.. => {}
                _ => panic!("{}", answer.body),
            }
        }
        confirmed
    };
    let wait_for_confirmations = async |count: usize| {
        let enough = confirmations.load(Ordering::Relaxed) + count;
        let is_so = async || confirmations.load(Ordering::Relaxed) >= enough;
        wait_until("changes are confirmed", is_so).await;
    };
    let failover = async {
        wait_for_confirmations(200).await;
        // The standby disconnects. From now on it receives nothing.
        run(&standby, "ALTER SYSTEM SET primary_conninfo = ''").await;
        run(&standby, "SELECT pg_reload_conf()").await;
        wait_for_standbys(&url, &[]).await;
        match replication {
            Replication::Synchronous => tokio::time::sleep(Duration::from_secs(1)).await,
            // More than the requests in flight, which may have reached the standby.
            Replication::Asynchronous => wait_for_confirmations(50).await,
        }
        drop(primary);
        let killed = Instant::now();
        run(&standby, "SELECT pg_promote()").await;
        wait_for_confirmations(20).await;
        is_over.store(true, Ordering::Relaxed);
        killed
    };
    let (confirmed, killed) = tokio::join!(join_all((0..8).map(|_| client())), failover);
    let confirmed: Vec<_> = confirmed.into_iter().flatten().collect();
    let first_after = confirmed.iter().map(|(_, at)| *at).filter(|at| *at > killed).min();
    let gap = first_after.expect("it goes on") - killed;
    assert!(gap < Duration::from_secs(30), "it took {gap:?}");
    let stored: Vec<(String,)> = world.db().sql("SELECT code FROM taxes").all().await.unwrap();
    let confirmed = confirmed.into_iter().map(|(code, _)| (code,));
    Some(confirmed.filter(|code| !stored.contains(code)).map(|(code,)| code).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_takes_over_and_nothing_that_was_confirmed_is_lost() {
    let Some(lost) = fail_over(Replication::Synchronous).await else { return };
    assert!(lost.is_empty(), "{lost:?}");
}

/// Shows that the test above can fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_synchronous_replication_confirmed_changes_are_lost() {
    let Some(lost) = fail_over(Replication::Asynchronous).await else { return };
    assert!(!lost.is_empty());
}
