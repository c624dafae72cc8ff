//! Promotions: discount codes, paid for by the platform or by the partner.
//!
//! The platform does not pay for discounts on what partners sell themselves, and a partner pays for
//! them on its own sailings only.
//!
//! Triggers count uses when bookings take and release them (see `bookings`), and check constraints
//! enforce quota and per-customer limit under concurrency.

mod http;
mod model;
mod rules;
mod store;

pub use http::{
    create_promotion, delete_promotion, get_promotion, list_promotions, list_running_promotions,
    update_promotion,
};
pub use model::{Discount, DiscountValue, FundedBy, Promotion};
pub use rules::{Purchase, Reason, amount, unusable};
pub use store::{by_code, uses_of};
