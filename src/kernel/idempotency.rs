//! Idempotency keys: a repeated request has one effect and one response.
//!
//! A key is claimed in its own transaction, so that a concurrent repeat is refused at once. The
//! response is stored in the transaction of the effect, so that neither exists without the other. A
//! claim whose process died can be taken over after its lease.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use sha2::{Digest, Sha256};

use super::{
    caller::Caller,
    db::{Db, Tx},
    email::Email,
    error::{Error, Result},
    ids::{self, Uuid},
    lang::text,
    seal::Sealer,
};

const KEPT: TimeDelta = TimeDelta::hours(24);
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// Owner of a key. Keys of different owners are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(Uuid);

impl Owner {
    /// The account. Impersonated sessions have separate keys, because they may see less.
    pub fn account(caller: &Caller) -> Self {
        match &caller.impersonator {
            None => Self(caller.person.id),
            Some(behind) => {
                let ids = [caller.person.id, behind.person.id];
                let both = ids.map(Uuid::into_bytes);
                Self::hashed("impersonated", &both.concat())
            }
        }
    }

    /// Guests are distinguished by their contact e-mail.
    pub fn guest(email: &Email) -> Self {
        Self::hashed("guest", email.as_str().as_bytes())
    }

    /// The caller, or the guest with this e-mail address.
    pub fn of(caller: Option<&Caller>, email: Option<&Email>) -> Self {
        match (caller, email) {
            (Some(caller), _) => Self::account(caller),
            (None, Some(email)) => Self::guest(email),
            (None, None) => Self(Uuid::nil()),
        }
    }

