//! Handlers of settlements.

mod backoffice;
mod configuration;
mod lookup;
mod receipts;

pub use backoffice::{cancel_settlement, create_settlement, release_settlement, return_settlement};
pub use configuration::{configure_settlements, get_settlement_configuration};
pub use lookup::{get_settlement, list_settlements};
pub use receipts::{list_receipts, record_receipt};
