//! Settlements: paying partners what they have earned.
//!
//! - A settlement takes dues (see `ledger`) by writing its id into their rows: each has one live
//!   settlement at most. Whoever takes, pays or frees dues holds the partner's row meanwhile.
//! - It takes what departed in its period, and what the partner owes from before or for a refund,
//!   which is netted in the next one whatever its period. One that would pay nothing is not made.
//! - It is released once, to an approved bank account, never while the partner is suspended.
//! - The schedule deals with each period of a partner once, whatever the number of processes.

mod gather;
mod http;
mod letters;
mod model;
mod rules;
mod schedule;
mod store;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid, money::Rupiah},
};

pub use http::{
    cancel_settlement, configure_settlements, create_settlement, get_settlement,
    get_settlement_configuration, list_settlements, release_settlement,
};
pub use letters::letter;
pub use model::SettlementRow;

/// Makes the settlements that are due by schedule; says how many.
pub async fn run_schedules(app: &App) -> Result<u64> {
    schedule::run(app).await
}

/// What was paid out to a partner.
pub async fn settled(app: &App, partner: Uuid) -> Result<Rupiah> {
    store::settled(&app.db, partner).await
}

pub async fn find(app: &App, id: Uuid) -> Result<Option<SettlementRow>> {
    store::get(&app.db, id).await
}
