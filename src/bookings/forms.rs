//! Request types of bookings.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    model::{BookingStatus, Channel, Gender, IdentityType},
    rules::{Actor, BorneBy, CancelRequest, RefundChoice},
};
use crate::{
    kernel::{
        email::Email,
        error::{Error, Fault, Result},
        http::{ListFormat, Paging},
        ids::Uuid,
        lang::text,
        money::Rupiah,
        phone::Phone,
        schema::Input,
        text::{Line, Name, Note, without_url},
    },
    partners::AccountNumber,
    sailings::BookingType,
};

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
    /// Key of a fare of the line; default: its first one. Ignored by charters.
    #[schemars(length(max = 64))]
    pub fare: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct BookingForm {
    #[serde(rename = "type")]
    pub kind: BookingType,
    /// UUID of the sailing's speedboat.
    pub item_id: Uuid,
    /// UUID of the sailing.
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

    /// The fare of each passenger, as far as it is stated.
    pub fn fares(&self) -> Vec<Option<&str>> {
        self.passengers.iter().map(|passenger| passenger.fare.as_deref()).collect()
    }

    /// Names are mailed to an unconfirmed address, so a guest must not write links in them.
    pub fn without_urls(&self) -> Result<()> {
        let mut faults = Vec::new();
        without_url("contact.name", &self.contact.name, &mut faults);
        for (index, passenger) in self.passengers.iter().enumerate() {
            without_url(format!("passengers[{index}].name"), &passenger.name, &mut faults);
        }
        without_url("note", self.note.as_deref().unwrap_or_default(), &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
    }
}

/// Refuses a link in the reason of a guest.
pub fn reason_without_url(reason: &str) -> Result<()> {
    let mut faults = Vec::new();
    without_url("reason", reason, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

impl Input for BookingForm {
    /// Forms send missing values as empty strings.
    fn tidy(value: &mut Value) {
        blank_details_are_null(value);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_party(value, faults);
        let passengers = value["passengers"].as_array();
        for (index, passenger) in passengers.into_iter().flatten().enumerate() {
            let Some(number) = passenger["identity_number"].as_str().map(str::trim) else {
                continue;
            };
            let field = |name: &str| format!("passengers[{index}].{name}");
            faults.extend(identity_fault(passenger["identity_type"].as_str(), number, field));
        }
    }
}

/// Forms send missing details of passengers as empty strings.
pub fn blank_details_are_null(value: &mut Value) {
    let passengers = value.get_mut("passengers").and_then(Value::as_array_mut);
    for passenger in passengers.into_iter().flatten() {
        for name in
            ["identity_type", "identity_number", "gender", "birth_date", "nationality", "fare"]
        {
            if let Some(field) = passenger.get_mut(name)
                && field.as_str().is_some_and(|text| text.trim().is_empty())
            {
                *field = Value::Null;
            }
        }
    }
}

/// What is wrong with an identity number of this type.
pub fn identity_fault(
    kind: Option<&str>,
    number: &str,
    field: impl Fn(&str) -> String,
) -> Option<Fault> {
    let (right, message) = match kind {
        Some("nik") => (
            number.len() == 16 && number.bytes().all(|b| b.is_ascii_digit()),
            text("A NIK has 16 digits.", "NIK terdiri dari 16 angka."),
        ),
        Some(_) => (
            (5..=20).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_alphanumeric()),
            text("This must be 5 to 20 letters and digits.", "Harus 5–20 huruf dan angka."),
        ),
        None => {
            let message = text(
                "State the type of the identity number.",
                "Sebutkan jenis nomor identitasnya.",
            );
            return Some(Fault::new(field("identity_type"), "required", message));
        }
    };
    (!right).then(|| Fault::new(field("identity_number"), "format", message))
}

#[derive(Deserialize, JsonSchema)]
pub struct QuotedPassenger {
    /// Key of a fare of the line; default: its first one.
    #[schemars(length(max = 64))]
    pub fare: Option<String>,
}

/// An offer that is asked for.
#[derive(Deserialize, JsonSchema)]
pub struct QuoteForm {
    #[serde(rename = "type")]
    pub kind: BookingType,
    /// UUID of the sailing's speedboat.
    pub item_id: Uuid,
    /// UUID of the sailing.
    pub route_time_id: Uuid,
    #[schemars(range(min = 1, max = 500))]
    pub qty: i32,
    /// One per passenger; left out: all at the first fare.
    #[schemars(length(max = 500))]
    pub passengers: Option<Vec<QuotedPassenger>>,
    #[schemars(length(max = 64))]
    pub code_promo: Option<String>,
    /// Of the booker, for promotions that are limited per customer.
    pub email: Option<Email>,
}

impl QuoteForm {
    /// The fare of each passenger, as far as it is stated.
    pub fn fares(&self) -> Vec<Option<&str>> {
        match &self.passengers {
            Some(passengers) => passengers.iter().map(|one| one.fare.as_deref()).collect(),
            None => (0..self.qty).map(|_| None).collect(),
        }
    }

    pub fn promo(&self) -> Option<&str> {
        self.code_promo.as_deref().map(str::trim).filter(|code| !code.is_empty())
    }
}

impl Input for QuoteForm {
    fn tidy(value: &mut Value) {
        if value["email"].as_str().is_some_and(|text| text.trim().is_empty()) {
            value["email"] = Value::Null;
        }
        let passengers = value.get_mut("passengers").and_then(Value::as_array_mut);
        for passenger in passengers.into_iter().flatten() {
            if passenger["fare"].as_str().is_some_and(|text| text.trim().is_empty()) {
                passenger["fare"] = Value::Null;
            }
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_party(value, faults);
    }
}

/// One passenger is listed per unit of `qty`, and seats are sold for at most 50 of them.
fn check_party(value: &Value, faults: &mut Vec<Fault>) {
    let passengers = value["passengers"].as_array();
    if let (Some(qty), Some(passengers)) = (value["qty"].as_i64(), passengers)
        && passengers.len() as i64 != qty
    {
        let message = text("List one passenger per seat.", "Isi satu penumpang untuk tiap kursi.");
        faults.push(Fault::new("passengers", "count", message));
    }
    if value["type"] == BookingType::Speedboat.as_str()
        && value["qty"].as_i64().is_some_and(|qty| (51..=500).contains(&qty))
    {
        let message = text("At most 50.", "Maksimal 50.");
        faults.push(Fault::new("qty", "max", message));
    }
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

crate::string_enum! {
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
    pub channel: Option<Channel>,
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
    pub mitra_id: Option<Uuid>,
    /// The reseller that sold it.
    pub reseller_id: Option<Uuid>,
    /// Day of departure, in the service's time zone.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    /// Whether a refund of the booking is not paid yet.
    pub refund_due: Option<bool>,
    pub sort_by: Option<BookingSort>,
    /// `csv`: all bookings that are found, as a file.
    pub format: Option<ListFormat>,
    /// Only what guests may see of it.
    #[serde(skip)]
    pub is_of_guest: bool,
    /// The caller may know the retail price alone.
    #[serde(skip)]
    pub is_at_retail: bool,
}

impl Input for BookingsQuery {}

/// Credentials of a guest: both must match the booking.
#[derive(Default, Deserialize, JsonSchema)]
pub struct GuestCredentials {
    #[schemars(length(max = 32))]
    pub code: Option<String>,
    pub email: Option<Email>,
}

impl Input for GuestCredentials {}

#[derive(Deserialize, JsonSchema)]
pub struct RescheduleForm {
    /// UUID of the new sailing: of the same partner, between the same harbours.
    pub route_time_id: Uuid,
    pub reason: Option<Note>,
    /// Only compute the price, the fee and the difference.
    pub dry_run: Option<bool>,
    #[serde(flatten)]
    pub credentials: GuestCredentials,
}

impl Input for RescheduleForm {}

#[derive(Deserialize, JsonSchema)]
pub struct CancelForm {
    pub reason: Note,
    /// What is paid back: everything (default of partners and staff), or what the refund policy
    /// grants to the booker.
    pub refund: Option<RefundChoice>,
    /// Staff: what is paid back, from 0 to what was paid; at least 1 after the journey.
    #[schemars(range(min = 0))]
    pub refund_amount: Option<Rupiah>,
    /// Staff, after the journey: who bears the refund. Default `partner`.
    pub borne_by: Option<BorneBy>,
    /// UUIDs of some of the passengers, to cancel them alone; the rest travels. Left out: all.
    #[schemars(length(min = 1, max = 500))]
    pub passenger_ids: Option<Vec<Uuid>>,
    #[serde(flatten)]
    pub credentials: GuestCredentials,
}

impl Input for CancelForm {}

impl CancelForm {
    pub fn request(&self, actor: Actor) -> CancelRequest {
        let Self { refund, refund_amount, borne_by, .. } = *self;
        CancelRequest { actor, refund, refund_amount, borne_by }
    }
}

/// A bank account for refunds.
#[derive(Deserialize, JsonSchema)]
pub struct RefundAccountForm {
    pub bank_code: Line<20>,
    pub account_number: AccountNumber,
    pub account_name: Name,
    #[serde(flatten)]
    pub credentials: GuestCredentials,
}

impl Input for RefundAccountForm {}
