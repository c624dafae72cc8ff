//! What bookers are told by mail.

use serde::Deserialize;
use serde_json::Value;

use super::{
    lookup::shown,
    model::{BookingRow, BookingStatus},
    rules, store,
};
use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        lang::{Lang, Text, text},
        mail::Letter,
        money::Rupiah,
    },
};

#[derive(Deserialize)]
struct News {
    booking_id: Uuid,
}

/// The letter about an event, if there is one to write. Where it needs what is not there yet, it
/// is unavailable.
pub async fn letter(app: &App, event: &str, news: &Value) -> Result<Option<(Letter, BookingRow)>> {
    let News { booking_id } = News::deserialize(news).map_err(Error::internal)?;
    let Some(booking) = store::get(&app.db, booking_id).await? else { return Ok(None) };
    let pending = booking.status == BookingStatus::PendingPayment;
    let amount = |name: &str| Rupiah(news[name].as_i64().unwrap_or(0));
    let mut action = None;
    let (subject, paragraphs) = match event {
        // By now it is paid for, or over: another letter says so.
        "booking.created" | "booking.expiring" if !pending => return Ok(None),
        "booking.created" | "booking.expiring" => {
            let payment = shown(app, booking.clone(), false)?.payment;
            let address = payment.and_then(|payment| payment.redirect_url);
            let address = address
                .ok_or_else(|| Error::Unavailable("there is no address to pay at yet".into()))?;
            action = Some((text("Pay now", "Bayar sekarang"), address));
            match event {
                "booking.created" => received(&booking),
                _ => expiring(&booking),
            }
        }
        // By now it is cancelled: there is no ticket to send.
        "booking.paid" | "booking.ticket_wanted" | "booking.rescheduled"
            if !rules::has_ticket(booking.status) =>
        {
            return Ok(None);
        }
        "booking.paid" => paid(),
        "booking.ticket_wanted" => ticket(),
        "booking.expired" => expired(),
        // By now it sails with another: that letter says so.
        "booking.cancelled" if rules::is_live(booking.status) => return Ok(None),
        "booking.cancelled" if booking.called_off => called_off(&booking),
        "booking.cancelled" => cancelled(&booking, news["tells_reason"] == true),
        "booking.moved" if !rules::is_live(booking.status) || booking.promised_at.is_none() => {
            return Ok(None);
        }
        "booking.moved" => moved(&booking),
        "booking.rescheduled" => rescheduled(amount("difference")),
        "booking.refunded" => refunded(booking.refund_amount.unwrap_or(Rupiah::ZERO)),
        "booking.difference_refunded" => refunded(amount("amount")),
        "booking.move_dropped" if !rules::has_ticket(booking.status) => return Ok(None),
        "booking.move_dropped" => move_dropped(),
        _ => return Ok(None),
    };
    let to = booking.contact_email.parse().map_err(Error::internal)?;
    let (name, subject) = (booking.contact_name.clone(), about(subject, &booking));
    let facts = facts(&booking);
    let letter = Letter::new(to, name, booking.lang, subject, paragraphs);
    Ok(Some((Letter { facts, action, ..letter }, booking)))
}

/// With the code, so that letters about one booking lie together.
fn about(subject: (&str, &str), booking: &BookingRow) -> Text {
    let (en, id) = subject;
    Text::new(format!("{en} · {}", booking.code), format!("{id} · {}", booking.code))
}

fn facts(booking: &BookingRow) -> Vec<(Text, Text)> {
    let plain = |value: String| Text::new(value.clone(), value);
    vec![
        (text("Booking code", "Kode pemesanan"), plain(booking.code.clone())),
        (
            text("Journey", "Perjalanan"),
            plain(format!("{} – {}", booking.from_name, booking.to_name)),
        ),
        (text("Departure", "Berangkat"), booking.timezone.when(booking.departure_at)),
        (text("Arrival", "Tiba"), booking.timezone.when(booking.arrival_at)),
        (
            text("Boat", "Kapal"),
            plain(format!("{}, {}", booking.speedboat_name, booking.partner_name)),
        ),
        (text("Passengers", "Penumpang"), plain(booking.qty.to_string())),
        (text("Total", "Total"), plain(booking.total.to_string())),
    ]
}

