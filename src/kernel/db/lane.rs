//! The one writer of SQLite, and group commit.
//!
//! A durable commit costs a disk flush, so transactions that queue behind one another run each in
//! its own savepoint and share one COMMIT. The lane is a fair lock: a transaction that is done
//! releases its savepoint, calls the committer and lets the next one in. The committer takes its
//! place at the end of the queue as everyone does, so it commits whoever was already waiting, and
//! nobody is answered before that COMMIT is on the disk.
//!
//! Statements that are transactions of their own are the most frequent. They are handed to a thread
//! that does nothing else: it writes all that have come, commits them together, and never waits for
//! the workers that are busy with requests.
//!
//! Every step that changes the state of the connection runs in a task of its own, which nobody
//! can cancel half-way. A transaction that is dropped leaves its savepoint to be undone by
//! whoever takes the lane next: another transaction, or the committer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sqlx::{
    ConnectOptions, Connection, SqlStr, SqliteConnection,
    error::DatabaseError,
    query_with,
    sqlite::{SqliteArguments, SqliteConnectOptions},
};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, mpsc, oneshot};

use super::{Failure, Result, migrate, queue::Queue};

#[derive(Clone)]
pub(super) struct Lane {
    seat: Arc<Mutex<Seat>>,
    due: Arc<Notify>,
    commits: Arc<AtomicU64>,
    queue: Queue,
    notes: mpsc::UnboundedSender<Note>,
}

/// A statement for the scribe.
struct Note {
    text: SqlStr,
    values: SqliteArguments,
    lasting: bool,
    done: oneshot::Sender<Result<u64>>,
}

/// Somebody who waits for the commit, and how many rows they changed.
type Member = (oneshot::Sender<Result<u64>>, u64);

struct Seat {
    /// `None` only after the lane was closed, or while a lost connection waits to be replaced.
    conn: Option<SqliteConnection>,
    closed: bool,
    options: SqliteConnectOptions,
    open: Open,
    members: Vec<Member>,
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
        let seat = Seat { conn, closed: false, options, open: Open::Nothing, members: Vec::new() };
        let (due, commits, queue) = Default::default();
        let (notes, written) = mpsc::unbounded_channel();
        let lane = Self { seat: Arc::new(Mutex::new(seat)), due, commits, queue, notes };
        let (seat, commits) = (Arc::downgrade(&lane.seat), lane.commits.clone());
        // It needs no clock and no network.
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(Failure::unavailable)?;
        std::thread::Builder::new()
            .name("scribe".into())
            .spawn(move || runtime.block_on(scribe(seat, written, commits)))
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
    pub async fn alone(&self, text: SqlStr, values: SqliteArguments, lasting: bool) -> Result<u64> {
        let (done, durable) = oneshot::channel();
        self.queue
            .wait(async {
                let gone = || Failure::unavailable("the writer is gone");
                self.notes.send(Note { text, values, lasting, done }).map_err(|_| gone())?;
                durable.await.unwrap_or_else(|_| Err(gone()))
            })
            .await?
    }

    /// Runs the migrator on the writer's own connection.
    pub async fn migrate(&self) -> Result<()> {
        let mut seat = self.seat.lock().await;
        seat.settle(&self.commits).await;
        let conn = seat.conn.as_mut().ok_or_else(|| Failure::unavailable("closed"))?;
        migrate::sqlite(conn).await
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
            seat.members.push((done, 0));
            Ok(())
        })
        .await?;
        let gone = |_| Err(Failure::unavailable("the writer is gone"));
        durable.await.unwrap_or_else(gone).map(drop)
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

    /// Is inside a transaction, with nothing else open.
    async fn join(&mut self) -> Result<()> {
        let joined = match self.open {
            Open::Nothing => false,
            Open::Transaction => true,
            Open::Savepoint => self.control("ROLLBACK TO t; RELEASE t").await.is_ok(),
        };
        if !joined {
            self.begin("BEGIN IMMEDIATE").await?;
        }
        self.open = Open::Transaction;
        Ok(())
    }

    /// Writes one statement. It is undone by itself when a rule of the database refuses it, so it
    /// needs no savepoint; after any other failure nobody knows what is left, and the group ends.
    /// `Err`: nothing can be written just now.
    async fn write(&mut self, note: Note) -> Result<()> {
        let Note { text, values, lasting, done } = note;
        if done.is_closed() {
            // Whoever gave up was told that it failed, and may have asked again.
            return Ok(());
        }
        if let Err(failure) = self.join().await {
            let _ = done.send(Err(failure.clone()));
            return Err(failure);
        }
        let conn = self.conn.as_mut().expect("whoever joins has a connection");
        match query_with(text, values).persistent(lasting).execute(conn).await {
            Ok(changed) => self.members.push((done, changed.rows_affected())),
            Err(error) => {
                let refused = error.as_database_error().is_some_and(is_refusal);
                let failure = Failure::from(error);
                if !refused {
                    self.end(&failure).await;
                }
                let _ = done.send(Err(failure));
            }
        }
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
                for (member, changed) in members {
                    let _ = member.send(done.clone().map(|()| changed));
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
        for (member, _) in self.members.drain(..) {
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

/// Whether it was the statement's own fault, and undone with it: a rule of the database refused it,
/// or it could not be understood. Then the transaction goes on.
fn is_refusal(error: &dyn DatabaseError) -> bool {
    const SQLITE_ERROR: u32 = 1;
    const SQLITE_TOOBIG: u32 = 18;
    const SQLITE_CONSTRAINT: u32 = 19;
    const SQLITE_MISMATCH: u32 = 20;
    let own = [SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH];
    let code = error.code().and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| own.contains(&(code & 0xff)))
}

/// Writes what has come, and what comes meanwhile, up to a point; then commits.
async fn scribe(
    seat: std::sync::Weak<Mutex<Seat>>,
    mut notes: mpsc::UnboundedReceiver<Note>,
    commits: Arc<AtomicU64>,
) {
    const TOGETHER: usize = 256;
    while let Some(first) = notes.recv().await {
        let Some(seat) = seat.upgrade() else { return };
        let mut seat = seat.lock().await;
        let mut can = seat.write(first).await;
        for _ in 1..TOGETHER {
            let Ok(next) = notes.try_recv() else { break };
            match &can {
                Ok(()) => can = seat.write(next).await,
                // It would be the same for everyone.
                Err(why) => drop(next.done.send(Err(why.clone()))),
            }
        }
        seat.settle(&commits).await;
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
