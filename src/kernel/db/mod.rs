//! Two engines behind one small surface: `db.sql(…)`, `db.begin()`, `db.list(…)`.
//!
//! Nothing outside this folder knows which engine it runs on. Statements are the same text on
//! both; see `docs/adr/0002-two-engines.md` for what that text may contain.

mod copy;
mod direct;
mod failure;
mod lane;
mod list;
mod migrate;
mod nobody;
mod open;
mod pool;
mod queue;
mod readers;
mod rows;
mod scribe;
mod statement;
mod twins;
mod value;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sqlx::PgConnection;
use tokio::sync::watch;

pub use copy::{copy, faults};
pub use failure::Failure;
pub use list::{List, Sort};
pub use migrate::{Migration, Schema};
pub use statement::{Record, Scalar, Statement};
pub use twins::Twins;
pub use value::{Plain, Value};

use lane::{Lane, Turn};
use pool::{PgTurn, Pool};
use readers::Readers;
use statement::On;

/// No caller waits longer than this for a connection, a turn to write or one statement.
const PATIENCE: Duration = Duration::from_secs(8);
/// Where nobody waits.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A handle on the database; cheap to clone.
#[derive(Clone)]
pub struct Db {
    engine: Engine,
    vitals: Arc<Vitals>,
    /// How long a statement may take.
    patience: Duration,
}

#[derive(Clone)]
enum Engine {
    Sqlite { readers: Readers, lane: Lane },
    Postgres(Pool<PgConnection>),
}

#[derive(Default)]
struct Vitals {
    statements: AtomicU64,
    posted: watch::Sender<()>,
}

impl Db {
    /// One statement on its own: a read, or (with `run`) a write that commits by itself.
    pub fn sql(&self, text: &'static str) -> Statement<'_> {
        Statement::on_db(self, text)
    }

    /// `head` up to and with `IN`, and what follows the parentheses: whoever calls binds what the
    /// head wants, then `count` values.
    pub fn sql_among(&self, head: &'static str, count: usize, tail: &'static str) -> Statement<'_> {
        Statement::among(On::Db(self), head, count, tail)
    }

    /// A list with optional filters, a whitelisted order and pages.
    pub fn list(&self, select: &'static str) -> List<'_> {
        List::new(self, select)
    }

    /// Starts a write transaction. Dropping it without `commit` undoes it.
    pub async fn begin(&self) -> Result<Tx> {
        let inner = match &self.engine {
            Engine::Sqlite { lane, .. } => TxInner::Sqlite(within(lane.turn()).await?),
            Engine::Postgres(pool) => TxInner::Postgres(PgTurn::begin(pool, "BEGIN").await?),
        };
        Ok(self.tx(inner, PATIENCE))
    }

    /// Starts a write transaction for a large piece of work that nobody waits for: its statements
    /// may take their time.
    pub async fn begin_patiently(&self) -> Result<Tx> {
        let inner = match &self.engine {
            Engine::Sqlite { lane, .. } => TxInner::Sqlite(within(lane.turn()).await?),
            Engine::Postgres(pool) => {
                let begin = "BEGIN; SET LOCAL statement_timeout = 0";
                TxInner::Postgres(PgTurn::begin(pool, begin).await?)
            }
        };
        Ok(self.tx(inner, A_DAY))
    }

    fn tx(&self, inner: TxInner, patience: Duration) -> Tx {
        Tx { inner, vitals: self.vitals.clone(), posts: false, patience }
    }

    /// Starts a write transaction whose every statement sees the same moment. It fails with
    /// contention rather than build on something that has changed since.
    pub async fn begin_still(&self) -> Result<Tx> {
        let Engine::Postgres(pool) = &self.engine else {
            // The one writer sees no moment but its own.
            return self.begin().await;
        };
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ";
        let inner = TxInner::Postgres(PgTurn::begin(pool, begin).await?);
        Ok(self.tx(inner, PATIENCE))
    }

    /// Answers when the database does.
    pub async fn ping(&self) -> Result<()> {
        self.sql("SELECT 1").scalar::<i32>().await.map(drop)
    }

    /// Statements run so far, control statements not counted.
    pub fn statements(&self) -> u64 {
        self.vitals.statements.load(Ordering::Relaxed)
    }

    /// Durable commits of the SQLite writer so far; `None` on PostgreSQL, which counts its own.
    pub fn commits(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite { lane, .. } => Some(lane.commits()),
            Engine::Postgres(_) => None,
        }
    }

