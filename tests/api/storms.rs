//! Concurrency: nothing is sold twice, and all invariants hold afterwards.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use chrono::TimeDelta;
use futures_util::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, charter, order},
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    two_hundred_buyers_for_the_last_seats,
    many_for_the_last_uses_of_a_code,
    a_charter_against_seats,
    expiry_payment_and_cancelling_race,
    a_storm_of_events,
    thousands_of_random_operations_add_up,
    an_audit_finds_what_is_wrong,
    holds_of_a_whole_night_expire_at_once,
    a_kill_in_the_middle_of_a_storm_loses_nothing_that_was_answered,
];

/// Checks all invariants.
pub async fn assert_invariants(world: &World) {
    for question in dermaga::invariants::check(world.db()).await.unwrap() {
        assert!(question.broken.is_empty(), "{}: {:?}", question.rule, question.broken);
    }
}

/// More processes on the same PostgreSQL; on SQLite there is one.
async fn more_processes(world: &World, count: usize) -> Vec<World> {
    let mut all = Vec::new();
    if world.db().engine() == "postgres" {
        for _ in 1..count {
            all.push(world.second_process().await);
        }
    }
    all
}

async fn two_hundred_buyers_for_the_last_seats(world: World) {
    let sailing = world.sailing().await;
    world.books(order(&sailing, 5, "first@example.com")).await.ok();
    let others = more_processes(&world, 3).await;
    let calls = (0..200_usize).map(|n| {
        let at = others.get(n % 3).unwrap_or(&world);
        at.books(order(&sailing, 1 + n % 4, &format!("buyer{n}@example.com")))
    });
    let answers = join_all(calls).await;
    let mut sold = 0;
    for (n, answer) in answers.into_iter().enumerate() {
        match answer.status {
            200 => sold += 1 + n % 4,
            _ => drop(answer.is(409, "sold_out")),
        }
    }
    assert_eq!(sold, 25, "to the last seat, and not one more");
    assert_eq!(world.seats_taken(&sailing).await, 30);
    assert_invariants(&world).await;
}

async fn many_for_the_last_uses_of_a_code(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut promotion = crate::promotions::promotion("HEMAT");
    promotion["quota"] = json!(7);
    promotion["per_customer_limit"] = json!(2);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let others = more_processes(&world, 3).await;
    let calls = (0..40_usize).map(|n| {
        let mut order = order(&sailing, 1, &format!("buyer{}@example.com", n % 8));
        order["code_promo"] = json!("HEMAT");
        others.get(n % 3).unwrap_or(&world).books(order)
    });
    let answers = join_all(calls).await;
    let sold = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(sold, 7);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        let faults = answer.field_errors();
        assert!(["exhausted", "limit_reached"].contains(&faults[0].1.as_str()), "{faults:?}");
    }
    assert_eq!(world.seats_taken(&sailing).await, 7, "a refused code takes no seat");
    let most = "SELECT CAST(MAX(used) AS BIGINT) FROM promotion_uses";
    assert!(world.count(most).await <= 2);
    assert_invariants(&world).await;
}

async fn a_charter_against_seats(world: World) {
    let sailing = world.sailing().await;
    let others = more_processes(&world, 3).await;
    let calls = (0..20_usize).map(|n| {
        let at = others.get(n % 3).unwrap_or(&world);
        let email = format!("buyer{n}@example.com");
        match n % 4 {
            0 => at.books(charter(&sailing, 10, &email)),
            _ => at.books(order(&sailing, 2, &email)),
        }
    });
    let answers = join_all(calls).await;
    let sold = |of: usize| {
        let kinds = answers.iter().enumerate().filter(|(n, _)| (n % 4 == 0) == (of == 0));
        kinds.filter(|(_, answer)| answer.status == 200).count()
    };
    let (charters, seats) = (sold(0), sold(1));
    assert!((charters, seats) == (1, 0) || (charters == 0 && seats > 0), "{charters} {seats}");
    assert_invariants(&world).await;
}

