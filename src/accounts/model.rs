//! Types of accounts.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

use super::password::{Password, check_confirmation};
use crate::kernel::{
    access::{Level, Role, Rule},
    caller::{Caller, Context, Impersonator as Behind, Person},
    email::Email,
    error::{Error, Fault, Result},
    http::Paging,
    ids::Uuid,
    phone::Phone,
    schema::Input,
    text::{Name, without_url},
};

crate::string_enum! {
    pub enum Status { Active = "active", Inactive = "inactive", Suspended = "suspended" }
}

impl Status {
    /// 403 unless the account is active.
    pub fn standing(self) -> Result<()> {
        match self {
            Status::Active => Ok(()),
            Status::Inactive => Err(Error::AccountInactive),
            Status::Suspended => Err(Error::AccountSuspended),
        }
    }
}

pub struct NewAccount {
    pub name: Name,
    pub email: Email,
    pub phone: Option<Phone>,
    pub role: Role,
    pub status: Status,
    /// `None` until an invitation is accepted.
    pub password_hash: Option<String>,
}

/// Update of an account by management.
pub struct AccountChange {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
    /// `None` keeps it.
    pub status: Option<Status>,
}

/// An account.
#[derive(Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct User {
    pub id: Uuid,
    pub name: String,
    pub email: String,
    /// Whether a link that was mailed to the address has been used.
    pub email_verified: bool,
    /// The requested address, until it is confirmed.
    pub pending_email: Option<String>,
    pub phone: Option<String>,
    pub role: Role,
    pub status: Status,
    pub avatar_file_id: Option<Uuid>,
    /// Address of the avatar.
    #[row(skip)]
    pub avatar_url: Option<String>,
    pub last_login_at: Option<DateTime<Utc>>,
    /// Whether sign-in requires a code of an authenticator app.
    pub second_factor: bool,
    pub created_at: DateTime<Utc>,
}

