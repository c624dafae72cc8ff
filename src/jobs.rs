//! What goes on in the background: deliveries, holds that end, journeys that complete, settlements,
//! figures, and forgetting.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{
    task::{JoinError, JoinSet},
    time::MissedTickBehavior,
};

use crate::{
    accounts,
    app::App,
    bookings, files,
    kernel::{
        error::{Error, Result},
        idempotency,
        outbox::{self, Item, Queue},
    },
    notifications, payments, reports, settlements, webhooks,
};

/// Whether a delivered item is out of the outbox already.
struct Gone(bool);

impl App {
    /// Does everything that goes on in the background, until the service stops and what was begun
    /// is delivered.
    pub async fn work(self) {
        let deliver = async {
            tokio::join!(
                self.tell_until_stopped(),
                self.deliver_until_stopped(Queue::Mail),
                self.deliver_until_stopped(Queue::Payment),
                self.deliver_until_stopped(Queue::Webhook),
            );
        };
        let others = async {
            tokio::join!(
                self.expire_for_ever(),
                self.settle_for_ever(),
                self.fold_for_ever(),
                notifications::show_for_ever(&self),
                self.sweep_for_ever(),
            );
        };
        tokio::select! { () = deliver => {}, () = others => {} }
    }

    /// Delivers what is due in a queue, so many side by side, each well within its lease: a slow one
    /// neither holds up the others nor is taken over while it runs. When the service stops it
    /// finishes what it has begun.
    async fn deliver_until_stopped(&self, queue: Queue) {
        let mut posted = self.db.posted();
        let (mut running, width) = (JoinSet::new(), side_by_side(queue));
        let mut more = false;
        while !self.is_stopping() {
            // Letters can wait for those who stand at the counter; tickets take long to draw.
            let slowly = queue == Queue::Mail && self.db.is_busy();
            if slowly {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            // Several at a time: a claim is a transaction.
            if running.len() <= width / 2 {
                let free = if slowly { 1 } else { width - running.len() };
                let claimed = outbox::claim(&self.db, queue, self.clock.now(), free as i64).await;
                let claimed = claimed.unwrap_or_else(unreadable);
                more = claimed.len() == free;
                for item in claimed {
                    let app = self.clone();
                    running.spawn(async move { app.deliver_one(&item).await });
                }
            }
            tokio::select! {
                Some(done) = running.join_next() => lost(done),
                _ = posted.changed(), if !more => {}
                () = tokio::time::sleep(Duration::from_secs(2)) => {}
                () = self.stopping() => {}
            }
        }
        while let Some(done) = running.join_next().await {
            lost(done);
        }
    }

    /// Turns events into what follows from them, many in one transaction: it needs nobody but the
    /// database. They gather for a moment, which nobody sees; for a longer one while others queue.
    async fn tell_until_stopped(&self) {
        const GATHER: Duration = Duration::from_millis(40);
        const GIVE_WAY: Duration = Duration::from_millis(200);
        let mut posted = self.db.posted();
        while !self.is_stopping() {
            let claimed = outbox::claim(&self.db, Queue::Event, self.clock.now(), EVENTS).await;
            let claimed = claimed.unwrap_or_else(unreadable);
            let more = claimed.len() as i64 == EVENTS;
            if !claimed.is_empty() {
                let app = self.clone();
                lost(tokio::spawn(async move { app.tell(claimed).await }).await);
            }
            tokio::select! {
                () = async {}, if more => {}
                _ = posted.changed() => {}
                () = tokio::time::sleep(Duration::from_secs(2)) => {}
                () = self.stopping() => {}
            }
            tokio::time::sleep(if self.db.is_busy() { GIVE_WAY } else { GATHER }).await;
        }
    }

    /// All at once. Should one of them stand in the way, each by itself; and so whatever comes
    /// again, lest one that crashes its deliverer takes others along.
    async fn tell(&self, items: Vec<Item>) -> Result<()> {
        let (new, mut again): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| item.attempts == 1);
        match notifications::deliver(self, &new).await {
            Ok(()) => {}
            // They come back by themselves; there is too much to do as it is.
            // Where it is not known whether they were delivered, the next look finds out.
            Err(error @ (Error::Unavailable(_) | Error::OutcomeUnknown(_))) => return Err(error),
            Err(_) => again.extend(new),
        }
        for item in again {
            let app = self.clone();
            lost(tokio::spawn(async move { app.deliver_one(&item).await }).await);
        }
        Ok(())
    }

    /// Delivers some of what is due now; says how much it was.
    pub async fn deliver_due(&self) -> Result<usize> {
        self.deliver_from(Queue::ALL).await
    }

