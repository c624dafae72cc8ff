//! Simulation of days: bookings, payments, cash, cancellations, complaints, refunds, check-ins and
//! settlements.

use chrono::{DateTime, Datelike, Days, NaiveDate, TimeDelta, Utc, Weekday};
use futures_util::{StreamExt, TryStreamExt, stream};
use rand::{Rng, RngExt, seq::IndexedRandom};
use serde_json::{Value, json};

use super::{
    Generator, PASSWORD,
    base_data::{self, BaseData, OWN_CODE, PLATFORM_CODE, SailingChoice},
    client::ApiClient,
    names::{FIRST, LAST, SAILING},
    resale,
};
use crate::{
    app::App,
    bookings,
    kernel::{
        clock::midnight,
        error::Error,
        ids::{self, Uuid},
        money::Rupiah,
        outbox::Queue,
    },
    ledger, reports, sailings, settlements,
};

/// Bookings on a weekday.
const DAILY: u32 = 45;
/// Number of concurrent guests.
const CONCURRENT_GUESTS: usize = 16;

/// Decisions of a guest, made in advance so that they do not depend on the order of execution.
struct Guest {
    seed: u64,
    order: Value,
    method: &'static str,
    then: Then,
    /// Sailing to reschedule to.
    instead: Option<SailingChoice>,
}

#[derive(Clone, Copy, PartialEq)]
enum Then {
    Pay,
    Forget,
    PayAndCancel,
    PayAndMove,
    /// The last passenger stays at home.
    PayAndLeaveOne,
    /// The boat is overbooked or out of order: staff cancels it.
    PayAndLose,
}

pub async fn simulate(
    generator: &mut Generator,
    base: &BaseData,
    (first, today): (NaiveDate, NaiveDate),
    now: DateTime<Utc>,
    progress: &mut super::Progress,
) -> Result<(), String> {
    let zone = generator.app.config.timezone;
    let middle = first + (today - first) / 2;
    for day in first.iter_days().take_while(|day| *day <= today) {
        for (hour, share) in [(8, 4), (13, 3), (20, 3)] {
            let at = midnight(day, zone) + TimeDelta::hours(hour);
            if at > now {
                break;
            }
            set_clock(&generator.app, at);
            // More bookings from Friday to Sunday.
            let busy = 1 + u32::from(day.weekday().number_from_monday() >= 5);
            let guests = DAILY * busy * share / 10;
            simulate_guests(generator, base, day, guests).await?;
            if hour == 8 {
                Box::pin(sell_at_pier(generator, base, day)).await?;
                Box::pin(resale::sell(&base.resale, day)).await?;
            }
            Box::pin(run_jobs(&generator.app)).await?;
        }
        Box::pin(complain(generator)).await?;
        disrupt(generator, base, day).await?;
        if day + Days::new(2) > today {
            check_in(generator, base, day).await?;
        }
        if day.weekday() == Weekday::Wed {
            pay_out(generator).await?;
        }
        if day == middle {
            resale::invoice(generator, &base.resale, (first, middle), true).await?;
        }
        progress.step();
    }
    set_clock(&generator.app, now);
    run_jobs(&generator.app).await?;
    resale::invoice(generator, &base.resale, (middle + Days::new(1), today), false).await?;
    resale::finish(generator, base, today).await?;
    // Some bookings are left unpaid.
    simulate_guests(generator, base, today, DAILY).await?;
    run_jobs(&generator.app).await?;
    to_text(sailings::roll_up_days(&generator.app).await)?;
    to_text(ledger::roll_up(&generator.app).await)?;
    to_text(reports::roll_up(&generator.app).await).map(drop)
}

/// Advances the clock.
fn set_clock(app: &App, at: DateTime<Utc>) {
    let by = at - app.clock.now();
    if by > TimeDelta::zero() {
        app.clock.advance(by);
    }
}

fn to_text<T>(done: Result<T, Error>) -> Result<T, String> {
    done.map_err(|why| why.to_string())
}

/// Runs the background jobs.
async fn run_jobs(app: &App) -> Result<(), String> {
    to_text(bookings::expire(app).await)?;
    to_text(bookings::complete(app).await)?;
    to_text(settlements::run_schedules(app).await)?;
    while to_text(app.deliver_from(&[Queue::Event]).await)? > 0 {}
    Ok(())
}

