//! The command line.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

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
        clock::Clock, db::Db, email::Email, error::Error, lang::Lang, log, outbox, text::Name,
    },
    reports, service,
};

#[derive(Parser)]
#[command(name = "dermaga", version, about = "The backend of a speedboat booking platform")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve (the default)
    Serve,
    /// Bring the database up to date
    Migrate,
    /// Seal again, with the current key, what older keys have sealed
    Reseal,
    /// Check that seats, promotions and money add up; fails when something does not
    Audit,
    /// Show what waits to be delivered and what could not be; with --retry, try the latter again
    Outbox {
        /// An item's id, or `all`
        #[arg(long, value_name = "ID|all")]
        retry: Option<String>,
    },
    /// Make the figures of the reports anew from the bookings
    RebuildReports,
    /// Fill an empty database with a platform that looks lived in, and print its logins
    Demo {
        /// The same seed makes the same platform
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// So many times the fleets, with all that they sold
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=demo::MOST as i64))]
        scale: u16,
        /// How far its past reaches
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u64).range(0..=demo::LONGEST))]
        days: u64,
    },
    /// Look at configuration, database, storage, mail, payment provider and clock
    Doctor,
    /// Copy the SQLite database, files and key while the service runs, and check the copy
    Backup {
        /// The folder that gets a new one with the backup in it
        #[arg(default_value = ".")]
        into: PathBuf,
    },
    /// Put a backup into an empty data directory
    Restore {
        /// The folder that `backup` made
        from: PathBuf,
    },
    /// Manage admins
    #[command(subcommand)]
    Admin(Admin),
    /// Print the effective settings, secrets hidden
    Config(Show),
    /// Print the OpenAPI document
    Openapi,
}

#[derive(Subcommand)]
enum Admin {
    /// Make an admin; the password is read from the terminal or from standard input
    Create {
        #[arg(long)]
        email: Email,
        #[arg(long, default_value = "Admin")]
        name: String,
    },
}

#[derive(Args)]
struct Show {
    /// As the table in the README
    #[arg(long)]
    markdown: bool,
}

/// `started` is called once, when the service is up, on the thread that started it.
pub fn run(started: impl FnOnce()) -> Result<(), String> {
    let command = Cli::parse().command.unwrap_or(Command::Serve);
    if let Command::Config(Show { markdown: true }) = command {
        print!("{}", settings_table());
        return Ok(());
    }
    let config = Config::load()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // What SQLite has written is told by threads of its own, and so by the queue that busy workers
    // look at last: everyone would wait for it, the next writer first of all.
    let runtime = runtime.global_queue_interval(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        match command {
            Command::Serve => serve(config, started).await,
            Command::Migrate => {
                let app = App::start(config, Clock::System).await?;
                println!("The {} database is up to date.", app.db.engine());
                app.db.close().await;
                Ok(())
            }
            Command::Reseal => {
                let app = App::start(config, Clock::System).await?;
                let resealed = app.reseal().await.map_err(|error| error.to_string())?;
                println!("{resealed} records were sealed again.");
                app.db.close().await;
                Ok(())
            }
            Command::Outbox { retry } => outbox(config, retry).await,
            Command::RebuildReports => {
                let app = App::start(config, Clock::System).await?;
                let read = reports::rebuild(&app).await.map_err(|error| error.to_string())?;
                println!("The reports were made anew from {read} bookings.");
                app.db.close().await;
                Ok(())
            }
            Command::Audit => audit(config).await,
            Command::Demo { seed, scale, days } => {
                demo::run(config, seed, Extent { days, scale }).await
            }
            Command::Doctor => doctor(config).await,
            Command::Backup { into } => {
                let made = backup::backup(&config, &into, &Clock::System).await?;
                println!("{}: {}", made.folder.display(), contents(&made));
                Ok(())
            }
            Command::Restore { from } => {
                let made = backup::restore(&config, &from).await?;
                println!("{} is restored: {}", made.folder.display(), contents(&made));
                Ok(())
            }
            Command::Admin(Admin::Create { email, name }) => {
                create_admin(config, email, name).await
            }
            Command::Config(_) => {
                for (name, value) in config.show() {
                    println!("{}={value}", env_name(name));
                }
                Ok(())
            }
            Command::Openapi => {
                print!("{}", openapi().await?);
                Ok(())
            }
        }
    })
}

async fn serve(mut config: Config, started: impl FnOnce()) -> Result<(), String> {
    start_logging(&config)?;
    let verdict = guard::examine(&config);
    match &verdict {
        Verdict::Local | Verdict::Sound => {}
        Verdict::Overridden(fault) => tracing::warn!(
            "DERMAGA_INSECURE_DEMO is set: this service is for a demo, not for real customers{}",
            fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default()
        ),
        Verdict::Refused(why) => return Err(why.clone()),
    }
    // A full harbour is more than the 1,024 files that many systems start with.
    let _ = rlimit::increase_nofile_limit(65_536);
    let fault = |error| format!("DERMAGA_LISTEN: {}: {error}", config.listen);
    let listener = edge::listen(config.listen).map_err(fault)?;
    // Port 0 means any; from here on it is a certain one.
    config.listen = listener.local_addr().map_err(fault)?;
    let app = App::start(config, Clock::System).await?;
    if verdict == Verdict::Sound {
        demo::no_printed_logins(&app).await?;
    }
    let first_admin = accounts::first_admin(&app).await.map_err(|error| error.to_string())?;
    let shutdown = shutdown().map_err(|error| error.to_string())?;
    greet(&app, first_admin);
    let mut jobs = tokio::spawn(app.clone().run_jobs());
    let served = edge::serve(app.clone(), listener, Edge::default(), shutdown);
    let settled = async {
        // The first look of the jobs belongs to the start, too.
        tokio::time::sleep(Duration::from_secs(5)).await;
        started();
        std::future::pending().await
    };
    tokio::select! {
        () = served => {}
        () = settled => {}
    }
    // A letter that is on its way is not sent twice for our leaving.
    if tokio::time::timeout(Duration::from_secs(10), &mut jobs).await.is_err() {
        jobs.abort();
    }
    app.db.close().await;
    tracing::info!("stopped");
    Ok(())
}

