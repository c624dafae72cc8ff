//! The pool of connections to PostgreSQL, and transactions on them.
//!
//! A connection that was idle for more than a second is checked before it is used; one that failed
//! is closed. If a caller is cancelled in the middle of a statement or of a transaction, a separate
//! task cleans the connection up, which keeps its slot in the pool until then.

use std::{
    path::Path,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use deadpool::managed::{self, Metrics, Object, PoolError, QueueMode, RecycleError, RecycleResult};
use futures_util::{TryStreamExt, future};
use hashlink::LruCache;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
    time::timeout,
};
use tokio_postgres::{
    Client, Config, Error, Row, Statement,
    config::{Host, SslMode},
    types::Type,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    Failure, Result, TIMEOUT,
    failure::is_lost,
    queue::{Load, Queue},
    replica::read_beat,
    sqlite::{Length, Query},
    tls, within, within_for,
};

const CONNECTIONS: usize = 16;
/// How many of them lists and reports may use at once.
const LONG: usize = 10;
/// How many statements stay prepared per connection.
const PREPARED: usize = 200;
/// A connection that was idle longer is checked before it is used.
const MAX_UNCHECKED_IDLE: Duration = Duration::from_secs(1);
/// How long that check may take.
const CHECK: Duration = Duration::from_secs(2);

/// Whether it is a connection string of PostgreSQL: a URL, or `host=… dbname=…`.
pub(super) fn is_url(url: &str) -> bool {
    ["postgres:", "postgresql:", "host="].iter().any(|start| url.starts_with(start))
}

#[derive(Clone)]
pub(super) struct PgPool {
    pool: managed::Pool<Manager>,
    long: Arc<Semaphore>,
    queue: Queue,
}

impl PgPool {
    /// Several hosts are tried in their order:
    /// `postgres://a,b/name?target_session_attrs=read-write`.
    pub fn new(url: &str, statement_timeout: &str) -> Result<Self> {
        let (url, tls) = tls::from_url(url)?;
        let mut config: Config = url.parse()?;
        if tls.is_required {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            let socket = Path::new("/var/run/postgresql");
            match socket.exists() {
                true => config.host_path(socket),
                false => config.host("localhost"),
            };
        }
        let more = config.get_options().unwrap_or_default();
        // Compiling a plan takes longer than any statement of the service. Random pages come from
        // memory or a solid-state disk: otherwise small tables are read as a whole. Parallel plans
        // read more than the first rows of a list need, with processors that other statements need.
        // The URL may set its own options.
        let options = format!(
            "-c TimeZone=UTC -c statement_timeout={statement_timeout} -c lock_timeout=5s \
             -c idle_in_transaction_session_timeout=30s -c jit=off -c random_page_cost=1.1 \
             -c max_parallel_workers_per_gather=0 {more}"
        );
        config.application_name("dermaga").options(options);
        // A host that has disappeared is noticed within seconds.
        let connect = config.get_connect_timeout().copied().unwrap_or(Duration::from_secs(3));
        config.connect_timeout(connect).keepalives_idle(Duration::from_secs(30));
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_))) {
            config.tcp_user_timeout(Duration::from_secs(10));
        }
        let manager = Manager { config, tls: tls.connector };
        let pool = managed::Pool::builder(manager)
            .max_size(CONNECTIONS)
            .queue_mode(QueueMode::Lifo)
            .build()
            .map_err(Failure::fault)?;
        Ok(Self { pool, long: Arc::new(Semaphore::new(LONG)), queue: Queue::default() })
    }

    /// Fails if the server cannot be reached.
    pub async fn open(url: &str, statement_timeout: &str) -> Result<Self> {
        let pool = Self::new(url, statement_timeout)?;
        pool.get().await?;
        Ok(pool)
    }

    pub fn is_busy(&self) -> bool {
        self.queue.is_busy()
    }

    pub fn load(&self) -> Load {
        self.queue.load()
    }

    pub async fn query(&self, query: &Query, types: &[Type], time: Duration) -> Result<Vec<Row>> {
        self.run(query.length, time, async |conn| conn.query(query, types).await).await
    }

    /// The rows, and the time of the server's beat from before they were read (see `replica`). `None`
    /// if `time_of` does not know the beat. The connection is closed then: the next one may lead to
    /// another server.
    pub async fn query_after_beat(
        &self,
        query: &Query,
        types: &[Type],
        time_of: impl FnOnce(Option<i64>) -> Option<Instant>,
    ) -> Result<Option<(Instant, Vec<Row>)>> {
        let mut conn = self.get_for(query.length).await?;
        let (beat, rows) =
            conn.with(async |conn| conn.query_after_beat(query, types).await).await?;
        let at = time_of(beat);
        conn.state.broken |= at.is_none();
        Ok(at.map(|at| (at, rows)))
    }

    pub async fn execute(&self, query: &Query, types: &[Type], time: Duration) -> Result<u64> {
        self.run(query.length, time, async |conn| conn.execute(query, types).await).await
    }

    async fn run<T>(
        &self,
        length: Length,
        time: Duration,
        work: impl AsyncFnOnce(&PgConnection) -> Result<T, Error>,
    ) -> Result<T> {
        let started = Instant::now();
        let mut conn = self.get_for(length).await?;
        within_for(time.saturating_sub(started.elapsed()), conn.with(work)).await
    }

    /// Waits for an idle connection, or opens one.
    async fn get(&self) -> Result<PooledConnection> {
        let get = async {
            self.queue.wait(self.pool.get()).await?.map_err(|error| match error {
                PoolError::Backend(error) => Failure::from(error),
                other => Failure::unavailable(other),
            })
        };
        let object = within(get).await.map_err(Failure::before_sending)?;
        let state = State { in_transaction: false, busy: false, broken: false };
        Ok(PooledConnection { object: Some(object), long: None, state })
    }

    /// The same for a statement of this length.
    async fn get_for(&self, length: Length) -> Result<PooledConnection> {
        if length == Length::Short {
            return self.get().await;
        }
        let turn = self.long.clone().acquire_owned();
        let turn = async { self.queue.wait(turn).await?.map_err(Failure::unavailable) };
        let long = within(turn).await.map_err(Failure::before_sending)?;
        let mut conn = self.get().await?;
        conn.long = Some(long);
        Ok(conn)
    }

    pub fn close(&self) {
        self.pool.close();
        self.long.close();
    }
}

