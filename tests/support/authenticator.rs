//! An authenticator app.

use chrono::{DateTime, Utc};
use ring::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, Key, sign};
use serde_json::json;

use super::world::{Answer, PASSWORD, Someone, World};

pub struct Authenticator {
    key: Vec<u8>,
    pub secret: String,
    pub recovery_codes: Vec<String>,
}

impl Authenticator {
    pub fn new(secret: &str) -> Self {
        let key = data_encoding::BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
        Self { key, secret: secret.to_owned(), recovery_codes: Vec::new() }
    }

    /// The code that it shows at this time.
    pub fn code(&self, at: DateTime<Utc>) -> String {
        let key = Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.key);
        let tag = sign(&key, &(at.timestamp() / 30).to_be_bytes());
        let tag = tag.as_ref();
        let offset = usize::from(tag[19] & 15);
        let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap());
        format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
    }

    /// Six digits that it shows at no time near this one.
    pub fn wrong_code(&self, at: DateTime<Utc>) -> String {
        let near = [-60, -30, 0, 30, 60].map(|by| self.code(at + chrono::TimeDelta::seconds(by)));
        (0..).map(|n| format!("{n:06}")).find(|code| !near.contains(code)).unwrap()
    }
}

impl World {
    /// Sets up a second factor. The code of this moment is used up.
    pub async fn enrols(&self, who: &Someone) -> Authenticator {
        let body = json!({ "current_password": PASSWORD });
        let begun = self.post("/user/me/totp", body).by(who).send().await.ok();
        let mut app = Authenticator::new(begun["secret"].as_str().unwrap());
        let code = json!({ "code": app.code(self.now()) });
        let done = self.post("/user/me/totp/confirm", code).by(who).send().await.ok();
        let codes = done["recovery_codes"].as_array().unwrap().iter();
        app.recovery_codes = codes.map(|code| code.as_str().unwrap().to_owned()).collect();
        app
    }

    pub async fn login_with_code(&self, email: &str, code: &str) -> Answer {
        let body = json!({ "email": email, "password": PASSWORD, "role": "any", "code": code });
        self.post("/v1/auth/login", body).send().await
    }
}
