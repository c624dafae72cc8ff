//! A secret value that is not printed by `Debug` and `Display`.

use std::{convert::Infallible, fmt, str::FromStr};

use sha2::{Digest, Sha256};

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares digests in constant time.
    pub fn is(&self, given: &str) -> bool {
        let (given, right) = (Sha256::digest(given), Sha256::digest(&self.0));
        given.iter().zip(right.iter()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(value: &str) -> Result<Self, Infallible> {
        Ok(Self::new(value))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
