//! Mails to bookers.

use chrono::TimeDelta;

use super::{
    lookup::to_response,
    model::{BookingRow, BookingStatus, RefundAccount},
    rules,
    store::{self, FoundBooking},
};
use crate::{
    app::App,
    kernel::{
        email::Email,
        error::{Error, Result},
        ids::Uuid,
        lang::{Lang, Text, text},
        mail::Letter,
        money::Rupiah,
    },
    resellers,
};

/// The letters to a booker.
pub enum BookingLetter {
    PaymentRequest,
    ExpiryReminder,
    Paid,
    /// The tickets again, on request.
    Tickets,
    Expired,
    Cancelled {
        tells_reason: bool,
    },
    PassengersCancelled {
        cancellation: Uuid,
        refund: Rupiah,
    },
    SailingMoved,
    BoatChanged {
        /// Name of the boat before.
        was: String,
    },
    Rescheduled {
        difference: Rupiah,
    },
    RescheduleDropped,
    Refunded,
    DifferenceRefunded {
        amount: Rupiah,
        /// For passengers who were cancelled, instead of an overpayment.
        for_passengers: bool,
    },
    PassengersCorrected,
    ContactCorrected,
    /// To the address that the booking had before.
    ContactReplaced,
}

impl BookingLetter {
    /// Whether it has tickets attached: those that are new to the booker, or requested.
    pub fn has_tickets(&self) -> bool {
        match self {
            Self::Paid
            | Self::Tickets
            | Self::SailingMoved
            | Self::BoatChanged { .. }
            | Self::PassengersCorrected
            | Self::ContactCorrected
            | Self::Rescheduled { .. } => true,
            Self::PaymentRequest
            | Self::ExpiryReminder
            | Self::Expired
            | Self::Cancelled { .. }
            | Self::PassengersCancelled { .. }
            | Self::RescheduleDropped
            | Self::Refunded
            | Self::DifferenceRefunded { .. }
            | Self::ContactReplaced => false,
        }
    }

    /// Whether the traveller of a reseller gets it. What concerns money is between the reseller and the
    /// platform.
    fn is_for_resold(&self, booking: &BookingRow) -> bool {
        match self {
            Self::Paid | Self::BoatChanged { .. } | Self::Rescheduled { .. } => {
                booking.email_receipt
            }
            Self::Tickets | Self::SailingMoved => true,
            Self::Cancelled { .. } => booking.called_off,
            Self::PaymentRequest
            | Self::ExpiryReminder
            | Self::Expired
            | Self::PassengersCancelled { .. }
            | Self::RescheduleDropped
            | Self::Refunded
            | Self::DifferenceRefunded { .. }
            | Self::PassengersCorrected
            | Self::ContactCorrected
            | Self::ContactReplaced => false,
        }
    }

    /// Whether it is still relevant: the booking may have changed since the event.
    fn is_current(&self, booking: &BookingRow) -> bool {
        let status = booking.status;
        match self {
            Self::PaymentRequest | Self::ExpiryReminder => status == BookingStatus::PendingPayment,
            Self::Paid | Self::Tickets | Self::Rescheduled { .. } | Self::RescheduleDropped => {
                rules::has_ticket(status)
            }
            Self::Cancelled { .. } => !rules::is_live(status),
            Self::SailingMoved => rules::is_live(status) && booking.promised_at.is_some(),
            // Not if it changed back since.
            Self::BoatChanged { was } => {
                rules::is_live(status) && booking.joined.speedboat_name != *was
            }
            Self::PassengersCorrected => rules::is_live(status),
            Self::Expired
            | Self::PassengersCancelled { .. }
            | Self::Refunded
            | Self::DifferenceRefunded { .. } => true,
            Self::ContactCorrected | Self::ContactReplaced => true,
        }
    }
}