type Words = ((&'static str, &'static str), Vec<Text>);

fn received(booking: &BookingRow) -> Words {
    let until = booking.timezone.when(booking.expires_at);
    let (en, id) = (until.say(Lang::En), until.say(Lang::Id));
    (
        ("Please pay for your booking", "Mohon bayar pemesanan Anda"),
        vec![Text::new(
            format!("Your seats are held until {en}. Once they are paid for, they are yours."),
            format!("Kursi Anda ditahan sampai {id}. Setelah dibayar, kursi menjadi milik Anda."),
        )],
    )
}

fn expiring(booking: &BookingRow) -> Words {
    let until = booking.timezone.when(booking.expires_at);
    let (en, id) = (until.say(Lang::En), until.say(Lang::Id));
    (
        ("Your seats are about to be let go", "Kursi Anda segera dilepas"),
        vec![Text::new(
            format!("They are held until {en}. Please pay before that, or others may take them."),
            format!(
                "Kursi ditahan sampai {id}. Mohon bayar sebelum itu agar tidak diambil orang lain."
            ),
        )],
    )
}

fn paid() -> Words {
    (
        ("Your booking is paid", "Pemesanan Anda lunas"),
        vec![
            text(
                "Thank you. Your seats are yours; we look forward to having you on board.",
                "Terima kasih. Kursi Anda sudah pasti; sampai jumpa di kapal.",
            ),
            text(
                "Your tickets are attached: a page for each passenger. Please be at the pier half an hour before departure, with an identity document for everyone.",
                "Tiket Anda terlampir: satu halaman untuk tiap penumpang. Mohon tiba di dermaga setengah jam sebelum berangkat, dengan tanda pengenal setiap orang.",
            ),
        ],
    )
}

fn ticket() -> Words {
    (
        ("Your tickets", "Tiket Anda"),
        vec![text(
            "Here are your tickets, as you asked: a page for each passenger.",
            "Ini tiket yang Anda minta: satu halaman untuk tiap penumpang.",
        )],
    )
}

fn expired() -> Words {
    (
        ("Your seats were let go", "Kursi Anda telah dilepas"),
        vec![text(
            "The time to pay is over, so your seats are free for others again. You are welcome to book anew.",
            "Waktu pembayaran telah habis, sehingga kursi Anda dilepas kembali. Silakan memesan lagi.",
        )],
    )
}

fn cancelled(booking: &BookingRow, tells_reason: bool) -> Words {
    let mut paragraphs = vec![text("Your booking is cancelled.", "Pemesanan Anda dibatalkan.")];
    paragraphs.extend(because(booking.cancel_reason.as_deref().filter(|_| tells_reason)));
    match booking.refund_amount.filter(|due| *due > Rupiah::ZERO) {
        Some(due) => paragraphs.push(Text::new(
            format!("You get {due} back. We write to you as soon as it is on its way."),
            format!("{due} akan dikembalikan. Kami akan mengabari Anda setelah dikirim."),
        )),
        None if booking.paid_at.is_some() => paragraphs.push(text(
            "By the terms of your booking nothing is paid back.",
            "Sesuai ketentuan pemesanan, tidak ada pengembalian dana.",
        )),
        None => {}
    }
    (("Your booking is cancelled", "Pemesanan Anda dibatalkan"), paragraphs)
}

fn because(reason: Option<&str>) -> Option<Text> {
    let reason = reason.filter(|reason| !reason.is_empty())?;
    Some(Text::new(format!("Reason: {reason}"), format!("Alasan: {reason}")))
}

