//! Encryption at rest of bank account and identity numbers.
//!
//! XChaCha20-Poly1305 with a key derived from the service's secret key. A sealed text contains a
//! key id, so older keys can still decrypt it after a change.

use base64::{Engine, prelude::BASE64_STANDARD};
use chacha20poly1305::{
    Key, XChaCha20Poly1305, XNonce,
    aead::{Aead, KeyInit},
};
use sha2::{Digest, Sha256};

use super::{
    confidential::Confidential,
    error::{Error, Result},
    secret::Secret,
};

#[derive(Clone)]
pub struct Sealer {
    current: SealKey,
    old: Vec<SealKey>,
}

#[derive(Clone)]
struct SealKey {
    cipher: XChaCha20Poly1305,
    id: String,
}

impl SealKey {
    fn new(secret: &Secret) -> Self {
        let key = Sha256::new().chain_update("seal:").chain_update(secret.reveal()).finalize();
        let id = Sha256::new().chain_update("seal-id:").chain_update(key).finalize();
        let id = id[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { cipher: XChaCha20Poly1305::new(&Key::from(<[u8; 32]>::from(key))), id }
    }
}

impl Sealer {
    pub fn new(secret: &Secret, old: &[Secret]) -> Self {
        Self { current: SealKey::new(secret), old: old.iter().map(SealKey::new).collect() }
    }

    pub fn seal(&self, text: &str) -> Result<String> {
        let nonce: [u8; 24] = rand::random();
        let sealed = self.current.cipher.encrypt(&XNonce::from(nonce), text.as_bytes());
        let sealed = sealed.map_err(|_| Error::internal("encryption failed"))?;
        let bytes = [nonce.as_slice(), &sealed].concat();
        Ok(format!("{}:{}", self.current.id, BASE64_STANDARD.encode(bytes)))
    }

    pub fn seal_number(&self, number: Option<&Confidential>) -> Result<Option<String>> {
        number.map(|number| self.seal(number.number())).transpose()
    }

    pub fn open(&self, sealed: &str) -> Result<String> {
        let opened = || {
            let (id, bytes) = sealed.split_once(':')?;
            let key = std::iter::once(&self.current).chain(&self.old).find(|key| key.id == id)?;
            let bytes = BASE64_STANDARD.decode(bytes).ok()?;
            let (nonce, sealed) = bytes.split_first_chunk::<24>()?;
            let text = key.cipher.decrypt(&XNonce::from(*nonce), sealed).ok()?;
            String::from_utf8(text).ok()
        };
        opened().ok_or_else(|| Error::internal("decryption failed: no configured key fits"))
    }

    pub fn open_number(&self, sealed: Option<&str>) -> Result<Option<Confidential>> {
        sealed.map(|sealed| self.open(sealed).map(Confidential::new)).transpose()
    }

    /// Re-encrypts with the current key; `None` if it already is.
    pub fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        match sealed.split_once(':') {
            Some((id, _)) if id == self.current.id => Ok(None),
            _ => self.open(sealed).and_then(|text| self.seal(&text)).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_its_key_alone() {
        let ours = Sealer::new(&Secret::new("ours"), &[]);
        let sealed = ours.seal("1234567890").unwrap();
        assert!(!sealed.contains("1234567890"));
        assert_ne!(sealed, ours.seal("1234567890").unwrap(), "equal texts do not look equal");
        assert_eq!(ours.open(&sealed).unwrap(), "1234567890");
        assert!(Sealer::new(&Secret::new("theirs"), &[]).open(&sealed).is_err());
        let tampered = sealed.replacen(|c: char| c.is_ascii_uppercase(), "a", 1);
        assert!(ours.open(&tampered).is_err());
    }

    #[test]
    fn a_new_key_takes_over_from_the_old() {
        let old = Secret::new("old");
        let sealed = Sealer::new(&old, &[]).seal("1234567890").unwrap();
        let new = Sealer::new(&Secret::new("new"), &[old]);
        assert_eq!(new.open(&sealed).unwrap(), "1234567890");
        let resealed = new.reseal(&sealed).unwrap().unwrap();
        assert_eq!(new.reseal(&resealed).unwrap(), None);
        assert_eq!(Sealer::new(&Secret::new("new"), &[]).open(&resealed).unwrap(), "1234567890");
    }
}
