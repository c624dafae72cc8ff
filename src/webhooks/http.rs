//! Handlers of webhooks.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    enqueue_delivery,
    model::{
        DeliveriesQuery, Delivery, DeliveryStatus, NewWebhook, Webhook, WebhookForm, WebhooksQuery,
        parse_url,
    },
    send::fresh_secret,
    store,
};
use crate::{
    app::App,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::{self, Uuid},
        lang::text,
        outbox,
    },
};

/// The webhook of the path.
pub struct PathWebhook(Webhook);

impl FromRequestParts<App> for PathWebhook {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::get(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathWebhook {}

pub async fn list_webhooks(
    State(app): State<App>,
    Query(query): Query<WebhooksQuery>,
) -> Result<Page<Webhook>> {
    store::list(&app.db, &query).await
}

pub async fn create_webhook(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<WebhookForm>,
) -> Result<Reply<Once<NewWebhook>>> {
    ensure_public_url(&app, &form)?;
    let key = Key::of_account(&caller, key, "create_webhook", "/v1/webhooks", body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying(
        "The webhook has been created. Store its secret: it is not shown again.",
        "Webhook dibuat. Simpan secret-nya: tidak ditampilkan lagi.",
    ))
}

async fn create(
    app: &App,
    caller: &Caller,
    form: &WebhookForm,
    running: Option<&Running>,
) -> Result<NewWebhook> {
    let (id, now, secret) = (ids::fresh(), app.clock.now(), fresh_secret());
    let mut tx = caller.begin(&app.db, now).await?;
    store::create(&mut tx, id, form, app.sealer.seal(&secret)?, now).await?;
    let webhook = store::get_in(&mut tx, id).await?;
    record(&mut tx, "webhook.created", None, Some(&webhook)).await?;
    let made = NewWebhook { webhook, secret };
    if let Some(running) = running {
        running.keep_sealed(&mut tx, &app.sealer, &made).await?;
    }
    tx.commit().await?;
    Ok(made)
}

pub async fn update_webhook(
    State(app): State<App>,
    caller: Caller,
    PathWebhook(before): PathWebhook,
    Body(form): Body<WebhookForm>,
) -> Result<Reply<Webhook>> {
    ensure_public_url(&app, &form)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::update(&mut tx, &before, &form, now).await?;
    let after = store::get_in(&mut tx, before.id).await?;
    record(&mut tx, "webhook.updated", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_webhook(
    State(app): State<App>,
    caller: Caller,
    PathWebhook(before): PathWebhook,
) -> Result<Reply> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::delete(&mut tx, before.id).await?;
    record(&mut tx, "webhook.deleted", Some(&before), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The webhook has been deleted.", "Webhook dihapus."))
}

pub async fn list_deliveries(
    State(app): State<App>,
    PathWebhook(webhook): PathWebhook,
    Query(query): Query<DeliveriesQuery>,
) -> Result<Page<Delivery>> {
    store::deliveries(&app.db, webhook.id, &query).await
}

/// Sends a delivery again, whatever its outcome was. Its id stays the same.
pub async fn resend_delivery(
    State(app): State<App>,
    caller: Caller,
    Path((webhook, id)): Path<(Uuid, Uuid)>,
) -> Result<Reply<Delivery>> {
    let webhook = store::get(&app.db, webhook).await?.ok_or(Error::NotFound)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::delivery(&mut tx, webhook.id, id).await?.ok_or(Error::NotFound)?;
    if !webhook.active {
        return Err(Error::invalid_state(
            "The webhook is not active.",
            "Webhook sedang tidak aktif.",
        ));
    }
    let lane = store::reset_delivery(&mut tx, id).await?;
    // A pending delivery is made due at once; any other is queued again.
    outbox::hurry(&mut tx, &lane, now).await?;
    if before.status != DeliveryStatus::Pending {
        enqueue_delivery(&mut tx, id, lane, None, now).await?;
    }
    let after = store::delivery(&mut tx, webhook.id, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "webhook.resent",
        entity: "webhook_delivery",
        id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after)
        .saying("The delivery has been queued again.", "Pengiriman diantrekan ulang."))
}

/// Refuses an address that would never be called.
fn ensure_public_url(app: &App, form: &WebhookForm) -> Result<()> {
    match parse_url(&form.url).is_some_and(|url| app.webhook_client().may_call(&url)) {
        true => Ok(()),
        false => {
            let message = text("This address is not public.", "Alamat ini tidak publik.");
            Err(Error::field("url", "private", message))
        }
    }
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Webhook>,
    after: Option<&Webhook>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "webhook",
        id: before.or(after).map(|webhook| webhook.id).unwrap_or_default(),
        before: before.map(|webhook| webhook as _),
        after: after.map(|webhook| webhook as _),
    })
    .await
}
