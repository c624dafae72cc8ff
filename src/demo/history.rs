//! Day by day: guests book, pay, change their minds; boats sail; partners are paid.

use chrono::{DateTime, Datelike, Days, NaiveDate, TimeDelta, Utc, Weekday};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use rand::{Rng, RngExt, seq::IndexedRandom};
use serde_json::{Value, json};

use super::{
    PASSWORD, Stage,
    founding::{Berth, Founded},
    places::{FIRST, LAST, SAILING},
    voice::Voice,
};
use crate::{
    app::App,
    bookings,
    kernel::{clock::midnight, error::Error, ids, money::Rupiah, outbox::Queue},
    reports, settlements,
};

/// Bookings on an ordinary day.
const DAILY: u32 = 45;
/// How many guests are served side by side.
const ABREAST: usize = 16;

/// What a guest is going to do; decided beforehand, so that it does not matter who is served first.
struct Guest {
    seed: u64,
    order: Value,
    method: &'static str,
    then: Then,
    /// Where they would move to.
    instead: Option<Berth>,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    Pay,
    Forget,
    PayAndCancel,
    PayAndMove,
    Complain,
}

pub async fn live(
    stage: &mut Stage,
    founded: &Founded,
    (first, today): (NaiveDate, NaiveDate),
    now: DateTime<Utc>,
    bar: &ProgressBar,
) -> Result<(), String> {
    let zone = stage.app.config.timezone;
    for day in first.iter_days().take_while(|day| *day <= today) {
        for (hour, share) in [(8, 4), (13, 3), (20, 3)] {
            let at = midnight(day, zone) + TimeDelta::hours(hour);
            if at > now {
                break;
            }
            turn(&stage.app, at);
            // The weekend begins on Friday.
            let busy = 1 + u32::from(day.weekday().number_from_monday() >= 5);
            let guests = DAILY * busy * share / 10;
            serve(stage, founded, day, guests).await?;
            rest(&stage.app).await?;
        }
        weather(stage, founded, day).await?;
        if day + Days::new(2) > today {
            board(stage, founded, day).await?;
        }
        if day.weekday() == Weekday::Wed {
            pay_out(stage).await?;
        }
        bar.inc(1);
    }
    turn(&stage.app, now);
    rest(&stage.app).await?;
    // Some are just choosing how to pay.
    serve(stage, founded, today, DAILY).await?;
    rest(&stage.app).await?;
    said(reports::roll_up(&stage.app).await).map(drop)
}

/// Turns the clock, never back.
fn turn(app: &App, at: DateTime<Utc>) {
    let by = at - app.clock.now();
    if by > TimeDelta::zero() {
        app.clock.advance(by);
    }
}

fn said<T>(done: Result<T, Error>) -> Result<T, String> {
    done.map_err(|why| why.to_string())
}

/// What goes on in the background.
async fn rest(app: &App) -> Result<(), String> {
    said(bookings::expire(app).await)?;
    said(bookings::complete(app).await)?;
    said(settlements::run_schedules(app).await)?;
    while said(app.deliver_from(&[Queue::Event]).await)? > 0 {}
    Ok(())
}

async fn serve(
    stage: &mut Stage,
    founded: &Founded,
    day: NaiveDate,
    count: u32,
) -> Result<(), String> {
    let guests: Vec<_> = (0..count).filter_map(|n| guest(stage, founded, day, n)).collect();
    let admin = stage.admin().await?;
    let (app, voice) = (&stage.app, &stage.guest);
    let served = stream::iter(guests).map(|guest| {
        // They go about it side by side; each has the same ids whoever comes first.
        ids::seeded(guest.seed, app.clock.now(), visit(app, voice, &admin, guest))
    });
    served.buffer_unordered(ABREAST).try_collect::<Vec<()>>().await.map(drop)
}

