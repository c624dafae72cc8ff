//! Types of partners.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::onboarding::BankAccountStatus;
use crate::{
    accounts::{Password, User, check_confirmation},
    kernel::{
        email::Email,
        error::Fault,
        http::{ListFormat, Paging},
        ids::Uuid,
        lang::{Lang, text},
        money::Rate,
        patch::Patch,
        phone::Phone,
        schema::Input,
        text::{Name, Note, without_url},
    },
};

crate::string_enum! {
    pub enum PartnerType { Individual = "individual", Company = "company" }
}

crate::string_enum! {
    pub enum PartnerStatus {
        Draft = "draft",
        InReview = "in_review",
        Revision = "revision",
        Active = "active",
        Suspended = "suspended",
    }
}

crate::string_enum! {
    /// Event that changes the status of a partner.
    pub enum Event {
        Submit = "submitted",
        Approve = "approved",
        Reject = "revision",
        /// A changed verdict left no rejected document.
        Resume = "resumed",
        Suspend = "suspended",
        Unsuspend = "unsuspended",
    }
}

/// A partner, for the platform's staff.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Partner {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub email: String,
    /// The requested e-mail address, until it is confirmed.
    pub pending_email: Option<String>,
    pub phone: Option<String>,
    pub address: String,
    #[serde(rename = "partnerType")]
    pub partner_type: PartnerType,
    pub status: PartnerStatus,
    /// Percent; null means the platform's default.
    pub commission_rate: Option<Rate>,
    pub speedboat_count: i64,
    /// When the partner was first activated.
    pub verified_at: Option<DateTime<Utc>>,
    /// The partner's public page is `/p/{slug}`. Null until the first activation.
    pub slug: Option<String>,
    pub suspended_at: Option<DateTime<Utc>>,
    pub suspended_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    /// When the onboarding was last submitted.
    #[serde(skip)]
    pub submitted_at: Option<DateTime<Utc>>,
    /// Language of mails to the partner.
    #[serde(skip)]
    pub lang: Lang,
    /// Who created the partner and chose its e-mail address.
    #[serde(skip)]
    pub invited_by: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RegisterMitra {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
    pub password: Password,
    #[allow(dead_code)]
    cpassword: String,
    pub address: Note,
    #[serde(rename = "partnerType")]
    pub partner_type: PartnerType,
}

impl Input for RegisterMitra {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_confirmation(value, faults);
        // The name appears in a mail to an address that the guest chooses.
        without_url("name", value["name"].as_str().unwrap_or_default(), faults);
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Registered {
    pub user: User,
    pub mitra: Partner,
}

#[derive(Deserialize, JsonSchema)]
pub struct PartnerForm {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
    pub address: Note,
    #[serde(rename = "partnerType")]
    pub partner_type: PartnerType,
    /// Percent; null means the platform's default.
    #[serde(default)]
    pub commission_rate: Patch<Rate>,
}

impl Input for PartnerForm {}

crate::string_enum! {
    pub enum PartnerSort { Name = "name", Status = "status", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct PartnersQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub status: Option<PartnerStatus>,
    #[serde(rename = "partnerType")]
    pub partner_type: Option<PartnerType>,
    /// With `true`, partners with documents that await review; with `false`, the others.
    pub awaiting_review: Option<bool>,
    /// `pending`: accounts of activated partners that await approval. Before its activation, the
    /// account of a partner is reviewed with its bank book.
    pub bank_account_status: Option<BankAccountStatus>,
    pub sort_by: Option<PartnerSort>,
    /// `csv`: all partners that are found, as a file.
    pub format: Option<ListFormat>,
}

impl Input for PartnersQuery {}

#[derive(Serialize, JsonSchema)]
pub struct PartnerStatistics {
    pub total: i64,
    pub by_status: PartnersByStatus,
    pub by_type: PartnersByType,
    pub new_this_month: i64,
    /// Partners with documents that await review.
    pub awaiting_review: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct PartnersByStatus {
    pub draft: i64,
    pub in_review: i64,
    pub revision: i64,
    pub active: i64,
    pub suspended: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct PartnersByType {
    pub individual: i64,
    pub company: i64,
}

#[derive(Deserialize, JsonSchema)]
pub struct Suspension {
    #[schemars(length(max = 1_000), regex(pattern = r"\S"))]
    pub reason: Note,
}

impl Input for Suspension {}

crate::string_enum! {
    pub enum Verdict { Approved = "approved", Rejected = "rejected" }
}

#[derive(Deserialize, JsonSchema)]
pub struct DocumentReview {
    pub document_id: Uuid,
    pub status: Verdict,
    /// Required for a rejection.
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for DocumentReview {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_note(value, faults);
    }
}

/// A rejection needs a note.
fn check_note(value: &Value, faults: &mut Vec<Fault>) {
    let silent = value["note"].as_str().is_none_or(|note| note.trim().is_empty());
    if value["status"] == Verdict::Rejected.as_str() && silent {
        let message = text("State why it is rejected.", "Sebutkan alasan penolakan.");
        faults.push(Fault::new("note", "required", message));
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct BankApproval {
    pub status: Verdict,
    /// Required for a rejection; the partner reads it.
    #[serde(default)]
    pub note: Option<Note>,
    /// What the reviewer has seen; an account that has changed in the meantime is not reviewed.
    #[schemars(length(max = 20))]
    pub account_number: Option<String>,
    #[schemars(length(max = 20))]
    pub bank_code: Option<String>,
    #[schemars(length(max = 120))]
    pub account_name: Option<String>,
}

impl Input for BankApproval {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_note(value, faults);
    }
}
