//! Signed addresses: short-lived, for one purpose.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::model::{Kind, SignedQuery};
use crate::kernel::{ids::Uuid, secret::Secret};

pub const READ: TimeDelta = TimeDelta::minutes(5);
pub const UPLOAD: TimeDelta = TimeDelta::minutes(10);

/// Purpose of a signed address.
#[derive(Clone, Copy)]
pub enum SignedAction {
    Read(Uuid),
    Upload(Uuid, Kind, i64),
    /// The tickets of a reseller's booking.
    Voucher(Uuid),
}

fn mac(secret: &Secret, action: SignedAction, expires: i64) -> Hmac<Sha256> {
    let text = match action {
        SignedAction::Read(id) => format!("read|{id}|{expires}"),
        SignedAction::Voucher(id) => format!("voucher|{id}|{expires}"),
        SignedAction::Upload(id, kind, size) => format!("upload|{id}|{kind}|{size}|{expires}"),
    };
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
    mac.expect("a key of any length will do").chain_update("address|").chain_update(text)
}

/// The query of a signed address.
pub fn query(secret: &Secret, action: SignedAction, expires_at: DateTime<Utc>) -> String {
    let expires = expires_at.timestamp();
    let signature = mac(secret, action, expires).finalize().into_bytes();
    format!("expires={expires}&signature={}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// Whether the signature is valid for the purpose and not expired; compared in constant time.
pub fn allows(
    secret: &Secret,
    action: SignedAction,
    query: &SignedQuery,
    now: DateTime<Utc>,
) -> bool {
    let (Some(expires), Some(signature)) = (&query.expires, &query.signature) else {
        return false;
    };
    let Ok(expires) = expires.parse::<i64>() else { return false };
    let Ok(signature) = BASE64_URL_SAFE_NO_PAD.decode(signature) else { return false };
    mac(secret, action, expires).verify_slice(&signature).is_ok() && now.timestamp() < expires
}
