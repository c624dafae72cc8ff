//! Two engines behind one small surface: `db.sql(…)`, `db.begin()`, `db.list(…)`.
//!
//! Nothing outside this folder knows which engine it runs on. Statements are the same text on
//! both; see `docs/adr/0002-two-engines.md` for what that text may contain.

mod anchor;
mod background;
mod failure;
mod frequent;
mod list;
mod migrate;
mod postgres;
mod queue;
mod readers;
mod replica;
mod row;
mod sqlite;
mod statement;
mod tls;
mod value;
mod writer;

use std::{
    fmt::Display,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use tokio::sync::watch;

pub use anchor::DEEP;
pub use dermaga_derive::FromRow;
pub use failure::Failure;
pub use list::{EXACT, List, Sort, Total, like};
pub use migrate::{Migration, Schema};
pub use queue::Load;
pub use replica::ReplicaState;
pub use row::{FromRow, Row};
pub use sqlite::{copy, faults};
pub use statement::Statement;
pub use value::{FromValue, Json, PgType, ToValue, Value};

use anchor::Anchors;
use frequent::Frequent;
use postgres::{PgPool, PgTx};
use readers::Readers;
use replica::{Replica, ReplicaReads};
use statement::On;
use writer::{SqliteTx, SqliteWriter};

use crate::kernel::ids::Uuid;

/// Upper bound for acquiring a connection and for one statement.
const TIMEOUT: Duration = Duration::from_secs(8);
/// For work outside of requests.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// A statement that takes longer is logged.
const SLOW: Duration = Duration::from_secs(1);
/// How long a statement proves that the database answers, in milliseconds.
const RECENT: u64 = 2_000;
/// The largest SQLite database that is rewritten while the service runs, which takes about a second
/// and lets no other write through.
const REWRITABLE: i64 = 64 << 20;

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A handle on the database; cheap to clone.
#[derive(Clone)]
pub struct Db {
    engine: Engine,
    metrics: Arc<Metrics>,
    /// How long a statement may take.
    timeout: Duration,
    zone: Tz,
    replica: Option<Arc<Replica>>,
    /// Of a handle whose reads may be served by the replica.
    replica_reads: Option<Arc<ReplicaReads>>,
}

#[derive(Clone)]
enum Engine {
    Sqlite { readers: Readers, writer: SqliteWriter },
    Postgres(PgPool),
}

#[derive(Default)]
struct Metrics {
    statements: AtomicU64,
    posted: watch::Sender<()>,
    anchors: Anchors,
    frequent_words: Frequent,
    /// When a read on the primary last succeeded, on the clock of the queue. 0: never.
    answered_at: AtomicU64,
    /// Whether SQLite's files may still contain content that was erased.
    unscrubbed: AtomicBool,
}

impl Metrics {
    /// Notes whether the database has answered.
    fn note<T>(&self, done: Result<T>) -> Result<T> {
        if done.is_ok() {
            self.answered_at.store(queue::now().max(1), Ordering::Relaxed);
        }
        done
    }
}

impl Db {
    /// A connection string of PostgreSQL, `sqlite:file`, or the plain path of an SQLite file.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(url, TIMEOUT, "7s").await
    }

    /// For long statements outside of the service.
    pub async fn open_without_timeout(url: &str) -> Result<Self> {
        Self::open_with(url, NO_TIMEOUT, "0").await
    }

    async fn open_with(url: &str, timeout: Duration, statement_timeout: &str) -> Result<Self> {
        let engine = if postgres::is_url(url) {
            Engine::Postgres(Box::pin(PgPool::open(url, statement_timeout)).await?)
        } else {
            let path = url.strip_prefix("sqlite:").map(|path| path.trim_start_matches("//"));
            let file = Path::new(path.unwrap_or(url)).to_owned();
            sqlite::create(&file)?;
            let writer = SqliteWriter::open(file.clone())?;
            Engine::Sqlite { readers: Readers::new(file), writer }
        };
        let (metrics, zone) = (Default::default(), chrono_tz::Asia::Jakarta);
        Ok(Self { engine, metrics, timeout, zone, replica: None, replica_reads: None })
    }

    /// Adds a replica, which may be `max_lag` behind.
    pub fn with_replica(mut self, url: &str, max_lag: Duration) -> Result<Self> {
        self.replica = Some(Arc::new(Replica::new(url, max_lag)?));
        Ok(self)
    }

    /// A handle whose reads outside of transactions may be served by the replica. They may miss
    /// changes of the last seconds, but none that was committed before `since`. Without a replica, or
    /// while it is too far behind, they are served by the primary.
    pub fn on_replica(&self, since: Option<Instant>) -> Self {
        let reads = self.replica.clone().map(|replica| ReplicaReads::new(replica, since));
        Self { replica_reads: reads, ..self.clone() }
    }

    /// The same for somebody, who sees their own changes by this process.
    pub fn on_replica_for(&self, person: Uuid) -> Self {
        self.on_replica(self.replica.as_ref().and_then(|replica| replica.last_change(person)))
    }

    /// Notes that somebody may have changed something.
    pub fn changed_by(&self, person: Uuid) {
        if let Some(replica) = &self.replica {
            replica.note_change(person);
        }
    }

    /// The time before which everything was seen by what this handle has read on the replica; `None`
    /// if it has read nothing there.
    pub fn replica_read_at(&self) -> Option<Instant> {
        self.replica_reads.as_ref().and_then(|reads| *reads.read_at())
    }

    fn leave_replica(&self) {
        if let Some(reads) = &self.replica_reads {
            reads.leave();
        }
    }

    /// Measures how far the replica is behind. It is not read unless this was done a moment ago.
    pub async fn measure_replica(&self) -> Result<()> {
        match &self.replica {
            Some(replica) => replica.measure(self).await,
            None => Ok(()),
        }
    }

    pub fn replica_state(&self) -> Option<ReplicaState> {
        self.replica.as_ref().map(|replica| replica.state())
    }

    /// Sets the time zone of the service, which decides the date of a time.
    pub fn in_zone(mut self, zone: Tz) -> Self {
        self.zone = zone;
        self
    }

    /// One statement on its own: a read, or (with `run`) a write that commits by itself.
    pub fn sql(&self, text: &'static str) -> Statement<'_> {
        Statement::new(On::Db(self), text)
    }

    /// `head` ends with `IN`, `tail` follows the parentheses. The caller binds the values of
    /// `head`, then `count` values.
    pub fn sql_among(&self, head: &'static str, count: usize, tail: &'static str) -> Statement<'_> {
        Statement::among(On::Db(self), head, count, tail)
    }

    /// A list with optional filters, a whitelisted order and pages.
    pub fn list(&self, select: &'static str) -> List<'_> {
        List::new(self, select)
    }

    /// Words that more than [`EXACT`] rows contained within the last minute.
    pub fn frequent_words(&self) -> &Frequent {
        &self.metrics.frequent_words
    }

    /// Starts a write transaction. Dropping it without `commit` rolls it back.
    pub async fn begin(&self) -> Result<Tx> {
        self.begin_with("BEGIN", TIMEOUT).await
    }

    /// Starts a write transaction without a time limit, for work outside of requests.
    pub async fn begin_without_timeout(&self) -> Result<Tx> {
        self.begin_with(
            "BEGIN; SET LOCAL statement_timeout = 0;
             SET LOCAL idle_in_transaction_session_timeout = 0",
            NO_TIMEOUT,
        )
        .await
    }

    /// The same, and all statements see the same snapshot. It fails with contention if it writes to a
    /// row that has changed since. On SQLite every transaction is like that, since there is one
    /// writer.
    pub async fn begin_repeatable_read(&self) -> Result<Tx> {
        self.begin_with(
            "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = 0;
             SET LOCAL idle_in_transaction_session_timeout = 0",
            NO_TIMEOUT,
        )
        .await
    }

    /// Updates the planner's statistics of PostgreSQL after many rows were written. SQLite plans
    /// without statistics.
    pub async fn analyze(&self, tables: impl IntoIterator<Item = impl Display>) -> Result<()> {
        if matches!(self.engine, Engine::Sqlite { .. }) {
            return Ok(());
        }
        let script: String = tables.into_iter().map(|table| format!("ANALYZE {table};")).collect();
        self.execute_script(&script).await
    }

    /// The same for tables that have rows but no statistics, e.g. after a restore.
    pub async fn analyze_new_tables(&self) -> Result<()> {
        if matches!(self.engine, Engine::Sqlite { .. }) {
            return Ok(());
        }
        let tables: Vec<(String,)> = self
            .sql(
                "SELECT CAST(c.relname AS TEXT) FROM pg_class c
                 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
                   AND pg_relation_size(c.oid) > 65536
                   AND NOT EXISTS (SELECT 1 FROM pg_stats s
                     WHERE s.schemaname = current_schema() AND s.tablename = c.relname)",
            )
            .all()
            .await?;
        self.analyze(tables.into_iter().map(|(table,)| table)).await
    }

    async fn begin_with(&self, begin: &'static str, timeout: Duration) -> Result<Tx> {
        let inner = match &self.engine {
            Engine::Sqlite { writer, .. } => TxInner::Sqlite(within(writer.begin()).await?),
            Engine::Postgres(pool) => TxInner::Postgres(PgTx::begin(pool, begin).await?.into()),
        };
        Ok(Tx { inner, metrics: self.metrics.clone(), posts: false, timeout, zone: self.zone })
    }

    /// Runs a whole script in one transaction.
    pub async fn execute_script(&self, script: &str) -> Result<()> {
        let mut tx = self.begin_without_timeout().await?;
        tx.execute_script(script).await?;
        tx.commit().await
    }

    /// Fails if the database does not answer. Under load a statement of its own would wait behind all
    /// others, so there one of the last two seconds is enough.
    pub async fn ping(&self) -> Result<()> {
        let answered_at = self.metrics.answered_at.load(Ordering::Relaxed);
        if self.is_busy() && answered_at > 0 && queue::now() < answered_at + RECENT {
            return Ok(());
        }
        self.sql("SELECT 1").scalar::<i32>().await.map(drop)
    }

    /// How many callers wait for a connection or for the writer.
    pub fn load(&self) -> Load {
        match &self.engine {
            Engine::Sqlite { readers, writer } => [readers.load(), writer.load()].into_iter().sum(),
            Engine::Postgres(pool) => pool.load(),
        }
    }

    /// Statements run so far, control statements not counted.
    pub fn statements(&self) -> u64 {
        self.metrics.statements.load(Ordering::Relaxed)
    }

    /// Durable commits of the SQLite writer so far, of which nobody has an answer before it is counted.
    /// `None` on PostgreSQL, where other processes commit, too.
    pub fn commits(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => Some(writer.commits()),
            Engine::Postgres(_) => None,
        }
    }

    /// Notified when a transaction of this process has inserted into the outbox.
    pub fn posted(&self) -> watch::Receiver<()> {
        self.metrics.posted.subscribe()
    }

    /// Notifies after a statement outside a transaction has inserted into the outbox.
    pub fn notify_outbox(&self) {
        self.metrics.posted.send_replace(());
    }

    /// Whether a queue is long, or was within the last 300 ms.
    pub fn is_busy(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { readers, writer } => writer.is_busy() || readers.is_busy(),
            Engine::Postgres(pool) => pool.is_busy(),
        }
    }

    /// Notes that content was erased: [`Db::scrub`] has something to do.
    pub fn has_erased(&self) {
        self.metrics.unscrubbed.store(true, Ordering::Release);
    }

    /// Removes what SQLite's files still contain of erased content: the log, and copies in pages of
    /// a database that is small enough to be rewritten. If a reader is in the way, the next call does
    /// it. PostgreSQL removes dead rows itself (autovacuum).
    pub async fn scrub(&self) -> Result<()> {
        let Engine::Sqlite { writer, .. } = &self.engine else { return Ok(()) };
        if self.metrics.unscrubbed.swap(false, Ordering::AcqRel) {
            let done = writer.scrub(REWRITABLE).await;
            if !matches!(done, Ok(true)) {
                self.metrics.unscrubbed.store(true, Ordering::Release);
            }
            done?;
        }
        Ok(())
    }

    /// Rewrites an SQLite database of any size. Nothing else is written meanwhile.
    pub async fn rewrite(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => writer.scrub(i64::MAX).await.map(drop),
            Engine::Postgres(_) => Ok(()),
        }
    }

    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite { .. } => "sqlite",
            Engine::Postgres(_) => "postgres",
        }
    }

    /// Closes every connection, so that SQLite checkpoints its log into the database file.
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite { readers, writer } => {
                readers.close();
                writer.close().await;
            }
            Engine::Postgres(pool) => pool.close(),
        }
        if let Some(replica) = &self.replica {
            replica.close();
        }
    }
}

