//! The SQL of webhooks.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::model::{
    DeliveriesQuery, Delivery, DeliveryStatus, DisabledReason, EventName, Webhook, WebhookForm,
    WebhooksQuery,
};
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    http::Page,
    ids::Uuid,
    outbox::Item,
    seal::Sealer,
};

macro_rules! webhook {
    ($rest:literal) => {
        concat!(
            "SELECT id, url, events, active, failing_since, disabled_reason, created_at, updated_at
             FROM webhooks",
            $rest
        )
    };
}

/// Those of resellers are none of the platform's.
pub async fn get(db: &Db, id: Uuid) -> Result<Option<Webhook>> {
    Ok(db.sql(webhook!(" WHERE id = $1 AND reseller_id IS NULL")).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Webhook> {
    Ok(tx.sql(webhook!(" WHERE id = $1")).bind(id).one().await?)
}

pub async fn active(tx: &mut Tx) -> Result<Vec<Webhook>> {
    Ok(tx.sql(webhook!(" WHERE active AND reseller_id IS NULL ORDER BY id")).all().await?)
}

pub async fn list(db: &Db, query: &WebhooksQuery) -> Result<Page<Webhook>> {
    let paging = &query.paging;
    let rows = db
        .list(webhook!(""))
        .only("reseller_id IS NULL")
        .filter("active = ?", query.active)
        .search(&["url"], paging.search())
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn create(
    tx: &mut Tx,
    id: Uuid,
    form: &WebhookForm,
    sealed_secret: String,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO webhooks (id, url, events, active, secret, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6)",
    )
    .bind(id)
    .bind(form.url.trim().to_owned())
    .bind(json!(form.events))
    .bind(form.active.clone().over(None).unwrap_or(true))
    .bind(sealed_secret)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

/// A change resets the record of failures.
pub async fn update(
    tx: &mut Tx,
    before: &Webhook,
    form: &WebhookForm,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE webhooks SET url = $1, events = $2, active = $3, failing_since = NULL,
           disabled_reason = NULL, updated_at = $4
         WHERE id = $5",
    )
    .bind(form.url.trim().to_owned())
    .bind(json!(form.events))
    .bind(form.active.clone().over(Some(before.active)).unwrap_or(true))
    .bind(now)
    .bind(before.id)
    .run()
    .await?;
    Ok(())
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM webhook_deliveries WHERE webhook_id = $1").bind(id).run().await?;
    tx.sql("DELETE FROM webhooks WHERE id = $1").bind(id).run().await?;
    Ok(())
}

/// `false`: the event already has a delivery for this webhook.
#[allow(clippy::too_many_arguments)]
pub async fn insert(
    tx: &mut Tx,
    id: Uuid,
    webhook: Uuid,
    item: &Item,
    name: EventName,
    payload: &Value,
    lane: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let inserted = tx
        .sql(
            "INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, payload, lane,
               status, attempts, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7)
             ON CONFLICT (webhook_id, event_id) DO NOTHING",
        )
        .bind(id)
        .bind(webhook)
        .bind(item.id)
        .bind(name)
        .bind(payload.clone())
        .bind(lane.to_owned())
        .bind(now)
        .run()
        .await?;
    Ok(inserted == 1)
}

macro_rules! delivery {
    ($rest:literal) => {
        concat!(
            "SELECT id, event_id, type, payload, status, attempts, response_status, last_error,
               last_attempt_at, delivered_at, created_at
             FROM webhook_deliveries",
            $rest
        )
    };
}

pub async fn deliveries(db: &Db, webhook: Uuid, query: &DeliveriesQuery) -> Result<Page<Delivery>> {
    let paging = &query.paging;
    let list = db.list(delivery!("")).filter("webhook_id = ?", Some(webhook));
    // SQLite uses a partial index only with its own condition in the query.
    let list = match query.status {
        Some(DeliveryStatus::Pending | DeliveryStatus::Failed) => {
            list.only("status <> 'delivered'")
        }
        Some(DeliveryStatus::Delivered) | None => list,
    };
    let rows = list
        .filter("id = ?", query.delivery_id)
        .filter("status = ?", query.status)
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn delivery(tx: &mut Tx, webhook: Uuid, id: Uuid) -> Result<Option<Delivery>> {
    let row = tx
        .sql(delivery!(" WHERE webhook_id = $1 AND id = $2"))
        .bind(webhook)
        .bind(id)
        .maybe()
        .await?;
    Ok(row)
}

/// Everything that sending a delivery needs.
#[derive(crate::kernel::db::FromRow)]
pub struct Outgoing {
    pub event_id: Uuid,
    pub webhook_id: Uuid,
    pub payload: Value,
    pub url: String,
    pub secret: String,
    pub active: bool,
    /// Of a reseller, encrypted.
    pub headers: Option<String>,
}

pub async fn outgoing(db: &Db, id: Uuid) -> Result<Option<Outgoing>> {
    let outgoing = db
        .sql(
            "SELECT d.event_id, d.webhook_id, d.payload, w.url, w.secret, w.active, w.headers
             FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
             WHERE d.id = $1 AND d.status = 'pending'",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(outgoing)
}

/// The outcome of an attempt.
pub struct Attempt {
    pub status: DeliveryStatus,
    pub response_status: Option<i32>,
    pub error: Option<String>,
}

pub async fn record_attempt(
    tx: &mut Tx,
    id: Uuid,
    attempt: &Attempt,
    now: DateTime<Utc>,
) -> Result<()> {
    let delivered = attempt.status == DeliveryStatus::Delivered;
    tx.sql(
        "UPDATE webhook_deliveries SET status = $1, attempts = attempts + 1, response_status = $2,
           last_error = $3, last_attempt_at = $4, delivered_at = COALESCE($5, delivered_at)
         WHERE id = $6",
    )
    .bind(attempt.status)
    .bind(attempt.response_status)
    .bind(attempt.error.clone())
    .bind(now)
    .bind(delivered.then_some(now))
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Resets a delivery for another attempt; returns its lane.
pub async fn reset_delivery(tx: &mut Tx, id: Uuid) -> Result<String> {
    let lane = tx
        .sql(
            "UPDATE webhook_deliveries SET status = 'pending', attempts = 0, last_error = NULL
             WHERE id = $1 RETURNING lane",
        )
        .bind(id)
        .scalar()
        .await?;
    Ok(lane)
}

/// Records a success.
pub async fn mark_working(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE webhooks SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL")
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// Records a failure; returns the time since which all deliveries fail. `None`: the webhook was
/// changed meanwhile.
pub async fn mark_failing(
    tx: &mut Tx,
    id: Uuid,
    url: &str,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>> {
    let since: Option<(DateTime<Utc>,)> = tx
        .sql(
            "UPDATE webhooks SET failing_since = COALESCE(failing_since, $1)
             WHERE id = $2 AND url = $3 RETURNING failing_since",
        )
        .bind(now)
        .bind(id)
        .bind(url.to_owned())
        .maybe()
        .await?;
    Ok(since.map(|(since,)| since))
}

pub async fn switch_off(
    tx: &mut Tx,
    id: Uuid,
    reason: DisabledReason,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE webhooks SET active = FALSE, disabled_reason = $1, updated_at = $2
         WHERE id = $3 AND active",
    )
    .bind(reason)
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let rows: Vec<(Uuid, String, Option<String>)> =
        db.sql("SELECT id, secret, headers FROM webhooks").all().await?;
    let mut resealed = 0;
    for (id, secret, headers) in rows {
        if let Some(headers) = headers
            && let Some(new) = sealer.reseal(&headers)?
        {
            let update = db.sql("UPDATE webhooks SET headers = $1 WHERE id = $2");
            resealed += update.bind(new).bind(id).run().await?;
        }
        if let Some(new) = sealer.reseal(&secret)? {
            let update = db.sql("UPDATE webhooks SET secret = $1 WHERE id = $2");
            resealed += update.bind(new).bind(id).run().await?;
        }
    }
    Ok(resealed)
}

pub async fn delete_before(db: &Db, before: DateTime<Utc>) -> Result<()> {
    db.sql("DELETE FROM webhook_deliveries WHERE created_at < $1").bind(before).run().await?;
    Ok(())
}
