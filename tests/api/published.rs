//! Changing what is published: prices, times and boats of sailings, one or many; more days; and
//! manifests that are opened again.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::{AuditRead, BookingsWrite, RoutesRead, RoutesWrite};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    disruptions::times_body,
    harbour::{Sailing, boat, charter, order, route, route_soon, search_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_route_is_shown_to_its_partner,
    a_new_price_is_for_new_bookings,
    a_change_needs_something_to_change,
    a_sale_with_an_old_price_is_refused_by_the_database,
    every_booking_of_a_rush_has_one_price,
    a_new_time_needs_a_reason_if_somebody_has_booked,
    a_sailing_that_is_over_is_not_changed,
    bookings_follow_another_boat,
    harbours_of_swapped_boats_stay_on_sale,
    a_boat_that_does_not_suit_is_refused,
    a_charter_gets_no_smaller_boat,
    another_boat_races_with_the_last_seats,
    one_boat_is_taken_by_one_of_two_sailings,
    thousands_of_prices_change_in_a_few_statements,
    prices_change_on_some_days_and_times,
    a_bulk_change_of_times_tells_each_booker_once,
    a_bulk_change_of_boats_skips_what_does_not_fit,
    a_bulk_change_waits_for_its_own_bookings_only,
    sold_sailings_are_not_withdrawn,
    a_withdrawal_races_with_sales,
    bulk_changes_race_with_bookings_and_one_another,
    nonsense_is_named,
    a_route_is_extended,
    a_route_goes_on_without_its_boat,
    a_route_is_extended_once_by_two,
    a_manifest_is_not_closed_too_early,
    a_manifest_is_opened_again_until_departure,
    opening_a_manifest_races_with_closing_and_selling,
    a_boat_on_sale_is_public,
];

impl World {
    pub async fn updates_sailing(&self, sailing: &Sailing, body: Value) -> Answer {
        let path = format!("/v1/mitra/route-times/{}", sailing.id);
        self.put(&path, body).by(&sailing.partner).send_with_retry().await
    }

    async fn updates_sailings(&self, who: &Someone, route: &str, body: Value) -> Answer {
        let path = format!("/v1/mitra/speedboat-routes/{route}/sailings");
        self.call(Method::PATCH, &path).json(body).by(who).send_with_retry().await
    }

    async fn extends_route(&self, who: &Someone, route: &str, end_date: &str) -> Answer {
        let path = format!("/v1/mitra/speedboat-routes/{route}/extend");
        self.post(&path, json!({ "end_date": end_date })).by(who).send_with_retry().await
    }

    pub async fn reopens_manifest(&self, sailing: &Sailing) -> Answer {
        let path = format!("/v1/mitra/route-times/{}/manifest/reopen", sailing.id);
        let body = json!({ "reason": "Closed by mistake" });
        self.post(&path, body).by(&sailing.partner).send_with_retry().await
    }

    async fn route_of(&self, sailing: &Sailing) -> String {
        let path = format!("/v1/mitra/route-times/{}", sailing.id);
        let sailing = self.get(&path).by(&sailing.partner).send().await.ok();
        sailing["route_id"].as_str().unwrap().to_owned()
    }

    async fn adds_boat_with(&self, who: &Someone, registration: &str, change: Value) -> String {
        let mut body = boat(registration);
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let added = self.post("/v1/speedboats", body).by(who).send().await.ok();
        added["id"].as_str().unwrap().to_owned()
    }

    /// Three mornings from tomorrow on, as `Sailing`s.
    async fn three_days(&self, sailing: &Sailing, route: &str) -> Vec<Sailing> {
        let rows = self.sailings(&sailing.partner, route).await;
        let one =
            |row: &Value| Sailing { id: row["id"].as_str().unwrap().into(), ..sailing.clone() };
        rows.iter().map(one).collect()
    }

    fn letters_that_say(&self, email: &str, said: &str) -> usize {
        self.letters_to(email).iter().filter(|letter| letter.contains(said)).count()
    }
}

/// From the 16th to the 18th.
fn all_days(set: Value) -> Value {
    json!({ "start_date": "2026-11-16", "end_date": "2026-11-18", "set": set })
}

async fn a_route_is_shown_to_its_partner(world: World) {
    let sailing = world.sailing().await;
    let id = world.route_of(&sailing).await;
    let path = format!("/v1/mitra/speedboat-routes/{id}");
    let listed = world.get("/v1/mitra/speedboat-routes").by(&sailing.partner).send().await.ok();
    assert_eq!(world.get(&path).by(&sailing.partner).send().await.ok(), listed[0]);
    let desk = world.staff("desk@dermaga.test", &[RoutesRead]).await;
    assert_eq!(world.get(&path).by(&desk).send().await.ok(), listed[0]);
    let foreign = world.active_partner("other@bahari.id").await;
    world.get(&path).by(&foreign).send().await.is(404, "not_found");
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.get(&path).by(&crew).send().await.is(403, "forbidden");
    let path = "/v1/mitra/speedboat-routes/rubbish";
    world.get(path).by(&sailing.partner).send().await.is(404, "not_found");
}

async fn a_new_price_is_for_new_bookings(world: World) {
    let sailing = world.sailing().await;
    let early = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    assert_eq!(world.searches(search_body(1)).await[0]["price"], 150_000);
    let changed = world.updates_sailing(&sailing, json!({ "price": 200_000 })).await.ok();
    assert_eq!((&changed["price"], &changed["moved_bookings"]), (&json!(200_000), &json!(0)));
    assert_eq!(changed["departure_at"], "2026-11-16T00:00:00Z");
    assert_eq!(world.searches(search_body(1)).await[0]["price"], 200_000, "at once");
    world.pays(&early).await;
    let early = world.looks_up(&early).await;
    assert_eq!((&early["status"], &early["price"]["total"]), (&json!("paid"), &json!(300_000)));
    let late = world.books(order(&sailing, 2, "budi@example.com")).await.ok();
    assert_eq!(late["price"]["unit_price"], 200_000);
    assert_eq!(late["price"]["total"], 400_000);
    // Nobody is told of it, and nothing of the reason for an earlier move is lost.
    world.updates_sailing(&sailing, times_body("08:10", "08:55")).await.ok();
    let again = world.updates_sailing(&sailing, json!({ "price": 210_000 })).await.ok();
    assert_eq!(again["reason"], "Low tide");
    let path = format!("/v1/mitra/route-times/{}", sailing.id);
    let body = json!({ "price": 220_000 });
    let foreign = world.active_partner("other@bahari.id").await;
    world.put(&path, body.clone()).by(&foreign).send().await.is(404, "not_found");
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.put(&path, body.clone()).by(&crew).send().await.is(403, "forbidden");
    let route = world.route_of(&sailing).await;
    world.updates_sailings(&crew, &route, all_days(body.clone())).await.is(403, "forbidden");
    world.extends_route(&crew, &route, "2026-11-20").await.is(403, "forbidden");
    let desk = world.staff("desk@dermaga.test", &[RoutesRead]).await;
    world.put(&path, body.clone()).by(&desk).send().await.is(403, "forbidden");
    let planner = world.staff("plan@dermaga.test", &[RoutesWrite, AuditRead]).await;
    world.put(&path, body).by(&planner).send().await.ok();
    let log = world.get("/v1/audit-logs?action=sailing.changed").by(&planner).send().await.ok();
    assert_eq!(log[0]["before"]["price"], 210_000);
    assert_eq!(log[0]["after"]["price"], 220_000);
    assert_invariants(&world).await;
}