/// A write transaction. Functions that take `&mut Tx` never commit; the function that began it
/// does.
#[must_use = "a transaction that is not committed is rolled back"]
pub struct Tx {
    inner: TxInner,
    metrics: Arc<Metrics>,
    posts: bool,
    /// How long one of its statements may take.
    timeout: Duration,
    zone: Tz,
}

enum TxInner {
    Sqlite(SqliteTx),
    Postgres(Box<PgTx>),
}

impl Tx {
    pub fn sql(&mut self, text: &'static str) -> Statement<'_> {
        Statement::new(On::Tx(self), text)
    }

    /// As [`Db::sql_among`].
    pub fn sql_among(
        &mut self,
        head: &'static str,
        count: usize,
        tail: &'static str,
    ) -> Statement<'_> {
        Statement::among(On::Tx(self), head, count, tail)
    }

    /// The date of a time in the time zone of the service.
    pub fn date_of(&self, time: DateTime<Utc>) -> NaiveDate {
        time.with_timezone(&self.zone).date_naive()
    }

    /// Runs a whole script, without values.
    pub async fn execute_script(&mut self, script: &str) -> Result<()> {
        match &mut self.inner {
            TxInner::Sqlite(tx) => tx.execute_script(script),
            TxInner::Postgres(tx) => within_for(self.timeout, tx.execute_script(script)).await,
        }
    }

