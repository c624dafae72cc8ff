//! Pure rules of boarding: ages, totals and refusals.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};

use super::model::{Listed, Outcome, Totals};
use crate::{
    bookings::{BookingStatus, Gender},
    kernel::lang::{Text, text},
};

/// Age on a day; `None` if born later.
pub fn age(birth: NaiveDate, on: NaiveDate) -> Option<u32> {
    let had = (on.month(), on.day()) >= (birth.month(), birth.day());
    let years = on.year() - birth.year() - i32::from(!had);
    u32::try_from(years).ok()
}

pub fn totals(bookings: usize, passengers: &[Listed]) -> Totals {
    let mut totals = Totals { bookings: bookings as u32, ..Totals::default() };
    for passenger in passengers {
        totals.passengers += 1;
        totals.checked_in += u32::from(passenger.checked_in_at.is_some());
        *match passenger.gender {
            Some(Gender::Male) => &mut totals.male,
            Some(Gender::Female) => &mut totals.female,
            None => &mut totals.gender_unknown,
        } += 1;
        *match passenger.age {
            Some(0..2) => &mut totals.infants,
            Some(2..12) => &mut totals.children,
            Some(12..) => &mut totals.adults,
            None => &mut totals.age_unknown,
        } += 1;
        if let Some(nationality) = &passenger.nationality {
            *totals.by_nationality.entry(nationality.clone()).or_default() += 1;
        }
    }
    totals
}

/// From when on a manifest can be closed: a close ends sales and keeps bookers from leaving.
pub fn manifest_opens_at(departure_at: DateTime<Utc>) -> DateTime<Utc> {
    departure_at - CLOSABLE
}

/// How long before departure a manifest can be closed.
pub const CLOSABLE: TimeDelta = TimeDelta::hours(3);

/// Why a booking in this status does not admit passengers.
pub fn refusal(status: BookingStatus) -> Option<Outcome> {
    match status {
        BookingStatus::Paid | BookingStatus::Completed => None,
        BookingStatus::PendingPayment | BookingStatus::Expired => Some(Outcome::Unpaid),
        BookingStatus::Cancelled | BookingStatus::RefundPending => Some(Outcome::Cancelled),
        BookingStatus::Refunded => Some(Outcome::Refunded),
    }
}

/// Time of boarding by the device's clock, limited to a plausible range.
pub fn boarded_at(scanned_at: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    scanned_at.clamp(now - TimeDelta::days(2), now)
}

pub fn outcome_text(outcome: Outcome) -> Text {
    match outcome {
        Outcome::Boarded => text("The passenger is checked in.", "Penumpang sudah check-in."),
        Outcome::AlreadyBoarded => {
            text("This passenger is already checked in.", "Penumpang ini sudah check-in.")
        }
        Outcome::Forged => text("This ticket is not valid.", "Tiket ini tidak sah."),
        Outcome::WrongSailing => {
            text("This ticket is for another sailing.", "Tiket ini untuk jadwal lain.")
        }
        Outcome::TicketReplaced => text(
            "This ticket was replaced by a new one. Ask for the new ticket.",
            "Tiket ini sudah diganti. Mintalah tiket yang baru.",
        ),
        Outcome::Unpaid => text("The booking is not paid.", "Pemesanan belum dibayar."),
        Outcome::Cancelled => text("This ticket is cancelled.", "Tiket ini telah dibatalkan."),
        Outcome::Refunded => {
            text("The booking has been refunded.", "Dana pemesanan telah dikembalikan.")
        }
        Outcome::ManifestClosed => {
            text("The manifest is closed.", "Manifes penumpang sudah ditutup.")
        }
        Outcome::Undone => text(
            "This scan was undone. Scan the ticket again.",
            "Pindaian ini telah dibatalkan. Pindai tiketnya lagi.",
        ),
        Outcome::ScanIdReused => {
            text("Another scan has the same scan_id.", "Pindaian lain memakai scan_id yang sama.")
        }
        Outcome::NotBoarded => {
            text("This passenger is not checked in.", "Penumpang ini belum check-in.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_full_years() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        assert_eq!(age(day("2000-11-16"), day("2026-11-16")), Some(26));
        assert_eq!(age(day("2000-11-17"), day("2026-11-16")), Some(25));
        assert_eq!(age(day("2024-02-29"), day("2026-02-28")), Some(1));
        assert_eq!(age(day("2024-02-29"), day("2026-03-01")), Some(2));
        assert_eq!(age(day("2026-11-16"), day("2026-11-16")), Some(0));
        assert_eq!(age(day("2027-01-01"), day("2026-11-16")), None);
    }

    #[test]
    fn a_device_does_not_board_anyone_in_the_future() {
        let now: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let hour = TimeDelta::hours(1);
        assert_eq!(boarded_at(now - hour, now), now - hour);
        assert_eq!(boarded_at(now + hour, now), now);
        assert_eq!(boarded_at(DateTime::UNIX_EPOCH, now), now - TimeDelta::days(2));
    }
}