struct Manager {
    config: Config,
    tls: MakeRustlsConnect,
}

struct PgConnection {
    client: Client,
    statements: Mutex<LruCache<String, Statement>>,
    driver: AbortHandle,
}

impl managed::Manager for Manager {
    type Type = PgConnection;
    type Error = Error;

    async fn create(&self) -> Result<PgConnection, Error> {
        // In a task of its own: its future is large, and would be part of that of every statement.
        let (config, tls) = (self.config.clone(), self.tls.clone());
        let opened = tokio::spawn(async move { config.connect(tls).await }).await;
        let (client, connection) = opened.expect("connecting does not panic")?;
        // The client reports the end of the connection.
        let driver = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        let statements = Mutex::new(LruCache::new(PREPARED));
        Ok(PgConnection { client, statements, driver })
    }

    async fn recycle(&self, conn: &mut PgConnection, metrics: &Metrics) -> RecycleResult<Error> {
        if conn.client.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if metrics.last_used() > MAX_UNCHECKED_IDLE {
            let check = timeout(CHECK, conn.client.check_connection()).await;
            check.map_err(|_| RecycleError::message("no answer"))??;
        }
        Ok(())
    }
}

impl PgConnection {
    async fn query(&self, query: &Query, types: &[Type]) -> Result<Vec<Row>, Error> {
        let rows = match self.prepared(query, types).await? {
            Some(statement) => self.client.query_raw(&statement, &query.values).await?,
            None => self.client.query_typed_raw(&query.text, typed(query, types)).await?,
        };
        rows.try_collect().await
    }

    /// Both in one round trip.
    async fn query_after_beat(
        &self,
        query: &Query,
        types: &[Type],
    ) -> Result<(Option<i64>, Vec<Row>), Error> {
        // Prepared before, so that the beat is sent first.
        let beat = self.prepared(&read_beat(), &[]).await?.expect("it stays prepared");
        let (beat, rows) =
            future::join(self.client.query_opt(&beat, &[]), self.query(query, types)).await;
        Ok((beat?.map(|row| row.try_get(0)).transpose()?, rows?))
    }

    async fn execute(&self, query: &Query, types: &[Type]) -> Result<u64, Error> {
        if let Some(statement) = self.prepared(query, types).await? {
            return self.client.execute_raw(&statement, &query.values).await;
        }
        let rows = self.client.query_typed_raw(&query.text, typed(query, types)).await?;
        let mut rows = pin!(rows);
        while rows.try_next().await?.is_some() {}
        Ok(rows.rows_affected().unwrap_or_default())
    }

