//! Personal data (UU 27/2022): how long it is kept, and the export and erasure that a person can ask
//! for. `docs/operating.md` lists what is stored where.
//!
//! - Contact, passengers and free texts of a booking are replaced by placeholders: a number of days
//!   after it was over, or when the person asks for it and the booking is over. Amounts, codes, ids and
//!   counts stay, so the ledger and all reports stay as they were.
//! - A request is stored by the ids of what is still to be erased and a keyed hash of the address, in
//!   the transaction of its audit entry. What is over is erased at once, the rest by a job.
//! - A booking is erased while its row is locked, and the database refuses a contact in an erased
//!   booking.
//! - SQL about personal data of all domains is here, in `store`, so that it can be reviewed together.

mod erase;
mod export;
mod http;
mod model;
mod rules;
mod store;

use chrono::TimeDelta;

use crate::{
    app::App,
    kernel::{
        error::Result,
        set_aside::{self, Pass, RowJob},
    },
};

pub use http::{erase_personal_data, export_personal_data};

/// How long mails are kept as files.
const LETTERS_KEPT: TimeDelta = TimeDelta::days(30);
/// How many bookings or requests a pass of a job works on.
const SOME: i64 = 200;

/// Erases the personal data of some bookings that have been over for long enough. Each has a
/// transaction of its own.
pub async fn erase_expired_some(app: &App) -> Result<Pass> {
    const JOB: RowJob = RowJob::ErasePersonalData;
    let now = app.clock.now();
    let Some(until) = rules::kept_until(app.config.personal_data_days, now) else {
        return Ok(Pass::default());
    };
    let due = store::expired(&app.db, until, SOME).await?;
    let more = due.len() as i64 == SOME;
    let erase = |id| erase::expired_booking(app, id, until);
    let done = set_aside::each(&app.db, JOB, due, 4, now, erase).await?;
    let again = set_aside::retry(&app.db, JOB, now, erase).await?;
    if !more {
        app.db.scrub().await?;
    }
    Ok(Pass { done: done + again, more })
}

/// Erases some of what people have asked to erase, as far as it is over by now.
pub async fn finish_some(app: &App) -> Result<Pass> {
    const JOB: RowJob = RowJob::FinishErasures;
    let now = app.clock.now();
    let due = store::due(&app.db, now, SOME).await?;
    let more = due.len() as i64 == SOME;
    let done = set_aside::each(&app.db, JOB, due, 4, now, |id| erase::finish(app, id)).await?;
    let again = set_aside::retry(&app.db, JOB, now, |id| erase::finish(app, id)).await?;
    if !more {
        app.db.scrub().await?;
    }
    Ok(Pass { done: done + again, more })
}

/// Deletes mails that were kept as files for long enough.
pub async fn sweep_letters(app: &App) -> Result<()> {
    app.mailer.forget_before(app.clock.now() - LETTERS_KEPT).await.map(drop)
}
