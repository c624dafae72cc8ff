//! The state that handlers share, how it starts, and the jobs in the background.

use std::{ops::Deref, sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::{
    sync::{Semaphore, watch},
    task::{JoinError, JoinSet},
    time::Instant,
};

use crate::{
    accounts::{self, Passwords},
    bookings,
    config::{Config, DatabaseUrl},
    edge::{Limits, Metrics},
    files,
    kernel::{
        clock::Clock,
        db::Db,
        error::{Error, Result},
        idempotency,
        mail::Mailer,
        outbox::{self, Item, Queue},
        seal::Sealer,
        secret::Secret,
        storage::Storage,
    },
    notifications::{self, Hub},
    partners,
    payments::{self, Gateway},
    reports, settlements, staff,
    webhooks::{self, WebhookCaller},
};

/// Whether a delivered item is out of the outbox already.
struct Gone(bool);

/// Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<State>);

pub struct State {
    pub config: Config,
    pub clock: Clock,
    pub db: Db,
    pub passwords: Passwords,
    pub mailer: Mailer,
    pub gateway: Gateway,
    pub limits: Limits,
    pub metrics: Metrics,
    /// Signs addresses and tickets, encrypts what must not be read at rest.
    pub secret_key: Secret,
    pub sealer: Sealer,
    pub storage: Storage,
    pub hub: Hub,
    pub webhooks: WebhookCaller,
    /// Set when the service begins to stop.
    stopping: watch::Sender<bool>,
    /// How many uploads are in memory at once, and how many of them are looked at.
    pub uploads: Arc<Semaphore>,
    pub inspections: Arc<Semaphore>,
    pub started: Instant,
}

impl Deref for App {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl App {
    /// Opens the database and brings it up to date.
    pub async fn start(config: Config, clock: Clock) -> Result<Self, String> {
        private_folder(&config.data_dir)?;
        // Clients of TLS find their cryptography here; the second to install it changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let secret_key = secret_key(&config)?;
        old_keys(&config)?;
        let mailer = mailer(&config)?;
        let gateway = Gateway::new(&config, &secret_key)?;
        let url = config.database_url();
        let db = Db::open(&url).await.map_err(|why| format!("DERMAGA_DATABASE_URL: {why}"))?;
        db.migrate().await.map_err(|why| format!("cannot migrate the database: {why}"))?;
        Ok(Self(Arc::new(State {
            hub: Hub::default(),
            webhooks: WebhookCaller::new(config.webhook_private_addresses.0)?,
            stopping: watch::Sender::new(false),
            limits: Limits::new(config.rate_limit.0),
            metrics: Metrics::new(),
            passwords: Passwords::new(),
            sealer: Sealer::new(&secret_key, &config.old_secret_keys.0),
            storage: storage(&config)?,
            uploads: Arc::new(Semaphore::new(8)),
            inspections: Arc::new(Semaphore::new(1)),
            started: Instant::now(),
            config,
            clock,
            db,
            mailer,
            gateway,
            secret_key,
        })))
    }

    /// Ends what would go on for ever.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Resolves when the service begins to stop.
    pub async fn stopping(&self) {
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// The day where the service is.
    pub fn today(&self) -> chrono::NaiveDate {
        self.clock.now().with_timezone(&self.config.timezone).date_naive()
    }

    /// Does everything that goes on in the background, until the service stops and what was begun
    /// is delivered.
    pub async fn work(self) {
        let deliver = async {
            tokio::join!(
                self.deliver_until_stopped(Queue::Event),
                self.deliver_until_stopped(Queue::Mail),
                self.deliver_until_stopped(Queue::Payment),
                self.deliver_until_stopped(Queue::Webhook),
            );
        };
        let others = async {
            tokio::join!(
                self.expire_for_ever(),
                self.settle_for_ever(),
                self.fold_for_ever(),
                notifications::show_for_ever(&self),
                self.sweep_for_ever(),
            );
        };
        tokio::select! { () = deliver => {}, () = others => {} }
    }

    /// Delivers what is due in a queue, so many side by side, each well within its lease: a slow one
    /// neither holds up the others nor is taken over while it runs. When the service stops it
    /// finishes what it has begun.
    async fn deliver_until_stopped(&self, queue: Queue) {
        let mut posted = self.db.posted();
        let (mut running, width) = (JoinSet::new(), side_by_side(queue));
        let mut more = false;
        while !*self.stopping.borrow() {
            // Several at a time: a claim is a transaction.
            if running.len() <= width / 2 {
                let free = width - running.len();
                let claimed = outbox::claim(&self.db, queue, self.clock.now(), free as i64).await;
                let claimed = claimed.unwrap_or_else(|error| {
                    tracing::error!(%error, "the outbox cannot be read");
                    Vec::new()
                });
                more = claimed.len() == free;
                for item in claimed {
                    let app = self.clone();
                    running.spawn(async move { app.deliver_one(&item).await });
                }
            }
            tokio::select! {
                Some(done) = running.join_next() => lost(done),
                _ = posted.changed(), if !more => {}
                () = tokio::time::sleep(Duration::from_secs(2)) => {}
                () = self.stopping() => {}
            }
        }
        while let Some(done) = running.join_next().await {
            lost(done);
        }
    }

    /// Delivers some of what is due now; says how much it was.
    pub async fn deliver_due(&self) -> Result<usize> {
        let mut count = 0;
        for queue in Queue::ALL {
            let items = outbox::claim(&self.db, *queue, self.clock.now(), 16).await?;
            count += items.len();
            let app = self.clone();
            let deliver = |item: Item| {
                let app = app.clone();
                async move { app.deliver_one(&item).await }
            };
            for done in join_all(items.into_iter().map(deliver)).await {
                done?;
            }
        }
        Ok(count)
    }

    async fn deliver_one(&self, item: &Item) -> Result<()> {
        let delivered = match item.is_poison() {
            true => Err(Error::internal("it crashes whoever delivers it")),
            false => tokio::time::timeout(Duration::from_secs(45), self.deliver(item))
                .await
                .unwrap_or_else(|_| Err(Error::Unavailable("too slow".into()))),
        };
        let error = match delivered {
            Ok(Gone(true)) => return Ok(()),
            Ok(Gone(false)) => {
                let mut tx = self.db.begin().await?;
                outbox::done(&mut tx, item).await?;
                return Ok(tx.commit().await?);
            }
            Err(error) => error,
        };
        let (topic, id) = (&item.topic, item.id);
        tracing::warn!(%topic, %id, attempts = item.attempts, %error, "not delivered");
        outbox::failed(&self.db, item, &error.to_string(), self.clock.now()).await
    }

    /// Who takes which topic.
    async fn deliver(&self, item: &Item) -> Result<Gone> {
        let done = match item.topic.as_str() {
            "mail.letter" => notifications::send_letter(self, item).await,
            "webhook.delivery" => webhooks::deliver(self, item).await,
            "payment.wanted" | "payment.unconfirmed" => payments::deliver(self, item).await,
            topic if topic.starts_with("account.") => accounts::deliver(self, item).await,
            // The event becomes what follows from it, and is gone with that.
            _ => return notifications::deliver(self, item).await.map(|()| Gone(true)),
        };
        done.map(|()| Gone(false))
    }

    /// Unpaid seats are free again, and journeys complete, within a second of their time.
    async fn expire_for_ever(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = bookings::expire(self).await {
                tracing::warn!(%error, "holds were not let go");
            }
            if let Err(error) = bookings::complete(self).await {
                tracing::warn!(%error, "journeys were not completed");
            }
        }
    }

    /// Reports read what is not folded, too; folding keeps that short. A first start on bookings of
    /// the past, or one in another zone, makes the figures before.
    async fn fold_for_ever(&self) {
        while let Err(error) = reports::ensure(self).await {
            tracing::warn!(%error, "the figures of the reports are not made yet");
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        let mut tick = tokio::time::interval(Duration::from_secs(2));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = reports::fold(self).await {
                tracing::warn!(%error, "figures were not folded");
            }
        }
    }

    /// A day's settlements are made in its first minute.
    async fn settle_for_ever(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(60));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = settlements::run_schedules(self).await {
                tracing::warn!(%error, "schedules were not looked at");
            }
        }
    }

    async fn sweep_for_ever(&self) {
        let mut hourly = tokio::time::interval(Duration::from_secs(60 * 60));
        loop {
            hourly.tick().await;
            self.limits.forget_idle();
            if let Err(error) = self.sweep().await {
                tracing::error!(%error, "sweeping failed");
            }
        }
    }

    /// Puts everything that older keys have sealed under the current one.
    pub async fn reseal(&self) -> Result<u64> {
        let partners = partners::reseal(self).await? + webhooks::reseal(self).await?;
        Ok(partners + staff::reseal(self).await? + bookings::reseal(self).await?)
    }

    /// Forgets what is past its time.
    pub async fn sweep(&self) -> Result<()> {
        let now = self.clock.now();
        idempotency::sweep(&self.db, now).await?;
        accounts::sweep(&self.db, now).await?;
        notifications::sweep(self).await?;
        webhooks::sweep(self).await?;
        files::sweep(self, now).await
    }
}

