//! Rows of transfers.

use chrono::{DateTime, Utc};

use crate::kernel::{ids::Uuid, money::Rupiah};

crate::string_enum! {
    pub enum TransferStatus {
        Created = "created",
        /// The provider is or was called, and its answer is not known.
        Sent = "sent",
        /// The provider works on it.
        Accepted = "accepted",
        Confirmed = "confirmed",
        Failed = "failed",
        /// The money came back after the confirmation.
        Reversed = "reversed",
    }
}

impl TransferStatus {
    pub fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Sent | Self::Accepted)
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Transfer {
    pub id: Uuid,
    pub refund_id: Option<Uuid>,
    pub settlement_id: Option<Uuid>,
    /// The payment that is refunded.
    pub payment_id: Option<Uuid>,
    /// The provider's id of that payment.
    pub transaction_id: Option<String>,
    pub provider: String,
    pub amount: Rupiah,
    pub status: TransferStatus,
    /// Account of a payout, encrypted.
    pub account: Option<String>,
    pub provider_id: Option<String>,
    pub attempts: i32,
    /// When the job works on it next; `None`: never.
    pub next_at: Option<DateTime<Utc>>,
    pub sent_at: Option<DateTime<Utc>>,
    pub accepted_at: Option<DateTime<Utc>>,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
}

/// A transfer to make, of a refund or of a settlement.
pub struct NewTransfer<'a> {
    pub refund_id: Option<Uuid>,
    pub settlement_id: Option<Uuid>,
    pub payment_id: Option<Uuid>,
    pub transaction_id: Option<&'a str>,
    pub provider: &'a str,
    pub amount: Rupiah,
    pub account: Option<String>,
}

/// What an outcome changes for the refund or settlement of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is still on its way, or was finished before.
    None,
    Confirmed {
        reference: String,
        /// What has moved.
        amount: Rupiah,
    },
    Failed(String),
    Reversed(String),
}
