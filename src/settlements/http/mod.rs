//! Handlers of settlements.

mod configuration;
mod desk;
mod lookup;

pub use configuration::{configure_settlements, get_settlement_configuration};
pub use desk::{cancel_settlement, create_settlement, release_settlement};
pub use lookup::{get_settlement, list_settlements};
