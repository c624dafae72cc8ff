//! Sailings that are cancelled or moved.

use chrono::TimeDelta;
use futures_util::{StreamExt, future::join_all, stream};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, boat, order, route, search_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    cancelling_a_sailing_cancels_every_booking,
    five_hundred_bookings_are_cancelled_in_one_answer,
    cancelling_a_sailing_is_atomic,
    a_departed_sailing_is_not_cancelled,
    cancelling_races_with_bookings_payments_and_cancellations,
    a_moved_sailing_moves_its_bookings,
    a_sailing_moves_over_midnight_in_utc,
    an_empty_sailing_is_news_to_its_partner_alone,
    booking_races_with_a_move,
    a_booker_may_refuse_the_new_time,
    a_sailing_is_not_moved_onto_another,
    an_invalid_move_is_refused,
    cash_that_the_partner_took_is_on_its_account,
    a_booker_of_a_suspended_partner_gets_everything_back,
];

impl World {
    pub async fn cancels_sailing(&self, sailing: &Sailing, by: &Someone) -> Answer {
        let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
        self.post(&path, json!({ "reason": "High waves" })).by(by).send_with_retry().await
    }

    pub async fn updates_sailing_times(&self, sailing: &Sailing, body: Value) -> Answer {
        let path = format!("/v1/mitra/route-times/{}", sailing.id);
        self.put(&path, body).by(&sailing.partner).send_with_retry().await
    }

    /// A session lasts eight hours.
    pub async fn with_new_session(&self, sailing: Sailing) -> Sailing {
        let partner = self.signs_in(&sailing.partner.email, "mitra").await;
        Sailing { partner, ..sailing }
    }

    async fn booking_status(&self, booking: &Value) -> String {
        self.looks_up(booking).await["status"].as_str().unwrap().to_owned()
    }

    /// A sailing with the maximum capacity.
    async fn sailing_with_maximum_capacity(&self) -> Sailing {
        let partner = self.active_partner("made@bahari.id").await;
        let mut great = boat("GT. 500");
        great["capacity"] = json!(500);
        let added = self.post("/v1/speedboats", great).by(&partner).send().await.ok();
        let boat = added["id"].as_str().unwrap().to_owned();
        let plan = self.creates_route(&partner, route(&boat)).await;
        self.publishes_route(&partner, &plan).await.ok();
        let id = self.sailings(&partner, &plan).await[0]["id"].as_str().unwrap().to_owned();
        Sailing { partner, boat, id }
    }
}

pub fn times_body(departure: &str, arrival: &str) -> Value {
    json!({ "departure_time": departure, "arrival_time": arrival, "reason": "Low tide" })
}

async fn cancelling_a_sailing_cancels_every_booking(world: World) {
    let sailing = world.sailing().await;
    let paid = world.paid_booking(&sailing, 2).await;
    let unpaid = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let gone = world.paid_booking(&sailing, 1).await;
    let knows = json!({ "reason": "x", "code": gone["code"], "email": "sari@example.com" });
    let cancel = format!("/v1/booking/{}/cancel", gone["id"].as_str().unwrap());
    world.post(&cancel, knows).send().await.ok();
    world.delivers_outbox().await;

    let done = world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    assert_eq!(done["status"], "cancelled");
    assert_eq!(done["seats_taken"], 0);
    assert_eq!(
        done["bookings"],
        json!({ "cancelled": 1, "refund_due": 1, "refund_total": 300_000 })
    );
    let seen = world.looks_up(&paid).await;
    assert_eq!(
        (&seen["status"], &seen["refund_amount"]),
        (&json!("refund_pending"), &json!(300_000))
    );
    assert_eq!(seen["cancel_reason"], "High waves");
    assert_eq!(world.booking_status(&unpaid).await, "cancelled");
    assert_eq!(world.searches(search_body(1)).await.len(), 0, "off sale");
    world.books(order(&sailing, 1, "putu@example.com")).await.is(409, "booking_closed");
    // The boat is free for others then.
    let mut instead = route(&sailing.boat);
    instead["end_date"] = json!("2026-11-16");
    let plan = world.creates_route(&sailing.partner, instead).await;
    world.publishes_route(&sailing.partner, &plan).await.ok();

    world.delivers_outbox().await;
    let letter = |email: &str, said: &str| {
        world.letters_to(email).iter().filter(|letter| letter.contains(said)).count()
    };
    assert_eq!(letter("sari@example.com", "Your sailing is cancelled"), 1, "not the one before");
    assert_eq!(letter("sari@example.com", "High waves"), 1);
    assert_eq!(letter("sari@example.com", "choose another sailing of this route"), 1);
    assert_eq!(letter("budi@example.com", "Please do not pay for this booking"), 1);
    let told = world.get("/v1/notifications?page_size=100").by(&sailing.partner).send().await.ok();
    let kinds: Vec<_> = told.as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "sailing.cancelled").count(), 1);
    assert_eq!(kinds.iter().filter(|kind| **kind == "booking.cancelled").count(), 1, "by hand");
    assert_eq!(world.balance("refund_payable").await, -300_000 - 75_000);
    assert_invariants(&world).await;

    let admin = world.admin().await;
    let path = format!("/v1/booking/{}/refund", paid["id"].as_str().unwrap());
    world.post(&path, json!({ "reference": "BCA-1" })).by(&admin).send().await.ok();
    assert_invariants(&world).await;
}

