//! Prices of bookings and how they are shared. Pure functions; money is whole rupiah.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    kernel::money::{BaseFactor, Rate, Rupiah},
    lines::Fare,
    promotions::{self, Discount, FundedBy},
    sailings::BookingType,
    taxes::{AppliesTo, TaxRate},
};

/// A tax that was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaxAmount {
    pub code: String,
    pub name: String,
    pub rate: Rate,
    /// The part of the price that it was charged on.
    #[serde(default, skip_serializing_if = "BaseFactor::is_whole")]
    pub base_factor: BaseFactor,
    pub amount: Rupiah,
}

impl TaxAmount {
    /// The same tax on another amount.
    fn on(&self, base: Rupiah) -> Self {
        Self { amount: self.base_factor.tax(self.rate, base), ..self.clone() }
    }

    /// The part of the tax that belongs to a part of what it was charged with.
    fn share(&self, part: Rupiah, whole: Rupiah) -> Self {
        Self { amount: self.amount.share(part, whole), ..self.clone() }
    }
}

fn sum(taxes: &[TaxAmount]) -> Rupiah {
    taxes.iter().map(|tax| tax.amount).sum()
}

/// Codes and amounts, for a posting.
pub fn by_code(taxes: &[TaxAmount]) -> impl Iterator<Item = (&str, Rupiah)> {
    taxes.iter().map(|tax| (tax.code.as_str(), tax.amount))
}

/// The passengers of a booking with the same fare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FareLine {
    /// Key of the fare.
    pub fare: String,
    pub unit_price: Rupiah,
    pub count: i32,
    pub takes_seat: bool,
    /// What is left to the reseller of each. `None`: not sold by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<Rupiah>,
}

impl FareLine {
    fn price(&self) -> Rupiah {
        self.unit_price * i64::from(self.count)
    }

    fn margins(&self) -> Rupiah {
        self.margin.unwrap_or_default() * i64::from(self.count)
    }

    /// What is charged for each: the fare, or what a reseller pays of it.
    pub fn charged(&self) -> Rupiah {
        self.unit_price - self.margin.unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Of the sailing. Fares are computed from it.
    pub unit_price: Rupiah,
    /// The subtotal by fare. A charter has none.
    #[serde(default)]
    pub lines: Vec<FareLine>,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    /// The part of the discount that the partner pays for.
    #[serde(default)]
    pub partner_discount: Rupiah,
    /// What the platform leaves to the reseller.
    #[serde(default)]
    pub margin: Rupiah,
    pub taxes: Vec<TaxAmount>,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission_rate: Rate,
    pub commission: Rupiah,
    #[serde(default)]
    pub commission_taxes: Vec<TaxAmount>,
    pub commission_tax: Rupiah,
    pub partner_net: Rupiah,
}

impl Price {
    /// The price without the reseller's part: what the fares and the taxes on them cost.
    pub fn retail(&self) -> Self {
        if !is_resold(&self.lines) {
            return self.clone();
        }
        let lines: Vec<_> =
            self.lines.iter().map(|line| FareLine { margin: None, ..line.clone() }).collect();
        let taxes: Vec<_> = self.taxes.iter().map(|tax| by_unit(tax, &lines)).collect();
        let tax = sum(&taxes);
        let total = self.subtotal - self.discount + tax;
        Self { lines, taxes, tax, total, margin: Rupiah::ZERO, ..self.clone() }
    }

    /// What a traveller pays beyond what the reseller owes: the margin, with the taxes on it.
    pub fn surcharge(&self) -> Rupiah {
        surcharge(&self.lines, &self.taxes)
    }

