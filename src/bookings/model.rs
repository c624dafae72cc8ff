//! What bookings are made of, as it is stored.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use super::rules::{Price, TaxAmount};
use crate::{
    kernel::{
        ids::Uuid,
        lang::Lang,
        money::{Rate, Rupiah},
    },
    ledger::{Posting, Source},
    sailings::{BookingType, SailingStatus, Zone},
};

crate::words! {
    pub enum BookingStatus {
        PendingPayment = "pending_payment",
        Paid = "paid",
        Completed = "completed",
        Expired = "expired",
        Cancelled = "cancelled",
        RefundPending = "refund_pending",
        Refunded = "refunded",
    }
}

crate::words! {
    /// Who made it.
    pub enum Channel { Web = "web", Staff = "staff", Mitra = "mitra" }
}

crate::words! {
    pub enum IdentityType { Nik = "nik", Passport = "passport" }
}

crate::words! {
    pub enum Gender { Male = "male", Female = "female" }
}

/// A passenger at rest: the number sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPassenger {
    pub id: Uuid,
    pub name: String,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<String>,
    pub gender: Option<Gender>,
    pub birth_date: Option<NaiveDate>,
    pub nationality: Option<String>,
}

/// When those passengers boarded who have.
pub type Boarded = BTreeMap<Uuid, DateTime<Utc>>;

/// A booking on board, as far as a manifest goes.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Aboard {
    pub id: Uuid,
    pub code: String,
    pub contact_name: String,
    pub contact_phone: String,
    pub passengers: Json<Vec<StoredPassenger>>,
    pub boarded: Json<Boarded>,
}

/// A sailing with all that a booking needs to know of it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SailingContext {
    pub sailing_id: Uuid,
    pub sailing_status: SailingStatus,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub seat_price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub chartered: bool,
    pub manifest_closed_at: Option<DateTime<Utc>>,
    pub route_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub timezone: Zone,
    pub speedboat_id: Uuid,
    pub speedboat_name: String,
    pub speedboat_status: String,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub partner_status: String,
    pub partner_verified_at: Option<DateTime<Utc>>,
    /// `None`: the platform's default.
    pub commission_rate: Option<Rate>,
}

/// A booking up to a move to another sailing, or from one on: each part of its life has entries
/// of its own in the ledger.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Chapter {
    /// The booking.
    pub id: Uuid,
    pub partner_id: Uuid,
    /// The move that began it.
    pub reschedule_id: Option<Uuid>,
}

impl Chapter {
    pub fn posting(self, kind: &'static str) -> Posting {
        let (source, id) = match self.reschedule_id {
            Some(id) => (Source::Reschedule, id),
            None => (Source::Booking, self.id),
        };
        Posting::new(source, id, kind).of_booking(self.id, self.partner_id)
    }
}

/// A booking as it is stored, with the names that go with it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct BookingRow {
    pub id: Uuid,
    pub code: String,
    #[sqlx(rename = "type")]
    pub kind: BookingType,
    pub status: BookingStatus,
    pub channel: Channel,
    pub sailing_id: Uuid,
    pub speedboat_id: Uuid,
    pub partner_id: Uuid,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub qty: i32,
    pub seats: i32,
    pub promotion_id: Option<Uuid>,
    pub code_promo: Option<String>,
    pub note: String,
    pub contact_name: String,
    pub contact_email: String,
    pub contact_phone: String,
    pub lang: Lang,
    /// In the order that their tickets count them.
    pub passengers: Json<Vec<StoredPassenger>>,
    pub boarded: Json<Boarded>,
    pub accepted_terms: bool,
    /// The version that was in force.
    pub accepted_terms_id: Option<Uuid>,
    pub unit_price: Rupiah,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    /// As they were charged.
    pub taxes: Json<Vec<TaxAmount>>,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission_rate: Rate,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub partner_net: Rupiah,
    pub expires_at: DateTime<Utc>,
    /// The departure that it was sold with, once its sailing has been moved.
    pub promised_at: Option<DateTime<Utc>>,
    pub paid_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub cancel_reason: Option<String>,
    pub refund_amount: Option<Rupiah>,
    /// The move that brought it to its sailing.
    pub reschedule_id: Option<Uuid>,
    /// The most percent that its booker gets back for cancelling.
    pub refund_cap: Option<i32>,
    /// Price difference after a reschedule that is still owed to the customer.
    pub owed: Rupiah,
    pub created_at: DateTime<Utc>,
    /// Cancelled together with its sailing.
    pub called_off: bool,
    /// Of its sailing.
    pub manifest_closed_at: Option<DateTime<Utc>>,
    /// Why its sailing was cancelled or moved.
    pub sailing_reason: Option<String>,
    pub from_name: String,
    pub to_name: String,
    pub timezone: Zone,
    pub speedboat_name: String,
    pub partner_name: String,
    // The newest attempt to pay.
    pub payment_provider: Option<String>,
    pub payment_reference: Option<String>,
    pub payment_status: Option<String>,
    pub payment_method: Option<String>,
    pub payment_redirect_url: Option<String>,
    pub payment_paid_at: Option<DateTime<Utc>>,
}

impl BookingRow {
    /// The day of departure where it departs.
    pub fn day(&self) -> NaiveDate {
        self.departure_at.with_timezone(&self.timezone.tz()).date_naive()
    }

    pub fn chapter(&self) -> Chapter {
        let Self { id, partner_id, reschedule_id, .. } = *self;
        Chapter { id, partner_id, reschedule_id }
    }

    /// The chapter that a move began, or begins.
    pub fn chapter_of(&self, reschedule: Uuid) -> Chapter {
        Chapter { reschedule_id: Some(reschedule), ..self.chapter() }
    }

    pub fn price(&self) -> Price {
        Price {
            unit_price: self.unit_price,
            subtotal: self.subtotal,
            discount: self.discount,
            taxes: self.taxes.0.clone(),
            tax: self.tax,
            total: self.total,
            commission_rate: self.commission_rate,
            commission: self.commission,
            commission_tax: self.commission_tax,
            partner_net: self.partner_net,
        }
    }
}
