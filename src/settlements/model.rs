//! Types of settlements.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    fleet::Owner,
    kernel::{
        error::Fault,
        http::Paging,
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
        text::{Line, Note},
    },
    ledger::DueKind,
};

crate::string_enum! {
    pub enum SettlementStatus {
        Pending = "pending",
        Released = "released",
        Cancelled = "cancelled",
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
    pub collected: Rupiah,
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
    /// Amount of the payout: gross less commission, its tax and collected cash.
    pub net: Rupiah,
    pub booking_count: i32,
    pub status: SettlementStatus,
    pub origin: Origin,
    /// Account of the payout; the partner's approved account while pending. The number is masked.
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

/// A settlement with its bookings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettlementDetail {
    #[serde(flatten)]
    pub settlement: Settlement,
    pub items: Vec<SettlementItem>,
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct SettlementItem {
    pub booking_id: Uuid,
    pub code: String,
    pub departure_at: DateTime<Utc>,
    pub kind: DueKind,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub collected: Rupiah,
    pub net: Rupiah,
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

#[derive(Deserialize, JsonSchema)]
pub struct ReleaseForm {
    /// Reference of the transfer.
    #[schemars(length(min = 1, max = 120), regex(pattern = r"\S"))]
    pub reference: Line<120>,
    #[serde(default)]
    pub proof_file_id: Option<String>,
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for ReleaseForm {}

#[derive(Default, Deserialize, JsonSchema)]
pub struct CancelSettlement {
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for CancelSettlement {}

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
}

impl Input for SettlementsQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}
