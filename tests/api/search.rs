//! Search: exactly the bookable sailings.

use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::table::OfferChange;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, boat, order, route, search_body},
    on_both_engines,
    world::World,
};

on_both_engines![
    a_sailing_is_found_with_all_that_a_booking_needs,
    names_match_without_regard_to_case_accents_and_spaces,
    only_enough_free_seats_are_offered,
    a_charter_wants_an_empty_boat,
    the_cutoff_is_right_to_the_second,
    inactive_boats_and_partners_are_not_offered,
    the_return_journey_is_included,
    offers_are_sorted_and_paged,
    faults_are_named,
    harbours_are_listed_with_their_destinations,
    a_search_is_one_statement,
    a_response_is_cached_for_a_moment,
    a_response_ends_when_any_of_its_sailings_closes,
    a_hold_that_expires_invalidates_its_trip,
    a_sale_invalidates_its_trip,
    a_sale_invalidates_other_pages,
    a_released_seat_invalidates_responses_without_its_sailing,
    what_changes_no_offer_leaves_the_cache_in_place,
    what_changes_offers_invalidates_the_cache,
    a_move_is_seen_on_both_days,
    two_hundred_misses_cost_one_statement,
    searches_of_a_trip_share_what_was_read,
    a_response_ends_with_what_was_read_for_it,
    the_plan_of_a_search_does_not_depend_on_statistics,
    a_buyer_sees_the_sale_under_concurrent_searches,
    different_requests_have_different_cache_keys,
    every_operation_says_what_it_changes,
];

fn with(mut value: Value, changes: Value) -> Value {
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    value
}

async fn a_sailing_is_found_with_all_that_a_booking_needs(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (boat, id) = world.creates_published_route(&made, "GT. 1").await;
    let sailing = world.sailings(&made, &id).await.remove(0);
    let found = world.searches(search_body(2)).await;
    assert_eq!(
        found,
        [json!({
            "route_time_id": sailing["id"], "item_id": boat, "type": "speedboat",
            "from": "Sanur", "to": "Nusa Penida",
            "departure_at": "2026-11-16T00:00:00Z", "arrival_at": "2026-11-16T00:45:00Z",
            "duration_minutes": 45, "timezone": "Asia/Makassar", "arrival_timezone": "Asia/Makassar",
            "price": 150_000, "total_price": 300_000, "available_seats": 30,
            "fares": [{ "key": "adult", "price": 150_000, "takes_seat": true }],
            "speedboat": {
                "id": boat, "name": "Bahari Express", "capacity": 30,
                "facilities": ["Life jackets", "Toilet"], "photo_url": null,
            },
            "mitra": { "id": world.partner_id(&made).await, "name": "Made Bahari" },
        })]
    );
    let elsewhere = with(search_body(1), json!({ "from": "Nusa Penida", "to": "Sanur" }));
    assert!(world.searches(elsewhere).await.is_empty());
    assert!(world.searches(with(search_body(1), json!({ "date": "2026-11-19" }))).await.is_empty());
}

async fn names_match_without_regard_to_case_accents_and_spaces(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    for (from, to) in [(" sanur ", "NUSA  penida"), ("Sánur", "Nusa\u{a0}Pénida")] {
        let found = world.searches(with(search_body(1), json!({ "from": from, "to": to }))).await;
        assert_eq!(found.len(), 1, "{from} {to}");
        assert_eq!(found[0]["from"], "Sanur", "as it was written");
    }
    assert!(world.searches(with(search_body(1), json!({ "to": "Nusapenida" }))).await.is_empty());
    assert!(world.searches(with(search_body(1), json!({ "to": "Nusa%" }))).await.is_empty());
}

async fn only_enough_free_seats_are_offered(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (_, id) = world.creates_published_route(&made, "GT. 1").await;
    let sailing = world.sailings(&made, &id).await.remove(0);
    world.sets_seats_taken(&sailing, 27).await;
    assert_eq!(world.searches(search_body(3)).await[0]["available_seats"], 3);
    assert!(world.searches(search_body(4)).await.is_empty());
    world.sets_seats_taken(&sailing, 30).await;
    assert!(world.searches(search_body(1)).await.is_empty());
}

