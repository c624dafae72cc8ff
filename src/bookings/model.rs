//! What bookings are made of, and what callers send and get.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    fleet::Owner,
    kernel::{
        confidential::Confidential,
        email::Email,
        error::{Error, Fault, Result},
        http::Paging,
        ids::Uuid,
        lang::{Lang, text},
        money::{Rate, Rupiah},
        phone::Phone,
        schema::Input,
        text::{Line, Name, Note},
    },
    ledger::{Posting, Source},
    sailings::{BookingType, SailingStatus, Zone},
};

use super::rules::{Price, TaxAmount};

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

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
}

#[derive(Deserialize, JsonSchema)]
pub struct PassengerForm {
    pub name: Name,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<Line<30>>,
    pub gender: Option<Gender>,
    pub birth_date: Option<NaiveDate>,
    pub nationality: Option<Line<60>>,
}

#[derive(Deserialize, JsonSchema)]
pub struct BookingForm {
    #[serde(rename = "type")]
    pub kind: BookingType,
    /// The speedboat of the sailing.
    pub item_id: Uuid,
    /// The sailing.
    pub route_time_id: Uuid,
    #[schemars(range(min = 1, max = 500))]
    pub qty: i32,
    #[schemars(length(max = 64))]
    pub code_promo: Option<String>,
    pub note: Option<Note>,
    pub contact: Contact,
    #[schemars(length(min = 1, max = 500))]
    pub passengers: Vec<PassengerForm>,
    pub accept_terms: Option<bool>,
}

impl BookingForm {
    pub fn promo(&self) -> Option<&str> {
        self.code_promo.as_deref().map(str::trim).filter(|code| !code.is_empty())
    }
}

impl Input for BookingForm {
    /// Forms send what is not filled in as an empty text.
    fn tidy(value: &mut Value) {
        let passengers = value.get_mut("passengers").and_then(Value::as_array_mut);
        for passenger in passengers.into_iter().flatten() {
            for name in ["identity_type", "identity_number", "gender", "birth_date", "nationality"]
            {
                if let Some(field) = passenger.get_mut(name)
                    && field.as_str().is_some_and(|text| text.trim().is_empty())
                {
                    *field = Value::Null;
                }
            }
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let passengers = value["passengers"].as_array();
        if let (Some(qty), Some(passengers)) = (value["qty"].as_i64(), passengers)
            && passengers.len() as i64 != qty
        {
            let message = text("One passenger for each seat.", "Satu penumpang untuk tiap kursi.");
            faults.push(Fault::new("passengers", "count", message));
        }
        if value["type"] == BookingType::Speedboat.as_str()
            && value["qty"].as_i64().is_some_and(|qty| (51..=500).contains(&qty))
        {
            let message = text("At most 50.", "Maksimal 50.");
            faults.push(Fault::new("qty", "max", message));
        }
        for (index, passenger) in passengers.into_iter().flatten().enumerate() {
            let Some(number) = passenger["identity_number"].as_str().map(str::trim) else {
                continue;
            };
            let field = |name: &str| format!("passengers[{index}].{name}");
            let right = match passenger["identity_type"].as_str() {
                Some("nik") => number.len() == 16 && number.bytes().all(|b| b.is_ascii_digit()),
                Some(_) => {
                    (5..=20).contains(&number.len())
                        && number.bytes().all(|b| b.is_ascii_alphanumeric())
                }
                None => {
                    let message = text("Say what it is a number of.", "Sebutkan jenisnya.");
                    faults.push(Fault::new(field("identity_type"), "required", message));
                    continue;
                }
            };
            if !right {
                let message = text("This is not valid.", "Isian ini tidak valid.");
                faults.push(Fault::new(field("identity_number"), "format", message));
            }
        }
    }
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
    passengers: Value,
    boarded: Value,
}

impl Aboard {
    pub fn passengers(&self) -> Result<Vec<StoredPassenger>> {
        Vec::deserialize(&self.passengers).map_err(Error::internal)
    }

