//! The state that handlers and jobs share. It knows no domain: `wiring` builds what domains keep for
//! the life of the process, and each domain has an accessor for its own.

use std::{any::type_name, ops::Deref, path::Path, sync::Arc, time::Duration};

use axum::http::Extensions;
use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};

use crate::{
    config::Config,
    kernel::{
        address_hash::AddressHasher,
        clock::Clock,
        db::Db,
        error,
        mail::Mailer,
        metrics::Metrics,
        private,
        response_cache::ResponseCache,
        seal::Sealer,
        secret::Secret,
        slots::Slots,
        storage::Storage,
        supervisor::Jobs,
        telemetry::{Collector, Telemetry},
    },
};

/// Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<State>);

pub struct State {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    pub mailer: Mailer,
    pub metrics: Metrics,
    /// Where traces and logs are exported to, if anywhere.
    pub telemetry: Option<Telemetry>,
    pub response_cache: ResponseCache,
    /// The background jobs that this process runs.
    pub jobs: Arc<Jobs>,
    /// Signs addresses and tickets, encrypts what must not be read at rest.
    pub secret_key: Secret,
    pub sealer: Sealer,
    pub address_hasher: AddressHasher,
    pub storage: Storage,
    /// Set when the service begins to stop.
    stopping: watch::Sender<bool>,
    /// Limits how many uploads are in memory at once, and how many of them are inspected.
    pub uploads: Slots,
    pub inspections: Arc<Semaphore>,
    /// Limits how many documents are drawn at once.
    pub drawings: Semaphore,
    pub started: Instant,
    domains: DomainState,
}

/// What domains keep for the life of the process, by type. A struct with a field for each would have
/// to name types of domains, which all import this file.
#[derive(Default)]
pub struct DomainState(Extensions);

impl DomainState {
    pub fn with<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.0.insert(Arc::new(state));
        self
    }
}

impl Deref for App {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl App {
    /// Checks the settings and opens the database as it is. `domains` builds the state of the domains
    /// from the settings and the secret key, before the database is opened.
    pub async fn open(
        config: Config,
        clock: Clock,
        domains: impl FnOnce(&Config, &Secret) -> Result<DomainState, String>,
    ) -> Result<Self, String> {
        let folder = &config.data_dir;
        private::folder(folder)
            .map_err(|why| format!("DERMAGA_DATA_DIR: {}: {why}", folder.display()))?;
        close_to_others(&config);
        // Every TLS client uses this provider; installing it twice changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let secret_key = secret_key(&config)?;
        old_keys(&config)?;
        let address_hasher = AddressHasher::new(&secret_key, &config.old_secret_keys.0);
        let mailer = mailer(&config, &address_hasher)?;
        let domains = domains(&config, &secret_key)?;
        ensure_replica_fits(&config)?;
        let metrics = Metrics::new();
        let telemetry = telemetry(&config, &metrics)?;
        let url = config.database_url();
        let db = Db::open(&url).await.map_err(|why| format!("DERMAGA_DATABASE_URL: {why}"))?;
        let db = with_replica(db.in_zone(config.timezone), &config)?;
        Ok(Self(Arc::new(State {
            stopping: watch::Sender::new(false),
            jobs: Arc::new(Jobs::new(telemetry.clone())),
            metrics,
            telemetry,
            response_cache: ResponseCache::new(!config.shares_database()),
            sealer: Sealer::new(&secret_key, &config.old_secret_keys.0),
            storage: storage(&config)?,
            uploads: Slots::new(8),
            inspections: Arc::new(Semaphore::new(1)),
            drawings: Semaphore::new(2),
            started: Instant::now(),
            config,
            clock,
            db,
            mailer,
            address_hasher,
            secret_key,
            domains,
        })))
    }

    /// Migrates the database.
    pub async fn migrate(&self) -> Result<(), String> {
        let migrated = self.db.migrate().await;
        migrated.map_err(|why| format!("cannot migrate the database: {why}"))
    }

