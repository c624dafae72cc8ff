//! New notifications on their way to those who are looking.
//!
//! Each process reads what is new once, for all who look through it: at once when it has told
//! somebody itself, and every second for what other processes did. Ids grow with time but are not
//! committed in their order, so it looks back a little and remembers what it has shown.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::{Notify, broadcast};

use super::{model::NotificationRow, store};
use crate::{app::App, kernel::ids::Uuid};

/// How late a commit may come after its id was made.
const LATE: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct Hub {
    new: Arc<Notify>,
    shown: broadcast::Sender<Arc<NotificationRow>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { new: Arc::default(), shown: broadcast::Sender::new(1_024) }
    }
}

impl Hub {
    /// There is something new.
    pub fn wake(&self) {
        self.new.notify_one();
    }

    pub fn look(&self) -> broadcast::Receiver<Arc<NotificationRow>> {
        self.shown.subscribe()
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

pub async fn show_for_ever(app: &App) {
    let mut seen = HashSet::new();
    loop {
        let pause = tokio::time::sleep(Duration::from_secs(1));
        tokio::select! { () = app.hub.new.notified() => {}, () = pause => {} }
        if app.hub.shown.receiver_count() == 0 {
            seen.clear();
            continue;
        }
        let since = earliest_id(LATE);
        seen.retain(|id| *id > since);
        match store::after(&app.db, since, None).await {
            Ok(rows) => {
                for row in rows.into_iter().filter(|row| seen.insert(row.id)) {
                    let _ = app.hub.shown.send(Arc::new(row));
                }
            }
            Err(error) => tracing::warn!(%error, "new notifications were not read"),
        }
    }
}
