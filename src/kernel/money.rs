//! Money and rates, in integers only.

use std::{borrow::Cow, fmt, iter::Sum, ops};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Whole rupiah. May be negative (a partner may owe). Overflow panics.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Rupiah(pub i64);

crate::stored_as!(Rupiah(i64));

impl Rupiah {
    pub const ZERO: Self = Self(0);

    /// `self × part ÷ whole`, rounded half up.
    pub fn share(self, part: Self, whole: Self) -> Self {
        self.scaled(part.0, whole.0)
    }

    /// `self × numerator ÷ denominator`, rounded half up.
    fn scaled(self, numerator: i64, denominator: i64) -> Self {
        let exact = i128::from(self.0) * i128::from(numerator);
        let rounded = (2 * exact + i128::from(denominator)).div_euclid(2 * i128::from(denominator));
        Self(i64::try_from(rounded).expect("a share of an amount does not overflow"))
    }
}

impl ops::Add for Rupiah {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("amount overflow"))
    }
}

impl ops::Sub for Rupiah {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("amount overflow"))
    }
}

impl ops::Neg for Rupiah {
    type Output = Self;

    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl ops::Mul<i64> for Rupiah {
    type Output = Self;

    fn mul(self, times: i64) -> Self {
        Self(self.0.checked_mul(times).expect("amount overflow"))
    }
}

impl Sum for Rupiah {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, ops::Add::add)
    }
}

/// Indonesian format: `Rp 1.250.000`.
impl fmt::Display for Rupiah {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.unsigned_abs().to_string();
        let first = (digits.len() + 2) % 3 + 1;
        let (head, tail) = digits.split_at(first);
        write!(f, "{}Rp {head}", if self.0 < 0 { "-" } else { "" })?;
        tail.as_bytes()
            .chunks(3)
            .try_for_each(|three| write!(f, ".{}", std::str::from_utf8(three).unwrap_or_default()))
    }
}

impl JsonSchema for Rupiah {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rupiah".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "format": "int64", "description": "Whole rupiah." })
    }
}

/// A percentage from 0 to 100 with at most two decimals, kept in basis points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(i32);

crate::stored_as!(Rate(i32));

impl Rate {
    const WHOLE: i64 = 10_000;

    pub fn basis_points(points: i32) -> Option<Self> {
        (0..=Self::WHOLE as i32).contains(&points).then_some(Self(points))
    }

    /// From a percentage; `None` with more than two decimals or out of range.
    pub fn percent(percent: f64) -> Option<Self> {
        let points = percent * 100.0;
        let rounded = points.round();
        ((points - rounded).abs() < 1e-6 && (0.0..=10_000.0).contains(&rounded))
            .then_some(Self(rounded as i32))
    }

    pub fn points(self) -> i32 {
        self.0
    }

    /// The share of an amount, rounded down.
    pub fn floor_of(self, amount: Rupiah) -> Rupiah {
        let exact = i128::from(amount.0) * i128::from(self.0);
        let down = exact.div_euclid(i128::from(Self::WHOLE));
        Rupiah(i64::try_from(down).expect("a share of an amount does not overflow"))
    }

    /// The share of an amount, rounded half up.
    pub fn of(self, amount: Rupiah) -> Rupiah {
        amount.scaled(self.0.into(), Self::WHOLE)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 100 {
            0 => serializer.serialize_i32(self.0 / 100),
            _ => serializer.serialize_f64(f64::from(self.0) / 100.0),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::percent(f64::deserialize(deserializer)?)
            .ok_or_else(|| de::Error::custom("is not a percentage with at most two decimals"))
    }
}

impl JsonSchema for Rate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "minimum": 0, "maximum": 100, "multipleOf": 0.01,
            "description": "Percent, at most two decimals.",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::schema;

    proptest! {
        #[test]
        fn a_share_and_its_rest_make_the_whole(amount in 0_i64..1_000_000_000_000, points in 0..=10_000) {
            let share = Rate(points).of(Rupiah(amount));
            prop_assert!(share >= Rupiah::ZERO && share <= Rupiah(amount));
            let double_error = (2 * share.0 * 10_000 - 2 * amount * i64::from(points)).abs();
            prop_assert!(double_error <= 10_000, "off by more than half a rupiah");
        }
    }

    #[test]
    fn money_is_written_in_groups_of_three() {
        let written = [0, 5, 999, 1_000, 50_000, 1_250_000, -12_345].map(|n| Rupiah(n).to_string());
        let expected =
            ["Rp 0", "Rp 5", "Rp 999", "Rp 1.000", "Rp 50.000", "Rp 1.250.000", "-Rp 12.345"];
        assert_eq!(written, expected);
    }

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!(Rate(50).of(Rupiah(100)), Rupiah(1));
        assert_eq!(Rate(49).of(Rupiah(100)), Rupiah(0));
        assert_eq!(Rate(1_100).of(Rupiah(150_000)), Rupiah(16_500));
    }

    #[test]
    fn every_rate_survives_json_and_its_schema() {
        for points in 0..=10_000 {
            let rate = Rate::basis_points(points).unwrap();
            let json = serde_json::to_value(rate).unwrap();
            assert!(schema::faults::<Rate>(&json).is_empty(), "{json}");
            assert_eq!(serde_json::from_value::<Rate>(json).unwrap(), rate);
        }
        for bad in ["100.01", "-1", "2.555", "0.001"] {
            let json: serde_json::Value = serde_json::from_str(bad).unwrap();
            assert!(!schema::faults::<Rate>(&json).is_empty(), "{bad}");
            assert!(serde_json::from_value::<Rate>(json).is_err(), "{bad}");
        }
    }
}
