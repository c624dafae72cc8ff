//! The writer of SQLite, with group commit.
//!
//! A durable commit costs a disk flush, so transactions that queue behind one another share one
//! COMMIT, each in a savepoint of its own. The connection is behind a fair lock. Statements of a
//! transaction run in place, on the worker that holds the lock. `commit` releases the savepoint,
//! wakes the writer thread and unlocks. The writer thread queues for the same lock, so its COMMIT
//! covers all transactions that waited before it. No caller continues before that COMMIT is on the
//! disk.
//!
//! Writes of a single statement are sent to the writer thread. It runs all that are queued in the
//! same transaction before it commits, without waking a worker for each of them. One that is refused
//! also waits for the commit: what it collided with may be in the same group.
//!
//! The savepoint of a dropped transaction is rolled back by the next holder of the lock.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Mutex, OwnedMutexGuard, mpsc, oneshot},
};

use super::{
    Failure, Result,
    queue::{Load, Queue},
    row::{Decoded, RowType},
    sqlite::{self, BUSY_TIMEOUT, Length, Query},
};

/// Maximum number of single statements per commit.
const GROUP: usize = 256;
/// A statement with more values runs in `block_in_place`.
const MANY_VALUES: usize = 500;
/// How soon to try again when another process holds the write lock.
const RETRY: Duration = Duration::from_millis(5);
/// How long emptying the log waits for readers that still need it.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(super) struct SqliteWriter {
    state: Arc<Mutex<WriterState>>,
    wake: mpsc::UnboundedSender<Wake>,
    commits: Arc<AtomicU64>,
    queue: Queue,
}

struct WriterState {
    file: PathBuf,
    /// `None` after it was closed, or while a broken connection waits to be replaced.
    conn: Option<Connection>,
    closed: bool,
    open: Open,
    /// Callers that wait for the commit, with the number of rows they changed, or why they were refused.
    members: Vec<(oneshot::Sender<Result<u64>>, Result<u64>)>,
}

/// What the connection has open.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Transaction,
    /// A savepoint is in use, or was left behind by a transaction that was dropped.
    Savepoint,
}

enum Wake {
    Write(WriteRequest),
    Commit,
}

/// A statement that is a transaction of its own.
struct WriteRequest {
    query: Query,
    done: oneshot::Sender<Result<u64>>,
}

impl SqliteWriter {
    pub fn open(file: PathBuf) -> Result<Self> {
        let conn = Some(sqlite::open(&file, &sqlite::WRITER)?);
        let (open, members) = (Open::Nothing, Vec::new());
        let state = WriterState { file, conn, closed: false, open, members };
        let (wake, wakes) = mpsc::unbounded_channel();
        let (commits, queue) = Default::default();
        let writer = Self { state: Arc::new(Mutex::new(state)), wake, commits, queue };
        let (state, commits) = (writer.state.clone(), writer.commits.clone());
        std::thread::Builder::new()
            .name("sqlite-writer".into())
            .spawn(move || run_writer(&state, wakes, &commits))
            .map_err(Failure::unavailable)?;
        Ok(writer)
    }

    /// Waits for the lock and opens a savepoint in the group's transaction.
    pub async fn begin(&self) -> Result<SqliteTx> {
        let state = self.queue.wait(self.state.clone().lock_owned()).await?;
        let mut tx = SqliteTx { state: Some(state), wake: self.wake.clone() };
        let started = Instant::now();
        while !tx.state().enter(started)? {
            tokio::time::sleep(RETRY).await;
        }
        tx.state().savepoint()?;
        Ok(tx)
    }

    /// One statement as a transaction of its own; how many rows it changed.
    pub async fn execute(&self, query: Query) -> Result<u64> {
        let (done, durable) = oneshot::channel();
        let gone = "the writer is gone";
        let write = async {
            let sent = self.wake.send(Wake::Write(WriteRequest { query, done }));
            sent.map_err(|_| Failure::unavailable(gone))?;
            durable.await.unwrap_or_else(|_| Err(Failure::unanswered(gone)))
        };
        self.queue.wait(write).await?
    }

    pub fn is_busy(&self) -> bool {
        self.queue.is_busy()
    }

    pub fn load(&self) -> Load {
        self.queue.load()
    }

    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Removes what is left of deleted content; `false` while a reader needs the log. A database of
    /// at most `rewrites_up_to` bytes is rewritten.
    pub async fn scrub(&self, rewrites_up_to: i64) -> Result<bool> {
        let mut state = self.queue.wait(self.state.clone().lock_owned()).await?;
        state.commit(&self.commits);
        in_place(true, || state.scrub(rewrites_up_to))
    }

