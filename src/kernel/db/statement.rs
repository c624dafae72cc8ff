//! One statement with its values, ready to run on either engine.

use std::{sync::atomic::Ordering, time::Instant};

use sqlx::{
    Arguments, AssertSqlSafe, FromRow, SqlSafeStr, SqlStr,
    postgres::{PgArguments, PgRow},
    query_as_with, query_with,
    sqlite::SqliteRow,
};

use super::{
    Conn, Db, Engine, Failure, Plain, Result, Tx, TxInner, Value,
    direct::{Length, Question},
    lane::Lane,
    readers::Readers,
    rows::Row,
    value::arguments,
    within_for,
};

/// What can be read: a row of either engine. Derive `sqlx::FromRow`.
pub trait Record:
    for<'r> FromRow<'r, SqliteRow>
    + for<'r> FromRow<'r, Row>
    + for<'r> FromRow<'r, PgRow>
    + Send
    + Unpin
    + 'static
{
}

impl<T> Record for T where
    T: for<'r> FromRow<'r, SqliteRow>
        + for<'r> FromRow<'r, Row>
        + for<'r> FromRow<'r, PgRow>
        + Send
        + Unpin
        + 'static
{
}

/// A single column.
pub trait Scalar: Send + Unpin
where
    (Self,): Record,
    Self: Sized,
{
}

impl<T: Send + Unpin> Scalar for T where (T,): Record {}

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

enum Values {
    Sqlite(Vec<Plain>),
    Postgres(PgArguments),
}

#[must_use = "a statement does nothing until it is run"]
pub struct Statement<'c> {
    on: On<'c>,
    text: SqlStr,
    values: Values,
    refused: Option<Failure>,
    /// Whether it is worth being kept prepared.
    lasting: bool,
    length: Length,
}

impl<'c> Statement<'c> {
    pub(super) fn on_db(db: &'c Db, text: &'static str) -> Self {
        Self::new(On::Db(db), text.into_sql_str())
    }

    /// Only for text that was put together from `&'static str` pieces.
    pub(super) fn composed(db: &'c Db, text: String) -> Self {
        Self::new(On::Db(db), AssertSqlSafe(text).into_sql_str())
    }

    pub(super) fn on_tx(tx: &'c mut Tx, text: &'static str) -> Self {
        Self::new(On::Tx(tx), text.into_sql_str())
    }

    /// Only for text that was put together from `&'static str` pieces and numbers.
    pub(super) fn composed_on_tx(tx: &'c mut Tx, text: String) -> Self {
        let statement = Self::new(On::Tx(tx), AssertSqlSafe(text).into_sql_str());
        Self { lasting: false, ..statement }
    }

    /// `head (…) tail` with so many places between the parentheses, after the one that the head may
    /// have. Only for text that was put together from `&'static str` pieces.
    pub(super) fn among(on: On<'c>, head: &str, count: usize, tail: &str) -> Self {
        let numbered = !on.is_sqlite();
        let before = head.matches("$1").count();
        let places: Vec<_> = (1..=count).map(|n| super::place(numbered, before + n)).collect();
        let text = format!("{head} ({}) {tail}", places.join(", "));
        let text = if numbered { text } else { text.replacen("$1", "?", 1) };
        Self { lasting: false, ..Self::new(on, AssertSqlSafe(text).into_sql_str()) }
    }

    fn new(on: On<'c>, text: SqlStr) -> Self {
        let values = match on.is_sqlite() {
            true => Values::Sqlite(Vec::new()),
            false => Values::Postgres(PgArguments::default()),
        };
        Self { on, text, values, refused: None, lasting: true, length: Length::Short }
    }

    /// Worth being kept prepared, however it was put together.
    pub(super) fn kept(self) -> Self {
        Self { lasting: true, ..self }
    }

    /// For a table that is empty in one moment and full in the next: a plan that PostgreSQL made for
    /// the one may be a disaster in the other. SQLite plans by the text alone.
    pub fn planned_anew(self) -> Self {
        Self { lasting: self.lasting && self.on.is_sqlite(), ..self }
    }

    /// For lists and reports, whose cost grows with the data: they run on connections set aside for
    /// them, so that short statements never wait for them.
    pub fn long(self) -> Self {
        Self { length: Length::Long, ..self }
    }

    /// For what counts all of a table.
    pub(super) fn whole(self) -> Self {
        Self { length: Length::Whole, ..self }
    }

    pub fn bind(mut self, value: impl Value) -> Self {
        let bound = match &mut self.values {
            Values::Sqlite(values) => value.plain().map(|value| values.push(value)),
            Values::Postgres(values) => values.add(value).map_err(Failure::fault),
        };
        if let Err(failure) = bound {
            self.refused = Some(failure);
        }
        self
    }

    /// Binds a value where there is one: of two statements, the one without it has no place for it.
    pub fn bind_some(self, value: Option<impl Value>) -> Self {
        match value {
            Some(value) => self.bind(value),
            None => self,
        }
    }

    /// Every row.
    pub async fn all<T: Record>(self) -> Result<Vec<T>> {
        if let Some((db, readers, _)) = self.embedded() {
            return self.ask(db, readers, usize::MAX).await;
        }
        let lasting = self.lasting;
        self.run_with(async |conn, text, values| match (conn, values) {
            (Conn::Sqlite(c), Values::Sqlite(v)) => {
                query_as_with(text, arguments(v)?).persistent(lasting).fetch_all(c).await
            }
            (Conn::Postgres(c), Values::Postgres(v)) => {
                query_as_with(text, v).persistent(lasting).fetch_all(c).await
            }
            _ => unreachable!("values are made for the engine that runs them"),
        })
        .await
    }