/// Of two concurrent conflicting changes of a booking one wins, and all records agree.
async fn expiry_payment_and_cancelling_race(world: World) {
    let sailing = world.sailing().await;
    for round in 0..12 {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        world.advances_clock(TimeDelta::minutes(30));
        let transaction = format!("t{round}");
        let pays = world.receives_callback(&booking, "settlement", &transaction);
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let body = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
        let cancels = world.post(&path, body).send_with_retry();
        let expires = dermaga::bookings::expire(&world.app);
        match round % 3 {
            0 => drop(tokio::join!(pays, expires)),
            1 => drop(tokio::join!(pays, cancels)),
            _ => drop(tokio::join!(expires, cancels)),
        }
        let status = world.looks_up(&booking).await["status"].clone();
        let possible: &[&str] = match round % 3 {
            0 => &["paid"],
            1 => &["refund_pending", "cancelled"],
            _ => &["expired", "cancelled"],
        };
        // A payment after a cancellation is not lost: it needs a review.
        let fits =
            possible.contains(&status.as_str().unwrap()) || (round % 3 == 1 && status == "paid");
        assert!(fits, "round {round}: {status}");
        assert_invariants(&world).await;
    }
}

async fn a_storm_of_events(world: World) {
    let sailing = world.sailing().await;
    let others = more_processes(&world, 3).await;
    let mut bookings = Vec::new();
    for n in 0..10 {
        bookings.push(world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await.ok());
    }
    let mut events = Vec::new();
    for (n, booking) in bookings.iter().enumerate() {
        let reference = booking["payment"]["reference"].as_str().unwrap();
        for word in ["pending", "settlement", "settlement", "expire", "deny", "settlement"] {
            events.push(callback_body(reference, 150_000, word, &format!("t{n}")));
        }
        events.push(callback_body(reference, 150_000, "settlement", &format!("second{n}")));
        events.push(callback_body(reference, 1, "settlement", &format!("wrong{n}")));
    }
    let mut random = StdRng::seed_from_u64(7);
    for at in (1..events.len()).rev() {
        events.swap(at, random.random_range(0..=at));
    }
    let calls = events.into_iter().enumerate().map(|(n, event)| {
        let at = others.get(n % 3).unwrap_or(&world);
        at.post("/v1/payment/callback", event).send_with_retry()
    });
    for answer in join_all(calls).await {
        answer.ok();
    }
    for booking in &bookings {
        assert_eq!(world.looks_up(booking).await["status"], "paid");
    }
    assert_eq!(world.balance("customer_deposits").await, -1_500_000);
    assert_eq!(world.balance("unapplied_payments").await, -1_500_010);
    assert_invariants(&world).await;
}

