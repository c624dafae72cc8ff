//! Settlements: payouts to partners.
//!
//! - A settlement takes dues (see `ledger`) by writing its id into their rows, so each is in at most
//!   one live settlement. Taking, paying and releasing dues lock the partner's row.
//! - It takes departures of its period, and debts of the partner from earlier days, refunds or
//!   charges, which are netted. If nothing is left to pay out, it is a statement: its dues are closed,
//!   and the debt is carried as a due to the next one, or paid by the partner (a receipt).
//! - It is released to the approved bank account, never while the partner is suspended or a change of
//!   the account awaits approval, not after one of its bookings was refunded, and not by whoever
//!   created it (four eyes). Each release is a row of `settlement_payouts`, which has its postings; a
//!   payout that came back is payable again.
//! - The schedule settles each period of a partner once, whatever the number of processes.

mod gather;
mod http;
mod letters;
mod model;
mod payouts;
mod receipts;
mod release;
mod rules;
mod schedule;
mod store;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid, money::Rupiah},
};

pub use http::{
    cancel_settlement, configure_settlements, create_settlement, get_settlement,
    get_settlement_configuration, list_receipts, list_settlements, record_receipt,
    release_settlement, return_settlement,
};
pub use letters::{letter, return_letter};
pub use model::SettlementRow;
pub use payouts::{
    facts as payout_facts, payout_callback, settle as settle_payout, stop as stop_payout,
};
pub use release::{release_paid, take_back};

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
