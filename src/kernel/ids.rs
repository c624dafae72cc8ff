//! Identifiers and bearer secrets.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
pub use uuid::Uuid;

/// A fresh id; UUIDv7, so that rows made together lie together.
pub fn fresh() -> Uuid {
    Uuid::now_v7()
}

/// 256 random bits that whoever holds them may act with. Only the hash is ever stored.
pub struct Token(String);

impl Token {
    pub fn fresh() -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()))
    }

    /// The secret itself: for the one it is issued to, and nobody else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> Vec<u8> {
        hash(&self.0)
    }
}

/// What is stored of a token and looked up by.
pub fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}
