//! Pure rules of promotions: when one can be used, and its discount.

use chrono::NaiveDate;

use super::model::{
    Discount, DiscountValue, FundedBy, Promotion, PromotionState, PromotionStatus, TargetType,
};
use crate::kernel::{ids::Uuid, money::Rupiah};

crate::string_enum! {
    /// Why a code cannot be used.
    pub enum Reason {
        Unknown = "unknown",
        Inactive = "inactive",
        NotStarted = "not_started",
        Ended = "ended",
        Exhausted = "exhausted",
        NotApplicable = "not_applicable",
        BelowMinimum = "below_minimum",
        LimitReached = "limit_reached",
    }
}

pub fn state(promotion: &Promotion, today: NaiveDate) -> PromotionState {
    match promotion.status {
        PromotionStatus::Draft => PromotionState::Draft,
        PromotionStatus::Inactive => PromotionState::Inactive,
        PromotionStatus::Active if promotion.end_date < today => PromotionState::Ended,
        PromotionStatus::Active if promotion.start_date > today => PromotionState::Scheduled,
        PromotionStatus::Active if promotion.quota.is_some_and(|quota| promotion.used >= quota) => {
            PromotionState::Exhausted
        }
        PromotionStatus::Active => PromotionState::Running,
    }
}

/// The purchase to which a code is applied.
pub struct Purchase {
    pub partner_id: Uuid,
    pub speedboat_id: Uuid,
    pub route_id: Uuid,
    pub subtotal: Rupiah,
    /// Uses by this customer; `None` if the customer is unknown.
    pub uses: Option<i32>,
    /// Sold by the partner itself.
    pub is_by_partner: bool,
}

/// Why it cannot be used today; `None` if it can.
pub fn unusable(promotion: &Promotion, purchase: &Purchase, today: NaiveDate) -> Option<Reason> {
    match state(promotion, today) {
        PromotionState::Draft | PromotionState::Inactive => return Some(Reason::Inactive),
        PromotionState::Scheduled => return Some(Reason::NotStarted),
        PromotionState::Ended => return Some(Reason::Ended),
        PromotionState::Exhausted => return Some(Reason::Exhausted),
        PromotionState::Running => {}
    }
    let target = match promotion.target_type {
        TargetType::All => None,
        TargetType::Mitra => Some(purchase.partner_id),
        TargetType::Speedboat => Some(purchase.speedboat_id),
        TargetType::Route => Some(purchase.route_id),
    };
    if target.is_some_and(|target| !promotion.targets().contains(&target)) {
        return Some(Reason::NotApplicable);
    }
    // A partner gives its own customers discounts at its own expense.
    if purchase.is_by_partner && promotion.funded_by == FundedBy::Platform {
        return Some(Reason::NotApplicable);
    }
    if promotion.min_purchase.is_some_and(|least| purchase.subtotal < least) {
        return Some(Reason::BelowMinimum);
    }
    let limit = promotion.per_customer_limit.zip(purchase.uses);
    limit.is_some_and(|(limit, uses)| uses >= limit).then_some(Reason::LimitReached)
}

/// Percentages are rounded down. A discount never exceeds its maximum or the subtotal.
pub fn amount(discount: &Discount, subtotal: Rupiah) -> Rupiah {
    let full = match discount.kind {
        DiscountValue::Percentage(rate) => rate.floor_of(subtotal),
        DiscountValue::Fixed(amount) => amount,
    };
    full.min(discount.max_amount.unwrap_or(full)).min(subtotal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::money::Rate;

    proptest! {
        #[test]
        fn a_discount_is_never_negative_nor_above_what_it_is_on(
            points in 0_i32..=10_000, fixed in 0_i64..10_000_000, max in proptest::option::of(0_i64..5_000_000),
            subtotal in 0_i64..1_000_000_000,
        ) {
            let subtotal = Rupiah(subtotal);
            let max_amount = max.map(Rupiah);
            for kind in [
                DiscountValue::Percentage(Rate::basis_points(points).unwrap()),
                DiscountValue::Fixed(Rupiah(fixed)),
            ] {
                let off = amount(&Discount { kind, max_amount, min_purchase: None }, subtotal);
                prop_assert!(off >= Rupiah::ZERO && off <= subtotal);
                prop_assert!(max_amount.is_none_or(|max| off <= max));
            }
        }
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        let ten = DiscountValue::Percentage(Rate::percent(10.0).unwrap());
        let off = |kind, subtotal| {
            amount(&Discount { kind, max_amount: None, min_purchase: None }, Rupiah(subtotal)).0
        };
        assert_eq!(off(ten, 99_999), 9_999);
        assert_eq!(off(DiscountValue::Fixed(Rupiah(50_000)), 30_000), 30_000);
    }
}
