//! The command line.

use std::{
    fmt::Display,
    fs::{File, TryLockError},
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    accounts::{self, Password},
    api,
    app::App,
    backup::{self, Backup},
    config::{
        Config, LogFormat, SETTINGS, env_name,
        guard::{self, Verdict},
    },
    demo::{self, Extent},
    doctor::{self, Finding},
    edge::{self, Edge},
    invariants,
    kernel::{
        clock::Clock,
        db::{Db, Failure},
        email::Email,
        error::Error,
        lang::Lang,
        log, outbox, private,
        telemetry::LogExport,
        text::Name,
    },
    reports, sailings, service,
};

#[derive(Parser)]
#[command(name = "dermaga", version, about = "Backend of a speedboat booking platform")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Start the service (the default)
    Serve,
    /// Migrate the database
    Migrate,
    /// Re-encrypt data that was encrypted with an older secret key
    Reseal,
    /// Check the invariants of seats, promotions and money; exits with 1 if one is violated
    Audit,
    /// List pending and failed deliveries; with --retry, retry failed ones
    Outbox {
        /// Id of an item, or `all`
        #[arg(long, value_name = "ID|all")]
        retry: Option<String>,
    },
    /// Rewrite the SQLite database, so that its file contains nothing of erased data
    Scrub,
    /// Rebuild the figures of the reports from the bookings
    RebuildReports,
    /// Fill an empty database with sample data and print the accounts
    Demo {
        /// The same seed produces the same data
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Multiply fleets and bookings by this factor
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=demo::MAX_SCALE as i64))]
        scale: u16,
        /// Days of history
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u64).range(0..=demo::MAX_DAYS))]
        days: u64,
    },
    /// Check configuration, database, storage, mail, payment provider and clock
    Doctor,
    /// Back up the SQLite database, files and key while the service runs, and verify the copy
    Backup {
        /// Folder in which a new folder with the backup is created
        #[arg(default_value = ".")]
        into: PathBuf,
    },
    /// Restore a backup into an empty data directory
    Restore {
        /// Folder that `backup` created
        from: PathBuf,
    },
    /// Manage admins
    #[command(subcommand)]
    Admin(Admin),
    /// Print the effective settings without secrets
    Config(ConfigArgs),
    /// Print the OpenAPI document
    Openapi,
}

#[derive(Subcommand)]
enum Admin {
    /// Create an admin; the password is read from the terminal or from standard input
    Create {
        #[arg(long)]
        email: Email,
        #[arg(long, default_value = "Admin")]
        name: String,
    },
    /// Remove the second factor of an account whose holder has lost the phone; ends its sessions
    ResetSecondFactor {
        #[arg(long)]
        email: Email,
    },
}

#[derive(Args)]
struct ConfigArgs {
    /// Print the Markdown table of the README
    #[arg(long)]
    markdown: bool,
}