    /// An amount that is a part of this price, such as a fee, as the same part of the retail price.
    pub fn at_retail(&self, part: Rupiah) -> Rupiah {
        match self.total {
            Rupiah::ZERO => part,
            whole => part.share(self.retail().total, whole),
        }
    }
}

/// What a reschedule would change for travellers beyond what it changes for the reseller: the prices, and
/// the fee, which is a part of the price before.
pub fn change_of_surcharge(was: &Price, becomes: &Price, fee: Rupiah) -> Rupiah {
    becomes.surcharge() - was.surcharge() + was.at_retail(fee) - fee
}

/// What a reschedule adds to the difference that is paid for it, if it changes the surcharge like that.
/// Only a difference that is paid counts as a sale; one that is given back is a refund.
pub fn surcharge_of_move(difference: Rupiah, change: Rupiah) -> Rupiah {
    (difference + change).max(Rupiah::ZERO) - difference.max(Rupiah::ZERO)
}

/// [`Price::surcharge`] of a price with these lines and taxes.
pub fn surcharge(lines: &[FareLine], taxes: &[TaxAmount]) -> Rupiah {
    if !is_resold(lines) {
        return Rupiah::ZERO;
    }
    let margin: Rupiah = lines.iter().map(FareLine::margins).sum();
    let retail: Vec<_> =
        lines.iter().map(|line| FareLine { margin: None, ..line.clone() }).collect();
    let on_margin = |tax: &TaxAmount| by_unit(tax, &retail).amount - tax.amount;
    margin + taxes.iter().map(on_margin).sum::<Rupiah>()
}

/// Whether a reseller has sold it.
fn is_resold(lines: &[FareLine]) -> bool {
    lines.iter().any(|line| line.margin.is_some())
}

/// A tax that is computed for each unit, because a reseller adds up the prices of units.
fn by_unit(tax: &TaxAmount, lines: &[FareLine]) -> TaxAmount {
    let of = |line: &FareLine| tax.on(line.charged()).amount * i64::from(line.count);
    TaxAmount { amount: lines.iter().map(of).sum(), ..tax.clone() }
}

/// What is sold: passages by fare, or the whole boat.
#[derive(Clone, Debug)]
pub struct Goods {
    pub kind: BookingType,
    /// Of the sailing.
    pub unit_price: Rupiah,
    /// What it takes of the sailing.
    pub seats: i32,
    /// By fare, in the order of the passengers. A charter has none.
    pub lines: Vec<FareLine>,
}

impl Goods {
    /// The whole boat at the price of all its seats.
    pub fn charter(unit_price: Rupiah, capacity: i32) -> Self {
        Self { kind: BookingType::Charter, unit_price, seats: capacity, lines: Vec::new() }
    }

    /// A passage for each of the fares.
    pub fn passages<'a>(unit_price: Rupiah, fares: impl IntoIterator<Item = &'a Fare>) -> Self {
        let mut lines: Vec<FareLine> = Vec::new();
        for fare in fares {
            match lines.iter_mut().find(|line| line.fare == fare.key) {
                Some(line) => line.count += 1,
                None => lines.push(FareLine {
                    fare: fare.key.clone(),
                    unit_price: fare.of(unit_price),
                    count: 1,
                    takes_seat: fare.takes_seat,
                    margin: None,
                }),
            }
        }
        let seats = lines.iter().filter(|line| line.takes_seat).map(|line| line.count).sum();
        Self { kind: BookingType::Speedboat, unit_price, seats, lines }
    }

    fn subtotal(&self) -> Rupiah {
        match self.kind {
            BookingType::Speedboat => self.lines.iter().map(FareLine::price).sum(),
            BookingType::Charter => self.unit_price * i64::from(self.seats),
        }
    }
}

/// The price of seats or of a boat. The commission is computed from the price before the discount.
/// The platform or the partner pays for the discount.
pub fn price(
    goods: &Goods,
    discount: Option<(&Discount, FundedBy)>,
    taxes: &[TaxRate],
    commission_rate: Rate,
) -> Price {
    let subtotal = goods.subtotal();
    let funded_by = discount.map_or(FundedBy::Platform, |(_, funded_by)| funded_by);
    let discount = discount.map_or(Rupiah::ZERO, |(d, _)| promotions::amount(d, subtotal));
    let charged = |applies: &dyn Fn(AppliesTo) -> bool| -> Vec<TaxAmount> {
        let charged = taxes.iter().filter(|tax| applies(tax.applies_to));
        let amount = |tax: &TaxRate| TaxAmount {
            code: tax.code.clone(),
            name: tax.name.clone(),
            rate: tax.rate,
            base_factor: tax.base_factor,
            amount: Rupiah::ZERO,
        };
        charged.map(amount).collect()
    };
    let unpriced = Price {
        unit_price: goods.unit_price,
        lines: goods.lines.clone(),
        subtotal,
        discount,
        partner_discount: match funded_by {
            FundedBy::Platform => Rupiah::ZERO,
            FundedBy::Partner => discount,
        },
        margin: Rupiah::ZERO,
        taxes: charged(&|applies_to| applies_to.is_on_sale_of(goods.kind)),
        tax: Rupiah::ZERO,
        total: Rupiah::ZERO,
        commission_rate,
        commission: Rupiah::ZERO,
        commission_taxes: charged(&|applies_to| applies_to == AppliesTo::Commission),
        commission_tax: Rupiah::ZERO,
        partner_net: Rupiah::ZERO,
    };
    unpriced.computed()
}