/// The mail and its booking; `None` if it is no longer relevant. Unavailable if it needs a payment
/// page that does not exist yet.
pub async fn letter(
    app: &App,
    id: Uuid,
    kind: &BookingLetter,
) -> Result<Option<(Letter, BookingRow)>> {
    let is_for_booker =
        |booking: &BookingRow| booking.reseller_id.is_none() || kind.is_for_resold(booking);
    let booking = store::get(&app.db, id).await?.filter(|booking| kind.is_current(booking));
    let Some(booking) = booking.filter(is_for_booker) else { return Ok(None) };
    // The placeholder of an erased booking is no address, and a reseller need not give one.
    let Ok(to) = booking.contact_email.parse() else { return Ok(None) };
    written(app, booking, kind, to).map(Some)
}

/// The same mail to the reseller that has sold the booking.
pub async fn letter_to_reseller(
    app: &App,
    id: Uuid,
    kind: &BookingLetter,
) -> Result<Option<(Letter, BookingRow)>> {
    let booking = store::get(&app.db, id).await?.filter(|booking| kind.is_current(booking));
    let Some(booking) = booking else { return Ok(None) };
    let Some(reseller) = booking.reseller_id else { return Ok(None) };
    let (address, name) = resellers::address(&app.db, reseller).await?;
    let Ok(to) = address.parse() else { return Ok(None) };
    let (letter, booking) = written(app, booking, kind, to)?;
    Ok(Some((Letter { name, ..letter }, booking)))
}

fn written(
    app: &App,
    booking: BookingRow,
    kind: &BookingLetter,
    to: Email,
) -> Result<(Letter, BookingRow)> {
    let is_resold = booking.reseller_id.is_some();
    let (subject, paragraphs) = match kind {
        BookingLetter::Paid | BookingLetter::Rescheduled { .. } if is_resold => ticket(),
        BookingLetter::Cancelled { .. } if is_resold => called_off_resold(&booking),
        BookingLetter::PaymentRequest => payment_request(&booking),
        BookingLetter::ExpiryReminder => expiring(&booking),
        BookingLetter::Paid => paid(),
        BookingLetter::Tickets => ticket(),
        BookingLetter::Expired => expired(),
        BookingLetter::Cancelled { .. } if booking.called_off => {
            called_off(&booking, way_back(app, &booking)?)
        }
        BookingLetter::Cancelled { tells_reason } => {
            cancelled(&booking, *tells_reason, way_back(app, &booking)?)
        }
        BookingLetter::PassengersCancelled { cancellation, refund } => {
            passengers_cancelled(&booking, *cancellation, *refund, way_back(app, &booking)?)
        }
        BookingLetter::SailingMoved => moved(&booking),
        BookingLetter::BoatChanged { was } => boat_changed(&booking, was),
        BookingLetter::Rescheduled { difference } => {
            rescheduled(*difference, way_back(app, &booking)?)
        }
        BookingLetter::RescheduleDropped => reschedule_dropped(),
        BookingLetter::Refunded => refunded(&booking),
        BookingLetter::DifferenceRefunded { amount, for_passengers } => {
            part_refunded(&booking, *amount, *for_passengers)
        }
        BookingLetter::PassengersCorrected => passengers_corrected(&booking),
        BookingLetter::ContactCorrected => contact_corrected(&booking),
        BookingLetter::ContactReplaced => contact_replaced(&booking),
    };
    let asks_to_pay = matches!(kind, BookingLetter::PaymentRequest | BookingLetter::ExpiryReminder);
    let action = match asks_to_pay {
        true => Some((text("Pay now", "Bayar sekarang"), payment_address(app, &booking)?)),
        false => None,
    };
    let (name, subject) = (booking.contact_name.clone(), about(subject, &booking));
    let facts = facts(&booking);
    let letter = Letter::new(to, name, booking.lang, subject, paragraphs);
    Ok((Letter { facts, action, ..letter }, booking))
}

fn payment_address(app: &App, booking: &BookingRow) -> Result<String> {
    let payment = to_response(app, booking.clone(), false)?.payment;
    let address = payment.and_then(|payment| payment.redirect_url);
    address.ok_or_else(|| Error::Unavailable("the payment address is not known yet".into()))
}

