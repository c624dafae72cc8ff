//! Rows of bookings.

use std::{collections::BTreeMap, ops::Deref};

use crate::kernel::db::Json;
use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    prices::{FareLine, Price, Shares, TaxAmount},
    rules::BookingState,
};
use crate::{
    kernel::{
        confidential::Confidential,
        error::{Error, Result},
        ids::Uuid,
        lang::Lang,
        money::{Rate, Rupiah},
        seal::Sealer,
    },
    ledger::{Due, DueKind, Posting, Source},
    lines::Fare,
    refunds::{NewRefund, RefundKind},
    sailings::{BookingType, SailingStatus, Zone},
    ticket_codes,
};

crate::string_enum! {
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

crate::string_enum! {
    /// Who created it.
    pub enum Channel { Web = "web", Staff = "staff", Mitra = "mitra", Reseller = "reseller" }
}

crate::string_enum! {
    pub enum IdentityType { Nik = "nik", Passport = "passport" }
}

crate::string_enum! {
    pub enum Gender { Male = "male", Female = "female" }
}

/// A stored passenger; the identity number is encrypted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPassenger {
    pub id: Uuid,
    pub name: String,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<String>,
    pub gender: Option<Gender>,
    pub birth_date: Option<NaiveDate>,
    pub nationality: Option<String>,
    /// What the passenger was sold: the fare's key and price, copied from the line. `None` on a
    /// charter.
    #[serde(default)]
    pub fare: Option<String>,
    #[serde(default)]
    pub unit_price: Option<Rupiah>,
    #[serde(default = "takes_seat")]
    pub takes_seat: bool,
    /// The place that the ticket names, once passengers before this one were cancelled. `None`: the
    /// index in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u16>,
    /// What a reseller knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resold: Option<ResoldPassenger>,
}

/// What a reseller has said of a passenger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResoldPassenger {
    /// Of the unit item.
    pub uuid: Uuid,
    pub reference: Option<String>,
    /// As it was sent.
    pub contact: Option<serde_json::Value>,
    /// Whether the passenger's name is its own, and not that of the contact.
    pub name_given: bool,
}

impl StoredPassenger {
    /// The place that the ticket names, of the passenger at this index of the list.
    pub fn place_at(&self, index: usize) -> Result<u16> {
        self.place.map_or_else(|| ticket_codes::place(index), Ok)
    }
}

fn takes_seat() -> bool {
    true
}

/// A passenger who was cancelled while the rest of the booking travels. It has no identity: only what
/// tells the booker and the crew who it was, and what was sold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CancelledPassenger {
    pub id: Uuid,
    pub name: String,
    pub fare: Option<String>,
    pub unit_price: Option<Rupiah>,
    pub takes_seat: bool,
    /// The place that the ticket names.
    pub place: u16,
    /// The row of `passenger_cancellations`.
    pub cancellation_id: Uuid,
    pub cancelled_at: DateTime<Utc>,
}

/// The bank account to which the booker wants refunds that no provider can send. It is stored
/// encrypted as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefundAccount {
    pub bank_code: String,
    pub account_number: Confidential,
    pub account_name: String,
}

impl RefundAccount {
    pub fn seal(self, sealer: &Sealer) -> Result<String> {
        let account_number = self.account_number.revealed_if(true);
        let account = Self { account_number, ..self };
        sealer.seal(&serde_json::to_string(&account).map_err(Error::internal)?)
    }

    /// The account; its number is masked unless it is revealed.
    pub fn open(sealer: &Sealer, sealed: &str) -> Result<Self> {
        serde_json::from_str(&sealer.open(sealed)?).map_err(Error::internal)
    }
}

/// Boarding times by passenger.
pub type Boarded = BTreeMap<Uuid, DateTime<Utc>>;

/// A booking on a manifest.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct BookingOnList {
    pub id: Uuid,
    pub code: String,
    pub contact_name: String,
    pub contact_phone: String,
    pub passengers: Json<Vec<StoredPassenger>>,
    pub boarded: Json<Boarded>,
}

/// A sailing with everything that a sale needs.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
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
    /// `None`: the service's.
    pub cutoff_minutes: Option<i32>,
    /// Of the line; at least one.
    pub fares: Json<Vec<Fare>>,
    pub route_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub from_harbour_id: Uuid,
    pub to_harbour_id: Uuid,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub speedboat_id: Uuid,
    pub speedboat_name: String,
    pub speedboat_status: String,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub partner_status: String,
    pub partner_verified_at: Option<DateTime<Utc>>,
    /// `None`: the default of the platform.
    pub commission_rate: Option<Rate>,
}

