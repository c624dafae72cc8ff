//! Names of harbours: stored as written, matched without case, accents and spaces.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::kernel::text::{Line, ONE_LINE, SOMETHING};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HarbourName(Line<80>);

impl HarbourName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn key(&self) -> String {
        key(&self.0)
    }
}

/// Normalised key of a harbour name.
pub fn key(name: &str) -> String {
    let plain: Cow<str> = match name.is_ascii() {
        true => name.into(),
        false => name.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>().into(),
    };
    let words: Vec<_> = plain.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

impl JsonSchema for HarbourName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HarbourName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 2,
            "maxLength": 80,
            "pattern": SOMETHING,
            "allOf": [{ "pattern": ONE_LINE }],
            "examples": ["Sanur", "Nusa Penida"],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_harbour_has_one_key() {
        for same in ["Nusa Penida", " nusa  PENIDA ", "Nusa\u{a0}Penida", "Núsa Penidá"] {
            assert_eq!(key(same), "nusa penida", "{same}");
        }
        assert_ne!(key("Padang Bai"), key("Padangbai"));
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_itself(name in ".{0,40}") {
            let once = key(&name);
            prop_assert_eq!(key(&once), once);
        }
    }
}
