//! Rows, requests and responses of payments.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::BookingStatus,
    kernel::{
        error::Fault,
        http::Pages,
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
        text::{Line, Note},
    },
    refunds::PaidBy,
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
    pub enum ReviewReason {
        WrongAmount = "wrong_amount",
        Late = "late",
        Duplicate = "duplicate",
        /// The provider refunded what nobody was owed.
        UnowedRefund = "unowed_refund",
        /// The customer's bank, or the provider itself, took the money back.
        Chargeback = "chargeback",
    }
}

crate::string_enum! {
    pub enum Resolution {
        /// The money pays the booking.
        Apply = "apply",
        /// The money is owed to the customer.
        Refund = "refund",
        /// The provider has voided the payment.
        Dismiss = "dismiss",
        /// The partner bears a refund that was not owed.
        ChargePartner = "charge_partner",
        /// The platform bears it.
        WriteOff = "write_off",
        /// It pays a refund that has become due since.
        Match = "match",
    }
}

/// A payment that needs a decision.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Review {
    pub id: Uuid,
    pub booking_id: Uuid,
    pub booking_code: String,
    pub booking_status: BookingStatus,
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
    pub paging: Pages,
    /// Only the review with this id.
    pub id: Option<Uuid>,
    pub reason: Option<ReviewReason>,
    /// Whether it is unresolved.
    pub open: Option<bool>,
}

impl Input for ReviewsQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct Resolve {
    pub action: Resolution,
    pub note: Note,
    /// Of a refund that is paid at once: how. Default: by bank.
    #[serde(default)]
    pub by: Option<PaidBy>,
    /// Of a refund that is paid at once: reference of the transfer. Without it the refund stays due.
    #[serde(default)]
    pub reference: Option<Line<120>>,
}

impl Input for Resolve {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        if value["note"].as_str().is_some_and(|note| note.trim().is_empty()) {
            let message = text("Describe what was done.", "Sebutkan apa yang dilakukan.");
            faults.push(Fault::new("note", "required", message));
        }
        let is_refund = value["action"] == Resolution::Refund.as_str();
        for field in ["by", "reference"] {
            if !value[field].is_null() && !is_refund {
                let message = text("Only for a refund.", "Hanya untuk pengembalian dana.");
                faults.push(Fault::new(field, "not_applicable", message));
            }
        }
        if is_refund && !value["by"].is_null() && value["reference"].is_null() {
            let message =
                text("State the reference of the transfer.", "Sebutkan referensi transfer.");
            faults.push(Fault::new("reference", "required", message));
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
    /// Default: cash in cash, by the party that took it; other money by bank.
    #[serde(default)]
    pub by: Option<PaidBy>,
    pub note: Option<Note>,
}

impl Input for RefundForm {}

#[derive(Deserialize, JsonSchema)]
pub struct PayRefund {
    /// How it was paid. Cash goes back as cash.
    pub by: PaidBy,
    /// Reference of the transfer or receipt.
    pub reference: Line<120>,
    #[serde(default)]
    pub note: Option<Note>,
}

impl Input for PayRefund {}

#[derive(Default, Deserialize, JsonSchema)]
pub struct ReturnRefund {
    /// Why the transfer came back.
    #[serde(default)]
    pub reason: Option<Line<200>>,
}

impl Input for ReturnRefund {}