fn guest(stage: &mut Stage, founded: &Founded, day: NaiveDate, n: u32) -> Option<Guest> {
    let soonest = stage.app.clock.now() + TimeDelta::hours(1);
    let random = &mut stage.random;
    // Most book a few days ahead.
    let ahead = random.random_range(0..5_u64) * random.random_range(0..4_u64);
    let berths = founded.by_day.get(&(day + Days::new(ahead)))?;
    let berths: Vec<_> = berths.iter().filter(|berth| berth.departure_at > soonest).collect();
    let berth = *berths.choose(random)?;
    let qty = *[1, 1, 2, 2, 2, 3, 4].choose(random)?;
    let later = founded.by_day.get(&(berth.day + Days::new(1)));
    let instead = later.into_iter().flatten().find(|other| other.route_id == berth.route_id);
    let then = match random.random_range(0..100) {
        0..80 => Then::Pay,
        80..88 => Then::Forget,
        88..93 => Then::PayAndCancel,
        93..97 => Then::PayAndMove,
        _ => Then::Complain,
    };
    let email = format!("tamu{}@mail.example", random.random_range(0..5_000));
    let contact = name(random);
    let passengers: Vec<_> = (0..qty).map(|_| passenger(random)).collect();
    let code = if random.random_bool(0.12) { "LIBURAN" } else { "" };
    let order = json!({
        "type": "speedboat", "item_id": berth.speedboat_id, "route_time_id": berth.id,
        "qty": qty, "code_promo": code, "note": "", "accept_terms": true,
        "contact": { "name": contact, "email": email, "phone": format!("0812{:08}", n + 10_000_000) },
        "passengers": passengers,
    });
    let methods = [
        "qris",
        "qris",
        "qris",
        "bank_transfer",
        "bank_transfer",
        "credit_card",
        "gopay",
        "cstore",
    ];
    let seed = random.random();
    Some(Guest { seed, order, method: methods.choose(random)?, then, instead: instead.cloned() })
}

fn name(random: &mut impl Rng) -> String {
    let first = FIRST.choose(random).unwrap_or(&"Sari");
    let last = LAST.choose(random).unwrap_or(&"Wijaya");
    format!("{first} {last}")
}

fn passenger(random: &mut impl Rng) -> Value {
    let born = NaiveDate::from_ymd_opt(1955, 1, 1).unwrap_or_default();
    let born = born + Days::new(random.random_range(0..25_000));
    let gender = if random.random_bool(0.5) { "male" } else { "female" };
    match random.random_bool(0.8) {
        true => json!({
            "name": name(random), "gender": gender, "birth_date": born,
            "nationality": "Indonesia", "identity_type": "nik",
            "identity_number": format!("51710{:011}", random.random_range(0..99_999_999_999_i64)),
        }),
        false => json!({
            "name": name(random), "gender": gender, "birth_date": born,
            "nationality": "Australia", "identity_type": "passport",
            "identity_number": format!("N{:07}", random.random_range(0..9_999_999)),
        }),
    }
}

/// A guest at the counter. Whatever the service refuses, it refuses: boats are full.
async fn visit(app: &App, voice: &Voice, admin: &Voice, guest: Guest) -> Result<(), String> {
    let Ok(booking) = voice.post("/v1/booking/", guest.order).await else { return Ok(()) };
    if guest.then == Then::Forget {
        return Ok(());
    }
    let reference = booking["payment"]["reference"].as_str().unwrap_or_default();
    pay(app, voice, reference, booking["price"]["total"].as_i64(), guest.method).await?;
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap_or_default());
    let knows = |mut body: Value| {
        body["code"] = booking["code"].clone();
        body["email"] = booking["contact"]["email"].clone();
        body
    };
    match guest.then {
        Then::PayAndCancel => {
            let body = knows(json!({ "reason": "Rencana berubah" }));
            let cancelled = voice.post(&format!("{path}/cancel"), body).await?;
            // Most refunds have left; some still wait.
            let last = cancelled["code"].as_str().and_then(|code| code.bytes().last());
            if cancelled["status"] == "refund_pending" && last.is_some_and(|last| last % 3 > 0) {
                let reference = json!({ "reference": "BCA-2026" });
                admin.post(&format!("{path}/refund"), reference).await?;
            }
        }
        Then::PayAndMove => {
            let Some(instead) = guest.instead else { return Ok(()) };
            let body = knows(json!({ "route_time_id": instead.id, "reason": "Pindah hari" }));
            drop(voice.post(&format!("{path}/reschedule"), body).await);
        }
        Then::Complain => {
            let body = json!({ "reason": "Kapal terlambat" });
            drop(admin.post(&format!("{path}/cancel"), body).await);
        }
        Then::Pay | Then::Forget => {}
    }
    Ok(())
}

