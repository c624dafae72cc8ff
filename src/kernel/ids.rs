//! Identifiers and bearer secrets.

use std::cell::RefCell;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sha2::{Digest, Sha256};
pub use uuid::Uuid;

use super::secret::Secret;

tokio::task_local! {
    static SEEDED: RefCell<Seeded>;
}

/// Where ids come from that must come out the same twice.
struct Seeded {
    random: StdRng,
    milliseconds: u64,
}

/// Runs the work with ids and codes that are derived from the seed, starting at a time. Secrets
/// stay random.
pub(crate) async fn seeded<T>(seed: u64, from: DateTime<Utc>, work: impl Future<Output = T>) -> T {
    let milliseconds = from.timestamp_millis().unsigned_abs();
    let seeded = Seeded { random: StdRng::seed_from_u64(seed), milliseconds };
    SEEDED.scope(RefCell::new(seeded), work).await
}

/// A new UUIDv7: rows created together are stored together.
pub fn fresh() -> Uuid {
    let next = |seeded: &RefCell<Seeded>| {
        let Seeded { random, milliseconds } = &mut *seeded.borrow_mut();
        *milliseconds += 1;
        uuid::Builder::from_unix_timestamp_millis(*milliseconds, &random.random()).into_uuid()
    };
    SEEDED.try_with(next).unwrap_or_else(|_| Uuid::now_v7())
}

/// A bearer token of 256 random bits. Only its hash is stored.
pub struct Token(String);

impl Token {
    pub fn fresh() -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()))
    }

    /// A token derived from an id and the secret; always the same for the same id.
    pub fn of(id: Uuid, secret: &Secret) -> Self {
        let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
        let mac = mac.expect("a key of any length will do").chain_update("token:");
        let bytes = mac.chain_update(id.as_bytes()).finalize().into_bytes();
        Self(BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The token itself, for its recipient only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> Vec<u8> {
        hash(&self.0)
    }
}

/// A random code such as `DMG-7K3M9QXA`. Uniqueness is checked by the database.
pub fn fresh_code(prefix: &str) -> String {
    let random = SEEDED.try_with(|seeded| seeded.borrow_mut().random.random());
    code(prefix, random.unwrap_or_else(|_| rand::random()))
}

/// A prefix such as `DMG-` and 8 characters without look-alikes.
pub fn code(prefix: &str, random: u64) -> String {
    const LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
    let mut rest = random;
    let mut code = format!("{prefix}-");
    for _ in 0..8 {
        code.push(char::from(LETTERS[(rest % 31) as usize]));
        rest /= 31;
    }
    code
}

/// The hash by which a token is stored and looked up.
pub fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_code_has_no_letter_that_looks_like_another() {
        for random in [0, 1, 30, 31, u64::MAX] {
            let code = super::code("DMG", random);
            assert_eq!(code.len(), 12);
            assert!(!code[4..].contains(['0', '1', 'O', 'I']), "{code}");
        }
    }
}
