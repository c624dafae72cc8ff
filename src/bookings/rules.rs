//! Prices, moves and refunds of bookings. Pure, all integers.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::BookingStatus;
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

/// What so many seats cost. Promotions are paid for by the platform: the partner's share is of
/// what it would have sold for.
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

crate::words! {
    /// What moves a booking from one status to another.
    pub enum Event {
        Pay = "pay",
        Expire = "expire",
        /// Nothing is due to the customer.
        Cancel = "cancel",
        /// Something is.
        CancelOwing = "cancel_owing",
        /// Paid too late, and the seats are gone.
        PayInVain = "pay_in_vain",
        Complete = "complete",
        Refund = "refund",
        /// Its sailing was cancelled, and it takes another instead of its money.
        Reinstate = "reinstate",
    }
}

/// Every move there is. Whatever is not here is refused.
const MOVES: &[(BookingStatus, Event, BookingStatus)] = {
    use BookingStatus::*;
    &[
        (PendingPayment, Event::Pay, Paid),
        (PendingPayment, Event::Expire, Expired),
        (PendingPayment, Event::Cancel, Cancelled),
        (Expired, Event::Pay, Paid),
        (Expired, Event::PayInVain, RefundPending),
        (Paid, Event::Cancel, Cancelled),
        (Paid, Event::CancelOwing, RefundPending),
        (Paid, Event::Complete, Completed),
        (Completed, Event::CancelOwing, RefundPending),
        (RefundPending, Event::Refund, Refunded),
        (RefundPending, Event::Reinstate, Paid),
        // It had cost nothing.
        (Cancelled, Event::Reinstate, Paid),
    ]
};

pub fn next(from: BookingStatus, event: Event) -> Option<BookingStatus> {
    MOVES.iter().find(|m| m.0 == from && m.1 == event).map(|m| m.2)
}

/// Whether it holds its seats and its promotion. The database's triggers say the same.
pub fn is_live(status: BookingStatus) -> bool {
    use BookingStatus::*;
    matches!(status, PendingPayment | Paid | Completed)
}

/// Whether its passengers may board, or have.
pub fn has_ticket(status: BookingStatus) -> bool {
    matches!(status, BookingStatus::Paid | BookingStatus::Completed)
}

/// Whether a sailing was moved so far from what was sold that its bookers need not put up with it.
pub fn is_disrupted(promised_at: Option<DateTime<Utc>>, departure_at: DateTime<Utc>) -> bool {
    promised_at.is_some_and(|promised| (departure_at - promised).abs() >= TimeDelta::minutes(30))
}

/// The first step that is far enough ahead: percent by hours before departure, longest first.
fn step(policy: &[(u32, u8)], departure_at: DateTime<Utc>, now: DateTime<Utc>) -> Option<i32> {
    let ahead = departure_at - now;
    let step = policy.iter().find(|(hours, _)| ahead >= TimeDelta::hours((*hours).into()));
    step.map(|(_, percent)| i32::from(*percent))
}

/// How much of the price a booker gets back for cancelling now.
pub fn refund_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> i32 {
    step(policy, departure_at, now).unwrap_or(0)
}

/// How much of the price a booker pays for choosing another sailing now; `None`: it is too late.
pub fn fee_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<i32> {
    step(policy, departure_at, now)
}

/// Rounded down.
pub fn percent_of(total: Rupiah, percent: i32) -> Rupiah {
    Rate::basis_points(percent * 100).unwrap_or_default().floor_of(total)
}

/// What a sold booking costs on another sailing: at the rates that it was sold with, and with the
/// discount that it has, as far as the price allows.
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

/// The tax on a commission, as it was on the one that was sold.
fn tax_share(commission: Rupiah, sold: Rupiah, sold_tax: Rupiah) -> Rupiah {
    match sold {
        Rupiah::ZERO => Rupiah::ZERO,
        whole => commission.share(sold_tax, whole),
    }
}

/// How kept money is shared: commission, its tax, and what the partner gets.
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

    /// The same moves written down a second time, as a picture.
    #[test]
    fn every_edge_is_as_drawn_and_there_is_no_other() {
        #[rustfmt::skip]
        let drawn = [
            // from              pay     expire     cancel       owing             in vain           complete     refund        reinstate
            ("pending_payment", ["paid", "expired", "cancelled", "-",              "-",              "-",         "-",          "-"]),
            ("paid",            ["-",    "-",       "cancelled", "refund_pending", "-",              "completed", "-",          "-"]),
            ("completed",       ["-",    "-",       "-",         "refund_pending", "-",              "-",         "-",          "-"]),
            ("expired",         ["paid", "-",       "-",         "-",              "refund_pending", "-",         "-",          "-"]),
            ("cancelled",       ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "paid"]),
            ("refund_pending",  ["-",    "-",       "-",         "-",              "-",              "-",         "refunded",   "paid"]),
            ("refunded",        ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "-"]),
        ];
        assert_eq!(drawn.len(), BookingStatus::ALL.len());
        for (from, row) in drawn {
            for (event, to) in Event::ALL.iter().zip(row) {
                let found = next(from.parse().unwrap(), *event).map_or("-", BookingStatus::as_str);
                assert_eq!(found, to, "{from} {event}");
            }
        }
    }

    #[test]
    fn a_refund_follows_the_policy_to_the_second() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let policy = [(24, 100), (6, 50)];
        let at = |ahead: TimeDelta| {
            percent_of(Rupiah(99_999), refund_percent(&policy, departure, departure - ahead)).0
        };
        assert_eq!(at(TimeDelta::hours(24)), 99_999);
        assert_eq!(at(TimeDelta::hours(24) - TimeDelta::seconds(1)), 49_999, "rounded down");
        assert_eq!(at(TimeDelta::hours(6)), 49_999);
        assert_eq!(at(TimeDelta::hours(6) - TimeDelta::seconds(1)), 0);
        assert_eq!(at(-TimeDelta::hours(1)), 0);
        assert_eq!(refund_percent(&[], departure, departure), 0);
        assert_eq!(fee_percent(&[(6, 10)], departure, departure), None, "too late to change");
        assert_eq!(fee_percent(&[(0, 0)], departure, departure), Some(0));
    }

    #[test]
    fn half_an_hour_more_or_less_is_too_much() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let moved_by =
            |minutes| is_disrupted(Some(departure), departure + TimeDelta::minutes(minutes));
        assert!(!is_disrupted(None, departure));
        assert!(!moved_by(29) && !moved_by(-29) && moved_by(30) && moved_by(-30));
    }

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