/// With the code, so that mail clients group the mails about one booking.
fn about(subject: (&str, &str), booking: &BookingRow) -> Text {
    let (en, id) = subject;
    Text::new(format!("{en} · {}", booking.code), format!("{id} · {}", booking.code))
}

fn facts(booking: &BookingRow) -> Vec<(Text, Text)> {
    let plain = |value: String| Text::new(value.clone(), value);
    let mut facts = vec![
        (text("Booking code", "Kode pemesanan"), plain(booking.code.clone())),
        (
            text("Journey", "Perjalanan"),
            plain(format!("{} – {}", booking.joined.from_name, booking.joined.to_name)),
        ),
        (text("Departure", "Berangkat"), booking.joined.timezone.when(booking.departure_at)),
        (text("Arrival", "Tiba"), booking.joined.arrival_timezone.when(booking.arrival_at)),
        (
            text("Boat", "Kapal"),
            plain(format!("{}, {}", booking.joined.speedboat_name, booking.joined.partner_name)),
        ),
        (text("Passengers", "Penumpang"), plain(booking.qty.to_string())),
    ];
    // What a reseller pays is not for its traveller.
    if booking.reseller_id.is_none() {
        facts.push((text("Total", "Total"), plain(booking.total.to_string())));
    }
    facts
}

type Words = ((&'static str, &'static str), Vec<Text>);

fn payment_request(booking: &BookingRow) -> Words {
    let until = booking.joined.timezone.when(booking.expires_at);
    let (en, id) = (until.say(Lang::En), until.say(Lang::Id));
    (
        ("Please pay for your booking", "Mohon bayar pemesanan Anda"),
        vec![Text::new(
            format!("Your seats are held until {en}. Your booking is confirmed once it is paid."),
            format!("Kursi Anda ditahan sampai {id}. Pemesanan dikonfirmasi setelah dibayar."),
        )],
    )
}

fn expiring(booking: &BookingRow) -> Words {
    let until = booking.joined.timezone.when(booking.expires_at);
    let (en, id) = (until.say(Lang::En), until.say(Lang::Id));
    (
        ("Your booking is about to expire", "Pemesanan Anda segera kedaluwarsa"),
        vec![Text::new(
            format!("Your seats are held until {en}. Please pay before then to keep them."),
            format!("Kursi Anda ditahan sampai {id}. Mohon bayar sebelum waktu itu."),
        )],
    )
}

fn paid() -> Words {
    (
        ("Your booking is paid", "Pemesanan Anda lunas"),
        vec![
            text(
                "Thank you. Your booking is confirmed; we look forward to seeing you on board.",
                "Terima kasih. Pemesanan Anda sudah dikonfirmasi; sampai jumpa di kapal.",
            ),
            text(
                "Your tickets are attached, one page per passenger. Please be at the pier 30 \
                 minutes before departure, with an identity document for each passenger.",
                "Tiket Anda terlampir: satu halaman untuk tiap penumpang. Mohon tiba di dermaga \
                 setengah jam sebelum berangkat, dengan tanda pengenal setiap orang.",
            ),
        ],
    )
}

fn ticket() -> Words {
    (
        ("Your tickets", "Tiket Anda"),
        vec![text(
            "Here are the tickets that you requested, one page per passenger.",
            "Ini tiket yang Anda minta: satu halaman untuk tiap penumpang.",
        )],
    )
}

fn passengers_corrected(booking: &BookingRow) -> Words {
    let mut paragraphs = vec![text(
        "The details of passengers of your booking were changed. If you did not ask for this, please \
         contact us.",
        "Data penumpang pemesanan Anda telah diubah. Jika Anda tidak memintanya, mohon hubungi kami.",
    )];
    if rules::has_ticket(booking.status) {
        paragraphs.push(text(
            "Tickets with the present names are attached. Earlier tickets of this booking remain \
             valid at the pier.",
            "Tiket dengan nama terbaru terlampir. Tiket sebelumnya untuk pemesanan ini tetap berlaku \
             di dermaga.",
        ));
    }
    (("The passengers of your booking were changed", "Data penumpang Anda diubah"), paragraphs)
}