async fn a_change_needs_something_to_change(world: World) {
    let sailing = world.sailing().await;
    for nothing in [json!({}), json!({ "reason": "x" }), json!({ "colour": "red", "date": "" })] {
        world.updates_sailing(&sailing, nothing).await.has_field_errors(&[("body", "required")]);
    }
    for (field, value, rule) in [
        ("price", json!(999), "min"),
        ("price", json!(1_000_000_001), "max"),
        ("price", json!("many"), "type"),
        ("speedboat_id", json!("boat"), "format"),
        ("departure_time", json!("24:00"), "format"),
        ("reason", json!("x".repeat(1_001)), "max_length"),
    ] {
        let body = json!({ "price": 200_000, field: value });
        let faults = world.updates_sailing(&sailing, body).await.field_errors();
        assert_eq!(faults, [(field.to_owned(), rule.to_owned())], "{field}");
    }
    let same = json!({
        "price": 150_000, "speedboat_id": sailing.boat, "departure_time": "08:00",
        "arrival_time": "08:45", "date": "2026-11-16",
    });
    let before = world.count("SELECT COUNT(*) FROM outbox").await;
    let answer = world.updates_sailing(&sailing, same).await.ok();
    assert_eq!(answer["moved_bookings"], 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, before, "nobody is told");
}

/// What a sale does that read the price before it was changed.
async fn a_sale_with_an_old_price_is_refused_by_the_database(world: World) {
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let copy = async || {
        world
            .db()
            .sql(
                "INSERT INTO bookings (id, code, type, status, channel, sailing_id, speedboat_id,
                   partner_id, departure_at, arrival_at, qty, seats, note, contact_name,
                   contact_email, contact_phone, lang, passengers, accepted_terms, unit_price,
                   subtotal, discount, taxes, tax, total, commission_rate, commission,
                   commission_tax, commission_taxes, partner_net, expires_at, created_at,
                   updated_at)
                 SELECT $1, $2, type, status, channel, sailing_id, speedboat_id, partner_id,
                   departure_at, arrival_at, qty, seats, note, contact_name, contact_email,
                   contact_phone, lang, passengers, accepted_terms, unit_price, subtotal, discount,
                   taxes, tax, total, commission_rate, commission, commission_tax,
                   commission_taxes, partner_net, expires_at, created_at, updated_at
                 FROM bookings WHERE contact_email = 'sari@example.com' ORDER BY id LIMIT 1",
            )
            .bind(dermaga::kernel::ids::fresh())
            .bind(dermaga::kernel::ids::fresh_code("DMG"))
            .run()
            .await
    };
    copy().await.unwrap();
    world.updates_sailing(&sailing, json!({ "price": 160_000 })).await.ok();
    assert!(copy().await.unwrap_err().names("sailings_moved"));
    world.updates_sailing(&sailing, json!({ "price": 150_000 })).await.ok();
    copy().await.unwrap();
    let other = world.adds_boat(&sailing.partner, "GT. 2").await;
    world.updates_sailing(&sailing, json!({ "speedboat_id": other })).await.ok();
    copy().await.unwrap();
    world
        .db()
        .sql("UPDATE bookings SET speedboat_id = $1")
        .bind(sailing.boat.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .run()
        .await
        .unwrap();
    assert!(copy().await.unwrap_err().names("sailings_moved"), "the boat of before");
    let checked = dermaga::invariants::check(world.db()).await.unwrap();
    let rule = "a booking has the boat of its sailing";
    assert!(checked.iter().any(|one| one.rule == rule && !one.broken.is_empty()));
}

async fn every_booking_of_a_rush_has_one_price(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let books = join_all((0..24).map(|n| {
        let email = format!("guest{n}@example.com");
        world.books(order(&sailing, 1 + n % 2, &email))
    }));
    let prices = [160_000, 170_000, 180_000, 190_000];
    let changes = async {
        for price in prices {
            world.updates_sailing(&sailing, json!({ "price": price })).await.ok();
            let bulk = all_days(json!({ "price": price + 5_000 }));
            world.updates_sailings(&sailing.partner, &route, bulk).await.ok();
        }
    };
    let (booked, ()) = tokio::join!(books, changes);
    let mut sold = 0;
    for answer in booked {
        if answer.status != 200 {
            answer.is(409, "sold_out");
            continue;
        }
        let booking = answer.ok();
        let (unit, qty) = (booking["price"]["unit_price"].as_i64(), booking["qty"].as_i64());
        let (unit, qty) = (unit.unwrap(), qty.unwrap());
        let base = unit - unit % 10_000;
        assert!(base == 150_000 || prices.contains(&base), "{unit}");
        assert_eq!(booking["price"]["subtotal"], json!(unit * qty));
        let seen = world.looks_up(&booking).await;
        assert_eq!(seen["price"], booking["price"]);
        assert_eq!(booking["price"]["total"], json!(unit * qty));
        world.pays(&booking).await;
        sold += qty;
    }
    assert_eq!(world.seats_taken(&sailing).await, sold);
    assert_eq!(
        world.searches(search_body(1)).await.first().map(|offer| offer["price"].clone()),
        (sold < 30).then(|| json!(195_000))
    );
    assert_invariants(&world).await;
}

async fn a_new_time_needs_a_reason_if_somebody_has_booked(world: World) {
    let sailing = world.sailing().await;
    let moved = world.updates_sailing(&sailing, json!({ "departure_time": "09:30" })).await.ok();
    assert_eq!(moved["departure_at"], "2026-11-16T01:30:00Z");
    assert_eq!(moved["arrival_at"], "2026-11-16T02:15:00Z", "it takes as long as before");
    assert_eq!(moved["reason"], json!(null));
    let moved = world.updates_sailing(&sailing, json!({ "arrival_time": "10:30" })).await.ok();
    assert_eq!(moved["departure_at"], "2026-11-16T01:30:00Z");
    assert_eq!(moved["arrival_at"], "2026-11-16T02:30:00Z");
    let booking = world.paid_booking(&sailing, 1).await;
    let later = json!({ "departure_time": "09:40", "price": 160_000 });
    let refused = world.updates_sailing(&sailing, later.clone()).await;
    refused.has_field_errors(&[("reason", "required")]);
    let blank = json!({ "departure_time": "09:40", "reason": "  " });
    world.updates_sailing(&sailing, blank).await.has_field_errors(&[("reason", "required")]);
    assert_eq!(world.looks_up(&booking).await["sailing"]["departure_at"], "2026-11-16T01:30:00Z");
    let mut body = later;
    body["reason"] = json!("Low tide");
    let moved = world.updates_sailing(&sailing, body).await.ok();
    assert_eq!((&moved["price"], &moved["moved_bookings"]), (&json!(160_000), &json!(1)));
    let seen = world.looks_up(&booking).await;
    assert_eq!(seen["sailing"]["departure_at"], "2026-11-16T01:40:00Z");
    assert_eq!(seen["price"]["total"], 150_000);
    world.delivers_outbox().await;
    assert_eq!(world.letters_that_say("sari@example.com", "Your sailing has a new time"), 1);
    assert_invariants(&world).await;
}

async fn a_sailing_that_is_over_is_not_changed(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    world.cancels_sailing(&days[0], &sailing.partner).await.ok();
    let one_day = |day: &str, set: Value| json!({ "start_date": day, "end_date": day, "set": set });
    let withdraw = one_day("2026-11-17", json!({ "withdraw": true }));
    world.updates_sailings(&sailing.partner, &route, withdraw).await.ok();
    let changes = [json!({ "price": 200_000 }), json!({ "departure_time": "09:00" })];
    for (sailing, word) in [(&days[0], "cancelled"), (&days[1], "withdrawn")] {
        for change in &changes {
            world.updates_sailing(sailing, change.clone()).await.is(409, word);
        }
    }
    world.closes_manifest(&days[2]).await.ok();
    for change in &changes {
        world.updates_sailing(&days[2], change.clone()).await.is(409, "manifest_closed");
    }
    let skipped = world
        .updates_sailings(&sailing.partner, &route, all_days(json!({ "price": 200_000 })))
        .await
        .ok();
    assert_eq!((&skipped["changed"], &skipped["skipped_count"]), (&json!(0), &json!(3)));
    let reason_of = |sailing: &Sailing| {
        let skipped = skipped["skipped"].as_array().unwrap().iter();
        let mut of = skipped.filter(|one| one["route_time_id"] == json!(sailing.id));
        of.next().unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        days.iter().map(reason_of).collect::<Vec<_>>(),
        ["cancelled", "withdrawn", "manifest_closed"]
    );
    // It should have departed: only a later departure is possible, until it should have arrived.
    let late = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    world.advances_clock(TimeDelta::hours(45) + TimeDelta::minutes(10));
    let late = world.with_new_session(late).await;
    world.updates_sailing(&late, json!({ "price": 200_000 })).await.is(409, "departed");
    let other = world.adds_boat(&late.partner, "GT. 3").await;
    world.updates_sailing(&late, json!({ "speedboat_id": other })).await.is(409, "departed");
    let moved = json!({ "departure_time": "08:30", "speedboat_id": other });
    assert_eq!(world.updates_sailing(&late, moved).await.ok()["speedboat_id"], json!(other));
    world.advances_clock(TimeDelta::minutes(90));
    let again = json!({ "departure_time": "12:00" });
    world.updates_sailing(&late, again).await.is(409, "departed");
    assert_invariants(&world).await;
}

