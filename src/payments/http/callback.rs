//! What providers tell us.

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
    payments::{apply, notice, store},
};

/// Takes a provider's word: verified, kept, applied at most once.
pub async fn payment_callback(
    State(app): State<App>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Reply> {
    let told = app.gateway.read(&headers, &body)?;
    let payment = store::by_reference(&app.db, &told.reference).await?.ok_or(Error::NotFound)?;
    match app.gateway.confirm(told.clone()).await {
        Ok(notice) => apply::apply(&app, &payment, &notice, &body).await?,
        Err(error) => {
            tracing::warn!(reference = %told.reference, %error, "not confirmed");
            apply::keep_unconfirmed(&app, &payment, &told, &body).await?;
        }
    }
    Ok(Reply::done("Received.", "Diterima."))
}

/// Asks again about a word that was kept; its signature was checked when it came.
pub async fn confirm_later(app: &App, body: &Value) -> Result<()> {
    let told = notice::midtrans(body).ok_or_else(|| Error::internal("no notice"))?;
    let payment = store::by_reference(&app.db, &told.reference).await?;
    let payment = payment.ok_or_else(|| Error::internal("a notice without payment"))?;
    let notice = app.gateway.confirm(told).await?;
    apply::apply(app, &payment, &notice, body).await
}

/// A JSON object, as it came.
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

/// As the provider has it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct AnyObject {}

impl crate::kernel::schema::Input for AnyObject {}
