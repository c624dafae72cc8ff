//! PDF of tickets: one page per passenger, in the booking's language.

use crate::{
    app::App,
    bookings::{BookingRow, FareLine, StoredPassenger},
    kernel::{
        error::Result,
        lang::{Lang, Text, text},
        money::Rupiah,
        pdf::{A5, Canvas, PdfDocument, Style},
    },
    lines::fare_name,
    ticket_codes::Ticket,
};

const LEFT: f32 = 30.0;
const RIGHT: f32 = A5.0 - 30.0;
const WIDTH: f32 = RIGHT - LEFT;
const HALF: f32 = WIDTH / 2.0 - 8.0;
const MIDDLE: f32 = LEFT + WIDTH / 2.0 + 8.0;
const QR: f32 = 186.0;

const LABEL: Style = Style::grey(9.0);
const VALUE: Style = Style::bold(11.0);
const SMALL: Style = Style::plain(8.5);

pub fn draw(app: &App, booking: &BookingRow) -> Result<Vec<u8>> {
    let lang = booking.lang;
    let title = format!("{} {}", lang.of("E-ticket", "E-tiket"), booking.code);
    let terms = terms(&app.config.refund_policy.0);
    let passengers = &booking.passengers;
    let mut document = PdfDocument::new(&title, lang);
    for (index, passenger) in passengers.iter().enumerate() {
        let (sailing_id, booking_id) = (booking.sailing_id, booking.id);
        let place = passenger.place_at(index)?;
        let code = app.ticket_keys().sign(Ticket { sailing_id, booking_id, place });
        document.page(A5, |canvas| {
            head(canvas, booking, lang);
            journey(canvas, booking, lang);
            traveller(canvas, passenger, (index + 1, passengers.len()), lang);
            canvas.qr(LEFT + (WIDTH - QR) / 2.0, 262.0, QR, &code)?;
            let mut y = 470.0;
            // The price is on the first page only, because the others may be handed out. What a
            // reseller pays is neither for its travellers nor for the partner.
            if index == 0 && booking.reseller_id.is_none() {
                y = price(canvas, booking, y, lang)?;
            }
            small_print(canvas, y, &terms, lang);
            Ok(())
        })?;
    }
    document.finish()
}

fn head(canvas: &mut Canvas<'_, '_>, booking: &BookingRow, lang: Lang) {
    canvas.text(LEFT, 46.0, Style::bold(17.0), "Dermaga");
    canvas.text(LEFT + 74.0, 46.0, Style::plain(12.0), lang.of("E-ticket", "E-tiket"));
    canvas.right(RIGHT, 46.0, Style::bold(17.0), &booking.code);
    canvas.line(LEFT, 56.0, WIDTH);
}

fn journey(canvas: &mut Canvas<'_, '_>, booking: &BookingRow, lang: Lang) {
    let joined = &booking.joined;
    let from = (&joined.from_name, booking.departure_at, joined.timezone);
    let to = (&joined.to_name, booking.arrival_at, joined.arrival_timezone);
    let ends = [(LEFT, lang.of("From", "Dari"), from), (MIDDLE, lang.of("To", "Tujuan"), to)];
    for (x, label, (harbour, at, zone)) in ends {
        canvas.text(x, 74.0, LABEL, label);
        canvas.fitted(x, 92.0, HALF, Style::bold(16.0), harbour);
        canvas.text(x, 116.0, Style::bold(20.0), zone.clock(at).say(lang));
        canvas.text(x, 131.0, Style::plain(11.0), zone.day(at).say(lang));
    }
    canvas.line(LEFT, 143.0, WIDTH);
    let carriers = [
        (LEFT, lang.of("Boat", "Kapal"), &booking.joined.speedboat_name),
        (MIDDLE, lang.of("Operator", "Operator"), &booking.joined.partner_name),
    ];
    for (x, label, name) in carriers {
        canvas.text(x, 159.0, LABEL, label);
        canvas.fitted(x, 174.0, HALF, VALUE, name);
    }
}