async fn bookings_follow_another_boat(world: World) {
    let sailing = world.sailing().await;
    let paid = world.paid_booking(&sailing, 2).await;
    let gone = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    let cancel = format!("/v1/booking/{}/cancel", gone["id"].as_str().unwrap());
    let knows = json!({ "reason": "", "code": gone["code"], "email": "putu@example.com" });
    world.post(&cancel, knows).send().await.ok();
    let code = world.ticket_codes(&sailing).await.remove(0);
    world.delivers_outbox().await;
    assert_eq!(world.searches(search_body(1)).await[0]["speedboat"]["name"], "Bahari Express");
    let other = json!({ "name": "Ombak Biru", "capacity": 40 });
    let other = world.adds_boat_with(&sailing.partner, "GT. 2", other).await;
    let body = json!({ "speedboat_id": other, "reason": "Engine" });
    let changed = world.updates_sailing(&sailing, body).await.ok();
    assert_eq!(changed["speedboat_id"], json!(other));
    assert_eq!((&changed["capacity"], &changed["moved_bookings"]), (&json!(40), &json!(1)));
    let found = world.searches(search_body(1)).await;
    assert_eq!(found[0]["speedboat"]["name"], "Ombak Biru");
    assert_eq!((&found[0]["item_id"], &found[0]["available_seats"]), (&json!(other), &json!(38)));
    let seen = world.looks_up(&paid).await;
    assert_eq!(seen["item_id"], json!(other));
    assert_eq!(seen["sailing"]["speedboat"]["name"], "Ombak Biru");
    // Sold on the new boat only.
    let old = world.books(order(&sailing, 1, "budi@example.com")).await;
    assert_eq!(old.field_errors(), [("item_id".to_owned(), "unknown".to_owned())]);
    let sailing = Sailing { boat: other.clone(), ..sailing };
    world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_that_say("sari@example.com", "Your sailing has another boat"), 1);
    let said = "operated by Ombak Biru instead of Bahari Express";
    assert_eq!(world.letters_that_say("sari@example.com", said), 1);
    assert_eq!(world.letters_that_say("sari@example.com", "Reason: Engine"), 1);
    assert_eq!(world.letters_that_say("putu@example.com", "another boat"), 0, "not on board");
    assert_eq!(world.letters_that_say("budi@example.com", "another boat"), 0, "booked it");
    // A boat of the same name makes no difference to them.
    let twin = json!({ "name": "Ombak Biru" });
    let twin = world.adds_boat_with(&sailing.partner, "GT. 3", twin).await;
    world.updates_sailing(&sailing, json!({ "speedboat_id": twin })).await.ok();
    // Time and boat in one letter.
    let mut both = times_body("09:00", "09:45");
    let third = json!({ "name": "Camar" });
    both["speedboat_id"] = json!(world.adds_boat_with(&sailing.partner, "GT. 4", third).await);
    world.updates_sailing(&sailing, both).await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_that_say("sari@example.com", "another boat"), 1, "as before");
    assert_eq!(world.letters_that_say("sari@example.com", "Your sailing has a new time"), 1);
    assert_eq!(world.letters_that_say("sari@example.com", "Camar"), 1);
    world.scans_ticket(&sailing, &code).await.ok();
    // The first boat is free.
    let mut instead = route(paid["item_id"].as_str().unwrap());
    instead["end_date"] = json!("2026-11-16");
    let plan = world.creates_route(&sailing.partner, instead).await;
    world.publishes_route(&sailing.partner, &plan).await.ok();
    assert_invariants(&world).await;
}

async fn harbours_of_swapped_boats_stay_on_sale(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let other = world.adds_boat(&sailing.partner, "GT. 2").await;
    let locations = async || {
        let locations = world.get("/v1/speedboats/locations").send().await.ok();
        locations.as_array().unwrap().len()
    };
    let repair = || {
        let mut body = boat("GT. 1");
        body["status"] = json!("maintenance");
        world.put(&format!("/v1/speedboats/{}", sailing.boat), body).by(&sailing.partner).send()
    };
    assert_eq!(locations().await, 1);
    let swap = all_days(json!({ "speedboat_id": other }));
    world.updates_sailings(&sailing.partner, &route, swap).await.ok();
    repair().await.ok();
    assert_eq!(locations().await, 1, "another boat sails");
    assert_eq!(world.searches(search_body(1)).await.len(), 1);
}

async fn a_boat_that_does_not_suit_is_refused(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 3).await;
    let swap =
        async |boat: &str| world.updates_sailing(&sailing, json!({ "speedboat_id": boat })).await;
    let foreign = world.active_partner("other@bahari.id").await;
    let theirs = world.adds_boat(&foreign, "GT. 9").await;
    swap(&theirs).await.has_field_errors(&[("speedboat_id", "unknown")]);
    swap(&sailing.id).await.has_field_errors(&[("speedboat_id", "unknown")]);
    let idle = json!({ "status": "maintenance" });
    let idle = world.adds_boat_with(&sailing.partner, "GT. 2", idle).await;
    swap(&idle).await.has_field_errors(&[("speedboat_id", "not_active")]);
    let deleted = world.adds_boat(&sailing.partner, "GT. 3").await;
    let path = format!("/v1/speedboats/{deleted}");
    world.delete(&path).by(&sailing.partner).send().await.ok();
    swap(&deleted).await.has_field_errors(&[("speedboat_id", "unknown")]);
    let small = json!({ "capacity": 2 });
    let small = world.adds_boat_with(&sailing.partner, "GT. 4", small).await;
    let refused = swap(&small).await.is(409, "in_use");
    assert_eq!(refused["data"], json!({ "seats_taken": 3, "capacity": 2 }));
    let (busy, theirs) = world.creates_published_route(&sailing.partner, "GT. 5").await;
    let refused = swap(&busy).await.is(409, "schedule_conflict");
    let there = world.sailings(&sailing.partner, &theirs).await[0]["id"].clone();
    assert_eq!(refused["data"]["conflicts_with"]["id"], there);
    // At another time it is free.
    let body = json!({ "speedboat_id": busy, "departure_time": "08:45", "reason": "x" });
    assert_eq!(world.updates_sailing(&sailing, body).await.ok()["speedboat_id"], json!(busy));
    // A boat with swapped sailings is in use.
    let path = format!("/v1/speedboats/{busy}");
    world.delete(&path).by(&sailing.partner).send().await.is(409, "in_use");
    let mut smaller = boat("GT. 5");
    smaller["capacity"] = json!(2);
    world.put(&path, smaller).by(&sailing.partner).send().await.is(409, "in_use");
    assert_invariants(&world).await;
}

