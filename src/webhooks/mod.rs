//! Webhooks: other systems of the platform that follow what happens.
//!
//! - A delivery is made in the transaction that tells of the event, and goes out through the
//!   outbox: at least once, with the event's id, later and later for a day, in the order of each
//!   thing that it is about. Each is signed by the Standard Webhooks specification.
//! - Where a request goes is decided by the address that is connected to: private ones are refused,
//!   whatever the name says, and redirects are not followed.
//! - A subscription that answers 410, or nothing good for a day, is switched off.

mod address;
mod http;
mod model;
mod send;
mod store;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::{
    app::App,
    events::{DomainEvent, Task, WebhookTask},
    kernel::{
        db::Tx,
        error::Result,
        ids::{self, Uuid},
        outbox::{self, Item, New},
    },
};

use model::EventName;

pub use http::{
    create_webhook, delete_webhook, list_deliveries, list_webhooks, resend_delivery, update_webhook,
};
pub use send::{Caller as WebhookCaller, deliver};

/// An event on its way to subscribers.
pub struct Announcement<'a> {
    pub item: &'a Item,
    pub event: &'a DomainEvent,
    pub data: &'a Value,
}

/// Queues a delivery of each event for every subscription to it.
pub async fn queue(tx: &mut Tx, events: &[Announcement<'_>], now: DateTime<Utc>) -> Result<()> {
    for webhook in store::active(tx).await? {
        for Announcement { item, event, data } in events {
            let Some(name) = EventName::of(event.kind()) else { continue };
            if !webhook.follows(name) {
                continue;
            }
            let id = ids::fresh();
            let lane = format!("webhook/{}/{}", webhook.id.simple(), event.subject().simple());
            let payload = json!({ "type": name, "timestamp": item.created_at, "data": data });
            if store::insert(tx, id, webhook.id, item, name, &payload, &lane, now).await? {
                send_out(tx, id, lane, Some(*item), now).await?;
            }
        }
    }
    Ok(())
}

async fn send_out(
    tx: &mut Tx,
    delivery_id: Uuid,
    lane: String,
    after: Option<&Item>,
    now: DateTime<Utc>,
) -> Result<()> {
    let task = Task::DeliverWebhook(WebhookTask { delivery_id });
    let (topic, payload, queue) = (task.name(), task.payload()?, task.queue());
    let new = New { topic, payload, lane: Some(lane), due_at: now, queue, after };
    outbox::put_new(tx, new, now).await.map(drop)
}

/// Puts secrets that older keys have sealed under the current one; says how many.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}

/// Forgets deliveries of more than a month ago.
pub async fn sweep(app: &App) -> Result<()> {
    store::forget(&app.db, app.clock.now() - TimeDelta::days(31)).await
}
