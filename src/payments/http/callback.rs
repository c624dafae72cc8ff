//! Notifications of payment providers.

use axum::{
    extract::{FromRequest, Request, State},
    http::HeaderMap,
};
use serde_json::Value;

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        http::{Body, MAX_BODY, Reply, decode, unreadable},
        lang::text,
    },
    payments::{apply, model::Payment, store},
};

/// Receives a notification: verified, confirmed, stored, applied at most once. The provider is
/// asked only about attempts that were made there.
pub async fn payment_callback(
    State(app): State<App>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Reply> {
    let told = app.gateway().read(&headers, &body)?;
    let payment = store::by_reference(&app.db, &told.reference).await?.ok_or(Error::NotFound)?;
    if !is_ours(&app, &payment) {
        return Err(Error::NotFound);
    }
    match app.gateway().confirm(told.clone()).await {
        Ok(notice) => apply::apply(&app, &payment, &notice, &body).await?,
        Err(Error::NotFound) => {
            tracing::warn!(
                reference = %told.reference,
                "the notification and the provider's response are about different payments"
            );
            return Err(Error::NotFound);
        }
        Err(error) => {
            tracing::warn!(
                reference = %told.reference,
                %error,
                "the notification is not confirmed by the provider"
            );
            apply::keep_unconfirmed(&app, &payment, &told, &body).await?;
        }
    }
    Ok(Reply::done("Received.", "Diterima."))
}

/// Confirms a stored notification, whose sender was verified when it arrived.
pub async fn confirm_later(app: &App, body: &Value) -> Result<()> {
    // The configured provider cannot confirm a notification of another one, so it needs an
    // operator.
    let foreign = || Error::internal("notification from another provider than the configured one");
    let told = app.gateway().parse(body).ok_or_else(foreign)?;
    let payment = store::by_reference(&app.db, &told.reference).await?;
    let payment =
        payment.ok_or_else(|| Error::internal("notification about an unknown payment"))?;
    if !is_ours(app, &payment) {
        return Err(foreign());
    }
    match app.gateway().confirm(told).await {
        Err(Error::NotFound) => {
            tracing::warn!(
                reference = %payment.reference,
                "the notification and the provider's response are about different payments"
            );
            Ok(())
        }
        confirmed => apply::apply(app, &payment, &confirmed?, body).await,
    }
}

/// Whether the attempt was made at the configured provider. Its notifications do not pay attempts
/// at another provider, or cash.
fn is_ours(app: &App, payment: &Payment) -> bool {
    let ours = payment.provider == app.gateway().provider.as_str();
    if !ours {
        let (reference, provider) = (&payment.reference, &payment.provider);
        tracing::warn!(%reference, %provider, "notification for an attempt at another provider");
    }
    ours
}

/// A JSON object, unparsed.
pub struct Raw(Value);

impl<S: Sync> FromRequest<S> for Raw {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes =
            axum::body::to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
        let object = |bytes: &[u8]| {
            let body: Option<Value> = serde_json::from_slice(bytes).ok().filter(Value::is_object);
            let why = text("The body is not a JSON object.", "Isi permintaan bukan objek JSON.");
            body.map(Self).ok_or(Error::Malformed(why))
        };
        decode(bytes, object).await
    }
}

impl aide::OperationInput for Raw {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        Body::<AnyObject>::operation_input(ctx, operation);
    }
}

/// In the format of the payment provider.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct AnyObject {}

impl crate::kernel::schema::Input for AnyObject {}