async fn a_charter_gets_no_smaller_boat(world: World) {
    let sailing = world.sailing().await;
    let whole = world.books(charter(&sailing, 5, "sari@example.com")).await.ok();
    world.pays(&whole).await;
    let small = json!({ "capacity": 29 });
    let small = world.adds_boat_with(&sailing.partner, "GT. 2", small).await;
    let body = json!({ "speedboat_id": small });
    let refused = world.updates_sailing(&sailing, body).await.is(409, "in_use");
    assert_eq!(refused["data"]["seats_taken"], 30);
    let large = json!({ "capacity": 50 });
    let large = world.adds_boat_with(&sailing.partner, "GT. 3", large).await;
    world.updates_sailing(&sailing, json!({ "speedboat_id": large })).await.ok();
    assert_eq!(world.looks_up(&whole).await["item_id"], json!(large));
    assert_eq!(world.looks_up(&whole).await["price"]["total"], 30 * 150_000);
    assert!(world.searches(search_body(1)).await.is_empty(), "the whole boat is theirs");
    let sailing = Sailing { boat: large, ..sailing };
    world.books(order(&sailing, 1, "budi@example.com")).await.is(409, "sold_out");
    assert_invariants(&world).await;
}

async fn another_boat_races_with_the_last_seats(world: World) {
    let sailing = world.sailing().await;
    let small = json!({ "capacity": 8 });
    let small = world.adds_boat_with(&sailing.partner, "GT. 2", small).await;
    let on_small = Sailing { boat: small.clone(), ..sailing.clone() };
    let books = join_all((0..16).map(|n| {
        let email = format!("guest{n}@example.com");
        let sailing = if n % 2 == 0 { &sailing } else { &on_small };
        world.books(order(sailing, 1, &email))
    }));
    let swap = world.updates_sailing(&sailing, json!({ "speedboat_id": small }));
    let (booked, swapped) = tokio::join!(books, swap);
    assert!([200, 409].contains(&swapped.status), "{}", swapped.body);
    let capacity = if swapped.status == 200 { 8 } else { 30 };
    let sold = booked.iter().filter(|answer| answer.status == 200).count() as i64;
    for answer in booked {
        assert!([200, 409, 422].contains(&answer.status), "{}", answer.body);
    }
    assert_eq!(world.seats_taken(&sailing).await, sold);
    assert!(sold <= capacity, "{sold} of {capacity}");
    let over = "SELECT COUNT(*) FROM sailings WHERE seats_taken > capacity";
    assert_eq!(world.count(over).await, 0);
    assert_invariants(&world).await;
}

async fn one_boat_is_taken_by_one_of_two_sailings(world: World) {
    let sailing = world.sailing().await;
    let (second, theirs) = world.creates_published_route(&sailing.partner, "GT. 2").await;
    let second = Sailing { boat: second, ..sailing.clone() };
    let second = world.three_days(&second, &theirs).await;
    for (day, second) in second.iter().enumerate().take(2) {
        let free = world.adds_boat(&sailing.partner, &format!("GT. F{day}")).await;
        let route = world.route_of(&sailing).await;
        let first = &world.three_days(&sailing, &route).await[day];
        let body = json!({ "speedboat_id": free });
        let (one, other) = tokio::join!(
            world.updates_sailing(first, body.clone()),
            world.updates_sailing(second, body.clone()),
        );
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        let refused = if one.status == 409 { one } else { other };
        refused.is(409, "schedule_conflict");
    }
    // Both routes at once want the same boat for all of their days.
    let free = world.adds_boat(&sailing.partner, "GT. F9").await;
    let route = world.route_of(&sailing).await;
    let body = all_days(json!({ "speedboat_id": free }));
    let (one, other) = tokio::join!(
        world.updates_sailings(&sailing.partner, &route, body.clone()),
        world.updates_sailings(&sailing.partner, &theirs, body.clone()),
    );
    let (one, other) = (one.ok(), other.ok());
    let count = |answer: &Value| answer["changed"].as_i64().unwrap();
    assert_eq!(count(&one) + count(&other), 3, "{one} {other}");
    assert_invariants(&world).await;
}

/// 48 departures a day.
fn busy_route(boat: &str, end_date: &str) -> Value {
    let mut busy = route(boat);
    busy["end_date"] = json!(end_date);
    let time = |minute: usize| format!("{:02}:{:02}", minute / 60, minute % 60);
    busy["times"] = (0..48)
        .map(|n| json!({ "departure_time": time(30 * n), "arrival_time": time(30 * n + 20) }))
        .collect();
    busy
}

async fn thousands_of_prices_change_in_a_few_statements(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let route = world.creates_route(&partner, busy_route(&boat, "2027-02-23")).await;
    world.publishes_route(&partner, &route).await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 4_800);
    let change =
        |set: Value| json!({ "start_date": "2026-11-16", "end_date": "2027-02-23", "set": set });
    let few = async |set: Value, most: u64| {
        let before = world.app.db.statements();
        let done = world.updates_sailings(&partner, &route, change(set)).await.ok();
        let statements = world.app.db.statements() - before;
        assert!(statements <= most, "{statements} statements");
        (done["changed"].as_i64().unwrap(), done["skipped_count"].as_i64().unwrap())
    };
    assert_eq!(few(json!({ "price": 175_000 }), 10).await, (4_800, 0));
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE price = 175000").await, 4_800);
    assert_eq!(world.searches(search_body(1)).await[0]["price"], 175_000);
    assert_eq!(few(json!({ "price": 175_000 }), 10).await, (0, 0), "once is enough");
    let other = world.adds_boat(&partner, "GT. 2").await;
    assert_eq!(few(json!({ "speedboat_id": other, "price": 180_000 }), 20).await, (4_800, 0));
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE price = 180000").await, 4_800);
    // All at the same time of a day: only the one that departs then anyway has room.
    assert_eq!(few(json!({ "departure_time": "00:25" }), 20).await, (100, 4_700));
    let path = format!("/v1/mitra/speedboat-routes/{route}/sailings");
    let body = change(json!({ "departure_time": "00:25" }));
    let done = world.call(Method::PATCH, &path).json(body).by(&partner).send().await.ok();
    assert_eq!(done["skipped"].as_array().unwrap().len(), 500);
    assert_eq!(done["skipped"][0]["reason"], "schedule_conflict");
    assert_eq!(few(json!({ "withdraw": true }), 10).await, (4_800, 0));
    assert_eq!(world.count("SELECT COUNT(*) FROM sailing_changes").await, 0);
    assert_invariants(&world).await;
}

async fn prices_change_on_some_days_and_times(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut plan = route(&boat);
    plan["end_date"] = json!("2026-11-29");
    plan["times"] = json!([
        { "departure_time": "06:30", "arrival_time": "07:15" },
        { "departure_time": "17:00", "arrival_time": "17:45" },
    ]);
    let route = world.creates_route(&partner, plan).await;
    world.publishes_route(&partner, &route).await.ok();
    let mut body = json!({
        "start_date": "2026-11-20", "end_date": "2026-11-29", "days": ["fri", "sun"],
        "departure_times": ["17:00"], "set": { "price": 250_000 },
    });
    // The 20th and 27th are Fridays, the 22nd and 29th Sundays.
    let done = world.updates_sailings(&partner, &route, body.clone()).await.ok();
    assert_eq!(done, json!({ "changed": 4, "unchanged": 0, "skipped": [], "skipped_count": 0 }));
    let dear = |row: &&Value| row["price"] == 250_000;
    let rows = world.sailings(&partner, &route).await;
    let when: Vec<_> = rows.iter().filter(dear).map(|row| row["departure_at"].clone()).collect();
    assert_eq!(
        json!(when),
        json!([
            "2026-11-20T09:00:00Z",
            "2026-11-22T09:00:00Z",
            "2026-11-27T09:00:00Z",
            "2026-11-29T09:00:00Z"
        ])
    );
    // A morning in the east of Indonesia is the evening before in UTC.
    body["departure_times"] = json!(["06:30"]);
    body["days"] = json!(["mon"]);
    let done = world.updates_sailings(&partner, &route, body.clone()).await.ok();
    assert_eq!(done["changed"], 1);
    let rows = world.sailings(&partner, &route).await;
    let mondays = rows.iter().filter(|row| row["departure_at"] == "2026-11-22T22:30:00Z");
    assert_eq!(mondays.map(|row| row["price"].clone()).collect::<Vec<_>>(), [json!(250_000)]);
    body["departure_times"] = json!(["06:31"]);
    assert_eq!(world.updates_sailings(&partner, &route, body.clone()).await.ok()["changed"], 0);
    let foreign = world.active_partner("other@bahari.id").await;
    world.updates_sailings(&foreign, &route, body.clone()).await.is(404, "not_found");
    let desk = world.staff("desk@dermaga.test", &[RoutesRead]).await;
    world.updates_sailings(&desk, &route, body.clone()).await.is(403, "forbidden");
    let admin = world.admin().await;
    body["departure_times"] = json!(["17:00"]);
    assert_eq!(world.updates_sailings(&admin, &route, body).await.ok()["changed"], 1);
    let log = "/v1/audit-logs?action=route.sailings_changed";
    let log = world.get(log).by(&admin).send().await.ok();
    assert_eq!(log[0]["after"]["changed"], 1);
    assert_eq!(log[0]["after"]["set"]["price"], 250_000);
}