/// The price of a sold booking on another sailing, at the rates and with the discount that it was
/// sold with. The discount is at most the subtotal.
pub fn reprice(sold: &Price, goods: &Goods) -> Price {
    let (unit_price, lines, subtotal) = (goods.unit_price, goods.lines.clone(), goods.subtotal());
    let discount = sold.discount.min(subtotal);
    let partner_discount = sold.partner_discount.min(discount);
    Price { unit_price, lines, subtotal, discount, partner_discount, ..sold.clone() }.computed()
}

impl Price {
    /// Computes everything that follows from the subtotal, the discount and the rates.
    fn computed(self) -> Self {
        let margin = self.lines.iter().map(FareLine::margins).sum();
        let taxable = self.subtotal - self.discount - margin;
        let charge = |tax: &TaxAmount| match is_resold(&self.lines) {
            true => by_unit(tax, &self.lines),
            false => tax.on(taxable),
        };
        let taxes: Vec<_> = self.taxes.iter().map(charge).collect();
        let commission = self.commission_rate.of(self.subtotal);
        let on_commission = self.commission_taxes.iter().map(|tax| tax.on(commission));
        let commission_taxes: Vec<_> = on_commission.collect();
        let (tax, commission_tax) = (sum(&taxes), sum(&commission_taxes));
        Self {
            total: taxable + tax,
            partner_net: self.subtotal - self.partner_discount - commission - commission_tax,
            margin,
            taxes,
            tax,
            commission,
            commission_taxes,
            commission_tax,
            ..self
        }
    }
}

/// Splits the price of a booking of which some passengers are cancelled: the price of the rest, and
/// the share of those who are cancelled. The fares and the rates are those of the sale, the discount is
/// divided by the subtotals, and both add up to what was sold, part by part.
///
/// `remaining`: how many of a fare are left.
pub fn split(sold: &Price, remaining: impl Fn(&str) -> i32) -> (Price, Price) {
    let with = |count: &dyn Fn(&FareLine) -> i32| -> Vec<FareLine> {
        let lines = sold.lines.iter().map(|line| FareLine { count: count(line), ..line.clone() });
        lines.filter(|line| line.count > 0).collect()
    };
    let lines = with(&|line| remaining(&line.fare));
    let subtotal = lines.iter().map(FareLine::price).sum();
    let of_rest = |amount: Rupiah| match sold.subtotal {
        Rupiah::ZERO => Rupiah::ZERO,
        whole => amount.share(subtotal, whole),
    };
    let (discount, partner_discount) = (of_rest(sold.discount), of_rest(sold.partner_discount));
    let rest = Price { lines, subtotal, discount, partner_discount, ..sold.clone() }.computed();
    let taxes = |sold: &[TaxAmount], rest: &[TaxAmount]| -> Vec<TaxAmount> {
        let less = |(sold, rest): (&TaxAmount, &TaxAmount)| TaxAmount {
            amount: sold.amount - rest.amount,
            ..sold.clone()
        };
        sold.iter().zip(rest).map(less).collect()
    };
    let share = Price {
        unit_price: sold.unit_price,
        lines: with(&|line| line.count - remaining(&line.fare)),
        subtotal: sold.subtotal - rest.subtotal,
        discount: sold.discount - rest.discount,
        partner_discount: sold.partner_discount - rest.partner_discount,
        margin: sold.margin - rest.margin,
        taxes: taxes(&sold.taxes, &rest.taxes),
        tax: sold.tax - rest.tax,
        total: sold.total - rest.total,
        commission_rate: sold.commission_rate,
        commission: sold.commission - rest.commission,
        commission_taxes: taxes(&sold.commission_taxes, &rest.commission_taxes),
        commission_tax: sold.commission_tax - rest.commission_tax,
        partner_net: sold.partner_net - rest.partner_net,
    };
    (rest, share)
}

/// How money that was paid is shared between the partner, the platform and the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// What the customer paid of it.
    pub paid: Rupiah,
    /// What the platform adds for its promotion.
    pub promotion: Rupiah,
    /// What it leaves to the reseller.
    pub margin: Rupiah,
    pub taxes: Vec<TaxAmount>,
    pub commission: Rupiah,
    pub commission_taxes: Vec<TaxAmount>,
    /// The partner's share.
    pub partner: Rupiah,
}

