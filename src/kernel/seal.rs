//! Texts that must not be readable at rest: bank and identity numbers.
//!
//! XChaCha20-Poly1305 under a key derived from the service's secret. A sealed text names its key,
//! so that one day several can be in use.

use base64::{Engine, prelude::BASE64_STANDARD};
use chacha20poly1305::{
    Key, XChaCha20Poly1305, XNonce,
    aead::{Aead, KeyInit},
};
use sha2::{Digest, Sha256};

use super::{
    error::{Error, Result},
    secret::Secret,
};

#[derive(Clone)]
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    key_id: String,
}

impl Sealer {
    pub fn new(secret: &Secret) -> Self {
        let key = Sha256::new().chain_update("seal:").chain_update(secret.reveal()).finalize();
        let id = Sha256::new().chain_update("seal-id:").chain_update(key).finalize();
        let key_id = id[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { cipher: XChaCha20Poly1305::new(&Key::from(<[u8; 32]>::from(key))), key_id }
    }

    pub fn seal(&self, text: &str) -> Result<String> {
        let nonce: [u8; 24] = rand::random();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), text.as_bytes());
        let sealed = sealed.map_err(|_| Error::internal("cannot seal"))?;
        let bytes = [nonce.as_slice(), &sealed].concat();
        Ok(format!("{}:{}", self.key_id, BASE64_STANDARD.encode(bytes)))
    }

    pub fn open(&self, sealed: &str) -> Result<String> {
        let opened = || {
            let (key_id, bytes) = sealed.split_once(':')?;
            let bytes = BASE64_STANDARD.decode(bytes).ok().filter(|_| key_id == self.key_id)?;
            let (nonce, sealed) = bytes.split_first_chunk::<24>()?;
            let text = self.cipher.decrypt(&XNonce::from(*nonce), sealed).ok()?;
            String::from_utf8(text).ok()
        };
        opened().ok_or_else(|| Error::internal("a sealed text does not open with this key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_its_key_alone() {
        let ours = Sealer::new(&Secret::new("ours"));
        let sealed = ours.seal("1234567890").unwrap();
        assert!(!sealed.contains("1234567890"));
        assert_ne!(sealed, ours.seal("1234567890").unwrap(), "equal texts do not look equal");
        assert_eq!(ours.open(&sealed).unwrap(), "1234567890");
        assert!(Sealer::new(&Secret::new("theirs")).open(&sealed).is_err());
        let tampered = sealed.replacen(|c: char| c.is_ascii_uppercase(), "a", 1);
        assert!(ours.open(&tampered).is_err());
    }
}