async fn a_bulk_change_of_times_tells_each_booker_once(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let first = world.paid_booking(&days[0], 2).await;
    let second = world.books(order(&days[1], 1, "budi@example.com")).await.ok();
    world.delivers_outbox().await;
    let mut body = all_days(json!({ "departure_time": "09:00", "price": 170_000 }));
    let refused = world.updates_sailings(&sailing.partner, &route, body.clone()).await;
    refused.has_field_errors(&[("reason", "required")]);
    body["reason"] = json!("Low tide");
    let done = world.updates_sailings(&sailing.partner, &route, body.clone()).await.ok();
    assert_eq!((&done["changed"], &done["skipped_count"]), (&json!(3), &json!(0)));
    for (booking, day) in [(&first, "16"), (&second, "17")] {
        let seen = world.looks_up(booking).await;
        assert_eq!(seen["sailing"]["departure_at"], format!("2026-11-{day}T01:00:00Z"));
        assert_eq!(seen["sailing"]["arrival_at"], format!("2026-11-{day}T01:45:00Z"));
        assert_eq!(seen["price"]["unit_price"], 150_000);
    }
    let again = world.updates_sailings(&sailing.partner, &route, body).await.ok();
    assert_eq!((&again["changed"], &again["unchanged"]), (&json!(0), &json!(3)));
    world.delivers_outbox().await;
    for email in ["sari@example.com", "budi@example.com"] {
        assert_eq!(world.letters_that_say(email, "Your sailing has a new time"), 1, "{email}");
        assert_eq!(world.letters_that_say(email, "Low tide"), 1, "{email}");
    }
    let told = world.get("/v1/notifications?page_size=100").by(&sailing.partner).send().await.ok();
    let moves = told.as_array().unwrap().iter().filter(|one| one["type"] == "sailing.moved");
    assert_eq!(moves.count(), 2, "the third has no bookings");
    assert_eq!(world.searches(search_body(1)).await[0]["departure_at"], "2026-11-16T01:00:00Z");
    // An hour entitles to a full refund.
    let path = format!("/v1/booking/{}/cancel", first["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": first["code"], "email": "sari@example.com" });
    assert_eq!(world.post(&path, knows).send().await.ok()["refund_amount"], 300_000);
    assert_invariants(&world).await;
}

async fn a_bulk_change_of_boats_skips_what_does_not_fit(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let many = world.paid_booking(&days[0], 6).await;
    let few = world.paid_booking(&days[1], 2).await;
    world.delivers_outbox().await;
    let small = json!({ "name": "Camar", "capacity": 5 });
    let small = world.adds_boat_with(&sailing.partner, "GT. 2", small).await;
    // On the third day it is elsewhere.
    let mut elsewhere = crate::harbour::route(&small);
    (elsewhere["start_date"], elsewhere["end_date"]) = (json!("2026-11-18"), json!("2026-11-18"));
    let elsewhere = world.creates_route(&sailing.partner, elsewhere).await;
    world.publishes_route(&sailing.partner, &elsewhere).await.ok();
    let swap = all_days(json!({ "speedboat_id": small }));
    let done = world.updates_sailings(&sailing.partner, &route, swap.clone()).await.ok();
    assert_eq!(done["changed"], 1);
    assert_eq!(
        done["skipped"],
        json!([
            { "route_time_id": days[0].id, "reason": "in_use" },
            { "route_time_id": days[2].id, "reason": "schedule_conflict" },
        ])
    );
    assert_eq!(world.looks_up(&few).await["item_id"], json!(small));
    assert_eq!(world.looks_up(&many).await["item_id"], json!(sailing.boat));
    world.delivers_outbox().await;
    assert_eq!(world.letters_that_say("sari@example.com", "operated by Camar"), 1);
    // Times of sailings on two boats.
    let mut later = all_days(json!({ "departure_time": "08:20" }));
    later["reason"] = json!("x");
    let done = world.updates_sailings(&sailing.partner, &route, later).await.ok();
    assert_eq!((&done["changed"], &done["skipped_count"]), (&json!(3), &json!(0)));
    let foreign = world.active_partner("other@bahari.id").await;
    let theirs = world.adds_boat(&foreign, "GT. 9").await;
    let body = all_days(json!({ "speedboat_id": theirs }));
    let refused = world.updates_sailings(&sailing.partner, &route, body).await;
    refused.has_field_errors(&[("set.speedboat_id", "unknown")]);
    let idle = json!({ "status": "inactive" });
    let idle = world.adds_boat_with(&sailing.partner, "GT. 3", idle).await;
    let body = all_days(json!({ "speedboat_id": idle }));
    let refused = world.updates_sailings(&sailing.partner, &route, body).await;
    refused.has_field_errors(&[("set.speedboat_id", "not_active")]);
    assert_invariants(&world).await;
}

/// PostgreSQL locks rows: the bookings of sailings that keep their time and boat are not waited for.
async fn a_bulk_change_waits_for_its_own_bookings_only(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let booked = world.paid_booking(&days[0], 2).await;
    world.paid_booking(&days[1], 2).await;
    let other = world.adds_boat(&sailing.partner, "GT. 2").await;
    world.updates_sailing(&days[0], json!({ "speedboat_id": other })).await.ok();
    let id: dermaga::kernel::ids::Uuid = booked["id"].as_str().unwrap().parse().unwrap();
    let held = match world.url() {
        Some(_) => {
            let mut tx = world.db().begin().await.unwrap();
            let lock = tx.sql("UPDATE bookings SET updated_at = updated_at WHERE id = $1");
            assert_eq!(lock.bind(id).run().await.unwrap(), 1);
            Some(tx)
        }
        None => None,
    };
    let change = async |days: Value, set: Value| {
        let mut body = all_days(set);
        (body["days"], body["reason"]) = (days, json!("Tide"));
        let done = world.updates_sailings(&sailing.partner, &route, body).await.ok();
        [done["changed"].clone(), done["skipped_count"].clone()]
    };
    // The 16th is a Monday.
    let others = change(json!(["tue", "wed"]), json!({ "departure_time": "09:00" })).await;
    assert_eq!(others, [2, 0]);
    // It has the boat already, and gets the price.
    let set = json!({ "speedboat_id": other, "price": 175_000 });
    assert_eq!(change(json!(["mon", "tue", "wed"]), set).await, [3, 0]);
    drop(held);
    let prices = "SELECT COUNT(*) FROM sailings WHERE price = 175000";
    assert_eq!(world.count(prices).await, 3);
    assert_eq!(change(json!(["mon"]), json!({ "departure_time": "10:00" })).await, [1, 0]);
    assert_invariants(&world).await;
}