async fn five_hundred_bookings_are_cancelled_in_one_answer(world: World) {
    let sailing = world.sailing_with_maximum_capacity().await;
    let sell = |n: usize| {
        let (world, sailing) = (&world, &sailing);
        async move {
            let email = format!("guest{n}@example.com");
            let booking = world.books(order(sailing, 1, &email)).await.ok();
            if !n.is_multiple_of(10) {
                world.pays(&booking).await;
            }
        }
    };
    stream::iter(0..500).map(sell).buffer_unordered(16).collect::<Vec<_>>().await;
    assert_eq!(world.seats_taken(&sailing).await, 500);
    let admin = world.admin().await;
    let before = world.app.db.statements();
    let done = world.cancels_sailing(&sailing, &admin).await.ok();
    let statements = world.app.db.statements() - before;
    assert!(statements < 40, "{statements} statements, however many bookings there are");
    assert_eq!(
        done["bookings"],
        json!({ "cancelled": 50, "refund_due": 450, "refund_total": 450 * 150_000 })
    );
    assert_eq!(world.seats_taken(&sailing).await, 0);
    let left = "SELECT COUNT(*) FROM bookings WHERE status IN ('paid', 'pending_payment')";
    assert_eq!(world.count(left).await, 0);
    let news = "SELECT COUNT(*) FROM outbox WHERE topic = 'booking.cancelled'";
    assert_eq!(world.count(news).await, 500, "everyone is told");
    assert_invariants(&world).await;
    let log = world.get("/v1/audit-logs?action=sailing.cancelled").by(&admin).send().await.ok();
    assert_eq!(log[0]["after"]["bookings"]["refund_due"], 450);
}

async fn cancelling_a_sailing_is_atomic(world: World) {
    let sailing = world.sailing().await;
    let first = world.paid_booking(&sailing, 1).await;
    let last = world.paid_booking(&sailing, 1).await;
    // The posting of the last booking already exists, so the database refuses it.
    let id: dermaga::kernel::ids::Uuid = last["id"].as_str().unwrap().parse().unwrap();
    for (account, amount) in [("refund_payable", 1_i64), ("bank", -1)] {
        world
            .db()
            .sql(
                "INSERT INTO ledger_lines (id, source, source_id, kind, account, amount, posted_on,
                   created_at)
                 VALUES ($1, 'booking', $2, 'refund_due', $3, $4, '2026-11-15', $5)",
            )
            .bind(dermaga::kernel::ids::fresh())
            .bind(id)
            .bind(account)
            .bind(amount)
            .bind(world.now())
            .run()
            .await
            .unwrap();
    }
    world.cancels_sailing(&sailing, &sailing.partner).await.is(500, "internal");
    assert_eq!(world.booking_status(&first).await, "paid");
    assert_eq!(world.booking_status(&last).await, "paid");
    assert_eq!(world.seats_taken(&sailing).await, 2);
    assert_eq!(world.searches(search_body(1)).await.len(), 1, "still on sale");
    let news =
        "SELECT COUNT(*) FROM outbox WHERE topic IN ('booking.cancelled', 'sailing.cancelled')";
    assert_eq!(world.count(news).await, 0);
}

