//! Payments: attempts at a provider, its notifications, and their effects.
//!
//! - A payment is requested outside any transaction. If the provider does not answer, the booking
//!   stays pending, and the outbox requests the payment again.
//! - A notification is verified, stored and applied in one transaction, at most once, in any order.
//!   Money with a valid signature is applied, or needs a decision in `reviews`.
//! - The row lock of the booking serialises everything that concerns its money.

mod apply;
mod attempts;
mod automatic;
mod gateway;
mod http;
mod model;
mod notice;
mod refunds;
mod reviews;
mod simulator;
mod store;

use serde_json::Value;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid},
};

pub use attempts::PaymentAttempts;
pub use automatic::{facts as refund_facts, send_some as send_refunds, settle as settle_refund};
pub use gateway::Gateway;
pub use http::{
    get_booking_options, get_refund, list_payment_reviews, list_refunds, pay_again, pay_cash,
    pay_refund, payment_callback, record_refund, reschedule_booking, resolve_payment_review,
    retry_refund, return_refund,
};
pub use simulator::{
    pay_page, pay_page_pressed, transfer_page, transfer_page_pressed, transfers_page,
};

/// Makes sure that a booking has a payment page, after the request that created it has ended.
pub async fn ensure_requested(app: &App, booking_id: Uuid) -> Result<()> {
    attempts::ensure(app, booking_id).await
}

/// Confirms a notification that could not be confirmed when it arrived.
pub async fn confirm_notice(app: &App, notice: &Value) -> Result<()> {
    http::confirm_later(app, notice).await
}
