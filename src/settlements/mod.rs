//! Settlements: payouts to partners.
//!
//! - A settlement takes dues (see `ledger`) by writing its id into their rows, so each is in at most
//!   one live settlement. Taking, paying and releasing dues lock the partner's row.
//! - It takes departures of its period, and debts of the partner from earlier days or refunds, which
//!   are netted. A settlement that would pay nothing is not created.
//! - It is released once, to the approved bank account, never while the partner is suspended or a
//!   change of the account awaits approval, and not by whoever created it (four eyes).
//! - The schedule settles each period of a partner once, whatever the number of processes.

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

/// Creates settlements that are due by schedule; returns their number.
pub async fn run_schedules(app: &App) -> Result<u64> {
    schedule::run(app).await
}

/// Total paid out to a partner.
pub async fn settled(app: &App, partner: Uuid) -> Result<Rupiah> {
    store::settled(&app.db, partner).await
}

pub async fn find(app: &App, id: Uuid) -> Result<Option<SettlementRow>> {
    store::get(&app.db, id).await
}
