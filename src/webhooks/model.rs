//! Rows, requests and responses of webhooks.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    events::EventKind,
    kernel::{
        error::Fault,
        http::{Pages, Paging},
        ids::Uuid,
        lang::text,
        patch::Patch,
        schema::Input,
    },
};

crate::string_enum! {
    /// Events that can be subscribed to.
    pub enum EventName {
        BookingCreated = "booking.created",
        BookingPaid = "booking.paid",
        BookingExpired = "booking.expired",
        BookingCancelled = "booking.cancelled",
        BookingPassengersCancelled = "booking.passengers_cancelled",
        BookingCompleted = "booking.completed",
        BookingRefunded = "booking.refunded",
        BookingRescheduled = "booking.rescheduled",
        PaymentReview = "payment.review",
        RefundDue = "refund.due",
        RefundFailed = "refund.failed",
        PartnerRegistered = "partner.registered",
        PartnerSubmitted = "partner.submitted",
        PartnerApproved = "partner.approved",
        PartnerRevision = "partner.revision",
        PartnerReviewResumed = "partner.review_resumed",
        PartnerDocumentReplaced = "partner.document_replaced",
        PartnerBankChanged = "partner.bank_changed",
        PartnerBankApproved = "partner.bank_approved",
        PartnerBankRejected = "partner.bank_rejected",
        PartnerSuspended = "partner.suspended",
        PartnerUnsuspended = "partner.unsuspended",
        SettlementCreated = "settlement.created",
        SettlementReleased = "settlement.released",
        SettlementReturned = "settlement.returned",
        SettlementFailed = "settlement.failed",
        SailingCancelled = "sailing.cancelled",
        SailingMoved = "sailing.moved",
        TermsPublished = "terms.published",
    }
}

impl EventName {
    /// The public name of an event; `None` for events between the service and a booker.
    pub fn of(kind: EventKind) -> Option<Self> {
        Some(match kind {
            EventKind::BookingCreated => Self::BookingCreated,
            EventKind::BookingPaid => Self::BookingPaid,
            EventKind::BookingExpired => Self::BookingExpired,
            EventKind::BookingCancelled => Self::BookingCancelled,
            EventKind::BookingPassengersCancelled => Self::BookingPassengersCancelled,
            EventKind::BookingCompleted => Self::BookingCompleted,
            EventKind::BookingRefunded => Self::BookingRefunded,
            EventKind::BookingRescheduled => Self::BookingRescheduled,
            EventKind::PaymentReview => Self::PaymentReview,
            EventKind::RefundDue => Self::RefundDue,
            EventKind::RefundFailed => Self::RefundFailed,
            EventKind::PartnerRegistered => Self::PartnerRegistered,
            EventKind::PartnerSubmitted => Self::PartnerSubmitted,
            EventKind::PartnerApproved => Self::PartnerApproved,
            EventKind::PartnerRevision => Self::PartnerRevision,
            EventKind::PartnerReviewResumed => Self::PartnerReviewResumed,
            EventKind::PartnerDocumentReplaced => Self::PartnerDocumentReplaced,
            EventKind::PartnerBankChanged => Self::PartnerBankChanged,
            EventKind::PartnerBankApproved => Self::PartnerBankApproved,
            EventKind::PartnerBankRejected => Self::PartnerBankRejected,
            EventKind::PartnerSuspended => Self::PartnerSuspended,
            EventKind::PartnerUnsuspended => Self::PartnerUnsuspended,
            EventKind::SettlementCreated => Self::SettlementCreated,
            EventKind::SettlementReleased => Self::SettlementReleased,
            EventKind::SettlementReturned => Self::SettlementReturned,
            EventKind::SettlementFailed => Self::SettlementFailed,
            EventKind::SailingCancelled => Self::SailingCancelled,
            EventKind::SailingMoved => Self::SailingMoved,
            EventKind::TermsPublished => Self::TermsPublished,
            EventKind::BookingMoved
            | EventKind::BookingBoatChanged
            | EventKind::BookingMoveDropped
            | EventKind::BookingDifferenceRefunded
            | EventKind::BookingTicketWanted
            | EventKind::BookingPassengersCorrected
            | EventKind::BookingContactCorrected => return None,
        })
    }
}

crate::string_enum! {
    pub enum DisabledReason {
        /// It answered 410.
        Gone = "gone",
        /// All deliveries failed for a day.
        Failing = "failing",
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Webhook {
    pub id: Uuid,
    pub url: String,
    /// Names of events.
    #[schemars(with = "Vec<String>")]
    pub events: Value,
    pub active: bool,
    /// Time since which all deliveries fail.
    pub failing_since: Option<DateTime<Utc>>,
    /// Why it was deactivated automatically.
    pub disabled_reason: Option<DisabledReason>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl Webhook {
    pub fn follows(&self, event: EventName) -> bool {
        let events = self.events.as_array();
        events.is_some_and(|all| all.iter().any(|name| *name == event.as_str()))
    }
}

/// A webhook with its signing secret, which is returned on creation only.
#[derive(Serialize, JsonSchema)]
pub struct NewWebhook {
    #[serde(flatten)]
    pub webhook: Webhook,
    /// Signs every delivery.
    pub secret: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct WebhookForm {
    #[schemars(length(max = 2_000))]
    pub url: String,
    #[schemars(length(min = 1, max = 50))]
    pub events: Vec<EventName>,
    /// Default: `true`. An update without it keeps the value; null sets `true`.
    #[serde(default)]
    #[schemars(extend("default" = true))]
    pub active: Patch<bool>,
}

impl Input for WebhookForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        if value["url"].as_str().is_some_and(|url| parse_url(url).is_none()) {
            let message = text(
                "This must be an http or https address without a user name.",
                "Ini harus berupa alamat http atau https tanpa nama pengguna.",
            );
            faults.push(Fault::new("url", "format", message));
        }
    }
}

/// Parses the URL of a webhook and checks its form.
pub fn parse_url(url: &str) -> Option<reqwest::Url> {
    let url = reqwest::Url::parse(url.trim()).ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    (matches!(url.scheme(), "http" | "https") && url.host().is_some() && plain).then_some(url)
}

#[derive(Deserialize, JsonSchema)]
pub struct WebhooksQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub active: Option<bool>,
}

impl Input for WebhooksQuery {}

crate::string_enum! {
    pub enum DeliveryStatus { Pending = "pending", Delivered = "delivered", Failed = "failed" }
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "WebhookDelivery")]
pub struct Delivery {
    pub id: Uuid,
    /// Id of the event, the same for every attempt (`webhook-id`).
    pub event_id: Uuid,
    #[serde(rename = "type")]
    #[row(rename = "type")]
    pub kind: String,
    pub payload: Value,
    pub status: DeliveryStatus,
    pub attempts: i32,
    pub response_status: Option<i32>,
    pub last_error: Option<String>,
    pub last_attempt_at: Option<DateTime<Utc>>,
    pub delivered_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct DeliveriesQuery {
    #[serde(flatten)]
    pub paging: Pages,
    /// Only this delivery.
    pub delivery_id: Option<Uuid>,
    pub status: Option<DeliveryStatus>,
}

impl Input for DeliveriesQuery {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_one_name_everywhere() {
        for kind in EventKind::ALL {
            if let Some(name) = EventName::of(*kind) {
                assert_eq!(name.as_str(), kind.as_str());
            }
        }
        let followed = EventKind::ALL.iter().filter_map(|kind| EventName::of(*kind)).count();
        assert_eq!(followed, EventName::ALL.len());
    }
}
