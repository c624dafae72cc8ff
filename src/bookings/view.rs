//! Response types of bookings.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    model::{BookingStatus, Channel, Gender, IdentityType, RefundAccount},
    prices::{FareLine, Price, TaxAmount},
};
use crate::{
    fleet::Owner,
    kernel::{confidential::Confidential, ids::Uuid, money::Rupiah},
    lines::{Category, Fare, Residency},
    sailings::{BookingType, Zone},
};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Booking {
    pub id: Uuid,
    pub code: String,
    #[serde(rename = "type")]
    pub kind: BookingType,
    pub status: BookingStatus,
    pub channel: Channel,
    /// The reseller that sold it. Null if sold without a reseller.
    pub reseller: Option<Owner>,
    pub item_id: Uuid,
    pub route_time_id: Uuid,
    pub qty: i32,
    pub code_promo: Option<String>,
    pub note: String,
    pub contact: BookingContact,
    pub passengers: Vec<Passenger>,
    /// Passengers who were cancelled while the rest travels.
    pub cancelled_passengers: Vec<FormerPassenger>,
    pub sailing: BookedSailing,
    pub price: PriceRecord,
    /// Null if nothing has to be paid.
    pub payment: Option<PaymentRecord>,
    /// Version of the customer terms that was accepted with the booking.
    pub accepted_terms_id: Option<Uuid>,
    pub expires_at: DateTime<Utc>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub cancel_reason: Option<String>,
    /// Amount that is or was to be refunded to the customer. Null for partners if a reseller has sold
    /// the booking.
    pub refund_amount: Option<Rupiah>,
    /// What is still owed to the customer: the refunds that are not paid yet.
    pub owed: Rupiah,
    /// Where refunds are transferred that the payment provider cannot send, as the booker stated
    /// it. Null for partners.
    pub refund_account: Option<RefundAccount>,
    pub created_at: DateTime<Utc>,
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
    /// Key of the fare. Null on a charter.
    pub fare: Option<String>,
    /// What the fare cost. Null on a charter.
    pub unit_price: Option<Rupiah>,
    pub takes_seat: bool,
    pub checked_in_at: Option<DateTime<Utc>>,
    /// Code of the ticket, as in its QR code. Null unless the booking is paid and the caller may read
    /// identity numbers.
    pub ticket_code: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FormerPassenger {
    pub id: Uuid,
    pub name: String,
    pub cancelled_at: DateTime<Utc>,
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
    pub arrival_timezone: Zone,
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
    /// Price of the sailing per seat.
    pub unit_price: Rupiah,
    /// The subtotal by fare. Empty on a charter.
    pub lines: Vec<PriceLine>,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub taxes: Vec<TaxAmount>,
    pub tax: Rupiah,
    /// What is to be paid. Partners see a reseller's booking at the retail price: `total`, `tax` and
    /// `taxes` are those of the fares.
    pub total: Rupiah,
    /// What the platform leaves to the reseller of the subtotal. Only of bookings that a reseller has
    /// sold, and for admins and staff with `bookings.read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Rupiah>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PriceLine {
    pub fare: String,
    pub unit_price: Rupiah,
    pub count: i32,
}

impl From<FareLine> for PriceLine {
    fn from(line: FareLine) -> Self {
        Self { fare: line.fare, unit_price: line.unit_price, count: line.count }
    }
}

impl From<Price> for PriceRecord {
    fn from(price: Price) -> Self {
        Self {
            currency: "IDR",
            unit_price: price.unit_price,
            lines: price.lines.into_iter().map(PriceLine::from).collect(),
            subtotal: price.subtotal,
            discount: price.discount,
            taxes: price.taxes,
            tax: price.tax,
            total: price.total,
            margin: None,
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaymentRecord {
    pub provider: String,
    pub reference: String,
    pub status: String,
    pub method: Option<String>,
    /// Payment page; null until the provider has responded.
    pub redirect_url: Option<String>,
    pub paid_at: Option<DateTime<Utc>>,
}

/// What a booking would cost now.
#[derive(Serialize, JsonSchema)]
pub struct Quote {
    pub sailing: BookedSailing,
    pub available_seats: i32,
    /// What a passenger can travel at. The first one is the default. Empty for charters.
    pub fares: Vec<QuotedFare>,
    /// With the discount of the promotion, if it is valid.
    pub price: PriceRecord,
    /// Null if no code was stated.
    pub promo: Option<QuotedPromo>,
    /// When the sale ends.
    pub closes_at: DateTime<Utc>,
    /// What the booker gets back, by the hours that are left until departure.
    pub refund_policy: Vec<RefundStep>,
}

/// A fare of the line, with its price on this sailing.
#[derive(Serialize, JsonSchema)]
pub struct QuotedFare {
    pub key: String,
    pub category: Category,
    pub residency: Residency,
    pub min_age: i32,
    pub max_age: i32,
    pub price: Rupiah,
    pub takes_seat: bool,
    pub id_required: bool,
}

impl QuotedFare {
    pub fn new(fare: &Fare, seat_price: Rupiah) -> Self {
        Self {
            key: fare.key.clone(),
            category: fare.category,
            residency: fare.residency,
            min_age: fare.min_age,
            max_age: fare.max_age,
            price: fare.of(seat_price),
            takes_seat: fare.takes_seat,
            id_required: fare.id_required,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct QuotedPromo {
    pub valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<crate::promotions::Reason>,
}

#[derive(Serialize, JsonSchema)]
pub struct RefundStep {
    pub hours_before: u32,
    pub percent: u8,
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
