//! Delivery of outbox items.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};

use crate::{
    accounts,
    app::App,
    events::{Message, Task},
    kernel::{
        error::{Error, Result},
        outbox::{self, Item, Queue},
        supervisor::Job,
    },
    notifications, payments, webhooks,
};

/// What became of an item.
enum Delivered {
    /// It still has to be removed from the outbox.
    Done,
    /// It was removed in the transaction of its effects.
    Removed,
    /// This version does not know its name.
    Unknown,
}

impl App {
    /// Delivers the due items of a queue, several concurrently, each well within its lease: a slow item
    /// does not delay the others, and no other process claims it while it is delivered. When the
    /// service stops, deliveries that have begun are finished. A run of the job is a successful claim;
    /// while all places are taken nothing is claimed, which counts as a success.
    pub(super) async fn run_delivery_loop(&self, queue: Queue, job: &Job) {
        let mut posted = self.db.posted();
        let (mut running, width) = (JoinSet::new(), concurrency(queue));
        let mut more = false;
        while !self.is_stopping() {
            // Mail gives way to requests: drawing tickets takes long.
            let slowly = queue == Queue::Mail && self.db.is_busy();
            if slowly {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            // Claim several items at once: a claim is a transaction.
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
                Some(done) = running.join_next() => log_failure(done),
                _ = posted.changed(), if !more => {}
                () = tokio::time::sleep(Duration::from_secs(2)) => {}
                () = self.stopping() => {}
            }
        }
        while let Some(done) = running.join_next().await {
            log_failure(done);
        }
    }

    /// Fans events out to mail, notifications and webhooks, many in one transaction. Events are
    /// gathered for `GATHER`, and for `GIVE_WAY` while the database is busy.
    pub(super) async fn run_event_loop(&self, job: &Job) {
        const GATHER: Duration = Duration::from_millis(40);
        const GIVE_WAY: Duration = Duration::from_millis(200);
        let mut posted = self.db.posted();
        while !self.is_stopping() {
            let claimed = outbox::claim(&self.db, Queue::Event, self.clock.now(), EVENTS).await;
            let claimed = job.done(claimed).unwrap_or_default();
            let more = claimed.len() as i64 == EVENTS;
            if !claimed.is_empty() {
                let app = self.clone();
                log_failure(tokio::spawn(async move { app.fan_out(claimed).await }).await);
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

    /// Fans out all new items in one transaction. If that fails, each is fanned out by itself, and so
    /// is every item that is retried: an item that panics must not affect others.
    async fn fan_out(&self, items: Vec<Item>) -> Result<()> {
        let (new, mut again): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| item.attempts == 1);
        let delivered = Box::pin(notifications::deliver(self, &new));
        let delivered = match &self.telemetry {
            None => delivered.await,
            Some(telemetry) => {
                let count = new.len() as u64;
                let items = |&(): &()| (count > 0).then_some(count);
                telemetry.job("deliver events".into(), delivered, items).await
            }
        };
        match delivered {
            Ok(()) => {}
            // The items are claimed again when their lease ends. Where the outcome of the commit is
            // unknown, that claim finds out.
            Err(error @ (Error::Unavailable(_) | Error::OutcomeUnknown(_))) => return Err(error),
            Err(_) => again.extend(new),
        }
        for item in again {
            let app = self.clone();
            log_failure(tokio::spawn(async move { app.deliver_one(&item).await }).await);
        }
        Ok(())
    }

    /// Delivers one batch of due items from every queue, and returns their number.
    pub async fn deliver_due(&self) -> Result<usize> {
        self.deliver_from(Queue::ALL).await
    }

    /// The same for some queues.
    pub async fn deliver_from(&self, queues: &[Queue]) -> Result<usize> {
        let mut count = 0;
        for queue in queues {
            let items = outbox::claim(&self.db, *queue, self.clock.now(), EVENTS).await?;
            count += items.len();
            if *queue == Queue::Event {
                self.fan_out(items).await?;
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
            true => Err(Error::internal("its delivery has panicked too often")),
            false => {
                let delivery = Box::pin(self.deliver_in_time(item));
                match &self.telemetry {
                    None => delivery.await,
                    Some(telemetry) => {
                        let name = format!("deliver {}", item.topic);
                        telemetry.job(name, delivery, |_| Some(1)).await
                    }
                }
            }
        };
        let error = match delivered {
            Ok(Delivered::Unknown) => {
                return outbox::postpone(&self.db, item, self.clock.now()).await;
            }
            Ok(delivered) => {
                if let Delivered::Done = delivered {
                    outbox::done(&self.db, item).await?;
                }
                if item.is_retry() {
                    outbox::forget_postponed(&self.db, item).await?;
                }
                return Ok(());
            }
            Err(error) => error,
        };
        let (topic, id) = (&item.topic, item.id);
        tracing::warn!(%topic, %id, attempts = item.attempts, %error, "delivery failed");
        outbox::failed(&self.db, item, &error.to_string(), self.clock.now()).await
    }

    async fn deliver_in_time(&self, item: &Item) -> Result<Delivered> {
        let delivered = tokio::time::timeout(Duration::from_secs(45), self.deliver(item)).await;
        delivered.unwrap_or_else(|_| Err(Error::Unavailable("timed out".into())))
    }

    /// Which domain delivers which message.
    async fn deliver(&self, item: &Item) -> Result<Delivered> {
        let Some(message) = Message::decode(item)? else { return Ok(Delivered::Unknown) };
        match message {
            Message::Event(_) => {
                notifications::deliver(self, std::slice::from_ref(item)).await?;
                return Ok(Delivered::Removed);
            }
            Message::Task(Task::SendLetter(letter)) => match letter.subject()? {
                Some(subject) => notifications::send_letter(self, item, &subject).await?,
                None => return Ok(Delivered::Unknown),
            },
            Message::Task(Task::DeliverWebhook(task)) => {
                webhooks::deliver(self, item, task.delivery_id).await?;
            }
            Message::Task(Task::RequestPayment(task)) => {
                payments::ensure_requested(self, task.booking_id).await?;
            }
            Message::Task(Task::ConfirmPayment(task)) => {
                payments::confirm_notice(self, &task.notice).await?;
            }
            Message::Task(Task::SendFoundBookings(found)) => {
                notifications::send_found_bookings(self, item, found).await?;
            }
            Message::Task(Task::TellReseller(letter)) => match letter.subject()? {
                Some(subject) => notifications::tell_reseller(self, item, &subject).await?,
                None => return Ok(Delivered::Unknown),
            },
            Message::Task(Task::SendTickets(to)) => {
                notifications::send_tickets(self, item, to).await?;
            }
            Message::Task(Task::TellFormerContact(former)) => {
                notifications::tell_former_contact(self, item, former).await?;
            }
            Message::AccountLetter(letter) => accounts::send_letter(self, item, letter).await?,
        }
        Ok(Delivered::Done)
    }
}

/// How many events are fanned out in one transaction.
const EVENTS: i64 = 128;

/// How many items of a queue are delivered concurrently. A delivery mostly waits for another system.
fn concurrency(queue: Queue) -> usize {
    match queue {
        Queue::Payment => 4,
        Queue::Event | Queue::Mail => 8,
        Queue::Webhook => 16,
    }
}

/// Logs a delivery that failed or panicked. Its item is claimed again when its lease ends.
fn log_failure(done: Result<Result<()>, JoinError>) {
    if let Err(error) = done.map_err(Error::internal).flatten() {
        tracing::error!(%error, "a delivery failed");
    }
}