/// Runs the command. `started` is called once, when the service is up, on the starting thread.
/// It is not generic, because all commands would then be compiled with `main.rs` after each change.
pub fn run(started: fn()) -> Result<(), String> {
    let command = Cli::parse().command.unwrap_or(Command::Serve);
    if let Command::Config(ConfigArgs { markdown: true }) = command {
        say(settings_table().trim_end());
        return Ok(());
    }
    let config = Config::load()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Commits of SQLite are reported by other threads through the global queue, which busy workers
    // check rarely by default. A short interval avoids that latency.
    let runtime = runtime.global_queue_interval(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        match command {
            Command::Serve => serve(config, started).await,
            Command::Migrate => {
                let app = App::start(config, Clock::System).await?;
                say(format_args!("The {} database is up to date.", app.db.engine()));
                app.db.close().await;
                Ok(())
            }
            Command::Reseal => {
                let app = App::attach(config, Clock::System).await?;
                let resealed = app.reseal().await.map_err(|error| error.to_string())?;
                say(format_args!("{resealed} records were re-encrypted with the current key."));
                app.db.close().await;
                Ok(())
            }
            Command::Outbox { retry } => outbox(config, retry).await,
            Command::RebuildReports => {
                let app = App::attach(config, Clock::System).await?;
                let read = reports::rebuild(&app).await.map_err(|error| error.to_string())?;
                sailings::rebuild_days(&app).await.map_err(|error| error.to_string())?;
                say(format_args!("The reports were rebuilt from {read} bookings."));
                app.db.close().await;
                Ok(())
            }
            Command::Audit => audit(config).await,
            Command::Scrub => scrub(config).await,
            Command::Demo { seed, scale, days } => {
                demo::run(config, seed, Extent { days, scale }).await
            }
            Command::Doctor => doctor(config).await,
            Command::Backup { into } => {
                let made = backup::backup(&config, &into, &Clock::System).await?;
                say(format_args!("{}: {}", made.folder.display(), contents(&made)));
                ensure_consistent(&made)
            }
            Command::Restore { from } => {
                let made = backup::restore(&config, &from).await?;
                say(format_args!(
                    "{} has been restored: {}",
                    made.folder.display(),
                    contents(&made)
                ));
                ensure_consistent(&made)
            }
            Command::Admin(Admin::Create { email, name }) => {
                create_admin(config, email, name).await
            }
            Command::Admin(Admin::ResetSecondFactor { email }) => {
                reset_second_factor(config, email).await
            }
            Command::Config(_) => {
                for (name, value) in config.show() {
                    say(format_args!("{}={value}", env_name(name)));
                }
                Ok(())
            }
            Command::Openapi => {
                say(openapi().await?.trim_end());
                Ok(())
            }
        }
    })
}

async fn serve(mut config: Config, started: fn()) -> Result<(), String> {
    start_logging(&config)?;
    let verdict = guard::examine(&config);
    match &verdict {
        Verdict::Local | Verdict::Sound => {}
        Verdict::Overridden(fault) => tracing::warn!(
            "DERMAGA_INSECURE_DEMO is set: for demos only, not for production{}",
            fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default()
        ),
        Verdict::Refused(why) => return Err(why.clone()),
    }
    // The service needs more than the usual limit of 1,024 open files.
    let _ = rlimit::increase_nofile_limit(65_536);
    let fault = |error| format!("DERMAGA_LISTEN: {}: {error}", config.listen);
    let listener = edge::listen(config.listen).map_err(fault)?;
    // Replaces port 0 by the actual port.
    config.listen = listener.local_addr().map_err(fault)?;
    let _lock = lock_data_directory(&config)?;
    let app = App::start(config, Clock::System).await?;
    if let Some(telemetry) = &app.telemetry {
        telemetry.export_logs();
    }
    if verdict == Verdict::Sound {
        demo::no_printed_logins(&app).await?;
    }
    let first_admin = accounts::first_admin(&app).await.map_err(|error| error.to_string())?;
    let shutdown = shutdown().map_err(|error| error.to_string())?;
    print_startup(&app, first_admin);
    let mut jobs = tokio::spawn(app.clone().run_jobs());
    let served = edge::serve(app.clone(), listener, Edge::default(), shutdown);
    let settled = async {
        // Includes the first run of the jobs.
        tokio::time::sleep(Duration::from_secs(5)).await;
        started();
        std::future::pending().await
    };
    tokio::select! {
        () = served => {}
        () = settled => {}
    }
    // Waits for deliveries in progress, so that mails are not sent twice.
    if tokio::time::timeout(Duration::from_secs(10), &mut jobs).await.is_err() {
        jobs.abort();
    }
    app.db.close().await;
    tracing::info!("stopped");
    if let Some(telemetry) = &app.telemetry {
        telemetry.finish().await;
    }
    Ok(())
}

