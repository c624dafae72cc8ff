//! The one writer of SQLite, and group commit.
//!
//! A durable commit costs a disk flush, so transactions that queue behind one another run each in
//! its own savepoint and share one COMMIT. The lane is a fair lock: a transaction that is done
//! releases its savepoint, calls the committer and lets the next one in. The committer takes its
//! place at the end of the queue as everyone does, so it commits whoever was already waiting, and
//! nobody is answered before that COMMIT is on the disk.
//!
//! Statements that are transactions of their own are the most frequent. They are handed to a thread
//! that does nothing else (see `scribe`): it writes all that have come, commits them together, and
//! never waits for the workers that are busy with requests.
//!
//! Every step that changes the state of the connection runs in a task of its own, which nobody
//! can cancel half-way. A transaction that is dropped leaves its savepoint to be undone by
//! whoever takes the lane next: another transaction, or the committer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, mpsc, oneshot};

use super::{
    Failure, Result,
    direct::Question,
    queue::Queue,
    scribe::{Note, Scribe},
};

#[derive(Clone)]
pub(super) struct Lane {
    seat: Arc<Mutex<Seat>>,
    due: Arc<Notify>,
    commits: Arc<AtomicU64>,
    queue: Queue,
    notes: mpsc::UnboundedSender<Note>,
}

struct Seat {
    /// `None` only after the lane was closed, or while a lost connection waits to be replaced.
    conn: Option<SqliteConnection>,
    closed: bool,
    options: SqliteConnectOptions,
    open: Open,
    /// Who waits for the commit.
    members: Vec<oneshot::Sender<Result<()>>>,
    scribe: Scribe,
}

/// What the connection has open.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Transaction,
    /// A savepoint is in use, or was left behind by a transaction that was dropped.
    Savepoint,
}

impl Lane {
    pub async fn open(options: SqliteConnectOptions) -> Result<Self> {
        let conn = Some(options.connect().await?);
        let scribe = Scribe::new(options.get_filename().to_owned());
        let (open, members) = (Open::Nothing, Vec::new());
        let seat = Seat { conn, closed: false, options, open, members, scribe };
        let (due, commits, queue) = Default::default();
        let (notes, written) = mpsc::unbounded_channel();
        let lane = Self { seat: Arc::new(Mutex::new(seat)), due, commits, queue, notes };
        let (seat, commits) = (Arc::downgrade(&lane.seat), lane.commits.clone());
        // It needs no clock and no network.
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(Failure::unavailable)?;
        std::thread::Builder::new()
            .name("scribe".into())
            .spawn(move || runtime.block_on(write(seat, written, commits)))
            .map_err(Failure::unavailable)?;
        tokio::spawn(committer(Arc::downgrade(&lane.seat), lane.due.clone(), lane.commits.clone()));
        Ok(lane)
    }

    /// Waits for the lane and opens a savepoint in the group's transaction.
    pub async fn turn(&self) -> Result<Turn> {
        let seat = self.queue.wait(self.seat.clone().lock_owned()).await?;
        let mut turn = Turn { seat: Some(seat), due: self.due.clone() };
        uncancelled(async move {
            turn.seat().enter().await?;
            Ok(turn)
        })
        .await
    }

    /// One statement as a transaction of its own; how many rows it changed.
    pub async fn alone(&self, statement: Question) -> Result<u64> {
        let (done, durable) = oneshot::channel();
        self.queue
            .wait(async {
                let gone = "the writer is gone";
                let sent = self.notes.send(Note { statement, done });
                sent.map_err(|_| Failure::unavailable(gone))?;
                durable.await.unwrap_or_else(|_| Err(Failure::unanswered(gone)))
            })
            .await?
    }

    pub fn is_busy(&self) -> bool {
        self.queue.is_busy()
    }

    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub async fn close(&self) {
        let mut seat = self.seat.lock().await;
        seat.settle(&self.commits).await;
        seat.closed = true;
        seat.scribe.close();
        if let Some(conn) = seat.conn.take() {
            let _ = conn.close().await;
        }
    }
}

/// A transaction's turn on the lane.
pub(super) struct Turn {
    seat: Option<OwnedMutexGuard<Seat>>,
    due: Arc<Notify>,
}

impl Turn {
    fn seat(&mut self) -> &mut Seat {
        self.seat.as_mut().expect("a turn has its seat until it commits")
    }

