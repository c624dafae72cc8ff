//! Webhooks of resellers: the notifications of OCTO. They are sent like all others, with the headers
//! that the reseller wants.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, NaiveDate, Utc};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{enqueue_delivery, model::parse_url, send::fresh_secret};
use crate::{
    app::App,
    kernel::{
        db::{Json, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        outbox::Item,
    },
};

/// The most subscriptions of a reseller.
const LIMIT: i64 = 20;
/// How many changes of lines are told of in one transaction.
const SOME: i64 = 5_000;
const LOCK: &str = "line_changes";

crate::string_enum! {
    pub enum NotificationType {
        ProductUpdate = "PRODUCT_UPDATE",
        AvailabilityUpdate = "AVAILABILITY_UPDATE",
        BookingUpdate = "BOOKING_UPDATE",
    }
}

pub type Headers = BTreeMap<String, String>;

/// What a reseller subscribes to.
#[derive(Clone, Debug)]
pub struct Subscription {
    pub id: Uuid,
    pub url: String,
    pub types: Vec<NotificationType>,
    pub headers: Headers,
}

#[derive(crate::kernel::db::FromRow)]
struct Row {
    id: Uuid,
    url: String,
    events: Json<Vec<String>>,
    headers: Option<String>,
}

impl Row {
    fn open(self, app: &App) -> Result<Subscription> {
        Ok(Subscription {
            id: self.id,
            url: self.url,
            types: self.events.iter().filter_map(|word| word.parse().ok()).collect(),
            headers: open_headers(app, self.headers.as_deref())?,
        })
    }
}

/// Whether deliveries may go to this address.
pub fn is_callable(app: &App, url: &str) -> bool {
    url.len() <= 2_000 && parse_url(url).is_some_and(|url| app.webhook_client().may_call(&url))
}

fn sealed(app: &App, headers: &Headers) -> Result<Option<String>> {
    match headers.is_empty() {
        true => Ok(None),
        false => app.sealer.seal(&json!(headers).to_string()).map(Some),
    }
}

pub fn open_headers(app: &App, sealed: Option<&str>) -> Result<Headers> {
    match sealed {
        None => Ok(Headers::new()),
        Some(sealed) => serde_json::from_str(&app.sealer.open(sealed)?).map_err(Error::internal),
    }
}

/// Names and values were checked when they were stored.
pub fn header_map(headers: &Headers) -> HeaderMap {
    let header = |(name, value): (&String, &String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    headers.iter().filter_map(header).collect()
}

pub async fn subscriptions(app: &App, reseller: Uuid) -> Result<Vec<Subscription>> {
    let rows: Vec<Row> = app
        .db
        .sql(
            "SELECT id, url, events, headers FROM webhooks WHERE reseller_id = $1
             ORDER BY created_at, id",
        )
        .bind(reseller)
        .all()
        .await?;
    rows.into_iter().map(|row| row.open(app)).collect()
}

pub async fn get_subscription(app: &App, reseller: Uuid, id: Uuid) -> Result<Option<Subscription>> {
    let row: Option<Row> = app
        .db
        .sql("SELECT id, url, events, headers FROM webhooks WHERE reseller_id = $1 AND id = $2")
        .bind(reseller)
        .bind(id)
        .maybe()
        .await?;
    row.map(|row| row.open(app)).transpose()
}

/// `false`: the reseller has as many as it may have.
pub async fn create_subscription(app: &App, reseller: Uuid, new: &Subscription) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    // Orders requests of one reseller, for the count.
    tx.sql("UPDATE resellers SET updated_at = updated_at WHERE id = $1")
        .bind(reseller)
        .run()
        .await?;
    let count: i64 = tx
        .sql("SELECT COUNT(*) FROM webhooks WHERE reseller_id = $1")
        .bind(reseller)
        .scalar()
        .await?;
    if count >= LIMIT {
        return Ok(false);
    }
    tx.sql(
        "INSERT INTO webhooks (id, url, events, active, secret, reseller_id, headers, created_at,
           updated_at)
         VALUES ($1, $2, $3, TRUE, $4, $5, $6, $7, $7)",
    )
    .bind(new.id)
    .bind(new.url.clone())
    .bind(json!(new.types))
    .bind(app.sealer.seal(&fresh_secret())?)
    .bind(reseller)
    .bind(sealed(app, &new.headers)?)
    .bind(now)
    .run()
    .await?;
    tx.commit().await?;
    Ok(true)
}

/// A change resets the record of failures.
pub async fn update_subscription(app: &App, reseller: Uuid, to: &Subscription) -> Result<()> {
    app.db
        .sql(
            "UPDATE webhooks SET url = $1, events = $2, headers = $3, active = TRUE,
               failing_since = NULL, disabled_reason = NULL, updated_at = $4
             WHERE id = $5 AND reseller_id = $6",
        )
        .bind(to.url.clone())
        .bind(json!(to.types))
        .bind(sealed(app, &to.headers)?)
        .bind(app.clock.now())
        .bind(to.id)
        .bind(reseller)
        .run()
        .await?;
    Ok(())
}

pub async fn delete_subscription(app: &App, reseller: Uuid, id: Uuid) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    tx.sql(
        "DELETE FROM webhook_deliveries WHERE webhook_id IN
           (SELECT w.id FROM webhooks w WHERE w.id = $1 AND w.reseller_id = $2)",
    )
    .bind(id)
    .bind(reseller)
    .run()
    .await?;
    let deleted = tx
        .sql("DELETE FROM webhooks WHERE id = $1 AND reseller_id = $2")
        .bind(id)
        .bind(reseller)
        .run()
        .await?;
    tx.commit().await?;
    Ok(deleted == 1)
}

