//! Background jobs: deliveries, expired holds, completed journeys, scheduled settlements and invoices,
//! refunds and payouts through providers, the roll-up of reports, and the removal of expired data.
//!
//! Each job has a supervised task of its own (see `kernel::supervisor`). A job that panics or ends is
//! restarted; the others go on.

mod deliveries;
mod transfers;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};

use crate::{
    accounts,
    app::App,
    bookings, files,
    kernel::{
        error::Result,
        idempotency,
        outbox::{self, Queue},
        set_aside::{self, RowJob},
        supervisor::{Backoff, Job, Supervisor},
    },
    ledger, notifications, partners, payments, privacy, reports, resellers, sailings, settlements,
    webhooks,
};

const SECOND: Duration = Duration::from_secs(1);
const QUARTER_MINUTE: Duration = Duration::from_secs(15);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

type Sweep = fn(App) -> BoxFuture<'static, Result<()>>;

/// Jobs that remove expired data. One that fails does not stop the others.
const SWEEPS: [(&str, Sweep); 8] = [
    ("sweep_idempotency_keys", |app| {
        async move { idempotency::sweep(&app.db, app.clock.now()).await.map(drop) }.boxed()
    }),
    ("sweep_accounts", |app| {
        async move { accounts::sweep(&app.db, app.clock.now()).await }.boxed()
    }),
    (RowJob::DeleteUnverified.as_str(), |app| {
        async move { partners::delete_unverified(&app).await }.boxed()
    }),
    ("sweep_notifications", |app| async move { notifications::sweep(&app).await }.boxed()),
    ("sweep_webhooks", |app| async move { webhooks::sweep(&app).await }.boxed()),
    ("sweep_letters", |app| async move { privacy::sweep_letters(&app).await }.boxed()),
    ("sweep_booking_lookups", |app| async move { bookings::sweep_lookups(&app).await }.boxed()),
    ("sweep_files", |app| async move { files::sweep(&app, app.clock.now()).await }.boxed()),
];

impl App {
    /// Runs every background job until the service stops and the deliveries that have begun are
    /// finished.
    pub async fn run_jobs(self) {
        let (jobs, stop) = (self.jobs.clone(), self.stop_signal());
        let has_replica = self.db.replica_state().is_some();
        let mut all = Supervisor::new(self, jobs, stop, Backoff::default());
        all.finishing("deliver_events", 2 * SECOND, |app: App, job| async move {
            app.run_event_loop(&job).await;
        });
        for (name, queue) in [
            ("deliver_mail", Queue::Mail),
            ("deliver_payments", Queue::Payment),
            ("deliver_webhooks", Queue::Webhook),
        ] {
            all.finishing(name, 2 * SECOND, move |app: App, job| async move {
                app.run_delivery_loop(queue, &job).await;
            });
        }
        if has_replica {
            // A replica that does not answer is logged and not read; it is no failure of the job.
            all.every("measure_replica", SECOND, |app: App| async move {
                let _ = app.db.measure_replica().await;
                Ok(())
            });
        }
        // Seats are released, and journeys completed, within a second of their time.
        all.every(RowJob::ExpireHolds.as_str(), SECOND, |app: App| async move {
            bookings::expire_some(&app).await
        });
        all.every(RowJob::DropReschedules.as_str(), SECOND, |app: App| async move {
            bookings::reschedule::expire_some(&app).await
        });
        all.every(RowJob::CompleteJourneys.as_str(), SECOND, |app: App| async move {
            bookings::complete_some(&app).await
        });
        // A day's settlements are created in its first minute.
        all.every(RowJob::SettleSchedules.as_str(), MINUTE, |app: App| async move {
            settlements::run_schedules(&app).await
        });
        // A period is invoiced in the first minute after it.
        all.every(RowJob::InvoiceResellers.as_str(), MINUTE, |app: App| async move {
            resellers::run_schedules(&app).await
        });
        all.every(RowJob::SendRefunds.as_str(), 2 * SECOND, |app: App| async move {
            payments::send_refunds(&app).await
        });
        // A run may wait for a provider several times.
        all.every(RowJob::CallProvider.as_str(), 10 * SECOND, |app: App| async move {
            transfers::run_some(&app).await
        });
        all.every(RowJob::ErasePersonalData.as_str(), HOUR, |app: App| async move {
            privacy::erase_expired_some(&app).await
        });
        all.every(RowJob::FinishErasures.as_str(), MINUTE, |app: App| async move {
            privacy::finish_some(&app).await
        });
        all.looping(RowJob::RollUpReports.as_str(), 2 * SECOND, run_roll_up_loop);
        all.every("roll_up_sailings", 2 * SECOND, |app: App| async move {
            sailings::roll_up_some_days(&app).await
        });
        all.every("roll_up_ledger", 2 * SECOND, |app: App| async move {
            ledger::roll_up_batch(&app).await
        });
        // New texts are found without the index, so there must be few of them.
        all.every("index_bookings", 5 * SECOND, |app: App| async move {
            bookings::index_texts(&app.db, 400).await
        });
        // Autovacuum analyses after changes; a restored table has none.
        all.every("analyze_new_tables", MINUTE, |app: App| async move {
            Ok(app.db.analyze_new_tables().await?)
        });
        all.looping("show_notifications", SECOND, |app: App, job| async move {
            notifications::run_publish_loop(&app, &job).await;
        });
        all.every("count_set_aside", MINUTE, |app: App| async move {
            app.metrics.set_aside(&set_aside::counts(&app.db).await?);
            Ok(())
        });
        all.every("measure_outbox", QUARTER_MINUTE, |app: App| async move {
            let now = app.clock.now();
            app.metrics.outbox(&outbox::backlog(&app.db, now).await?, now);
            Ok(())
        });
        all.every("forget_guest_views", MINUTE, |app: App| async move {
            app.guest_views().clear();
            Ok(())
        });
        all.every("announce_line_changes", MINUTE, |app: App| async move {
            webhooks::queue_line_changes(&app).await?;
            Ok(())
        });
        all.every("sweep_rate_limits", HOUR, |app: App| async move {
            app.limits().forget_idle();
            app.key_limits().forget_idle();
            Ok(())
        });
        for (name, sweep) in SWEEPS {
            all.every(name, HOUR, sweep);
        }
        all.run().await;
    }

    /// Sends the refunds that are due and works on all due transfers; returns how many it worked on.
    pub async fn run_transfers(&self) -> Result<u64> {
        let mut done = 0;
        while payments::send_refunds(self).await?.more {}
        loop {
            let pass = transfers::run_some(self).await?;
            done += pass.done;
            if !pass.more {
                return Ok(done);
            }
        }
    }

    /// Removes expired data. Every sweep runs; the first error is returned.
    pub async fn sweep(&self) -> Result<()> {
        let mut swept = Ok(());
        for (_, sweep) in SWEEPS {
            swept = swept.and(sweep(self.clone()).await);
        }
        swept
    }
}

/// Reports also read the transitions that are not rolled up yet, so there must be few of them. The
/// first start on existing bookings, or in another time zone, computes all figures from the bookings,
/// which may take long.
async fn run_roll_up_loop(app: App, job: Arc<Job>) {
    job.may_take(10 * MINUTE);
    while let Err(error) = reports::ensure(&app).await {
        job.failed(&error);
        tokio::time::sleep(5 * SECOND).await;
    }
    job.repeat(|| reports::roll_up_batch(&app)).await;
}
