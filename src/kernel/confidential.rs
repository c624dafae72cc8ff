//! Numbers that not everyone may read: identity and bank account numbers.
//!
//! Masked wherever they are written out, unless they were revealed on purpose: an answer that
//! forgets to ask who is reading hides them.

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

    /// For whoever may read it.
    pub fn revealed_if(self, may: bool) -> Self {
        Self { revealed: may, ..self }
    }

    /// The number itself: to seal it or to compare it, not to show it.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// `************1234`; of a short number even less is left.
    fn masked(&self) -> String {
        let length = self.number.chars().count();
        let hidden = length - (length / 2).min(4);
        self.number.chars().enumerate().map(|(at, c)| if at < hidden { '*' } else { c }).collect()
    }
}

/// The same number is the same, whoever is reading.
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
        let shown = |number: &str| serde_json::to_value(Confidential::new(number)).unwrap();
        assert_eq!(shown("5171012304850001"), "************0001");
        assert_eq!(shown("7712345678"), "******5678");
        assert_eq!(shown("12345"), "***45");
        assert_eq!(shown(""), "");
        let number = Confidential::new("7712345678");
        assert_eq!(format!("{:?}", number.clone().revealed_if(true)), "******5678");
        assert_eq!(serde_json::to_value(number.revealed_if(true)).unwrap(), "7712345678");
    }
}
