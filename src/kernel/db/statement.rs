//! One statement with its values, ready to run on either engine.

use std::{borrow::Cow, sync::atomic::Ordering, time::Instant};

use futures_util::future::BoxFuture;

use super::{
    Db, Engine, Failure, FromRow, FromValue, NO_TIMEOUT, PgType, Result, SLOW, ToValue, Tx,
    TxInner, Value,
    row::{Decoded, RowType, read_all},
    sqlite::{Length, Query},
    within_for,
};
use crate::kernel::telemetry;

pub(super) enum On<'c> {
    Db(&'c Db),
    Tx(&'c mut Tx),
}

impl On<'_> {
    fn is_sqlite(&self) -> bool {
        match self {
            Self::Db(db) => matches!(db.engine, Engine::Sqlite { .. }),
            Self::Tx(tx) => tx.is_sqlite(),
        }
    }
}

#[must_use = "a statement does nothing until it is run"]
pub struct Statement<'c> {
    on: On<'c>,
    query: Query,
    /// Of the values, for PostgreSQL.
    types: Vec<PgType>,
    refused: Option<Failure>,
}

impl<'c> Statement<'c> {
    pub(super) fn new(on: On<'c>, text: impl Into<Cow<'static, str>>) -> Self {
        let (text, values) = (text.into(), Vec::new());
        let query = Query { text, values, cached: true, length: Length::Short };
        Self { on, query, types: Vec::new(), refused: None }
    }

    /// Only for text composed of `&'static str` pieces and numbers. It does not stay prepared.
    pub(super) fn composed(on: On<'c>, text: String) -> Self {
        let mut statement = Self::new(on, text);
        statement.query.cached = false;
        statement
    }

    /// `head (…) tail` with `count` placeholders in the parentheses. The head may contain `$1` to
    /// `$9`, and the tail the same ones. Only for text composed of `&'static str` pieces.
    pub(super) fn among(on: On<'c>, head: &str, count: usize, tail: &str) -> Self {
        let numbered = !on.is_sqlite();
        let is_named = |n: &usize| head.contains(&format!("${n}"));
        let before = (1..=9).rev().find(is_named).unwrap_or(0);
        let places: Vec<_> = (1..=count).map(|n| super::place(numbered, before + n)).collect();
        let text = format!("{head} ({}) {tail}", places.join(", "));
        let sqlite = || {
            (1..=before)
                .fold(text.clone(), |text, n| text.replace(&format!("${n}"), &format!("?{n}")))
        };
        let text = if numbered { text } else { sqlite() };
        Self::composed(on, text)
    }

    /// Stays prepared, although it was composed.
    pub(super) fn cached(mut self) -> Self {
        self.query.cached = true;
        self
    }

    /// Does not let PostgreSQL cache the plan: the statistics of a queue's table change too fast.
    /// SQLite plans by the text alone.
    pub fn without_cached_plan(mut self) -> Self {
        self.query.cached &= self.on.is_sqlite();
        self
    }

    /// For lists and reports, whose cost grows with the data. They have connections of their own,
    /// so that short statements never wait for them.
    pub fn long(mut self) -> Self {
        self.query.length = Length::Long;
        self
    }

    pub fn bind<T: ToValue>(self, value: T) -> Self {
        self.bind_value(value.to_value(), T::TYPE)
    }

    pub(super) fn bind_value(mut self, value: Result<Value<'static>>, kind: PgType) -> Self {
        match value {
            Ok(value) => self.query.values.push(value),
            Err(failure) => self.refused = Some(failure),
        }
        if !self.on.is_sqlite() {
            self.types.push(kind);
        }
        self
    }

    /// Binds a value if there is one, for statements whose text depends on it.
    pub fn bind_some(self, value: Option<impl ToValue>) -> Self {
        match value {
            Some(value) => self.bind(value),
            None => self,
        }
    }

    /// Every row.
    pub async fn all<T: FromRow>(self) -> Result<Vec<T>> {
        self.rows(usize::MAX).await
    }

