//! The read pool of SQLite.
//!
//! A read runs inline on the calling worker, with a budget of 2 ms, because most take less time
//! than waking another thread. One that exceeds the budget is interrupted and run again on a
//! blocking thread. Reads have no effects, so repeating one is safe.
//!
//! There are three pools, so that no read waits for a longer one: short reads, short reads that
//! exceeded their budget, and lists and reports. The threads of the latter have a low priority, so that
//! other requests keep the processors.

use std::{
    path::PathBuf,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    Failure, Result,
    background::Background,
    queue::{Load, Queue, now},
    row::{Decoded, RowType},
    sqlite::{self, BUSY_TIMEOUT, Length, Query},
    within_for,
};

const SHORT_READERS: usize = 4;
/// For short reads that exceeded their budget.
const LATE_READERS: usize = 2;
/// For lists and reports.
const LONG_READERS: usize = 2;
/// How long a read may hold a worker.
const BUDGET: Duration = Duration::from_millis(2);
/// After so many steps of SQLite's virtual machine the time is checked.
const STEPS: i32 = 200;
/// A read with so many checks is expensive. One that exceeded its budget with fewer has most likely
/// waited for the processor.
const EXPENSIVE: u64 = 50;
/// How long a read that is not expensive may keep its reader.
const GRACE: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct Readers {
    short: Arc<PoolInner>,
    late: Arc<PoolInner>,
    long: Arc<PoolInner>,
    background: Arc<Background>,
}

struct PoolInner {
    file: PathBuf,
    /// A stack: the most recently used reader is used next.
    idle: Mutex<Vec<Reader>>,
    slots: Arc<Semaphore>,
    queue: Queue,
}

impl Readers {
    pub fn new(file: PathBuf) -> Self {
        Self {
            short: PoolInner::new(file.clone(), SHORT_READERS),
            late: PoolInner::new(file.clone(), LATE_READERS),
            long: PoolInner::new(file, LONG_READERS),
            background: Arc::new(Background::new(LONG_READERS)),
        }
    }

    fn pools(&self) -> [&Arc<PoolInner>; 3] {
        [&self.short, &self.late, &self.long]
    }

    pub fn is_busy(&self) -> bool {
        self.pools().iter().any(|pool| pool.queue.is_busy())
    }

    pub fn load(&self) -> Load {
        self.pools().iter().map(|pool| pool.queue.load()).sum()
    }

    pub fn close(&self) {
        for pool in self.pools() {
            pool.slots.close();
            pool.idle().clear();
        }
    }

    /// At most `most` rows.
    pub async fn rows(
        &self,
        query: Query,
        kind: RowType,
        most: usize,
        timeout: Duration,
    ) -> Result<Decoded> {
        within_for(timeout, self.read(query, kind, most, timeout)).await
    }

    async fn read(
        &self,
        query: Query,
        kind: RowType,
        most: usize,
        timeout: Duration,
    ) -> Result<Decoded> {
        let mut conn = match query.length {
            Length::Short => self.short.get().await?,
            Length::Long => self.long.get().await?,
        };
        conn.reader().limit(BUDGET)?;
        if let Some(rows) = conn.reader().rows(&query, kind, most)? {
            return Ok(rows);
        }
        let query = Arc::new(query);
        if query.length == Length::Short {
            if conn.reader().was_expensive() {
                // Returns the reader before waiting for another one.
                drop(conn);
            } else if let Some(rows) =
                self.on_thread(conn, query.clone(), kind, most, GRACE).await?
            {
                return Ok(rows);
            }
            conn = self.late.get().await?;
        }
        let rows = self.on_thread(conn, query, kind, most, timeout).await?;
        rows.ok_or_else(|| Failure::unavailable("the database did not answer in time"))
    }