impl SailingContext {
    /// Local day of departure.
    pub fn day(&self) -> NaiveDate {
        self.departure_at.with_timezone(&self.timezone.tz()).date_naive()
    }
}

/// The part of a booking before or after a reschedule. Each segment has its own ledger entries.
#[derive(Clone, Copy, Debug, crate::kernel::db::FromRow)]
pub struct LedgerSegment {
    /// The booking.
    pub id: Uuid,
    pub partner_id: Uuid,
    /// The reschedule that began it.
    pub reschedule_id: Option<Uuid>,
    /// The reseller that sold it.
    pub reseller_id: Option<Uuid>,
}

impl LedgerSegment {
    pub fn posting(self, kind: &'static str) -> Posting {
        let (source, id) = match self.reschedule_id {
            Some(id) => (Source::Reschedule, id),
            None => (Source::Booking, self.id),
        };
        let posting = Posting::new(source, id, kind).of_booking(self.id, self.partner_id);
        posting.of_reseller(self.reseller_id)
    }

    /// What the shares mean for the partner, `times` 1 or -1.
    pub fn due(
        self,
        kind: DueKind,
        day: NaiveDate,
        shares: &Shares,
        times: i64,
        collected: Rupiah,
    ) -> Due {
        Due {
            partner_id: self.partner_id,
            booking_id: Some(self.id),
            reschedule_id: self.reschedule_id,
            kind,
            source_id: None,
            day,
            gross: shares.gross() * times,
            commission: shares.commission * times,
            commission_tax: shares.commission_tax() * times,
            collected,
        }
    }

    /// A refund that this segment owes.
    pub fn refund(self, kind: RefundKind, amount: Rupiah) -> NewRefund {
        NewRefund {
            booking_id: self.id,
            partner_id: self.partner_id,
            reseller_id: self.reseller_id,
            kind,
            amount,
            tax: Rupiah::ZERO,
            reschedule_id: self.reschedule_id,
            review_id: None,
            cancellation_id: None,
        }
    }
}

/// The columns of a price.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct StoredPrice {
    unit_price: Rupiah,
    subtotal: Rupiah,
    discount: Rupiah,
    partner_discount: Rupiah,
    margin: Rupiah,
    taxes: Json<Vec<TaxAmount>>,
    tax: Rupiah,
    total: Rupiah,
    commission_rate: Rate,
    commission: Rupiah,
    commission_taxes: Json<Vec<TaxAmount>>,
    commission_tax: Rupiah,
    partner_net: Rupiah,
}

impl StoredPrice {
    pub fn to_price(&self) -> Price {
        Price {
            unit_price: self.unit_price,
            // Not part of a sum.
            lines: Vec::new(),
            subtotal: self.subtotal,
            discount: self.discount,
            partner_discount: self.partner_discount,
            margin: self.margin,
            taxes: self.taxes.0.clone(),
            tax: self.tax,
            total: self.total,
            commission_rate: self.commission_rate,
            commission: self.commission,
            commission_taxes: self.commission_taxes.0.clone(),
            commission_tax: self.commission_tax,
            partner_net: self.partner_net,
        }
    }
}

/// The columns of the table `bookings`.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct StoredBooking {
    pub id: Uuid,
    pub code: String,
    #[row(rename = "type")]
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
    /// In the order of their ticket numbers.
    pub passengers: Json<Vec<StoredPassenger>>,
    pub cancelled_passengers: Json<Vec<CancelledPassenger>>,
    pub boarded: Json<Boarded>,
    pub accepted_terms: bool,
    /// The version that was in force.
    pub accepted_terms_id: Option<Uuid>,
    pub unit_price: Rupiah,
    pub fare_lines: Json<Vec<FareLine>>,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    /// As charged.
    pub taxes: Json<Vec<TaxAmount>>,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission_rate: Rate,
    pub commission: Rupiah,
    /// As charged.
    pub commission_taxes: Json<Vec<TaxAmount>>,
    pub commission_tax: Rupiah,
    /// The part of the discount that the partner pays for.
    pub partner_discount: Rupiah,
    pub partner_net: Rupiah,
    pub expires_at: DateTime<Utc>,
    /// The departure that it was sold with, if its sailing was moved.
    pub promised_at: Option<DateTime<Utc>>,
    pub paid_at: Option<DateTime<Utc>>,
    /// When its journey was completed. A refund after the journey leaves it.
    pub completed_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub cancel_reason: Option<String>,
    pub refund_amount: Option<Rupiah>,
    /// A [`RefundAccount`], encrypted.
    pub refund_account: Option<String>,
    /// The reschedule that moved it to its sailing.
    pub reschedule_id: Option<Uuid>,
    /// The maximum refund in percent.
    pub refund_cap: Option<i32>,
    pub created_at: DateTime<Utc>,
    /// Cancelled together with its sailing.
    pub called_off: bool,
    /// The reseller that sold it. The columns of its booking are read by `octo`.
    pub reseller_id: Option<Uuid>,
    pub margin: Rupiah,
    /// Sold as a ticket for any sailing of its day.
    pub day_ticket: bool,
    /// The reseller wants tickets to be mailed to the traveller.
    pub email_receipt: bool,
}

