//! Opening either engine, with the settings it needs to be safe.

use std::{path::Path, str::FromStr, time::Duration};

use sqlx::{
    ConnectOptions, PgConnection, postgres::PgConnectOptions, sqlite::SqliteConnectOptions,
};
use tracing::log::LevelFilter;

use super::{
    A_DAY, Db, Engine, Failure, PATIENCE, Result, direct, lane::Lane, pool::Pool, readers::Readers,
};
use crate::kernel::private;

const CONNECTIONS: usize = 16;
/// So many of them may be busy with lists and reports.
const LONG: usize = 10;

impl Db {
    /// `postgres://…`, `sqlite:file`, or the plain path of an SQLite file.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(url, PATIENCE, "7s").await
    }

    /// For long questions outside the service: a statement may take its time.
    pub async fn open_patiently(url: &str) -> Result<Self> {
        Self::open_with(url, A_DAY, "0").await
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
        private::folder(folder).map_err(Failure::unavailable)?;
    }
    // SQLite gives the files beside it (-wal, -shm, -journal) the mode of this one.
    private::ensure(file).map_err(Failure::unavailable)?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .busy_timeout(direct::BUSY)
        .log_statements(LevelFilter::Trace)
        .log_slow_statements(LevelFilter::Warn, Duration::from_secs(1));
    let settings = direct::SETTINGS.into_iter().chain(direct::WRITERS);
    let options = settings.fold(options, |options, (name, value)| options.pragma(name, value));
    let lane = Lane::open(options).await?;
    Ok(Engine::Sqlite { readers: Readers::new(file.to_owned()), lane })
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
    let pool = Pool::<PgConnection>::new(options, CONNECTIONS, LONG);
    // Whoever opens it wants to know that it is there.
    pool.lend().await?;
    Ok(Engine::Postgres(pool))
}