    pub fn boarded(&self) -> Result<Boarded> {
        Boarded::deserialize(&self.boarded).map_err(Error::internal)
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Passenger {
    pub id: Uuid,
    pub name: String,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<Confidential>,
    pub gender: Option<Gender>,
    pub birth_date: Option<NaiveDate>,
    pub nationality: Option<String>,
    pub checked_in_at: Option<DateTime<Utc>>,
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
    /// Unpaid bookings of the same e-mail address.
    pub holds: i64,
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
    pub passengers: Value,
    /// When those passengers boarded who have.
    pub boarded: Value,
    pub accepted_terms: bool,
    /// The version that was in force.
    pub accepted_terms_id: Option<Uuid>,
    pub unit_price: Rupiah,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub taxes: Value,
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
    /// What it cost less on the sailing it moved to, and was not paid back yet.
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

    pub fn price(&self) -> Result<Price> {
        Ok(Price {
            unit_price: self.unit_price,
            subtotal: self.subtotal,
            discount: self.discount,
            taxes: self.taxes()?,
            tax: self.tax,
            total: self.total,
            commission_rate: self.commission_rate,
            commission: self.commission,
            commission_tax: self.commission_tax,
            partner_net: self.partner_net,
        })
    }

    /// As they were charged.
    pub fn taxes(&self) -> Result<Vec<TaxAmount>> {
        Vec::deserialize(&self.taxes).map_err(Error::internal)
    }

    /// In the order that their tickets count them.
    pub fn passengers(&self) -> Result<Vec<StoredPassenger>> {
        Vec::deserialize(&self.passengers).map_err(Error::internal)
    }

    pub fn boarded(&self) -> Result<Boarded> {
        Boarded::deserialize(&self.boarded).map_err(Error::internal)
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Booking {
    pub id: Uuid,
    pub code: String,
    #[serde(rename = "type")]
    pub kind: BookingType,
    pub status: BookingStatus,
    pub channel: Channel,
    pub item_id: Uuid,
    pub route_time_id: Uuid,
    pub qty: i32,
    pub code_promo: Option<String>,
    pub note: String,
    pub contact: BookingContact,
    pub passengers: Vec<Passenger>,
    pub sailing: BookedSailing,
    pub price: PriceRecord,
    /// Null where nothing has to be paid.
    pub payment: Option<PaymentRecord>,
    /// The version of the customer's terms that was accepted with it.
    pub accepted_terms_id: Option<Uuid>,
    pub expires_at: DateTime<Utc>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub cancel_reason: Option<String>,
    /// What is or was due to the customer.
    pub refund_amount: Option<Rupiah>,
    /// What it cost less on the sailing it moved to, and was not paid back yet.
    pub owed: Rupiah,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BookingContact {
    pub name: String,
    pub email: String,
    pub phone: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BookedSailing {
    pub from: String,
    pub to: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub timezone: Zone,
    pub speedboat: BookedBoat,
    pub mitra: Owner,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BookedBoat {
    pub id: Uuid,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PriceRecord {
    pub currency: &'static str,
    pub unit_price: Rupiah,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub taxes: Vec<TaxAmount>,
    pub tax: Rupiah,
    pub total: Rupiah,
}

impl From<Price> for PriceRecord {
    fn from(price: Price) -> Self {
        Self {
            currency: "IDR",
            unit_price: price.unit_price,
            subtotal: price.subtotal,
            discount: price.discount,
            taxes: price.taxes,
            tax: price.tax,
            total: price.total,
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaymentRecord {
    pub provider: String,
    pub reference: String,
    pub status: String,
    pub method: Option<String>,
    /// Where to pay; null until the provider has answered.
    pub redirect_url: Option<String>,
    pub paid_at: Option<DateTime<Utc>>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ValidatePromo {
    #[schemars(length(min = 1, max = 64))]
    pub code_promo: String,
    #[serde(rename = "type")]
    pub kind: BookingType,
    pub item_id: Uuid,
    pub route_time_id: Uuid,
    #[schemars(range(min = 1, max = 500))]
    pub qty: i32,
    pub email: Option<Email>,
}

impl Input for ValidatePromo {
    fn tidy(value: &mut Value) {
        if value["email"].as_str().is_some_and(|text| text.trim().is_empty()) {
            value["email"] = Value::Null;
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct PromoVerdict {
    pub valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<crate::promotions::Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount: Option<Rupiah>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceRecord>,
}

crate::words! {
    pub enum BookingSort { CreatedAt = "created_at", DepartureAt = "departure_at", Total = "total" }
}

#[derive(Default, Deserialize, JsonSchema)]
pub struct BookingsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    #[serde(rename = "type")]
    pub kind: Option<BookingType>,
    pub item_id: Option<Uuid>,
    pub route_time_id: Option<Uuid>,
    #[schemars(range(min = 1, max = 500))]
    pub qty: Option<i32>,
    #[schemars(length(max = 64))]
    pub code_promo: Option<String>,
    #[schemars(length(max = 1_000))]
    pub note: Option<String>,
    pub status: Option<BookingStatus>,
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
    pub mitra_id: Option<Uuid>,
    /// Day of departure, in the service's time zone.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    pub sort_by: Option<BookingSort>,
}

impl Input for BookingsQuery {}

/// What a guest shows to be let in: only whoever booked knows both.
#[derive(Default, Deserialize, JsonSchema)]
pub struct Knows {
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
}

impl Input for Knows {}

#[derive(Deserialize, JsonSchema)]
pub struct RescheduleForm {
    /// The sailing to move to: of the same partner, between the same harbours.
    pub route_time_id: Uuid,
    pub reason: Option<Note>,
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
}

impl Input for RescheduleForm {}

#[derive(Deserialize, JsonSchema)]
pub struct CancelForm {
    pub reason: Note,
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
}

impl Input for CancelForm {}