/// Columns joined from other tables.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct JoinedBooking {
    /// The refunds that are not paid yet.
    pub owed: Rupiah,
    /// What the provider has sent back without being owed, as was decided in reviews.
    pub gone: Rupiah,
    /// Of its sailing.
    pub manifest_closed_at: Option<DateTime<Utc>>,
    /// Why its sailing was cancelled or moved.
    pub sailing_reason: Option<String>,
    pub from_name: String,
    pub to_name: String,
    pub from_harbour_id: Uuid,
    pub to_harbour_id: Uuid,
    pub timezone: Zone,
    pub arrival_timezone: Zone,
    pub speedboat_name: String,
    pub partner_name: String,
    /// Whether the partner is suspended now.
    pub partner_suspended: bool,
    /// Of the reseller that sold it.
    pub reseller_name: Option<String>,
    // The newest attempt to pay.
    pub payment_provider: Option<String>,
    pub payment_reference: Option<String>,
    pub payment_status: Option<String>,
    pub payment_method: Option<String>,
    pub payment_redirect_url: Option<String>,
    pub payment_paid_at: Option<DateTime<Utc>>,
}

/// A booking as it is read: its columns and the joined ones. The columns of the booking are fields
/// of the row itself (`booking.status`).
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct BookingRow {
    #[row(flatten)]
    pub stored: StoredBooking,
    #[row(flatten)]
    pub joined: JoinedBooking,
}

impl Deref for BookingRow {
    type Target = StoredBooking;

    fn deref(&self) -> &StoredBooking {
        &self.stored
    }
}

/// A booking to insert. The statement and its triggers add the rest: the version of the terms, the
/// first payment, the seats.
#[derive(Clone, Debug)]
pub struct NewBooking {
    pub id: Uuid,
    pub code: String,
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
    pub passengers: Vec<StoredPassenger>,
    pub accepted_terms: bool,
    pub price: Price,
    /// The payment provider; `None` if nothing has to be paid.
    pub provider: Option<&'static str>,
    pub expires_at: DateTime<Utc>,
    pub paid_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// The counters of unpaid bookings that apply to it.
    pub counted: Option<CountedHold>,
    /// Of a reseller.
    pub resold: Option<Resold>,
}

/// What a reseller's booking has besides.
#[derive(Clone, Debug)]
pub struct Resold {
    pub reseller_id: Uuid,
    pub octo_uuid: Uuid,
    pub reference: Option<String>,
    pub day_ticket: bool,
    /// As it was sent.
    pub contact: Option<serde_json::Value>,
    pub request_digest: String,
}

/// Unpaid bookings are limited by e-mail address and by network.
#[derive(Clone, Debug)]
pub struct CountedHold {
    pub email: String,
    pub network: String,
}

