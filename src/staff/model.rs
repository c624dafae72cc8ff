//! Types of staff and permissions.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    access::{Level, Rule},
    confidential::Confidential,
    email::Email,
    error::Fault,
    http::Paging,
    ids::Uuid,
    lang::text,
    money::Rupiah,
    patch::Patch,
    phone::Phone,
    schema::Input,
    text::{Description, Line, Name, Words},
};

crate::string_enum! {
    pub enum WorkingType {
        FullTime = "full_time",
        PartTime = "part_time",
        Contract = "contract",
        Freelance = "freelance",
    }
}

crate::string_enum! {
    pub enum StaffStatus { Active = "active", Inactive = "inactive" }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Permission {
    pub id: Uuid,
    pub name: String,
    pub description: String,
    pub level: Level,
    pub rules: Vec<Rule>,
    /// Number of staff who hold it.
    pub staff_count: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct PermissionForm {
    pub name: Name,
    pub description: Description,
    pub level: Level,
    #[schemars(length(min = 1, max = 100), extend("uniqueItems" = true))]
    pub rules: Vec<Rule>,
}

impl Input for PermissionForm {}

crate::string_enum! {
    pub enum PermissionSort { Name = "name", Level = "level", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct PermissionsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub level: Option<Level>,
    pub sort_by: Option<PermissionSort>,
}

impl Input for PermissionsQuery {}

#[derive(Serialize, JsonSchema)]
pub struct RuleGroup {
    pub group: String,
    pub label: String,
    pub rules: Vec<RuleInfo>,
}

#[derive(Serialize, JsonSchema)]
pub struct RuleInfo {
    pub key: Rule,
    pub label: String,
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    pub street: Words<300>,
    pub city: Words<120>,
    pub province: Words<120>,
    pub postal_code: Words<12>,
}

#[derive(Deserialize, JsonSchema)]
pub struct BankAccountForm {
    pub bank_code: Line<20>,
    #[schemars(regex(pattern = r"^[0-9]{5,20}$"))]
    pub account_number: String,
    pub account_name: Name,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "StaffBankAccount")]
pub struct BankAccount {
    pub bank_code: String,
    pub account_number: Confidential,
    pub account_name: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct StaffForm {
    pub name: Name,
    pub email: Email,
    pub msisdn: Phone,
    pub join_date: NaiveDate,
    pub status: StaffStatus,
    pub permission_id: Uuid,
    pub working_type: WorkingType,
    pub show_salary: bool,
    /// Required for a new member. Left out of an update it stays as it is; null removes it, but not
    /// from somebody who may not see it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64))]
    pub salary: Patch<Rupiah>,
    pub address: Address,
    pub bank_account: BankAccountForm,
}

impl Input for StaffForm {}

/// A staff member to create.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct NewStaff(pub StaffForm);

impl Input for NewStaff {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        StaffForm::check(value, faults);
        if value["salary"].is_null() {
            faults.push(Fault::new(
                "salary",
                "required",
                text("This is required.", "Wajib diisi."),
            ));
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Staff {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub email: String,
    /// The requested e-mail address, until it is confirmed.
    pub pending_email: Option<String>,
    pub msisdn: Option<String>,
    pub join_date: NaiveDate,
    pub status: StaffStatus,
    pub permission_id: Uuid,
    pub permission: HeldPermission,
    pub working_type: WorkingType,
    pub show_salary: bool,
    /// Whole rupiah per month; null if none is recorded, and for callers who may not see it.
    pub salary: Option<Rupiah>,
    pub address: Address,
    pub bank_account: BankAccount,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HeldPermission {
    pub id: Uuid,
    pub name: String,
    pub level: Level,
}

/// Audit form of a staff member: whether the salary changed but not its value, and a masked account
/// number.
#[derive(Serialize)]
pub struct AuditedStaff<'a> {
    name: &'a str,
    email: &'a str,
    pending_email: Option<&'a str>,
    msisdn: Option<&'a str>,
    join_date: NaiveDate,
    status: StaffStatus,
    permission: &'a HeldPermission,
    working_type: WorkingType,
    show_salary: bool,
    salary_changed: bool,
    address: &'a Address,
    bank_code: &'a str,
    account_number: Confidential,
    account_name: &'a str,
}

impl Staff {
    pub fn for_audit(&self, salary_changed: bool) -> AuditedStaff<'_> {
        let BankAccount { bank_code, account_number, account_name } = &self.bank_account;
        AuditedStaff {
            name: &self.name,
            email: &self.email,
            pending_email: self.pending_email.as_deref(),
            msisdn: self.msisdn.as_deref(),
            join_date: self.join_date,
            status: self.status,
            permission: &self.permission,
            working_type: self.working_type,
            show_salary: self.show_salary,
            salary_changed,
            address: &self.address,
            bank_code,
            account_number: account_number.clone().revealed_if(false),
            account_name,
        }
    }
}

crate::string_enum! {
    pub enum StaffSort {
        Name = "name",
        Email = "email",
        JoinDate = "join_date",
        Level = "level",
        Status = "status",
        CreatedAt = "created_at",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct StaffQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub level: Option<Level>,
    pub status: Option<StaffStatus>,
    pub sort_by: Option<StaffSort>,
}

impl Input for StaffQuery {}

#[derive(Serialize, JsonSchema)]
pub struct StaffList {
    pub items: Vec<Staff>,
    pub summary: StaffSummary,
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct StaffSummary {
    pub total: i64,
    pub active: i64,
    pub inactive: i64,
}
