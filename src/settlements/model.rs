//! Types of settlements.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::Channel,
    fleet::Owner,
    kernel::{
        error::Fault,
        http::{ListFormat, Paging},
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
        text::{Line, Note},
    },
    ledger::DueKind,
    partners::{BankAccount, settlement_configuration::SettlementConfiguration},
};

crate::string_enum! {
    pub enum SettlementStatus {
        Pending = "pending",
        /// A provider is paying it out.
        Processing = "processing",
        Released = "released",
        Cancelled = "cancelled",
        /// Nothing is paid out; a debt is carried to the next settlement.
        Statement = "statement",
    }
}

crate::string_enum! {
    /// How a settlement was released.
    pub enum PayoutMethod {
        /// Somebody transferred it.
        Manual = "manual",
        /// A provider paid it out.
        Payout = "payout",
    }
}

crate::string_enum! {
    pub enum Origin { Manual = "manual", Scheduled = "scheduled" }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct SettlementRow {
    pub id: Uuid,
    pub code: String,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    /// As stored: what the partner collected, minus `adjustment`.
    pub collected: Rupiah,
    pub adjustment: Rupiah,
    pub net: Rupiah,
    pub booking_count: i32,
    pub status: SettlementStatus,
    pub origin: Origin,
    pub bank_account: Option<Value>,
    pub note: String,
    pub reference: Option<String>,
    pub proof_file_id: Option<Uuid>,
    pub created_by: Option<Uuid>,
    pub created_by_name: Option<String>,
    pub released_by: Option<Uuid>,
    pub released_by_name: Option<String>,
    pub released_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub failure: Option<String>,
    // The partner's approved account, with encrypted number.
    pub bank_code: Option<String>,
    pub account_number: Option<String>,
    pub account_name: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Settlement {
    pub id: Uuid,
    pub code: String,
    pub mitra_id: Uuid,
    pub mitra: Owner,
    pub period: Period,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    /// Cash that the partner collected.
    pub collected: Rupiah,
    /// Corrections by journal entries; negative: at the partner's expense.
    pub adjustment: Rupiah,
    /// Amount of the payout: gross less commission, its tax and collected cash, with the adjustment.
    /// Zero or less in a statement.
    pub net: Rupiah,
    pub booking_count: i32,
    pub status: SettlementStatus,
    pub origin: Origin,
    /// Account of the payout; the partner's approved account while pending. The number is masked.
    #[schemars(with = "Option<BankAccount>")]
    pub bank_account: Value,
    pub note: String,
    pub reference: Option<String>,
    pub proof_file_id: Option<Uuid>,
    /// Signed address, valid for five minutes.
    pub proof_url: Option<String>,
    /// Null if created by the schedule.
    pub created_by: Option<By>,
    pub released_by: Option<By>,
    pub released_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// Why the last payout failed or came back.
    pub failure: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Period {
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct By {
    pub id: Uuid,
    pub name: String,
}

/// A configuration with the next settlement that it leads to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettlementConfigurationView {
    #[serde(flatten)]
    pub configuration: SettlementConfiguration,
    /// Day of the partner's next scheduled settlement, in the service's time zone. It is left out
    /// if less than `minimum_amount` is owed then. Null for the default, and with `schedule`
    /// `manual`.
    pub next_settlement_on: Option<NaiveDate>,
    /// Last day of departure that this settlement includes. Earlier departures that are unsettled
    /// are in it, too.
    pub next_settlement_until: Option<NaiveDate>,
}

/// A settlement with its items and releases.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettlementDetail {
    #[serde(flatten)]
    pub settlement: Settlement,
    pub items: Vec<SettlementItem>,
    /// Its releases, including those that came back.
    pub payouts: Vec<SettlementPayout>,
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct SettlementItem {
    /// Null if it is not of a booking, e.g. a receipt.
    pub booking_id: Option<Uuid>,
    pub code: Option<String>,
    pub channel: Option<Channel>,
    pub departure_at: Option<DateTime<Utc>>,
    pub kind: DueKind,
    /// Local day of departure, or the day of the cause.
    pub day: NaiveDate,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub collected: Rupiah,
    /// A correction by a journal entry; negative: at the partner's expense.
    pub adjustment: Rupiah,
    pub net: Rupiah,
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct SettlementPayout {
    pub id: Uuid,
    pub amount: Rupiah,
    pub method: PayoutMethod,
    pub reference: String,
    pub released_at: DateTime<Utc>,
    /// When the transfer came back.
    pub returned_at: Option<DateTime<Utc>>,
    pub return_reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ManualSettlement {
    pub mitra_id: Uuid,
    /// First day of departure.
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for ManualSettlement {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

/// Dates of the form `YYYY-MM-DD` can be compared as strings.
fn in_order(value: &Value, faults: &mut Vec<Fault>) {
    let (start, end) = (value["start_date"].as_str(), value["end_date"].as_str());
    if start.zip(end).is_some_and(|(start, end)| end < start) {
        let message = text("The end is before the start.", "Berakhir sebelum dimulai.");
        faults.push(Fault::new("end_date", "min", message));
    }
}

crate::string_enum! {
    pub enum ReleaseMethod {
        /// A person has transferred it.
        Manual = "manual",
        /// The provider pays it out.
        Payout = "payout",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReleaseForm {
    /// `manual` by default.
    #[serde(default)]
    pub method: Option<ReleaseMethod>,
    /// Reference of the transfer. Required unless the provider pays it out.
    #[serde(default)]
    #[schemars(length(min = 1, max = 120), regex(pattern = r"\S"))]
    pub reference: Option<Line<120>>,
    #[serde(default)]
    pub proof_file_id: Option<String>,
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for ReleaseForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        if value["method"] != "payout" && value["reference"].is_null() {
            let message = text(
                "The reference of the transfer is required.",
                "Referensi transfer wajib diisi.",
            );
            faults.push(Fault::new("reference", "required", message));
        }
    }
}

#[derive(Default, Deserialize, JsonSchema)]
pub struct CancelSettlement {
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for CancelSettlement {}

#[derive(Deserialize, JsonSchema)]
pub struct ReturnForm {
    /// Why the transfer came back.
    #[schemars(length(min = 1, max = 500), regex(pattern = r"\S"))]
    pub reason: Line<500>,
}

impl Input for ReturnForm {}

crate::string_enum! {
    pub enum SettlementSort {
        CreatedAt = "created_at",
        EndDate = "end_date",
        Net = "net",
        Status = "status",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SettlementsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub mitra_id: Option<Uuid>,
    pub status: Option<SettlementStatus>,
    pub origin: Option<Origin>,
    /// Settlements whose period overlaps these days.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    pub sort_by: Option<SettlementSort>,
    /// `csv`: all settlements that are found, as a file.
    pub format: Option<ListFormat>,
}

impl Input for SettlementsQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}
