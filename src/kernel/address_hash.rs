//! Keyed hashes of e-mail addresses: they recognise an address again and do not reveal it, not even
//! to somebody who tries all addresses, without the service's key.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

use super::{email::Email, secret::Secret};

#[derive(Clone)]
pub struct AddressHasher {
    current: Secret,
    old: Vec<Secret>,
}

/// HMAC-SHA256 of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressHash([u8; 32]);

impl AddressHasher {
    pub fn new(secret: &Secret, old: &[Secret]) -> Self {
        Self { current: secret.clone(), old: old.to_vec() }
    }

    pub fn hash(&self, email: &Email) -> AddressHash {
        hash(&self.current, email)
    }

    /// Also under earlier keys, for what was hashed before the key was changed.
    pub fn hashes(&self, email: &Email) -> Vec<AddressHash> {
        let keys = std::iter::once(&self.current).chain(&self.old);
        keys.map(|key| hash(key, email)).collect()
    }
}

fn hash(secret: &Secret, email: &Email) -> AddressHash {
    let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
    let mac = mac.expect("a key of any length will do").chain_update("address-hash:");
    AddressHash(mac.chain_update(email.as_str()).finalize().into_bytes().into())
}

impl AddressHash {
    /// The whole hash in hexadecimal.
    pub fn text(&self) -> String {
        hex(&self.0)
    }

    /// 64 bits of it, for file names.
    pub fn short(&self) -> String {
        short(&self.text()).to_owned()
    }

    /// 128 bits of it, as the id of a person in the audit log.
    pub fn id(&self) -> Uuid {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }
}

/// The short form of a hash that is stored as text.
pub fn short(text: &str) -> &str {
    text.get(..16).unwrap_or(text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_address_and_key() {
        let email: Email = "Sari@Example.com".parse().unwrap();
        let other: Email = "budi@example.com".parse().unwrap();
        let (new, old) = (Secret::new("new"), Secret::new("old"));
        let hasher = AddressHasher::new(&new, std::slice::from_ref(&old));
        let before = AddressHasher::new(&old, &[]);
        assert_eq!(hasher.hash(&email), hasher.hash(&"sari@example.com".parse().unwrap()));
        assert_ne!(hasher.hash(&email), hasher.hash(&other));
        assert_ne!(hasher.hash(&email), before.hash(&email));
        assert_eq!(hasher.hashes(&email), [hasher.hash(&email), before.hash(&email)]);
        let text = hasher.hash(&email).text();
        assert!(text.len() == 64 && text.starts_with(&hasher.hash(&email).short()));
    }
}