async fn a_departed_sailing_is_not_cancelled(world: World) {
    let sailing = world.sailing().await;
    let foreign = world.active_partner("other@bahari.id").await;
    world.cancels_sailing(&sailing, &foreign).await.is(404, "not_found");
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.cancels_sailing(&sailing, &sailing.partner).await.is(409, "invalid_state");
    world.updates_sailing_times(&sailing, times_body("09:00", "09:45")).await.is(409, "cancelled");
    world.closes_manifest(&sailing).await.is(409, "invalid_state");
    let (boat, route) = world.creates_published_route(&sailing.partner, "GT. 2").await;
    let id = world.sailings(&sailing.partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let second = Sailing { partner: sailing.partner.clone(), boat, id };
    // The boat is late and does not leave after all.
    let booking = world.paid_booking(&second, 1).await;
    world.advances_clock(TimeDelta::hours(21) + TimeDelta::minutes(10));
    let second = world.with_new_session(second).await;
    let done = world.cancels_sailing(&second, &second.partner).await.ok();
    assert_eq!(done["bookings"]["refund_due"], 1);
    assert_eq!(world.booking_status(&booking).await, "refund_pending");
    let path = format!("/v1/mitra/speedboat-routes/{route}/times");
    let third = world.get(&path).by(&second.partner).send().await.ok()[1]["id"].clone();
    world.advances_clock(TimeDelta::hours(25));
    let second = world.with_new_session(second).await;
    let third = Sailing { id: third.as_str().unwrap().into(), ..second };
    world.cancels_sailing(&third, &third.partner).await.is(409, "invalid_state");
}

/// Guests book, pay and cancel while the sailing is cancelled under them.
async fn cancelling_races_with_bookings_payments_and_cancellations(world: World) {
    let sailing = world.sailing().await;
    let mut pending = Vec::new();
    let mut paid = Vec::new();
    for n in 0..6 {
        let email = format!("guest{n}@example.com");
        pending.push(world.books(order(&sailing, 1, &email)).await.ok());
        paid.push(world.paid_booking(&sailing, 1).await);
    }
    let books = join_all((0..6).map(|n| {
        let email = format!("late{n}@example.com");
        let order = order(&sailing, 1, &email);
        world.books(order)
    }));
    let pays = join_all(pending.iter().map(|booking| world.pays(booking)));
    let cancels = join_all(paid.iter().map(|booking| {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
        world.post(&path, knows).send_with_retry()
    }));
    let call_off = world.cancels_sailing(&sailing, &sailing.partner);
    let (booked, _, cancelled, done) = tokio::join!(books, pays, cancels, call_off);
    done.ok();
    assert!(cancelled.iter().all(|answer| [200, 409].contains(&answer.status)));
    for answer in booked {
        assert!([200, 409].contains(&answer.status), "{}", answer.body);
    }
    let left = "SELECT COUNT(*) FROM bookings WHERE status IN ('paid', 'pending_payment')";
    assert_eq!(world.count(left).await, 0, "nobody is left on a sailing that does not sail");
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_invariants(&world).await;
}

async fn a_moved_sailing_moves_its_bookings(world: World) {
    let sailing = world.sailing().await;
    let paid = world.paid_booking(&sailing, 2).await;
    let unpaid = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let code = world.ticket_codes(&sailing).await.remove(0);
    world.delivers_outbox().await;
    let moved = world.updates_sailing_times(&sailing, times_body("13:30", "14:15")).await.ok();
    assert_eq!(moved["departure_at"], "2026-11-16T05:30:00Z");
    assert_eq!(moved["moved_bookings"], 2);
    let seen = world.looks_up(&paid).await;
    assert_eq!(seen["sailing"]["departure_at"], "2026-11-16T05:30:00Z");
    assert_eq!(seen["sailing"]["arrival_at"], "2026-11-16T06:15:00Z");
    assert_eq!(seen["status"], "paid");
    let found = world.searches(search_body(1)).await;
    assert_eq!(found[0]["departure_at"], "2026-11-16T05:30:00Z");
    world.pays(&unpaid).await;
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let letter = letters.iter().find(|letter| letter.contains("Your sailing has a new time"));
    let letter = letter.expect("they are told");
    for said in
        ["Mon 16 Nov 2026, 13:30 WITA", "instead of Mon 16 Nov 2026, 08:00 WITA", "Low tide"]
    {
        assert!(letter.contains(said), "{said} in {letter}");
    }
    assert!(letter.contains("filename="), "with the ticket");
    let told = world.get("/v1/notifications?page_size=100").by(&sailing.partner).send().await.ok();
    let moves = told.as_array().unwrap().iter().filter(|one| one["type"] == "sailing.moved");
    assert_eq!(moves.count(), 1);
    // The same once more is nothing new.
    assert_eq!(
        world.updates_sailing_times(&sailing, times_body("13:30", "14:15")).await.ok()["moved_bookings"],
        0
    );
    // Tickets stay good, and the journey completes by its new arrival.
    world.scans_ticket(&sailing, &code).await.ok();
    world.advances_clock(TimeDelta::hours(22));
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 0, "not yet there");
    world.advances_clock(TimeDelta::hours(6));
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 3);
    assert_invariants(&world).await;
}

