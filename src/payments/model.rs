//! Rows, requests and responses of payments.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    error::Fault,
    http::Paging,
    ids::Uuid,
    lang::text,
    money::Rupiah,
    schema::Input,
    text::{Line, Note},
};

crate::string_enum! {
    pub enum PaymentStatus {
        Pending = "pending",
        Paid = "paid",
        Failed = "failed",
        Expired = "expired",
        Refunded = "refunded",
    }
}

crate::string_enum! {
    pub enum Method {
        Qris = "qris",
        BankTransfer = "bank_transfer",
        CreditCard = "credit_card",
        Ewallet = "ewallet",
        Retail = "retail",
        Cash = "cash",
        Other = "other",
    }
}

/// A payment attempt.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Payment {
    pub id: Uuid,
    pub booking_id: Uuid,
    pub attempt: i32,
    pub provider: String,
    pub reference: String,
    pub status: PaymentStatus,
    pub amount: Rupiah,
    pub redirect_url: Option<String>,
    /// The reschedule whose difference it pays.
    pub reschedule_id: Option<Uuid>,
}

crate::string_enum! {
    pub enum ReviewReason { WrongAmount = "wrong_amount", Late = "late", Duplicate = "duplicate" }
}

crate::string_enum! {
    pub enum Resolution { Apply = "apply", Refund = "refund", Dismiss = "dismiss" }
}

/// A payment that needs a decision.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Review {
    pub id: Uuid,
    pub booking_id: Uuid,
    pub reason: ReviewReason,
    pub amount: Rupiah,
    pub expected: Rupiah,
    pub resolution: Option<Resolution>,
    pub note: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// Amount above the total, owed to the customer.
    pub excess: Rupiah,
    #[serde(skip)]
    pub event_outcome: String,
    #[serde(skip)]
    pub event_method: Method,
    #[serde(skip)]
    pub payment_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
pub struct ReviewsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub reason: Option<ReviewReason>,
    /// Whether it is unresolved.
    pub open: Option<bool>,
}

impl Input for ReviewsQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct Resolve {
    pub action: Resolution,
    pub note: Note,
}

impl Input for Resolve {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        if value["note"].as_str().is_some_and(|note| note.trim().is_empty()) {
            let message = text("State what was done.", "Sebutkan apa yang dilakukan.");
            faults.push(Fault::new("note", "required", message));
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct RefundForm {
    /// Reference of the transfer.
    pub reference: Line<120>,
    /// Transferred amount; must equal the amount due.
    #[schemars(range(min = 1))]
    pub amount: Option<i64>,
    pub note: Option<Note>,
}

impl Input for RefundForm {}