    /// The types of a text's values hardly ever differ, so they are not part of the key.
    async fn prepared(&self, query: &Query, types: &[Type]) -> Result<Option<Statement>, Error> {
        if !query.cached {
            return Ok(None);
        }
        let known = self.statements().get(&*query.text).cloned();
        if let Some(statement) = known.filter(|statement| statement.params() == types) {
            return Ok(Some(statement));
        }
        let statement = self.client.prepare_typed(&query.text, types).await?;
        self.statements().insert(query.text.clone().into_owned(), statement.clone());
        Ok(Some(statement))
    }

    fn statements(&self) -> MutexGuard<'_, LruCache<String, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn typed<'q>(
    query: &'q Query,
    types: &'q [Type],
) -> impl Iterator<Item = (&'q super::Value<'static>, Type)> {
    query.values.iter().zip(types.iter().cloned())
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A connection that is cleaned up and returned to the pool when it is dropped.
struct PooledConnection {
    object: Option<Object<Manager>>,
    long: Option<OwnedSemaphorePermit>,
    state: State,
}

#[derive(Clone, Copy)]
struct State {
    in_transaction: bool,
    /// In the middle of a statement.
    busy: bool,
    /// It must not be used again.
    broken: bool,
}

impl PooledConnection {
    async fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&PgConnection) -> Result<T, Error>,
    ) -> Result<T> {
        let object = self.object.as_ref().expect("it has its connection until it is dropped");
        self.state.busy = true;
        let done = work(&**object).await;
        self.state.busy = false;
        self.state.broken |= done.as_ref().is_err_and(is_fatal);
        done.map_err(Failure::from)
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else { return };
        let State { in_transaction, busy, broken } = self.state;
        let runtime = match Handle::try_current() {
            _ if !broken && !busy && !in_transaction => return,
            Ok(runtime) if !broken => runtime,
            _ => return drop(Object::take(object)),
        };
        // A transaction must not hold its locks until the connection is used next.
        let long = self.long.take();
        runtime.spawn(async move {
            let clean = async {
                match in_transaction {
                    true => object.client.batch_execute("ROLLBACK").await,
                    false => object.client.check_connection().await,
                }
            };
            if !matches!(timeout(TIMEOUT, clean).await, Ok(Ok(()))) {
                drop(Object::take(object));
            }
            drop(long);
        });
    }
}

/// Whether a connection must not be used again: it is lost, its server shuts down or is read-only,
/// or its prepared statements no longer fit the schema.
fn is_fatal(error: &Error) -> bool {
    let code = error.code().map_or("", |code| code.code());
    is_lost(error) || ["25006", "26000", "0A000"].contains(&code)
}

/// A transaction, rolled back when it is dropped.
pub(super) struct PgTx {
    conn: PooledConnection,
    /// Sent together with the first statement, which saves a round trip.
    begin: Option<&'static str>,
    /// PostgreSQL answers the COMMIT of a failed transaction with success, and rolls it back.
    failed: bool,
}

impl PgTx {
    pub async fn begin(pool: &PgPool, begin: &'static str) -> Result<Self> {
        Ok(Self { conn: pool.get().await?, begin: Some(begin), failed: false })
    }

    pub async fn query(&mut self, query: &Query, types: &[Type]) -> Result<Vec<Row>> {
        self.run(async |conn| conn.query(query, types).await).await
    }

    pub async fn execute(&mut self, query: &Query, types: &[Type]) -> Result<u64> {
        self.run(async |conn| conn.execute(query, types).await).await
    }

    /// Runs a whole script.
    pub async fn execute_script(&mut self, script: &str) -> Result<()> {
        self.run(async |conn| conn.client.batch_execute(script).await).await
    }

    async fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&PgConnection) -> Result<T, Error>,
    ) -> Result<T> {
        let begin = self.begin.take();
        self.conn.state.in_transaction = true;
        let done = self.conn.with(async |conn| {
            let Some(begin) = begin else { return work(conn).await };
            let (begun, done) = future::join(conn.client.batch_execute(begin), work(conn)).await;
            begun.and(done)
        });
        let done = done.await;
        self.failed |= done.is_err();
        done
    }

    pub async fn commit(mut self) -> Result<()> {
        if self.begin.is_some() {
            return Ok(());
        }
        if self.failed {
            return Err(Failure::fault("a statement of the transaction failed before its commit"));
        }
        self.conn.with(async |conn| conn.client.batch_execute("COMMIT").await).await?;
        self.conn.state.in_transaction = false;
        Ok(())
    }
}
