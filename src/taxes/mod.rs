//! Taxes on bookings and on the platform's commission.
//!
//! A booking keeps the rates with which it was sold; later changes of a tax do not affect it.

mod http;
mod model;
mod store;

pub use http::{create_tax, delete_tax, list_taxes, update_tax};
pub use model::{AppliesTo, TaxRate};