    /// Reads on another thread; `None` when it took too long.
    async fn on_thread(
        &self,
        mut conn: PooledConnection,
        query: Arc<Query>,
        kind: RowType,
        most: usize,
        time: Duration,
    ) -> Result<Option<Decoded>> {
        conn.reader().limit(time)?;
        let until = conn.reader().until.clone();
        let length = query.length;
        let read = move || {
            let rows = conn.reader().rows(&query, kind, most);
            (conn, rows)
        };
        // Declared before the interrupt, so that it is dropped after it, also if the caller is cancelled:
        // a reader is returned to the pool when nothing can interrupt its next read.
        let mut done = pin!(async {
            match length {
                Length::Short => tokio::task::spawn_blocking(read).await.map_err(Failure::fault),
                Length::Long => self.background.run(read).await,
            }
        });
        let interrupt = Interrupt(until);
        let read = done.as_mut().await;
        drop(interrupt);
        let (_conn, rows) = read?;
        rows
    }
}

/// Interrupts the read when its caller is cancelled.
struct Interrupt(Arc<AtomicU64>);

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl PoolInner {
    fn new(file: PathBuf, most: usize) -> Arc<Self> {
        let (idle, queue) = Default::default();
        Arc::new(Self { file, idle, slots: Arc::new(Semaphore::new(most)), queue })
    }

    async fn get(self: &Arc<Self>) -> Result<PooledConnection> {
        // An inline read does not await anything else. Without this, many concurrent reads would
        // not count as queued, and would starve other tasks.
        let slot = async {
            tokio::task::yield_now().await;
            self.slots.clone().acquire_owned().await
        };
        let slot = self.queue.wait(slot).await?.map_err(Failure::unavailable)?;
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => {
                let file = self.file.clone();
                let opened = tokio::task::spawn_blocking(move || Reader::open(file));
                opened.await.map_err(Failure::fault)??
            }
        };
        Ok(PooledConnection { reader: Some(reader), pool: self.clone(), _slot: slot })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader that is returned to its pool when it is dropped.
struct PooledConnection {
    reader: Option<Reader>,
    pool: Arc<PoolInner>,
    _slot: OwnedSemaphorePermit,
}

impl PooledConnection {
    fn reader(&mut self) -> &mut Reader {
        self.reader.as_mut().expect("it has its reader until it is dropped")
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let mut idle = self.pool.idle();
        if !self.pool.slots.is_closed() {
            idle.extend(self.reader.take());
        }
    }
}

struct Reader {
    conn: Connection,
    /// When the read takes too long.
    until: Arc<AtomicU64>,
    /// How often the time was checked.
    checks: Arc<AtomicU64>,
}

impl Reader {
    fn open(file: PathBuf) -> Result<Self> {
        let conn = sqlite::open(&file, &sqlite::READER)?;
        let until = Arc::new(AtomicU64::new(u64::MAX));
        let checks = Arc::new(AtomicU64::new(0));
        let (limit, count) = (until.clone(), checks.clone());
        let is_late = move || {
            count.fetch_add(1, Ordering::Relaxed);
            now() > limit.load(Ordering::Relaxed)
        };
        conn.progress_handler(STEPS, Some(is_late))?;
        Ok(Self { conn, until, checks })
    }

    fn was_expensive(&self) -> bool {
        self.checks.load(Ordering::Relaxed) >= EXPENSIVE
    }

    /// How long the next read may take.
    fn limit(&self, time: Duration) -> Result<()> {
        self.until.store(now() + time.as_millis() as u64, Ordering::Relaxed);
        self.checks.store(0, Ordering::Relaxed);
        Ok(self.conn.busy_timeout(time.min(BUSY_TIMEOUT))?)
    }

    /// At most `most` rows; `None` when it took too long.
    fn rows(&mut self, query: &Query, kind: RowType, most: usize) -> Result<Option<Decoded>> {
        use ErrorCode::{DatabaseBusy, OperationInterrupted};
        match query.rows(&self.conn, kind, most) {
            Ok(rows) => rows.map(Some),
            Err(error) => match error.sqlite_error_code() {
                Some(DatabaseBusy | OperationInterrupted) => Ok(None),
                _ => Err(error.into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, sync::atomic::Ordering, time::Duration};

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::{
        super::{Db, Engine, Failure},
        PoolInner,
    };

    const LONG: &str = "WITH RECURSIVE n (i) AS
        (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) SELECT COUNT(*) FROM n";

    async fn count(db: &Db, most: i64) -> Result<i64, Failure> {
        db.sql(LONG).bind(most).scalar().await
    }

    #[tokio::test]
    async fn long_reads_do_not_block_short_ones() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        // On a slow machine the long reads take longer than the usual limit.
        db.timeout = Duration::from_secs(24 * 60 * 60);
        let mut long = pin!(async { join_all([(); 6].map(|()| count(&db, 1_000_000))).await });
        // There is one worker: it runs short reads meanwhile.
        let mut meanwhile = 0;
        let long = loop {
            tokio::select! {
                biased;
                long = &mut long => break long,
                quick = count(&db, 10) => assert_eq!(quick.unwrap(), 10),
            }
            meanwhile += 1;
        };
        assert!(long.into_iter().all(|count| count.unwrap() == 1_000_000));
        assert!(meanwhile > 0);
    }

    #[tokio::test]
    async fn short_reads_run_while_other_pools_are_exhausted() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        db.timeout = Duration::from_secs(24 * 60 * 60);
        let Engine::Sqlite { readers, .. } = &db.engine else { unreachable!() };
        let free = |pool: &PoolInner| pool.slots.available_permits();
        // Endless lists and short reads, each more than the readers of its pool.
        let endless = || db.sql(LONG).bind(i64::MAX);
        let lists = join_all((0..6).map(|_| endless().long().scalar::<i64>()));
        let late = join_all((0..6).map(|_| endless().scalar::<i64>()));
        let mut endless = pin!(async { tokio::join!(lists, late) });
        let meanwhile = async {
            while free(&readers.long) > 0 || free(&readers.late) > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            for _ in 0..100 {
                assert_eq!(count(&db, 10).await.unwrap(), 10);
            }
            assert_eq!((free(&readers.long), free(&readers.late)), (0, 0));
        };
        tokio::select! {
            _ = &mut endless => unreachable!("they never end"),
            answered = timeout(Duration::from_secs(60), meanwhile) => answered.unwrap(),
        }
    }

    #[tokio::test]
    async fn a_ping_does_not_wait_behind_others_while_the_database_answers() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        db.timeout = Duration::from_secs(24 * 60 * 60);
        db.ping().await.unwrap();
        let Engine::Sqlite { readers, .. } = &db.engine else { unreachable!() };
        let slots = readers.short.slots.clone().acquire_many_owned(4).await.unwrap();
        let mut waiting = pin!(join_all((0..20).map(|_| count(&db, 10))));
        let pinged = async {
            while db.load().waiting < 20 {
                tokio::task::yield_now().await;
            }
            db.ping().await.unwrap();
            // After an old answer it asks, and waits.
            db.metrics.answered_at.store(0, Ordering::Relaxed);
            assert!(timeout(Duration::from_millis(20), db.ping()).await.is_err());
        };
        tokio::select! {
            _ = &mut waiting => unreachable!("no reader is free"),
            () = pinged => {}
        }
        drop(slots);
        waiting.await;
        assert_eq!((db.load().waiting, db.load().refused), (0, 0));
    }

    #[tokio::test]
    async fn a_cancelled_read_is_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        for _ in 0..8 {
            let endless = count(&db, i64::MAX);
            assert!(timeout(Duration::from_millis(50), endless).await.is_err());
        }
        // Otherwise all readers would be in use until the timeout.
        assert_eq!(timeout(Duration::from_secs(30), count(&db, 10)).await.unwrap().unwrap(), 10);
    }

    #[tokio::test]
    async fn a_read_fails_after_the_timeout() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        db.timeout = Duration::from_millis(50);
        for _ in 0..8 {
            assert!(count(&db, i64::MAX).await.unwrap_err().is_unavailable());
        }
        // No reader is still in use.
        db.timeout = Duration::from_secs(30);
        assert_eq!(count(&db, 10).await.unwrap(), 10);
        db.close().await;
        assert!(count(&db, 10).await.unwrap_err().is_unavailable());
    }
}
