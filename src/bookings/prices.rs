//! Prices of bookings and how they are shared. Pure functions; money is whole rupiah.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    kernel::money::{Rate, Rupiah},
    promotions::{self, Discount},
    taxes::{AppliesTo, TaxRate},
};

/// A tax that was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaxAmount {
    pub code: String,
    pub name: String,
    pub rate: Rate,
    pub amount: Rupiah,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub unit_price: Rupiah,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub taxes: Vec<TaxAmount>,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission_rate: Rate,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub partner_net: Rupiah,
}

/// The price of `seats` seats. The platform pays for promotions: commission and the partner's share
/// are computed from the price before the discount.
pub fn price(
    unit_price: Rupiah,
    seats: i32,
    discount: Option<&Discount>,
    taxes: &[TaxRate],
    commission_rate: Rate,
) -> Price {
    let subtotal = unit_price * i64::from(seats);
    let discount = discount.map_or(Rupiah::ZERO, |d| promotions::amount(d, subtotal));
    let taxable = subtotal - discount;
    let on = |what: AppliesTo, base: Rupiah| -> Vec<TaxAmount> {
        let charged = taxes.iter().filter(|tax| tax.applies_to == what);
        let amount = |tax: &TaxRate| TaxAmount {
            code: tax.code.clone(),
            name: tax.name.clone(),
            rate: tax.rate,
            amount: tax.rate.of(base),
        };
        charged.map(amount).collect()
    };
    let sum = |taxes: &[TaxAmount]| taxes.iter().map(|tax| tax.amount).sum::<Rupiah>();
    let commission = commission_rate.of(subtotal);
    let commission_tax = sum(&on(AppliesTo::Commission, commission));
    let taxes = on(AppliesTo::Booking, taxable);
    let tax = sum(&taxes);
    Price {
        unit_price,
        subtotal,
        discount,
        taxes,
        tax,
        total: taxable + tax,
        commission_rate,
        commission,
        commission_tax,
        partner_net: subtotal - commission - commission_tax,
    }
}

/// The price of a sold booking on another sailing, at the rates and with the discount that it was
/// sold with. The discount is at most the subtotal.
pub fn reprice(sold: &Price, unit_price: Rupiah, seats: i32) -> Price {
    let subtotal = unit_price * i64::from(seats);
    let discount = sold.discount.min(subtotal);
    let taxable = subtotal - discount;
    let charged = |tax: &TaxAmount| TaxAmount { amount: tax.rate.of(taxable), ..tax.clone() };
    let taxes: Vec<_> = sold.taxes.iter().map(charged).collect();
    let tax = taxes.iter().map(|tax| tax.amount).sum();
    let commission = sold.commission_rate.of(subtotal);
    let commission_tax = tax_share(commission, sold.commission, sold.commission_tax);
    Price {
        unit_price,
        subtotal,
        discount,
        taxes,
        tax,
        total: taxable + tax,
        commission_rate: sold.commission_rate,
        commission,
        commission_tax,
        partner_net: subtotal - commission - commission_tax,
    }
}

/// The tax on a commission, in proportion to that of the sale.
fn tax_share(commission: Rupiah, sold: Rupiah, sold_tax: Rupiah) -> Rupiah {
    match sold {
        Rupiah::ZERO => Rupiah::ZERO,
        whole => commission.share(sold_tax, whole),
    }
}

/// The parts of the money that is kept after a cancellation: commission, its tax, the partner's
/// share.
pub fn share_of_kept(
    kept: Rupiah,
    rate: Rate,
    commission: Rupiah,
    commission_tax: Rupiah,
) -> (Rupiah, Rupiah, Rupiah) {
    let ours = rate.of(kept);
    let tax = tax_share(ours, commission, commission_tax);
    (ours, tax, kept - ours - tax)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tax(applies_to: AppliesTo, points: i32) -> TaxRate {
        let rate = Rate::basis_points(points).unwrap();
        TaxRate { code: "T".into(), name: "Tax".into(), rate, applies_to }
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_whole(
            unit in 1_000_i64..10_000_000, seats in 1_i32..500, points in 0_i32..=10_000,
            rates in proptest::collection::vec((any::<bool>(), 0_i32..=3_000), 0..4),
            off in proptest::option::of(1_i64..5_000_000),
        ) {
            let taxes: Vec<_> = rates.iter().map(|(booking, points)| {
                let what = if *booking { AppliesTo::Booking } else { AppliesTo::Commission };
                tax(what, *points)
            }).collect();
            let discount = off.map(|off| Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            });
            let rate = Rate::basis_points(points).unwrap();
            let price = price(Rupiah(unit), seats, discount.as_ref(), &taxes, rate);
            prop_assert_eq!(price.subtotal, Rupiah(unit * i64::from(seats)));
            prop_assert!(price.discount >= Rupiah::ZERO && price.discount <= price.subtotal);
            prop_assert_eq!(price.total, price.subtotal - price.discount + price.tax);
            let sum: Rupiah = price.taxes.iter().map(|tax| tax.amount).sum();
            prop_assert_eq!(sum, price.tax);
            prop_assert_eq!(
                price.partner_net + price.commission + price.commission_tax, price.subtotal
            );
            // Completing moves exactly what came in and what the platform adds.
            prop_assert_eq!(
                price.total + price.discount,
                price.partner_net + price.commission + price.commission_tax + price.tax
            );
        }

        #[test]
        fn another_sailing_costs_what_it_would_have_cost(
            unit in 1_000_i64..10_000_000, other in 1_000_i64..10_000_000, seats in 1_i32..500,
            points in 0_i32..=10_000, off in 0_i64..5_000_000,
        ) {
            let taxes = [tax(AppliesTo::Booking, 1_100), tax(AppliesTo::Commission, 1_100)];
            let rate = Rate::basis_points(points).unwrap();
            let discount = (off > 0).then_some(Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            });
            let sold = price(Rupiah(unit), seats, discount.as_ref(), &taxes, rate);
            prop_assert_eq!(&reprice(&sold, Rupiah(unit), seats), &sold, "nothing else, no change");
            let moved = reprice(&sold, Rupiah(other), seats);
            prop_assert_eq!(moved.subtotal, Rupiah(other * i64::from(seats)));
            prop_assert!(moved.discount <= moved.subtotal && moved.discount <= sold.discount);
            prop_assert_eq!(moved.total, moved.subtotal - moved.discount + moved.tax);
            prop_assert_eq!(
                moved.partner_net + moved.commission + moved.commission_tax, moved.subtotal
            );
        }

        #[test]
        fn kept_money_is_shared_whole(
            kept in 0_i64..100_000_000, points in 0_i32..=10_000, tax_points in 0_i32..=5_000,
        ) {
            let rate = Rate::basis_points(points).unwrap();
            let commission = rate.of(Rupiah(1_000_000));
            let commission_tax = Rate::basis_points(tax_points).unwrap().of(commission);
            let (ours, tax, theirs) = share_of_kept(Rupiah(kept), rate, commission, commission_tax);
            prop_assert_eq!(ours + tax + theirs, Rupiah(kept));
            prop_assert!(ours >= Rupiah::ZERO && tax >= Rupiah::ZERO);
        }
    }
}
