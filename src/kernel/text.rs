//! Trimmed texts with their maximum length in the type. `Line` has no control characters, `Words`
//! may have line breaks; neither may contain NUL.

mod urls;

use std::{borrow::Cow, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

pub use urls::{has_url, without_url};

/// A name: one line, not empty.
pub type Name = Line<120>;
/// A note or a reason; may be empty.
pub type Note = Words<1_000>;
/// A long description; may be empty.
pub type Description = Words<5_000>;

/// One line, not empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Line<const MAX: usize>(String);

/// Any number of lines, may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Words<const MAX: usize>(String);

impl<const MAX: usize> Line<MAX> {
    /// For texts that do not come from a request validated by the schema.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits =
            !text.is_empty() && text.chars().count() <= MAX && !text.chars().any(char::is_control);
        fits.then(|| Self(text.to_owned()))
    }
}

/// Pattern of texts that must not be empty.
pub const SOMETHING: &str = r"\S";
/// Pattern of texts without control characters.
pub const ONE_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

impl<const MAX: usize> JsonSchema for Line<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Line{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": MAX,
            "pattern": SOMETHING,
            "allOf": [{ "pattern": ONE_LINE }],
        })
    }
}

impl<const MAX: usize> JsonSchema for Words<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Words{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX })
    }
}

macro_rules! trimmed {
    ($name:ident) => {
        impl<const MAX: usize> Deref for $name<MAX> {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<const MAX: usize> From<$name<MAX>> for String {
            fn from(text: $name<MAX>) -> String {
                text.0
            }
        }

        impl<'de, const MAX: usize> Deserialize<'de> for $name<MAX> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Ok(Self(match text.trim() {
                    same if same.len() == text.len() => text,
                    trimmed => trimmed.to_owned(),
                }))
            }
        }
    };
}

trimmed!(Line);
trimmed!(Words);
