//! Refunds: what customers are owed, one row per cause, until it is paid.
//!
//! - The posting of the cause (a cancellation, an excess, …) credits `refund_payable`; the same
//!   transaction creates the refund. Each payment of a refund debits the account again, so that
//!   the unpaid refunds always equal its balance.
//! - Money goes back the way it came: cash as cash, by whoever took it.
//! - This domain knows rows and postings. What a paid refund means for its booking is decided by
//!   `payments`.

mod list;
mod model;
mod sending;
mod store;

pub use list::{RefundRecord, RefundsQuery, list, record, record_in};
pub use model::{NewRefund, PaidBy, Refund, RefundKind, RefundPayment, RefundStatus};
pub use sending::{leave_to_a_person, send_rest, set_failed, set_sent, to_send};
pub use store::{
    create, create_all, create_all_later, create_silently, get, get_in, newest_payment, of_booking,
    of_review, pay, payment_of_transfer, send_again, take_back, unpaid, unpaid_of, void,
};