/// Queues a delivery. An event makes one for each subscription.
async fn queue(
    tx: &mut Tx,
    webhook: Uuid,
    (event, after): (Uuid, Option<&Item>),
    kind: NotificationType,
    (subject, data): (String, Value),
    now: DateTime<Utc>,
) -> Result<()> {
    let (id, lane) = (ids::fresh(), format!("webhook/{}/{subject}", webhook.simple()));
    let inserted = tx
        .sql(
            "INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, payload, lane,
               status, attempts, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7)
             ON CONFLICT (webhook_id, event_id) DO NOTHING",
        )
        .bind(id)
        .bind(webhook)
        .bind(event)
        .bind(kind)
        .bind(json!({ "type": kind, "data": data }))
        .bind(lane.clone())
        .bind(now)
        .run()
        .await?;
    match inserted {
        0 => Ok(()),
        _ => enqueue_delivery(tx, id, lane, after, now).await,
    }
}

/// Tells the reseller of a booking that it has changed.
pub async fn queue_booking_update(
    tx: &mut Tx,
    item: &Item,
    booking: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let subscribed: Vec<(Uuid, Json<Vec<String>>, Uuid)> = tx
        .sql(
            "SELECT w.id, w.events, k.octo_uuid FROM bookings k
             JOIN webhooks w ON w.reseller_id = k.reseller_id AND w.active WHERE k.id = $1",
        )
        .bind(booking)
        .all()
        .await?;
    let kind = NotificationType::BookingUpdate;
    for (webhook, types, uuid) in subscribed {
        if types.iter().any(|word| word == kind.as_str()) {
            let subject = (booking.simple().to_string(), json!({ "uuid": uuid }));
            queue(tx, webhook, (item.id, Some(item)), kind, subject, now).await?;
        }
    }
    Ok(())
}

/// What has changed of a line.
#[derive(Default)]
struct LineChange {
    product: bool,
    days: Option<(NaiveDate, NaiveDate)>,
}

/// Tells resellers of changed products and availability, once for each product; returns the number of
/// changes. The job runs once a minute.
pub async fn queue_line_changes(app: &App) -> Result<u64> {
    let now = app.clock.now();
    let any: Option<(i64,)> = app.db.sql("SELECT id FROM line_changes LIMIT 1").maybe().await?;
    if any.is_none() {
        return Ok(0);
    }
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    let rows: Vec<(Uuid, Option<NaiveDate>, Option<NaiveDate>)> = tx
        .sql(
            "DELETE FROM line_changes WHERE id IN
               (SELECT c.id FROM line_changes c ORDER BY c.id LIMIT CAST($1 AS BIGINT))
             RETURNING line_id, first_day, last_day",
        )
        .without_cached_plan()
        .bind(SOME)
        .all()
        .await?;
    let mut lines: HashMap<Uuid, LineChange> = HashMap::new();
    for (line, first, last) in &rows {
        let change = lines.entry(*line).or_default();
        match first.zip(*last) {
            None => change.product = true,
            Some((first, last)) => {
                let (from, until) = change.days.unwrap_or((first, last));
                change.days = Some((from.min(first), until.max(last)));
            }
        }
    }
    for (line, change) in &lines {
        tell_of_line(&mut tx, *line, change, now).await?;
    }
    tx.commit().await?;
    app.db.notify_outbox();
    Ok(rows.len() as u64)
}

async fn tell_of_line(
    tx: &mut Tx,
    line: Uuid,
    change: &LineChange,
    now: DateTime<Utc>,
) -> Result<()> {
    // Those whose reseller may sell the line.
    let subscribed: Vec<(Uuid, Json<Vec<String>>, bool)> = tx
        .sql(
            "SELECT w.id, w.events, l.day_ticket FROM lines l
             JOIN webhooks w ON w.reseller_id IS NOT NULL AND w.active
             JOIN resellers e ON e.id = w.reseller_id AND e.status = 'active'
             WHERE l.id = $1 AND EXISTS (SELECT 1 FROM reseller_grants g
               WHERE g.reseller_id = e.id AND COALESCE(g.partner_id, l.partner_id) = l.partner_id)",
        )
        .bind(line)
        .all()
        .await?;
    for (webhook, types, day_ticket) in subscribed {
        let wants = |kind: NotificationType| types.iter().any(|word| word == kind.as_str());
        let products = [line.to_string(), format!("{line}.day")];
        for product in products.iter().take(if day_ticket { 2 } else { 1 }) {
            let kind = NotificationType::ProductUpdate;
            if change.product && wants(kind) {
                let subject = (product.clone(), json!({ "productId": product }));
                queue(tx, webhook, (ids::fresh(), None), kind, subject, now).await?;
            }
            let kind = NotificationType::AvailabilityUpdate;
            if let Some((first, last)) = change.days.filter(|_| wants(kind)) {
                let data = json!({
                    "productId": product, "localDateStart": first, "localDateEnd": last,
                });
                queue(tx, webhook, (ids::fresh(), None), kind, (product.clone(), data), now)
                    .await?;
            }
        }
    }
    Ok(())
}