async fn simulate_guests(
    generator: &mut Generator,
    base: &BaseData,
    day: NaiveDate,
    count: u32,
) -> Result<(), String> {
    let guests: Vec<_> = (0..count).filter_map(|n| guest(generator, base, day, n)).collect();
    let admin = generator.admin().await?;
    let (app, client) = (&generator.app, &generator.guest);
    let served = stream::iter(guests).map(|guest| {
        // Guests run concurrently; each has its own seed, so ids do not depend on the order.
        ids::seeded(guest.seed, app.clock.now(), simulate_guest(app, client, &admin, guest))
    });
    served.buffer_unordered(CONCURRENT_GUESTS).try_collect::<Vec<()>>().await.map(drop)
}

fn guest(generator: &mut Generator, base: &BaseData, day: NaiveDate, n: u32) -> Option<Guest> {
    let soonest = generator.app.clock.now() + TimeDelta::hours(1);
    let random = &mut generator.random;
    // Most guests book a few days ahead.
    let ahead = random.random_range(0..5_u64) * random.random_range(0..4_u64);
    let choices = base.by_day.get(&(day + Days::new(ahead)))?;
    let choices: Vec<_> = choices.iter().filter(|choice| choice.departure_at > soonest).collect();
    let choice = *choices.choose(random)?;
    let qty = *[1, 1, 2, 2, 2, 3, 4].choose(random)?;
    let later = base.by_day.get(&(choice.day + Days::new(1)));
    let instead = later.into_iter().flatten().find(|other| other.route_id == choice.route_id);
    let then = match random.random_range(0..100) {
        0..77 => Then::Pay,
        77..80 => Then::PayAndLeaveOne,
        80..88 => Then::Forget,
        88..93 => Then::PayAndCancel,
        93..97 => Then::PayAndMove,
        _ => Then::PayAndLose,
    };
    let code = match random.random_range(0..100) {
        0..12 => PLATFORM_CODE,
        12..40 if choice.partner_id == base.own_code_of => OWN_CODE,
        _ => "",
    };
    let mut order = order(random, choice, qty, code, n);
    // Some hire the whole boat.
    if random.random_bool(0.01) {
        order["type"] = json!("charter");
    }
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

/// Seats on a sailing.
fn order(random: &mut impl Rng, choice: &SailingChoice, qty: i32, code: &str, n: u32) -> Value {
    let email = format!("tamu{}@mail.example", random.random_range(0..5_000));
    let contact = name(random);
    let mut passengers: Vec<_> = (0..qty).map(|_| passenger(random)).collect();
    if choice.has_fares {
        set_fares(random, &mut passengers, choice.day);
    }
    json!({
        "type": "speedboat", "item_id": choice.speedboat_id, "route_time_id": choice.id,
        "qty": qty, "code_promo": code, "note": "", "accept_terms": true,
        "contact": { "name": contact, "email": email, "phone": format!("0812{:08}", n + 10_000_000) },
        "passengers": passengers,
    })
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

/// Gives each passenger the fare of their age and nationality. All but the last one of several are
/// adults, and that one is sometimes an infant.
fn set_fares(random: &mut impl Rng, passengers: &mut [Value], day: NaiveDate) {
    let count = passengers.len();
    for (index, passenger) in passengers.iter_mut().enumerate() {
        let is_last = index > 0 && index + 1 == count;
        if is_last && random.random_bool(0.15) {
            passenger["birth_date"] = json!(day - Days::new(400));
        }
        let born = passenger["birth_date"].as_str().and_then(|born| born.parse().ok());
        let age = born.and_then(|born| day.years_since(born)).unwrap_or(30);
        let age = match is_last {
            false if age < 12 => {
                passenger["birth_date"] = json!("1990-05-04");
                36
            }
            _ => age,
        };
        passenger["fare"] = json!(match age {
            0..3 => "infant",
            3..12 => "child",
            _ if passenger["nationality"] == "Indonesia" => "adult_domestic",
            _ => "adult_foreign",
        });
    }
}

/// Simulates a guest. Refusals are ignored: sailings can be full.
async fn simulate_guest(
    app: &App,
    client: &ApiClient,
    admin: &ApiClient,
    guest: Guest,
) -> Result<(), String> {
    let Ok(booking) = client.post("/v1/booking/", guest.order).await else { return Ok(()) };
    if guest.then == Then::Forget {
        return Ok(());
    }
    let reference = booking["payment"]["reference"].as_str().unwrap_or_default();
    pay(app, client, reference, booking["price"]["total"].as_i64(), guest.method).await?;
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap_or_default());
    let knows = |mut body: Value| {
        body["code"] = booking["code"].clone();
        body["email"] = booking["contact"]["email"].clone();
        body
    };
    match guest.then {
        Then::PayAndCancel => {
            let body = knows(json!({ "reason": "Rencana berubah" }));
            let cancelled = client.post(&format!("{path}/cancel"), body).await?;
            // Most refunds are paid; some stay pending.
            let last = cancelled["code"].as_str().and_then(|code| code.bytes().last());
            if cancelled["status"] == "refund_pending" && last.is_some_and(|last| last % 3 > 0) {
                let reference = json!({ "reference": "BCA-2026-1" });
                admin.post(&format!("{path}/refund"), reference).await?;
            }
        }
        Then::PayAndMove => {
            let Some(instead) = guest.instead else { return Ok(()) };
            let body = knows(json!({ "route_time_id": instead.id, "reason": "Pindah hari" }));
            drop(client.post(&format!("{path}/reschedule"), body).await);
        }
        Then::PayAndLeaveOne => {
            let ids = booking["passengers"].as_array().into_iter().flatten().skip(1).last();
            let Some(one) = ids.map(|one| &one["id"]) else { return Ok(()) };
            let body = json!({ "reason": "Satu orang sakit", "passenger_ids": [one] });
            // Staff give the full share back. A charter is cancelled as a whole.
            let Ok(left) = admin.post(&format!("{path}/cancel"), body).await else {
                return Ok(());
            };
            if left["owed"].as_i64() > Some(0) {
                let reference = json!({ "reference": "BCA-2026-2" });
                admin.post(&format!("{path}/refund"), reference).await?;
            }
        }
        Then::PayAndLose => {
            let body = json!({ "reason": "Kapal rusak" });
            drop(admin.post(&format!("{path}/cancel"), body).await);
        }
        Then::Pay | Then::Forget => {}
    }
    Ok(())
}

async fn pay(
    app: &App,
    client: &ApiClient,
    reference: &str,
    total: Option<i64>,
    method: &str,
) -> Result<(), String> {
    let amount = Rupiah(total.unwrap_or_default());
    let id = format!("demo-{reference}");
    let mut notice = app.gateway().simulate(reference, amount, "settlement", id);
    notice["payment_type"] = json!(method);
    client.post("/v1/payment/callback", notice).await.map(drop)
}

/// One partner, in turn, and the platform's own counter sell seats of today for cash. Of the
/// partner's sales, one is cancelled and its cash handed back.
async fn sell_at_pier(
    generator: &mut Generator,
    base: &BaseData,
    day: NaiveDate,
) -> Result<(), String> {
    let admin = generator.admin().await?;
    let turn = usize::try_from(day.num_days_from_ce()).unwrap_or_default();
    let house = &SAILING[turn % SAILING.len()];
    let partner = generator.guest.signed_in(house.email, PASSWORD, "mitra").await?;
    let me = partner.get("/user/me").await?;
    let soonest = generator.app.clock.now() + TimeDelta::hours(1);
    let today = base.by_day.get(&day).into_iter().flatten();
    let own: Vec<_> = today
        .filter(|choice| json!(choice.partner_id) == me["mitra"]["id"])
        .filter(|choice| choice.departure_at > soonest)
        .collect();
    for (n, seller) in [&partner, &partner, &partner, &admin].into_iter().enumerate() {
        let Some(choice) = own.choose(&mut generator.random) else { return Ok(()) };
        let code = if n == 1 && choice.partner_id == base.own_code_of { OWN_CODE } else { "" };
        let order = order(&mut generator.random, choice, 2, code, n as u32);
        // The boat may be full.
        let Ok(booking) = seller.post("/v1/booking/", order).await else { continue };
        let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap_or_default());
        seller.post(&format!("{path}/pay-cash"), Value::Null).await?;
        if n == 2 {
            let body = json!({ "reason": "Penumpang sakit" });
            partner.post(&format!("{path}/cancel"), body).await?;
            let handed = json!({ "reference": "Kuitansi loket" });
            admin.post(&format!("{path}/refund"), handed).await?;
        }
    }
    Ok(())
}