/// Random operations, several at a time; the invariants are checked after each batch.
async fn thousands_of_random_operations_add_up(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.db().sql("UPDATE sailings SET capacity = 90").run().await.unwrap();
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let mut promotion = crate::promotions::promotion("HEMAT");
    promotion["quota"] = json!(20);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut random = StdRng::seed_from_u64(2026);
    let mut bookings: Vec<Value> = Vec::new();
    // Other sailings, to which bookings can move until they are cancelled, closed or moved
    // themselves.
    let mut boats = 0;
    let mut sailings = vec![sailing.clone()];
    for price in [150_000, 120_000, 180_000] {
        boats += 1;
        sailings.push(world.another_sailing(&sailing, &format!("GT. B{boats}"), price).await);
    }
    // One booking with every kind of event, whatever the random ones do.
    let one = world.paid_booking(&sailings[1], 1).await;
    world.cancels_sailing(&sailings[1], &sailing.partner).await.ok();
    world.requests_reschedule(&one, &sailings[2]).await.ok();
    let mut dearer = world.requests_reschedule(&one, &sailings[3]).await.ok();
    dearer["payment"] = dearer["reschedule"]["payment"].clone();
    dearer["price"]["total"] = dearer["reschedule"]["difference"].clone();
    world.receives_callback(&dearer, "settlement", "one").await.ok();
    sailings[1] = world.another_sailing(&sailing, "GT. B0", 250_000).await;
    world.requests_reschedule(&one, &sailings[1]).await.ok();
    world.requests_reschedule(&one, &sailings[2]).await.ok();
    bookings.push(one);
    for lot in 0..100 {
        let calls: Vec<_> = (0..25)
            .map(|n| random_call(&mut random, &sailings, &bookings, lot * 100 + n))
            .collect();
        let sent = calls.iter().map(|(path, body, by_admin)| {
            let corrects = path.ends_with("/passengers") || path.ends_with("/contact");
            let call = match corrects {
                true => world.put(path, body.clone()),
                false => world.post(path, body.clone()),
            };
            let call = if *by_admin { call.by(&admin) } else { call };
            call.send_with_retry()
        });
        // The partner changes a price meanwhile.
        let dearer = json!({ "price": 100_000 + 10_000 * random.random_range(0..10) });
        let which = random.random_range(0..sailings.len());
        let (answers, priced) =
            tokio::join!(join_all(sent), world.updates_sailing(&sailings[which], dearer));
        assert!([200, 409].contains(&priced.status), "{}", priced.body);
        for ((path, body, _), answer) in calls.iter().zip(answers) {
            assert!(answer.status < 500, "{}", answer.body);
            // No provider knows the reference of cash.
            let is_cash = |booking: &Value| {
                booking["payment"]["provider"] == "cash"
                    && booking["payment"]["reference"] == body["order_id"]
            };
            if path.ends_with("/callback") {
                let expected = if bookings.iter().any(is_cash) { 404 } else { 200 };
                assert_eq!(answer.status, expected, "no money is refused: {}", answer.body);
            }
            let made = &answer.body["data"];
            if answer.status == 200 && made["payment"]["reference"].is_string() {
                bookings.push(made.clone());
            }
            if answer.status == 200 && made["reschedule"]["payment"]["reference"].is_string() {
                // To be paid like a booking, by its own reference and amount.
                let mut difference = made.clone();
                difference["payment"] = made["reschedule"]["payment"].clone();
                difference["price"]["total"] = made["reschedule"]["difference"].clone();
                if random.random_bool(0.5) {
                    world
                        .receives_callback(&difference, "settlement", &format!("d-{lot}"))
                        .await
                        .ok();
                }
                bookings.push(difference);
            }
        }
        if random.random_bool(0.15) {
            let which = random.random_range(1..sailings.len());
            match random.random_range(0..6) {
                0 => drop(world.closes_manifest(&sailings[which]).await.ok()),
                1 => {
                    world.closes_manifest(&sailings[which]).await.ok();
                    world.reopens_manifest(&sailings[which]).await.ok();
                    world.books(order(&sailings[which], 1, "b0@example.com")).await;
                }
                2 => {
                    let other = world.adds_boat(&sailing.partner, &format!("GT. S{lot}")).await;
                    let body = json!({ "speedboat_id": other });
                    world.updates_sailing(&sailings[which], body).await.ok();
                    sailings[which].boat = other;
                    // A charter may have taken all seats.
                    let booked = world.books(order(&sailings[which], 1, "b1@example.com")).await;
                    assert!([200, 409].contains(&booked.status), "{}", booked.body);
                }
                3..5 => {
                    world.cancels_sailing(&sailings[which], &sailing.partner).await.ok();
                    let id = json!(sailings[which].id);
                    let theirs = bookings.iter().filter(|b| b["route_time_id"] == id).take(5);
                    for booking in theirs {
                        let answer = world.requests_reschedule(booking, &sailing).await;
                        // Its contact may have another address since.
                        assert!([200, 404, 409].contains(&answer.status), "{}", answer.body);
                    }
                }
                _ => {
                    let minute = random.random_range(10..60);
                    let times = json!({
                        "departure_time": format!("10:{minute}"), "reason": "x",
                        "arrival_time": format!("11:{minute}"),
                    });
                    world.updates_sailing_times(&sailings[which], times).await.ok();
                }
            }
            boats += 1;
            let price = 100_000 + 10_000 * random.random_range(0..10);
            sailings[which] =
                world.another_sailing(&sailing, &format!("GT. B{boats}"), price).await;
        }
        if random.random_bool(0.3) {
            world.advances_clock(TimeDelta::minutes(random.random_range(1..20)));
            dermaga::bookings::expire(&world.app).await.unwrap();
        }
        if random.random_bool(0.3) {
            dermaga::reports::roll_up(&world.app).await.unwrap();
        }
        if random.random_bool(0.2) {
            // A boat has arrived: what was paid is earned, settled, and paid out or called off.
            world.completes_paid_bookings().await;
            let admin = world.signs_in(&admin.email, "admin").await;
            let made = world.creates_settlement(&sailing.partner, &admin).await;
            if made.status == 200 {
                let made = made.ok();
                let path = format!("/v1/settlements/{}/cancel", made["id"].as_str().unwrap());
                // A statement has nothing to pay out.
                match random.random_bool(0.6) && made["status"] == "pending" {
                    true => drop(world.releases_settlement(&made, &admin).await.ok()),
                    false => drop(world.post(&path, json!({})).by(&admin).send().await.ok()),
                }
            }
        }
        if lot % 3 == 2 {
            let admin = world.signs_in(&admin.email, "admin").await;
            clerks_decide(&world, &mut random, &admin, &sailing.partner, lot).await;
        }
        if lot % 10 == 9 {
            assert_invariants(&world).await;
        }
    }
    assert_invariants(&world).await;
    assert!(bookings.len() > 50, "{} bookings", bookings.len());
    assert!(world.count("SELECT COUNT(*) FROM settlements").await > 2);
    let reversed = "SELECT COUNT(*) FROM partner_dues WHERE kind = 'reversal'";
    assert!(world.count(reversed).await > 0);
    for (kind, statement) in [
        ("moved", "SELECT COUNT(*) FROM reschedules WHERE status = 'done'"),
        ("dropped", "SELECT COUNT(*) FROM reschedules WHERE status = 'dropped'"),
        ("paid", "SELECT COUNT(*) FROM reschedules WHERE status = 'done' AND difference > 0"),
        ("reinstated", "SELECT COUNT(*) FROM ledger_lines WHERE kind = 'reinstated'"),
        ("paid back", "SELECT COUNT(*) FROM refunds WHERE status = 'paid'"),
        ("returned", "SELECT COUNT(*) FROM ledger_lines WHERE kind = 'returned'"),
        ("decided", "SELECT COUNT(*) FROM payment_reviews WHERE resolution IS NOT NULL"),
        ("cancelled in part", "SELECT COUNT(*) FROM passenger_cancellations"),
        ("corrected", "SELECT COUNT(*) FROM booking_search WHERE text LIKE '%corrected%'"),
        ("complained of", "SELECT COUNT(*) FROM refunds WHERE kind = 'complaint'"),
    ] {
        assert!(world.count(statement).await > 0, "nothing was {kind}");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL").await, 0);
}

/// What is done with money that has to go back, or that nobody expected: each by two people at once.
async fn clerks_decide(
    world: &World,
    random: &mut StdRng,
    admin: &Someone,
    partner: &Someone,
    lot: usize,
) {
    let mut calls: Vec<(String, Value)> = Vec::new();
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    let refunds = world.get("/v1/refunds?limit=50").by(admin).send().await.ok();
    for (n, refund) in refunds.as_array().unwrap().iter().enumerate() {
        let by = ["bank", "bank", "cash", "partner"][random.random_range(0..4)];
        let pay = json!({ "by": by, "reference": format!("R-{lot}-{n}") });
        match random.random_range(0..6) {
            0..2 => calls.push((format!("/v1/refunds/{}/pay", id(refund)), pay)),
            2 => {
                let bounced = json!({ "reason": "unknown account" });
                calls.push((format!("/v1/refunds/{}/return", id(refund)), bounced));
            }
            _ => {}
        }
    }
    let reviews = world.get("/v1/payment/reviews?limit=20").by(admin).send().await.ok();
    for review in reviews.as_array().unwrap() {
        let actions = ["apply", "refund", "charge_partner", "write_off", "match"];
        let body = json!({ "action": actions[random.random_range(0..actions.len())], "note": "x" });
        calls.push((format!("/v1/payment/reviews/{}/resolve", id(review)), body));
    }
    let path = "/v1/booking/?status=completed&limit=5";
    for booking in world.get(path).by(admin).send().await.ok().as_array().unwrap() {
        let borne_by = ["partner", "platform"][random.random_range(0..2)];
        let body = json!({ "reason": "x", "refund_amount": 10_000, "borne_by": borne_by });
        calls.push((format!("/v1/booking/{}/cancel", id(booking)), body));
    }
    let receipt = json!({
        "mitra_id": partner.id, "amount": 5_000, "method": "bank",
        "reference": format!("T-{lot}"), "received_on": world.now().date_naive(),
    });
    calls.push(("/v1/settlements/receipts".into(), receipt));
    let twice = calls.iter().chain(&calls);
    let sent = twice.map(|(path, body)| world.post(path, body.clone()).by(admin).send_with_retry());
    for answer in join_all(sent).await {
        assert!(answer.status < 500, "{}", answer.body);
    }
}

/// Path, body, and whether an admin sends it.
fn random_call(
    random: &mut StdRng,
    sailings: &[Sailing],
    bookings: &[Value],
    n: usize,
) -> (String, Value, bool) {
    let some = match bookings.len() {
        0 => None,
        // The newest have the most events.
        many => {
            let first = if random.random_bool(0.6) { many.saturating_sub(25) } else { 0 };
            Some(&bookings[random.random_range(first..many)])
        }
    };
    let path = |booking: &Value, last: &str| {
        format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap())
    };
    let email = format!("b{}@example.com", random.random_range(0..5));
    let sailing = &sailings[random.random_range(0..sailings.len())];
    let passenger = |booking: &Value, random: &mut StdRng| {
        let passengers = booking["passengers"].as_array().unwrap();
        passengers[random.random_range(0..passengers.len())]["id"].clone()
    };
    match (random.random_range(0..17), some) {
        (0..=4, _) | (_, None) => {
            let mut order = match random.random_bool(0.05) {
                true => charter(sailing, 3, &email),
                false => order(sailing, random.random_range(1..4), &email),
            };
            if random.random_bool(0.4) {
                order["code_promo"] = json!("HEMAT");
            }
            ("/v1/booking/".into(), order, false)
        }
        (5..=7, Some(booking)) => {
            let words = ["settlement", "settlement", "settlement", "deny", "expire", "refund"];
            let word = words[random.random_range(0..words.len())];
            let total = booking["price"]["total"].as_i64().unwrap();
            let amount = if random.random_bool(0.1) { total + 500 } else { total };
            let reference = booking["payment"]["reference"].as_str().unwrap();
            let transaction = match random.random_bool(0.8) {
                true => format!("t-{reference}"),
                false => format!("t-{n}"),
            };
            (
                "/v1/payment/callback".into(),
                callback_body(reference, amount, word, &transaction),
                false,
            )
        }
        (8, Some(booking)) => {
            let body = json!({
                "reason": "", "code": booking["code"], "email": booking["contact"]["email"],
            });
            (path(booking, "cancel"), body, false)
        }
        (9, Some(booking)) => (path(booking, "cancel"), json!({ "reason": "x" }), true),
        (10, Some(booking)) => (path(booking, "pay-cash"), json!({}), true),
        (11..=12, Some(booking)) => {
            let body = json!({
                "route_time_id": sailing.id, "code": booking["code"],
                "email": booking["contact"]["email"],
            });
            (path(booking, "reschedule"), body, random.random_bool(0.2))
        }
        (13, Some(booking)) => (path(booking, "refund"), json!({ "reference": "BCA" }), true),
        (14, Some(booking)) => {
            let body = json!({
                "reason": "x", "passenger_ids": [passenger(booking, random)],
                "code": booking["code"], "email": booking["contact"]["email"],
            });
            (path(booking, "cancel"), body, random.random_bool(0.3))
        }
        (15, Some(booking)) => {
            let correction = json!({ "id": passenger(booking, random), "name": "Corrected" });
            let body = json!({
                "passengers": [correction], "code": booking["code"],
                "email": booking["contact"]["email"],
            });
            (path(booking, "passengers"), body, random.random_bool(0.3))
        }
        (_, Some(booking)) => (path(booking, "contact"), json!({ "email": email }), true),
    }
}

