//! Connections that are kept open and lent out.
//!
//! The library's own pool asks every connection that comes back whether it is well: one more round
//! trip for each statement. Here a connection that answered a moment ago is taken to be well, one
//! that has rested is asked when it is lent again, and one that failed is not kept.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{ConnectOptions, Connection, PgConnection, raw_sql};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Failure, PATIENCE, Result, queue::Queue, within};

/// A connection that has rested so long may have lost its server.
const RESTED: Duration = Duration::from_secs(1);

pub(super) struct Pool<C: Connection> {
    shelf: Arc<Shelf<C>>,
}

struct Shelf<C: Connection> {
    options: C::Options,
    /// The one that was used last is lent first.
    kept: Mutex<Vec<(C, Instant)>>,
    slots: Arc<Semaphore>,
    queue: Queue,
}

impl<C: Connection> Clone for Pool<C> {
    fn clone(&self) -> Self {
        Self { shelf: self.shelf.clone() }
    }
}

impl<C: Connection> Pool<C> {
    pub fn new(options: C::Options, most: usize) -> Self {
        let slots = Arc::new(Semaphore::new(most));
        Self {
            shelf: Arc::new(Shelf {
                options,
                kept: Mutex::default(),
                slots,
                queue: Queue::default(),
            }),
        }
    }

    pub fn is_busy(&self) -> bool {
        self.shelf.queue.is_busy()
    }

    pub fn options(&self) -> &C::Options {
        &self.shelf.options
    }

    /// Waits for a connection that is free, or makes one.
    pub async fn lend(&self) -> Result<Lent<C>> {
        within(async {
            let slot = self.shelf.queue.wait(self.shelf.slots.clone().acquire_owned()).await?;
            let slot = slot.map_err(Failure::unavailable)?;
            let conn = self.take().await?;
            Ok::<_, Failure>(Lent {
                conn: Some(conn),
                shelf: self.shelf.clone(),
                _slot: slot,
                lost: false,
            })
        })
        .await
    }

    async fn take(&self) -> Result<C> {
        while let Some((mut conn, since)) = self.shelf.pop() {
            if since.elapsed() < RESTED || conn.ping().await.is_ok() {
                return Ok(conn);
            }
        }
        self.shelf.options.connect().await.map_err(Failure::unavailable)
    }

    /// Closes what is kept, and lends nothing any more.
    pub async fn close(&self) {
        self.shelf.slots.close();
        while let Some((conn, _)) = self.shelf.pop() {
            let _ = conn.close().await;
        }
    }
}

impl<C: Connection> Shelf<C> {
    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<(C, Instant)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self) -> Option<(C, Instant)> {
        self.kept().pop()
    }

    fn put_back(&self, conn: C) {
        if !self.slots.is_closed() {
            self.kept().push((conn, Instant::now()));
        }
    }
}

/// A connection that goes back when it is dropped, unless something was cut off half-way.
pub(super) struct Lent<C: Connection> {
    conn: Option<C>,
    shelf: Arc<Shelf<C>>,
    _slot: OwnedSemaphorePermit,
    /// Nobody knows what it is doing.
    lost: bool,
}

impl<C: Connection> Lent<C> {
    /// Does something with it. Should that be dropped before its end, or the connection fail, it is
    /// not lent again.
    pub async fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut C) -> sqlx::Result<T>,
    ) -> Result<T> {
        let conn = self.conn.as_mut().ok_or_else(|| Failure::unavailable("it was lost"))?;
        self.lost = true;
        let done = work(conn).await.map_err(Failure::from);
        self.lost = done.as_ref().is_err_and(Failure::is_unavailable);
        done
    }
}

impl<C: Connection> Drop for Lent<C> {
    fn drop(&mut self) {
        if let (Some(conn), false) = (self.conn.take(), self.lost) {
            self.shelf.put_back(conn);
        }
    }
}

/// A transaction of PostgreSQL. Whoever drops it undoes it.
pub(super) struct PgTurn {
    line: Option<Lent<PgConnection>>,
}

impl PgTurn {
    pub async fn begin(pool: &Pool<PgConnection>, how: &'static str) -> Result<Self> {
        let mut turn = Self { line: Some(pool.lend().await?) };
        within(turn.control(how)).await?;
        Ok(turn)
    }

    pub async fn commit(mut self) -> Result<()> {
        self.control("COMMIT").await?;
        self.line = None;
        Ok(())
    }

    async fn control(&mut self, text: &'static str) -> Result<()> {
        self.line().with(async |conn| raw_sql(text).execute(conn).await).await.map(drop)
    }

    pub fn line(&mut self) -> &mut Lent<PgConnection> {
        self.line.as_mut().expect("a transaction has its connection until it commits")
    }
}

impl Drop for PgTurn {
    fn drop(&mut self) {
        let Some(mut line) = self.line.take() else { return };
        if line.lost {
            return;
        }
        // It must not hold its locks until somebody happens to be lent it.
        line.lost = true;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let undo = line.with(async |conn| raw_sql("ROLLBACK").execute(conn).await);
                drop(tokio::time::timeout(PATIENCE, undo).await);
            });
        }
    }
}
