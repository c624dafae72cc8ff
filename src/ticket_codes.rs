//! Signed ticket codes, which can be verified offline. Format: `docs/tickets.md`.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use quick_cache::sync::Cache;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        secret::Secret,
    },
};

/// Format prefix, which is signed too, so that no other signature of the key can be used as a
/// ticket.
const FORMAT: &str = "DMT1";
/// Key id, sailing, booking, passenger index.
const BODY: usize = 4 + 16 + 16 + 2;
const SIGNATURE: usize = 64;
/// DER prefix of an Ed25519 public key (SubjectPublicKeyInfo).
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Content of a ticket: a passenger of a booking on a sailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub sailing_id: Uuid,
    pub booking_id: Uuid,
    /// Index of the passenger, from 0.
    pub place: u16,
}

/// How many codes are kept; about 3 MB.
const KEPT_CODES: usize = 8_192;

/// The signing key and earlier keys.
pub struct TicketKeys {
    current: Key,
    old: Vec<Key>,
    /// Codes that were signed before. A signature takes a third of the time of a booking's lookup, and
    /// the same ticket always has the same one.
    codes: Cache<Ticket, Arc<str>>,
}

impl App {
    /// The keys that sign and check tickets.
    pub fn ticket_keys(&self) -> &TicketKeys {
        self.domain()
    }
}

struct Key {
    pair: Ed25519KeyPair,
    id: [u8; 4],
}

impl Key {
    fn new(secret: &Secret) -> Result<Self, String> {
        let seed = Sha256::new().chain_update("ticket:").chain_update(secret.reveal()).finalize();
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|why| why.to_string())?;
        let digest = Sha256::digest(pair.public_key());
        Ok(Self { pair, id: [digest[0], digest[1], digest[2], digest[3]] })
    }

    fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }
}

/// A public key that verifies tickets.
#[derive(Serialize, JsonSchema)]
pub struct TicketKey {
    /// Key id, as contained in ticket codes.
    pub key_id: String,
    /// The 32 bytes of the key in base64.
    pub public_key: String,
    pub pem: String,
}

impl TicketKeys {
    pub fn new(secret: &Secret, old: &[Secret]) -> Result<Self, String> {
        let old = old.iter().map(Key::new).collect::<Result<_, _>>()?;
        Ok(Self { current: Key::new(secret)?, old, codes: Cache::new(KEPT_CODES) })
    }

    /// Public keys, the current one first.
    pub fn public(&self) -> Vec<TicketKey> {
        let shown = |key: &Key| {
            let spki = BASE64_STANDARD.encode([&SPKI, key.public()].concat());
            TicketKey {
                key_id: hex(&key.id),
                public_key: BASE64_STANDARD.encode(key.public()),
                pem: format!("-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n"),
            }
        };
        std::iter::once(&self.current).chain(&self.old).map(shown).collect()
    }

    /// The code of a ticket.
    pub fn sign(&self, ticket: Ticket) -> String {
        if let Some(code) = self.codes.get(&ticket) {
            return code.as_ref().to_owned();
        }
        let code = self.signed_code(ticket);
        self.codes.insert(ticket, code.as_str().into());
        code
    }

    fn signed_code(&self, ticket: Ticket) -> String {
        let mut bytes = [
            self.current.id.as_slice(),
            ticket.sailing_id.as_bytes(),
            ticket.booking_id.as_bytes(),
            &ticket.place.to_be_bytes(),
        ]
        .concat();
        let signature = self.current.pair.sign(&signed(&bytes));
        bytes.extend_from_slice(signature.as_ref());
        format!("{FORMAT}{}", hex(&bytes))
    }

    /// The content of a code; `None` if the signature is invalid.
    pub fn read(&self, code: &str) -> Option<Ticket> {
        let code = code.trim().to_ascii_uppercase();
        let bytes = unhex(code.strip_prefix(FORMAT)?)?;
        let (body, signature) = bytes.split_at_checked(BODY)?;
        let signature: &[u8; SIGNATURE] = signature.try_into().ok()?;
        let mut keys = std::iter::once(&self.current).chain(&self.old);
        let key = keys.find(|key| body.starts_with(&key.id))?;
        UnparsedPublicKey::new(&ED25519, key.public()).verify(&signed(body), signature).ok()?;
        Some(Ticket {
            sailing_id: Uuid::from_slice(&body[4..20]).ok()?,
            booking_id: Uuid::from_slice(&body[20..36]).ok()?,
            place: u16::from_be_bytes([body[36], body[37]]),
        })
    }
}

fn signed(body: &[u8]) -> Vec<u8> {
    [FORMAT.as_bytes(), body].concat()
}

/// Upper case, which QR codes encode in alphanumeric mode.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| DIGITS[digit as usize] as char);
    bytes.iter().flat_map(digits).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

/// Converts an index; bookings have at most 500 passengers.
pub fn place(index: usize) -> Result<u16> {
    u16::try_from(index).map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(secret: &str, old: &[&str]) -> TicketKeys {
        let old: Vec<_> = old.iter().map(|old| Secret::new(*old)).collect();
        TicketKeys::new(&Secret::new(secret), &old).unwrap()
    }

    proptest! {
        #[test]
        fn a_code_says_what_was_signed_and_nothing_else_is_one(
            sailing in any::<u128>(), booking in any::<u128>(), place in any::<u16>(),
            at in 0_usize..208, by in 1_u8..16,
        ) {
            let (sailing_id, booking_id) = (Uuid::from_u128(sailing), Uuid::from_u128(booking));
            let ticket = Ticket { sailing_id, booking_id, place };
            let ours = keys("ours", &[]);
            let code = ours.sign(ticket);
            prop_assert_eq!(code.len(), 208);
            prop_assert_eq!(ours.read(&code), Some(ticket));
            prop_assert_eq!(ours.read(&format!(" {}\n", code.to_lowercase())), Some(ticket));
            prop_assert_eq!(keys("theirs", &[]).read(&code), None);
            // One character changed.
            let mut bytes = code.clone().into_bytes();
            let digit = (bytes[at] as char).to_digit(16);
            bytes[at] = match digit {
                Some(digit) => format!("{:X}", digit as u8 ^ by).as_bytes()[0],
                None => b'0',
            };
            let changed = String::from_utf8(bytes).unwrap();
            if changed != code {
                prop_assert_eq!(ours.read(&changed), None);
            }
        }

        #[test]
        fn rubbish_is_no_code(rubbish in ".{0,300}") {
            prop_assert_eq!(keys("ours", &[]).read(&rubbish), None);
            prop_assert_eq!(keys("ours", &[]).read(&format!("{FORMAT}{rubbish}")), None);
        }
    }

    #[test]
    fn a_new_key_still_knows_what_the_old_one_signed() {
        let ticket = Ticket { sailing_id: Uuid::max(), booking_id: Uuid::nil(), place: 7 };
        let code = keys("old", &[]).sign(ticket);
        assert_eq!(keys("new", &["old"]).read(&code), Some(ticket));
        assert_eq!(keys("new", &[]).read(&code), None);
        assert_eq!(keys("new", &["old"]).public().len(), 2);
    }
}
