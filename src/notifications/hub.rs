//! Publishes new notifications to the open streams of this process.
//!
//! Each process reads new notifications once for all of its streams: at once after it has written
//! some itself, and every second for those of other processes. Ids grow with time but are not
//! committed in their order, so it reads back a little and remembers what it has published.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::{
    sync::{
        Notify,
        broadcast::{Receiver, Sender},
    },
    time::Instant,
};

use super::{model::NotificationRow, store};
use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid, supervisor::Job},
};

/// The maximum time between the creation of an id and its commit.
const MAX_COMMIT_DELAY: Duration = Duration::from_secs(15);

/// Limits of open streams, of all accounts and of one: each holds a connection for hours.
const STREAMS: usize = 2_048;
const OWN_STREAMS: usize = 8;

#[derive(Clone, Default)]
pub struct Hub {
    new: Arc<Notify>,
    subscribers: Arc<Mutex<HashMap<Uuid, Sender<Arc<NotificationRow>>>>>,
}

impl App {
    /// Where open notification streams subscribe.
    pub fn hub(&self) -> &Hub {
        self.domain()
    }
}

impl Hub {
    /// Signals new notifications.
    pub fn wake(&self) {
        self.new.notify_one();
    }

    /// New notifications of an account from now on. `None`: too many streams are open.
    pub fn subscribe(&self, account: Uuid) -> Option<Receiver<Arc<NotificationRow>>> {
        let mut subscribers = self.subscribers();
        let all: usize = subscribers.values().map(Sender::receiver_count).sum();
        let sender = subscribers.entry(account).or_insert_with(|| Sender::new(256));
        (all < STREAMS && sender.receiver_count() < OWN_STREAMS).then(|| sender.subscribe())
    }

    /// Whether a stream is open. Removes accounts without one.
    fn has_subscribers(&self) -> bool {
        let mut subscribers = self.subscribers();
        subscribers.retain(|_, sender| sender.receiver_count() > 0);
        !subscribers.is_empty()
    }

    fn publish(&self, row: NotificationRow) {
        if let Some(sender) = self.subscribers().get(&row.account_id) {
            // An error means that the stream has ended. The notification is in the list.
            let _ = sender.send(Arc::new(row));
        }
    }

    fn subscribers(&self) -> MutexGuard<'_, HashMap<Uuid, Sender<Arc<NotificationRow>>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The smallest id that could have been made at that time.
pub fn earliest_id(ago: Duration) -> Uuid {
    let since = (SystemTime::now() - ago).duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis() as u64);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    Uuid::from_bytes(bytes)
}

pub async fn run_publish_loop(app: &App, job: &Job) {
    let mut seen = HashSet::new();
    loop {
        let pause = tokio::time::sleep(Duration::from_secs(1));
        tokio::select! {
            // Collects notifications that are written together.
            () = app.hub().new.notified() => tokio::time::sleep(Duration::from_millis(50)).await,
            () = pause => {}
        }
        if !app.hub().has_subscribers() {
            seen.clear();
            job.succeeded(Instant::now());
            continue;
        }
        let since = earliest_id(MAX_COMMIT_DELAY);
        seen.retain(|id| *id > since);
        job.done(publish_new(app, since, &mut seen).await);
    }
}

async fn publish_new(app: &App, mut since: Uuid, seen: &mut HashSet<Uuid>) -> Result<()> {
    loop {
        let rows = store::newer_than(&app.db, since, None).await?;
        let more = rows.len() == store::SOME;
        for row in rows {
            since = row.id;
            if seen.insert(row.id) {
                app.hub().publish(row);
            }
        }
        if !more {
            return Ok(());
        }
    }
}
