//! Addresses that carry their own permission: signed, short-lived, good for one thing.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::model::{Kind, SignedQuery};
use crate::kernel::{ids::Uuid, secret::Secret};

pub const READ: TimeDelta = TimeDelta::minutes(5);
pub const UPLOAD: TimeDelta = TimeDelta::minutes(10);

/// What an address allows.
#[derive(Clone, Copy)]
pub enum Deed {
    Read(Uuid),
    Upload(Uuid, Kind, i64),
}

fn mac(secret: &Secret, deed: Deed, expires: i64) -> Hmac<Sha256> {
    let text = match deed {
        Deed::Read(id) => format!("read|{id}|{expires}"),
        Deed::Upload(id, kind, size) => format!("upload|{id}|{kind}|{size}|{expires}"),
    };
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
    mac.expect("a key of any length will do").chain_update("address|").chain_update(text)
}

/// The query of a signed address.
pub fn query(secret: &Secret, deed: Deed, expires_at: DateTime<Utc>) -> String {
    let expires = expires_at.timestamp();
    let signature = mac(secret, deed, expires).finalize().into_bytes();
    format!("expires={expires}&signature={}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// Whether the query allows the deed now; compared in constant time.
pub fn allows(secret: &Secret, deed: Deed, query: &SignedQuery, now: DateTime<Utc>) -> bool {
    let (Some(expires), Some(signature)) = (&query.expires, &query.signature) else {
        return false;
    };
    let Ok(expires) = expires.parse::<i64>() else { return false };
    let Ok(signature) = BASE64_URL_SAFE_NO_PAD.decode(signature) else { return false };
    mac(secret, deed, expires).verify_slice(&signature).is_ok() && now.timestamp() < expires
}