    /// The row, if there is one.
    pub async fn maybe<T: FromRow>(self) -> Result<Option<T>> {
        Ok(self.rows(1).await?.into_iter().next())
    }

    /// The row that must be there.
    pub async fn one<T: FromRow>(self) -> Result<T> {
        self.maybe().await?.ok_or_else(|| Failure::fault("a row that must exist is missing"))
    }

    /// The only column of the row that must be there.
    pub async fn scalar<T: FromValue + Send + 'static>(self) -> Result<T> {
        self.one::<(T,)>().await.map(|(value,)| value)
    }

    async fn rows<T: FromRow>(self, most: usize) -> Result<Vec<T>> {
        Ok(self.decoded(RowType::of::<T>(), most).await?.into_rows())
    }

    async fn decoded(self, kind: RowType, most: usize) -> Result<Decoded> {
        let Self { on, query, types, refused } = self;
        refused.map_or(Ok(()), Err)?;
        let _measured = telemetry::statement();
        match on {
            On::Db(db) => {
                db.metrics.statements.fetch_add(1, Ordering::Relaxed);
                match &db.engine {
                    Engine::Sqlite { readers, .. } => {
                        db.metrics.note(readers.rows(query, kind, most, db.timeout).await)
                    }
                    Engine::Postgres(pool) => {
                        let rows = match &db.replica_reads {
                            Some(reads) => {
                                let work = reads.query(pool, &query, &types, db.timeout);
                                logged(&query, Box::pin(work)).await
                            }
                            None => {
                                let work = pool.query(&query, &types, db.timeout);
                                db.metrics.note(logged(&query, Box::pin(work)).await)
                            }
                        };
                        read_all(kind, query.static_text(), &rows?)
                    }
                }
            }
            On::Tx(tx) => {
                tx.metrics.statements.fetch_add(1, Ordering::Relaxed);
                match &mut tx.inner {
                    TxInner::Sqlite(inner) => {
                        inner.rows(&query, kind, most, tx.timeout == NO_TIMEOUT)
                    }
                    TxInner::Postgres(inner) => {
                        let work = Box::pin(within_for(tx.timeout, inner.query(&query, &types)));
                        read_all(kind, query.static_text(), &logged(&query, work).await?)
                    }
                }
            }
        }
    }

    /// How many rows it changed. On its own (not in a transaction) it commits by itself, and its
    /// outcome may be unknown as that of any commit.
    pub async fn run(self) -> Result<u64> {
        let Self { on, query, types, refused } = self;
        refused.map_or(Ok(()), Err)?;
        let _measured = telemetry::statement();
        match on {
            On::Db(db) => {
                db.metrics.statements.fetch_add(1, Ordering::Relaxed);
                let done = match &db.engine {
                    Engine::Sqlite { writer, .. } => {
                        within_for(db.timeout, Box::pin(writer.execute(query))).await
                    }
                    Engine::Postgres(pool) => {
                        let work = pool.execute(&query, &types, db.timeout);
                        logged(&query, Box::pin(work)).await
                    }
                };
                done.map_err(Failure::of_commit)
            }
            On::Tx(tx) => {
                tx.metrics.statements.fetch_add(1, Ordering::Relaxed);
                match &mut tx.inner {
                    TxInner::Sqlite(inner) => inner.execute(&query, tx.timeout == NO_TIMEOUT),
                    TxInner::Postgres(inner) => {
                        let work = inner.execute(&query, &types);
                        logged(&query, Box::pin(within_for(tx.timeout, work))).await
                    }
                }
            }
        }
    }
}

/// The work is boxed, because its future is large and would be part of that of every caller.
async fn logged<T>(query: &Query, work: BoxFuture<'_, Result<T>>) -> Result<T> {
    let started = Instant::now();
    let done = work.await;
    let elapsed = started.elapsed();
    if elapsed > SLOW {
        tracing::warn!(?elapsed, "slow statement: {}", query.text);
    }
    done
}