    pub async fn close(&self) {
        let mut state = self.state.lock().await;
        state.commit(&self.commits);
        state.closed = true;
        state.conn = None;
    }
}

/// A transaction on the writer's connection.
pub(super) struct SqliteTx {
    state: Option<OwnedMutexGuard<WriterState>>,
    wake: mpsc::UnboundedSender<Wake>,
}

impl SqliteTx {
    fn state(&mut self) -> &mut WriterState {
        self.state.as_mut().expect("a transaction has its connection until it commits")
    }

    pub fn rows(
        &mut self,
        query: &Query,
        kind: RowType,
        most: usize,
        long: bool,
    ) -> Result<Decoded> {
        self.run(query, long, |conn| query.rows(conn, kind, most))?
    }

    pub fn execute(&mut self, query: &Query, long: bool) -> Result<u64> {
        self.run(query, long, |conn| query.execute(conn))
    }

    /// Runs a whole script.
    pub fn execute_script(&mut self, script: &str) -> Result<()> {
        let conn = self.state().in_transaction()?;
        in_place(true, || conn.execute_batch(script)).map_err(Failure::from)
    }

    fn run<T>(
        &mut self,
        query: &Query,
        long: bool,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let long = long || query.length != Length::Short || query.values.len() > MANY_VALUES;
        let conn = self.state().in_transaction()?;
        in_place(long, || work(conn)).map_err(Failure::from)
    }

    /// Returns once the group is durable.
    pub async fn commit(mut self) -> Result<()> {
        let (done, durable) = oneshot::channel();
        let state = self.state();
        state.control(&["RELEASE t"])?;
        state.open = Open::Transaction;
        state.members.push((done, Ok(0)));
        drop(self);
        let gone = |_| Err(Failure::unanswered("the writer is gone"));
        durable.await.unwrap_or_else(gone).map(drop)
    }
}

impl Drop for SqliteTx {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Commit);
    }
}

