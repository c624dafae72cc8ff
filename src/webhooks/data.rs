//! What an event says: `data` of webhooks and notifications.

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::model::EventName;
use crate::kernel::{ids::Uuid, money::Rupiah};

/// A booking, at the time at which the event is sent.
#[derive(Serialize, JsonSchema)]
pub struct BookingEvent<'a> {
    pub booking_id: Uuid,
    pub code: &'a str,
    pub mitra_id: Uuid,
    pub from: &'a str,
    pub to: &'a str,
    pub departure_at: DateTime<Utc>,
    pub qty: i32,
    /// Null for bookings of resellers.
    pub total: Option<Rupiah>,
    pub refund_amount: Option<Rupiah>,
    /// Of a reschedule: what the customer paid, or (negative) is owed.
    pub difference: Option<Rupiah>,
    /// Of `booking.passengers_cancelled`: how many passengers were cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_qty: Option<usize>,
}

/// A payment that needs a manual review.
#[derive(Serialize, JsonSchema)]
pub struct PaymentReviewEvent<'a> {
    pub booking_id: Uuid,
    pub code: &'a str,
    pub reason: &'a str,
    pub amount: Rupiah,
}

/// A refund that is due or has failed.
#[derive(Serialize, JsonSchema)]
pub struct RefundEvent<'a> {
    pub booking_id: Uuid,
    /// Code of the booking.
    pub code: &'a str,
    pub refund_id: Uuid,
    pub refund_code: &'a str,
    pub kind: &'a str,
    pub amount: Rupiah,
    pub unpaid: Rupiah,
    pub mitra_id: Uuid,
    /// Why the last attempt failed.
    pub reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
pub struct PartnerEvent<'a> {
    pub mitra_id: Uuid,
    pub name: &'a str,
    pub reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
pub struct SettlementEvent<'a> {
    pub settlement_id: Uuid,
    pub code: &'a str,
    pub mitra_id: Uuid,
    pub net: Rupiah,
    /// Why the last payout failed or came back.
    pub reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
pub struct SailingEvent<'a> {
    pub sailing_id: Uuid,
    pub mitra_id: Uuid,
    pub from: &'a str,
    pub to: &'a str,
    pub departure_at: DateTime<Utc>,
    /// Of `sailing.moved`: the time before.
    pub was_departure_at: Option<DateTime<Utc>>,
    pub reason: Option<&'a str>,
    /// How many bookings were cancelled or moved with it.
    pub bookings: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct TermsEvent<'a> {
    pub terms_id: Uuid,
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub version: i32,
}

pub type DataSchema = fn(&mut SchemaGenerator) -> Schema;

impl EventName {
    pub fn data_schema(self) -> DataSchema {
        match self {
            Self::BookingCreated
            | Self::BookingPaid
            | Self::BookingExpired
            | Self::BookingCancelled
            | Self::BookingPassengersCancelled
            | Self::BookingCompleted
            | Self::BookingRefunded
            | Self::BookingRescheduled => SchemaGenerator::subschema_for::<BookingEvent<'_>>,
            Self::PaymentReview => SchemaGenerator::subschema_for::<PaymentReviewEvent<'_>>,
            Self::RefundDue | Self::RefundFailed => {
                SchemaGenerator::subschema_for::<RefundEvent<'_>>
            }
            Self::PartnerRegistered
            | Self::PartnerSubmitted
            | Self::PartnerApproved
            | Self::PartnerRevision
            | Self::PartnerReviewResumed
            | Self::PartnerDocumentReplaced
            | Self::PartnerBankChanged
            | Self::PartnerBankApproved
            | Self::PartnerBankRejected
            | Self::PartnerSuspended
            | Self::PartnerUnsuspended => SchemaGenerator::subschema_for::<PartnerEvent<'_>>,
            Self::SettlementCreated
            | Self::SettlementReleased
            | Self::SettlementReturned
            | Self::SettlementFailed => SchemaGenerator::subschema_for::<SettlementEvent<'_>>,
            Self::SailingCancelled | Self::SailingMoved => {
                SchemaGenerator::subschema_for::<SailingEvent<'_>>
            }
            Self::TermsPublished => SchemaGenerator::subschema_for::<TermsEvent<'_>>,
        }
    }
}

/// The data of any event.
pub fn any_data_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut kinds: Vec<Schema> = Vec::new();
    for name in EventName::ALL {
        let data = name.data_schema()(generator);
        if !kinds.contains(&data) {
            kinds.push(data);
        }
    }
    json_schema!({ "anyOf": kinds })
}