fn contact_corrected(booking: &BookingRow) -> Words {
    let mut paragraphs = vec![text(
        "You are the contact of this booking. With its code and this e-mail address you can look it \
         up, change and cancel it.",
        "Anda adalah kontak pemesanan ini. Dengan kode dan alamat e-mail ini Anda dapat melihat, \
         mengubah, dan membatalkannya.",
    )];
    if rules::has_ticket(booking.status) {
        paragraphs.push(text("The tickets are attached.", "Tiket terlampir."));
    }
    (("The contact of your booking was changed", "Kontak pemesanan Anda diubah"), paragraphs)
}

/// Says the new address so far that its owner is recognised.
fn contact_replaced(booking: &BookingRow) -> Words {
    let new = booking.contact_email.parse().map(|email: Email| email.masked());
    let new = new.unwrap_or_default();
    (
        ("The contact of your booking was changed", "Kontak pemesanan Anda diubah"),
        vec![
            Text::new(
                format!("The contact of this booking is now {new}, and no longer this address."),
                format!("Kontak pemesanan ini kini {new}, bukan lagi alamat ini."),
            ),
            text(
                "If you did not ask for this, please contact the operator of the boat or us at once.",
                "Jika Anda tidak memintanya, mohon segera hubungi operator kapal atau kami.",
            ),
        ],
    )
}

/// The codes of the bookings of an address; `None` if it has none.
pub async fn found_letter(app: &App, to: Email, lang: Lang) -> Result<Option<Letter>> {
    let since = app.clock.now() - TimeDelta::days(31);
    let found = store::of_address(&app.db, &to, since, MOST_FOUND).await?;
    let Some(newest) = found.first() else { return Ok(None) };
    let fact = |booking: &FoundBooking| {
        let when = booking.timezone.when(booking.departure_at);
        let journey = format!("{} – {}", booking.from_name, booking.to_name);
        let (en, id) = (when.say(Lang::En), when.say(Lang::Id));
        let code = Text::new(booking.code.clone(), booking.code.clone());
        (code, Text::new(format!("{journey}, {en}"), format!("{journey}, {id}")))
    };
    let facts = found.iter().map(fact).collect();
    let (name, subject) = (newest.contact_name.clone(), text("Your bookings", "Pemesanan Anda"));
    let paragraphs = vec![text(
        "Somebody, probably you, asked for the codes of the bookings of this address. With a code \
         and this address you can look up a booking, change and cancel it. If you did not ask, you \
         can ignore this mail.",
        "Seseorang, mungkin Anda, meminta kode pemesanan untuk alamat ini. Dengan kode dan alamat ini \
         Anda dapat melihat, mengubah, dan membatalkan pemesanan. Jika Anda tidak memintanya, abaikan \
         e-mail ini.",
    )];
    let letter = Letter::new(to, name, lang, subject, paragraphs);
    Ok(Some(Letter { facts, ..letter }))
}

/// A mail lists at most so many bookings.
const MOST_FOUND: i64 = 50;

fn expired() -> Words {
    (
        ("Your booking has expired", "Pemesanan Anda kedaluwarsa"),
        vec![text(
            "The booking was not paid in time, so your seats have been released. You are welcome \
             to book again.",
            "Pemesanan tidak dibayar tepat waktu, sehingga kursi Anda dilepas. Silakan memesan \
             lagi.",
        )],
    )
}

