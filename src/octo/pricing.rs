//! Prices of units (`octo/pricing`). Pure functions: everything is computed for each unit and added up,
//! so that units times price is the total.

use serde_json::{Value, json};

use crate::{
    bookings::TaxAmount,
    kernel::money::{BaseFactor, Rate, Rupiah},
    sailings::BookingType,
    taxes::TaxRate,
};

/// A tax on what is sold.
#[derive(Clone, Debug)]
pub struct Tax {
    name: String,
    rate: Rate,
    base_factor: BaseFactor,
}

impl Tax {
    fn on(&self, amount: Rupiah) -> Rupiah {
        self.base_factor.tax(self.rate, amount)
    }

    /// Those in force that are charged on seats.
    pub fn in_force(taxes: &[TaxRate]) -> Vec<Self> {
        let charged =
            taxes.iter().filter(|tax| tax.applies_to.is_on_sale_of(BookingType::Speedboat));
        charged
            .map(|tax| Self {
                name: tax.name.clone(),
                rate: tax.rate,
                base_factor: tax.base_factor,
            })
            .collect()
    }

    /// Those that were charged.
    pub fn charged(taxes: &[TaxAmount]) -> Vec<Self> {
        let charged = taxes.iter();
        charged
            .map(|tax| Self {
                name: tax.name.clone(),
                rate: tax.rate,
                base_factor: tax.base_factor,
            })
            .collect()
    }
}

/// Units of the same price.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    pub fare: Rupiah,
    pub margin: Rupiah,
    pub count: i32,
}

/// The price of units. `scale` is 100 where amounts have two decimal places.
pub fn pricing(units: &[Units], taxes: &[Tax], scale: i64) -> Value {
    let sum = |of: &dyn Fn(&Units) -> Rupiah| -> i64 {
        units.iter().map(|units| (of(units) * i64::from(units.count)).0 * scale).sum()
    };
    let net_of = |units: &Units| units.fare - units.margin;
    let taxed = |amount: Rupiah| -> Rupiah {
        amount + taxes.iter().map(|tax| tax.on(amount)).sum::<Rupiah>()
    };
    let retail = sum(&|units| taxed(units.fare));
    let included: Vec<_> = taxes
        .iter()
        .map(|tax| {
            let retail = sum(&|units| tax.on(units.fare));
            let net = sum(&|units| tax.on(net_of(units)));
            json!({ "name": tax.name, "original": retail, "retail": retail, "net": net })
        })
        .collect();
    json!({
        "original": retail,
        "retail": retail,
        "net": sum(&|units| taxed(net_of(units))),
        "currency": "IDR",
        "currencyPrecision": if scale == 1 { 0 } else { 2 },
        "includedTaxes": included,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tax(points: i32) -> Tax {
        Tax {
            name: "VAT".into(),
            rate: Rate::basis_points(points).unwrap(),
            base_factor: BaseFactor::default(),
        }
    }

    #[test]
    fn a_unit_has_a_retail_and_a_net_price() {
        let unit = Units { fare: Rupiah(150_000), margin: Rupiah(15_000), count: 2 };
        let price = pricing(&[unit], &[tax(1_100)], 1);
        assert_eq!(price["retail"], 333_000);
        assert_eq!(price["net"], 299_700);
        assert_eq!(price["includedTaxes"][0]["net"], 29_700);
        assert_eq!(pricing(&[unit], &[], 100)["net"], 27_000_000);
    }

    proptest! {
        #[test]
        fn units_times_price_is_the_total(
            units in prop::collection::vec((0..2_000_000i64, 0..3_000i32, 1..9i32), 1..5),
            points in 0..2_000i32,
        ) {
            let units: Vec<_> = units.iter().map(|(fare, rate, count)| Units {
                fare: Rupiah(*fare),
                margin: Rate::basis_points(*rate).unwrap().of(Rupiah(*fare)),
                count: *count,
            }).collect();
            let taxes = [tax(points), tax(250)];
            for field in ["original", "retail", "net"] {
                let each: i64 = units.iter().map(|unit| {
                    let one = Units { count: 1, ..*unit };
                    pricing(&[one], &taxes, 1)[field].as_i64().unwrap() * i64::from(unit.count)
                }).sum();
                prop_assert_eq!(pricing(&units, &taxes, 1)[field].as_i64(), Some(each));
            }
        }
    }
}
