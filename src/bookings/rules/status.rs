//! The statuses of a booking: how one follows another, and what each allows.

use super::refusal::{Refusal, over};
use crate::bookings::model::BookingStatus;

crate::string_enum! {
    /// Events of a booking's life cycle.
    pub enum Event {
        Pay = "pay",
        Expire = "expire",
        /// Cancelled without a refund.
        Cancel = "cancel",
        /// Cancelled with a refund due.
        CancelOwing = "cancel_owing",
        /// Paid after the hold ended, and the seats are sold out.
        LatePayment = "late_payment",
        Complete = "complete",
        Refund = "refund",
        /// Rescheduled after its sailing was cancelled, instead of refunded.
        Reinstate = "reinstate",
        /// The transfer of its refund bounced.
        RefundReturned = "refund_returned",
    }
}

/// All transitions. Any other is refused.
const TRANSITIONS: &[(BookingStatus, Event, BookingStatus)] = {
    use BookingStatus::*;
    &[
        (PendingPayment, Event::Pay, Paid),
        (PendingPayment, Event::Expire, Expired),
        (PendingPayment, Event::Cancel, Cancelled),
        (Expired, Event::Pay, Paid),
        (Expired, Event::LatePayment, RefundPending),
        (Paid, Event::Cancel, Cancelled),
        (Paid, Event::CancelOwing, RefundPending),
        (Paid, Event::Complete, Completed),
        (Completed, Event::CancelOwing, RefundPending),
        (RefundPending, Event::Refund, Refunded),
        (RefundPending, Event::Reinstate, Paid),
        (Refunded, Event::RefundReturned, RefundPending),
        // Free of charge, so there was no refund.
        (Cancelled, Event::Reinstate, Paid),
    ]
};

pub fn next(from: BookingStatus, event: Event) -> Option<BookingStatus> {
    TRANSITIONS.iter().find(|m| m.0 == from && m.1 == event).map(|m| m.2)
}

/// Whether it holds its seats and its promotion. The triggers of the database use the same rule.
pub fn is_live(status: BookingStatus) -> bool {
    use BookingStatus::*;
    matches!(status, PendingPayment | Paid | Completed)
}

/// Whether its passengers may board, or have boarded.
pub fn has_ticket(status: BookingStatus) -> bool {
    matches!(status, BookingStatus::Paid | BookingStatus::Completed)
}

/// Whether a booking has tickets.
pub fn ensure_ticket(status: BookingStatus) -> Result<(), Refusal> {
    match status {
        status if has_ticket(status) => Ok(()),
        BookingStatus::PendingPayment => Err(Refusal::NotPaid),
        status => Err(over(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same transitions as a matrix.
    #[test]
    fn every_edge_is_as_drawn_and_there_is_no_other() {
        #[rustfmt::skip]
        let drawn = [
            // from              pay     expire     cancel       owing             late payment      complete     refund        reinstate     returned
            ("pending_payment", ["paid", "expired", "cancelled", "-",              "-",              "-",         "-",          "-", "-"]),
            ("paid",            ["-",    "-",       "cancelled", "refund_pending", "-",              "completed", "-",          "-", "-"]),
            ("completed",       ["-",    "-",       "-",         "refund_pending", "-",              "-",         "-",          "-", "-"]),
            ("expired",         ["paid", "-",       "-",         "-",              "refund_pending", "-",         "-",          "-", "-"]),
            ("cancelled",       ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "paid", "-"]),
            ("refund_pending",  ["-",    "-",       "-",         "-",              "-",              "-",         "refunded",   "paid", "-"]),
            ("refunded",        ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "-", "refund_pending"]),
        ];
        assert_eq!(drawn.len(), BookingStatus::ALL.len());
        for (from, row) in drawn {
            for (event, to) in Event::ALL.iter().zip(row) {
                let found = next(from.parse().unwrap(), *event).map_or("-", BookingStatus::as_str);
                assert_eq!(found, to, "{from} {event}");
            }
        }
    }
}
