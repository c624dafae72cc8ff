//! Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds.
//!
//! Written on `ring`, which the service has already. The crate `totp-rs` would add a second, older
//! generation of `hmac`, `sha1` and `sha2`, and further packages, for the few lines of `code`.

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use fast_qr::{ECL, QRBuilder, convert::svg::SvgBuilder};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ring::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, Key, sign};

use crate::kernel::{
    error::{Error, Result},
    secret::Secret,
};

const STEP_SECONDS: i64 = 30;
/// Clocks may differ by this many steps, in either direction.
const SKEW: i64 = 1;
const ISSUER: &str = "Dermaga";

/// A shared secret of 160 bits, as RFC 4226 recommends.
pub struct TotpSecret([u8; 20]);

impl TotpSecret {
    pub fn fresh() -> Self {
        Self(rand::random())
    }

    pub fn parse(base32: &str) -> Result<Self> {
        let bytes = BASE32_NOPAD.decode(base32.as_bytes()).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Error::internal("a stored TOTP secret is not valid"))
    }

    /// As it is stored (encrypted) and typed into an authenticator app.
    pub fn base32(&self) -> String {
        BASE32_NOPAD.encode(&self.0)
    }

    /// The step of a code that is valid now. If codes of several steps are equal, the latest.
    pub fn step_of(&self, code: &str, now: DateTime<Utc>) -> Option<i64> {
        let current = now.timestamp().div_euclid(STEP_SECONDS);
        let mut steps = (current - SKEW..=current + SKEW).rev();
        steps.find(|step| Secret::new(self.code(*step)).is(code))
    }

    /// RFC 4226, section 5.3, with the step as the counter.
    fn code(&self, step: i64) -> String {
        let key = Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = sign(&key, &step.to_be_bytes());
        let digest = tag.as_ref();
        let start = usize::from(digest[digest.len() - 1] & 0x0f);
        let word =
            digest[start..start + 4].iter().fold(0, |word, byte| (word << 8) | u32::from(*byte));
        format!("{:06}", (word & 0x7fff_ffff) % 1_000_000)
    }

    /// The address that authenticator apps read from the QR code.
    pub fn otpauth_url(&self, email: &str) -> String {
        let email = utf8_percent_encode(email, NON_ALPHANUMERIC);
        let secret = self.base32();
        format!(
            "otpauth://totp/{ISSUER}:{email}?secret={secret}&issuer={ISSUER}\
             &algorithm=SHA1&digits=6&period={STEP_SECONDS}"
        )
    }

    pub fn qr_svg(&self, email: &str) -> Result<String> {
        let qr = QRBuilder::new(self.otpauth_url(email)).ecl(ECL::M).build();
        let qr =
            qr.map_err(|_| Error::internal("the otpauth address is too long for a QR code"))?;
        Ok(SvgBuilder::default().to_str(&qr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: TotpSecret = TotpSecret(*b"12345678901234567890");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    /// RFC 6238, appendix B, the last six of its eight digits.
    const VECTORS: [(i64, &str); 6] = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];

    #[test]
    fn codes_are_those_of_the_rfc() {
        for (seconds, code) in VECTORS {
            assert_eq!(RFC.step_of(code, at(seconds)), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn a_code_is_valid_one_step_early_and_one_step_late() {
        let (seconds, code) = VECTORS[3];
        for (skew, valid) in [(-60, false), (-30, true), (0, true), (30, true), (60, false)] {
            assert_eq!(RFC.step_of(code, at(seconds + skew)).is_some(), valid, "{skew}");
        }
        for wrong in ["", "5924", "005925", "0059244", "００５９２４"] {
            assert_eq!(RFC.step_of(wrong, at(seconds)), None, "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_stored_as_base32() {
        assert_eq!(RFC.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let fresh = TotpSecret::fresh();
        assert_eq!(TotpSecret::parse(&fresh.base32()).unwrap().0, fresh.0);
        assert!(TotpSecret::parse("GEZDGNBV").is_err());
    }

    #[test]
    fn an_authenticator_app_reads_the_address() {
        let url = RFC.otpauth_url("wayan+admin@dermaga.test");
        assert_eq!(
            url,
            "otpauth://totp/Dermaga:wayan%2Badmin%40dermaga%2Etest\
             ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Dermaga&algorithm=SHA1&digits=6\
             &period=30"
        );
        let svg = RFC.qr_svg(&"long.address".repeat(20)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    }
}
