//! A throw-away PostgreSQL from the installed binaries: once per test run, a database per test.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use dermaga::kernel::db::Db;
use sqlx::{Connection, PgConnection};
use tokio::sync::{Mutex, OnceCell};

struct Cluster {
    socket: PathBuf,
    /// Its standard input is open as long as this process lives; then it stops the server.
    _keeper: Child,
}

static CLUSTER: OnceLock<Result<Option<Cluster>, String>> = OnceLock::new();
static TEMPLATE: OnceCell<()> = OnceCell::const_new();
/// A template is copied by one at a time.
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

/// The address of a database with nothing in it.
pub async fn empty_database() -> Option<String> {
    let cluster = cluster()?;
    Some(create(cluster, &format!("CREATE DATABASE {}", fresh_name())).await)
}

fn fresh_name() -> String {
    format!("t{}", dermaga::kernel::ids::fresh().simple())
}

async fn create(cluster: &Cluster, statement: &str) -> String {
    let mut conn = PgConnection::connect(&url(cluster, "postgres")).await.expect("connects");
    let safe = sqlx::AssertSqlSafe(statement.to_owned());
    sqlx::raw_sql(safe).execute(&mut conn).await.expect("creates the database");
    let name = statement.split(' ').nth(2).expect("CREATE DATABASE name");
    url(cluster, name)
}

fn url(cluster: &Cluster, database: &str) -> String {
    format!("postgres:///{database}?host={}&user=postgres", cluster.socket.display())
}

fn cluster() -> Option<&'static Cluster> {
    let cluster = CLUSTER.get_or_init(|| {
        let Some(bin) = binaries() else {
            if std::env::var_os("REQUIRE_POSTGRES").is_some() {
                return Err("PostgreSQL is required and not installed".into());
            }
            // Past the test runner's capture: everyone must see this.
            let note = "\n*** PostgreSQL is not installed: tests ran on SQLite alone ***\n\n";
            let _ = std::io::stderr().write_all(note.as_bytes());
            return Ok(None);
        };
        start(&bin).map(Some)
    });
    cluster.as_ref().unwrap_or_else(|why| panic!("{why}")).as_ref()
}

fn start(bin: &Path) -> Result<Cluster, String> {
    let fault = |error: std::io::Error| error.to_string();
    let folder = tempfile::Builder::new().prefix("dermaga-pg-").tempdir().map_err(fault)?.keep();
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if root {
        // The server refuses to run as root.
        let owner = Command::new("chown").arg("postgres").arg(&folder).status().map_err(fault)?;
        assert!(owner.success(), "there is no user postgres");
    }
    let script = format!(
        r#"cd /
        "{bin}/initdb" -D "{data}" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null || exit 1
        "{bin}/postgres" -D "{data}" -k "{folder}" -c listen_addresses= -c fsync=off \
          -c max_connections=500 -c log_min_messages=fatal -c deadlock_timeout=100ms &
        cat >/dev/null
        kill -QUIT $!
        wait
        rm -rf "{folder}""#,
        bin = bin.display(),
        data = folder.join("data").display(),
        folder = folder.display(),
    );
    let mut command = if root { Command::new("runuser") } else { Command::new("sh") };
    if root {
        command.args(["-u", "postgres", "--", "sh"]);
    }
    let keeper = command
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(fault)?;
    let ready = || {
        let probe = Command::new(bin.join("pg_isready")).arg("-q").arg("-h").arg(&folder).status();
        probe.is_ok_and(|status| status.success())
    };
    for _ in 0..300 {
        if ready() {
            return Ok(Cluster { socket: folder, _keeper: keeper });
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(format!("PostgreSQL is installed in {} but did not start", bin.display()))
}

/// Debian keeps each version's servers in a folder of its own.
fn binaries() -> Option<PathBuf> {
    let whole = |folder: &Path| folder.join("initdb").exists() && folder.join("postgres").exists();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders.into_iter().find(|folder| whole(folder))
}