impl Shares {
    /// All taxes by code.
    pub fn by_code(&self) -> impl Iterator<Item = (&str, Rupiah)> {
        by_code(&self.taxes).chain(by_code(&self.commission_taxes))
    }

    /// The booking's taxes.
    pub fn tax(&self) -> Rupiah {
        sum(&self.taxes)
    }

    pub fn commission_tax(&self) -> Rupiah {
        sum(&self.commission_taxes)
    }

    /// The partner's share before commission.
    pub fn gross(&self) -> Rupiah {
        self.partner + self.commission + self.commission_tax()
    }
}

/// The shares of a journey that took place.
pub fn earned(price: &Price) -> Shares {
    Shares {
        paid: price.total,
        promotion: price.discount - price.partner_discount,
        margin: price.margin,
        taxes: price.taxes.clone(),
        commission: price.commission,
        commission_taxes: price.commission_taxes.clone(),
        partner: price.partner_net,
    }
}

/// The shares of the money that is kept after a cancellation: the booking's taxes in proportion,
/// commission and its taxes at the booking's rates on the rest, and the partner's share.
pub fn kept(price: &Price, kept: Rupiah) -> Shares {
    let share = |tax: &TaxAmount| match price.total {
        Rupiah::ZERO => TaxAmount { amount: Rupiah::ZERO, ..tax.clone() },
        whole => tax.share(kept, whole),
    };
    let taxes: Vec<_> = price.taxes.iter().map(share).collect();
    let base = kept - sum(&taxes);
    let commission = price.commission_rate.of(base);
    let on_commission = price.commission_taxes.iter().map(|tax| tax.on(commission));
    let commission_taxes: Vec<_> = on_commission.collect();
    Shares {
        paid: kept,
        promotion: Rupiah::ZERO,
        margin: Rupiah::ZERO,
        partner: base - commission - sum(&commission_taxes),
        taxes,
        commission,
        commission_taxes,
    }
}

/// The part of the earned shares that is taken back when a part of the price is refunded after the
/// journey. All of the price takes all of it back.
pub fn taken_back(price: &Price, refund: Rupiah) -> Shares {
    let earned = earned(price);
    let of = |amount: Rupiah| match price.total {
        Rupiah::ZERO => Rupiah::ZERO,
        whole => amount.share(refund, whole),
    };
    let each = |taxes: &[TaxAmount]| -> Vec<_> {
        taxes.iter().map(|tax| TaxAmount { amount: of(tax.amount), ..tax.clone() }).collect()
    };
    let (taxes, commission_taxes) = (each(&earned.taxes), each(&earned.commission_taxes));
    let (promotion, margin) = (of(earned.promotion), of(earned.margin));
    let commission = of(earned.commission);
    Shares {
        paid: refund,
        partner: refund + promotion + margin - sum(&taxes) - commission - sum(&commission_taxes),
        promotion,
        margin,
        taxes,
        commission,
        commission_taxes,
    }
}

