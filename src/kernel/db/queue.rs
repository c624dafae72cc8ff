//! Those who wait for a connection, or for their turn to write.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{Failure, Result};

/// A queue that grows makes everyone late and serves nobody sooner: whoever would be one too many
/// is told so at once.
const LONGEST: usize = 512;
/// Above this, what nobody waits for had better wait itself.
const BUSY: usize = 8;

#[derive(Clone, Default)]
pub(super) struct Queue(Arc<AtomicUsize>);

struct Place<'a>(&'a AtomicUsize);

impl Queue {
    pub async fn wait<T>(&self, turn: impl Future<Output = T>) -> Result<T> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let _place = Place(&self.0);
        match before < LONGEST {
            true => Ok(turn.await),
            false => Err(Failure::unavailable("too many wait for the database")),
        }
    }

    pub fn is_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed) > BUSY
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
