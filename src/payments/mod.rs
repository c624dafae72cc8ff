//! Payments: attempts to pay at a provider, what the provider tells us, and what becomes of it.
//!
//! - An attempt is asked for outside any transaction. A provider that does not answer leaves a
//!   pending booking whose payment the outbox asks for again.
//! - An event is verified, kept raw and applied in one transaction, at most once, in any order.
//!   Money with a right signature is applied, or it waits for a person in `reviews`.
//! - Of two that deal with one booking at once the second waits for the booking's row.

mod apply;
mod attempts;
mod gateway;
mod http;
mod model;
mod notice;
mod reviews;
mod simulator;
mod store;

use serde_json::Value;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid},
};

pub use attempts::PaymentAttempts;
pub use gateway::Gateway;
pub use http::{
    list_payment_reviews, pay_again, pay_cash, payment_callback, record_refund, reschedule_booking,
    resolve_payment_review,
};
pub use simulator::{pay_page, pay_page_pressed};

/// Makes sure that a booking can be paid, long after its own request has ended.
pub async fn ensure_requested(app: &App, booking_id: Uuid) -> Result<()> {
    attempts::ensure(app, booking_id).await
}

/// Asks the provider about a notice that it could not be asked about when it came.
pub async fn confirm_notice(app: &App, notice: &Value) -> Result<()> {
    http::confirm_later(app, notice).await
}