/// A fee of the platform, which contains the taxes on commission.
pub fn fee(price: &Price, fee: Rupiah) -> Shares {
    let points = |tax: &TaxAmount| {
        i64::from(tax.rate.points()) * i64::from(tax.base_factor.numerator) * 1_000
            / i64::from(tax.base_factor.denominator)
    };
    let whole = 10_000_000 + price.commission_taxes.iter().map(points).sum::<i64>();
    let share = |tax: &TaxAmount| TaxAmount {
        amount: fee.share(Rupiah(points(tax)), Rupiah(whole)),
        ..tax.clone()
    };
    let commission_taxes: Vec<_> = price.commission_taxes.iter().map(share).collect();
    Shares {
        paid: fee,
        promotion: Rupiah::ZERO,
        margin: Rupiah::ZERO,
        taxes: Vec::new(),
        commission: fee - sum(&commission_taxes),
        commission_taxes,
        partner: Rupiah::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lines::FarePrice;

    fn tax(applies_to: AppliesTo, points: i32) -> TaxRate {
        let rate = Rate::basis_points(points).unwrap();
        TaxRate {
            code: "T".into(),
            name: "Tax".into(),
            rate,
            base_factor: BaseFactor::default(),
            applies_to,
        }
    }

    fn seats(unit: i64, seats: i32) -> Goods {
        let fares = Fare::standard();
        Goods::passages(Rupiah(unit), (0..seats).map(|_| &fares[0]))
    }

    #[test]
    fn passages_are_added_up_by_fare() {
        let adult = Fare::standard().remove(0);
        let percent = |key: &str, percent| Fare {
            key: key.into(),
            price: FarePrice::Percent(percent),
            ..adult.clone()
        };
        let (child, resident) = (percent("child", 75), percent("adult_domestic", 60));
        let infant = Fare {
            key: "infant".into(),
            price: FarePrice::Amount(Rupiah::ZERO),
            takes_seat: false,
            ..adult.clone()
        };
        let goods = Goods::passages(Rupiah(150_001), [&resident, &child, &infant, &child]);
        assert_eq!(goods.seats, 3);
        let lines: Vec<_> =
            goods.lines.iter().map(|line| (&*line.fare, line.unit_price.0, line.count)).collect();
        assert_eq!(lines, [("adult_domestic", 90_001, 1), ("child", 112_501, 2), ("infant", 0, 1)]);
        let price = price(&goods, None, &[], Rate::basis_points(1_000).unwrap());
        assert_eq!((price.unit_price, price.subtotal), (Rupiah(150_001), Rupiah(315_003)));
        let moved = Goods::passages(Rupiah(100_000), [&resident, &child, &infant, &child]);
        let moved = reprice(&price, &moved);
        assert_eq!((moved.unit_price, moved.subtotal), (Rupiah(100_000), Rupiah(210_000)));
    }

    /// A booking of one seat for 150,000 with 11 % tax, 10 % commission and 11 % tax on it.
    fn sold() -> Price {
        let taxes = [tax(AppliesTo::Booking, 1_100), tax(AppliesTo::Commission, 1_100)];
        price(&seats(150_000, 1), None, &taxes, Rate::basis_points(1_000).unwrap())
    }

    #[test]
    fn what_is_kept_in_full_is_shared_like_a_journey() {
        let sold = sold();
        assert_eq!(sold.total, Rupiah(166_500));
        assert_eq!(kept(&sold, sold.total), earned(&sold));
        assert_eq!(taken_back(&sold, sold.total), earned(&sold));
        let half = kept(&sold, Rupiah(83_250));
        assert_eq!((half.taxes[0].amount, half.commission), (Rupiah(8_250), Rupiah(7_500)));
        assert_eq!((half.commission_tax(), half.partner), (Rupiah(825), Rupiah(66_675)));
    }

    #[test]
    fn the_surcharge_leads_from_the_net_to_the_retail_price() {
        assert_eq!(sold().surcharge(), Rupiah::ZERO);
        let mut goods = seats(150_005, 3);
        goods.lines[0].margin = Some(Rupiah(7_501));
        let taxes = [tax(AppliesTo::Booking, 1_100), tax(AppliesTo::Booking, 250)];
        let resold = price(&goods, None, &taxes, Rate::basis_points(1_000).unwrap());
        assert_eq!(resold.total + resold.surcharge(), resold.retail().total);
        assert_eq!(resold.retail().surcharge(), Rupiah::ZERO);
    }

    #[test]
    fn a_fee_is_the_same_part_of_the_retail_price() {
        let sold = sold();
        assert_eq!(sold.at_retail(Rupiah(16_650)), Rupiah(16_650));
        let mut goods = seats(150_000, 2);
        goods.lines[0].margin = Some(Rupiah(7_500));
        let taxes = [tax(AppliesTo::Booking, 1_000)];
        let resold = price(&goods, None, &taxes, Rate::basis_points(1_000).unwrap());
        assert_eq!((resold.total, resold.retail().total), (Rupiah(313_500), Rupiah(330_000)));
        assert_eq!(resold.at_retail(Rupiah(31_350)), Rupiah(33_000));
        assert_eq!(change_of_surcharge(&resold, &resold, Rupiah(31_350)), Rupiah(1_650));
        goods.lines[0].margin = Some(Rupiah(150_000));
        let free = price(&goods, None, &taxes, Rate::basis_points(1_000).unwrap());
        assert_eq!(free.at_retail(Rupiah::ZERO), Rupiah::ZERO);
    }

    #[test]
    fn a_move_counts_what_a_traveller_would_have_paid_for_it() {
        for (difference, change, amount) in [
            (10_000, 500, 500),
            // The net price is agreed and stays, while the fare rises.
            (0, 20_000, 20_000),
            (-5_000, 8_000, 3_000),
            // The net price rises more than the fare.
            (10_000, -15_000, -10_000),
            (-5_000, 2_000, 0),
            // Nobody but us has sold it.
            (10_000, 0, 0),
            (-5_000, 0, 0),
        ] {
            assert_eq!(surcharge_of_move(Rupiah(difference), Rupiah(change)), Rupiah(amount));
        }
    }

    #[test]
    fn a_fee_contains_its_tax() {
        let shares = fee(&sold(), Rupiah(16_650));
        assert_eq!((shares.commission, shares.commission_tax()), (Rupiah(15_000), Rupiah(1_650)));
    }

    #[test]
    fn a_tax_on_eleven_twelfths_is_rounded_once() {
        let base_factor: BaseFactor = "11/12".parse().unwrap();
        assert_eq!(base_factor.tax(Rate::percent(12.0).unwrap(), Rupiah(150_000)), Rupiah(16_500));
        assert_eq!(base_factor.tax(Rate::percent(12.0).unwrap(), Rupiah(100_001)), Rupiah(11_000));
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_whole(
            unit in 1_000_i64..10_000_000, seats in 1_i32..500, points in 0_i32..=10_000,
            rates in proptest::collection::vec((any::<bool>(), 0_i32..=3_000), 0..4),
            off in proptest::option::of(1_i64..5_000_000), by_partner in any::<bool>(),
        ) {
            let funded_by = if by_partner { FundedBy::Partner } else { FundedBy::Platform };
            let taxes: Vec<_> = rates.iter().map(|(booking, points)| {
                let what = if *booking { AppliesTo::Booking } else { AppliesTo::Commission };
                tax(what, *points)
            }).collect();
            let discount = off.map(|off| Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            });
            let rate = Rate::basis_points(points).unwrap();
            let discount = discount.as_ref().map(|discount| (discount, funded_by));
            let goods = Goods::charter(Rupiah(unit), seats);
            let price = price(&goods, discount, &taxes, rate);
            prop_assert_eq!(price.subtotal, Rupiah(unit * i64::from(seats)));
            prop_assert!(price.discount >= Rupiah::ZERO && price.discount <= price.subtotal);
            prop_assert_eq!(price.total, price.subtotal - price.discount + price.tax);
            let sum: Rupiah = price.taxes.iter().map(|tax| tax.amount).sum();
            prop_assert_eq!(sum, price.tax);
            prop_assert_eq!(
                price.partner_net + price.commission + price.commission_tax,
                price.subtotal - price.partner_discount
            );
            // Completing moves exactly what came in and what the platform adds.
            let shares = earned(&price);
            let taxes: Rupiah = shares.by_code().map(|(_, amount)| amount).sum();
            prop_assert_eq!(
                shares.paid + shares.promotion, shares.partner + shares.commission + taxes
            );
        }

        #[test]
        fn another_sailing_costs_what_it_would_have_cost(
            unit in 1_000_i64..10_000_000, other in 1_000_i64..10_000_000, count in 1_i32..500,
            points in 0_i32..=10_000, off in 0_i64..5_000_000,
        ) {
            let taxes = [tax(AppliesTo::Booking, 1_100), tax(AppliesTo::Commission, 1_100)];
            let rate = Rate::basis_points(points).unwrap();
            let discount = (off > 0).then_some(Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            });
            let discount = discount.as_ref().map(|discount| (discount, FundedBy::Platform));
            let goods = seats(unit, count);
            let sold = price(&goods, discount, &taxes, rate);
            prop_assert_eq!(&reprice(&sold, &goods), &sold, "nothing else, no change");
            let moved = reprice(&sold, &seats(other, count));
            prop_assert_eq!(moved.subtotal, Rupiah(other * i64::from(count)));
            prop_assert!(moved.discount <= moved.subtotal && moved.discount <= sold.discount);
            prop_assert_eq!(moved.total, moved.subtotal - moved.discount + moved.tax);
            prop_assert_eq!(
                moved.partner_net + moved.commission + moved.commission_tax, moved.subtotal
            );
        }

        #[test]
        fn the_shares_of_a_split_booking_sum_to_what_was_sold(
            units in proptest::collection::vec((0_i64..2_000_000, 1_i32..10, 0_i32..10), 1..5),
            points in 0_i32..=9_000, tax_points in 0_i32..=3_000, off in 0_i64..3_000_000,
            by_partner in any::<bool>(), percent in 0_i64..=100,
        ) {
            let funded_by = if by_partner { FundedBy::Partner } else { FundedBy::Platform };
            let taxes = [
                tax(AppliesTo::Booking, tax_points), tax(AppliesTo::Booking, 250),
                tax(AppliesTo::Commission, 1_100),
            ];
            let discount = Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            };
            let line = |(n, (unit, count, _)): (usize, &(i64, i32, i32))| FareLine {
                fare: n.to_string(), unit_price: Rupiah(*unit), count: *count, takes_seat: true,
                margin: None,
            };
            let lines: Vec<_> = units.iter().enumerate().map(line).collect();
            let goods = Goods {
                kind: BookingType::Speedboat, unit_price: Rupiah(100_000), seats: 9, lines,
            };
            let rate = Rate::basis_points(points).unwrap();
            let sold = price(&goods, Some((&discount, funded_by)), &taxes, rate);
            let left = |fare: &str| {
                let (_, count, left) = units[fare.parse::<usize>().unwrap()];
                left.min(count)
            };
            let (rest, share) = split(&sold, left);
            for part in [&rest, &share] {
                prop_assert!(part.discount >= Rupiah::ZERO && part.discount <= part.subtotal);
                prop_assert!(part.partner_discount >= Rupiah::ZERO);
                prop_assert!(part.partner_discount <= part.discount);
                prop_assert!(part.taxes.iter().all(|tax| tax.amount >= Rupiah::ZERO));
                prop_assert_eq!(part.total, part.subtotal - part.discount + part.tax);
                prop_assert_eq!(sum(&part.taxes), part.tax);
                prop_assert_eq!(sum(&part.commission_taxes), part.commission_tax);
                let lines = part.lines.iter().map(|line| line.unit_price * i64::from(line.count));
                prop_assert_eq!(lines.sum::<Rupiah>(), part.subtotal);
                prop_assert_eq!(
                    part.partner_net + part.commission + part.commission_tax,
                    part.subtotal - part.partner_discount
                );
            }
            prop_assert_eq!(rest.total + share.total, sold.total);
            prop_assert_eq!(rest.partner_net + share.partner_net, sold.partner_net);
            prop_assert_eq!(&rest, &Price { ..rest.clone() }.computed(), "at the rates of the sale");
            // What is kept of the share is shared whole.
            let part = share.total.share(Rupiah(percent), Rupiah(100));
            let shares = kept(&share, part);
            let taxes: Rupiah = shares.by_code().map(|(_, amount)| amount).sum();
            prop_assert_eq!(shares.paid, shares.partner + shares.commission + taxes);
            // Nobody and everybody.
            let (nothing, all) = split(&sold, |_| 0);
            prop_assert_eq!((nothing.total, all.total), (Rupiah::ZERO, sold.total));
        }

        #[test]
        fn every_part_of_a_price_is_shared_whole(
            unit in 1_000_i64..10_000_000, points in 0_i32..=10_000, tax_points in 0_i32..=5_000,
            part in 0_i64..=1_000, off in 0_i64..1_000_000, by_partner in any::<bool>(),
        ) {
            let funded_by = if by_partner { FundedBy::Partner } else { FundedBy::Platform };
            let taxes = [tax(AppliesTo::Booking, 1_100), tax(AppliesTo::Commission, tax_points)];
            let discount = Discount {
                kind: promotions::DiscountValue::Fixed(Rupiah(off)),
                max_amount: None, min_purchase: None,
            };
            let rate = Rate::basis_points(points).unwrap();
            let sold = price(&seats(unit, 1), Some((&discount, funded_by)), &taxes, rate);
            let part = sold.total.share(Rupiah(part), Rupiah(1_000));
            for shares in [kept(&sold, part), taken_back(&sold, part), fee(&sold, part)] {
                let taxes: Rupiah = shares.by_code().map(|(_, amount)| amount).sum();
                prop_assert_eq!(shares.paid, part);
                prop_assert_eq!(
                    shares.paid + shares.promotion, shares.partner + shares.commission + taxes
                );
            }
            // Nothing is refunded of a booking that cost nothing.
            if sold.total > Rupiah::ZERO {
                prop_assert_eq!(taken_back(&sold, sold.total), earned(&sold));
            }
        }
    }
}