fn cancelled(booking: &BookingRow, tells_reason: bool, way_back: Text) -> Words {
    // Refunded after the journey: a complaint.
    let is_complaint = booking.completed_at.is_some();
    let (subject, first) = match is_complaint {
        true => (
            ("A refund for your journey", "Pengembalian dana untuk perjalanan Anda"),
            text(
                "We are sorry that something was not right with your journey.",
                "Mohon maaf, ada yang tidak sesuai pada perjalanan Anda.",
            ),
        ),
        false => (
            ("Your booking is cancelled", "Pemesanan Anda dibatalkan"),
            text("Your booking is cancelled.", "Pemesanan Anda dibatalkan."),
        ),
    };
    let mut paragraphs = vec![first];
    paragraphs.extend(because(booking.cancel_reason.as_deref().filter(|_| tells_reason)));
    match booking.refund_amount.filter(|due| *due > Rupiah::ZERO) {
        Some(due) => {
            paragraphs.push(Text::new(
                format!("We will refund {due}. You will receive a mail when it has been sent."),
                format!("{due} akan dikembalikan. Kami akan mengabari Anda setelah dikirim."),
            ));
            paragraphs.push(way_back);
        }
        None if booking.paid_at.is_some() && booking.total > Rupiah::ZERO => paragraphs.push(text(
            "According to the terms of your booking there is no refund.",
            "Sesuai ketentuan pemesanan, tidak ada pengembalian dana.",
        )),
        None => {}
    }
    (subject, paragraphs)
}

fn passengers_cancelled(
    booking: &BookingRow,
    cancellation: Uuid,
    refund: Rupiah,
    way_back: Text,
) -> Words {
    let gone = booking.cancelled_passengers.iter();
    let gone = gone.filter(|passenger| passenger.cancellation_id == cancellation);
    let names: Vec<_> = gone.map(|passenger| passenger.name.as_str()).collect();
    let names = names.join(", ");
    let mut paragraphs = vec![Text::new(
        format!("These passengers of your booking are cancelled: {names}."),
        format!("Penumpang berikut dari pemesanan Anda dibatalkan: {names}."),
    )];
    if refund > Rupiah::ZERO {
        paragraphs.push(Text::new(
            format!("We will refund {refund}. You will receive a mail when it has been sent."),
            format!("{refund} akan dikembalikan. Kami akan mengabari Anda setelah dikirim."),
        ));
        paragraphs.push(way_back);
    } else {
        paragraphs.push(text(
            "There is no refund for them.",
            "Tidak ada pengembalian dana untuk mereka.",
        ));
    }
    if rules::has_ticket(booking.status) {
        paragraphs.push(text(
            "The tickets of the other passengers remain valid.",
            "Tiket penumpang lainnya tetap berlaku.",
        ));
    }
    (("Passengers of your booking are cancelled", "Penumpang Anda dibatalkan"), paragraphs)
}

/// How a refund of the booking reaches the customer: cash as cash, to the stated account, or as it
/// was paid. If none of these is possible, it asks for an account.
fn way_back(app: &App, booking: &BookingRow) -> Result<Text> {
    if booking.was_paid_in_cash() {
        return Ok(text(
            "You paid in cash, so it is paid back in cash where you paid.",
            "Anda membayar tunai, sehingga dana dikembalikan tunai di tempat Anda membayar.",
        ));
    }
    if let Some(sealed) = &booking.refund_account {
        let RefundAccount { bank_code, account_number, .. } =
            RefundAccount::open(&app.sealer, sealed)?;
        // Formatted masked.
        return Ok(Text::new(
            format!("It is paid to the account that you stated: {bank_code}, {account_number:?}."),
            format!(
                "Dana dikirim ke rekening yang Anda sebutkan: {bank_code}, {account_number:?}."
            ),
        ));
    }
    let method = booking.joined.payment_method.as_deref();
    Ok(match rules::goes_back_at_provider(method) {
        true => text(
            "It is refunded to your original payment method.",
            "Dana dikembalikan melalui cara pembayaran Anda.",
        ),
        false => text(
            "Your payment method cannot receive refunds. Please state a bank account for it, with your \
             booking code and e-mail address.",
            "Cara pembayaran Anda tidak dapat menerima pengembalian. Mohon sebutkan rekening bank \
             tujuan, dengan kode pemesanan dan alamat e-mail Anda.",
        ),
    })
}

