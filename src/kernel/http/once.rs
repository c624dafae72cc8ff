//! Answers to requests that carry a key: the same request twice has one effect and one answer.

use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Reply;
use crate::kernel::{
    db::Db,
    error::{Error, Result},
    idempotency::{Claim, Key, Running},
};

/// An answer: new, or as it was given before.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Once<T>(#[schemars(with = "T")] Value, #[serde(skip)] PhantomData<T>);

/// Does the work, once for each key. The work keeps its answer in its own transaction, if it is
/// given the means.
pub async fn once<T: Serialize>(
    db: &Db,
    key: Option<Key>,
    now: DateTime<Utc>,
    work: impl AsyncFnOnce(Option<&Running>) -> Result<T>,
) -> Result<Reply<Once<T>>> {
    let new = |answer: T| {
        let answer = serde_json::to_value(answer).map_err(Error::internal)?;
        Ok(Reply::data(Once(answer, PhantomData)))
    };
    let Some(key) = key else { return new(work(None).await?) };
    match key.claim(db, now).await? {
        Claim::Replay(kept) => Ok(Reply::data(Once(kept, PhantomData)).replayed()),
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
