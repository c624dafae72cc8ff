//! Scheduled settlements.

use std::collections::HashMap;

use chrono::NaiveDate;

use super::{
    gather::{SettlementRequest, settle_dues},
    model::Origin,
    rules, store,
};
use crate::{
    app::App,
    kernel::{
        error::Result,
        ids::Uuid,
        set_aside::{self, RowJob},
    },
    partners::settlement_configuration::{self, SettlementConfiguration},
};

const JOB: RowJob = RowJob::SettleSchedules;

/// Settles every period that has ended, including missed ones. A partner whose settlement fails
/// does not affect others; it is retried with growing pauses.
pub async fn run(app: &App) -> Result<u64> {
    let (today, now) = (app.today(), app.clock.now());
    let mut due = HashMap::new();
    for (partner, configuration, last_run) in settlement_configuration::scheduled(&app.db).await? {
        if let Some(due_on) = rules::unsettled_due(&configuration, last_run, today) {
            due.insert(partner, (configuration, due_on));
        }
    }
    let one = |partner: Uuid| {
        let due = due.get(&partner);
        async move {
            match due {
                Some((configuration, due_on)) => settle(app, partner, configuration, *due_on).await,
                None => Ok(false),
            }
        }
    };
    let noted = set_aside::noted(&app.db, JOB).await?;
    let fresh = due.keys().filter(|partner| !noted.contains(partner)).copied().collect();
    let made = set_aside::each(&app.db, JOB, fresh, 1, now, one).await?;
    Ok(made + set_aside::retry(&app.db, JOB, now, one).await?)
}

async fn settle(
    app: &App,
    partner: Uuid,
    configuration: &SettlementConfiguration,
    due: NaiveDate,
) -> Result<bool> {
    let now = app.clock.now();
    let (start, end) = rules::period(configuration, due);
    let wanted = SettlementRequest {
        partner_id: partner,
        start,
        end,
        // Includes everything that is unsettled.
        from: NaiveDate::default(),
        origin: Origin::Scheduled,
        note: "",
        by: None,
        minimum: configuration.minimum_amount,
    };
    let mut tx = app.db.begin().await?;
    if !store::claim_run(&mut tx, partner, due).await? {
        return Ok(false);
    }
    if let Some(id) = settle_dues(&mut tx, &app.sealer, wanted, now).await? {
        store::set_run(&mut tx, partner, due, id).await?;
        tx.commit().await?;
        return Ok(true);
    }
    drop(tx);
    // Below the minimum; the period still counts as done.
    let mut tx = app.db.begin().await?;
    store::claim_run(&mut tx, partner, due).await?;
    tx.commit().await?;
    Ok(false)
}