fn because(reason: Option<&str>) -> Option<Text> {
    let reason = reason.filter(|reason| !reason.is_empty())?;
    Some(Text::new(format!("Reason: {reason}"), format!("Alasan: {reason}")))
}

/// The traveller of a reseller is refunded and moved by it.
fn called_off_resold(booking: &BookingRow) -> Words {
    let mut paragraphs = vec![text(
        "We are sorry: your sailing has been cancelled.",
        "Mohon maaf, pelayaran Anda dibatalkan.",
    )];
    paragraphs.extend(because(booking.cancel_reason.as_deref()));
    paragraphs.push(ask_the_seller());
    (("Your sailing has been cancelled", "Pelayaran Anda dibatalkan"), paragraphs)
}

fn ask_the_seller() -> Text {
    text(
        "Please contact whoever sold you the ticket for another sailing or a refund.",
        "Mohon hubungi penjual tiket Anda untuk jadwal lain atau pengembalian dana.",
    )
}

fn called_off(booking: &BookingRow, way_back: Text) -> Words {
    let mut paragraphs = vec![text(
        "We are sorry: your sailing has been cancelled.",
        "Mohon maaf, pelayaran Anda dibatalkan.",
    )];
    paragraphs.extend(because(booking.cancel_reason.as_deref()));
    // With the fee of an earlier reschedule, which is given back as well.
    let due = booking.refund_amount.map(|due| due.max(booking.joined.owed));
    match due {
        Some(due) => {
            paragraphs.push(Text::new(
                format!("We will refund {due} and send you a mail when it has been paid."),
                format!("{due} kami kembalikan dan Anda kami kabari setelah dikirim."),
            ));
            paragraphs.push(way_back);
            paragraphs.push(text(
                "If you would still like to travel, choose another sailing of this route free of \
                 charge with your booking code and e-mail address, before the refund is sent.",
                "Jika tetap ingin berangkat, pilih jadwal lain pada rute ini dengan kode pemesanan \
                 dan alamat e-mail Anda, tanpa biaya, selama dana belum dikirim.",
            ));
        }
        None if booking.paid_at.is_some() => paragraphs.push(text(
            "You are welcome to choose another sailing of this route free of charge, with your \
             booking code and e-mail address.",
            "Silakan pilih jadwal lain pada rute ini tanpa biaya, dengan kode pemesanan dan alamat \
             e-mail Anda.",
        )),
        None => paragraphs.push(text(
            "Please do not pay for this booking. You are welcome to choose another sailing.",
            "Mohon tidak membayar pemesanan ini. Silakan pilih jadwal lain.",
        )),
    }
    (("Your sailing is cancelled", "Pelayaran Anda dibatalkan"), paragraphs)
}

fn moved(booking: &BookingRow) -> Words {
    let zone = booking.joined.timezone;
    let (now, was) = (zone.when(booking.departure_at), booking.promised_at.map(|at| zone.when(at)));
    let was = was.unwrap_or_else(|| now.clone());
    let mut paragraphs = vec![Text::new(
        format!(
            "Your sailing now departs on {} instead of {}.",
            now.say(Lang::En),
            was.say(Lang::En)
        ),
        format!("Kapal Anda kini berangkat {}, bukan {}.", now.say(Lang::Id), was.say(Lang::Id)),
    )];
    paragraphs.extend(because(booking.joined.sailing_reason.as_deref()));
    if rules::has_ticket(booking.status) {
        paragraphs.push(text(
            "Your booking and your tickets remain valid. Tickets with the new time are attached.",
            "Pemesanan dan tiket Anda tetap berlaku; tiket dengan waktu baru terlampir.",
        ));
        if booking.reseller_id.is_some() {
            paragraphs.push(ask_the_seller());
        } else if rules::is_disrupted(booking.promised_at, booking.departure_at) {
            paragraphs.push(text(
                "If the new time does not suit you, choose another sailing of this route free of \
                 charge, or cancel for a full refund, with your booking code and e-mail address.",
                "Jika waktu baru tidak cocok, pilih jadwal lain pada rute ini tanpa biaya, atau \
                 batalkan dan dapatkan kembali seluruh dana, dengan kode pemesanan dan alamat \
                 e-mail Anda.",
            ));
        }
    }
    (("Your sailing has a new time", "Waktu pelayaran Anda berubah"), paragraphs)
}

