//! PostgreSQL for tests: one server per test run, one database per test.

use std::{io::Write, sync::OnceLock};

use dermaga::kernel::db::Db;
use tokio::sync::{Mutex, OnceCell};

use super::{
    cluster::{Cluster, binaries, create, run, start},
    memory,
};

/// Fast instead of durable.
const OPTIONS: &str = "-c fsync=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 \
                       -c deadlock_timeout=100ms";

static CLUSTER: OnceLock<Result<Option<Cluster>, String>> = OnceLock::new();
static TEMPLATE: OnceCell<()> = OnceCell::const_new();
/// PostgreSQL copies a template for one session at a time.
static COPYING: Mutex<()> = Mutex::const_new(());

/// The address of a fresh, migrated database; `None` where PostgreSQL is not installed.
pub async fn database() -> Option<String> {
    let cluster = cluster()?;
    TEMPLATE
        .get_or_init(async || {
            let url = create(cluster, "CREATE DATABASE dermaga_template").await;
            let db = Db::open(&url).await.expect("the template opens");
            db.migrate().await.expect("the template migrates");
            db.close().await;
        })
        .await;
    let _turn = COPYING.lock().await;
    let name = fresh_name();
    Some(create(cluster, &format!("CREATE DATABASE {name} TEMPLATE dermaga_template")).await)
}

/// The address of an empty database.
pub async fn empty_database() -> Option<String> {
    let cluster = cluster()?;
    Some(create(cluster, &format!("CREATE DATABASE {}", fresh_name())).await)
}

/// Hundreds of databases would fill a small disk. Open connections are closed.
pub async fn remove(url: &str) {
    let name = url.strip_prefix("postgres:///").and_then(|rest| rest.split('?').next());
    if let (Some(cluster), Some(name)) = (cluster(), name) {
        run(cluster, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

fn fresh_name() -> String {
    format!("t{}", dermaga::kernel::ids::fresh().simple())
}

fn cluster() -> Option<&'static Cluster> {
    let cluster = CLUSTER.get_or_init(|| {
        let Some(bin) = binaries() else {
            if std::env::var_os("REQUIRE_POSTGRES").is_some() {
                return Err("PostgreSQL is required and not installed".into());
            }
            // Bypasses the capture of the test runner, so that it is always visible.
            let note = "\n*** PostgreSQL is not installed: tests ran on SQLite alone ***\n\n";
            let _ = std::io::stderr().write_all(note.as_bytes());
            return Ok(None);
        };
        let folder = memory::folder("dermaga-pg-").map_err(|error| error.to_string())?;
        start(&bin, folder, OPTIONS).map(Some)
    });
    cluster.as_ref().unwrap_or_else(|why| panic!("{why}")).as_ref()
}
