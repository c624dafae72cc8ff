//! Confidential numbers: identity and bank account numbers.
//!
//! They are serialised masked unless explicitly revealed, so a handler that forgets the check hides
//! them.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Confidential {
    number: String,
    revealed: bool,
}

impl From<String> for Confidential {
    fn from(number: String) -> Self {
        Self::new(number)
    }
}

impl Confidential {
    pub fn new(number: impl Into<String>) -> Self {
        Self { number: number.into(), revealed: false }
    }

    /// Serialises the full number if `may`.
    pub fn revealed_if(self, may: bool) -> Self {
        Self { revealed: may, ..self }
    }

    /// Whether a tax number (NPWP) is that of a person: then its 16 digits are the NIK, while a business
    /// has 15, or 16 with a leading zero.
    pub fn is_npwp_of_person(&self) -> bool {
        self.number.len() == 16 && !self.number.starts_with('0')
    }

    /// The full number, for encryption and comparison.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// `************1234`; fewer digits remain of a short number.
    fn masked(&self) -> String {
        let length = self.number.chars().count();
        let hidden = length - (length / 2).min(4);
        self.number.chars().enumerate().map(|(at, c)| if at < hidden { '*' } else { c }).collect()
    }
}

/// Equality ignores whether the number is revealed.
impl PartialEq for Confidential {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl Serialize for Confidential {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.revealed {
            true => serializer.serialize_str(&self.number),
            false => serializer.serialize_str(&self.masked()),
        }
    }
}

impl JsonSchema for Confidential {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Confidential".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Masked for those who may not read it.",
            "examples": ["************1234"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_revealed_is_masked() {
        let masked = |number: &str| serde_json::to_value(Confidential::new(number)).unwrap();
        assert_eq!(masked("5171012304850001"), "************0001");
        assert_eq!(masked("7712345678"), "******5678");
        assert_eq!(masked("12345"), "***45");
        assert_eq!(masked(""), "");
        let number = Confidential::new("7712345678");
        assert_eq!(format!("{:?}", number.clone().revealed_if(true)), "******5678");
        assert_eq!(serde_json::to_value(number.revealed_if(true)).unwrap(), "7712345678");
    }
}
