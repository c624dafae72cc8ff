//! Webhooks: signed HTTP calls about events to systems that subscribe to them.
//!
//! - A delivery is created in the transaction of the fan-out and sent through the outbox: at least
//!   once, with the id of the event, retried for a day, in order for each entity. It is signed by
//!   the Standard Webhooks specification.
//! - The address that is connected to is checked: private ones are refused, whatever the name
//!   resolves to later, and redirects are not followed.
//! - A subscription that answers 410, or fails for a day, is deactivated.

mod address;
mod data;
mod http;
mod model;
mod resellers;
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

pub use data::{
    BookingEvent, DataSchema, PartnerEvent, PaymentReviewEvent, RefundEvent, SailingEvent,
    SettlementEvent, TermsEvent, any_data_schema,
};

pub use http::{
    create_webhook, delete_webhook, list_deliveries, list_webhooks, resend_delivery, update_webhook,
};
pub use resellers::{
    NotificationType, Subscription, create_subscription, delete_subscription, get_subscription,
    is_callable, queue_booking_update, queue_line_changes, subscriptions, update_subscription,
};
pub use send::{WebhookClient, deliver};

/// The events that can be subscribed to, for the documentation.
pub fn documented_events() -> impl Iterator<Item = (&'static str, DataSchema)> {
    EventName::ALL.iter().map(|name| (name.as_str(), name.data_schema()))
}

/// An event for subscribers.
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
                enqueue_delivery(tx, id, lane, Some(*item), now).await?;
            }
        }
    }
    Ok(())
}

async fn enqueue_delivery(
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

/// Re-encrypts secrets of older keys with the current one; returns their number.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}

/// Deletes deliveries older than a month.
pub async fn sweep(app: &App) -> Result<()> {
    store::delete_before(&app.db, app.clock.now() - TimeDelta::days(31)).await
}