/// Two passengers of today complain, and get a part of the price back: once the partner bears it,
/// once the platform. The first is paid at once.
async fn complain(generator: &mut Generator) -> Result<(), String> {
    let admin = generator.admin().await?;
    let app = &generator.app;
    let zone = app.config.timezone;
    let today = midnight(app.clock.now().with_timezone(&zone).date_naive(), zone);
    let completed: Vec<(Uuid, Rupiah)> = app
        .db
        .sql(
            "SELECT id, total FROM bookings
             WHERE status = 'completed' AND completed_at >= $1 AND total > 0
               AND reschedule_id IS NULL AND channel = 'web'
             ORDER BY id LIMIT 2",
        )
        .bind(today)
        .all()
        .await
        .map_err(|why| why.to_string())?;
    for ((id, total), borne_by) in completed.into_iter().zip(["partner", "platform"]) {
        let path = format!("/v1/booking/{id}");
        let body = json!({
            "reason": "Kapal terlambat dua jam", "refund_amount": total.0 / 2 + 1,
            "borne_by": borne_by,
        });
        admin.post(&format!("{path}/cancel"), body).await?;
        if borne_by == "partner" {
            admin.post(&format!("{path}/refund"), json!({ "reference": "BCA-2026-3" })).await?;
        }
    }
    Ok(())
}

