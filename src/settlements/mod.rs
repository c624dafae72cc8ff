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
mod model;
mod rules;
mod schedule;
mod store;

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        outbox::Item,
    },
};

pub use http::{
    cancel_settlement, configure_settlements, create_settlement, get_settlement,
    get_settlement_configuration, list_settlements, release_settlement,
};

/// Makes the settlements that are due by schedule; says how many.
pub async fn run_schedules(app: &App) -> Result<u64> {
    schedule::run(app).await
}

/// What was paid out to a partner.
pub async fn settled(app: &App, partner: Uuid) -> Result<Rupiah> {
    store::settled(&app.db, partner).await
}

/// What follows from news of settlements. Letters and notifications come from here, too.
pub async fn deliver(_: &App, item: &Item) -> Result<()> {
    match item.topic.as_str() {
        "settlement.created" | "settlement.released" => {
            tracing::info!(topic = %item.topic, payload = %item.payload, "happened");
            Ok(())
        }
        other => Err(Error::internal(format!("settlements do not take {other}"))),
    }
}