async fn a_charter_wants_an_empty_boat(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (_, id) = world.creates_published_route(&made, "GT. 1").await;
    let sailing = world.sailings(&made, &id).await.remove(0);
    let charter = |qty| with(search_body(qty), json!({ "type": "charter" }));
    let found = world.searches(charter(12)).await;
    assert_eq!(found[0]["type"], "charter");
    assert_eq!(found[0]["total_price"], 30 * 150_000, "the whole boat");
    assert!(world.searches(charter(31)).await.is_empty());
    world.sets_seats_taken(&sailing, 1).await;
    assert!(world.searches(charter(1)).await.is_empty());
    // A chartered sailing stays closed even if its boat grows.
    world.db().sql("UPDATE sailings SET chartered = TRUE, capacity = 40").run().await.unwrap();
    world.app.response_cache.invalidate_all();
    assert!(world.searches(search_body(1)).await.is_empty());
}

async fn the_cutoff_is_right_to_the_second(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
    world.advances_clock(departure - TimeDelta::minutes(15) - TimeDelta::seconds(1) - world.now());
    assert_eq!(world.searches(search_body(1)).await.len(), 1);
    world.advances_clock(TimeDelta::seconds(1));
    assert!(world.searches(search_body(1)).await.is_empty());
}

async fn inactive_boats_and_partners_are_not_offered(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let (id, _) = world.creates_published_route(&made, "GT. 1").await;
    let desk = world.partner_path(&made).await;
    let there =
        async || (world.searches(search_body(1)).await.len(), locations(&world).await.len());
    assert_eq!(there().await, (1, 1));
    for status in ["maintenance", "inactive"] {
        let path = format!("/v1/speedboats/{id}");
        let change = with(boat("GT. 1"), json!({ "status": status }));
        world.put(&path, change).by(&made).send().await.ok();
        assert_eq!(there().await, (0, 0), "{status}");
        let change = with(boat("GT. 1"), json!({ "status": "active" }));
        world.put(&path, change).by(&made).send().await.ok();
        assert_eq!(there().await, (1, 1));
    }
    let reason = json!({ "reason": "Unsafe" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    assert_eq!(there().await, (0, 0));
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    assert_eq!(there().await, (1, 1));
    // Papers to be corrected stop new publishing, not what is on sale already.
    for status in ["revision", "in_review"] {
        world.db().sql("UPDATE partners SET status = $1").bind(status).run().await.unwrap();
        world.app.response_cache.invalidate_all();
        assert_eq!(there().await, (1, 1), "{status}");
    }
    world.db().sql("UPDATE partners SET verified_at = NULL").run().await.unwrap();
    world.app.response_cache.invalidate_all();
    assert_eq!(there().await, (0, 0), "never approved");
}

async fn the_return_journey_is_included(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (id, _) = world.creates_published_route(&made, "GT. 1").await;
    let back = json!({
        "from": "Nusa Penida", "to": "Sanur",
        "times": [{ "departure_time": "16:00", "arrival_time": "16:45" }],
    });
    let back = world.creates_route(&made, with(route(&id), back)).await;
    world.publishes_route(&made, &back).await.ok();
    let trip = with(search_body(2), json!({ "return_date": "2026-11-18" }));
    let answer = world.post("/v1/speedboats/search", trip).send().await;
    assert_eq!(answer.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(answer.body["pagination"]["total_items"], 1);
    assert_eq!(answer.body["return"][0]["from"], "Nusa Penida");
    assert_eq!(answer.body["return"][0]["departure_at"], "2026-11-18T08:00:00Z");
    assert_eq!(answer.body["return"][0]["total_price"], 300_000);
    let one_way = world.post("/v1/speedboats/search", search_body(2)).send().await;
    assert!(one_way.body.get("return").is_none());
    let no_way = with(search_body(2), json!({ "return_date": "2026-12-24" }));
    let no_way = world.post("/v1/speedboats/search", no_way).send().await;
    assert_eq!(no_way.body["return"], json!([]));
}

async fn offers_are_sorted_and_paged(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let id = world.adds_boat(&made, "GT. 1").await;
    let times = json!({ "times": [
        { "departure_time": "08:00", "arrival_time": "09:30", "price": 120_000 },
        { "departure_time": "10:00", "arrival_time": "10:30", "price": 180_000 },
        { "departure_time": "12:00", "arrival_time": "13:00", "price": 100_000 },
    ] });
    let planned = world.creates_route(&made, with(route(&id), times)).await;
    world.publishes_route(&made, &planned).await.ok();
    let prices = async |changes: Value| {
        let found = world.searches(with(search_body(1), changes)).await;
        found.iter().map(|offer| offer["price"].as_i64().unwrap() / 1_000).collect::<Vec<_>>()
    };
    assert_eq!(prices(json!({})).await, [120, 180, 100]);
    assert_eq!(prices(json!({ "sort_by": "departure" })).await, [120, 180, 100]);
    assert_eq!(prices(json!({ "sort_by": "price" })).await, [100, 120, 180]);
    assert_eq!(prices(json!({ "sort_by": "duration" })).await, [180, 100, 120]);
    assert_eq!(prices(json!({ "page": 2, "page_size": 2 })).await, [100]);
    let past = with(search_body(1), json!({ "page": 9, "page_size": 2 }));
    let past = world.post("/v1/speedboats/search", past).send().await;
    assert_eq!(past.body["data"], json!([]));
    assert_eq!(past.body["pagination"]["total_items"], 3);
    assert_eq!(past.body["pagination"]["total_pages"], 2);
}

async fn faults_are_named(world: World) {
    let rubbish = json!({
        "from": "", "to": 7, "date": "tomorrow", "qty": 0, "type": "raft", "sort_by": "mood",
        "page": 0, "page_size": 101,
    });
    world.post("/v1/speedboats/search", rubbish).send().await.has_field_errors(&[
        ("date", "format"),
        ("from", "min_length"),
        ("from", "required"),
        ("page", "min"),
        ("page_size", "max"),
        ("qty", "min"),
        ("sort_by", "enum"),
        ("to", "type"),
        ("type", "enum"),
    ]);
    let early = with(search_body(1), json!({ "return_date": "2026-11-15" }));
    let answer = world.post("/v1/speedboats/search", early).send().await;
    answer.has_field_errors(&[("return_date", "order")]);
    let blank = with(search_body(1), json!({ "return_date": "", "type": "", "sort_by": "" }));
    world.post("/v1/speedboats/search", blank).send().await.ok();
}

async fn locations(world: &World) -> Vec<Value> {
    let locations = world.get("/v1/speedboats/locations").send().await.ok();
    locations.as_array().unwrap().clone()
}

async fn harbours_are_listed_with_their_destinations(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let id = world.adds_boat(&made, "GT. 1").await;
    for (to, departs, arrives) in
        [("Nusa Penida", "08:00", "08:45"), ("Gili Air", "10:00", "12:00")]
    {
        let times = json!([{ "departure_time": departs, "arrival_time": arrives }]);
        let plan = with(route(&id), json!({ "to": to, "times": times }));
        let planned = world.creates_route(&made, plan).await;
        world.publishes_route(&made, &planned).await.ok();
    }
    world.creates_route(&made, with(route(&id), json!({ "from": "Nowhere yet" }))).await;
    let there = locations(&world).await;
    assert_eq!(there.len(), 1);
    let named = ["name", "timezone", "city", "province"].map(|field| there[0][field].clone());
    assert_eq!(named, ["Sanur", "Asia/Makassar", "Denpasar", "Bali"]);
    assert_eq!(there[0]["destinations"], json!(["Gili Air", "Nusa Penida"]));
    assert!(there[0]["latitude"].is_f64() && there[0]["longitude"].is_f64());
    world.advances_clock(TimeDelta::days(4));
    assert!(locations(&world).await.is_empty(), "nothing sails from there any more");
}

async fn a_search_is_one_statement(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let before = world.db().statements();
    assert_eq!(world.searches(search_body(1)).await.len(), 1);
    assert_eq!(world.db().statements() - before, 1);
}

/// The result, and the number of statements.
async fn search_counting_statements(world: &World, wish: Value) -> (Vec<Value>, u64) {
    let before = world.db().statements();
    let found = world.searches(wish).await;
    (found, world.db().statements() - before)
}

/// One second with other processes, longer without.
async fn a_response_is_cached_for_a_moment(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let (found, statements) = search_counting_statements(&world, search_body(2)).await;
    assert_eq!((found.len(), statements), (1, 1));
    assert_eq!(search_counting_statements(&world, search_body(2)).await, (found.clone(), 0));
    let lasts = lifetime(&world);
    world.advances_clock(lasts / 2);
    assert_eq!(search_counting_statements(&world, search_body(2)).await, (found.clone(), 0));
    world.advances_clock(lasts / 2);
    assert_eq!(search_counting_statements(&world, search_body(2)).await, (found, 1));
}

/// Page two changes when a sailing of page one closes, and all pages with the return journey.
async fn a_response_ends_when_any_of_its_sailings_closes(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let id = world.adds_boat(&made, "GT. 1").await;
    let times = json!({ "times": [
        { "departure_time": "08:00", "arrival_time": "09:00" },
        { "departure_time": "12:00", "arrival_time": "13:00" },
    ] });
    let planned = world.creates_route(&made, with(route(&id), times)).await;
    world.publishes_route(&made, &planned).await.ok();
    let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
    world.advances_clock(
        departure - TimeDelta::minutes(15) - TimeDelta::milliseconds(100) - world.now(),
    );
    let second = with(search_body(1), json!({ "page": 2, "page_size": 1 }));
    assert_eq!(world.searches(second.clone()).await.len(), 1);
    let back = json!({ "from": "Nusa Penida", "to": "Sanur", "return_date": "2026-11-16" });
    let way_back = async || {
        let ask =
            world.post("/v1/speedboats/search", with(search_body(1), back.clone())).send().await;
        ask.body["return"].as_array().unwrap().len()
    };
    assert_eq!(way_back().await, 2);
    world.advances_clock(TimeDelta::milliseconds(100));
    assert!(world.searches(second).await.is_empty());
    assert_eq!(way_back().await, 1);
}

/// A search on the day after the usual one.
fn next_day_search() -> Value {
    with(search_body(1), json!({ "date": "2026-11-17" }))
}

async fn a_hold_that_expires_invalidates_its_trip(world: World) {
    let sailing = world.sailing().await;
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(30));
    assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 28);
    world.searches(next_day_search()).await;
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(search_counting_statements(&world, next_day_search()).await.1, 0, "another day");
    assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 30);
}

