//! Rows of refunds.

use chrono::{DateTime, Utc};

use crate::kernel::{ids::Uuid, money::Rupiah};
use crate::ledger::Account;

crate::string_enum! {
    /// Why the customer is owed money.
    pub enum RefundKind {
        Cancellation = "cancellation",
        /// More was paid than the booking costs.
        Excess = "excess",
        /// A cheaper sailing after a reschedule, or a fee that is given back.
        Difference = "difference",
        /// Paid twice.
        Duplicate = "duplicate",
        /// Paid after the hold had ended.
        Late = "late",
        /// Granted after the journey.
        Complaint = "complaint",
    }
}

crate::string_enum! {
    pub enum RefundStatus {
        Due = "due",
        /// On its way at the provider.
        Sent = "sent",
        Paid = "paid",
        /// The provider refused it; a person has to pay it otherwise.
        Failed = "failed",
        /// The transfer bounced; due again.
        Returned = "returned",
        /// No longer owed: the customer took another sailing instead.
        Void = "void",
    }
}

crate::string_enum! {
    /// How a refund is paid.
    pub enum PaidBy {
        Provider = "provider",
        Bank = "bank",
        Cash = "cash",
        /// Cash that the partner had taken and handed back.
        Partner = "partner",
        /// To the account of the reseller that sold the booking.
        Account = "account",
    }
}

impl PaidBy {
    /// The account that the money leaves.
    pub fn account(self) -> Account {
        match self {
            Self::Provider => Account::GatewayClearing,
            Self::Bank => Account::Bank,
            Self::Cash => Account::Cash,
            Self::Partner => Account::PartnerPayable,
            Self::Account => Account::ResellerReceivable,
        }
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Refund {
    pub id: Uuid,
    pub code: String,
    pub booking_id: Uuid,
    pub partner_id: Uuid,
    pub kind: RefundKind,
    pub amount: Rupiah,
    /// What is still owed.
    pub unpaid: Rupiah,
    /// The booking tax in the amount.
    pub tax: Rupiah,
    pub status: RefundStatus,
    pub paid_by: Option<PaidBy>,
    pub reference: Option<String>,
    pub note: Option<String>,
    pub reschedule_id: Option<Uuid>,
    pub review_id: Option<Uuid>,
    /// The cancellation of some passengers that it belongs to.
    pub cancellation_id: Option<Uuid>,
    /// When it may be sent automatically; `None`: a person has to decide.
    pub send_at: Option<DateTime<Utc>>,
    pub attempts: i32,
    pub last_error: Option<String>,
    pub due_at: DateTime<Utc>,
    pub paid_at: Option<DateTime<Utc>>,
}

impl Refund {
    /// The part of the tax in the next payment of this amount. The parts sum to the whole.
    pub fn tax_of_next(&self, amount: Rupiah) -> Rupiah {
        let paid = self.amount - self.unpaid;
        self.tax.share(paid + amount, self.amount) - self.tax.share(paid, self.amount)
    }
}

/// A refund to create, in the transaction whose posting credits `refund_payable` with its amount.
#[derive(Clone, Copy, Debug)]
pub struct NewRefund {
    pub booking_id: Uuid,
    pub partner_id: Uuid,
    /// The reseller that sold the booking: the money goes to its account at once.
    pub reseller_id: Option<Uuid>,
    pub kind: RefundKind,
    pub amount: Rupiah,
    /// The booking tax in the amount, which the state no longer gets.
    pub tax: Rupiah,
    pub reschedule_id: Option<Uuid>,
    pub review_id: Option<Uuid>,
    pub cancellation_id: Option<Uuid>,
}

/// Money that leaves for a customer.
#[derive(Clone, Debug)]
pub struct RefundPayment<'a> {
    pub amount: Rupiah,
    pub by: PaidBy,
    pub reference: Option<&'a str>,
    pub note: Option<&'a str>,
    pub transfer_id: Option<Uuid>,
    pub told_id: Option<Uuid>,
    /// `None`: a provider.
    pub recorded_by: Option<Uuid>,
}
