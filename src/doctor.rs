//! Checks of everything that the service depends on, with the current configuration. Nothing is created
//! or migrated; the only changes are probes: a file, an object, and a lock in the database.

use std::{
    env,
    fmt::Display,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use axum::body::Bytes;
use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    app::App,
    config::{
        Config, PaymentProvider,
        guard::{self, Verdict},
    },
    demo,
    kernel::{clock::Clock, disk, ids, outbox, private, set_aside},
};

/// Less free space than this is a failure.
const LEAST_SPACE: u64 = 256 << 20;
/// A delivery that has been due for so long is not being delivered.
const LATE: TimeDelta = TimeDelta::minutes(5);

/// A check and its result.
pub struct Finding {
    pub what: &'static str,
    pub found: Result<String, String>,
    /// The section of `docs/operating.md` that says what to do.
    pub section: &'static str,
}

/// Runs all checks; stops early if the following ones are impossible.
pub async fn examine(mut config: Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |what, section, found| findings.push(Finding { what, found, section });
    let zone = config.timezone;
    note("configuration", "configure", Ok(format!("read; {zone}, {}", config.public_url())));
    note("data directory", "file-permissions", data_directory(&config));
    note("disk space", "database-full-sqlite", disk_space(&config));
    let verdict = guard::examine(&config);
    let is_new = config.ensure_database_exists().is_err();
    let scratch = Scratch::default();
    if is_new {
        // The other checks need a database, so they use one elsewhere.
        (config.data_dir, config.database_url) = (scratch.0.clone(), None);
    }
    let app = match App::connect(config, Clock::System).await {
        Ok(app) => app,
        Err(why) => {
            note("production guard", "production-guard", guarded(verdict, None).await);
            note("database", "database-down", Err(why));
            return findings;
        }
    };
    let database = match is_new {
        true => Ok("none yet; the first start creates it".into()),
        false => database(&app).await,
    };
    let has_schema = !is_new && database.is_ok();
    let with_accounts = has_schema.then_some(&app);
    note("database", "database-down", database);
    note("replica", "replica-not-read", replica(&app).await);
    note("production guard", "production-guard", guarded(verdict, with_accounts).await);
    note("clock", "postgresql-one-or-several-processes", clock(&app).await);
    note("storage", "files", storage(&app).await);
    note("mail", "mail-cannot-be-sent", app.mailer.test().await.map_err(said));
    note("payment provider", "payment-provider-down", provider(&app).await);
    note("payouts", "payment-provider-down", payouts(&app).await);
    note("collector", "traces-and-logs-opentelemetry", collector(&app).await);
    if has_schema {
        note("secret key", "rotate-the-secret-key", secret_key(&app).await);
        note("deliveries", "outbox-piles-up", deliveries(&app).await);
        note("background jobs", "rows-set-aside", background_jobs(&app).await);
    }
    app.db.close().await;
    findings
}

/// A folder for checks without a database, removed with all its content.
struct Scratch(PathBuf);

