//! Handlers of settlements.

mod backoffice;
mod configuration;
mod lookup;

pub use backoffice::{cancel_settlement, create_settlement, release_settlement};
pub use configuration::{configure_settlements, get_settlement_configuration};
pub use lookup::{get_settlement, list_settlements};
