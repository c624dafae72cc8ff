//! Handlers of payments.

mod backoffice;
mod callback;
mod checkout;
mod options;
mod refunds;
mod reschedule;

pub use backoffice::{list_payment_reviews, pay_cash, record_refund, resolve_payment_review};
pub use callback::{confirm_later, payment_callback};
pub use checkout::pay_again;
pub use options::get_booking_options;
pub use refunds::{get_refund, list_refunds, pay_refund, retry_refund, return_refund};
pub use reschedule::reschedule_booking;
