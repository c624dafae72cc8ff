//! Checks of everything that the service depends on, with the current configuration.

use std::{
    fmt::Display,
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
    kernel::{clock::Clock, ids, outbox, private, set_aside},
};

/// A check and its result.
pub struct Finding {
    pub what: &'static str,
    pub found: Result<String, String>,
}

/// Runs all checks; stops early if the following ones are impossible.
pub async fn examine(config: Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |what, found| findings.push(Finding { what, found });
    let zone = config.timezone;
    note("configuration", Ok(format!("read; {zone}, {}", config.public_url())));
    note("data directory", data_directory(&config));
    let verdict = guard::examine(&config);
    let app = match App::start(config, Clock::System).await {
        Ok(app) => app,
        Err(why) => {
            note("production guard", guarded(verdict, None).await);
            note("database", Err(why));
            return findings;
        }
    };
    let engine = app.db.engine();
    note("database", Ok(format!("{engine} is reachable; schema up to date")));
    note("replica", replica(&app).await);
    note("production guard", guarded(verdict, Some(&app)).await);
    note("clock", clock(&app).await);
    note("sealed numbers", sealed(&app).await);
    note("storage", storage(&app).await);
    note("mail", app.mailer.test().await.map_err(said));
    note("payment provider", provider(&app).await);
    note("payouts", payouts(&app).await);
    note("collector", collector(&app).await);
    note("deliveries", deliveries(&app).await);
    note("background jobs", background_jobs(&app).await);
    app.db.close().await;
    findings
}

fn said(why: impl Display) -> String {
    why.to_string()
}

fn data_directory(config: &Config) -> Result<String, String> {
    let folder = &config.data_dir;
    private::folder(folder).map_err(said)?;
    let probe = folder.join(format!("probe-{}", ids::fresh().simple()));
    private::write(&probe, b"probe").map_err(said)?;
    std::fs::remove_file(&probe).map_err(said)?;
    Ok(format!("{} is writable", folder.display()))
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

/// Checks that the key decrypts the newest encrypted value.
async fn sealed(app: &App) -> Result<String, String> {
    let newest: Option<(String,)> = app
        .db
        .sql(
            "SELECT pic_nik FROM onboardings WHERE pic_nik IS NOT NULL
             ORDER BY partner_id DESC LIMIT 1",
        )
        .maybe()
        .await
        .map_err(said)?;
    match newest {
        Some((sealed,)) => {
            app.sealer.open(&sealed).map_err(said)?;
            Ok("the secret key decrypts them".into())
        }
        None => Ok("none stored".into()),
    }
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
    match dead.len() {
        0 => Ok(format!("{waiting} pending")),
        dead => Err(format!("{dead} failed; see `dermaga outbox`")),
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