    /// The same of some queues.
    pub async fn deliver_from(&self, queues: &[Queue]) -> Result<usize> {
        let mut count = 0;
        for queue in queues {
            let items = outbox::claim(&self.db, *queue, self.clock.now(), EVENTS).await?;
            count += items.len();
            if *queue == Queue::Event {
                self.tell(items).await?;
                continue;
            }
            let app = self.clone();
            let deliver = |item: Item| {
                let app = app.clone();
                async move { app.deliver_one(&item).await }
            };
            for done in join_all(items.into_iter().map(deliver)).await {
                done?;
            }
        }
        Ok(count)
    }

    async fn deliver_one(&self, item: &Item) -> Result<()> {
        let delivered = match item.is_poison() {
            true => Err(Error::internal("it crashes whoever delivers it")),
            false => tokio::time::timeout(Duration::from_secs(45), self.deliver(item))
                .await
                .unwrap_or_else(|_| Err(Error::Unavailable("too slow".into()))),
        };
        let error = match delivered {
            Ok(Gone(true)) => return Ok(()),
            Ok(Gone(false)) => return outbox::done(&self.db, item).await,
            Err(error) => error,
        };
        let (topic, id) = (&item.topic, item.id);
        tracing::warn!(%topic, %id, attempts = item.attempts, %error, "not delivered");
        outbox::failed(&self.db, item, &error.to_string(), self.clock.now()).await
    }

    /// Who takes which topic.
    async fn deliver(&self, item: &Item) -> Result<Gone> {
        let done = match item.topic.as_str() {
            "mail.letter" => notifications::send_letter(self, item).await,
            "webhook.delivery" => webhooks::deliver(self, item).await,
            "payment.wanted" | "payment.unconfirmed" => payments::deliver(self, item).await,
            topic if topic.starts_with("account.") => accounts::deliver(self, item).await,
            // The event becomes what follows from it, and is gone with that.
            _ => {
                let one = std::slice::from_ref(item);
                return notifications::deliver(self, one).await.map(|()| Gone(true));
            }
        };
        done.map(|()| Gone(false))
    }

    /// Unpaid seats are free again, and journeys complete, within a second of their time.
    async fn expire_for_ever(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = bookings::expire(self).await {
                tracing::warn!(%error, "holds were not let go");
            }
            if let Err(error) = bookings::complete(self).await {
                tracing::warn!(%error, "journeys were not completed");
            }
        }
    }

    /// Reports read what is not folded, too; folding keeps that short. A first start on bookings of
    /// the past, or one in another zone, makes the figures before.
    async fn fold_for_ever(&self) {
        while let Err(error) = reports::ensure(self).await {
            tracing::warn!(%error, "the figures of the reports are not made yet");
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        let mut tick = tokio::time::interval(Duration::from_secs(2));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = reports::fold(self).await {
                tracing::warn!(%error, "figures were not folded");
            }
        }
    }

    /// A day's settlements are made in its first minute.
    async fn settle_for_ever(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(60));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = settlements::run_schedules(self).await {
                tracing::warn!(%error, "schedules were not looked at");
            }
        }
    }

    async fn sweep_for_ever(&self) {
        let mut hourly = tokio::time::interval(Duration::from_secs(60 * 60));
        loop {
            hourly.tick().await;
            self.limits.forget_idle();
            if let Err(error) = self.sweep().await {
                tracing::error!(%error, "sweeping failed");
            }
        }
    }

    /// Forgets what is past its time.
    pub async fn sweep(&self) -> Result<()> {
        let now = self.clock.now();
        idempotency::sweep(&self.db, now).await?;
        accounts::sweep(&self.db, now).await?;
        notifications::sweep(self).await?;
        webhooks::sweep(self).await?;
        files::sweep(self, now).await
    }
}

/// How many events are dealt with in one transaction.
const EVENTS: i64 = 128;

/// How many items of a queue are delivered at once; they mostly wait for somebody.
fn side_by_side(queue: Queue) -> usize {
    match queue {
        Queue::Payment => 4,
        Queue::Event | Queue::Mail => 8,
        Queue::Webhook => 16,
    }
}

/// Next time.
fn unreadable(error: Error) -> Vec<Item> {
    tracing::error!(%error, "the outbox cannot be read");
    Vec::new()
}

/// The others go on; this one comes back when its lease is past.
fn lost(done: Result<Result<()>, JoinError>) {
    if let Err(error) = done.map_err(Error::internal).flatten() {
        tracing::error!(%error, "a delivery was lost");
    }
}