async fn sold_sailings_are_not_withdrawn(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let booking = world.books(order(&days[1], 1, "sari@example.com")).await.ok();
    let body = all_days(json!({ "withdraw": true }));
    let done = world.updates_sailings(&sailing.partner, &route, body.clone()).await.ok();
    assert_eq!(
        done,
        json!({
            "changed": 2, "unchanged": 0, "skipped_count": 1,
            "skipped": [{ "route_time_id": days[1].id, "reason": "in_use" }],
        })
    );
    assert!(world.searches(search_body(1)).await.is_empty());
    world.books(order(&days[0], 1, "budi@example.com")).await.is(409, "booking_closed");
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let knows = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
    world.post(&cancel, knows).send().await.ok();
    let again = world.updates_sailings(&sailing.partner, &route, body).await.ok();
    assert_eq!((&again["changed"], &again["unchanged"]), (&json!(1), &json!(2)));
    // Today's have departed.
    let soon = world.adds_boat(&sailing.partner, "GT. 2").await;
    let soon = world.creates_route(&sailing.partner, route_soon(&soon)).await;
    world.publishes_route(&sailing.partner, &soon).await.ok();
    world.advances_clock(TimeDelta::hours(3));
    let body = json!({
        "start_date": "2026-11-15", "end_date": "2026-11-15", "set": { "withdraw": true },
    });
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let done = world.updates_sailings(&partner, &soon, body).await.ok();
    assert_eq!(done["skipped"][0]["reason"], "departed");
    assert_invariants(&world).await;
}

async fn a_withdrawal_races_with_sales(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let sells = join_all((0..12).map(|n| {
        let email = format!("guest{n}@example.com");
        world.books(order(&days[n % 3], 1, &email))
    }));
    let body = all_days(json!({ "withdraw": true }));
    let withdraws = world.updates_sailings(&sailing.partner, &route, body);
    let (sold, done) = tokio::join!(sells, withdraws);
    let done = done.ok();
    let withdrawn = "SELECT COUNT(*) FROM sailings WHERE status = 'withdrawn'";
    assert_eq!(json!(world.count(withdrawn).await), done["changed"]);
    let both = "SELECT COUNT(*) FROM sailings WHERE status = 'withdrawn' AND seats_taken > 0";
    assert_eq!(world.count(both).await, 0);
    let mut seats = 0;
    for answer in sold {
        match answer.status {
            200 => seats += 1,
            _ => drop(
                answer.body["error"]
                    .as_str()
                    .filter(|word| ["booking_closed", "sold_out"].contains(word))
                    .expect("the sailing is closed"),
            ),
        }
    }
    let taken = "SELECT CAST(SUM(seats_taken) AS BIGINT) FROM sailings";
    assert_eq!(world.count(taken).await, seats);
    assert_invariants(&world).await;
}

async fn bulk_changes_race_with_bookings_and_one_another(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let other = world.adds_boat(&sailing.partner, "GT. 2").await;
    let mut bookings = Vec::new();
    for n in 0..6 {
        bookings.push(world.paid_booking(&days[n % 3], 1).await);
    }
    let leaves = join_all(bookings.iter().take(3).map(|booking| {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
        world.post(&path, knows).send_with_retry()
    }));
    let moves = join_all(
        bookings
            .iter()
            .skip(3)
            .enumerate()
            .map(|(n, booking)| world.requests_reschedule(booking, &days[(n + 1) % 3])),
    );
    let books = join_all((0..9).map(|n| {
        let email = format!("guest{n}@example.com");
        world.books(order(&days[n % 3], 1, &email))
    }));
    let changes = [
        json!({ "departure_time": "09:00" }),
        json!({ "speedboat_id": other }),
        json!({ "price": 160_000 }),
        json!({ "departure_time": "09:30", "speedboat_id": sailing.boat }),
    ];
    let changes = join_all(changes.into_iter().map(|set| {
        let mut body = all_days(set);
        body["reason"] = json!("x");
        world.updates_sailings(&sailing.partner, &route, body)
    }));
    let (left, moved, booked, changed) = tokio::join!(leaves, moves, books, changes);
    for answer in changed {
        assert_eq!(answer.ok()["skipped_count"], 0);
    }
    for answer in left.into_iter().chain(moved).chain(booked) {
        // A boat that was changed meanwhile is not the one that was asked for.
        assert!([200, 409, 422].contains(&answer.status), "{}", answer.body);
    }
    let prices = "SELECT COUNT(*) FROM sailings WHERE price <> 160000";
    assert_eq!(world.count(prices).await, 0);
    assert_invariants(&world).await;
}

async fn nonsense_is_named(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let with = |change: Value| {
        let mut body = all_days(json!({ "price": 200_000 }));
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body
    };
    let many: Vec<_> = (0..10_000).map(|n| format!("{:02}:{:02}", n % 24, n % 60)).collect();
    for (change, field, rule) in [
        (json!({ "start_date": "2020-01-01" }), "end_date", "max_days"),
        (json!({ "start_date": "0000-01-01", "end_date": "9999-12-31" }), "end_date", "max_days"),
        (json!({ "start_date": "9999-12-31", "end_date": "9999-12-31" }), "end_date", "max"),
        (json!({ "start_date": "2026-11-19" }), "end_date", "order"),
        (json!({ "start_date": "soon" }), "start_date", "format"),
        (json!({ "departure_times": many }), "departure_times", "max_items"),
        (json!({ "departure_times": [] }), "departure_times", "min_items"),
        (json!({ "departure_times": ["25:00"] }), "departure_times[0]", "format"),
        (json!({ "days": ["mon", "mon"] }), "days", "unique"),
        (json!({ "days": ["someday"] }), "days[0]", "enum"),
        (json!({ "set": {} }), "set", "required"),
        (json!({ "set": { "colour": "red" } }), "set", "required"),
        (json!({ "set": { "withdraw": false } }), "set", "required"),
        (json!({ "set": { "withdraw": true, "price": 200_000 } }), "set.withdraw", "alone"),
        (json!({ "set": { "price": 0 } }), "set.price", "min"),
        (json!({ "set": [] }), "set", "type"),
    ] {
        let refused = world.updates_sailings(&sailing.partner, &route, with(change)).await;
        let faults = refused.field_errors();
        assert_eq!(faults, [(field.to_owned(), rule.to_owned())], "{rule}");
    }
    // What nobody knows is ignored.
    let body = with(json!({ "colour": "red", "status": "cancelled" }));
    assert_eq!(world.updates_sailings(&sailing.partner, &route, body).await.ok()["changed"], 3);
    for body in [json!({}), json!({ "end_date": "soon" }), json!({ "end_date": 7 })] {
        let path = format!("/v1/mitra/speedboat-routes/{route}/extend");
        let refused = world.post(&path, body).by(&sailing.partner).send().await;
        assert_eq!(refused.field_errors()[0].0, "end_date");
    }
    let path = format!("/v1/mitra/route-times/{}/manifest/reopen", sailing.id);
    for body in [json!({}), json!({ "reason": " " })] {
        let refused = world.post(&path, body).by(&sailing.partner).send().await;
        assert_eq!(refused.field_errors()[0].0, "reason");
    }
    // A draft has no sailings.
    let boat = world.adds_boat(&sailing.partner, "GT. 2").await;
    let draft = world.creates_route(&sailing.partner, crate::harbour::route(&boat)).await;
    let done = world.updates_sailings(&sailing.partner, &draft, with(json!({}))).await.ok();
    assert_eq!((&done["changed"], &done["skipped_count"]), (&json!(0), &json!(0)));
}

