//! A field of an update: kept, cleared (null) or set, as in a JSON merge patch.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    /// The value after the update.
    pub fn over<U: From<T>>(self, old: Option<U>) -> Option<U> {
        match self {
            Self::Keep => old,
            Self::Clear => None,
            Self::Set(new) => Some(new.into()),
        }
    }
}

/// Only called for fields that are present; others keep the default.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    struct Change {
        name: Patch<String>,
    }

    #[test]
    fn a_missing_field_keeps_null_clears_and_a_value_sets() {
        let after = |change| {
            let change: Change = serde_json::from_value(change).unwrap();
            change.name.over(Some("old".to_owned()))
        };
        assert_eq!(after(json!({})), Some("old".into()));
        assert_eq!(after(json!({ "name": null })), None);
        assert_eq!(after(json!({ "name": "new" })), Some("new".into()));
    }
}
