//! An e-mail address: well-formed, in lower case.

use std::{borrow::Cow, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Email(String);

crate::stored_as!(Email(String));

impl Email {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `m***@bahari.id`: enough for its owner to recognise it.
    pub fn masked(&self) -> String {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or_default();
        format!("{}***@{domain}", local.chars().take(1).collect::<String>())
    }
}

impl From<Email> for String {
    fn from(email: Email) -> String {
        email.0
    }
}

impl FromStr for Email {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_lowercase();
        let domain = text.rsplit_once('@').map(|(_, domain)| domain).unwrap_or_default();
        let plausible = text.len() <= 254
            && text.is_ascii()
            && (domain.contains('.') || domain == "localhost")
            && !domain.starts_with('[')
            && text.parse::<lettre::Address>().is_ok();
        if plausible { Ok(Self(text)) } else { Err("is not an e-mail address".into()) }
    }
}

impl TryFrom<String> for Email {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl JsonSchema for Email {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Email".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "email", "maxLength": 254 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_address_has_one_letter_and_the_domain() {
        let masked = |email: &str| email.parse::<Email>().unwrap().masked();
        assert_eq!(masked("made.arta@bahari.id"), "m***@bahari.id");
        assert_eq!(masked("m@bahari.id"), "m***@bahari.id");
    }

    #[test]
    fn addresses_are_lowered_and_rubbish_is_refused() {
        assert_eq!("  Budi@Example.COM ".parse::<Email>().unwrap().as_str(), "budi@example.com");
        for bad in
            ["", "budi", "budi@", "@x.id", "a b@x.id", "a@b", "a@b..id", "a\n@b.id", "a@[1.2.3.4]"]
        {
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }
}
