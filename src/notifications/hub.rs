//! New notifications on their way to those who are looking.
//!
//! Each process reads what is new once, for all who look through it: at once when it has told
//! somebody itself, and every second for what other processes did. Ids grow with time but are not
//! committed in their order, so it looks back a little and remembers what it has shown.

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

/// How late a commit may come after its id was made.
const LATE: Duration = Duration::from_secs(15);

/// A stream holds its connection for hours: others need some, too.
const STREAMS: usize = 2_048;
const OWN_STREAMS: usize = 8;

#[derive(Clone, Default)]
pub struct Hub {
    new: Arc<Notify>,
    lookers: Arc<Mutex<HashMap<Uuid, Sender<Arc<NotificationRow>>>>>,
}

impl App {
    /// Where open notification streams subscribe.
    pub fn hub(&self) -> &Hub {
        self.domain()
    }
}

impl Hub {
    /// There is something new.
    pub fn wake(&self) {
        self.new.notify_one();
    }

    /// What is new for an account, from now on. `None`: there are enough who look.
    pub fn look(&self, account: Uuid) -> Option<Receiver<Arc<NotificationRow>>> {
        let mut lookers = self.lookers();
        let all: usize = lookers.values().map(Sender::receiver_count).sum();
        let sender = lookers.entry(account).or_insert_with(|| Sender::new(256));
        (all < STREAMS && sender.receiver_count() < OWN_STREAMS).then(|| sender.subscribe())
    }

    /// Whether anybody looks; who does no more is forgotten.
    fn is_looked_at(&self) -> bool {
        let mut lookers = self.lookers();
        lookers.retain(|_, sender| sender.receiver_count() > 0);
        !lookers.is_empty()
    }

    fn show(&self, row: NotificationRow) {
        if let Some(sender) = self.lookers().get(&row.account_id) {
            // Nobody looks any more: they will see it in their list.
            let _ = sender.send(Arc::new(row));
        }
    }

    fn lookers(&self) -> MutexGuard<'_, HashMap<Uuid, Sender<Arc<NotificationRow>>>> {
        self.lookers.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Sends new notifications to open streams, until it is dropped.
pub async fn run_publish_loop(app: &App, job: &Job) {
    let mut seen = HashSet::new();
    loop {
        let pause = tokio::time::sleep(Duration::from_secs(1));
        tokio::select! {
            // What is told within a moment is read together.
            () = app.hub().new.notified() => tokio::time::sleep(Duration::from_millis(50)).await,
            () = pause => {}
        }
        if !app.hub().is_looked_at() {
            seen.clear();
            job.succeeded(Instant::now());
            continue;
        }
        let since = earliest_id(LATE);
        seen.retain(|id| *id > since);
        job.done(show_new(app, since, &mut seen).await);
    }
}

async fn show_new(app: &App, mut since: Uuid, seen: &mut HashSet<Uuid>) -> Result<()> {
    loop {
        let rows = store::after(&app.db, since, None).await?;
        let more = rows.len() == store::SOME;
        for row in rows {
            since = row.id;
            if seen.insert(row.id) {
                app.hub().show(row);
            }
        }
        if !more {
            return Ok(());
        }
    }
}