async fn a_sale_invalidates_its_trip(world: World) {
    let sailing = world.sailing().await;
    assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 30);
    world.searches(next_day_search()).await;
    let locations = locations(&world).await;
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let (found, statements) = search_counting_statements(&world, search_body(1)).await;
    assert_eq!((&found[0]["available_seats"], statements), (&json!(28), 1));
    assert_eq!(search_counting_statements(&world, next_day_search()).await.1, 0, "another day");
    let before = world.db().statements();
    assert_eq!(self::locations(&world).await, locations);
    assert_eq!(world.db().statements(), before, "places do not depend on seats");
}

async fn a_sale_invalidates_other_pages(world: World) {
    let sailing = world.sailing().await;
    world.creates_published_route(&sailing.partner, "GT. 2").await;
    // The sailing is on one of two pages, and past their end.
    let pages = [1, 2, 3].map(|page| with(search_body(1), json!({ "page": page, "page_size": 1 })));
    for page in &pages {
        world.searches(page.clone()).await;
        assert_eq!(search_counting_statements(&world, page.clone()).await.1, 0);
    }
    world.books(order(&sailing, 30, "sari@example.com")).await.ok();
    for page in pages {
        let answer = world.post("/v1/speedboats/search", page).send().await;
        assert_eq!(answer.body["pagination"]["total_items"], 1);
    }
}

