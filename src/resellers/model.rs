//! Types of resellers.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    access::{Role, Rule},
    caller::Caller,
    confidential::Confidential,
    email::Email,
    error::{Fault, Result},
    http::Paging,
    ids::Uuid,
    lang::text,
    money::Rupiah,
    patch::Patch,
    phone::Phone,
    schema::Input,
    seal::Sealer,
    text::{Line, Name, Note, without_url},
};

crate::string_enum! {
    pub enum ResellerStatus { Active = "active", Suspended = "suspended" }
}

crate::string_enum! {
    pub enum InvoiceSchedule {
        /// On Mondays, for the week before.
        Weekly = "weekly",
        /// On the first day of a month, for the month before.
        Monthly = "monthly",
    }
}

crate::string_enum! {
    /// What an API key may be used for.
    pub enum Scope {
        /// Products and availability.
        Catalog = "catalog",
        BookingsRead = "bookings.read",
        BookingsWrite = "bookings.write",
    }
}

/// The price of a fare that was agreed with a reseller, instead of a margin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetFare {
    pub line_id: Uuid,
    /// Key of the fare.
    #[schemars(length(min = 1, max = 60))]
    pub fare: String,
    /// Before taxes. Whole rupiah.
    #[schemars(range(min = 0))]
    pub net: Rupiah,
}

/// A step of a refund policy: the percentage that a cancellation gives back until so many hours before
/// departure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyStep {
    #[schemars(range(max = 8_784))]
    pub hours_before: u32,
    #[schemars(range(max = 100))]
    pub percent: u8,
}

/// A reseller as it is stored.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ResellerRow {
    pub id: Uuid,
    /// UUID of its account.
    pub user_id: Uuid,
    pub name: String,
    pub legal_name: String,
    /// Encrypted; see [`open_npwp`].
    #[serde(skip)]
    pub npwp: Option<String>,
    pub email: String,
    /// Address for notices about changed sailings; null: `email`.
    pub ops_email: Option<String>,
    pub phone: Option<String>,
    pub address: String,
    pub status: ResellerStatus,
    /// The highest balance. 0: it pays in advance. Whole rupiah.
    pub credit_limit: Rupiah,
    /// What it owes; negative if it has paid in advance. Whole rupiah.
    pub balance: Rupiah,
    pub invoice_schedule: InvoiceSchedule,
    /// Days in which an invoice is to be paid.
    pub terms_days: i32,
    /// The most unpaid bookings at a time.
    pub max_holds: i32,
    /// Requests per minute and key.
    pub rate_per_minute: i32,
    /// Decimals of amounts in the OCTO API.
    pub currency_precision: i32,
    pub created_at: DateTime<Utc>,
}

/// A reseller.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reseller {
    #[serde(flatten)]
    pub row: ResellerRow,
    pub npwp: Option<Confidential>,
}

impl ResellerRow {
    /// An NPWP is only confidential if it is a person's. Then it is for the reseller and those who
    /// change resellers.
    pub fn shown_to(self, caller: &Caller, sealer: &Sealer) -> Result<Reseller> {
        let may = caller.role == Role::Reseller || caller.may(Rule::ResellersWrite);
        self.revealed_if(may, sealer)
    }

    pub fn revealed_if(self, may: bool, sealer: &Sealer) -> Result<Reseller> {
        let npwp = open_npwp(sealer, self.npwp.as_deref())?;
        let npwp = npwp.map(|number| {
            let is_public = !number.is_npwp_of_person();
            number.revealed_if(may || is_public)
        });
        Ok(Reseller { row: self, npwp })
    }
}

/// Numbers that were stored before they were encrypted are digits alone. A start encrypts them.
pub fn is_clear(npwp: &str) -> bool {
    npwp.bytes().all(|byte| byte.is_ascii_digit())
}

pub fn open_npwp(sealer: &Sealer, stored: Option<&str>) -> Result<Option<Confidential>> {
    match stored {
        Some(number) if is_clear(number) => Ok(Some(Confidential::new(number))),
        sealed => sealer.open_number(sealed),
    }
}