    /// Changes when a transaction of this process has put something into the outbox.
    pub fn posted(&self) -> watch::Receiver<()> {
        self.vitals.posted.subscribe()
    }

    /// A statement on its own has put something into the outbox.
    pub fn has_posted(&self) {
        self.vitals.posted.send_replace(());
    }

    /// Whether many wait for it, or did a moment ago.
    pub fn is_busy(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { readers, lane } => lane.is_busy() || readers.is_busy(),
            Engine::Postgres(pool) => pool.is_busy(),
        }
    }

    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite { .. } => "sqlite",
            Engine::Postgres(_) => "postgres",
        }
    }

    /// Closes every connection, so that SQLite folds its log into the database file.
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite { readers, lane } => {
                readers.close();
                lane.close().await;
            }
            Engine::Postgres(pool) => pool.close().await,
        }
    }
}

/// A write transaction. Functions that take `&mut Tx` never commit; whoever began it does.
#[must_use = "a transaction that is not committed is undone"]
pub struct Tx {
    inner: TxInner,
    vitals: Arc<Vitals>,
    posts: bool,
    /// How long one of its statements may take.
    patience: Duration,
}

enum TxInner {
    Sqlite(Turn),
    Postgres(PgTurn),
}

impl Tx {
    pub fn sql(&mut self, text: &'static str) -> Statement<'_> {
        Statement::on_tx(self, text)
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

    /// Inserts many rows in few statements: `head` up to and without `VALUES`, and how one row
    /// binds its `columns` values.
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
        let numbered = matches!(self.inner, TxInner::Postgres(_));
        for rows in rows.chunks(VALUES / columns) {
            let text = format!("{} {tail}", insert_text(head, numbered, columns, rows.len()));
            let statement = Statement::composed_on_tx(self, text);
            rows.iter().fold(statement, &bind).run().await?;
        }
        Ok(())
    }

    /// Makes everyone who asks for the same name wait until this transaction ends: for the few
    /// rules that span rows and that no single conditional statement can express.
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

    /// Returns once the transaction is durable. Where the answer does not come in time, or is lost
    /// with the connection, it may be durable all the same: `Failure::is_unknown`.
    pub async fn commit(self) -> Result<()> {
        let done = match self.inner {
            TxInner::Sqlite(turn) => within_for(self.patience, turn.commit()).await,
            TxInner::Postgres(tx) => within_for(self.patience, tx.commit()).await,
        };
        done.map_err(Failure::of_commit)?;
        if self.posts {
            self.vitals.posted.send_replace(());
        }
        Ok(())
    }

    /// Notes that the outbox has something to deliver once this commits.
    pub(super) fn posts(&mut self) {
        self.posts = true;
    }

    fn is_sqlite(&self) -> bool {
        matches!(self.inner, TxInner::Sqlite(_))
    }
}

/// To SQLite `$1` and `?1` are names, which it looks up among all the others each time; where there
/// are many, places stay unnamed.
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

enum Conn<'c> {
    Sqlite(&'c mut sqlx::SqliteConnection),
    Postgres(&'c mut sqlx::PgConnection),
}

/// Bounds a wait for the database.
async fn within<T, E: Into<Failure>>(work: impl Future<Output = Result<T, E>>) -> Result<T> {
    within_for(PATIENCE, work).await
}

async fn within_for<T, E: Into<Failure>>(
    patience: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T> {
    match tokio::time::timeout(patience, work).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => Err(Failure::unanswered("the database did not answer in time")),
    }
}