fn traveller(
    canvas: &mut Canvas<'_, '_>,
    passenger: &StoredPassenger,
    (number, of): (usize, usize),
    lang: Lang,
) {
    canvas.ground(LEFT, 188.0, WIDTH, 56.0);
    canvas.text(LEFT + 12.0, 205.0, LABEL, lang.of("Passenger", "Penumpang"));
    let fare = passenger.fare.as_deref().map(fare_name);
    let fare = fare.map(|fare| match passenger.takes_seat {
        true => format!("{} · ", fare.say(lang)),
        false => format!("{}, {} · ", fare.say(lang), lang.of("no seat", "tanpa kursi")),
    });
    let place = format!("{}{number} / {of}", fare.unwrap_or_default());
    canvas.right(RIGHT - 12.0, 205.0, LABEL, &place);
    let (x, width, large, small) =
        (LEFT + 12.0, WIDTH - 24.0, Style::bold(20.0), Style::bold(13.0));
    if large.width(&passenger.name) <= width {
        return canvas.text(x, 229.0, large, &passenger.name);
    }
    let lines = small.wrap(width, &passenger.name);
    canvas.fitted(x, 221.0, width, small, &lines[0]);
    canvas.fitted(x, 237.0, width, small, &lines[1..].join(" "));
}

fn price(canvas: &mut Canvas<'_, '_>, booking: &BookingRow, y: f32, lang: Lang) -> Result<f32> {
    let mut lines = sold(booking, lang);
    if booking.discount > Rupiah::ZERO {
        let code = booking.code_promo.as_deref().unwrap_or_default();
        lines.push((format!("{} {code}", lang.of("Discount", "Diskon")), -booking.discount));
    }
    lines.extend(booking.taxes.iter().map(|tax| (tax.name.clone(), tax.amount)));
    let mut y = y;
    for (label, amount) in &lines {
        canvas.fitted(LEFT, y, WIDTH - 110.0, SMALL, label);
        canvas.right(RIGHT, y, SMALL, &amount.to_string());
        y += 11.5;
    }
    canvas.text(LEFT, y, VALUE, "Total");
    canvas.right(RIGHT, y, VALUE, &booking.total.to_string());
    Ok(y + 13.0)
}

/// The subtotal by fare. Where there is no room for that, and for a boat, it is one line.
fn sold(booking: &BookingRow, lang: Lang) -> Vec<(String, Rupiah)> {
    const MOST: usize = 4;
    let fares = &booking.fare_lines;
    match fares.len() {
        0 => {
            let seats = lang.of("seats", "kursi");
            let label = format!("{} {seats} × {}", booking.seats, booking.unit_price);
            vec![(label, booking.subtotal)]
        }
        1..=MOST => {
            let line = |line: &FareLine| {
                let name = fare_name(&line.fare);
                let label = format!("{} {} × {}", line.count, name.say(lang), line.unit_price);
                (label, line.unit_price * i64::from(line.count))
            };
            fares.iter().map(line).collect()
        }
        _ => {
            let passengers = lang.of("passengers", "penumpang");
            vec![(format!("{} {passengers}", booking.qty), booking.subtotal)]
        }
    }
}

fn small_print(canvas: &mut Canvas<'_, '_>, y: f32, terms: &[Text], lang: Lang) {
    canvas.line(LEFT, y - 5.0, WIDTH);
    let mut y = y + 7.0;
    for term in terms {
        for line in SMALL.wrap(WIDTH, term.say(lang)) {
            canvas.text(LEFT, y, SMALL, &line);
            y += 10.5;
        }
    }
}

/// Summary of the terms: arrival, boarding and refunds.
fn terms(policy: &[(u32, u8)]) -> Vec<Text> {
    let steps = |before: &str| {
        let steps = policy.iter().map(|(hours, percent)| format!("{percent} % {before} {hours} h"));
        steps.collect::<Vec<_>>().join(", ")
    };
    let refunds = match policy {
        [] => text("No refund.", "Tidak ada pengembalian dana."),
        _ => Text::new(
            format!("Refunds when you cancel before departure: {}.", steps("from")),
            format!("Pengembalian dana jika dibatalkan sebelum berangkat: {}.", steps("sejak")),
        ),
    };
    vec![
        text(
            "Be at the pier 30 minutes before departure. Show this code and your identity \
             document to board. The code works once.",
            "Tiba di dermaga 30 menit sebelum berangkat. Tunjukkan kode ini dan tanda pengenal \
             Anda. Kode berlaku satu kali.",
        ),
        refunds,
        text(
            "If the sailing is cancelled by the operator or because of weather, you get a full \
             refund or choose another sailing.",
            "Jika perjalanan dibatalkan operator atau cuaca, seluruh dana kembali atau Anda memilih \
             jadwal lain.",
        ),
    ]
}
