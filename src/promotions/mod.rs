//! Promotions: codes that make a booking cheaper, at the platform's expense.
//!
//! Quota and per-customer limit hold whatever happens at once: uses are counted by the database as
//! bookings take and leave them (see `bookings`), and the table refuses one too many.

mod http;
mod model;
mod rules;
mod store;

pub use http::{
    create_promotion, delete_promotion, get_promotion, list_promotions, list_running_promotions,
    update_promotion,
};
pub use model::{Discount, DiscountValue, Promotion};
pub use rules::{Purchase, Reason, amount, unusable};
pub use store::{by_code, uses_of};
