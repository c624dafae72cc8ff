//! Types of exports and erasures.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::Booking,
    kernel::{
        access::Role, email::Email, error::Fault, ids::Uuid, lang::text, money::Rupiah,
        schema::Input, text::Note,
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct ExportRequest {
    pub email: Email,
}

impl Input for ExportRequest {}

#[derive(Deserialize, JsonSchema)]
pub struct ErasureRequest {
    pub email: Email,
    /// Kept in the audit log, so it must not contain the address.
    #[schemars(length(max = 1_000), regex(pattern = r"\S"))]
    pub reason: Note,
}

impl Input for ErasureRequest {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let word = |name: &str| value[name].as_str().unwrap_or_default().trim().to_lowercase();
        let email = word("email");
        if !email.is_empty() && word("reason").contains(&email) {
            let message = text(
                "The reason must not contain the address: it is kept in the audit log.",
                "Alasan tidak boleh memuat alamat e-mail: alasan disimpan di log audit.",
            );
            faults.push(Fault::new("reason", "personal", message));
        }
    }
}

/// Result of an erasure.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Erasure {
    /// Number of accounts and bookings that were erased now.
    pub erased: u64,
    /// Number of accounts and bookings that will be erased when they are over.
    pub waiting: u64,
    pub accounts: ErasedKind,
    pub bookings: ErasedKind,
    /// Number of resellers that had the address as `ops_email`. Their mails go to `email` from now on.
    pub resellers: u64,
    /// Number of stored mails to the address that were deleted.
    pub letters: u64,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ErasedKind {
    pub erased: u64,
    pub waiting: u64,
}

crate::string_enum! {
    /// What is still to be erased.
    pub enum PendingKind { Account = "account", Booking = "booking", Letters = "letters" }
}

/// The audit entry of a request to export or erase. The subject is the keyed hash of the address.
#[derive(Serialize)]
pub struct AuditedRequest<'a> {
    pub subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    #[serde(flatten)]
    pub found: Found,
}

/// How much is stored about a person.
#[derive(Clone, Copy, Serialize)]
pub struct Found {
    pub accounts: u64,
    pub bookings: u64,
    /// Resellers that have the address for operations.
    pub resellers: u64,
}

/// Everything that is stored about a person.
#[derive(Serialize, JsonSchema)]
pub struct PersonalData {
    /// Accounts with this address, deleted ones included.
    pub accounts: Vec<AccountData>,
    /// Bookings with this contact address, with all of their passengers. Newest first.
    pub bookings: Vec<Booking>,
    /// Resellers that have this address as `ops_email`. Newest first.
    pub resellers: Vec<OpsReseller>,
    /// Mails to this address that are stored as files. Oldest first.
    pub letters: Vec<LetterData>,
    /// Networks with failed sign-ins to this address.
    pub failed_sign_ins: Vec<FailedSignIns>,
    /// The lists that are longer than the export shows: it has the newest 1,000 items of each.
    pub truncated: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
pub struct AccountData {
    #[serde(flatten)]
    pub account: AccountRecord,
    pub sessions: Vec<SessionData>,
    pub remembered_devices: Vec<DeviceData>,
    pub networks: Vec<NetworkData>,
    pub staff: Option<StaffData>,
    pub mitra: Option<PartnerData>,
    pub reseller: Option<ResellerData>,
    pub notifications: Vec<NotificationData>,
    pub files: Vec<FileData>,
    /// Changes that the person made.
    pub audit_entries: Vec<AuditData>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct AccountRecord {
    pub id: Uuid,
    pub name: String,
    pub email: String,
    pub email_verified: bool,
    pub pending_email: Option<String>,
    /// The partner that the person works for as crew.
    pub crew_of: Option<Uuid>,
    pub second_factor: bool,
    pub phone: Option<String>,
    pub role: Role,
    pub status: String,
    pub last_login_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub deleted_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedSession")]
pub struct SessionData {
    pub id: Uuid,
    pub address: String,
    pub user_agent: Option<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedDevice")]
pub struct DeviceData {
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedNetwork")]
pub struct NetworkData {
    pub network: String,
    pub last_used_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct FailedSignIns {
    pub network: String,
    pub failures: i32,
    pub since: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedStaff")]
pub struct StaffData {
    pub id: Uuid,
    pub join_date: NaiveDate,
    pub working_type: String,
    pub salary: Option<Rupiah>,
    pub address: Value,
    pub bank_code: String,
    pub account_number: String,
    pub account_name: String,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedPartner")]
pub struct PartnerData {
    pub id: Uuid,
    pub address: String,
    #[serde(rename = "partnerType")]
    pub partner_type: String,
    pub status: String,
    pub suspended_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    #[row(skip)]
    pub onboarding: Option<OnboardingRecord>,
    #[row(skip)]
    pub documents: Vec<DocumentData>,
    /// Bank accounts that settlements were paid to, masked.
    #[row(skip)]
    pub paid_to: Vec<Value>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedOnboarding")]
pub struct OnboardingRecord {
    pub legal_name: Option<String>,
    pub nib: Option<String>,
    pub npwp: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub province: Option<String>,
    pub postal_code: Option<String>,
    pub description: Option<String>,
    pub pic_name: Option<String>,
    pub pic_position: Option<String>,
    pub pic_phone: Option<String>,
    pub pic_email: Option<String>,
    pub pic_nik: Option<String>,
    pub bank_code: Option<String>,
    pub account_number: Option<String>,
    pub account_name: Option<String>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedDocument")]
pub struct DocumentData {
    pub id: Uuid,
    #[serde(rename = "type")]
    #[row(rename = "type")]
    pub kind: String,
    pub file_id: Uuid,
    pub status: String,
    pub note: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedReseller")]
pub struct ResellerData {
    pub id: Uuid,
    pub legal_name: String,
    pub npwp: Option<String>,
    pub ops_email: Option<String>,
    pub address: String,
    pub status: String,
    /// Why it was suspended.
    pub status_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    /// API keys, without the keys themselves.
    #[row(skip)]
    pub keys: Vec<KeyData>,
    /// Addresses that it is notified at.
    #[row(skip)]
    pub subscriptions: Vec<String>,
}

/// A reseller, for the person behind its `ops_email`.
#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedOpsReseller")]
pub struct OpsReseller {
    pub id: Uuid,
    pub name: String,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedResellerKey")]
pub struct KeyData {
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    /// Networks that it may be used from.
    #[schemars(with = "Vec<String>")]
    pub addresses: Value,
    pub last_used_at: Option<DateTime<Utc>>,
    pub last_used_address: Option<String>,
    pub revoked_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedNotification")]
pub struct NotificationData {
    pub id: Uuid,
    #[serde(rename = "type")]
    #[row(rename = "type")]
    pub kind: String,
    pub data: Value,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedFile")]
pub struct FileData {
    pub id: Uuid,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
    pub purpose: String,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
#[schemars(rename = "ExportedAuditEntry")]
pub struct AuditData {
    pub action: String,
    pub entity_type: String,
    pub entity_id: Uuid,
    pub address: String,
    pub user_agent: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExportedLetter")]
pub struct LetterData {
    /// Name of the file.
    pub filename: String,
    pub size: u64,
    pub written_at: DateTime<Utc>,
}
