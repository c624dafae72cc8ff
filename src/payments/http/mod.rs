//! Handlers of payments.

mod callback;
mod checkout;
mod desk;
mod reschedule;

pub use callback::{confirm_later, payment_callback};
pub use checkout::pay_again;
pub use desk::{list_payment_reviews, pay_cash, record_refund, resolve_payment_review};
pub use reschedule::reschedule_booking;
