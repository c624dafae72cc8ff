//! Deletion of partners that registered and never verified their e-mail address.

use chrono::TimeDelta;

use super::{model::PartnerStatus, store};
use crate::{
    accounts,
    app::App,
    files, harbours,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        set_aside::{self, Pass, RowJob},
    },
};

/// How long a registration waits for its verification.
const WAITING: TimeDelta = TimeDelta::days(7);
/// Maximum number of batches per run.
const BATCHES: usize = 10;

pub async fn delete_unverified(app: &App) -> Result<()> {
    for _ in 0..BATCHES {
        if !delete_some(app).await?.more {
            break;
        }
    }
    Ok(())
}

async fn delete_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 100;
    const JOB: RowJob = RowJob::DeleteUnverified;
    let now = app.clock.now();
    let due = store::unverified(&app.db, now - WAITING, SOME).await?;
    let more = due.len() == SOME as usize;
    let done = set_aside::each(&app.db, JOB, due, 1, now, |id| delete_one(app, id)).await?;
    let again = set_aside::retry(&app.db, JOB, now, |id| delete_one(app, id)).await?;
    Ok(Pass { done: done + again, more })
}

/// `false` if the partner has verified its address in the meantime, or is deleted already. Locks the
/// partner, then the account, like an update of a partner.
async fn delete_one(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let partner = match store::lock_row(&mut tx, id, now).await {
        Err(Error::NotFound) => return Ok(false),
        partner => partner?,
    };
    if partner.status != PartnerStatus::Draft || partner.submitted_at.is_some() {
        return Ok(false);
    }
    if !accounts::erase_unverified(&mut tx, partner.user_id, now - WAITING, now).await? {
        return Ok(false);
    }
    store::delete_notifications(&mut tx, &partner).await?;
    harbours::lock(&mut tx).await?;
    let named = harbours::of_partner(&mut tx, id).await?;
    store::delete_draft(&mut tx, id).await?;
    harbours::delete_unused(&mut tx, &named).await?;
    files::give_up_all(&mut tx, partner.user_id, now).await?;
    tx.commit().await?;
    tracing::info!(partner = %id, "a partner that never verified its address was deleted");
    Ok(true)
}