/// Runs `work` on this worker. If it is long, the worker's other tasks move to another one.
fn in_place<T>(long: bool, work: impl FnOnce() -> T) -> T {
    let many_workers = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    match long && Handle::try_current().is_ok_and(many_workers) {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

impl WriterState {
    /// Makes sure that a transaction is open; `false` while another process holds the write lock.
    /// The savepoint of a dropped transaction is rolled back first.
    fn enter(&mut self, since: Instant) -> Result<bool> {
        let joined = match self.open {
            Open::Nothing => false,
            Open::Transaction => true,
            Open::Savepoint => self.control(&["ROLLBACK TO t", "RELEASE t"]).is_ok(),
        };
        // There is no group to join, or it has failed: this transaction starts one.
        if !joined {
            if self.conn.is_none() && !self.closed {
                self.conn = Some(sqlite::open(&self.file, &sqlite::WRITER)?);
            }
            let conn = self.conn()?;
            // A worker must not sleep in SQLite.
            conn.busy_timeout(Duration::ZERO)?;
            let begun = conn.prepare_cached("BEGIN IMMEDIATE")?.raw_execute();
            conn.busy_timeout(BUSY_TIMEOUT)?;
            match begun {
                Ok(_) => {}
                Err(error) if is_busy(&error) && since.elapsed() < BUSY_TIMEOUT => {
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.open = Open::Transaction;
        Ok(true)
    }

    fn savepoint(&mut self) -> Result<()> {
        self.control(&["SAVEPOINT t"])?;
        self.open = Open::Savepoint;
        Ok(())
    }

    fn conn(&self) -> Result<&Connection> {
        self.conn.as_ref().ok_or_else(|| Failure::unavailable("the database is closed"))
    }

    /// SQLite may roll the whole transaction back by itself (a full disk, an I/O error). Then a
    /// statement would commit on its own.
    fn in_transaction(&self) -> Result<&Connection> {
        let conn = self.conn()?;
        match conn.is_autocommit() {
            false => Ok(conn),
            true => Err(Failure::unavailable("the transaction of the group was rolled back")),
        }
    }

    /// Runs control statements. If one fails, the transaction is gone, and with it the whole group:
    /// all members get the failure.
    fn control(&mut self, texts: &[&'static str]) -> Result<()> {
        let conn = self.conn()?;
        let run = |text: &&str| conn.prepare_cached(text)?.raw_execute().map(drop);
        let done = texts.iter().try_for_each(run).map_err(Failure::from);
        if let Err(failure) = &done {
            self.abort(failure);
        }
        done
    }

    /// Fails the group. A connection that cannot roll back is closed, which rolls back.
    fn abort(&mut self, why: &Failure) {
        let why = why.cause();
        let lost =
            Failure::unavailable(format!("the transaction of the group was rolled back: {why}"));
        for (member, outcome) in self.members.drain(..) {
            let _ = member.send(outcome.and(Err(lost.clone())));
        }
        self.conn = self.conn.take().filter(|conn| {
            conn.is_autocommit() || conn.execute_batch("ROLLBACK").is_ok() || conn.is_autocommit()
        });
        self.open = Open::Nothing;
    }

    /// Runs a single statement in the group's transaction.
    fn write(&mut self, WriteRequest { query, done }: WriteRequest) {
        // The caller has timed out and may have retried.
        if done.is_closed() {
            return;
        }
        let conn = match self.in_transaction() {
            Ok(conn) => conn,
            Err(failure) => return drop(done.send(Err(failure))),
        };
        // SQLite rolls a refused statement back by itself, so it needs no savepoint.
        match query.execute(conn) {
            Ok(changed) => self.members.push((done, Ok(changed))),
            Err(error) => {
                let refused = is_refusal(&error) && !conn.is_autocommit();
                let failure = Failure::from(error);
                if !refused {
                    self.abort(&failure);
                }
                self.members.push((done, Err(failure)));
            }
        }
    }

    /// Moves the log into the database file and empties it. Before that, a small database is
    /// rewritten: pages that were split keep copies of rows that have moved to other pages, which
    /// `secure_delete` does not find.
    fn scrub(&self, rewrites_up_to: i64) -> Result<bool> {
        let conn = self.conn()?;
        let number = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i64>(0));
        if number("PRAGMA page_count")? * number("PRAGMA page_size")? <= rewrites_up_to {
            conn.execute_batch("VACUUM")?;
        }
        conn.busy_timeout(CHECKPOINT_WAIT)?;
        let busy = number("PRAGMA wal_checkpoint(TRUNCATE)");
        conn.busy_timeout(BUSY_TIMEOUT)?;
        Ok(busy? == 0)
    }

    /// Undoes what was left behind and commits the group.
    fn commit(&mut self, commits: &AtomicU64) {
        if self.open == Open::Savepoint && self.control(&["ROLLBACK TO t", "RELEASE t"]).is_err() {
            return;
        }
        let changes = self.members.iter().any(|(_, outcome)| outcome.is_ok());
        match (self.open, changes) {
            (Open::Nothing, _) => {}
            (_, false) => drop(self.control(&["ROLLBACK"])),
            (_, true) => {
                if self.control(&["COMMIT"]).is_ok() {
                    commits.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        // A failed commit has answered its members.
        for (member, outcome) in self.members.drain(..) {
            let _ = member.send(outcome);
        }
        self.open = Open::Nothing;
    }
}

/// The writer thread. It ends when the last handle on the writer is dropped.
fn run_writer(
    state: &Mutex<WriterState>,
    mut wakes: mpsc::UnboundedReceiver<Wake>,
    commits: &AtomicU64,
) {
    while let Some(first) = wakes.blocking_recv() {
        let mut state = state.blocking_lock();
        let queued = std::iter::once(first).chain(std::iter::from_fn(|| wakes.try_recv().ok()));
        let mut requests = queued.filter_map(|wake| match wake {
            Wake::Write(request) => Some(request),
            Wake::Commit => None,
        });
        if let Some(first) = requests.next() {
            let started = Instant::now();
            let entered = loop {
                match state.enter(started) {
                    Ok(false) => std::thread::sleep(RETRY),
                    done => break done,
                }
            };
            match entered {
                Ok(_) => {
                    let mut next = Some(first);
                    let mut rest = requests.take(GROUP - 1);
                    // If the group has failed, the remaining requests wait for the next one.
                    while let Some(request) = next {
                        state.write(request);
                        next = if state.open == Open::Nothing { None } else { rest.next() };
                    }
                }
                Err(why) => {
                    // All queued requests would fail alike. Later ones are tried again.
                    let queued: Vec<_> = std::iter::once(first).chain(requests).collect();
                    queued
                        .into_iter()
                        .for_each(|request| drop(request.done.send(Err(why.clone()))));
                }
            }
        }
        state.commit(commits);
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Whether only the statement failed and was rolled back: a constraint refused it, or it is
/// invalid. After any other failure the state of the transaction is unknown, and the group fails.
fn is_refusal(error: &rusqlite::Error) -> bool {
    use ErrorCode::{ConstraintViolation, TooBig, TypeMismatch, Unknown};
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ConstraintViolation | TooBig | TypeMismatch | Unknown),
        None => true,
    }
}