async fn an_audit_finds_what_is_wrong(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    assert_invariants(&world).await;
    let broken = async |statement: &'static str| {
        world.db().sql(statement).run().await.unwrap();
        let checked = dermaga::invariants::check(world.db()).await.unwrap();
        checked.iter().filter(|question| !question.broken.is_empty()).count()
    };
    assert_eq!(broken("UPDATE sailings SET seats_taken = 3 WHERE seats_taken = 2").await, 1);
    assert_eq!(broken("UPDATE sailings SET seats_taken = 2 WHERE seats_taken = 3").await, 0);
    // Its deposit, and what the reports say of its tax.
    assert_eq!(broken("UPDATE bookings SET total = total + 1, tax = tax + 1").await, 2);
    assert_eq!(broken("UPDATE bookings SET total = total - 1, tax = tax - 1").await, 0);
    let admin = world.admin().await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    dermaga::reports::roll_up(&world.app).await.unwrap();
    assert_invariants(&world).await;
    for (breaks, mends, questions) in [
        (
            "UPDATE sales_months SET month = '2001-01-01'",
            "UPDATE sales_months SET month = '2026-11-01'",
            1,
        ),
        (
            "UPDATE sales_months SET gross = gross + 1",
            "UPDATE sales_months SET gross = gross - 1",
            1,
        ),
        (
            "UPDATE settlements SET net = net + 1, gross = gross + 1",
            "UPDATE settlements SET net = net - 1, gross = gross - 1",
            3,
        ),
        (
            "UPDATE partner_dues SET net = net + 1, gross = gross + 1",
            "UPDATE partner_dues SET net = net - 1, gross = gross - 1",
            4,
        ),
        (
            "UPDATE partner_dues SET settlement_id = NULL",
            "UPDATE partner_dues SET settlement_id = (SELECT id FROM settlements)",
            3,
        ),
        ("UPDATE sales_days SET gross = gross + 1", "UPDATE sales_days SET gross = gross - 1", 2),
        (
            "UPDATE route_months SET gross = gross + 1",
            "UPDATE route_months SET gross = gross - 1",
            1,
        ),
        (
            "UPDATE partner_standings SET bookings = bookings + 1",
            "UPDATE partner_standings SET bookings = bookings - 1",
            1,
        ),
    ] {
        assert_eq!(broken(breaks).await, questions, "{breaks}");
        assert_eq!(broken(mends).await, 0, "{mends}");
    }
}

