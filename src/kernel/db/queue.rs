//! Those who wait for a connection, or for their turn to write.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use super::{Failure, Result};

/// A queue that grows makes everyone late and serves nobody sooner: whoever would be one too many
/// is told so at once.
const LONGEST: usize = 512;
/// Above this, what nobody waits for had better wait itself: for so many milliseconds, since those
/// who queue come and go together.
const BUSY: usize = 8;
const WHILE: u64 = 300;

#[derive(Clone, Default)]
pub(super) struct Queue(Arc<State>);

#[derive(Default)]
struct State {
    waiting: AtomicUsize,
    /// Until when it counts as busy.
    busy_until: AtomicU64,
}

struct Place<'a>(&'a AtomicUsize);

impl Queue {
    pub async fn wait<T>(&self, turn: impl Future<Output = T>) -> Result<T> {
        let before = self.0.waiting.fetch_add(1, Ordering::Relaxed);
        let _place = Place(&self.0.waiting);
        if before >= BUSY {
            self.0.busy_until.store(now() + WHILE, Ordering::Relaxed);
        }
        match before < LONGEST {
            true => Ok(turn.await),
            false => Err(Failure::unavailable("too many wait for the database")),
        }
    }

    pub fn is_busy(&self) -> bool {
        now() < self.0.busy_until.load(Ordering::Relaxed)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Milliseconds since the first time it was asked for.
pub(super) fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}