    pub fn conn(&mut self) -> &mut SqliteConnection {
        self.seat().conn.as_mut().expect("a turn starts with a connection")
    }

    pub async fn commit(mut self) -> Result<()> {
        let (done, durable) = oneshot::channel();
        uncancelled(async move {
            let seat = self.seat();
            seat.control("RELEASE t").await?;
            seat.open = Open::Transaction;
            seat.members.push(done);
            Ok(())
        })
        .await?;
        let gone = |_| Err(Failure::unanswered("the writer is gone"));
        durable.await.unwrap_or_else(gone)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.seat = None;
        self.due.notify_one();
    }
}

impl Seat {
    /// Leaves an empty savepoint open inside a transaction.
    async fn enter(&mut self) -> Result<()> {
        let joined = match self.open {
            Open::Nothing => false,
            Open::Transaction => self.control("SAVEPOINT t").await.is_ok(),
            Open::Savepoint => self.control("ROLLBACK TO t").await.is_ok(),
        };
        // A group that cannot be joined is over; whoever comes next starts another.
        if !joined {
            self.begin("BEGIN IMMEDIATE; SAVEPOINT t").await?;
        }
        self.open = Open::Savepoint;
        Ok(())
    }

    async fn begin(&mut self, text: &'static str) -> Result<()> {
        if self.conn.is_none() && !self.closed {
            self.conn = Some(self.options.connect().await?);
        }
        self.control(text).await
    }

    /// Undoes what was left behind and commits the group.
    async fn settle(&mut self, commits: &AtomicU64) {
        if self.open == Open::Savepoint && self.control("ROLLBACK TO t; RELEASE t").await.is_err() {
            return;
        }
        let members = std::mem::take(&mut self.members);
        match (self.open, members.is_empty()) {
            (Open::Nothing, _) => return,
            (_, true) => drop(self.control("ROLLBACK").await),
            (_, false) => {
                let done = self.control("COMMIT").await;
                if done.is_ok() {
                    commits.fetch_add(1, Ordering::Relaxed);
                }
                for member in members {
                    let _ = member.send(done.clone());
                }
            }
        }
        self.open = Open::Nothing;
    }

    /// Runs a control statement. SQLite may roll a whole transaction back by itself (a full disk,
    /// an I/O error); it shows here as a savepoint that is gone. Then nothing of the group is
    /// left, and all of it is told so.
    async fn control(&mut self, text: &'static str) -> Result<()> {
        let Some(conn) = &mut self.conn else {
            return Err(Failure::unavailable("the database is closed"));
        };
        let Err(error) = sqlx::raw_sql(text).execute(&mut *conn).await else { return Ok(()) };
        let failure = Failure::from(error);
        self.end(&failure).await;
        Err(failure)
    }

    /// Gives the group up, and tells everyone in it.
    async fn end(&mut self, why: &Failure) {
        let lost = Failure::unavailable(format!("the transaction of the group was undone: {why}"));
        for member in self.members.drain(..) {
            let _ = member.send(Err(lost.clone()));
        }
        let Some(conn) = &mut self.conn else { return };
        let rolled_back = sqlx::raw_sql("ROLLBACK").execute(conn).await.is_ok();
        if !rolled_back && self.open != Open::Nothing {
            self.conn = None;
        }
        self.open = Open::Nothing;
    }
}

/// Writes what has come, and what comes meanwhile.
async fn write(
    seat: std::sync::Weak<Mutex<Seat>>,
    mut notes: mpsc::UnboundedReceiver<Note>,
    commits: Arc<AtomicU64>,
) {
    while let Some(first) = notes.recv().await {
        let Some(seat) = seat.upgrade() else { return };
        let mut seat = seat.lock().await;
        // There is one writer, and its turn is over.
        seat.settle(&commits).await;
        let come = std::iter::from_fn(|| notes.try_recv().ok());
        if seat.scribe.write(std::iter::once(first).chain(come)) {
            commits.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// It holds the connection only while it commits, so that a lane that is dropped closes it.
async fn committer(seat: std::sync::Weak<Mutex<Seat>>, due: Arc<Notify>, commits: Arc<AtomicU64>) {
    loop {
        due.notified().await;
        let Some(seat) = seat.upgrade() else { return };
        seat.lock().await.settle(&commits).await;
    }
}

async fn uncancelled<T: Send + 'static>(
    step: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(step).await.unwrap_or_else(|lost| Err(Failure::fault(lost)))
}