async fn pay(
    app: &App,
    voice: &Voice,
    reference: &str,
    total: Option<i64>,
    method: &str,
) -> Result<(), String> {
    let amount = Rupiah(total.unwrap_or_default());
    let id = format!("demo-{reference}");
    let mut notice = app.gateway().simulate(reference, amount, "settlement", id);
    notice["payment_type"] = json!(method);
    voice.post("/v1/payment/callback", notice).await.map(drop)
}

/// Now and then a sailing is cancelled, or leaves later.
async fn weather(stage: &mut Stage, founded: &Founded, day: NaiveDate) -> Result<(), String> {
    if !stage.random.random_bool(0.06) {
        return Ok(());
    }
    let admin = stage.admin().await?;
    let tomorrow = founded.by_day.get(&(day + Days::new(1)));
    let Some(berth) = tomorrow.and_then(|berths| berths.choose(&mut stage.random)) else {
        return Ok(());
    };
    let path = format!("/v1/mitra/route-times/{}/cancel", berth.id);
    drop(admin.post(&path, json!({ "reason": "Gelombang tinggi" })).await);
    rest(&stage.app).await
}

/// Of those who sail today most come on board.
async fn board(stage: &mut Stage, founded: &Founded, day: NaiveDate) -> Result<(), String> {
    let now = stage.app.clock.now();
    for house in SAILING {
        let partner = stage.guest.signed_in(house.email, PASSWORD, "mitra").await?;
        let me = partner.get("/user/me").await?;
        let today = founded.by_day.get(&day).into_iter().flatten();
        for berth in today.filter(|berth| json!(berth.partner_id) == me["mitra"]["id"]) {
            if berth.departure_at > now + TimeDelta::hours(1) {
                continue;
            }
            let pier = format!("/v1/mitra/route-times/{}", berth.id);
            let manifest = partner.get(&format!("{pier}/manifest")).await?;
            let mut scans = Vec::new();
            for (n, one) in manifest["passengers"].as_array().into_iter().flatten().enumerate() {
                if stage.random.random_bool(0.93) {
                    let scanned_at = berth.departure_at - TimeDelta::minutes(20);
                    scans.push(json!({
                        "scan_id": format!("demo-{n}"), "ticket_code": one["ticket_code"],
                        "scanned_at": scanned_at,
                    }));
                }
            }
            if !scans.is_empty() {
                partner.post(&format!("{pier}/check-in"), json!({ "scans": scans })).await?;
                drop(partner.post(&format!("{pier}/manifest/close"), Value::Null).await);
            }
        }
    }
    Ok(())
}

/// The money of last week leaves; the newest waits for a signature.
async fn pay_out(stage: &mut Stage) -> Result<(), String> {
    let admin = stage.admin().await?;
    let pending = admin.get("/v1/settlements?status=pending&page_size=100").await?;
    for settlement in pending.as_array().into_iter().flatten() {
        let id = settlement["id"].as_str().unwrap_or_default();
        let body = json!({ "reference": format!("TRX-{}", settlement["code"].as_str().unwrap_or_default()) });
        drop(admin.post(&format!("/v1/settlements/{id}/release"), body).await);
    }
    Ok(())
}
