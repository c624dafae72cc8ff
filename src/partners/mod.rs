//! The boat owners (mitra).
//!
//! A partner is one account with one partnership. Registration makes both or neither; the
//! partnership begins as a draft.

mod http;
mod model;
mod store;

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        outbox::Item,
    },
};

pub use http::register_mitra;

pub async fn deliver(_app: &App, item: &Item) -> Result<()> {
    match item.topic.as_str() {
        "partner.registered" => {
            tracing::info!(partner = %item.payload, "a partner has registered");
            Ok(())
        }
        other => Err(Error::internal(format!("partners do not take {other}"))),
    }
}