/// Refuses a second process on one SQLite database: each keeps responses and counters of its own. The
/// lock ends with the process.
fn lock_data_directory(config: &Config) -> Result<Option<File>, String> {
    if config.shares_database() {
        return Ok(None);
    }
    let file = config.data_dir.join("dermaga.lock");
    let fault = |why: &dyn Display| format!("{}: {why}", file.display());
    private::folder(&config.data_dir).map_err(|why| fault(&why))?;
    let lock = private::open(&file).map_err(|why| fault(&why))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {
            Err(fault(&"another process serves this database; PostgreSQL allows several"))
        }
        Err(TryLockError::Error(why)) => Err(fault(&why)),
    }
}

fn print_startup(app: &App, first_admin: Option<accounts::FirstAdmin>) {
    let url = app.config.public_url();
    let mut words = format!("Dermaga {} on {}\n", env!("CARGO_PKG_VERSION"), app.db.engine());
    words += &format!("  console  {url}/console\n  address  {url}\n  docs     {url}/docs\n");
    match first_admin {
        Some(admin) => {
            words += &format!("  login    {} (role admin)\n", admin.email.as_str());
            if let Some(password) = admin.generated_password {
                words += &format!("  password {password}   <- shown only this once\n");
            }
        }
        None => {
            words += "  login    with an admin's e-mail; `dermaga admin create` adds another\n";
        }
    }
    words += "Press Ctrl-C to stop.\n";
    // Errors on standard output are ignored.
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(words.as_bytes()).and_then(|()| stdout.flush());
}

/// Completes on Ctrl-C or SIGTERM. The handlers are installed by the call, not by the first poll.
#[cfg(unix)]
fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
        tracing::info!("shutting down: waiting for running requests");
    })
}

#[cfg(not(unix))]
fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

