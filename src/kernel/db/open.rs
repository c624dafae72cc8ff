//! Opening either engine, with the settings it needs to be safe.

use std::{path::Path, str::FromStr, time::Duration};

use sqlx::{
    ConnectOptions,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tracing::log::LevelFilter;

use super::{Db, Engine, Failure, PATIENCE, Result, lane::Lane};

const READERS: u32 = 4;
const CONNECTIONS: u32 = 16;

impl Db {
    /// `postgres://…`, `sqlite:file`, or the plain path of an SQLite file.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(url, PATIENCE, "7s").await
    }

    /// For long questions outside the service: a statement may take its time.
    pub async fn open_patiently(url: &str) -> Result<Self> {
        Self::open_with(url, Duration::from_secs(24 * 60 * 60), "0").await
    }

    async fn open_with(url: &str, patience: Duration, statement_timeout: &str) -> Result<Self> {
        let engine = match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => postgres(url, statement_timeout).await?,
            Some(("sqlite", path)) => sqlite(Path::new(path.trim_start_matches("//"))).await?,
            _ => sqlite(Path::new(url)).await?,
        };
        Ok(Self { engine, vitals: Default::default(), patience })
    }
}

async fn sqlite(file: &Path) -> Result<Engine> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(Failure::unavailable)?;
    }
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(5))
        .pragma("temp_store", "memory")
        .pragma("journal_size_limit", "67108864")
        .log_statements(LevelFilter::Trace)
        .log_slow_statements(LevelFilter::Warn, Duration::from_secs(1));
    let lane = Lane::open(options.clone()).await?;
    // Readers that try to write fail at once instead of fighting the lane for the lock.
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_lazy_with(options.pragma("query_only", "on"));
    Ok(Engine::Sqlite { readers, lane })
}

async fn postgres(url: &str, statement_timeout: &str) -> Result<Engine> {
    let options = PgConnectOptions::from_str(url)?
        .application_name("dermaga")
        .options([
            ("statement_timeout", statement_timeout),
            ("lock_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "30s"),
        ])
        .log_statements(LevelFilter::Trace)
        .log_slow_statements(LevelFilter::Warn, Duration::from_secs(1));
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        // A connection that was used a moment ago is alive; asking again would double each
        // request's round trips. One that has rested may have lost its server.
        .before_acquire(|conn, meta| {
            Box::pin(async move {
                if meta.idle_for > Duration::from_secs(1) {
                    sqlx::Connection::ping(conn).await?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await?;
    Ok(Engine::Postgres(pool))
}
