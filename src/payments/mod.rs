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

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        outbox::Item,
    },
};

pub use gateway::Gateway;
pub use http::{
    create_booking, list_payment_reviews, pay_again, pay_cash, payment_callback, record_refund,
    reschedule_booking, resolve_payment_review,
};
pub use simulator::{pay_page, pay_page_pressed};

#[derive(serde::Deserialize)]
struct Concerned {
    booking_id: Uuid,
}

#[derive(serde::Deserialize)]
struct Unconfirmed {
    notice: serde_json::Value,
}

/// What payments have to do later.
pub async fn deliver(app: &App, item: &Item) -> Result<()> {
    match item.topic.as_str() {
        "payment.wanted" => {
            let Concerned { booking_id } = item.read()?;
            attempts::ensure(app, booking_id).await
        }
        "payment.unconfirmed" => {
            let Unconfirmed { notice } = item.read()?;
            http::confirm_later(app, &notice).await
        }
        other => Err(Error::internal(format!("payments have no handler for {other}"))),
    }
}