/// 07.30 at the harbour is on the day before in UTC, which gets its first booking by the move.
async fn a_sailing_moves_over_midnight_in_utc(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    let days = "SELECT COUNT(*) FROM departure_days";
    assert_eq!(world.count(days).await, 1);
    world.updates_sailing_times(&sailing, times_body("07:30", "08:15")).await.ok();
    assert_eq!(world.count(days).await, 2);
    assert_invariants(&world).await;
}

/// And only if somebody else changes it.
async fn an_empty_sailing_is_news_to_its_partner_alone(world: World) {
    let (sailing, admin) = (world.sailing().await, world.admin().await);
    let news = async |who: &Someone| {
        world.delivers_outbox().await;
        let told = world.get("/v1/notifications?page_size=100").by(who).send().await.ok();
        let kinds = told.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap());
        let kinds = kinds.filter(|kind| kind.starts_with("sailing."));
        kinds.map(str::to_owned).collect::<Vec<_>>()
    };
    world.updates_sailing_times(&sailing, times_body("13:30", "14:15")).await.ok();
    assert!(news(&sailing.partner).await.is_empty());
    let path = format!("/v1/mitra/route-times/{}", sailing.id);
    let later = times_body("14:30", "15:15");
    world.put(&path, later).by(&admin).send_with_retry().await.ok();
    assert_eq!(news(&sailing.partner).await, ["sailing.moved"]);
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    assert_eq!(news(&sailing.partner).await, ["sailing.moved"]);
    assert!(news(&admin).await.is_empty());
}

/// A concurrent booking has the old time or the new one, and finally the new one.
async fn booking_races_with_a_move(world: World) {
    let sailing = world.sailing().await;
    let books = join_all((0..12).map(|n| {
        let email = format!("guest{n}@example.com");
        world.books(order(&sailing, 1, &email))
    }));
    let moves = async {
        for minute in 10..14 {
            let (departs, arrives) = (format!("08:{minute}"), format!("09:{minute}"));
            world.updates_sailing_times(&sailing, times_body(&departs, &arrives)).await.ok();
        }
    };
    let (booked, ()) = tokio::join!(books, moves);
    for booking in booked {
        let seen = world.looks_up(&booking.ok()).await;
        assert_eq!(seen["sailing"]["departure_at"], "2026-11-16T00:13:00Z");
    }
    assert_invariants(&world).await;
}

