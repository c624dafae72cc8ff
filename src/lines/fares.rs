//! Fares. Pure functions; money is whole rupiah.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{
    lang::{Text, text},
    money::Rupiah,
};

crate::string_enum! {
    pub enum Category {
        Adult = "adult",
        Child = "child",
        Infant = "infant",
        Senior = "senior",
        Student = "student",
    }
}

crate::string_enum! {
    pub enum Residency { Any = "any", Domestic = "domestic", Foreign = "foreign" }
}

/// The highest age; a fare up to it has no upper limit.
pub const OLDEST: i32 = 120;

/// Percent of the sailing's price, or a fixed amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FarePrice {
    Percent(i32),
    Amount(Rupiah),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fare {
    /// The category, or `category_residency` unless the residency is `any`.
    pub key: String,
    pub category: Category,
    pub residency: Residency,
    pub min_age: i32,
    pub max_age: i32,
    pub price: FarePrice,
    /// A passenger without a seat travels with an adult.
    pub takes_seat: bool,
    /// Whether a passenger has to state an identity number.
    pub id_required: bool,
}

impl Fare {
    /// The fares of a line that has none of its own: everybody pays the price of the sailing.
    pub fn standard() -> Vec<Self> {
        vec![Self {
            key: key(Category::Adult, Residency::Any),
            category: Category::Adult,
            residency: Residency::Any,
            min_age: 0,
            max_age: OLDEST,
            price: FarePrice::Percent(100),
            takes_seat: true,
            id_required: false,
        }]
    }

    /// What it costs on a sailing of this price.
    pub fn of(&self, price: Rupiah) -> Rupiah {
        match self.price {
            FarePrice::Percent(percent) => price.share(Rupiah(percent.into()), Rupiah(100)),
            FarePrice::Amount(amount) => amount,
        }
    }

    /// Whether somebody of this age may have it. The lowest and the highest age are no limits.
    pub fn admits(&self, age: i32) -> bool {
        (self.min_age == 0 || age >= self.min_age)
            && (self.max_age == OLDEST || age <= self.max_age)
    }
}

pub fn key(category: Category, residency: Residency) -> String {
    match residency {
        Residency::Any => category.to_string(),
        residency => format!("{category}_{residency}"),
    }
}

/// The name of a fare on tickets and manifests.
pub fn fare_name(key: &str) -> Text {
    let (category, residency) = key.split_once('_').unwrap_or((key, ""));
    let category = match category {
        "adult" => text("Adult", "Dewasa"),
        "child" => text("Child", "Anak"),
        "infant" => text("Infant", "Bayi"),
        "senior" => text("Senior", "Lansia"),
        "student" => text("Student", "Pelajar"),
        other => Text::new(other.to_owned(), other.to_owned()),
    };
    let residency = match residency {
        "domestic" => text("domestic", "domestik"),
        "foreign" => text("foreign", "mancanegara"),
        _ => return category,
    };
    let both = |lang| format!("{} ({})", category.say(lang), residency.say(lang));
    Text::new(both(crate::kernel::lang::Lang::En), both(crate::kernel::lang::Lang::Id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fare(price: FarePrice) -> Fare {
        Fare { price, ..Fare::standard().remove(0) }
    }

    #[test]
    fn a_percentage_is_rounded_half_up() {
        let price = |percent, of| fare(FarePrice::Percent(percent)).of(Rupiah(of)).0;
        assert_eq!(price(100, 150_001), 150_001);
        assert_eq!(price(75, 150_002), 112_502, "112,501.5");
        assert_eq!(price(75, 150_001), 112_501, "112,500.75");
        assert_eq!(price(33, 1_001), 330, "330.33");
        assert_eq!(price(0, 150_000), 0);
        assert_eq!(fare(FarePrice::Amount(Rupiah(5_000))).of(Rupiah(150_000)), Rupiah(5_000));
    }

    #[test]
    fn the_lowest_and_highest_age_are_no_limits() {
        let standard = fare(FarePrice::Percent(100));
        assert!(standard.admits(-1) && standard.admits(130));
        let child = Fare { min_age: 3, max_age: 11, ..standard };
        let admitted: Vec<_> = (0..20).filter(|age| child.admits(*age)).collect();
        assert_eq!(admitted, (3..=11).collect::<Vec<_>>());
    }

    #[test]
    fn keys_and_names_follow_category_and_residency() {
        assert_eq!(key(Category::Infant, Residency::Any), "infant");
        assert_eq!(key(Category::Adult, Residency::Foreign), "adult_foreign");
        let name = fare_name("adult_foreign");
        assert_eq!(name.say(crate::kernel::lang::Lang::En), "Adult (foreign)");
        assert_eq!(fare_name("infant").say(crate::kernel::lang::Lang::Id), "Bayi");
    }
}