/// Occasionally cancels or moves a sailing.
async fn disrupt(generator: &mut Generator, base: &BaseData, day: NaiveDate) -> Result<(), String> {
    if !generator.random.random_bool(0.06) {
        return Ok(());
    }
    let admin = generator.admin().await?;
    let tomorrow = base.by_day.get(&(day + Days::new(1)));
    let Some(choice) = tomorrow.and_then(|choices| choices.choose(&mut generator.random)) else {
        return Ok(());
    };
    let path = format!("/v1/mitra/route-times/{}/cancel", choice.id);
    drop(admin.post(&path, json!({ "reason": "Gelombang tinggi" })).await);
    run_jobs(&generator.app).await
}

/// Checks in most passengers of today.
async fn check_in(
    generator: &mut Generator,
    base: &BaseData,
    day: NaiveDate,
) -> Result<(), String> {
    let now = generator.app.clock.now();
    for house in SAILING {
        let (role, email) = base_data::boards(house);
        let crew = generator.guest.signed_in(email, PASSWORD, role).await?;
        let me = crew.get("/user/me").await?;
        let today = base.by_day.get(&day).into_iter().flatten();
        for choice in today.filter(|choice| json!(choice.partner_id) == me["mitra"]["id"]) {
            if choice.departure_at > now + TimeDelta::hours(1) {
                continue;
            }
            let pier = format!("/v1/mitra/route-times/{}", choice.id);
            let manifest = crew.get(&format!("{pier}/manifest")).await?;
            let mut scans = Vec::new();
            for (n, one) in manifest["passengers"].as_array().into_iter().flatten().enumerate() {
                if generator.random.random_bool(0.93) {
                    let scanned_at = choice.departure_at - TimeDelta::minutes(20);
                    scans.push(json!({
                        "scan_id": format!("demo-{n}"), "ticket_code": one["ticket_code"],
                        "scanned_at": scanned_at,
                    }));
                }
            }
            if !scans.is_empty() {
                crew.post(&format!("{pier}/check-in"), json!({ "scans": scans })).await?;
                drop(crew.post(&format!("{pier}/manifest/close"), Value::Null).await);
            }
        }
    }
    Ok(())
}

/// Releases settlements, except for the newest ones.
async fn pay_out(generator: &mut Generator) -> Result<(), String> {
    let admin = generator.admin().await?;
    let pending = admin.get("/v1/settlements?status=pending&page_size=100").await?;
    for settlement in pending.as_array().into_iter().flatten() {
        let id = settlement["id"].as_str().unwrap_or_default();
        let body = json!({ "reference": format!("TRX-{}", settlement["code"].as_str().unwrap_or_default()) });
        drop(admin.post(&format!("/v1/settlements/{id}/release"), body).await);
    }
    Ok(())
}