/// The caller's own account.
#[derive(Serialize, JsonSchema)]
pub struct Profile {
    #[serde(flatten)]
    pub user: User,
    pub permission: Option<Permission>,
    pub mitra: Option<Partnership>,
    pub impersonated_by: Option<Impersonator>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProfilePermission")]
pub struct Permission {
    pub id: Uuid,
    pub name: String,
    pub level: Level,
    pub rules: Vec<Rule>,
}

#[derive(Serialize, JsonSchema)]
pub struct Partnership {
    pub id: Uuid,
    pub status: String,
    #[serde(rename = "partnerType")]
    pub partner_type: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Impersonator {
    pub id: Uuid,
    pub name: String,
}

/// A session with its account, permission and partnership.
#[derive(crate::kernel::db::FromRow)]
pub struct SessionRow {
    pub session_id: Uuid,
    pub last_used_at: DateTime<Utc>,
    authenticated_at: Option<DateTime<Utc>>,
    second_factor: bool,
    account_id: Uuid,
    name: String,
    email: String,
    role: Role,
    pub status: Status,
    level: Option<Level>,
    rules: Option<Value>,
    partner_id: Option<Uuid>,
    reseller_id: Option<Uuid>,
    impersonator_id: Option<Uuid>,
    impersonator_name: Option<String>,
    impersonator_email: Option<String>,
    impersonator_status: Option<Status>,
    impersonator_role: Option<Role>,
    impersonator_rules: Option<Value>,
    impersonator_second_factor: bool,
}

impl SessionRow {
    pub fn into_caller(self, context: Context) -> Result<Caller> {
        let impersonator = self.impersonator_id.map(|id| Behind {
            person: Person {
                id,
                name: self.impersonator_name.unwrap_or_default(),
                email: self.impersonator_email.unwrap_or_default(),
            },
            role: self.impersonator_role.unwrap_or(Role::Mitra),
            rules: rules(self.impersonator_rules),
            second_factor: self.impersonator_second_factor,
        });
        // An impersonator who was deactivated or lost the rule cannot continue.
        let stands = self.impersonator_status == Some(Status::Active);
        if impersonator.as_ref().is_some_and(|i| !stands || !i.may(Rule::PartnersImpersonate)) {
            return Err(Error::Unauthenticated);
        }
        Ok(Caller {
            session_id: self.session_id,
            authenticated_at: self.authenticated_at,
            second_factor: self.second_factor,
            person: Person { id: self.account_id, name: self.name, email: self.email },
            role: self.role,
            level: self.level,
            rules: rules(self.rules),
            partner_id: self.partner_id,
            reseller_id: self.reseller_id,
            impersonator,
            context,
        })
    }
}

/// Unknown rules are ignored.
pub fn rules(stored: Option<Value>) -> Vec<Rule> {
    let words = stored.as_ref().and_then(Value::as_array).into_iter().flatten();
    words.filter_map(|word| word.as_str()?.parse().ok()).collect()
}

/// Data for sign-in.
#[derive(crate::kernel::db::FromRow)]
pub struct Credentials {
    pub id: Uuid,
    pub name: String,
    pub email: String,
    pub role: Role,
    pub status: Status,
    pub password_hash: Option<String>,
    pub second_factor: bool,
}

/// Credentials with the last sign-in from the requesting network.
#[derive(crate::kernel::db::FromRow)]
pub struct CredentialsFrom {
    #[row(flatten)]
    pub credentials: Credentials,
    pub network_used_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
pub struct SignedIn {
    pub access_token: String,
    pub token_type: &'static str,
    pub expires_in: i64,
    pub expires_at: DateTime<Utc>,
    pub user: User,
    /// Token for the next resume; only present after a resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remember_token: Option<String>,
}

/// A short session as a partner.
#[derive(Serialize, JsonSchema)]
pub struct Impersonation {
    pub access_token: String,
    pub expires_in: i64,
    pub user: User,
}

/// The token of an enrolment, or a resumed session.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Remembered {
    Enrolled { remember_token: String, expires_at: DateTime<Utc> },
    Resumed(Box<SignedIn>),
}

#[derive(Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct OpenSession {
    pub id: Uuid,
    pub address: String,
    pub user_agent: Option<String>,
    /// Whether it is the session of this request.
    #[row(skip)]
    pub current: bool,
    pub created_at: DateTime<Utc>,
    /// Time of the last request, to the minute.
    pub last_used_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Login {
    pub email: Email,
    #[schemars(length(min = 1, max = 1024))]
    pub password: String,
    pub role: LoginRole,
    /// Six digits of the authenticator app, or a recovery code.
    #[schemars(length(max = 64))]
    code: Option<String>,
}

impl Input for Login {}

impl Login {
    /// The code, unless it is blank.
    pub fn code(&self) -> Option<&str> {
        filled_in(self.code.as_deref())
    }
}

/// A blank field of a form counts as missing.
fn filled_in(field: Option<&str>) -> Option<&str> {
    field.map(str::trim).filter(|text| !text.is_empty())
}

/// The role that somebody signs in with.
#[derive(Clone, Copy)]
pub enum LoginRole {
    /// Whatever the account's role is.
    Any,
    One(Role),
}

impl LoginRole {
    pub fn admits(self, role: Role) -> bool {
        match self {
            Self::Any => true,
            Self::One(one) => one == role,
        }
    }
}

impl<'de> Deserialize<'de> for LoginRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.as_str() {
            "any" => Ok(Self::Any),
            role => role.parse().map(Self::One).map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for LoginRole {
    fn schema_name() -> Cow<'static, str> {
        "LoginRole".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = Role::ALL.iter().map(|role| role.as_str()).chain(["any"]).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Reauthenticate {
    #[schemars(length(min = 1, max = 1024))]
    pub password: String,
    /// Required if the account has a second factor.
    #[schemars(length(max = 64))]
    code: Option<String>,
}

impl Input for Reauthenticate {}

impl Reauthenticate {
    /// The code, unless it is blank.
    pub fn code(&self) -> Option<&str> {
        filled_in(self.code.as_deref())
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct EnrolTotp {
    #[schemars(length(min = 1, max = 1024))]
    pub current_password: String,
}

impl Input for EnrolTotp {}

#[derive(Deserialize, JsonSchema)]
pub struct ConfirmTotp {
    /// Six digits of the authenticator app.
    #[schemars(length(min = 1, max = 64))]
    pub code: String,
}

impl Input for ConfirmTotp {}

#[derive(Deserialize, JsonSchema)]
pub struct RemoveTotp {
    #[schemars(length(min = 1, max = 1024))]
    pub current_password: String,
    #[schemars(length(min = 1, max = 64))]
    pub code: String,
}

impl Input for RemoveTotp {}

/// A secret for an authenticator app. It counts once a code of it was confirmed.
#[derive(Serialize, JsonSchema)]
pub struct TotpEnrolment {
    /// In base32, for typing.
    pub secret: String,
    pub otpauth_url: String,
    /// `otpauth_url` as a QR code.
    pub qr_svg: String,
}

#[derive(Serialize, JsonSchema)]
pub struct RecoveryCodes {
    /// Each replaces a code of the app once. They are not shown again.
    pub recovery_codes: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct EmailForm {
    pub email: Email,
}

impl Input for EmailForm {}

#[derive(Deserialize, JsonSchema)]
pub struct LinkToken {
    #[schemars(length(min = 1, max = 256))]
    pub token: String,
}

impl Input for LinkToken {}

#[derive(Deserialize, JsonSchema)]
pub struct ResetPassword {
    #[schemars(length(min = 1, max = 256))]
    pub token: String,
    pub password: Password,
    #[allow(dead_code)]
    cpassword: String,
}

impl Input for ResetPassword {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_confirmation(value, faults);
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ChangePassword {
    #[schemars(length(min = 1, max = 1024))]
    pub current_password: String,
    pub password: Password,
    #[allow(dead_code)]
    cpassword: String,
}

impl Input for ChangePassword {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_confirmation(value, faults);
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct UpdateProfile {
    pub name: Name,
    /// Another address than the current one becomes `pending_email` until it is confirmed.
    pub email: Email,
    /// Required for another e-mail address.
    #[schemars(length(max = 1024))]
    pub current_password: Option<String>,
    pub phone: Phone,
    /// An empty string removes the avatar.
    pub avatar_file_id: String,
}

impl Input for UpdateProfile {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        without_url("name", value["name"].as_str().unwrap_or_default(), faults);
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct InviteAdmin {
    pub name: Name,
    pub email: Email,
    pub phone: Option<Phone>,
}

impl Input for InviteAdmin {}

crate::string_enum! {
    pub enum AdminStatus { Active = "active", Inactive = "inactive" }
}

#[derive(Deserialize, JsonSchema)]
pub struct ChangeAdminStatus {
    pub status: AdminStatus,
}

impl Input for ChangeAdminStatus {}

crate::string_enum! {
    pub enum UserSort { Name = "name", Email = "email", Role = "role", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct UsersQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub role: Option<Role>,
    pub status: Option<Status>,
    pub sort_by: Option<UserSort>,
}

impl Input for UsersQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct SessionsQuery {
    #[serde(flatten)]
    pub paging: Paging,
}

impl Input for SessionsQuery {}

#[derive(Serialize, JsonSchema)]
pub struct UserStatistics {
    pub total: i64,
    pub by_role: ByRole,
    pub by_status: ByStatus,
    pub new_this_month: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct ByRole {
    pub admin: i64,
    pub staff: i64,
    pub mitra: i64,
    pub crew: i64,
    pub reseller: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct ByStatus {
    pub active: i64,
    pub inactive: i64,
    pub suspended: i64,
}
