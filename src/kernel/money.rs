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

/// The part of a price that a tax is charged on: 1, or a fraction such as `11/12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseFactor {
    pub numerator: i32,
    pub denominator: i32,
}

impl Default for BaseFactor {
    fn default() -> Self {
        Self { numerator: 1, denominator: 1 }
    }
}

impl BaseFactor {
    /// In lowest terms. `None` unless it is above 0 and at most 1, in numbers up to a million.
    pub fn new(numerator: i32, denominator: i32) -> Option<Self> {
        let is_valid = numerator > 0 && denominator >= numerator && denominator <= 1_000_000;
        let (mut common, mut rest) = (denominator, numerator);
        while is_valid && rest != 0 {
            (common, rest) = (rest, common % rest);
        }
        is_valid.then(|| Self { numerator: numerator / common, denominator: denominator / common })
    }

    pub fn is_whole(&self) -> bool {
        self.numerator == self.denominator
    }

    /// A tax at this rate, on this part of the amount, rounded half up once.
    pub fn tax(self, rate: Rate, amount: Rupiah) -> Rupiah {
        let numerator = i64::from(rate.0) * i64::from(self.numerator);
        amount.scaled(numerator, Rate::WHOLE * i64::from(self.denominator))
    }
}

impl fmt::Display for BaseFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_whole() {
            true => f.write_str("1"),
            false => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl std::str::FromStr for BaseFactor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let parsed = numerator.trim().parse().ok().zip(denominator.trim().parse().ok());
        let factor = parsed.and_then(|(numerator, denominator)| Self::new(numerator, denominator));
        factor.ok_or("is not 1 or a fraction below it, such as 11/12")
    }
}

impl Serialize for BaseFactor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BaseFactor {
    /// A fraction as text, or a number: with at most six decimals, or next to a fraction of small numbers.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        let factor = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.parse(),
            Written::Number(number) => {
                let factor = [1_000_000].into_iter().chain(1..=100).find_map(|denominator| {
                    let numerator = (number * f64::from(denominator)).round();
                    let is_near = (numerator / f64::from(denominator) - number).abs() < 1e-9;
                    is_near.then(|| Self::new(numerator as i32, denominator)).flatten()
                });
                factor.ok_or("is not 1 or a fraction below it, such as 11/12")
            }
        };
        factor.map_err(de::Error::custom)
    }
}

impl JsonSchema for BaseFactor {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "BaseFactor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number"], "pattern": "^[0-9]{1,7}(/[0-9]{1,7})?$",
            "exclusiveMinimum": 0, "maximum": 1,
            "description": "The part of the price that is taxed: 1, or a fraction such as 11/12.",
        })
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

    proptest! {
        #[test]
        fn a_tax_on_a_part_of_the_price_is_rounded_once(
            amount in 0_i64..1_000_000_000_000, points in 0..=10_000,
            numerator in 1_i32..=1_000_000, more in 0_i32..=1_000_000,
        ) {
            let denominator = numerator.saturating_add(more).min(1_000_000);
            let factor = BaseFactor::new(numerator, denominator).unwrap();
            let tax = i128::from(factor.tax(Rate(points), Rupiah(amount)).0);
            let whole = 10_000 * i128::from(denominator);
            let exact = i128::from(amount) * i128::from(points) * i128::from(numerator);
            prop_assert!((2 * (tax * whole - exact)).abs() <= whole, "off by more than half a rupiah");
            prop_assert_eq!(factor.to_string().parse(), Ok(factor));
            let json = serde_json::to_value(factor).unwrap();
            prop_assert!(schema::faults::<BaseFactor>(&json).is_empty(), "{}", json);
        }
    }

    #[test]
    fn a_base_factor_is_a_fraction_or_a_number() {
        let read = |json: &str| serde_json::from_str::<BaseFactor>(json).ok();
        let fraction = |numerator, denominator| Some(BaseFactor { numerator, denominator });
        assert_eq!(read("\"11/12\""), fraction(11, 12));
        assert_eq!(read("\"22/24\""), fraction(11, 12));
        assert_eq!(read("0.75"), fraction(3, 4));
        assert_eq!(read("0.916667"), fraction(916_667, 1_000_000));
        assert_eq!(read("0.9166666666666666"), fraction(11, 12));
        assert_eq!(read("1"), Some(BaseFactor::default()));
        assert_eq!(read("\"1\""), Some(BaseFactor::default()));
        for bad in
            ["\"12/11\"", "\"0/5\"", "\"5/0\"", "\"-1/2\"", "\"\"", "0", "-1", "1.1", "1e300"]
        {
            assert_eq!(read(bad), None, "{bad}");
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
