//! Taxes on bookings and on the platform's commission.
//!
//! A booking keeps the rates with which it was sold; later changes of a tax do not affect it. Its
//! code stays the same once a booking was made while it was active, because prices and ledger lines
//! name the tax by its code. For the same reason, the row of a charged tax stays when it is deleted.

mod http;
mod model;
mod store;

pub use http::{create_tax, delete_tax, list_taxes, update_tax};
pub use model::{AppliesTo, TaxRate};