    /// Refuses a secret key other than the one with which the database was written, unless that is one
    /// of the old keys.
    pub async fn ensure_key_fits(&self) -> Result<(), String> {
        let stored = self.key_check().await;
        let sealed = stored.map_err(|why| format!("cannot check the secret key: {why}"))?;
        // A database that no service has started on has none.
        let Some(sealed) = sealed else { return Ok(()) };
        self.sealer.open(&sealed).map(drop).map_err(|_| {
            "DERMAGA_SECRET_KEY: the data of this database was encrypted with another key; set that \
             one here or in DERMAGA_OLD_SECRET_KEYS"
                .into()
        })
    }

    /// Stores a value that only this key decrypts, unless there is one. Of several processes that start
    /// at once, one inserts its value; the others check theirs.
    pub async fn store_key_check(&self) -> error::Result<()> {
        if self.key_check().await?.is_some() {
            return Ok(());
        }
        self.db
            .sql(
                "INSERT INTO secret_key_check (only_one, sealed) VALUES (1, $1)
                 ON CONFLICT (only_one) DO NOTHING",
            )
            .bind(self.sealer.seal("dermaga")?)
            .run()
            .await?;
        Ok(())
    }

    async fn key_check(&self) -> error::Result<Option<String>> {
        let stored = self.db.sql("SELECT sealed FROM secret_key_check").maybe::<(String,)>();
        Ok(stored.await?.map(|(sealed,)| sealed))
    }

    /// Encrypts the stored value with the current key.
    pub async fn reseal_key_check(&self) -> error::Result<()> {
        let Some(stored) = self.key_check().await? else { return Ok(()) };
        let Some(new) = self.sealer.reseal(&stored)? else { return Ok(()) };
        let update = self.db.sql("UPDATE secret_key_check SET sealed = $1 WHERE sealed = $2");
        update.bind(new).bind(stored).run().await?;
        Ok(())
    }

    /// The state of a domain, for the domain's own accessor (`App::gateway`, …). `wiring` provides
    /// every type that is asked for here; its test calls all accessors.
    pub(crate) fn domain<T: Send + Sync + 'static>(&self) -> &T {
        let state = self.domains.0.get::<Arc<T>>();
        state.unwrap_or_else(|| panic!("wiring provides no {}", type_name::<T>()))
    }

