//! What can be bound.

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, Utc};
use serde::Serialize;
use sqlx::{
    Arguments, Encode, Postgres, Type,
    error::BoxDynError,
    sqlite::SqliteArguments,
    types::{Json, Uuid},
};

use super::{Failure, Result};

/// A value as SQLite stores it.
pub use rusqlite::types::Value as Plain;

/// What can be bound: a value that both engines store.
pub trait Value: for<'q> Encode<'q, Postgres> + Type<Postgres> + 'static {
    fn plain(self) -> Result<Plain>;
}

macro_rules! plain {
    ($($kind:ty: $value:ident => $plain:expr),+ $(,)?) => {
        $(impl Value for $kind {
            fn plain(self) -> Result<Plain> {
                let $value = self;
                Ok($plain)
            }
        })+
    };
}

plain! {
    bool: it => Plain::Integer(it.into()),
    i16: it => Plain::Integer(it.into()),
    i32: it => Plain::Integer(it.into()),
    i64: it => Plain::Integer(it),
    f64: it => Plain::Real(it),
    String: it => Plain::Text(it),
    &'static str: it => Plain::Text(it.to_owned()),
    Vec<u8>: it => Plain::Blob(it),
    Uuid: it => Plain::Blob(it.into_bytes().to_vec()),
    DateTime<Utc>: it => Plain::Text(it.to_rfc3339_opts(SecondsFormat::AutoSi, false)),
    NaiveDate: it => Plain::Text(it.to_string()),
    NaiveTime: it => Plain::Text(it.to_string()),
    serde_json::Value: it => Plain::Text(it.to_string()),
}

impl<T: Value> Value for Option<T> {
    fn plain(self) -> Result<Plain> {
        self.map_or(Ok(Plain::Null), T::plain)
    }
}

impl<T: Serialize + 'static> Value for Json<T> {
    fn plain(self) -> Result<Plain> {
        serde_json::to_string(&self.0).map(Plain::Text).map_err(Failure::fault)
    }
}

/// For the library that asks SQLite.
pub(super) fn arguments(values: Vec<Plain>) -> sqlx::Result<SqliteArguments> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        let added: Result<(), BoxDynError> = match value {
            Plain::Null => arguments.add(None::<i64>),
            Plain::Integer(value) => arguments.add(value),
            Plain::Real(value) => arguments.add(value),
            Plain::Text(value) => arguments.add(value),
            Plain::Blob(value) => arguments.add(value),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
    use proptest::prelude::*;
    use serde_json::json;
    use sqlx::{
        ConnectOptions,
        sqlite::SqliteConnectOptions,
        types::{Json, Uuid},
    };

    use super::super::Db;

    /// One of each, and again where it may be missing.
    #[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
    struct Thing {
        yes: bool,
        small: i16,
        middle: i32,
        large: i64,
        real: f64,
        text: String,
        bytes: Vec<u8>,
        id: Uuid,
        at: DateTime<Utc>,
        day: NaiveDate,
        hour: NaiveTime,
        json: Json<serde_json::Value>,
        maybe: Option<String>,
    }

    fn things() -> impl Strategy<Value = Thing> {
        let numbers = (any::<bool>(), any::<i16>(), any::<i32>(), any::<i64>(), -1e9..1e9f64);
        let texts = ("\\PC*", any::<Vec<u8>>(), any::<u128>(), any::<Option<String>>());
        // From the year 1 to 9999, to the microsecond as PostgreSQL keeps it.
        let times = (-62_135_596_800..253_402_300_800i64, 0..1_000_000u32);
        (numbers, texts, times).prop_map(|(numbers, (text, bytes, id, maybe), (second, micro))| {
            let at = DateTime::from_timestamp(second, micro * 1000).unwrap();
            let (yes, small, middle, large, real) = numbers;
            let json = Json(json!({ "text": text, "list": [small, null] }));
            let (day, hour) = (at.date_naive(), at.time());
            let id = Uuid::from_u128(id);
            Thing { yes, small, middle, large, real, text, bytes, id, at, day, hour, json, maybe }
        })
    }

    const PUT: &str =
        "INSERT INTO things VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

    /// The same to a statement of ours and to one of sqlx.
    macro_rules! bound {
        ($put:expr, $thing:expr) => {{
            let it = $thing.clone();
            $put.bind(it.yes)
                .bind(it.small)
                .bind(it.middle)
                .bind(it.large)
                .bind(it.real)
                .bind(it.text)
                .bind(it.bytes)
                .bind(it.id)
                .bind(it.at)
                .bind(it.day)
                .bind(it.hour)
                .bind(it.json)
                .bind(it.maybe)
        }};
    }

    /// As sqlx would, by itself: what is stored already was.
    async fn put_by_sqlx(file: &Path, thing: &Thing) {
        let mut conn = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
        bound!(sqlx::query(PUT), thing).execute(&mut conn).await.unwrap();
    }

    /// Written alone and in a transaction, read alone and in a transaction.
    async fn there_and_back(db: &Db, file: &Path, thing: &Thing) {
        put_by_sqlx(file, thing).await;
        bound!(db.sql(PUT), thing).run().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        bound!(tx.sql(PUT), thing).run().await.unwrap();
        let same = "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM things)";
        assert_eq!(tx.sql(same).scalar::<i64>().await.unwrap(), 1, "stored alike");
        let all = "SELECT * FROM things";
        let inside: Vec<Thing> = tx.sql(all).all().await.unwrap();
        tx.commit().await.unwrap();
        let outside: Vec<Thing> = db.sql(all).all().await.unwrap();
        assert_eq!(inside, vec![thing.clone(); 3]);
        assert_eq!(outside, inside);
        db.sql("DELETE FROM things").run().await.unwrap();
    }

    #[test]
    fn what_is_stored_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let db = runtime.block_on(async {
            let db = Db::open(file.to_str().unwrap()).await.unwrap();
            let table = "CREATE TABLE things (yes BOOLEAN, small SMALLINT, middle INTEGER,
                large BIGINT, real DOUBLE PRECISION, text TEXT, bytes BYTEA, id UUID,
                at TIMESTAMPTZ, day DATE, hour TIME, json JSONB, maybe TEXT)";
            db.sql(table).run().await.unwrap();
            db
        });
        proptest!(ProptestConfig::with_cases(100), |(thing in things())| {
            runtime.block_on(there_and_back(&db, &file, &thing));
        });
    }
}