fn boat_changed(booking: &BookingRow, was: &str) -> Words {
    let boat = &booking.joined.speedboat_name;
    let mut paragraphs = vec![Text::new(
        format!("Your sailing is now operated by {boat} instead of {was}."),
        format!("Pelayaran Anda kini menggunakan kapal {boat}, bukan {was}."),
    )];
    paragraphs.extend(because(booking.joined.sailing_reason.as_deref()));
    if rules::has_ticket(booking.status) {
        paragraphs.push(text(
            "Time, booking and tickets remain valid. Tickets with the name of the new boat are \
             attached.",
            "Waktu, pemesanan, dan tiket Anda tetap berlaku; tiket dengan nama kapal baru \
             terlampir.",
        ));
    }
    (("Your sailing has another boat", "Kapal pelayaran Anda berganti"), paragraphs)
}

fn rescheduled(difference: Rupiah, way_back: Text) -> Words {
    let mut paragraphs = vec![text(
        "Your booking has been moved to the sailing below. Your new tickets are attached; the old \
         ones are no longer valid.",
        "Pemesanan Anda telah dipindahkan ke jadwal di bawah. Tiket baru terlampir; tiket lama \
         tidak berlaku lagi.",
    )];
    if difference < Rupiah::ZERO {
        let owed = -difference;
        paragraphs.push(Text::new(
            format!("The new sailing costs less: we will refund {owed}."),
            format!("Harganya lebih murah: {owed} kami kembalikan kepada Anda."),
        ));
        paragraphs.push(way_back);
    }
    (("Your booking has been rescheduled", "Jadwal Anda dipindahkan"), paragraphs)
}

fn reschedule_dropped() -> Words {
    (
        ("Your booking was not rescheduled", "Perubahan jadwal tidak jadi"),
        vec![text(
            "The difference was not paid in time, or the other sailing is no longer open. Your \
             booking is unchanged, see below. Please do not pay for the change.",
            "Selisih tidak dibayar tepat waktu, atau jadwal lain itu tidak lagi tersedia. \
             Pemesanan Anda tetap seperti semula, lihat di bawah. Mohon tidak membayar perubahan \
             itu lagi.",
        )],
    )
}

fn refunded(booking: &BookingRow) -> Words {
    let back = booking.refund_amount.unwrap_or(Rupiah::ZERO);
    (
        ("Your refund has been sent", "Dana Anda telah dikembalikan"),
        vec![
            Text::new(
                format!("We have refunded {back}."),
                format!("Kami telah mengembalikan {back}."),
            ),
            arrival(booking),
        ],
    )
}

/// A difference or a fee of a reschedule, an excess, a duplicate or a late payment.
fn part_refunded(booking: &BookingRow, back: Rupiah, for_passengers: bool) -> Words {
    let said = match for_passengers {
        true => Text::new(
            format!("We have refunded {back} for passengers of this booking who were cancelled."),
            format!("Kami telah mengembalikan {back} untuk penumpang yang dibatalkan."),
        ),
        false => Text::new(
            format!("We have refunded {back}, which you paid beyond what this booking costs."),
            format!("Kami telah mengembalikan {back}, kelebihan pembayaran untuk pemesanan ini."),
        ),
    };
    let subject = ("Your refund has been sent", "Dana Anda telah dikembalikan");
    (subject, vec![said, arrival(booking)])
}

fn arrival(booking: &BookingRow) -> Text {
    match booking.was_paid_in_cash() {
        true => text("It was paid back in cash.", "Dana dikembalikan tunai."),
        false => text(
            "It may take a few days to arrive.",
            "Dana dapat memerlukan beberapa hari untuk masuk.",
        ),
    }
}