async fn a_route_is_extended(world: World) {
    let sailing = world.sailing().await;
    let partner = &sailing.partner;
    let route = world.route_of(&sailing).await;
    // What was changed on sailings is not of the route.
    world.updates_sailings(partner, &route, all_days(json!({ "price": 200_000 }))).await.ok();
    let search = |day: &str| {
        let mut search = search_body(1);
        search["date"] = json!(day);
        search
    };
    assert!(world.searches(search("2026-11-20")).await.is_empty());
    let extended = world.extends_route(partner, &route, "2026-11-20").await.ok();
    assert_eq!(
        (&extended["start_date"], &extended["end_date"]),
        (&json!("2026-11-16"), &json!("2026-11-20"))
    );
    let rows = world.sailings(partner, &route).await;
    let days: Vec<_> = rows.iter().map(|row| row["departure_at"].as_str().unwrap()).collect();
    assert_eq!(days[2..], ["2026-11-18T00:00:00Z", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z"]);
    assert_eq!((&rows[2]["price"], &rows[3]["price"]), (&json!(200_000), &json!(150_000)));
    assert_eq!(world.searches(search("2026-11-20")).await.len(), 1, "at once");
    assert_eq!(world.extends_route(partner, &route, "2026-11-20").await.ok(), extended);
    assert_eq!(world.sailings(partner, &route).await.len(), 5, "once is enough");
    for (end, rule) in
        [("2026-11-19", "order"), ("2027-11-17", "max_days"), ("9999-12-31", "max_days")]
    {
        let refused = world.extends_route(partner, &route, end).await;
        refused.has_field_errors(&[("end_date", rule)]);
    }
    let foreign = world.active_partner("other@bahari.id").await;
    world.extends_route(&foreign, &route, "2026-11-21").await.is(404, "not_found");
    // The boat is elsewhere on the 22nd: all or none.
    let mut elsewhere = crate::harbour::route(&sailing.boat);
    (elsewhere["start_date"], elsewhere["end_date"]) = (json!("2026-11-22"), json!("2026-11-22"));
    let elsewhere = world.creates_route(partner, elsewhere).await;
    world.extends_route(partner, &elsewhere, "2026-11-23").await.is(409, "invalid_state");
    world.publishes_route(partner, &elsewhere).await.ok();
    let refused = world.extends_route(partner, &route, "2026-11-25").await;
    let refused = refused.is(409, "schedule_conflict");
    assert_eq!(refused["data"]["conflicts_with"]["departure_at"], "2026-11-22T00:00:00Z");
    assert_eq!(world.sailings(partner, &route).await.len(), 5);
    world.extends_route(partner, &route, "2026-11-21").await.ok();
    // A single trip stays one.
    let boat = world.adds_boat(partner, "GT. 2").await;
    let mut once = crate::harbour::route(&boat);
    (once["schedule_type"], once["end_date"]) = (json!("once"), json!("2026-11-16"));
    let once = world.creates_route(partner, once).await;
    world.publishes_route(partner, &once).await.ok();
    let refused = world.extends_route(partner, &once, "2026-11-17").await;
    refused.has_field_errors(&[("end_date", "once")]);
    // Weeks later, and for the days to come only.
    world.advances_clock(TimeDelta::days(30));
    let partner = world.signs_in(&partner.email, "mitra").await;
    let mut idle = crate::harbour::boat("GT. 1");
    idle["status"] = json!("maintenance");
    let path = format!("/v1/speedboats/{}", sailing.boat);
    world.put(&path, idle.clone()).by(&partner).send().await.ok();
    let refused = world.extends_route(&partner, &elsewhere, "2026-12-20").await;
    refused.has_field_errors(&[("speedboat_id", "not_active")]);
    idle["status"] = json!("active");
    world.put(&path, idle).by(&partner).send().await.ok();
    world.extends_route(&partner, &elsewhere, "2026-12-20").await.ok();
    let rows = world.sailings(&partner, &elsewhere).await;
    assert_eq!(rows.len(), 1 + 5, "from the 16th on");
    let path = format!("/v1/mitra/speedboat-routes/{elsewhere}");
    world.delete(&path).by(&partner).send().await.ok();
    world.extends_route(&partner, &elsewhere, "2026-12-24").await.is(409, "invalid_state");
    assert_invariants(&world).await;
}

/// A route whose sailings other boats have taken over survives its boat.
async fn a_route_goes_on_without_its_boat(world: World) {
    let sailing = world.sailing().await;
    let partner = &sailing.partner;
    let route = world.route_of(&sailing).await;
    let days = world.three_days(&sailing, &route).await;
    let other = world.adds_boat_with(partner, "GT. 2", json!({ "name": "Camar" })).await;
    for day in &days[1..] {
        world.updates_sailing(day, json!({ "speedboat_id": other })).await.ok();
    }
    let booking = world.paid_booking(&Sailing { boat: other.clone(), ..days[1].clone() }, 2).await;
    // A second route of the boat, and a draft, which nothing else sails.
    let mut later = crate::harbour::route(&sailing.boat);
    (later["start_date"], later["end_date"]) = (json!("2026-11-25"), json!("2026-11-26"));
    let draft = world.creates_route(partner, later.clone()).await;
    let later = world.creates_route(partner, later).await;
    world.publishes_route(partner, &later).await.ok();
    let path = format!("/v1/speedboats/{}", sailing.boat);
    world.delete(&path).by(partner).send().await.ok();
    let status = async |route: &str| {
        let route = world.get(&format!("/v1/mitra/speedboat-routes/{route}")).by(partner);
        route.send().await.ok()["status"].as_str().unwrap().to_owned()
    };
    for (route, expected) in [(&route, "published"), (&later, "archived"), (&draft, "archived")] {
        assert_eq!(status(route).await, expected);
    }
    let rows = world.sailings(partner, &route).await;
    let statuses: Vec<_> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["withdrawn", "open", "open"]);
    assert_eq!(world.looks_up(&booking).await["item_id"], json!(other));
    let locations = world.get("/v1/speedboats/locations").send().await.ok();
    assert_eq!(locations.as_array().unwrap().len(), 1);
    // It goes on with a boat that is stated.
    let extend = async |boat: Option<&str>| {
        let path = format!("/v1/mitra/speedboat-routes/{route}/extend");
        let body = json!({ "end_date": "2026-11-20", "speedboat_id": boat });
        world.post(&path, body).by(partner).send_with_retry().await
    };
    extend(None).await.has_field_errors(&[("speedboat_id", "not_active")]);
    let refused = extend(None).await.body.to_string();
    assert!(refused.contains("Bahari Express"), "it is named: {refused}");
    extend(Some(&sailing.boat)).await.has_field_errors(&[("speedboat_id", "unknown")]);
    let foreign = world.active_partner("other@bahari.id").await;
    let theirs = world.adds_boat(&foreign, "GT. 9").await;
    extend(Some(&theirs)).await.has_field_errors(&[("speedboat_id", "unknown")]);
    let idle = world.adds_boat_with(partner, "GT. 3", json!({ "status": "inactive" })).await;
    extend(Some(&idle)).await.has_field_errors(&[("speedboat_id", "not_active")]);
    let busy = world.adds_boat(partner, "GT. 4").await;
    let mut elsewhere = crate::harbour::route(&busy);
    (elsewhere["start_date"], elsewhere["end_date"]) = (json!("2026-11-19"), json!("2026-11-19"));
    let elsewhere = world.creates_route(partner, elsewhere).await;
    world.publishes_route(partner, &elsewhere).await.ok();
    extend(Some(&busy)).await.is(409, "schedule_conflict");
    assert_eq!(world.sailings(partner, &route).await.len(), 3);
    let extended = extend(Some(&other)).await.ok();
    assert_eq!(
        (&extended["speedboat_id"], &extended["end_date"]),
        (&json!(other), &json!("2026-11-20"))
    );
    assert_eq!(world.sailings(partner, &route).await.len(), 5);
    let mut search = search_body(1);
    search["date"] = json!("2026-11-20");
    assert_eq!(world.searches(search).await[0]["item_id"], json!(other));
    // From then on it is the boat of the route.
    world.extends_route(partner, &route, "2026-11-21").await.ok();
    assert_invariants(&world).await;
}

async fn a_route_is_extended_once_by_two(world: World) {
    let sailing = world.sailing().await;
    let route = world.route_of(&sailing).await;
    let ends = ["2026-11-30", "2026-11-30", "2026-11-25", "2026-11-30"];
    let asks = ends.map(|end| world.extends_route(&sailing.partner, &route, end));
    for (end, answer) in ends.into_iter().zip(join_all(asks).await) {
        match end {
            "2026-11-30" => assert_eq!(answer.ok()["end_date"], end),
            // Before the others, or too late.
            _ => assert!([200, 422].contains(&answer.status), "{}", answer.body),
        }
    }
    assert_eq!(world.sailings(&sailing.partner, &route).await.len(), 15);
    assert_invariants(&world).await;
}

async fn a_manifest_is_not_closed_too_early(world: World) {
    let sailing = world.sailing().await;
    let held = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/mitra/route-times/{}/manifest/close", sailing.id);
    let close = |by: &Someone| world.post(&path, json!({})).by(by).send();
    let refused = close(&sailing.partner).await.is(409, "too_early");
    assert_eq!(refused["data"], json!({ "opens_at": "2026-11-15T21:00:00Z" }));
    close(&world.admin().await).await.is(409, "too_early");
    assert_eq!(world.looks_up(&held).await["status"], "pending_payment", "nothing has changed");
    world.advances_clock(TimeDelta::hours(18) - TimeDelta::seconds(1));
    let sailing = world.with_new_session(sailing).await;
    close(&sailing.partner).await.is(409, "too_early");
    world.advances_clock(TimeDelta::seconds(1));
    close(&sailing.partner).await.ok();
    assert_invariants(&world).await;
}

async fn a_manifest_is_opened_again_until_departure(world: World) {
    let sailing = world.sailing_soon().await;
    world.paid_booking(&sailing, 2).await;
    let codes = world.ticket_codes(&sailing).await;
    assert_eq!(world.reopens_manifest(&sailing).await.ok()["closed_at"], json!(null), "is open");
    world.closes_manifest(&sailing).await.ok();
    let scans = json!({ "scans": [
        { "scan_id": "a", "ticket_code": codes[0], "scanned_at": "2026-11-15T03:00:00Z" },
    ] });
    let pier = format!("/v1/mitra/route-times/{}", sailing.id);
    let scan = async || {
        let call = world.post(&format!("{pier}/check-in"), scans.clone()).by(&sailing.partner);
        call.send().await.ok()["results"][0]["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(scan().await, "manifest_closed");
    world.books(order(&sailing, 1, "budi@example.com")).await.is(409, "booking_closed");

    let foreign = world.active_partner("other@bahari.id").await;
    let path = format!("{pier}/manifest/reopen");
    let reason = json!({ "reason": "A late bus" });
    world.post(&path, reason.clone()).by(&foreign).send().await.is(404, "not_found");
    let desk = world.staff("desk@dermaga.test", &[RoutesWrite]).await;
    world.post(&path, reason.clone()).by(&desk).send().await.is(403, "forbidden");
    let desk = world.staff("helper@dermaga.test", &[BookingsWrite, AuditRead]).await;
    world.post(&path, reason.clone()).by(&desk).send().await.ok();
    let log = world.get("/v1/audit-logs?action=manifest.reopened").by(&desk).send().await.ok();
    assert_eq!(log[0]["after"]["reopen_reason"], "A late bus");
    assert_eq!(log[0]["before"]["manifest_closed_at"], "2026-11-15T03:00:00Z");
    assert_eq!(log[0]["after"]["manifest_closed_at"], json!(null));

    assert_eq!(world.manifest(&sailing).await["closed_at"], json!(null));
    assert_eq!(scan().await, "boarded", "handed in again");
    let late = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    world.pays(&late).await;
    let closed = world.closes_manifest(&sailing).await.ok();
    assert_eq!(closed["totals"]["passengers"], 3, "a new list");
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.post(&path, reason.clone()).by(&crew).send().await.ok();
    world.closes_manifest(&sailing).await.ok();
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::minutes(150) - TimeDelta::seconds(1));
    let sailing = world.with_new_session(sailing).await;
    world.reopens_manifest(&sailing).await.ok();
    world.closes_manifest(&sailing).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    world.reopens_manifest(&sailing).await.is(409, "departed");
    assert!(world.manifest(&sailing).await["closed_at"].is_string(), "it stays closed");
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.reopens_manifest(&sailing).await.is(409, "cancelled");
    assert_invariants(&world).await;
}

/// Whatever comes first: a closed manifest lists everyone who has paid.
async fn opening_a_manifest_races_with_closing_and_selling(world: World) {
    let sailing = world.sailing_soon().await;
    world.closes_manifest(&sailing).await.ok();
    let books = join_all((0..8).map(|n| {
        let email = format!("guest{n}@example.com");
        world.books(order(&sailing, 1, &email))
    }));
    let opens = join_all((0..3).map(|_| world.reopens_manifest(&sailing)));
    let closes = join_all((0..3).map(|_| world.closes_manifest(&sailing)));
    // The boat departs while they are at it.
    let departs = async {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        world.advances_clock(TimeDelta::minutes(119));
    };
    let (booked, opened, closed, ()) = tokio::join!(books, opens, closes, departs);
    for answer in opened.iter().chain(&closed) {
        assert!([200, 409, 401].contains(&answer.status), "{}", answer.body);
    }
    for answer in booked {
        assert!([200, 409].contains(&answer.status), "{}", answer.body);
    }
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::minutes(31));
    let sailing = world.with_new_session(sailing).await;
    let state = world.manifest(&sailing).await["closed_at"].clone();
    let last = world.reopens_manifest(&sailing).await;
    last.is(409, "departed");
    assert_eq!(world.manifest(&sailing).await["closed_at"], state);
    assert_invariants(&world).await;
}

async fn a_boat_on_sale_is_public(world: World) {
    let sailing = world.sailing().await;
    let partner = world.partner_id(&sailing.partner).await;
    let other = json!({ "name": "Camar", "capacity": 12, "facilities": [], "description": "" });
    let other = world.adds_boat_with(&sailing.partner, "GT. 2", other).await;
    let path = |boat: &str| format!("/v1/catalog/speedboats/{boat}");
    let shown = world.get(&path(&sailing.boat)).send().await.ok();
    assert_eq!(
        shown,
        json!({
            "id": sailing.boat, "name": "Bahari Express", "capacity": 30,
            "facilities": ["Life jackets", "Toilet"], "description": "Fast and dry", "photos": [],
            "mitra": { "id": partner, "name": "Made Bahari" },
        })
    );
    assert_eq!(world.get(&path(&other)).send().await.ok()["name"], "Camar", "each its own");
    let before = world.db().statements();
    for _ in 0..5 {
        assert_eq!(world.get(&path(&sailing.boat)).send().await.ok(), shown);
    }
    assert_eq!(world.db().statements(), before, "from the cache");
    let change = async |change: Value| {
        let mut body = boat("GT. 1");
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let path = format!("/v1/speedboats/{}", sailing.boat);
        world.put(&path, body).by(&sailing.partner).send().await.ok();
    };
    change(json!({ "name": "Ombak" })).await;
    assert_eq!(world.get(&path(&sailing.boat)).send().await.ok()["name"], "Ombak", "at once");
    change(json!({ "status": "maintenance" })).await;
    world.get(&path(&sailing.boat)).send().await.is(404, "not_found");
    change(json!({ "status": "active" })).await;
    let admin = world.admin().await;
    let desk = world.partner_path(&sailing.partner).await;
    world.post(&format!("{desk}/suspend"), json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.get(&path(&sailing.boat)).send().await.is(404, "not_found");
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    world.get(&path(&sailing.boat)).send().await.ok();
    let delete = format!("/v1/speedboats/{other}");
    world.delete(&delete).by(&admin).send().await.ok();
    for unknown in [other.as_str(), "rubbish", &sailing.id] {
        world.get(&path(unknown)).send().await.is(404, "not_found");
    }
    let fresh = world.partner("new@bahari.id").await;
    let unverified = world.adds_boat(&fresh, "GT. 8").await;
    world.get(&path(&unverified)).send().await.is(404, "not_found");
}
