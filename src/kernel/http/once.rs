//! Execution of requests with an idempotency key.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::Reply;
use crate::kernel::{
    db::Db,
    error::Result,
    idempotency::{self, Claim, Key, Running},
    seal::Sealer,
};

/// A new response, or a stored one.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Once<T> {
    New(T),
    /// The serialised response, as stored for replay.
    Written(Box<RawValue>),
}

impl<T: JsonSchema> JsonSchema for Once<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Executes the work once per key. The work stores its response in its own transaction by
/// `Running::keep`.
pub async fn once<T: Serialize>(
    db: &Db,
    sealer: &Sealer,
    key: Option<Key>,
    now: DateTime<Utc>,
    work: impl AsyncFnOnce(Option<&Running>) -> Result<T>,
) -> Result<Reply<Once<T>>> {
    let new = |answer: T| Ok(Reply::data(Once::New(answer)));
    let Some(key) = key else { return new(work(None).await?) };
    match key.claim(db, now).await? {
        Claim::Replay(kept) => {
            Ok(Reply::data(Once::Written(idempotency::replayed(sealer, &kept)?)).replayed())
        }
        Claim::Run(running) => match work(Some(&running)).await {
            Ok(answer) => new(answer),
            Err(refusal) => {
                running.release(db).await;
                Err(refusal)
            }
        },
    }
}

/// The same for work whose answer is complete only after its transaction: the work keeps what it
/// takes to find its effect again, and its answer replaces that afterwards. `recall` makes the
/// answer to a repeat from what was kept.
pub async fn once_amended<T: Serialize>(
    db: &Db,
    sealer: &Sealer,
    key: Option<Key>,
    now: DateTime<Utc>,
    recall: impl AsyncFnOnce(&Value) -> Result<T>,
    work: impl AsyncFnOnce(Option<&Running>) -> Result<T>,
) -> Result<Reply<Once<T>>> {
    let Some(key) = key else { return Ok(Reply::data(Once::New(work(None).await?))) };
    match key.claim(db, now).await? {
        Claim::Replay(kept) => {
            let answer = match idempotency::opened(sealer, &kept)? {
                Some(written) => Once::Written(written),
                // The first request did not live to complete its answer.
                None => Once::New(recall(&kept).await?),
            };
            Ok(Reply::data(answer).replayed())
        }
        Claim::Run(running) => match work(Some(&running)).await {
            Ok(answer) => {
                running.amend(db, &idempotency::sealed(sealer, &answer)?).await;
                Ok(Reply::data(Once::New(answer)))
            }
            Err(refusal) => {
                running.release(db).await;
                Err(refusal)
            }
        },
    }
}