fn called_off(booking: &BookingRow) -> Words {
    let mut paragraphs = vec![text(
        "We are sorry: your sailing does not take place.",
        "Mohon maaf, pelayaran Anda dibatalkan.",
    )];
    paragraphs.extend(because(booking.cancel_reason.as_deref()));
    match booking.refund_amount {
        Some(due) => {
            paragraphs.push(Text::new(
                format!(
                    "You need not do anything: we pay {due} back to you and write to you when it \
                     is on its way."
                ),
                format!(
                    "Anda tidak perlu melakukan apa pun: {due} kami kembalikan dan Anda kami \
                     kabari setelah dikirim."
                ),
            ));
            paragraphs.push(text(
                "If you would rather travel, choose another sailing of this route with your \
                 booking code and e-mail address, at no charge, as long as the money is not on \
                 its way.",
                "Jika tetap ingin berangkat, pilih jadwal lain pada rute ini dengan kode pemesanan \
                 dan alamat e-mail Anda, tanpa biaya, selama dana belum dikirim.",
            ));
        }
        None => paragraphs.push(text(
            "Nothing is due from you. Please do not pay any more, and choose another sailing.",
            "Tidak ada yang perlu Anda bayar. Mohon tidak membayar lagi, dan pilih jadwal lain.",
        )),
    }
    (("Your sailing is cancelled", "Pelayaran Anda dibatalkan"), paragraphs)
}

fn moved(booking: &BookingRow) -> Words {
    let zone = booking.timezone;
    let (now, was) = (zone.when(booking.departure_at), booking.promised_at.map(|at| zone.when(at)));
    let was = was.unwrap_or_else(|| now.clone());
    let mut paragraphs = vec![Text::new(
        format!("Your boat now departs on {}, not on {}.", now.say(Lang::En), was.say(Lang::En)),
        format!("Kapal Anda kini berangkat {}, bukan {}.", now.say(Lang::Id), was.say(Lang::Id)),
    )];
    paragraphs.extend(because(booking.sailing_reason.as_deref()));
    if rules::has_ticket(booking.status) {
        paragraphs.push(text(
            "Your booking stands, and your tickets stay good; they are attached with the new time.",
            "Pemesanan dan tiket Anda tetap berlaku; tiket dengan waktu baru terlampir.",
        ));
        if rules::is_disrupted(booking.promised_at, booking.departure_at) {
            paragraphs.push(text(
                "If the new time does not suit you, choose another sailing of this route at no \
                 charge, or cancel and get everything back, with your booking code and e-mail \
                 address.",
                "Jika waktu baru tidak cocok, pilih jadwal lain pada rute ini tanpa biaya, atau \
                 batalkan dan dapatkan kembali seluruh dana, dengan kode pemesanan dan alamat \
                 e-mail Anda.",
            ));
        }
    }
    (("Your sailing has a new time", "Waktu pelayaran Anda berubah"), paragraphs)
}

fn rescheduled(difference: Rupiah) -> Words {
    let mut paragraphs = vec![text(
        "Your booking has moved to the sailing below. Your new tickets are attached; the old ones \
         are no longer good.",
        "Pemesanan Anda telah dipindahkan ke jadwal di bawah. Tiket baru terlampir; tiket lama \
         tidak berlaku lagi.",
    )];
    if difference < Rupiah::ZERO {
        let owed = -difference;
        paragraphs.push(Text::new(
            format!("It costs less: we pay {owed} back to you."),
            format!("Harganya lebih murah: {owed} kami kembalikan kepada Anda."),
        ));
    }
    (("You sail at another time", "Jadwal Anda dipindahkan"), paragraphs)
}

fn move_dropped() -> Words {
    (
        ("Your change was not made", "Perubahan jadwal tidak jadi"),
        vec![text(
            "The difference was not paid in time, or the other sailing is no longer open. Your \
             booking stands as it was, below. Please do not pay for the change any more.",
            "Selisih tidak dibayar tepat waktu, atau jadwal lain itu tidak lagi tersedia. \
             Pemesanan Anda tetap seperti semula, lihat di bawah. Mohon tidak membayar perubahan \
             itu lagi.",
        )],
    )
}

fn refunded(back: Rupiah) -> Words {
    (
        ("Your money is on its way back", "Dana Anda telah dikembalikan"),
        vec![Text::new(
            format!("We have paid {back} back to you. It may take some days to arrive."),
            format!(
                "Kami telah mengembalikan {back}. Dana dapat memerlukan beberapa hari untuk masuk."
            ),
        )],
    )
}