/// Optional fields that an update leaves out keep their value.
#[derive(Deserialize, JsonSchema)]
pub struct ResellerForm {
    pub name: Name,
    pub legal_name: Name,
    /// 15 or 16 digits.
    #[serde(default)]
    pub npwp: Patch<Npwp>,
    pub email: Email,
    /// Null: `email`.
    #[serde(default)]
    pub ops_email: Patch<Email>,
    pub phone: Phone,
    pub address: Line<300>,
    /// Default: 0. Whole rupiah.
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64))]
    pub credit_limit: Option<Rupiah>,
    /// Default: `monthly`.
    pub invoice_schedule: Option<InvoiceSchedule>,
    /// Default: 14.
    #[schemars(range(min = 0, max = 365))]
    pub terms_days: Option<i32>,
    /// Default: 200.
    #[schemars(range(min = 0, max = 10_000))]
    pub max_holds: Option<i32>,
    /// Default: 1,200.
    #[schemars(range(min = 1, max = 60_000))]
    pub rate_per_minute: Option<i32>,
    /// 0 or 2. Default: 0.
    #[schemars(range(min = 0, max = 2))]
    pub currency_precision: Option<i32>,
}

impl Input for ResellerForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        // The name appears in a mail to an address that somebody chooses.
        without_url("name", value["name"].as_str().unwrap_or_default(), faults);
        if value["currency_precision"] == 1 {
            let message = text("This must be 0 or 2.", "Harus 0 atau 2.");
            faults.push(Fault::new("currency_precision", "enum", message));
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Npwp(#[schemars(regex(pattern = "^[0-9]{15,16}$"))] String);

/// What a reseller and the platform have agreed on.
#[derive(Clone, Debug)]
pub struct Terms {
    pub legal_name: String,
    /// Encrypted.
    pub npwp: Option<String>,
    pub ops_email: Option<String>,
    pub address: String,
    pub credit_limit: Rupiah,
    pub invoice_schedule: InvoiceSchedule,
    pub terms_days: i32,
    pub max_holds: i32,
    pub rate_per_minute: i32,
    pub currency_precision: i32,
}

impl ResellerForm {
    /// The terms after an update; `before` is `None` for a new reseller.
    pub fn over(&self, before: Option<&ResellerRow>, sealer: &Sealer) -> Result<Terms> {
        let npwp = match &self.npwp {
            Patch::Set(Npwp(number)) => Some(sealer.seal(number)?),
            Patch::Clear => None,
            Patch::Keep => before.and_then(|before| before.npwp.clone()),
        };
        let ops_email = before.and_then(|before| before.ops_email.clone());
        let count = |new: Option<i32>, old: fn(&ResellerRow) -> i32, default| {
            new.or(before.map(old)).unwrap_or(default)
        };
        let limit = self.credit_limit.or(before.map(|before| before.credit_limit));
        let schedule = self.invoice_schedule.or(before.map(|before| before.invoice_schedule));
        Ok(Terms {
            legal_name: self.legal_name.to_string(),
            npwp,
            ops_email: self.ops_email.clone().over(ops_email),
            address: self.address.to_string(),
            credit_limit: limit.unwrap_or(Rupiah::ZERO),
            invoice_schedule: schedule.unwrap_or(InvoiceSchedule::Monthly),
            terms_days: count(self.terms_days, |before| before.terms_days, 14),
            max_holds: count(self.max_holds, |before| before.max_holds, 200),
            rate_per_minute: count(self.rate_per_minute, |before| before.rate_per_minute, 1_200),
            currency_precision: count(self.currency_precision, |was| was.currency_precision, 0),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellerSuspension {
    #[schemars(length(max = 1_000), regex(pattern = r"\S"))]
    pub reason: Note,
}

impl Input for ResellerSuspension {}

crate::string_enum! {
    pub enum ResellerSort { Name = "name", Balance = "balance", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellersQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub status: Option<ResellerStatus>,
    pub sort_by: Option<ResellerSort>,
}

impl Input for ResellersQuery {}