    /// Inserts many rows in few statements. `head` is the text before `VALUES`; `bind` binds the
    /// `columns` values of one row.
    pub async fn insert_all<R>(
        &mut self,
        head: &'static str,
        columns: usize,
        rows: &[R],
        bind: impl for<'s> Fn(Statement<'s>, &R) -> Statement<'s>,
    ) -> Result<()> {
        self.upsert_all(head, columns, rows, "", bind).await
    }

    /// The same with what follows the values, e.g. `ON CONFLICT …`.
    pub async fn upsert_all<R>(
        &mut self,
        head: &'static str,
        columns: usize,
        rows: &[R],
        tail: &'static str,
        bind: impl for<'s> Fn(Statement<'s>, &R) -> Statement<'s>,
    ) -> Result<()> {
        // Both engines take at least this many values in one statement.
        const VALUES: usize = 32_000;
        // Statements for so few rows stay prepared. To prepare one costs more than to run it: SQLite
        // compiles the triggers of the table with it.
        const FEW: usize = 6;
        let numbered = !self.is_sqlite();
        for rows in rows.chunks(VALUES / columns) {
            let text = format!("{} {tail}", insert_text(head, numbered, columns, rows.len()));
            let mut statement = Statement::composed(On::Tx(self), text);
            if rows.len() <= FEW {
                statement = statement.cached();
            }
            rows.iter().fold(statement, &bind).run().await?;
        }
        Ok(())
    }

    /// An exclusive lock by name, held until this transaction ends. For the few rules that span
    /// rows and that no single conditional statement can express.
    pub async fn lock(&mut self, name: &'static str) -> Result<()> {
        self.sql(
            "INSERT INTO locks (name, taken) VALUES ($1, 1)
             ON CONFLICT (name) DO UPDATE SET taken = locks.taken + 1",
        )
        .bind(name)
        .run()
        .await
        .map(drop)
    }

    /// Returns once the transaction is durable. If the answer does not arrive in time, or is lost
    /// with the connection, the transaction may be durable all the same: `Failure::is_unknown`.
    pub async fn commit(self) -> Result<()> {
        let done = match self.inner {
            TxInner::Sqlite(tx) => within_for(self.timeout, tx.commit()).await,
            TxInner::Postgres(tx) => within_for(self.timeout, tx.commit()).await,
        };
        done.map_err(Failure::of_commit)?;
        if self.posts {
            self.metrics.posted.send_replace(());
        }
        Ok(())
    }

    /// Notifies the outbox after the commit.
    pub(super) fn posts(&mut self) {
        self.posts = true;
    }

    fn is_sqlite(&self) -> bool {
        matches!(self.inner, TxInner::Sqlite(_))
    }
}

/// A placeholder. SQLite looks up `$1` and `?1` by name, which is slow if there are many, so there
/// it is unnamed.
fn place(numbered: bool, n: usize) -> String {
    if numbered { format!("${n}") } else { "?".into() }
}

/// `… VALUES ($1, $2), ($3, $4)`
fn insert_text(head: &str, numbered: bool, columns: usize, rows: usize) -> String {
    let row = |row: usize| {
        let places: Vec<_> = (1..=columns).map(|n| place(numbered, row * columns + n)).collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<_> = (0..rows).map(row).collect();
    format!("{head} VALUES {}", rows.join(", "))
}

/// Bounds a wait for the database.
async fn within<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    within_for(TIMEOUT, work).await
}

async fn within_for<T>(timeout: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(timeout, work).await {
        Ok(done) => done,
        Err(_) => Err(Failure::unanswered("the database did not answer in time")),
    }
}
