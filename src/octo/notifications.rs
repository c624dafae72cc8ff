//! Subscriptions to notifications, which save resellers from polling.

use std::collections::BTreeMap;

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderName, HeaderValue},
};
use serde_json::{Value, json};

use super::{
    access::Client,
    error::{Problem, Result},
    params::Params,
    request::{self, Fields, Reply},
};
use crate::{
    app::App,
    kernel::ids::{self, Uuid},
    resellers::Scope,
    webhooks::{
        self, NotificationType, Subscription, create_subscription, delete_subscription,
        get_subscription, is_callable, update_subscription,
    },
};

/// The most headers of a subscription.
const HEADERS: usize = 20;

fn record(subscription: &Subscription) -> Value {
    json!({
        "id": subscription.id,
        "url": subscription.url,
        "notificationTypes": subscription.types,
        "headers": subscription.headers,
    })
}

/// What a subscription has, over what it had.
fn read(
    app: &App,
    client: &Client,
    fields: Fields<'_>,
    before: Option<Subscription>,
) -> Result<Subscription> {
    let url = match fields.text("url")? {
        Some(url) if is_callable(app, url) => url.to_owned(),
        Some(_) => return Err(Problem::bad_field("url")),
        None => before
            .as_ref()
            .map(|before| before.url.clone())
            .ok_or_else(|| Problem::bad_field("url"))?,
    };
    let types = match fields.array("notificationTypes")? {
        Some(types) => read_types(types)?,
        None => before
            .as_ref()
            .map(|before| before.types.clone())
            .ok_or_else(|| Problem::bad_field("notificationTypes"))?,
    };
    if types.contains(&NotificationType::BookingUpdate) {
        client.may(Scope::BookingsRead)?;
    }
    let headers = match fields.sent("headers") {
        Value::Null => before.as_ref().map(|before| before.headers.clone()).unwrap_or_default(),
        headers => read_headers(&headers).ok_or_else(|| Problem::bad_field("headers"))?,
    };
    let id = before.map_or_else(ids::fresh, |before| before.id);
    Ok(Subscription { id, url, types, headers })
}

fn read_types(types: &[Value]) -> Result<Vec<NotificationType>> {
    let bad = || Problem::bad_field("notificationTypes");
    let read = |word: &Value| word.as_str().and_then(|word| word.parse().ok()).ok_or_else(bad);
    let mut types: Vec<NotificationType> = types.iter().map(read).collect::<Result<_>>()?;
    types.sort();
    types.dedup();
    if types.is_empty() { Err(bad()) } else { Ok(types) }
}

/// Names and values that HTTP allows, and none that the sender sets itself.
fn read_headers(headers: &Value) -> Option<BTreeMap<String, String>> {
    const OURS: [&str; 6] =
        ["host", "content-length", "content-type", "connection", "transfer-encoding", "user-agent"];
    let headers = headers.as_object().filter(|headers| headers.len() <= HEADERS)?;
    let read = |(name, value): (&String, &Value)| {
        let (name, value) = (name.to_ascii_lowercase(), value.as_str()?);
        let is_ours = OURS.contains(&name.as_str()) || name.starts_with("webhook-");
        let is_valid = name.len() <= 100
            && value.len() <= 2_000
            && HeaderName::try_from(&name).is_ok()
            && HeaderValue::try_from(value).is_ok();
        (is_valid && !is_ours).then(|| (name, value.to_owned()))
    };
    headers.iter().map(read).collect()
}

fn unknown() -> Problem {
    Problem::Failed(crate::kernel::error::Error::NotFound)
}

/// A subscription to bookings is that of a key that may read them. For others it does not exist.
fn is_for(client: &Client, subscription: &Subscription) -> bool {
    let has_bookings = subscription.types.contains(&NotificationType::BookingUpdate);
    !has_bookings || client.may(Scope::BookingsRead).is_ok()
}

async fn found(app: &App, client: &Client, params: &Params) -> Result<Subscription> {
    let id: Uuid = request::uuid(params.last()).ok_or_else(unknown)?;
    let found = get_subscription(app, client.reseller_id, id).await?;
    found.filter(|found| is_for(client, found)).ok_or_else(unknown)
}

pub async fn list_subscriptions(State(app): State<App>, client: Client) -> Result<Reply> {
    client.may_for_all_partners(Scope::Catalog)?;
    let all = webhooks::subscriptions(&app, client.reseller_id).await?;
    let own = all.iter().filter(|subscription| is_for(&client, subscription));
    Ok(Reply(json!(own.map(record).collect::<Vec<_>>())))
}

pub async fn subscribe(State(app): State<App>, client: Client, body: Bytes) -> Result<Reply> {
    client.may_for_all_partners(Scope::Catalog)?;
    let body = request::body(body).await?;
    let new = read(&app, &client, Fields::of("body", &body)?, None)?;
    match create_subscription(&app, client.reseller_id, &new).await? {
        true => Ok(Reply(record(&new))),
        false => Err(Problem::unprocessable(
            "There are too many subscriptions.",
            "Terlalu banyak langganan.",
        )),
    }
}

pub async fn get_one(State(app): State<App>, client: Client, params: Params) -> Result<Reply> {
    client.may_for_all_partners(Scope::Catalog)?;
    Ok(Reply(record(&found(&app, &client, &params).await?)))
}

pub async fn change(
    State(app): State<App>,
    client: Client,
    params: Params,
    body: Bytes,
) -> Result<Reply> {
    client.may_for_all_partners(Scope::Catalog)?;
    let body = request::body(body).await?;
    let before = found(&app, &client, &params).await?;
    let after = read(&app, &client, Fields::of("body", &body)?, Some(before))?;
    update_subscription(&app, client.reseller_id, &after).await?;
    Ok(Reply(record(&after)))
}

pub async fn unsubscribe(State(app): State<App>, client: Client, params: Params) -> Result<Reply> {
    client.may_for_all_partners(Scope::Catalog)?;
    let before = found(&app, &client, &params).await?;
    match delete_subscription(&app, client.reseller_id, before.id).await? {
        true => Ok(Reply(record(&before))),
        false => Err(unknown()),
    }
}
