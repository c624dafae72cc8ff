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
    payments::{
        apply,
        model::{Payment, PaymentStatus},
        notice::{Notice, RefundNotice, RefundOutcome},
        store,
    },
};

/// Receives a notification: verified, confirmed, stored, applied at most once. The provider is
/// asked only about attempts that were made there.
pub async fn payment_callback(
    State(app): State<App>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Reply> {
    match app.gateway().read_refund(&headers, &body)? {
        Some(told) => {
            let payment = store::refunded_payment(&app.db, &told).await?;
            let payment = payment.filter(|payment| is_ours(&app, payment));
            receive_refund_notification(&app, &payment.ok_or(Error::NotFound)?, &told, &body)
                .await?;
        }
        None => {
            let told = app.gateway().read(&headers, &body)?;
            let payment = store::by_reference(&app.db, &told.reference).await?;
            let payment = payment.filter(|payment| is_ours(&app, payment));
            receive_notification(&app, &payment.ok_or(Error::NotFound)?, told, &body).await?;
        }
    }
    Ok(Reply::done("Received.", "Diterima."))
}

/// `Error::NotFound`: the provider says that it belongs to another payment.
async fn receive_notification(
    app: &App,
    payment: &Payment,
    told: Notice,
    body: &Value,
) -> Result<()> {
    match confirm(app, payment, told.clone()).await {
        Ok(notice) => apply_both(app, payment, &told, &notice, body).await,
        Err(Error::NotFound) => {
            tracing::warn!(
                reference = %told.reference,
                "the notification and the provider's response are about different payments"
            );
            Err(Error::NotFound)
        }
        Err(error) => {
            tracing::warn!(
                reference = %told.reference,
                %error,
                "the notification is not confirmed by the provider"
            );
            apply::keep_unconfirmed(app, payment, &told, body).await
        }
    }
}

/// Asks the provider. A failure is asked about only if it takes back money that was reported.
async fn confirm(app: &App, payment: &Payment, told: Notice) -> Result<Notice> {
    let takes_back = told.status == PaymentStatus::Failed
        && store::is_taken(&app.db, payment.id, &told.transaction_id).await?;
    app.gateway().confirm(Notice { takes_back, ..told }).await
}

/// Applies the provider's answer, and the payment itself if it was refunded meanwhile.
async fn apply_both(
    app: &App,
    payment: &Payment,
    told: &Notice,
    notice: &Notice,
    body: &Value,
) -> Result<()> {
    apply::apply(app, payment, notice, body).await?;
    match notice.paid_before(told) {
        Some(paid) => apply::apply(app, payment, &paid, body).await,
        None => Ok(()),
    }
}

/// As `receive_notification`, for a refund that has a callback of its own.
async fn receive_refund_notification(
    app: &App,
    payment: &Payment,
    told: &RefundNotice,
    body: &Value,
) -> Result<()> {
    match confirm_refund(app, payment, told).await {
        Ok(confirmed) => apply_refund(app, payment, &confirmed, body).await,
        Err(Error::NotFound) => {
            let (refund, reference) = (&told.id, &payment.reference);
            tracing::warn!(%refund, %reference, "the provider knows another refund by this id");
            Err(Error::NotFound)
        }
        Err(error) => {
            let (refund, reference) = (&told.id, &payment.reference);
            tracing::warn!(%refund, %reference, %error, "the refund is not confirmed");
            apply::keep_unconfirmed(app, payment, &told.of_payment(payment), body).await
        }
    }
}

/// The provider's answer, which must be about the same refund of the same payment.
async fn confirm_refund(app: &App, payment: &Payment, told: &RefundNotice) -> Result<RefundNotice> {
    let confirmed = app.gateway().confirm_refund(told).await?;
    let theirs = store::refunded_payment(&app.db, &confirmed).await?;
    match theirs.is_some_and(|theirs| theirs.id == payment.id) {
        true => Ok(confirmed),
        false => Err(Error::NotFound),
    }
}

async fn apply_refund(
    app: &App,
    payment: &Payment,
    confirmed: &RefundNotice,
    body: &Value,
) -> Result<()> {
    apply::apply(app, payment, &confirmed.of_payment(payment), body).await?;
    match (confirmed.outcome, confirmed.transfer) {
        (RefundOutcome::Failed, Some(transfer)) => {
            let reason = confirmed.failure_code.as_deref().unwrap_or("refused by the provider");
            apply::fail_refund(app, payment, transfer, reason).await
        }
        _ => Ok(()),
    }
}

/// Confirms a stored notification, whose sender was verified when it arrived.
pub async fn confirm_later(app: &App, body: &Value) -> Result<()> {
    // The configured provider cannot confirm a notification of another one, so it needs an
    // operator.
    let foreign = || Error::internal("notification from another provider than the configured one");
    let unknown = || Error::internal("notification about an unknown payment");
    let confirmed = if app.gateway().is_refund(body) {
        let told = app.gateway().parse_refund(body).ok_or_else(foreign)?;
        let payment = store::refunded_payment(&app.db, &told).await?.ok_or_else(unknown)?;
        if !is_ours(app, &payment) {
            return Err(foreign());
        }
        match confirm_refund(app, &payment, &told).await {
            Ok(confirmed) => apply_refund(app, &payment, &confirmed, body).await,
            Err(error) => Err(error),
        }
    } else {
        let told = app.gateway().parse(body).ok_or_else(foreign)?;
        let payment = store::by_reference(&app.db, &told.reference).await?.ok_or_else(unknown)?;
        if !is_ours(app, &payment) {
            return Err(foreign());
        }
        match confirm(app, &payment, told.clone()).await {
            Ok(notice) => apply_both(app, &payment, &told, &notice, body).await,
            Err(error) => Err(error),
        }
    };
    match confirmed {
        Err(Error::NotFound) => {
            tracing::warn!("a stored notification and the provider's response differ");
            Ok(())
        }
        confirmed => confirmed,
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