fn start_logging(config: &Config) -> Result<(), String> {
    let filter =
        EnvFilter::try_new(&config.log).map_err(|error| format!("DERMAGA_LOG: {error}"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| log::Stderr)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    let export = config.otlp_url.is_some().then_some(LogExport);
    match config.log_format {
        LogFormat::Text => log.finish().with(export).init(),
        LogFormat::Json => log.json().flatten_event(true).finish().with(export).init(),
    }
    Ok(())
}

async fn doctor(config: Config) -> Result<(), String> {
    let mut failed = 0;
    for Finding { what, found, section } in doctor::examine(config).await {
        match found {
            Ok(found) => say(format_args!("ok   {what}: {found}")),
            Err(why) => {
                failed += 1;
                say(format_args!("FAIL {what}: {why}\n     see docs/operating.md#{section}"));
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} checks failed")),
    }
}

fn contents(backup: &Backup) -> String {
    let Backup { bytes, files, rules, violations, .. } = backup;
    let hold = rules - violations.len();
    format!("database intact, {bytes} bytes, {hold} of {rules} invariants hold, {files} files")
}

/// Fails after a backup or restore with violated invariants, which is complete all the same.
fn ensure_consistent(backup: &Backup) -> Result<(), String> {
    match backup.violations.first() {
        None => Ok(()),
        Some(first) => Err(format!("invariant violated: {first}; see `dermaga audit`")),
    }
}

/// Prints a line. Errors are ignored: the reader may have closed the pipe.
fn say(line: impl Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Lists failed deliveries, or retries them.
async fn outbox(config: Config, retry: Option<String>) -> Result<(), String> {
    let app = App::attach(config, Clock::System).await?;
    let shown = async {
        if let Some(which) = retry {
            let id = match which.as_str() {
                "all" => None,
                id => Some(id.parse().map_err(|_| format!("{id} is not a valid id"))?),
            };
            let revived = outbox::retry_dead(&app.db, id, app.clock.now()).await;
            let revived = revived.map_err(|error| error.to_string())?;
            say(format_args!("{revived} messages will be retried."));
        }
        let (waiting, dead) = outbox::state(&app.db).await.map_err(|error| error.to_string())?;
        say(format_args!("{waiting} pending, {} failed.", dead.len()));
        for item in dead {
            let why = item.last_error.unwrap_or_default();
            let (id, topic, tries) = (item.id, item.topic, item.attempts);
            say(format_args!(
                "{id}  {topic}  {tries} attempts, last at {}  {why}",
                item.dead_at.to_rfc3339()
            ));
        }
        Ok(())
    };
    let shown = shown.await;
    app.db.close().await;
    shown
}

/// Nothing is written to the database meanwhile, so requests that change something may fail.
async fn scrub(config: Config) -> Result<(), String> {
    config.ensure_database_exists()?;
    let fault = |why: Failure| format!("DERMAGA_DATABASE_URL: {why}");
    let db = Db::open_without_timeout(&config.database_url()).await.map_err(fault)?;
    let done = db.rewrite().await.map_err(fault);
    db.close().await;
    done
}

/// Prints every invariant with the number of rows checked, and names each violation.
async fn audit(config: Config) -> Result<(), String> {
    config.ensure_database_exists()?;
    let db = Db::open_without_timeout(&config.database_url()).await;
    let db = db.map_err(|why| format!("DERMAGA_DATABASE_URL: {why}"))?;
    db.ensure_current().await?;
    let checked = invariants::check(&db).await.map_err(|error| error.to_string());
    db.close().await;
    let mut broken = 0;
    for question in checked? {
        let mark = if question.broken.is_empty() { "ok  " } else { "FAIL" };
        say(format_args!("{mark} {} ({} checked)", question.rule, question.looked_at));
        for discrepancy in &question.broken {
            say(format_args!("     {discrepancy}"));
        }
        broken += question.broken.len();
    }
    match broken {
        0 => Ok(()),
        _ => Err(format!("{broken} invariants violated")),
    }
}

async fn create_admin(config: Config, email: Email, name: String) -> Result<(), String> {
    let name = Name::parse(&name).ok_or("--name: must have 1 to 120 characters")?;
    let line = match std::io::stdin().is_terminal() {
        true => rpassword::prompt_password("Password (12 to 128 characters): "),
        false => std::io::read_to_string(std::io::stdin()),
    };
    let line = line.map_err(|error| error.to_string())?;
    let password = Password::parse(line.trim_end_matches(['\r', '\n']))
        .ok_or("a password must have 12 to 128 characters")?;
    let app = App::start(config, Clock::System).await?;
    let made = accounts::create_admin(&app, name, email.clone(), &password).await;
    app.db.close().await;
    made.map_err(|error| match error {
        Error::Invalid(faults) => faults[0].message.say(Lang::En).to_owned(),
        other => other.to_string(),
    })?;
    say(format_args!("{} is now an admin.", email.as_str()));
    Ok(())
}

async fn reset_second_factor(config: Config, email: Email) -> Result<(), String> {
    let app = App::attach(config, Clock::System).await?;
    let removed = accounts::reset_second_factor(&app, &email).await;
    app.db.close().await;
    match removed {
        Ok(true) => {
            say(format_args!("{} can now sign in with the password alone.", email.as_str()));
            Ok(())
        }
        Ok(false) => Err(format!("{} has no second factor", email.as_str())),
        Err(Error::NotFound) => Err(format!("there is no account with {}", email.as_str())),
        Err(other) => Err(other.to_string()),
    }
}

/// Generates the document with an empty database in a temporary folder.
async fn openapi() -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("dermaga-{}", crate::kernel::ids::fresh()));
    let config = Config { data_dir: folder.clone(), ..Config::default() };
    let app = App::start(config, Clock::System).await?;
    let document = service::openapi(api::table(app).operations());
    let _ = std::fs::remove_dir_all(folder);
    Ok(document)
}

/// The table of settings in the README.
pub fn settings_table() -> String {
    let mut table = String::from("| Setting | Default | Meaning |\n|---|---|---|\n");
    for (name, default, meaning) in SETTINGS {
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        table += &format!("| `{}` | {default} | {} |\n", env_name(name), meaning.trim());
    }
    table
}
