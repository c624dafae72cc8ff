//! Settlements that nobody has to ask for.

use chrono::NaiveDate;

use super::{
    gather::{Wanted, gather},
    model::Origin,
    rules, store,
};
use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid},
    partners::agreement::{self, Agreement},
};

/// Deals with every period that is over. One that was missed is made up for: what it would have
/// taken waits still.
pub async fn run(app: &App) -> Result<u64> {
    let today = app.today();
    let mut made = 0;
    for (partner, agreement, last_run) in agreement::scheduled(&app.db).await? {
        let Some(due) = rules::last_due(&agreement, today) else { continue };
        if last_run.is_some_and(|last| last >= due) {
            continue;
        }
        match settle(app, partner, &agreement, due).await {
            Ok(settled) => made += u64::from(settled),
            // The others are paid nevertheless; this one is tried again.
            Err(error) => tracing::warn!(%partner, %error, "no settlement was made"),
        }
    }
    Ok(made)
}

async fn settle(app: &App, partner: Uuid, agreement: &Agreement, due: NaiveDate) -> Result<bool> {
    let now = app.clock.now();
    let (start, end) = rules::period(agreement, due);
    let wanted = Wanted {
        partner_id: partner,
        start,
        end,
        // Whatever waited, and whatever was too little before.
        from: NaiveDate::default(),
        origin: Origin::Scheduled,
        note: "",
        by: None,
        minimum: agreement.minimum_amount,
    };
    let mut tx = app.db.begin().await?;
    if !store::claim_run(&mut tx, partner, due).await? {
        return Ok(false);
    }
    if let Some(id) = gather(&mut tx, &app.sealer, wanted, now).await? {
        store::set_run(&mut tx, partner, due, id).await?;
        tx.commit().await?;
        return Ok(true);
    }
    drop(tx);
    // Too little this time; the period is dealt with nevertheless.
    let mut tx = app.db.begin().await?;
    store::claim_run(&mut tx, partner, due).await?;
    tx.commit().await?;
    Ok(false)
}
