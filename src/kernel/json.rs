//! Untrusted JSON bodies, parsed within a memory budget.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How many objects and arrays are kept. The largest body of an honest client has a few thousand. A
/// one-megabyte body can hold 300,000, and each object takes some 600 bytes once it is parsed.
const MAX_CONTAINERS: usize = 20_000;

/// A parsed body. When it has more than [`MAX_CONTAINERS`] objects and arrays, the later ones are
/// replaced by `null` and it is `truncated`.
pub struct Parsed {
    pub value: Value,
    pub truncated: bool,
}

pub fn parse(bytes: &[u8]) -> serde_json::Result<Parsed> {
    let mut left = MAX_CONTAINERS;
    let mut truncated = false;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let builder = Builder { left: &mut left, truncated: &mut truncated };
    let value = builder.deserialize(&mut json)?;
    json.end()?;
    Ok(Parsed { value, truncated })
}

/// Builds a value like `Value::deserialize` does, with a limit.
struct Builder<'a> {
    left: &'a mut usize,
    truncated: &'a mut bool,
}

impl Builder<'_> {
    fn reborrow(&mut self) -> Builder<'_> {
        Builder { left: self.left, truncated: self.truncated }
    }

    /// Whether one more object or array is within the limit.
    fn take(&mut self) -> bool {
        let within = *self.left > 0;
        *self.left = self.left.saturating_sub(1);
        *self.truncated |= !within;
        within
    }
}

impl<'de> DeserializeSeed<'de> for Builder<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Builder<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Value, A::Error> {
        if !self.take() {
            while sequence.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self.reborrow())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        if !self.take() {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            object.insert(key, entries.next_value_seed(self.reborrow())?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Any JSON value; every number is one that its text stands for.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e6..1e6).prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_within_the_limit_is_kept_whole(value in any_json()) {
            let parsed = parse(value.to_string().as_bytes()).unwrap();
            prop_assert_eq!(parsed.value, value);
            prop_assert!(!parsed.truncated);
        }
    }

    #[test]
    fn containers_above_the_limit_are_left_out() {
        let of =
            |objects: usize| format!(r#"{{"a":[{}7],"b":[1]}}"#, r#"{"c":[]},"#.repeat(objects));
        let parsed = parse(of(9_998).as_bytes()).unwrap();
        assert!(!parsed.truncated);
        let parsed = parse(of(50_000).as_bytes()).unwrap();
        assert!(parsed.truncated);
        let items = parsed.value["a"].as_array().unwrap();
        assert_eq!(
            (items.len(), &items[9_998], &items[9_999]),
            (50_001, &json!({ "c": [] }), &Value::Null)
        );
        assert_eq!(items[50_000], 7);
        assert_eq!(parsed.value["b"], Value::Null);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\"}", "1 2", "nul", &"[".repeat(200), "\"\\ud800\""] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let beyond = format!("[{}{{\"a\":[}}]", "{},".repeat(MAX_CONTAINERS));
        assert!(parse(beyond.as_bytes()).is_err());
    }
}
