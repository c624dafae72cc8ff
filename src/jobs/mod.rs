//! Background jobs: deliveries, holds that expire, journeys that complete, scheduled settlements,
//! the roll-up of reports, and removing what is past its time.
//!
//! Each job has a supervised task of its own (see `supervisor`). A job that panics or ends is
//! restarted; the others go on.

mod deliveries;
mod supervisor;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};

use crate::{
    accounts,
    app::App,
    bookings, files,
    kernel::{
        error::Result,
        idempotency,
        outbox::Queue,
        set_aside::{self, RowJob},
    },
    notifications, reports, settlements, webhooks,
};

pub use supervisor::{Backoff, Job, Jobs, Supervisor};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

type Sweep = fn(App) -> BoxFuture<'static, Result<()>>;

/// What removes data that is past its time. A job each: one that fails does not stop the others.
const SWEEPS: [(&str, Sweep); 5] = [
    ("sweep_idempotency_keys", |app| {
        async move { idempotency::sweep(&app.db, app.clock.now()).await.map(drop) }.boxed()
    }),
    ("sweep_accounts", |app| {
        async move { accounts::sweep(&app.db, app.clock.now()).await }.boxed()
    }),
    ("sweep_notifications", |app| async move { notifications::sweep(&app).await }.boxed()),
    ("sweep_webhooks", |app| async move { webhooks::sweep(&app).await }.boxed()),
    ("sweep_files", |app| async move { files::sweep(&app, app.clock.now()).await }.boxed()),
];

impl App {
    /// Runs every background job until the service stops and the deliveries that were begun are
    /// made.
    pub async fn work(self) {
        let (jobs, stop) = (self.jobs.clone(), self.stop_signal());
        let mut all = Supervisor::new(self, jobs, stop, Backoff::default());
        all.finishing("deliver_events", 2 * SECOND, |app: App, job| async move {
            app.tell_until_stopped(&job).await;
        });
        for (name, queue) in [
            ("deliver_mail", Queue::Mail),
            ("deliver_payments", Queue::Payment),
            ("deliver_webhooks", Queue::Webhook),
        ] {
            all.finishing(name, 2 * SECOND, move |app: App, job| async move {
                app.deliver_until_stopped(queue, &job).await;
            });
        }
        // Seats are free again, and journeys complete, within a second of their time.
        all.every(RowJob::ExpireHolds.as_str(), SECOND, |app: App| async move {
            bookings::expire_some(&app).await
        });
        all.every(RowJob::DropReschedules.as_str(), SECOND, |app: App| async move {
            bookings::reschedule::expire_some(&app).await
        });
        all.every(RowJob::CompleteJourneys.as_str(), SECOND, |app: App| async move {
            bookings::complete_some(&app).await
        });
        // A day's settlements are made in its first minute.
        all.every(RowJob::SettleSchedules.as_str(), MINUTE, |app: App| async move {
            settlements::run_schedules(&app).await
        });
        all.looping(RowJob::RollUpReports.as_str(), 2 * SECOND, roll_up);
        all.looping("show_notifications", SECOND, |app: App, job| async move {
            notifications::show_for_ever(&app, &job).await;
        });
        all.every("count_set_aside", MINUTE, |app: App| async move {
            app.metrics.set_aside(&set_aside::counts(&app.db).await?);
            Ok(())
        });
        all.every("sweep_rate_limits", HOUR, |app: App| async move {
            app.limits.forget_idle();
            Ok(())
        });
        for (name, sweep) in SWEEPS {
            all.every(name, HOUR, sweep);
        }
        all.run().await;
    }

    /// Removes what is past its time. All of it is tried; the first failure is told.
    pub async fn sweep(&self) -> Result<()> {
        let mut swept = Ok(());
        for (_, sweep) in SWEEPS {
            swept = swept.and(sweep(self.clone()).await);
        }
        swept
    }
}

/// Reports also read moves that are not rolled up; the roll-up keeps these few. The first start on
/// bookings of the past, or in another time zone, makes the figures from the bookings, which may take
/// long.
async fn roll_up(app: App, job: Arc<Job>) {
    job.may_take(10 * MINUTE);
    while let Err(error) = reports::ensure(&app).await {
        job.failed(&error);
        tokio::time::sleep(5 * SECOND).await;
    }
    job.repeat(|| reports::roll_up_batch(&app)).await;
}