    fn hashed(kind: &str, of: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(kind).chain_update([0]).chain_update(of).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// A key with its owner and request. Claimed once per request, outside of retries.
#[derive(Debug, Clone)]
pub struct Key {
    pub caller: Owner,
    pub operation: &'static str,
    pub key: String,
    pub path: String,
    pub body: Vec<u8>,
}

pub enum Claim {
    /// Execute the request, then `keep` its response.
    Run(Running),
    /// The request was executed before; this is its response.
    Replay(Value),
}

/// The right to execute the request until the lease ends.
pub struct Running {
    id: Uuid,
    lease: Uuid,
}

#[derive(crate::kernel::db::FromRow)]
struct Kept {
    fingerprint: Vec<u8>,
    answer: Option<Value>,
}

impl Key {
    /// The key that a signed-in caller sent with a request, if it sent one.
    pub fn of_account(
        caller: &Caller,
        key: Option<String>,
        operation: &'static str,
        path: impl Into<String>,
        body: Vec<u8>,
    ) -> Option<Self> {
        Self::of(Owner::account(caller), key, operation, path, body)
    }

    /// The key that was sent with a request, if one was.
    pub fn of(
        caller: Owner,
        key: Option<String>,
        operation: &'static str,
        path: impl Into<String>,
        body: Vec<u8>,
    ) -> Option<Self> {
        key.map(|key| Self { caller, operation, key, path: path.into(), body })
    }

    /// Use 1 to 255 printable characters.
    pub fn parse(header: &str) -> Result<String> {
        let printable = header.bytes().all(|b| (b' '..=b'~').contains(&b));
        if printable && (1..=255).contains(&header.len()) {
            return Ok(header.to_owned());
        }
        Err(Error::field(
            "Idempotency-Key",
            "format",
            text(
                "Use 1 to 255 printable characters.",
                "Gunakan 1 sampai 255 karakter yang dapat dicetak.",
            ),
        ))
    }

    pub async fn claim(&self, db: &Db, now: DateTime<Utc>) -> Result<Claim> {
        let request = Sha256::new().chain_update(&self.path).chain_update([0]);
        let fingerprint = request.chain_update(&self.body).finalize().to_vec();
        let running = Running { id: ids::fresh(), lease: ids::fresh() };
        let mut tx = db.begin().await?;
        // A new key, an expired one, or one whose lease has ended.
        let claimed = tx
            .sql(
                "INSERT INTO idempotency_keys
                   (id, caller, operation, key, fingerprint, lease, leased_until, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                 ON CONFLICT (caller, operation, key) DO UPDATE SET
                   id = excluded.id, fingerprint = excluded.fingerprint, lease = excluded.lease,
                   leased_until = excluded.leased_until, expires_at = excluded.expires_at,
                   answer = NULL
                 WHERE idempotency_keys.expires_at <= $9
                   OR (idempotency_keys.answer IS NULL AND idempotency_keys.leased_until <= $9
                       AND idempotency_keys.fingerprint = excluded.fingerprint)",
            )
            .bind(running.id)
            .bind(self.caller.0)
            .bind(self.operation)
            .bind(self.key.clone())
            .bind(fingerprint.clone())
            .bind(running.lease)
            .bind(now + LEASE)
            .bind(now + KEPT)
            .bind(now)
            .run()
            .await?;
        if claimed == 1 {
            return match tx.commit().await {
                Ok(()) => Ok(Claim::Run(running)),
                // The key may be claimed although the work has not started.
                Err(unknown) if unknown.is_unknown() => {
                    Err(Error::Unavailable(unknown.to_string()))
                }
                Err(failure) => Err(failure.into()),
            };
        }
        let kept: Option<Kept> = tx
            .sql(
                "SELECT fingerprint, answer FROM idempotency_keys
                 WHERE caller = $1 AND operation = $2 AND key = $3",
            )
            .bind(self.caller.0)
            .bind(self.operation)
            .bind(self.key.clone())
            .maybe()
            .await?;
        match kept {
            Some(kept) if kept.fingerprint != fingerprint => Err(Error::conflict(
                "idempotency_conflict",
                "This Idempotency-Key was used with another body.",
                "Idempotency-Key ini sudah dipakai dengan isi lain.",
            )),
            Some(Kept { answer: Some(answer), .. }) => {
                // What this read may itself be waiting for its group's COMMIT: wait with it.
                tx.commit().await?;
                Ok(Claim::Replay(answer))
            }
            _ => Err(in_progress()),
        }
    }
}

impl Running {
    /// Stores the response in the transaction of the effect. Fails, and with it the transaction, if
    /// the lease was lost.
    pub async fn keep(&self, tx: &mut Tx, answer: &Value) -> Result<()> {
        let kept = tx
            .sql("UPDATE idempotency_keys SET answer = $1 WHERE id = $2 AND lease = $3")
            .bind(answer.clone())
            .bind(self.id)
            .bind(self.lease)
            .run()
            .await?;
        if kept == 1 { Ok(()) } else { Err(in_progress()) }
    }

    /// Like `keep`, for responses that must be encrypted at rest.
    pub async fn keep_sealed(
        &self,
        tx: &mut Tx,
        sealer: &Sealer,
        answer: &impl Serialize,
    ) -> Result<()> {
        self.keep(tx, &sealed(sealer, answer)?).await
    }

    /// Completes a kept answer with what was known only after its transaction. The work is done:
    /// should this fail, a repeat is answered from what was kept with it.
    pub async fn amend(&self, db: &Db, answer: &Value) {
        let amended = db
            .sql("UPDATE idempotency_keys SET answer = $1 WHERE id = $2 AND lease = $3")
            .bind(answer.clone())
            .bind(self.id)
            .bind(self.lease)
            .run()
            .await;
        if let Err(error) = amended {
            tracing::warn!(%error, "an idempotent response could not be stored");
        }
    }

    /// Frees the key after a refusal: only successes are kept. Where it is not known whether the
    /// work was committed, this waits for its transaction and leaves an answer that was kept. A
    /// key that cannot be freed is free again when its lease is past.
    pub async fn release(self, db: &Db) {
        let released = db
            .sql("DELETE FROM idempotency_keys WHERE id = $1 AND lease = $2 AND answer IS NULL")
            .bind(self.id)
            .bind(self.lease)
            .run()
            .await;
        if let Err(error) = released {
            tracing::warn!(%error, "an idempotency key could not be released");
        }
    }
}

/// Forgets the answers that a guest was given.
pub async fn forget_guest(tx: &mut Tx, email: &Email) -> Result<()> {
    tx.sql("DELETE FROM idempotency_keys WHERE caller = $1")
        .bind(Owner::guest(email).0)
        .run()
        .await?;
    Ok(())
}

/// An answer as it is kept.
pub fn sealed(sealer: &Sealer, answer: &impl Serialize) -> Result<Value> {
    let answer = serde_json::to_string(answer).map_err(Error::internal)?;
    Ok(json!({ "sealed": sealer.seal(&answer)? }))
}

/// An answer that was kept sealed; `None` for one that was not.
pub fn opened(sealer: &Sealer, kept: &Value) -> Result<Option<Box<RawValue>>> {
    let Some(sealed) = kept["sealed"].as_str() else { return Ok(None) };
    RawValue::from_string(sealer.open(sealed)?).map(Some).map_err(Error::internal)
}

/// An answer that was kept, sealed or not.
pub fn replayed(sealer: &Sealer, kept: &Value) -> Result<Box<RawValue>> {
    match opened(sealer, kept)? {
        Some(answer) => Ok(answer),
        None => to_raw_value(kept).map_err(Error::internal),
    }
}

fn in_progress() -> Error {
    Error::conflict(
        "idempotency_in_progress",
        "The first request with this Idempotency-Key is still running.",
        "Permintaan pertama dengan Idempotency-Key ini masih berjalan.",
    )
}

/// Deletes expired keys; run by a job.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<u64> {
    let gone = db.sql("DELETE FROM idempotency_keys WHERE expires_at <= $1").bind(now).run();
    Ok(gone.await?)
}