async fn a_released_seat_invalidates_responses_without_its_sailing(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 30, "sari@example.com")).await.ok();
    assert!(world.searches(search_body(1)).await.is_empty());
    assert_eq!(search_counting_statements(&world, search_body(1)).await.1, 0, "it is cached");
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let known = json!({ "code": booking["code"], "email": "sari@example.com", "reason": "x" });
    world.post(&path, known).send().await.ok();
    assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 30);
}

/// Neither refusals nor changes of other data.
async fn what_changes_no_offer_leaves_the_cache_in_place(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let other = with(route(&sailing.boat), json!({ "from": "Padang Bai", "to": "Gili Trawangan" }));
    let other = with(
        other,
        json!({
            "times": [{ "departure_time": "20:00", "arrival_time": "21:00" }],
        }),
    );
    let planned = world.creates_route(&sailing.partner, other).await;
    world.publishes_route(&sailing.partner, &planned).await.ok();
    let elsewhere = world.sailings(&sailing.partner, &planned).await.remove(0);
    let elsewhere = Sailing { id: elsewhere["id"].as_str().unwrap().into(), ..sailing.clone() };
    let desk = world.partner_path(&sailing.partner).await;
    world.books(order(&elsewhere, 2, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(30));
    // A session is marked as used beside its first request in a while; that counts as a statement.
    for who in [&admin, &sailing.partner] {
        world.get("/user/me").by(who).send().await.ok();
    }
    let marked = async || -> i64 {
        let marked = world.db().sql("SELECT COUNT(*) FROM sessions WHERE last_used_at >= $1");
        marked.bind(world.now()).scalar().await.unwrap()
    };
    while marked().await < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let found = world.searches(search_body(1)).await;
    let is_cached = async |after: &str| {
        assert_eq!(
            search_counting_statements(&world, search_body(1)).await,
            (found.clone(), 0),
            "{after}"
        );
    };
    is_cached("before anything").await;
    let wrong = json!({ "email": "admin@dermaga.test", "password": "wrong", "role": "admin" });
    assert_eq!(world.post("/v1/auth/login", wrong).send().await.status, 401);
    is_cached("a failed login").await;
    let profile = json!({
        "name": "Putu", "email": admin.email, "phone": "081234567890", "avatar_file_id": "",
    });
    world.put("/user/me", profile).by(&admin).send().await.ok();
    is_cached("a profile").await;
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(world.seats_taken(&elsewhere).await, 0);
    is_cached("a hold that expired elsewhere").await;
    world.books(order(&elsewhere, 1, "sari@example.com")).await.ok();
    is_cached("a sale elsewhere").await;
    // Refused, although it would change offers.
    let suspended = world.post(&format!("{desk}/suspend"), json!({})).by(&admin).send().await;
    assert_eq!(suspended.status, 422);
    is_cached("a suspension without reason").await;
    let none = world.post(&format!("{desk}/suspend"), json!({ "reason": "x" })).send().await;
    assert_eq!(none.status, 401);
    is_cached("a suspension by nobody").await;
    let planned = world.creates_route(&sailing.partner, route(&sailing.boat)).await;
    is_cached("a draft").await;
    assert_eq!(world.publishes_route(&sailing.partner, &planned).await.status, 409, "it clashes");
    is_cached("a publication that is refused").await;
}

async fn what_changes_offers_invalidates_the_cache(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let desk = world.partner_path(&sailing.partner).await;
    // A search that bypasses the cache must equal the cached one.
    let seen = async |after: &str| {
        let cached = world.searches(search_body(1)).await;
        world.app.response_cache.invalidate_all();
        assert_eq!(cached, world.searches(search_body(1)).await, "after {after}");
        cached
    };
    assert_eq!(seen("nothing").await.len(), 1);
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    assert_eq!(seen("a sale").await[0]["available_seats"], 28);
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let known = json!({ "code": booking["code"], "email": "sari@example.com", "reason": "x" });
    world.post(&path, known).send().await.ok();
    assert_eq!(seen("a cancellation").await[0]["available_seats"], 30);
    // A late payment takes seats again.
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(30));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(seen("a hold").await[0]["available_seats"], 30);
    world.pays(&booking).await;
    assert_eq!(seen("a late payment").await[0]["available_seats"], 28);
    // Another boat for another price.
    let second = world.adds_boat(&sailing.partner, "GT. 2").await;
    let cheap = with(route(&second), json!({ "price": 90_000 }));
    let planned = world.creates_route(&sailing.partner, cheap).await;
    world.publishes_route(&sailing.partner, &planned).await.ok();
    assert_eq!(seen("a price").await.len(), 2);
    let renamed = with(boat("GT. 2"), json!({ "name": "Ombak" }));
    world.put(&format!("/v1/speedboats/{second}"), renamed).by(&sailing.partner).send().await.ok();
    let names: Vec<_> =
        seen("a boat").await.iter().map(|o| o["speedboat"]["name"].clone()).collect();
    assert!(names.contains(&json!("Ombak")), "{names:?}");
    let profile = json!({
        "name": "Made Baru", "email": sailing.partner.email, "phone": "081234567890",
        "avatar_file_id": "",
    });
    world.put("/user/me", profile).by(&sailing.partner).send().await.ok();
    assert_eq!(seen("a partner's name").await[0]["mitra"]["name"], "Made Baru");
    let path = format!("/v1/mitra/speedboat-routes/{planned}");
    world.delete(&path).by(&sailing.partner).send().await.ok();
    assert_eq!(seen("a route").await.len(), 1);
    let pier = format!("/v1/mitra/route-times/{}", sailing.id);
    let later = json!({ "departure_time": "10:00", "arrival_time": "10:45", "reason": "x" });
    world.put(&pier, later).by(&sailing.partner).send().await.ok();
    assert_eq!(seen("a move").await[0]["departure_at"], "2026-11-16T02:00:00Z");
    world.post(&format!("{desk}/suspend"), json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert!(seen("a suspension").await.is_empty());
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    assert_eq!(seen("its end").await.len(), 1);
    let dearer = json!({ "price": 175_000 });
    world.put(&pier, dearer).by(&admin).send().await.ok();
    assert_eq!(seen("a price").await[0]["price"], 175_000);
    world.advances_clock(TimeDelta::hours(20));
    let admin = world.signs_in(&admin.email, "admin").await;
    let close = format!("{pier}/manifest/close");
    world.post(&close, json!({})).by(&admin).send().await.ok();
    assert!(seen("a closed manifest").await.is_empty());
    let reopen = format!("{pier}/manifest/reopen");
    world.post(&reopen, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(seen("an open manifest").await.len(), 1);
    world.post(&close, json!({})).by(&admin).send().await.ok();
    assert!(seen("a manifest that is closed again").await.is_empty());
    let sailings = world.searches(next_day_search()).await;
    assert_eq!(sailings.len(), 1);
    let id = sailings[0]["route_time_id"].as_str().unwrap();
    let path = format!("/v1/mitra/route-times/{id}/cancel");
    world.post(&path, json!({ "reason": "Gelombang" })).by(&admin).send().await.ok();
    assert!(world.searches(next_day_search()).await.is_empty());
}

async fn a_move_is_seen_on_both_days(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let days = async || {
        let seats = async |day| world.searches(day).await[0]["available_seats"].as_i64().unwrap();
        (seats(search_body(1)).await, seats(next_day_search()).await)
    };
    assert_eq!(days().await, (28, 30));
    let to = world.searches(next_day_search()).await[0]["route_time_id"].clone();
    let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let form = json!({ "route_time_id": to, "reason": "x" });
    world.post(&path, form).by(&world.admin().await).send().await.ok();
    assert_eq!(days().await, (30, 28));
}

async fn two_hundred_misses_cost_one_statement(world: World) {
    world.sailing().await;
    world.advances_clock(TimeDelta::seconds(10));
    let before = world.db().statements();
    let searches = (0..200).map(|_| world.searches(search_body(1)));
    let found = futures_util::future::join_all(searches).await;
    assert!(found.iter().all(|one| one.len() == 1 && *one == found[0]));
    assert_eq!(world.db().statements() - before, 1);
    // A language has responses of its own.
    let before = world.db().statements();
    let searches = (0..200).map(|number| {
        let lang = if number % 2 == 0 { "id" } else { "en" };
        let search = world.post("/v1/speedboats/search", search_body(3));
        async move { (lang, search.header("accept-language", lang).send().await) }
    });
    for (lang, answer) in futures_util::future::join_all(searches).await {
        let message = if lang == "id" { "Berhasil" } else { "OK" };
        assert_eq!(answer.body["message"], message);
        assert_eq!(answer.header("content-language"), lang);
    }
    assert_eq!(world.db().statements() - before, 0, "it is the same trip");
}

/// How long a response is cached at most.
fn lifetime(world: &World) -> TimeDelta {
    match world.db().engine() {
        "sqlite" => TimeDelta::seconds(5),
        _ => TimeDelta::seconds(1),
    }
}

async fn searches_of_a_trip_share_what_was_read(world: World) {
    let sailing = world.sailing().await;
    world.creates_published_route(&sailing.partner, "GT. 2").await;
    let (found, statements) = search_counting_statements(&world, search_body(1)).await;
    assert_eq!((found.len(), statements), (2, 1));
    for (change, expected) in [
        (json!({ "qty": 30 }), 2),
        (json!({ "qty": 31 }), 0),
        (json!({ "type": "charter" }), 2),
        (json!({ "sort_by": "price" }), 2),
        (json!({ "page": 2, "page_size": 1 }), 1),
        (json!({ "from": " SANUR" }), 2),
    ] {
        let searched = search_counting_statements(&world, with(search_body(1), change.clone()));
        let (found, statements) = searched.await;
        assert_eq!((found.len(), statements), (expected, 0), "{change}");
    }
    // A sale is seen by all of them, also by one that was not asked before.
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let (found, statements) = search_counting_statements(&world, search_body(29)).await;
    assert_eq!((found.len(), statements), (1, 1));
    let charter = with(search_body(1), json!({ "type": "charter" }));
    assert_eq!(search_counting_statements(&world, charter).await.0.len(), 1);
}

/// Otherwise a change by another process would be seen after two lifetimes.
async fn a_response_ends_with_what_was_read_for_it(world: World) {
    let sailing = world.sailing().await;
    assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 30);
    world.advances_clock(lifetime(&world) / 2);
    let (found, statements) = search_counting_statements(&world, search_body(2)).await;
    assert_eq!((&found[0]["available_seats"], statements), (&json!(30), 0));
    let id: dermaga::kernel::ids::Uuid = sailing.id.parse().unwrap();
    let taken = world.db().sql("UPDATE sailings SET seats_taken = 4 WHERE id = $1").bind(id);
    taken.run().await.unwrap();
    world.advances_clock(lifetime(&world) / 2);
    assert_eq!(world.searches(search_body(2)).await[0]["available_seats"], 26);
}

/// A database that was just filled has no statistics.
async fn the_plan_of_a_search_does_not_depend_on_statistics(world: World) {
    if world.db().engine() != "postgres" {
        return;
    }
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    // Twenty a day for a year.
    let times: Vec<_> = (0..20)
        .map(|n| {
            let time = |hour: i32, minutes: i32| format!("{:02}:{minutes:02}", 1 + hour);
            json!({ "departure_time": time(n, 0), "arrival_time": time(n, 30) })
        })
        .collect();
    let year = json!({ "times": times, "end_date": "2027-11-10" });
    let planned = world.creates_route(&made, with(route(&boat), year)).await;
    world.publishes_route(&made, &planned).await.ok();
    let explained: &'static str = format!("EXPLAIN {}", dermaga::sailings::SELECT_TRIP).leak();
    let plan = async || {
        let day: chrono::NaiveDate = "2027-05-05".parse().unwrap();
        let explain = world.db().sql(explained).bind("sanur").bind("nusa penida").bind(day);
        let lines: Vec<(String,)> = explain.bind(world.now()).bind(2_000_i64).all().await.unwrap();
        let lines = lines.into_iter().map(|(line,)| line);
        lines.filter(|line| line.contains(" on sailings")).collect::<Vec<_>>()
    };
    let of_index = |plan: &[String]| plan.len() == 1 && plan[0].contains("sailings_search");
    let analysed = plan().await;
    assert!(of_index(&analysed), "{analysed:?}");
    for forget in [
        "DELETE FROM pg_statistic WHERE starelid = 'sailings'::regclass",
        "UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0
         WHERE oid = 'sailings'::regclass",
    ] {
        world.db().sql(forget).run().await.unwrap();
    }
    let fresh = plan().await;
    assert!(of_index(&fresh), "{fresh:?}");
}

/// A search that began before a sale is never returned to the buyer.
async fn a_buyer_sees_the_sale_under_concurrent_searches(world: World) {
    let sailing = world.sailing().await;
    let is_over = AtomicBool::new(false);
    let search = async || {
        while !is_over.load(Ordering::Relaxed) {
            world.searches(search_body(1)).await;
        }
    };
    let buy = async {
        for sold in 1..=20 {
            world.books(order(&sailing, 1, &format!("{sold}@example.com"))).await.ok();
            assert_eq!(world.searches(search_body(1)).await[0]["available_seats"], 30 - sold);
        }
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(buy, search(), search(), search(), search());
}

/// Which operations change what search responses show. A new operation needs a decision.
async fn every_operation_says_what_it_changes(world: World) {
    let table = dermaga::api::table(world.app.clone());
    let those = |offers: OfferChange| -> Vec<&str> {
        let operations = table.operations().iter();
        operations.filter(|o| o.changes && o.offers == offers).map(|o| o.id).collect()
    };
    assert_eq!(
        those(OfferChange::All),
        [
            "erase_personal_data",
            "update_partner",
            "suspend_partner",
            "unsuspend_partner",
            "update_speedboat",
            "delete_speedboat",
            "delete_route",
            "publish_route",
            "publish_route_by_post",
            "update_line",
            "extend_route",
            "update_harbour",
            "merge_harbour",
            "resolve_payment_review",
        ]
    );
    assert_eq!(
        those(OfferChange::Some),
        [
            "update_profile",
            "update_sailings",
            "update_sailing",
            "cancel_sailing",
            "close_manifest",
            "reopen_manifest",
            "create_booking",
            "cancel_booking",
            "reschedule_booking",
            "payment_callback",
        ]
    );
    for operation in table.operations() {
        let safe = operation.method.is_safe();
        let decided = operation.changes || operation.offers == OfferChange::None;
        assert!(decided && !(operation.changes && operation.cached), "{}", operation.id);
        assert!(safe || operation.changes || READS_BY_POST.contains(&operation.id));
    }
}

const READS_BY_POST: [&str; 3] = ["search_sailings", "validate_promo", "quote_booking"];

async fn different_requests_have_different_cache_keys(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let ask = || world.post("/v1/speedboats/search", search_body(2));
    let (english, indonesian) =
        (ask().send().await, ask().header("accept-language", "id").send().await);
    assert_eq!(
        (&english.body["message"], &indonesian.body["message"]),
        (&json!("OK"), &json!("Berhasil"))
    );
    assert_eq!(world.searches(search_body(3)).await[0]["total_price"], 450_000);
    // The same bytes as something else are refused as ever.
    let text = world.call(reqwest::Method::POST, "/v1/speedboats/search");
    let text =
        text.header("content-type", "text/plain").body(search_body(2).to_string()).send().await;
    assert_eq!(text.status, 415);
    // A refusal is not cached.
    for _ in 0..2 {
        let refused =
            world.post("/v1/speedboats/search", with(search_body(2), json!({ "qty": 0 })));
        refused.send().await.has_field_errors(&[("qty", "min")]);
    }
}
