//! The bounded queue for a connection or for the writer.

use std::{
    iter::Sum,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use super::{Failure, Result};

/// A longer queue delays everyone and increases no throughput, so further callers fail at once.
const MAX_WAITING: usize = 512;
/// From this length on, the queue counts as busy, and background work is postponed.
const BUSY: usize = 8;
/// How long it stays busy, in milliseconds: callers come in bursts.
const BUSY_FOR: u64 = 300;

#[derive(Clone, Default)]
pub(super) struct Queue(Arc<State>);

#[derive(Default)]
struct State {
    waiting: AtomicUsize,
    /// Until when it counts as busy.
    busy_until: AtomicU64,
    refused: AtomicU64,
}

/// How many callers wait for the database, and how many were refused because too many waited.
#[derive(Clone, Copy, Default)]
pub struct Load {
    pub waiting: u64,
    pub refused: u64,
}

impl Sum for Load {
    fn sum<I: Iterator<Item = Self>>(loads: I) -> Self {
        loads.fold(Self::default(), |sum, load| Self {
            waiting: sum.waiting + load.waiting,
            refused: sum.refused + load.refused,
        })
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Queue {
    pub async fn wait<T>(&self, turn: impl Future<Output = T>) -> Result<T> {
        let before = self.0.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.0.waiting);
        if before >= BUSY {
            self.0.busy_until.store(now() + BUSY_FOR, Ordering::Relaxed);
        }
        match before < MAX_WAITING {
            true => Ok(turn.await),
            false => {
                self.0.refused.fetch_add(1, Ordering::Relaxed);
                Err(Failure::unavailable("too many wait for the database"))
            }
        }
    }

    pub fn is_busy(&self) -> bool {
        now() < self.0.busy_until.load(Ordering::Relaxed)
    }

    /// Callers that wait now, and callers that were refused so far.
    pub fn load(&self) -> Load {
        let waiting = self.0.waiting.load(Ordering::Relaxed) as u64;
        Load { waiting, refused: self.0.refused.load(Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Milliseconds since the first call.
pub(super) fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}
