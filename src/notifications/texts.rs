//! Texts of notifications.

use serde_json::Value;

use crate::{
    events::EventKind,
    kernel::{
        lang::{Text, text},
        money::Rupiah,
    },
};

/// For a type that this version does not know, written by a newer version.
pub fn unknown_text(kind: &str) -> (Text, Text) {
    (Text::new(kind.to_owned(), kind.to_owned()), text("", ""))
}

/// `1 passenger`, `2 passengers`
fn counted(count: i64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Title and body.
pub fn title_and_body(kind: EventKind, data: &Value) -> (Text, Text) {
    let said = |name: &str| data[name].as_str().unwrap_or_default();
    let money = |name: &str| Rupiah(data[name].as_i64().unwrap_or_default());
    let booking = |en: &str, id: &str| {
        let journey = format!("{} – {}", said("from"), said("to"));
        let qty = data["qty"].as_i64().unwrap_or_default();
        let passengers = counted(qty, "passenger");
        Text::new(
            format!("{} · {journey}, {passengers}, {}. {en}", said("code"), money("total")),
            format!("{} · {journey}, {qty} penumpang, {}. {id}", said("code"), money("total")),
        )
    };
    match kind {
        EventKind::BookingCreated => (
            text("New booking", "Pemesanan baru"),
            booking("Awaiting payment.", "Menunggu pembayaran."),
        ),
        EventKind::BookingPaid => (
            text("Booking paid", "Pemesanan dibayar"),
            booking("The booking has been paid.", "Pemesanan sudah dibayar."),
        ),
        EventKind::BookingExpired => (
            text("Booking expired", "Pemesanan kedaluwarsa"),
            booking("The seats are available again.", "Kursinya tersedia kembali."),
        ),
        EventKind::BookingCancelled => (
            text("Booking cancelled", "Pemesanan dibatalkan"),
            booking("The booking has been cancelled.", "Pemesanan telah dibatalkan."),
        ),
        EventKind::BookingPassengersCancelled => {
            let gone = data["cancelled_qty"].as_i64().unwrap_or_default();
            (
                text("Passengers cancelled", "Penumpang dibatalkan"),
                booking(
                    &format!("Cancelled passengers: {gone}. The others travel."),
                    &format!("Penumpang dibatalkan: {gone}. Yang lain tetap berangkat."),
                ),
            )
        }
        EventKind::BookingCompleted => (
            text("Journey completed", "Perjalanan selesai"),
            booking("The booking can be settled.", "Dapat dicairkan."),
        ),
        EventKind::BookingRefunded => (
            text("Booking refunded", "Dana pemesanan dikembalikan"),
            booking("The customer has been refunded.", "Dana pelanggan telah dikembalikan."),
        ),
        EventKind::BookingRescheduled => (
            text("Booking rescheduled", "Pemesanan dipindahkan"),
            match data["difference"].as_i64() {
                Some(owed) if owed < 0 => {
                    let owed = Rupiah(-owed);
                    booking(
                        &format!(
                            "The booking was moved to another sailing. {owed} is owed to the customer."
                        ),
                        &format!("Pindah jadwal. {owed} harus dikembalikan ke pelanggan."),
                    )
                }
                _ => booking("The booking was moved to another sailing.", "Pindah jadwal."),
            },
        ),
        EventKind::SailingCancelled => {
            let journey = format!("{} – {}", said("from"), said("to"));
            let bookings = &data["bookings"];
            (
                text("Sailing cancelled", "Pelayaran dibatalkan"),
                Text::new(
                    format!("{journey}. Cancelled bookings: {bookings}. {}", said("reason")),
                    format!("{journey}: {bookings} pemesanan dibatalkan. {}", said("reason")),
                ),
            )
        }
        EventKind::SailingMoved => {
            let journey = format!("{} – {}", said("from"), said("to"));
            let bookings = &data["bookings"];
            (
                text("Sailing moved", "Jadwal pelayaran berubah"),
                Text::new(
                    format!("{journey}. Bookings with a new time: {bookings}. {}", said("reason")),
                    format!("{journey}: waktu {bookings} pemesanan berubah. {}", said("reason")),
                ),
            )
        }
        EventKind::PaymentReview => (
            text("A payment needs a decision", "Pembayaran perlu keputusan"),
            Text::new(
                format!("{}: {} ({})", said("code"), money("amount"), said("reason")),
                format!("{}: {} ({})", said("code"), money("amount"), said("reason")),
            ),
        ),
        EventKind::RefundDue => {
            let (en, id) = refund_kind(said("kind"));
            let (code, unpaid) = (said("code"), money("unpaid"));
            (
                text("A refund is due", "Ada pengembalian dana"),
                Text::new(
                    format!("{code}: {unpaid} is owed to the customer ({en})."),
                    format!("{code}: {unpaid} harus dikembalikan ke pelanggan ({id})."),
                ),
            )
        }
        EventKind::RefundFailed => {
            let (code, unpaid, reason) = (said("code"), money("unpaid"), said("reason"));
            (
                text("A refund has failed", "Pengembalian dana gagal"),
                Text::new(
                    format!("{code}: {unpaid} is still owed to the customer. Reason: {reason}"),
                    format!("{code}: {unpaid} masih terutang ke pelanggan. Alasan: {reason}"),
                ),
            )
        }
        EventKind::PartnerRegistered => (
            text("New partner", "Mitra baru"),
            Text::new(
                format!("{} has registered.", said("name")),
                format!("{} telah mendaftar.", said("name")),
            ),
        ),
        EventKind::PartnerSubmitted => (
            text("Documents to review", "Dokumen perlu diperiksa"),
            Text::new(
                format!("{} has submitted its documents.", said("name")),
                format!("{} telah menyerahkan dokumen.", said("name")),
            ),
        ),
        EventKind::PartnerApproved => (
            text("You can start selling", "Anda dapat mulai menjual"),
            text("Your documents are approved.", "Dokumen Anda disetujui."),
        ),
        EventKind::PartnerRevision => (
            text("Please correct your documents", "Mohon perbaiki dokumen Anda"),
            text(
                "Some of your documents need to be sent again.",
                "Beberapa dokumen Anda perlu dikirim ulang.",
            ),
        ),
        EventKind::PartnerReviewResumed => (
            text("Your documents are under review", "Dokumen Anda sedang diperiksa"),
            text(
                "We have accepted what we had rejected before. You need not send it again.",
                "Dokumen yang tadinya ditolak kami terima. Anda tidak perlu mengirim ulang.",
            ),
        ),
        EventKind::PartnerDocumentReplaced => (
            text("A document to review", "Dokumen perlu diperiksa"),
            Text::new(
                format!("{} has handed in another document.", said("name")),
                format!("{} telah menyerahkan dokumen lain.", said("name")),
            ),
        ),
        EventKind::PartnerBankChanged => (
            text("A bank account to approve", "Rekening perlu disetujui"),
            Text::new(
                format!("{} has changed its bank account.", said("name")),
                format!("{} telah mengubah rekeningnya.", said("name")),
            ),
        ),
        EventKind::PartnerBankApproved => (
            text("Your bank account is approved", "Rekening Anda disetujui"),
            text("Settlements are paid to it.", "Settlement dibayarkan ke rekening ini."),
        ),
        EventKind::PartnerBankRejected => (
            text("Your bank account is rejected", "Rekening Anda ditolak"),
            Text::new(format!("Reason: {}", said("reason")), format!("Alasan: {}", said("reason"))),
        ),
        EventKind::PartnerSuspended => (
            text("Your partnership is suspended", "Kemitraan Anda ditangguhkan"),
            Text::new(format!("Reason: {}", said("reason")), format!("Alasan: {}", said("reason"))),
        ),
        EventKind::PartnerUnsuspended => (
            text("Your partnership is active again", "Kemitraan Anda aktif kembali"),
            text("Your sailings are on sale again.", "Jadwal Anda dijual kembali."),
        ),
        EventKind::SettlementCreated if data["net"].as_i64().unwrap_or_default() <= 0 => (
            text("New statement", "Pernyataan baru"),
            Text::new(
                format!("{}: nothing is paid out; the balance is {}.", said("code"), money("net")),
                format!("{}: tidak ada pencairan; saldo {}.", said("code"), money("net")),
            ),
        ),
        EventKind::SettlementReturned => (
            text("Payout came back", "Pencairan dikembalikan"),
            Text::new(
                format!("{} of {} was not paid: {}", said("code"), money("net"), said("reason")),
                format!(
                    "{} sebesar {} tidak terbayar: {}",
                    said("code"),
                    money("net"),
                    said("reason")
                ),
            ),
        ),
        EventKind::SettlementCreated => (
            text("New settlement", "Settlement baru"),
            Text::new(
                format!("{} of {} is awaiting payout.", said("code"), money("net")),
                format!("{} sebesar {} menunggu pencairan.", said("code"), money("net")),
            ),
        ),
        EventKind::SettlementReleased => (
            text("Settlement paid out", "Settlement dicairkan"),
            Text::new(
                format!("{} of {} has been paid out to you.", said("code"), money("net")),
                format!("{} sebesar {} telah dikirim.", said("code"), money("net")),
            ),
        ),
        EventKind::SettlementFailed => (
            text("A payout needs attention", "Pencairan perlu diperiksa"),
            Text::new(
                format!("{} of {}: {}", said("code"), money("net"), said("reason")),
                format!("{} sebesar {}: {}", said("code"), money("net"), said("reason")),
            ),
        ),
        EventKind::TermsPublished => (
            text("New terms", "Ketentuan baru"),
            Text::new(
                format!(
                    "Version {} of the {} terms has been published.",
                    data["version"],
                    said("type")
                ),
                format!("Versi {} ketentuan {} telah diterbitkan.", data["version"], said("type")),
            ),
        ),
        // These create no notification.
        EventKind::BookingMoved
        | EventKind::BookingBoatChanged
        | EventKind::BookingMoveDropped
        | EventKind::BookingDifferenceRefunded
        | EventKind::BookingTicketWanted
        | EventKind::BookingPassengersCorrected
        | EventKind::BookingContactCorrected => unknown_text(kind.as_str()),
    }
}

/// Why a customer is owed money, in both languages.
fn refund_kind(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "cancellation" => ("cancelled booking", "pemesanan dibatalkan"),
        "excess" => ("paid too much", "kelebihan bayar"),
        "difference" => ("cheaper sailing or returned fee", "selisih harga atau biaya"),
        "duplicate" => ("paid twice", "dibayar dua kali"),
        "late" => ("paid too late", "terlambat dibayar"),
        "complaint" => ("complaint", "keluhan"),
        _ => ("refund", "pengembalian dana"),
    }
}
