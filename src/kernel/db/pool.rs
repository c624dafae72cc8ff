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

pub(super) struct Pool<C: Connection + 'static> {
    shelf: Arc<Shelf<C>>,
}

struct Shelf<C: Connection + 'static> {
    options: C::Options,
    /// The one that was used last is lent first.
    kept: Mutex<Vec<(C, Instant)>>,
    slots: Arc<Semaphore>,
    /// How many of them lists and reports may take: the rest is for everything else.
    long: Arc<Semaphore>,
    queue: Queue,
}

impl<C: Connection + 'static> Clone for Pool<C> {
    fn clone(&self) -> Self {
        Self { shelf: self.shelf.clone() }
    }
}

impl<C: Connection + 'static> Pool<C> {
    pub fn new(options: C::Options, most: usize, most_long: usize) -> Self {
        let slots = Arc::new(Semaphore::new(most));
        let long = Arc::new(Semaphore::new(most_long));
        Self {
            shelf: Arc::new(Shelf {
                options,
                kept: Mutex::default(),
                slots,
                long,
                queue: Queue::default(),
            }),
        }
    }

    pub fn is_busy(&self) -> bool {
        self.shelf.queue.is_busy()
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
                slot: Some(slot),
                long: None,
                state: State::Well,
            })
        })
        .await
        // Whoever has no connection yet has asked for nothing.
        .map_err(Failure::unavailable)
    }

    /// The same for a list or a report.
    pub async fn lend_for_long(&self) -> Result<Lent<C>> {
        let turn = self.shelf.long.clone().acquire_owned();
        let turn = async { self.shelf.queue.wait(turn).await?.map_err(Failure::unavailable) };
        let long = within(turn).await?;
        let mut lent = self.lend().await?;
        lent.long = Some(long);
        Ok(lent)
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
        self.shelf.long.close();
        while let Some((conn, _)) = self.shelf.pop() {
            let _ = conn.close().await;
        }
    }
}

impl<C: Connection + 'static> Shelf<C> {
    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<(C, Instant)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self) -> Option<(C, Instant)> {
        self.kept().pop()
    }

    fn put_back(&self, conn: C) {
        let mut kept = self.kept();
        if !self.slots.is_closed() {
            kept.push((conn, Instant::now()));
        }
    }
}

/// A connection that goes back when it is dropped.
pub(super) struct Lent<C: Connection + 'static> {
    conn: Option<C>,
    shelf: Arc<Shelf<C>>,
    slot: Option<OwnedSemaphorePermit>,
    long: Option<OwnedSemaphorePermit>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Well,
    /// In the middle of something.
    Busy,
    /// It does not answer.
    Broken,
}

impl<C: Connection + 'static> Lent<C> {
    /// Does something with it.
    pub async fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut C) -> sqlx::Result<T>,
    ) -> Result<T> {
        let conn = self.conn.as_mut().ok_or_else(|| Failure::unavailable("it was lost"))?;
        self.state = State::Busy;
        let done = work(conn).await;
        let broken = done.as_ref().is_err_and(is_fatal);
        self.state = if broken { State::Broken } else { State::Well };
        done.map_err(Failure::from)
    }
}

impl<C: Connection + 'static> Drop for Lent<C> {
    fn drop(&mut self) {
        let Some(mut conn) = self.conn.take() else { return };
        match self.state {
            State::Well => self.shelf.put_back(conn),
            State::Broken => {}
            // Somebody lost patience, or hung up. Until it is through nobody else gets it.
            State::Busy => {
                let (shelf, slot) = (self.shelf.clone(), (self.slot.take(), self.long.take()));
                after(async move {
                    if conn.ping().await.is_ok() {
                        shelf.put_back(conn);
                    }
                    drop(slot);
                });
            }
        }
    }
}

/// Whether a connection is of no use after this: it is gone, or its server goes or only reads.
fn is_fatal(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            code.len() == 5 && ["08", "57P", "25006"].iter().any(|fatal| code.starts_with(fatal))
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// Finishes something that nobody waits for.
fn after(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { drop(tokio::time::timeout(PATIENCE, work).await) });
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
        let Some(mut line) = self.line.take().filter(|line| line.state != State::Broken) else {
            return;
        };
        // It must not hold its locks until somebody happens to be lent it.
        line.state = State::Broken;
        after(async move {
            drop(line.with(async |conn| raw_sql("ROLLBACK").execute(conn).await).await);
        });
    }
}