impl NewBooking {
    /// The row as the database has it after the insert.
    pub fn into_row(self, sailing: &SailingContext) -> BookingRow {
        let Self { price, .. } = self;
        let paid_at_provider = self.provider.is_some();
        BookingRow {
            joined: JoinedBooking {
                owed: Rupiah::ZERO,
                gone: Rupiah::ZERO,
                manifest_closed_at: None,
                sailing_reason: None,
                from_name: sailing.from_name.clone(),
                to_name: sailing.to_name.clone(),
                from_harbour_id: sailing.from_harbour_id,
                to_harbour_id: sailing.to_harbour_id,
                timezone: sailing.timezone,
                arrival_timezone: sailing.arrival_timezone,
                speedboat_name: sailing.speedboat_name.clone(),
                partner_name: sailing.partner_name.clone(),
                // Else there is no offer.
                partner_suspended: false,
                reseller_name: None,
                payment_provider: self.provider.map(str::to_owned),
                payment_reference: paid_at_provider.then(|| format!("{}-1", self.code)),
                payment_status: paid_at_provider.then(|| "pending".to_owned()),
                payment_method: None,
                payment_redirect_url: None,
                payment_paid_at: None,
            },
            stored: StoredBooking {
                id: self.id,
                code: self.code,
                kind: self.kind,
                status: self.status,
                channel: self.channel,
                sailing_id: self.sailing_id,
                speedboat_id: self.speedboat_id,
                partner_id: self.partner_id,
                departure_at: self.departure_at,
                arrival_at: self.arrival_at,
                qty: self.qty,
                seats: self.seats,
                promotion_id: self.promotion_id,
                code_promo: self.code_promo,
                note: self.note,
                contact_name: self.contact_name,
                contact_email: self.contact_email,
                contact_phone: self.contact_phone,
                lang: self.lang,
                passengers: Json(self.passengers),
                cancelled_passengers: Json::default(),
                boarded: Json::default(),
                accepted_terms: self.accepted_terms,
                accepted_terms_id: None,
                unit_price: price.unit_price,
                fare_lines: Json(price.lines),
                subtotal: price.subtotal,
                discount: price.discount,
                taxes: Json(price.taxes),
                tax: price.tax,
                total: price.total,
                commission_rate: price.commission_rate,
                commission: price.commission,
                commission_taxes: Json(price.commission_taxes),
                commission_tax: price.commission_tax,
                partner_discount: price.partner_discount,
                partner_net: price.partner_net,
                expires_at: self.expires_at,
                promised_at: None,
                paid_at: self.paid_at,
                completed_at: None,
                cancelled_at: None,
                cancel_reason: None,
                refund_amount: None,
                refund_account: None,
                reschedule_id: None,
                refund_cap: None,
                created_at: self.created_at,
                called_off: false,
                reseller_id: self.resold.as_ref().map(|resold| resold.reseller_id),
                margin: price.margin,
                day_ticket: self.resold.is_some_and(|resold| resold.day_ticket),
                email_receipt: false,
            },
        }
    }
}

impl BookingRow {
    /// Local day of departure.
    pub fn day(&self) -> NaiveDate {
        self.departure_at.with_timezone(&self.joined.timezone.tz()).date_naive()
    }

    pub fn ledger_segment(&self) -> LedgerSegment {
        let StoredBooking { id, partner_id, reschedule_id, reseller_id, .. } = self.stored;
        LedgerSegment { id, partner_id, reschedule_id, reseller_id }
    }

    /// The segment that a reschedule begins.
    pub fn ledger_segment_from(&self, reschedule: Uuid) -> LedgerSegment {
        LedgerSegment { reschedule_id: Some(reschedule), ..self.ledger_segment() }
    }

    /// Cash goes back as cash.
    pub fn was_paid_in_cash(&self) -> bool {
        self.joined.payment_provider.as_deref() == Some("cash")
    }

    /// Gives the booking another price.
    pub fn set_price(&mut self, price: Price) {
        let stored = &mut self.stored;
        stored.unit_price = price.unit_price;
        stored.fare_lines = Json(price.lines);
        stored.subtotal = price.subtotal;
        stored.discount = price.discount;
        stored.taxes = Json(price.taxes);
        stored.tax = price.tax;
        stored.total = price.total;
        stored.commission = price.commission;
        stored.commission_taxes = Json(price.commission_taxes);
        stored.commission_tax = price.commission_tax;
        stored.partner_discount = price.partner_discount;
        stored.margin = price.margin;
        stored.partner_net = price.partner_net;
    }

    /// The input of the rules.
    pub fn state(&self) -> BookingState {
        BookingState {
            status: self.status,
            departure_at: self.departure_at,
            arrival_at: self.arrival_at,
            expires_at: self.expires_at,
            promised_at: self.promised_at,
            is_boarded: !self.boarded.is_empty(),
            is_manifest_closed: self.joined.manifest_closed_at.is_some(),
            is_called_off: self.called_off,
            is_partner_suspended: self.joined.partner_suspended,
            has_sailed: self.completed_at.is_some(),
            is_resold: self.reseller_id.is_some(),
            was_paid: self.paid_at.is_some(),
            total: self.total,
            gone: self.joined.gone,
            refund_cap: self.refund_cap,
        }
    }

    pub fn price(&self) -> Price {
        Price {
            unit_price: self.unit_price,
            lines: self.fare_lines.0.clone(),
            subtotal: self.subtotal,
            discount: self.discount,
            taxes: self.taxes.0.clone(),
            tax: self.tax,
            total: self.total,
            commission_rate: self.commission_rate,
            commission: self.commission,
            commission_taxes: self.commission_taxes.0.clone(),
            commission_tax: self.commission_tax,
            partner_discount: self.partner_discount,
            margin: self.margin,
            partner_net: self.partner_net,
        }
    }
}
