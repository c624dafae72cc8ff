//! Whether a booking is paid, by whom, and how the money can go back.

use chrono::{DateTime, Utc};

use super::refusal::{Refusal, over};
use crate::{bookings::model::BookingStatus, kernel::ids::Uuid};

/// Whether customers pay for a booking, and not a reseller.
pub fn ensure_not_resold(reseller: Option<Uuid>) -> Result<(), Refusal> {
    if reseller.is_some() { Err(Refusal::OnAccount) } else { Ok(()) }
}

/// Whether a booking waits for its payment.
pub fn ensure_unpaid(status: BookingStatus) -> Result<(), Refusal> {
    use BookingStatus::*;
    match status {
        PendingPayment => Ok(()),
        Paid | Completed => Err(Refusal::AlreadyPaid),
        Expired | Cancelled | RefundPending | Refunded => Err(over(status)),
    }
}

/// Whether a booking can still be paid at the provider: its hold has not ended.
pub fn payable(
    status: BookingStatus,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), Refusal> {
    ensure_unpaid(status)?;
    if expires_at <= now { Err(Refusal::Expired) } else { Ok(()) }
}

/// Whether a payment by this method can go back at the payment provider. Virtual accounts and shops
/// cannot take a refund.
pub fn goes_back_at_provider(method: Option<&str>) -> bool {
    matches!(method, Some("qris" | "credit_card" | "ewallet"))
}