/// How many items of a queue are delivered at once. Events need the database, which requests need
/// more; the others mostly wait for somebody.
fn side_by_side(queue: Queue) -> usize {
    match queue {
        Queue::Payment => 4,
        Queue::Event | Queue::Mail => 8,
        Queue::Webhook => 16,
    }
}

/// The others go on; this one comes back when its lease is past.
fn lost(done: Result<Result<()>, JoinError>) {
    if let Err(error) = done.map_err(Error::internal).flatten() {
        tracing::error!(%error, "a delivery was lost");
    }
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
    use base64::{Engine, prelude::BASE64_STANDARD};
    let checked = |key: Secret| match is_key(&key) {
        true => Ok(Secret::new(key.reveal().trim())),
        false => Err("DERMAGA_SECRET_KEY: must be 32 bytes in base64 (openssl rand -base64 32)"),
    };
    if let Some(key) = config.secret_key.clone() {
        return Ok(checked(key)?);
    }
    if config.database_url.as_ref().is_some_and(DatabaseUrl::is_shared) {
        return Err("DERMAGA_SECRET_KEY: must be set with PostgreSQL, the same for every process \
                    (openssl rand -base64 32)"
            .into());
    }
    let file = config.data_dir.join("secret.key");
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    if !file.exists() {
        write_private(&file, &BASE64_STANDARD.encode(rand::random::<[u8; 32]>())).map_err(fault)?;
    }
    Ok(checked(Secret::new(std::fs::read_to_string(&file).map_err(fault)?.trim()))?)
}

/// Letters with live links and the key lie there: for the service's own user alone.
fn private_folder(folder: &std::path::Path) -> Result<(), String> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let fault = |error| format!("DERMAGA_DATA_DIR: {}: {error}", folder.display());
    builder.create(folder).map_err(fault)
}

fn write_private(file: &std::path::Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

fn storage(config: &Config) -> Result<Storage, String> {
    let storage = match config.storage_url.0.0.as_str() {
        "local" => Storage::local(&config.data_dir.join("files")),
        url => Storage::s3(url),
    };
    storage.map_err(|why| format!("DERMAGA_STORAGE_URL: {why}"))
}

fn mailer(config: &Config) -> Result<Mailer, String> {
    let from = config
        .mail_from
        .parse()
        .map_err(|_| format!("DERMAGA_MAIL_FROM: {:?} is not a sender", config.mail_from))?;
    match config.mail_url.0.0.as_str() {
        "file" => Ok(Mailer::files(from, config.data_dir.join("mail"))),
        url => Mailer::smtp(from, url).map_err(|why| format!("DERMAGA_MAIL_URL: {why}")),
    }
}
