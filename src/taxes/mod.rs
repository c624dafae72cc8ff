//! Taxes: on what a customer pays, or on the platform's commission.
//!
//! A booking keeps the rates that it was sold with; a tax that changes or goes changes nothing
//! that was sold.

mod http;
mod model;
mod store;

pub use http::{create_tax, delete_tax, list_taxes, update_tax};
pub use model::{AppliesTo, TaxRate};
