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
    kernel::{
        db::Tx,
        error::Result,
        ids::{self, Uuid},
        outbox::{self, Item, New, Queue},
    },
};

pub use http::{
    create_webhook, delete_webhook, list_deliveries, list_webhooks, resend_delivery, update_webhook,
};
pub use send::{Caller as WebhookCaller, deliver};

/// Something that happened.
pub struct News<'a> {
    pub item: &'a Item,
    /// What it happened to.
    pub about: Uuid,
    pub data: &'a Value,
}

/// A delivery of each for every subscription that is for it.
pub async fn queue(tx: &mut Tx, news: &[News<'_>], now: DateTime<Utc>) -> Result<()> {
    for webhook in store::active(tx).await? {
        let wanted = webhook.events.as_array();
        for News { item, about, data } in news {
            if !wanted.is_some_and(|all| all.iter().any(|event| *event == item.topic)) {
                continue;
            }
            let id = ids::fresh();
            let lane = format!("webhook/{}/{}", webhook.id.simple(), about.simple());
            let payload = json!({ "type": item.topic, "timestamp": item.created_at, "data": data });
            if store::insert(tx, id, webhook.id, item, &payload, &lane, now).await? {
                send_out(tx, id, lane, Some(*item), now).await?;
            }
        }
    }
    Ok(())
}

async fn send_out(
    tx: &mut Tx,
    id: Uuid,
    lane: String,
    after: Option<&Item>,
    now: DateTime<Utc>,
) -> Result<()> {
    let payload = json!({ "delivery_id": id });
    let (lane, queue) = (Some(lane), Queue::Webhook);
    let new = New { topic: "webhook.delivery", payload, lane, due_at: now, queue, after };
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