/// After an outage: several batches, from two processes, each hold once.
async fn holds_of_a_whole_night_expire_at_once(world: World) {
    let sailing = world.sailing().await;
    world.db().sql("UPDATE sailings SET capacity = 500").run().await.unwrap();
    let calls = (0..450).map(|n| world.books(order(&sailing, 1, &format!("b{n}@example.com"))));
    for answer in join_all(calls).await {
        answer.ok();
    }
    world.advances_clock(TimeDelta::hours(8));
    let (a, b) =
        tokio::join!(dermaga::bookings::expire(&world.app), dermaga::bookings::expire(&world.app),);
    let late = dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(a.unwrap() + b.unwrap() + late, 450);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'booking.expired'";
    assert_eq!(world.count(told).await, 450);
    assert_invariants(&world).await;
}

async fn a_kill_in_the_middle_of_a_storm_loses_nothing_that_was_answered(mut world: World) {
    let sailing = world.sailing().await;
    // The process that is killed uses the real clock.
    world
        .db()
        .sql("UPDATE sailings SET capacity = 100000, departure_at = $1, arrival_at = $2 WHERE id = $3")
        .bind("2190-01-01T00:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap())
        .bind("2190-01-01T01:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap())
        .bind(sailing.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .run()
        .await
        .unwrap();
    let key = world.app.config.secret_key.clone().unwrap();
    let (folder, url) = world.stops().await;
    let mut command = crate::binary::dermaga(&folder);
    command
        .env("DERMAGA_DATA_DIR", &folder)
        .env("DERMAGA_DATABASE_URL", url)
        .env("DERMAGA_SECRET_KEY", key.reveal())
        .env("DERMAGA_PAYMENT_SERVER_KEY", crate::world::SERVER_KEY)
        .env("DERMAGA_RATE_LIMIT", "off");
    let mut service = crate::binary::start(&mut command);
    let client = crate::world::client();
    let heard = Arc::new(AtomicUsize::new(0));
    let buyers: Vec<_> = (0..32)
        .map(|n| {
            let (client, url) = (client.clone(), service.url.clone());
            let order = order(&sailing, 1 + n % 3, &format!("b{n}@example.com"));
            tokio::spawn(book_until_stopped(client, url, order, heard.clone()))
        })
        .collect();
    // In the middle of the run, however fast the machine is.
    while heard.load(Ordering::Relaxed) < 100 {
        assert!(!buyers.iter().all(|buyer| buyer.is_finished()), "nobody is answered");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    service.signal("-KILL");
    let mut answered = Vec::new();
    for buyer in buyers {
        answered.extend(buyer.await.unwrap());
    }
    let world = world.restarts().await;
    assert!(answered.len() >= 100, "{} answers before the kill", answered.len());
    for (booking, paid) in answered {
        let now = world.looks_up(&booking).await;
        assert_eq!(now["code"], booking["code"]);
        if paid {
            assert_eq!(now["status"], "paid");
        }
    }
    assert_invariants(&world).await;
}

/// Books and pays until the service stops answering; returns the acknowledged bookings, and whether
/// they were paid.
async fn book_until_stopped(
    client: reqwest::Client,
    url: String,
    order: Value,
    heard: Arc<AtomicUsize>,
) -> Vec<(Value, bool)> {
    let mut answered = Vec::new();
    let said = async |path: &str, body: &Value| -> Option<Value> {
        let ask = || client.post(format!("{url}{path}")).json(body).send();
        let mut answer = ask().await.ok()?;
        while answer.status() == 503 {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            answer = ask().await.ok()?;
        }
        let right = answer.status() == 200;
        let body: Value = answer.json().await.ok()?;
        right.then_some(body)
    };
    loop {
        let Some(body) = said("/v1/booking", &order).await else { return answered };
        let booking = body["data"].clone();
        let reference = booking["payment"]["reference"].as_str().unwrap_or_default().to_owned();
        let total = booking["price"]["total"].as_i64().unwrap_or_default();
        let event = callback_body(&reference, total, "settlement", &reference);
        let paid = said("/v1/payment/callback", &event).await.is_some();
        answered.push((booking, paid));
        heard.fetch_add(1, Ordering::Relaxed);
        if !paid {
            return answered;
        }
    }
}