    /// The row, if there is one.
    pub async fn maybe<T: Record>(self) -> Result<Option<T>> {
        if let Some((db, readers, _)) = self.embedded() {
            return self.ask(db, readers, 1).await.map(|rows| rows.into_iter().next());
        }
        let lasting = self.lasting;
        self.run_with(async |conn, text, values| match (conn, values) {
            (Conn::Sqlite(c), Values::Sqlite(v)) => {
                query_as_with(text, arguments(v)?).persistent(lasting).fetch_optional(c).await
            }
            (Conn::Postgres(c), Values::Postgres(v)) => {
                query_as_with(text, v).persistent(lasting).fetch_optional(c).await
            }
            _ => unreachable!("values are made for the engine that runs them"),
        })
        .await
    }

    /// The row that must be there.
    pub async fn one<T: Record>(self) -> Result<T> {
        self.maybe().await?.ok_or_else(|| Failure::fault("a row that must exist is missing"))
    }

    /// The only column of the row that must be there.
    pub async fn scalar<T>(self) -> Result<T>
    where
        T: Scalar,
        (T,): Record,
    {
        self.one::<(T,)>().await.map(|(value,)| value)
    }

    /// How many rows it changed. On its own (not in a transaction) it commits by itself, and its
    /// outcome may be unknown as that of any commit.
    pub async fn run(self) -> Result<u64> {
        let Some((db, _, lane)) = self.embedded() else {
            let alone = matches!(self.on, On::Db(_));
            let done = self.changes().await;
            return done.map_err(|failure| if alone { failure.of_commit() } else { failure });
        };
        db.vitals.statements.fetch_add(1, Ordering::Relaxed);
        let done = within_for(db.patience, Box::pin(lane.alone(self.question()?))).await;
        done.map_err(Failure::of_commit)
    }

    /// SQLite, where no transaction is open.
    fn embedded(&self) -> Option<(&'c Db, &'c Readers, &'c Lane)> {
        let On::Db(db) = self.on else { return None };
        let Engine::Sqlite { readers, lane } = &db.engine else { return None };
        Some((db, readers, lane))
    }

    async fn ask<T: Record>(self, db: &Db, readers: &Readers, most: usize) -> Result<Vec<T>> {
        db.vitals.statements.fetch_add(1, Ordering::Relaxed);
        readers.ask(self.question()?, most, db.patience).await
    }

    fn question(self) -> Result<Question> {
        let Self { text, values, refused, lasting, length, .. } = self;
        match (values, refused) {
            (_, Some(refused)) => Err(refused),
            (Values::Sqlite(values), None) => Ok(Question { text, values, lasting, length }),
            _ => unreachable!("values are made for the engine that runs them"),
        }
    }

    async fn changes(self) -> Result<u64> {
        let lasting = self.lasting;
        self.run_with(async |conn, text, values| match (conn, values) {
            (Conn::Sqlite(c), Values::Sqlite(v)) => {
                let done = query_with(text, arguments(v)?).persistent(lasting).execute(c).await;
                done.map(|done| done.rows_affected())
            }
            (Conn::Postgres(c), Values::Postgres(v)) => {
                let done = query_with(text, v).persistent(lasting).execute(c).await;
                done.map(|done| done.rows_affected())
            }
            _ => unreachable!("values are made for the engine that runs them"),
        })
        .await
    }

    async fn run_with<T>(
        self,
        work: impl AsyncFnOnce(Conn<'_>, SqlStr, Values) -> sqlx::Result<T>,
    ) -> Result<T> {
        let Self { on, text, values, refused, length, .. } = self;
        if let Some(refused) = refused {
            return Err(refused);
        }
        let vitals = match &on {
            On::Db(db) => &db.vitals,
            On::Tx(tx) => &tx.vitals,
        };
        vitals.statements.fetch_add(1, Ordering::Relaxed);
        let patience = match &on {
            On::Db(db) => db.patience,
            On::Tx(tx) => tx.patience,
        };
        // In a box: it is large, and would be moved along with whatever waits for it.
        match on {
            On::Tx(Tx { inner: TxInner::Sqlite(turn), .. }) => {
                let work = work(Conn::Sqlite(turn.conn()), text, values);
                within_for(patience, Box::pin(work)).await
            }
            On::Tx(Tx { inner: TxInner::Postgres(turn), .. }) => {
                let work = turn.line().with(async |c| work(Conn::Postgres(c), text, values).await);
                within_for(patience, Box::pin(work)).await
            }
            On::Db(Db { engine: Engine::Postgres(pool), .. }) => {
                // Apart from the statement: whoever waits for a connection has asked for nothing.
                let started = Instant::now();
                let mut line = match length {
                    Length::Short => Box::pin(pool.lend()).await?,
                    Length::Long | Length::Whole => Box::pin(pool.lend_for_long()).await?,
                };
                let left = patience.saturating_sub(started.elapsed());
                let work = line.with(async |c| work(Conn::Postgres(c), text, values).await);
                within_for(left, Box::pin(work)).await
            }
            On::Db(Db { engine: Engine::Sqlite { .. }, .. }) => {
                unreachable!("it is called directly")
            }
        }
    }
}
