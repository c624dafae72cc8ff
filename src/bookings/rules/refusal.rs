//! Why a booking cannot be changed: error codes and messages.

use crate::{
    bookings::model::BookingStatus,
    kernel::{
        error::{Conflict, Error},
        lang::{Text, text},
        money::Rupiah,
    },
};

/// Why a booking cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The sailing has departed.
    Departed,
    /// The partner has closed the manifest.
    ManifestClosed,
    /// A passenger of the booking is checked in.
    AlreadyBoarded,
    /// It is cancelled, or was refunded.
    AlreadyCancelled,
    /// It was refunded after its journey, for a complaint. That can be done once.
    AlreadyRefunded,
    /// It was not paid in time.
    Expired,
    /// Only a paid booking can be rescheduled, and has tickets.
    NotPaid,
    /// It needs no further payment.
    AlreadyPaid,
    /// No step of the policy allows a guest to reschedule so shortly before departure.
    TooLate,
    /// After the journey: nothing was paid, so that nothing can be refunded.
    FreeOfCharge,
    /// The actor may not decide this field, or not at this time.
    NotAllowed(&'static str),
    /// A reseller pays for it on account, as a whole.
    OnAccount,
    /// `refund` and `refund_amount` are both stated.
    Ambiguous,
    /// The amount exceeds what was paid.
    TooMuch(Rupiah),
    /// A refund after the journey is at least one rupiah.
    TooLittle,
}

impl Refusal {
    /// The error code.
    pub fn word(self) -> &'static str {
        match self {
            Self::Departed => "departed",
            Self::ManifestClosed => "manifest_closed",
            Self::AlreadyBoarded => "already_boarded",
            Self::AlreadyCancelled => "already_cancelled",
            Self::AlreadyRefunded => "already_refunded",
            Self::Expired => "expired",
            Self::NotPaid => "not_paid",
            Self::AlreadyPaid => "already_paid",
            Self::TooLate => "too_late",
            Self::FreeOfCharge => "invalid_state",
            Self::OnAccount => "on_account",
            Self::NotAllowed(_) | Self::Ambiguous | Self::TooMuch(_) | Self::TooLittle => {
                "validation_failed"
            }
        }
    }

    /// The field of the request that it concerns, if any, and the message.
    fn describe(self) -> (Option<(&'static str, &'static str)>, Text) {
        let of_state = |en, id| (None, text(en, id));
        match self {
            Self::Departed => of_state(
                "This sailing has departed, so the booking can no longer be changed.",
                "Kapal sudah berangkat, sehingga pemesanan tidak dapat diubah lagi.",
            ),
            Self::ManifestClosed => of_state(
                "The manifest of this sailing is closed.",
                "Manifes penumpang pelayaran ini sudah ditutup.",
            ),
            Self::AlreadyBoarded => of_state(
                "A passenger of this booking is already checked in.",
                "Ada penumpang pemesanan ini yang sudah check-in.",
            ),
            Self::AlreadyCancelled => {
                of_state("This booking is cancelled.", "Pemesanan ini sudah dibatalkan.")
            }
            Self::AlreadyRefunded => of_state(
                "This booking was already refunded after its journey. A second refund is not \
                 possible.",
                "Dana pemesanan ini sudah dikembalikan setelah perjalanan. Pengembalian kedua \
                 tidak dapat dilakukan.",
            ),
            Self::Expired => of_state(
                "This booking was not paid in time and has expired.",
                "Pemesanan ini tidak dibayar tepat waktu dan sudah kedaluwarsa.",
            ),
            Self::NotPaid => of_state("This booking is not paid.", "Pemesanan ini belum dibayar."),
            Self::AlreadyPaid => {
                of_state("This booking is already paid.", "Pemesanan ini sudah dibayar.")
            }
            Self::TooLate => of_state(
                "It is too late to reschedule this booking.",
                "Sudah terlambat untuk memindahkan pemesanan ini.",
            ),
            Self::FreeOfCharge => of_state(
                "Nothing was paid for this booking, so there is nothing to refund.",
                "Pemesanan ini tidak berbayar, sehingga tidak ada yang dikembalikan.",
            ),
            Self::OnAccount => of_state(
                "A reseller has sold this booking on account.",
                "Pemesanan ini dijual oleh agen penjual secara kredit.",
            ),
            Self::NotAllowed(field) => (
                Some((field, "not_allowed")),
                text(
                    "You cannot decide this for this booking.",
                    "Anda tidak dapat menentukan ini untuk pemesanan ini.",
                ),
            ),
            Self::Ambiguous => (
                Some(("refund_amount", "ambiguous")),
                text(
                    "State the refund or its amount, not both.",
                    "Sebutkan jenis pengembalian atau jumlahnya, bukan keduanya.",
                ),
            ),
            Self::TooMuch(most) => (
                Some(("refund_amount", "max")),
                Text::new(
                    format!("At most {most} can be refunded."),
                    format!("Paling banyak {most} dapat dikembalikan."),
                ),
            ),
            Self::TooLittle => (
                Some(("refund_amount", "min")),
                text(
                    "A refund after the journey is at least 1 rupiah.",
                    "Pengembalian setelah perjalanan paling sedikit 1 rupiah.",
                ),
            ),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal.describe() {
            (Some((field, rule)), message) => Self::field(field, rule, message),
            (None, message) => {
                let word = refusal.word();
                Self::Conflict(Box::new(Conflict { word, message, data: None }))
            }
        }
    }
}

/// Why a booking that is over cannot be changed.
pub(super) fn over(status: BookingStatus) -> Refusal {
    match status {
        BookingStatus::Expired => Refusal::Expired,
        _ => Refusal::AlreadyCancelled,
    }
}