async fn a_booker_may_refuse_the_new_time(world: World) {
    let mut sailing = world.sailing().await;
    let (patient, other) =
        (world.paid_booking(&sailing, 1).await, world.paid_booking(&sailing, 1).await);
    world.advances_clock(TimeDelta::hours(20));
    sailing = world.with_new_session(sailing).await;
    let cancel = async |booking: &Value| {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
        world.post(&path, knows).send().await.ok()
    };
    world.updates_sailing_times(&sailing, times_body("08:20", "09:05")).await.ok();
    assert_eq!(cancel(&patient).await["status"], "cancelled", "twenty minutes are nothing");
    let mut body = times_body("08:00", "08:45");
    body["date"] = json!("2026-11-19");
    world.updates_sailing_times(&sailing, body).await.ok();
    let late = world.paid_booking(&sailing, 1).await;
    assert_eq!(cancel(&other).await["refund_amount"], 150_000, "three days are not");
    // Whoever booked the new time has nothing to complain of.
    world.advances_clock(TimeDelta::hours(71));
    assert_eq!(cancel(&late).await["status"], "cancelled");
    assert_invariants(&world).await;
}

async fn a_sailing_is_not_moved_onto_another(world: World) {
    let sailing = world.sailing().await;
    let mut body = times_body("08:30", "09:15");
    body["date"] = json!("2026-11-17");
    let refused =
        world.updates_sailing_times(&sailing, body.clone()).await.is(409, "schedule_conflict");
    assert_eq!(refused["data"]["conflicts_with"]["departure_at"], "2026-11-17T00:00:00Z");
    body["departure_time"] = json!("08:45");
    body["arrival_time"] = json!("09:30");
    world.updates_sailing_times(&sailing, body).await.ok();
    // Over its own old time.
    let mut body = times_body("09:00", "09:45");
    body["date"] = json!("2026-11-17");
    world.updates_sailing_times(&sailing, body).await.ok();
    let foreign = world.active_partner("other@bahari.id").await;
    let stolen = Sailing { partner: foreign, boat: sailing.boat.clone(), id: sailing.id.clone() };
    world.updates_sailing_times(&stolen, times_body("10:00", "10:45")).await.is(404, "not_found");
    world.closes_manifest(&sailing).await.ok();
    let mut body = times_body("10:00", "10:45");
    body["date"] = json!("2026-11-17");
    world.updates_sailing_times(&sailing, body).await.is(409, "manifest_closed");
}

async fn an_invalid_move_is_refused(world: World) {
    let sailing = world.sailing().await;
    let faults = world
        .updates_sailing_times(&sailing, json!({ "departure_time": "8", "date": "soon" }))
        .await
        .field_errors();
    let fields: Vec<_> = faults.iter().map(|fault| fault.0.as_str()).collect();
    assert_eq!(fields, ["date", "departure_time"]);
    let mut past = times_body("08:00", "08:45");
    past["date"] = json!("2026-11-14");
    assert_eq!(
        world.updates_sailing_times(&sailing, past.clone()).await.field_errors(),
        [("date".into(), "past".into())]
    );
    past["date"] = json!("9999-12-31");
    assert_eq!(
        world.updates_sailing_times(&sailing, past).await.field_errors(),
        [("date".into(), "past".into())]
    );
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    let faults = world.post(&path, json!({})).by(&sailing.partner).send().await.field_errors();
    assert_eq!(faults, [("reason".into(), "required".into())]);
}

async fn cash_that_the_partner_took_is_on_its_account(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    assert_eq!(world.balance("partner_payable").await, 300_000, "it owes what it took");
    assert_eq!(world.balance("refund_payable").await, -300_000);
    assert_invariants(&world).await;
}

async fn a_booker_of_a_suspended_partner_gets_everything_back(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let desk = world.partner_path(&sailing.partner).await;
    let first = world.paid_booking(&sailing, 2).await;
    let second = world.paid_booking(&sailing, 2).await;
    let third = world.paid_booking(&sailing, 2).await;
    let cancels = async |booking: &Value, email: &str| {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let body = json!({ "reason": "x", "code": booking["code"], "email": email });
        world.post(&path, body).send().await
    };
    // The policy grants half of it 21 hours ahead.
    assert_eq!(cancels(&first, "sari@example.com").await.ok()["refund_amount"], 150_000);
    let reason = json!({ "reason": "Unsafe" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    cancels(&second, "putu@example.com").await.is(404, "not_found");
    assert_eq!(cancels(&second, "sari@example.com").await.ok()["refund_amount"], 300_000);
    assert_invariants(&world).await;
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    assert_eq!(cancels(&third, "sari@example.com").await.ok()["refund_amount"], 150_000);
    assert_invariants(&world).await;
}
