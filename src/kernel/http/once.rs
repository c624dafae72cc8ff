//! Answers to requests that carry a key: the same request twice has one effect and one answer.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Reply;
use crate::kernel::{
    db::Db,
    error::{Error, Result},
    idempotency::{Claim, Key, Running},
};

/// An answer.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Once<T> {
    New(T),
    /// To the letter as it was given before, or is kept to be given again.
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

/// Does the work, once for each key. The work keeps its answer in its own transaction, if it is
/// given the means.
pub async fn once<T: Serialize>(
    db: &Db,
    key: Option<Key>,
    now: DateTime<Utc>,
    work: impl AsyncFnOnce(Option<&Running>) -> Result<T>,
) -> Result<Reply<Once<T>>> {
    let new = |answer: T| Ok(Reply::data(Once::New(answer)));
    let Some(key) = key else { return new(work(None).await?) };
    match key.claim(db, now).await? {
        Claim::Replay(kept) => {
            let kept = to_raw_value(&kept).map_err(Error::internal)?;
            Ok(Reply::data(Once::Written(kept)).replayed())
        }
        Claim::Run(running) => match work(Some(&running)).await {
            Ok(answer) => new(answer),
            Err(refusal) => {
                // A key that stays claimed is free again when its lease is past.
                if let Err(error) = running.release(db).await {
                    tracing::warn!(%error, "a key was not released");
                }
                Err(refusal)
            }
        },
    }
}
