//! Values of every type that columns have, written and read on both engines.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use dermaga::kernel::{
    db::{FromRow, Json, Statement},
    ids::Uuid,
};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::json;

use crate::{on_both_engines, world::World};

on_both_engines![values_are_read_as_they_were_written];

const CASES: usize = 100;

#[derive(Clone, Debug, PartialEq, FromRow)]
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
    // PostgreSQL refuses NUL in a text, and so does the API.
    let texts = ("\\PC*", any::<Vec<u8>>(), any::<u128>(), prop::option::of("\\PC*"));
    // From the year 1 to 9999, with the microseconds that PostgreSQL stores.
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

const INSERT: &str =
    "INSERT INTO things VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

fn bind(statement: Statement<'_>, thing: Thing) -> Statement<'_> {
    statement
        .bind(thing.yes)
        .bind(thing.small)
        .bind(thing.middle)
        .bind(thing.large)
        .bind(thing.real)
        .bind(thing.text)
        .bind(thing.bytes)
        .bind(thing.id)
        .bind(thing.at)
        .bind(thing.day)
        .bind(thing.hour)
        .bind(thing.json)
        .bind(thing.maybe)
}

/// With a statement on its own and in a transaction.
async fn values_are_read_as_they_were_written(world: World) {
    let db = world.db();
    let table = "CREATE TABLE things (yes BOOLEAN, small SMALLINT, middle INTEGER, large BIGINT,
        real DOUBLE PRECISION, text TEXT, bytes BYTEA, id UUID, at TIMESTAMPTZ, day DATE, hour TIME,
        json JSONB, maybe TEXT)";
    db.sql(table).run().await.unwrap();
    let all = "SELECT * FROM things";
    let mut runner = TestRunner::default();
    for _ in 0..CASES {
        let thing = things().new_tree(&mut runner).unwrap().current();
        bind(db.sql(INSERT), thing.clone()).run().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        bind(tx.sql(INSERT), thing.clone()).run().await.unwrap();
        let inside: Vec<Thing> = tx.sql(all).all().await.unwrap();
        tx.commit().await.unwrap();
        let outside: Vec<Thing> = db.sql(all).all().await.unwrap();
        assert_eq!(inside, vec![thing; 2]);
        assert_eq!(outside, inside);
        db.sql("DELETE FROM things").run().await.unwrap();
    }
}