    /// Tells jobs and open streams to end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Becomes true when the service begins to stop.
    pub fn stop_signal(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Resolves when the service begins to stop.
    pub async fn stopping(&self) {
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// For responses that are cached: reads the replica, if it has all changes after which this process
    /// has invalidated every response.
    pub fn db_of_offers(&self) -> Db {
        self.db.on_replica(self.response_cache.last_change(&[]))
    }

    /// The current date in the service's time zone.
    pub fn today(&self) -> chrono::NaiveDate {
        self.clock.now().with_timezone(&self.config.timezone).date_naive()
    }
}

/// `None` if no collector is configured.
fn telemetry(config: &Config, metrics: &Metrics) -> Result<Option<Telemetry>, String> {
    let Some(url) = &config.otlp_url else { return Ok(None) };
    let (headers, ratio) = (config.otlp_headers.as_ref(), config.trace_ratio.0);
    Telemetry::new(Collector { url: &url.0.0, headers, ratio }, metrics).map(Some)
}

fn ensure_replica_fits(config: &Config) -> Result<(), String> {
    match config.replica_url {
        Some(_) if !config.shares_database() => {
            Err("DERMAGA_REPLICA_URL: only PostgreSQL has replicas, and the database is SQLite \
                 (DERMAGA_DATABASE_URL)"
                .into())
        }
        // The lag is measured once a second.
        Some(_) if config.replica_max_lag < 2 => {
            Err("DERMAGA_REPLICA_MAX_LAG: must be at least 2".into())
        }
        _ => Ok(()),
    }
}

fn with_replica(db: Db, config: &Config) -> Result<Db, String> {
    let Some(url) = &config.replica_url else { return Ok(db) };
    let max_lag = Duration::from_secs(config.replica_max_lag.into());
    db.with_replica(&url.0.0, max_lag).map_err(|why| format!("DERMAGA_REPLICA_URL: {why}"))
}

fn is_key(key: &Secret) -> bool {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.decode(key.reveal().trim()).is_ok_and(|bytes| bytes.len() == 32)
}

fn old_keys(config: &Config) -> Result<(), String> {
    match config.old_secret_keys.0.iter().all(is_key) {
        true => Ok(()),
        false => Err("DERMAGA_OLD_SECRET_KEYS: each must be 32 bytes in base64".into()),
    }
}

/// Several processes on one PostgreSQL must share the key, so there it has to be given.
fn secret_key(config: &Config) -> Result<Secret, String> {
    use std::io::Write;

    use base64::{Engine, prelude::BASE64_STANDARD};
    let checked = |key: Secret| match is_key(&key) {
        true => Ok(Secret::new(key.reveal().trim())),
        false => Err("DERMAGA_SECRET_KEY: must be 32 bytes in base64 (openssl rand -base64 32)"),
    };
    if let Some(key) = config.secret_key.clone() {
        return Ok(checked(key)?);
    }
    if config.shares_database() {
        return Err("DERMAGA_SECRET_KEY: must be set with PostgreSQL, the same for every process \
                    (openssl rand -base64 32)"
            .into());
    }
    let file = config.data_dir.join("secret.key");
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    if !file.exists() {
        if let Some(database) = config.sqlite_file().filter(|file| file.exists()) {
            return Err(format!(
                "{}: the key of {} is missing; restore it from a backup, or set DERMAGA_SECRET_KEY",
                file.display(),
                database.display()
            ));
        }
        let key = BASE64_STANDARD.encode(rand::random::<[u8; 32]>());
        let made = private::create(&file);
        made.and_then(|mut made| made.write_all(key.as_bytes())).map_err(fault)?;
    }
    Ok(checked(Secret::new(std::fs::read_to_string(&file).map_err(fault)?.trim()))?)
}

/// Removes the permissions of group and others from data that an older version, or somebody by hand,
/// has left open to them. A failure is logged and does not stop the start.
fn close_to_others(config: &Config) {
    let data = |name: &str| config.data_dir.join(name);
    let mut ours = vec![data("secret.key"), data("mail"), data("files")];
    if let Some(file) = config.sqlite_file() {
        let file = file.display();
        ours.extend(["", "-wal", "-shm", "-journal"].map(|end| format!("{file}{end}").into()));
    }
    // Other files in the data directory may be meant to be read by others.
    match is_data_alone(&config.data_dir) {
        true => ours.push(config.data_dir.clone()),
        false => tracing::debug!(
            "the data directory contains other files; its permissions are not changed"
        ),
    }
    for path in ours.iter().filter(|path| private::is_open(path).unwrap_or(false)) {
        let name = path.display();
        match private::close(path) {
            Ok(()) => tracing::warn!(
                "{name} was accessible to other users; its permissions were restricted"
            ),
            Err(why) => tracing::warn!(
                "{name} is accessible to other users and cannot be restricted: {why}"
            ),
        }
    }
}

fn is_data_alone(folder: &Path) -> bool {
    let ours = |name: &str| {
        name.starts_with("dermaga") || ["secret.key", "mail", "files", "lost+found"].contains(&name)
    };
    std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(ours)))
    })
}

fn storage(config: &Config) -> Result<Storage, String> {
    let storage = match config.storage_url.0.0.as_str() {
        "local" => Storage::local(&config.data_dir.join("files")),
        url => Storage::s3(url),
    };
    storage.map_err(|why| format!("DERMAGA_STORAGE_URL: {why}"))
}

fn mailer(config: &Config, hasher: &AddressHasher) -> Result<Mailer, String> {
    let from = config
        .mail_from
        .parse()
        .map_err(|_| format!("DERMAGA_MAIL_FROM: {:?} is not a valid sender", config.mail_from))?;
    match config.mail_url.0.0.as_str() {
        "file" => Ok(Mailer::files(from, config.data_dir.join("mail"), hasher.clone())),
        url => Mailer::smtp(from, url).map_err(|why| format!("DERMAGA_MAIL_URL: {why}")),
    }
}