impl Default for Scratch {
    fn default() -> Self {
        Self(env::temp_dir().join(format!("dermaga-{}", ids::fresh().simple())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(why: impl Display) -> String {
    why.to_string()
}

fn data_directory(config: &Config) -> Result<String, String> {
    let folder = &config.data_dir;
    let name = folder.display();
    if !folder.exists() {
        return Ok(format!("{name} does not exist yet; the first start creates it"));
    }
    let probe = folder.join(format!("probe-{}", ids::fresh().simple()));
    let written = private::write(&probe, b"probe");
    // Also after a failure: on a full disk there is an empty file.
    let removed = fs::remove_file(&probe);
    written.and(removed).map_err(|why| format!("{name}: {why}"))?;
    Ok(format!("{name} is writable"))
}

fn disk_space(config: &Config) -> Result<String, String> {
    let folder = &config.data_dir;
    let Some(free) = disk::free(folder) else { return Ok("unknown".into()) };
    let found = format!("{} MiB free in {}", free >> 20, folder.display());
    if free < LEAST_SPACE { Err(found) } else { Ok(found) }
}

/// Checks the schema, and that a transaction commits: a full disk, a standby or a lost synchronous
/// standby can still be read.
async fn database(app: &App) -> Result<String, String> {
    app.db.ensure_current().await?;
    let started = Instant::now();
    let write = async {
        let mut tx = app.db.begin().await?;
        tx.lock("doctor").await?;
        tx.commit().await
    };
    write.await.map_err(|why| format!("cannot be written: {why}"))?;
    let (engine, took) = (app.db.engine(), started.elapsed().as_millis());
    Ok(format!("{engine}, schema up to date; a transaction committed in {took} ms"))
}

async fn guarded(verdict: Verdict, app: Option<&App>) -> Result<String, String> {
    match verdict {
        Verdict::Local => Ok("not needed: the service is only reachable locally".into()),
        Verdict::Sound => {
            if let Some(app) = app {
                demo::no_printed_logins(app).await?;
            }
            Ok("no insecure setting".into())
        }
        Verdict::Overridden(fault) => {
            let fault = fault.map(|fault| format!(": {fault}")).unwrap_or_default();
            Ok(format!("switched off by DERMAGA_INSECURE_DEMO{fault}"))
        }
        Verdict::Refused(why) => Err(why),
    }
}

/// Measures how far the replica is behind.
async fn replica(app: &App) -> Result<String, String> {
    let until = Instant::now() + Duration::from_secs(app.config.replica_max_lag.into());
    while let Some(replica) = app.db.replica_state() {
        if replica.in_use {
            return Ok(format!("{} ms behind", replica.lag.as_millis()));
        }
        let measured = app.db.measure_replica().await;
        measured.map_err(|why| format!("it is not read: {why}"))?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        if Instant::now() > until {
            let most = app.config.replica_max_lag;
            return Err(format!("it is not read: it is more than {most} s behind"));
        }
    }
    Ok("none".into())
}

/// Compares the clock with that of the database server.
async fn clock(app: &App) -> Result<String, String> {
    let now = app.clock.now();
    let theirs: DateTime<Utc> = match app.db.engine() {
        "postgres" => app.db.sql("SELECT now()").scalar().await.map_err(said)?,
        _ => return Ok(format!("it is {}", now.format("%Y-%m-%d %H:%M:%S UTC"))),
    };
    let apart = (theirs - now).abs();
    match apart < TimeDelta::seconds(5) {
        true => Ok(format!("differs from the database by {} ms", apart.num_milliseconds())),
        false => Err(format!("differs from the database by {} s", apart.num_seconds())),
    }
}

/// Checks that the key is the one of this database.
async fn secret_key(app: &App) -> Result<String, String> {
    app.ensure_key_fits().await?;
    Ok("decrypts the data of this database".into())
}

async fn storage(app: &App) -> Result<String, String> {
    let key = format!("probe/{}", ids::fresh().simple());
    let content = Bytes::from_static(b"dermaga");
    app.storage.put(&key, content.clone()).await.map_err(said)?;
    let found = app.storage.get_sized(&key, content.len() as u64).await.map_err(said)?;
    app.storage.delete(&key).await.map_err(said)?;
    match found == Some(content) {
        true => Ok(format!("{}: write, read and delete succeeded", app.storage.name())),
        false => Err(format!("{}: the written content cannot be read back", app.storage.name())),
    }
}

async fn provider(app: &App) -> Result<String, String> {
    let provider = app.gateway().provider;
    if provider == PaymentProvider::Simulator {
        return Ok("simulator: no money is charged".into());
    }
    let reach = tokio::time::timeout(Duration::from_secs(10), app.gateway().reach()).await;
    reach.map_err(|_| format!("{provider}: no response"))?.map_err(said)
}

/// Checks that the provider of payouts accepts its keys.
async fn payouts(app: &App) -> Result<String, String> {
    let Some(provider) = &app.providers().payouts else {
        return Ok("recorded by hand".into());
    };
    let reach = tokio::time::timeout(Duration::from_secs(20), provider.reach_payouts()).await;
    reach.map_err(|_| format!("{}: no response", provider.name()))?
}

/// Checks that the collector accepts an empty batch of spans.
async fn collector(app: &App) -> Result<String, String> {
    match &app.telemetry {
        None => Ok("none: traces and logs are not exported".into()),
        Some(telemetry) => telemetry.reach().await.map(|()| "accepts traces".into()),
    }
}

async fn deliveries(app: &App) -> Result<String, String> {
    let (waiting, dead) = outbox::state(&app.db).await.map_err(said)?;
    if !dead.is_empty() {
        return Err(format!("{} failed; see `dermaga outbox`", dead.len()));
    }
    let now = app.clock.now();
    let backlogs = outbox::backlog(&app.db, now).await.map_err(said)?;
    let oldest = backlogs.iter().filter_map(|backlog| backlog.due_since).min();
    match oldest.map(|oldest| now - oldest).filter(|delay| *delay > LATE) {
        Some(delay) => Err(format!(
            "{waiting} pending, the oldest for {} minutes; is the service running?",
            delay.num_minutes()
        )),
        None => Ok(format!("{waiting} pending")),
    }
}

/// Lists rows that background jobs cannot process.
async fn background_jobs(app: &App) -> Result<String, String> {
    let (count, some) = set_aside::list(&app.db, 10).await.map_err(said)?;
    if count == 0 {
        return Ok("no failed rows".into());
    }
    let rows = some.into_iter().map(|row| {
        let (job, id, failures) = (row.job, row.entity_id, row.failures);
        let since = row.first_failed_at.format("%Y-%m-%d %H:%M UTC");
        format!("\n       {job} {id} ({failures} failures since {since}): {}", row.last_error)
    });
    Err(format!("{count} failed rows{}", rows.collect::<String>()))
}