fn greet(app: &App, first_admin: Option<accounts::FirstAdmin>) {
    let url = app.config.public_url();
    let mut words = format!("Dermaga {} on {}\n", env!("CARGO_PKG_VERSION"), app.db.engine());
    words += &format!("  address  {url}\n  docs     {url}/docs\n");
    match first_admin {
        Some(admin) => {
            words += &format!("  login    {} (role admin)\n", admin.email.as_str());
            if let Some(password) = admin.generated_password {
                words += &format!("  password {password}   <- shown only this once\n");
            }
        }
        None => {
            words += "  login    with an admin's e-mail; `dermaga admin create` makes another\n";
        }
    }
    words += "Ctrl-C stops it.\n";
    // A service that nobody listens to serves all the same.
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(words.as_bytes()).and_then(|()| stdout.flush());
}

/// Ctrl-C, or what a service manager sends. It listens from the call on, not from the first wait.
#[cfg(unix)]
fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
        tracing::info!("finishing what runs");
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
    match config.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

async fn doctor(config: Config) -> Result<(), String> {
    let mut ill = 0;
    for Finding { what, found } in doctor::examine(config).await {
        match found {
            Ok(found) => println!("ok   {what}: {found}"),
            Err(why) => {
                ill += 1;
                println!("FAIL {what}: {why}");
            }
        }
    }
    match ill {
        0 => Ok(()),
        _ => Err(format!("{ill} things need attention")),
    }
}

fn contents(backup: &Backup) -> String {
    let Backup { bytes, files, rules, .. } = backup;
    format!("a sound database of {bytes} bytes, {rules} rules hold, {files} files")
}

/// Dead letters are for a person to look at.
async fn outbox(config: Config, retry: Option<String>) -> Result<(), String> {
    let app = App::start(config, Clock::System).await?;
    let shown = async {
        if let Some(which) = retry {
            let id = match which.as_str() {
                "all" => None,
                id => Some(id.parse().map_err(|_| format!("{id} is no id"))?),
            };
            let revived = outbox::revive(&app.db, id, app.clock.now()).await;
            let revived = revived.map_err(|error| error.to_string())?;
            println!("{revived} are tried again.");
        }
        let (waiting, dead) = outbox::state(&app.db).await.map_err(|error| error.to_string())?;
        println!("{waiting} wait, {} could not be delivered.", dead.len());
        for item in dead {
            let why = item.last_error.unwrap_or_default();
            let (id, topic, tries) = (item.id, item.topic, item.attempts);
            println!("{id}  {topic}  {tries} tries until {}  {why}", item.dead_at.to_rfc3339());
        }
        Ok(())
    };
    let shown = shown.await;
    app.db.close().await;
    shown
}

/// Prints what was checked and how much of it; each discrepancy is named.
async fn audit(config: Config) -> Result<(), String> {
    let fault = |why: &dyn std::fmt::Display| format!("DERMAGA_DATABASE_URL: {why}");
    let db = Db::open_without_timeout(&config.database_url()).await.map_err(|why| fault(&why))?;
    if db.is_behind().await.map_err(|why| fault(&why))? {
        return Err("the database is of an older version; run `dermaga migrate` first".into());
    }
    let checked = invariants::check(&db).await.map_err(|error| error.to_string());
    db.close().await;
    let mut broken = 0;
    for question in checked? {
        let mark = if question.broken.is_empty() { "ok  " } else { "FAIL" };
        println!("{mark} {} ({} looked at)", question.rule, question.looked_at);
        for discrepancy in &question.broken {
            println!("     {discrepancy}");
        }
        broken += question.broken.len();
    }
    match broken {
        0 => Ok(()),
        _ => Err(format!("{broken} discrepancies")),
    }
}

async fn create_admin(config: Config, email: Email, name: String) -> Result<(), String> {
    let name = Name::parse(&name).ok_or("--name: 1 to 120 characters, please")?;
    let line = match std::io::stdin().is_terminal() {
        true => rpassword::prompt_password("Password (8 to 128 characters): "),
        false => std::io::read_to_string(std::io::stdin()),
    };
    let line = line.map_err(|error| error.to_string())?;
    let password = Password::parse(line.trim_end_matches(['\r', '\n']))
        .ok_or("a password has 8 to 128 characters")?;
    let app = App::start(config, Clock::System).await?;
    let made = accounts::create_admin(&app, name, email.clone(), &password).await;
    app.db.close().await;
    made.map_err(|error| match error {
        Error::Invalid(faults) => faults[0].message.say(Lang::En).to_owned(),
        other => other.to_string(),
    })?;
    println!("{} is an admin now.", email.as_str());
    Ok(())
}

/// Needs no database of the operator's: an empty one in a temporary folder will do.
async fn openapi() -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("dermaga-{}", crate::kernel::ids::fresh()));
    let config = Config { data_dir: folder.clone(), ..Config::default() };
    let app = App::start(config, Clock::System).await?;
    let document = api::table(app).finish().document;
    let _ = std::fs::remove_dir_all(folder);
    Ok(service::openapi(&document))
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
