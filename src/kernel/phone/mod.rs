//! A phone number in E.164. Without a country code it is Indonesian.

use std::{borrow::Cow, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use plans::Plan;

mod plans;

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
            serde_json::Value::String(text) => text.parse().ok(),
            serde_json::Value::Number(number) => number.as_u64()?.to_string().parse().ok(),
            _ => None,
        }
    }
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
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        // `62812…` is a number with country code and without the plus sign.
        let full = match text.starts_with('+') || (digits.starts_with("62") && digits.len() > 10) {
            true => digits,
            false => format!("{INDONESIA}{digits}"),
        };
        let (plan, national) = Plan::of(&full).ok_or_else(refused)?;
        let exists =
            plan.allows(national) && (plan.calling_code != INDONESIA || is_indonesian(national));
        match exists {
            true => Ok(Self(format!("+{}{national}", plan.calling_code))),
            false => Err(refused()),
        }
    }
}

const INDONESIA: u16 = 62;

/// Most numbers are Indonesian, so more of their typing errors are worth finding, and numbers of other
/// countries without their calling code as well. Indonesian area codes are stable.
fn is_indonesian(national: &str) -> bool {
    let length = national.len();
    match national.as_bytes() {
        // Toll-free numbers.
        [b'8', b'0', b'0', ..] => (8..=10).contains(&length),
        [b'8', b'4', ..] => false,
        [b'8', ..] => (9..=12).contains(&length),
        // Call centres.
        [b'1', b'5', b'0', b'0', ..] => length == 7,
        // Jakarta, Bandung, Semarang and Surabaya.
        [b'2', b'1' | b'2' | b'4', ..] | [b'3', b'1', ..] => (7..=10).contains(&length),
        // Medan.
        [b'6', b'1', b'9', ..] => (7..=11).contains(&length),
        [b'6', b'1', ..] => (7..=10).contains(&length),
        [first, second, third, ..] => {
            (8..=11).contains(&length) && has_area(*first, *second, *third)
        }
        _ => false,
    }
}

/// Whether there is an area code of these three digits.
fn has_area(first: u8, second: u8, third: u8) -> bool {
    let thirds: &[u8] = match (first, second) {
        (b'2', b'3' | b'5') => b"1234",
        (b'2', b'6') => b"0123456789",
        (b'2', b'7') => b"123456",
        (b'2', b'8') => b"0123456789",
        (b'2', b'9') => b"12345678",
        (b'3', b'2' | b'5') => b"12345678",
        (b'3', b'3') => b"1234568",
        (b'3', b'4') => b"123",
        (b'3', b'6') => b"123568",
        (b'3', b'7') => b"0123469",
        (b'3', b'8') => b"0123456789",
        (b'4', b'0') => b"1234589",
        (b'4', b'1') => b"0134789",
        (b'4', b'2') => b"0123678",
        (b'4', b'3') => b"0124568",
        (b'4', b'4') => b"3",
        (b'4', b'5') => b"12378",
        (b'4', b'6') => b"12345",
        (b'4', b'7') => b"134",
        (b'4', b'8') => b"1245",
        (b'5', b'1') => b"123456789",
        (b'5', b'2') => b"25678",
        (b'5', b'3') => b"12456789",
        (b'5', b'4') => b"1234589",
        (b'5', b'5') => b"12346",
        (b'5', b'6') => b"12345678",
        (b'6', b'2' | b'5') => b"0123456789",
        (b'6', b'3') => b"12345679",
        (b'6', b'4') => b"123456",
        (b'7', b'0') => b"2",
        (b'7', b'1' | b'2' | b'5') => b"123456789",
        (b'7', b'3' | b'6') => b"0123456789",
        (b'7', b'4') => b"12345678",
        (b'7', b'7') => b"01236789",
        (b'9', b'0') => b"12",
        (b'9', b'1') => b"01345678",
        (b'9', b'2') => b"0123479",
        (b'9', b'5') => b"125678",
        (b'9', b'6') => b"234679",
        (b'9', b'7') => b"159",
        (b'9', b'8') => b"013456",
        _ => b"",
    };
    thirds.contains(&third)
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_accepted_number_is_e164_and_accepted_again(text in "\\+?[0-9 ()-]{0,20}") {
            if let Ok(phone) = text.parse::<Phone>() {
                let digits = phone.as_str().strip_prefix('+').unwrap();
                prop_assert!((5..=15).contains(&digits.len()), "{phone:?}");
                prop_assert!(digits.bytes().all(|b| b.is_ascii_digit()), "{phone:?}");
                prop_assert_eq!(phone.as_str().parse(), Ok(phone.clone()));
            }
        }
    }

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
    fn fixed_lines_of_indonesia_are_welcome() {
        for (written, number) in [
            ("021 345 6789", "+62213456789"),
            ("0361 751011", "+62361751011"),
            ("(0370) 633 333", "+62370633333"),
            ("061-4567890", "+62614567890"),
            ("0411 321 987", "+62411321987"),
            ("1500 123", "+621500123"),
            ("0800 1 234567", "+628001234567"),
        ] {
            assert_eq!(written.parse::<Phone>().unwrap().as_str(), number, "{written}");
        }
    }

    #[test]
    fn foreign_numbers_are_welcome_and_rubbish_is_not() {
        assert_eq!("+61 412 345 678".parse::<Phone>().unwrap().as_str(), "+61412345678");
        assert_eq!("+6221 3456789".parse::<Phone>().unwrap().as_str(), "+62213456789");
        // The trunk prefix is not part of a British number, but the zero is of an Italian one.
        assert_eq!("+44 (0)20 7946 0958".parse::<Phone>().unwrap().as_str(), "+442079460958");
        assert_eq!("+39 06 6982 1234".parse::<Phone>().unwrap().as_str(), "+390669821234");
        for bad in [
            // Numbers of other countries without their calling code.
            "61412345678",
            "0412 345 678",
            "(415) 555-2671",
            "07911 123456",
            "60123456789",
            "66812345678",
            "34612345678",
            "79161234567",
            "",
            "0",
            "12",
            "+",
            "+1",
            "+0812 3456 7890",
            "+001 415 555 2671",
            "call me",
            "0812 3456 78901234567",
            "08+1234567",
            "-1",
        ] {
            assert!(bad.parse::<Phone>().is_err(), "{bad:?}");
        }
        assert!(Phone::from_json(&serde_json::json!(-81234567890_i64)).is_none());
        assert!(Phone::from_json(&serde_json::json!(8.5)).is_none());
    }
}
