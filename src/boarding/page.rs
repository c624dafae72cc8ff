//! PDF of the manifest.

use super::model::{Listed, Manifest};
use crate::{
    bookings::Gender,
    kernel::{
        error::Result,
        lang::{Lang, Text, text},
        pdf::{A4, Canvas, PdfDocument, Style},
    },
    lines::fare_name,
};

const PAGE: (f32, f32) = (A4.1, A4.0);
const LEFT: f32 = 36.0;
const RIGHT: f32 = PAGE.0 - 36.0;
const WIDTH: f32 = RIGHT - LEFT;
const TOP: f32 = 118.0;
const ROW: f32 = 17.0;
const BOTTOM: f32 = PAGE.1 - 40.0;
/// Height of totals and signatures.
const END: f32 = 96.0;

const CELL: Style = Style::plain(9.0);
const HEAD: Style = Style::bold(9.0);

/// Position and title of each column.
const COLUMNS: [(f32, Text); 10] = [
    (0.0, text("No.", "No.")),
    (28.0, text("Name", "Nama")),
    (158.0, text("Fare", "Tarif")),
    (222.0, text("Sex", "L/P")),
    (252.0, text("Age", "Usia")),
    (284.0, text("Identity", "Identitas")),
    (418.0, text("Nationality", "Kewarganegaraan")),
    (510.0, text("Contact", "Kontak")),
    (606.0, text("Booking", "Pemesanan")),
    (694.0, text("Boarded", "Naik kapal")),
];

pub fn draw(manifest: &Manifest, lang: Lang) -> Result<Vec<u8>> {
    let title = text("Passenger manifest", "Manifes penumpang");
    let mut document = PdfDocument::new(title.say(lang), lang);
    let room = ((BOTTOM - TOP) / ROW) as usize;
    let mut pages: Vec<&[Listed]> = manifest.passengers.chunks(room).collect();
    // Totals follow the last passenger, or are on a page of their own.
    if pages.last().is_none_or(|last| TOP + last.len() as f32 * ROW + END > BOTTOM) {
        pages.push(&[]);
    }
    let count = pages.len();
    for (index, passengers) in pages.into_iter().enumerate() {
        document.page(PAGE, |canvas| {
            canvas.text(LEFT, 46.0, Style::bold(16.0), title.say(lang));
            canvas.right(RIGHT, 46.0, CELL, &format!("{} / {count}", index + 1));
            head(canvas, manifest, lang);
            for (row, passenger) in passengers.iter().enumerate() {
                line(canvas, TOP + row as f32 * ROW, passenger, manifest, lang);
            }
            if index + 1 == count {
                end(canvas, TOP + passengers.len() as f32 * ROW, manifest, lang);
            }
            Ok(())
        })?;
    }
    document.finish()
}

fn head(canvas: &mut Canvas<'_, '_>, manifest: &Manifest, lang: Lang) {
    let sailing = &manifest.sailing;
    let (zone, boat) = (sailing.timezone, &sailing.speedboat);
    let route = format!("{} – {}", sailing.from, sailing.to);
    let boat = format!("{} ({})", boat.name, boat.registration_number);
    let departure = zone.when(sailing.departure_at);
    let arrival = sailing.arrival_timezone.clock(sailing.arrival_at);
    let times = format!("{} – {}", departure.say(lang), arrival.say(lang));
    let as_of = zone.when(manifest.closed_at.unwrap_or(manifest.as_of));
    let state = match manifest.closed_at {
        Some(_) => lang.of("Closed", "Ditutup"),
        None => lang.of("Open, as of", "Belum ditutup, per"),
    };
    canvas.fitted(LEFT, 66.0, 380.0, Style::bold(12.0), &route);
    canvas.fitted(LEFT, 82.0, 380.0, Style::plain(10.0), &times);
    canvas.fitted(LEFT + 400.0, 66.0, WIDTH - 400.0, Style::bold(12.0), &boat);
    let owner = format!("{} · {state} {}", sailing.mitra.name, as_of.say(lang));
    canvas.fitted(LEFT + 400.0, 82.0, WIDTH - 400.0, Style::plain(10.0), &owner);
    canvas.ground(LEFT, 91.0, WIDTH, 15.0);
    for (x, name) in &COLUMNS {
        canvas.text(LEFT + x + 2.0, 102.0, HEAD, name.say(lang));
    }
}

fn line(canvas: &mut Canvas<'_, '_>, y: f32, passenger: &Listed, manifest: &Manifest, lang: Lang) {
    let gender = passenger.gender.map(|gender| match gender {
        Gender::Male => lang.of("M", "L"),
        Gender::Female => lang.of("F", "P"),
    });
    // Serialised to apply the masking for this reader.
    let number = serde_json::json!(passenger.identity_number);
    let kind = passenger.identity_type.map(|kind| kind.to_string().to_uppercase());
    let identity = format!("{} {}", kind.unwrap_or_default(), number.as_str().unwrap_or_default());
    let fare = passenger.fare.as_deref().map(fare_name);
    let clock = passenger.checked_in_at.map(|at| manifest.sailing.timezone.clock(at));
    let cells = [
        passenger.number.to_string(),
        passenger.marked_name(),
        fare.as_ref().map(|fare| fare.say(lang).to_owned()).unwrap_or_default(),
        gender.unwrap_or_default().to_owned(),
        passenger.age.map(|age| age.to_string()).unwrap_or_default(),
        identity.trim().to_owned(),
        passenger.nationality.clone().unwrap_or_default(),
        passenger.contact.phone.clone(),
        passenger.booking_code.clone(),
        clock.map(|clock| clock.say(lang).to_owned()).unwrap_or_default(),
    ];
    for (index, cell) in cells.iter().enumerate() {
        let (x, _) = COLUMNS[index];
        let next = COLUMNS.get(index + 1).map_or(WIDTH, |(next, _)| *next);
        canvas.fitted(LEFT + x + 2.0, y, next - x - 6.0, CELL, cell);
    }
    canvas.line(LEFT, y + 4.5, WIDTH);
}

fn end(canvas: &mut Canvas<'_, '_>, y: f32, manifest: &Manifest, lang: Lang) {
    let t = &manifest.totals;
    let sums = match lang {
        Lang::En => format!(
            "{} passengers in {} bookings, {} on board · {} male, {} female, {} not stated · {} adults, {} children, {} infants, {} of unknown age",
            t.passengers,
            t.bookings,
            t.checked_in,
            t.male,
            t.female,
            t.gender_unknown,
            t.adults,
            t.children,
            t.infants,
            t.age_unknown,
        ),
        Lang::Id => format!(
            "{} penumpang dalam {} pemesanan, {} di kapal · {} laki-laki, {} perempuan, {} tidak disebut · {} dewasa, {} anak, {} bayi, {} usia tidak diketahui",
            t.passengers,
            t.bookings,
            t.checked_in,
            t.male,
            t.female,
            t.gender_unknown,
            t.adults,
            t.children,
            t.infants,
            t.age_unknown,
        ),
    };
    canvas.fitted(LEFT, y + 8.0, WIDTH, Style::bold(10.0), &sums);
    let signs = [
        (LEFT, lang.of("Master", "Nakhoda")),
        (LEFT + WIDTH / 2.0 + 20.0, lang.of("Harbour master", "Syahbandar")),
    ];
    for (x, who) in signs {
        canvas.text(x, y + 30.0, CELL, who);
        canvas.line(x, y + 74.0, WIDTH / 2.0 - 20.0);
    }
}
