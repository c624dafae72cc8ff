//! A phone number in E.164. Without a country code it is Indonesian.

use std::{
    borrow::Cow,
    cell::RefCell,
    str::FromStr,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Phone(String);

crate::stored_as!(Phone(String));

impl Phone {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From a JSON string or integer.
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::String(text) => Self::known(text),
            serde_json::Value::Number(number) => Self::known(&number.as_u64()?.to_string()),
            _ => None,
        }
    }

    /// Caches the last number: parsing is slow, and each number is parsed by the schema and by its
    /// field.
    fn known(text: &str) -> Option<Self> {
        thread_local! {
            static LAST: RefCell<Option<(String, Option<Phone>)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some((same, phone)) if same == text => phone.clone(),
            _ => {
                let phone = text.parse().ok();
                *last = Some((text.to_owned(), phone.clone()));
                phone
            }
        })
    }
}

/// Whether the metadata of numbering plans is loaded. Loading is slow and blocking; the first call
/// starts it on its own thread.
pub fn is_loaded() -> bool {
    static LOADED: AtomicBool = AtomicBool::new(false);
    static LOADING: Once = Once::new();
    LOADING.call_once(|| {
        std::thread::spawn(|| {
            let _ = "+6281234567890".parse::<Phone>();
            LOADED.store(true, Ordering::Release);
        });
    });
    LOADED.load(Ordering::Acquire)
}

impl From<Phone> for String {
    fn from(phone: Phone) -> String {
        phone.0
    }
}

impl FromStr for Phone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || "is not a telephone number".to_owned();
        let text = text.trim();
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-() .".contains(&b));
        if !plain || text.len() > 32 || text.rfind('+').is_some_and(|at| at > 0) {
            return Err(refused());
        }
        // `62812…` is a number with country code and without the plus sign.
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let full = match text.starts_with('+') || (digits.starts_with("62") && digits.len() > 10) {
            true => format!("+{digits}"),
            false => digits,
        };
        let number =
            phonenumber::parse(Some(phonenumber::country::ID), full).map_err(|_| refused())?;
        if !phonenumber::is_valid(&number) {
            return Err(refused());
        }
        Ok(Self(number.format().mode(phonenumber::Mode::E164).to_string()))
    }
}

impl<'de> Deserialize<'de> for Phone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_json(&value).ok_or_else(|| de::Error::custom("is not a telephone number"))
    }
}

impl JsonSchema for Phone {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Phone".into()
    }

    /// `x-phone` is a custom keyword; see `schema`.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer"],
            "x-phone": true,
            "examples": ["+6281234567890", 81234567890_u64],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_indonesian_number_is_one_number() {
        for same in [
            "81234567890",
            "6281234567890",
            "081234567890",
            "+62 812-3456-7890",
            "(0812) 3456.7890",
        ] {
            assert_eq!(same.parse::<Phone>().unwrap().as_str(), "+6281234567890", "{same}");
        }
        let number = serde_json::json!(81234567890_u64);
        assert_eq!(Phone::from_json(&number).unwrap().as_str(), "+6281234567890");
    }

    #[test]
    fn foreign_numbers_are_welcome_and_rubbish_is_not() {
        assert_eq!("+61 412 345 678".parse::<Phone>().unwrap().as_str(), "+61412345678");
        assert_eq!("+6221 3456789".parse::<Phone>().unwrap().as_str(), "+62213456789");
        for bad in
            ["", "0", "12", "+", "+1", "call me", "0812 3456 78901234567", "08+1234567", "-1"]
        {
            assert!(bad.parse::<Phone>().is_err(), "{bad:?}");
        }
        assert!(Phone::from_json(&serde_json::json!(-81234567890_i64)).is_none());
        assert!(Phone::from_json(&serde_json::json!(8.5)).is_none());
    }
}
