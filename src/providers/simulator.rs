//! The simulator takes every transfer and waits for a person, who decides on its page
//! (`/pay/transfers`).

use super::{Outcome, PaidPayment, Refundability};
use crate::kernel::ids::Uuid;

pub fn refundability(payment: &PaidPayment) -> Refundability {
    match payment.method.as_str() {
        "qris" | "ewallet" | "credit_card" => Refundability::Partial,
        _ => Refundability::None,
    }
}

pub fn accepted(transfer: Uuid) -> Outcome {
    Outcome::Accepted { provider_id: format!("sim-{transfer}") }
}
