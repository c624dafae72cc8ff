//! Delivering what is in the outbox.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::Job;
use crate::{
    accounts,
    app::App,
    kernel::{
        error::{Error, Result},
        outbox::{self, Item, Queue},
    },
    notifications, payments, webhooks,
};

/// Whether a delivered item is out of the outbox already.
struct Gone(bool);

impl App {
    /// Delivers what is due in a queue, several side by side, each well within its lease: a slow one
    /// neither holds up the others nor is taken over while it runs. When the service stops it
    /// finishes what it has begun. A run of the job is a claim that succeeds; while all places are
    /// taken there is nothing to claim for, and that is no failure.
    pub(super) async fn deliver_until_stopped(&self, queue: Queue, job: &Job) {
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
                let claimed = job.done(claimed).unwrap_or_default();
                more = claimed.len() == free;
                for item in claimed {
                    let app = self.clone();
                    running.spawn(async move { app.deliver_one(&item).await });
                }
            } else {
                job.succeeded(Instant::now());
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

    /// Fans events out to letters, notifications and webhooks, many in one transaction. They are
    /// gathered for a moment, and for longer while the database is busy.
    pub(super) async fn tell_until_stopped(&self, job: &Job) {
        const GATHER: Duration = Duration::from_millis(40);
        const GIVE_WAY: Duration = Duration::from_millis(200);
        let mut posted = self.db.posted();
        while !self.is_stopping() {
            let claimed = outbox::claim(&self.db, Queue::Event, self.clock.now(), EVENTS).await;
            let claimed = job.done(claimed).unwrap_or_default();
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
            true => Err(Error::internal("the process crashed while delivering it")),
            false => tokio::time::timeout(Duration::from_secs(45), self.deliver(item))
                .await
                .unwrap_or_else(|_| Err(Error::Unavailable("timed out".into()))),
        };
        let error = match delivered {
            Ok(Gone(true)) => return Ok(()),
            Ok(Gone(false)) => return outbox::done(&self.db, item).await,
            Err(error) => error,
        };
        let (topic, id) = (&item.topic, item.id);
        tracing::warn!(%topic, %id, attempts = item.attempts, %error, "delivery failed");
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

/// The others go on; this one comes back when its lease is past.
fn lost(done: Result<Result<()>, JoinError>) {
    if let Err(error) = done.map_err(Error::internal).flatten() {
        tracing::error!(%error, "the outcome of a delivery could not be stored");
    }
}
