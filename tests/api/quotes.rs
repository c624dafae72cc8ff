//! What a booking would cost.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    fares::{bali, order_of},
    harbour::{Sailing, charter, order, route},
    on_both_engines,
    promotions::promotion,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_quote_says_what_a_booking_needs,
    a_quote_equals_the_booking_to_the_rupiah,
    a_promotion_that_cannot_be_used_is_no_refusal,
    a_partner_is_quoted_what_it_sells_for,
    faults_of_a_quote_are_named,
    quotes_are_limited,
];

/// What is asked before the booking.
fn question(order: &Value) -> Value {
    let passengers = order["passengers"].as_array().unwrap().iter();
    let passengers: Vec<_> = passengers.map(|one| json!({ "fare": one["fare"] })).collect();
    let mut asked = order.clone();
    let fields = asked.as_object_mut().unwrap();
    fields.retain(|name, _| {
        ["type", "item_id", "route_time_id", "qty", "code_promo"].contains(&name.as_str())
    });
    asked["passengers"] = json!(passengers);
    asked["email"] = order["contact"]["email"].clone();
    asked
}

impl World {
    async fn quotes(&self, asked: Value) -> Answer {
        self.post("/v1/booking/quote", asked).send_with_retry().await
    }

    async fn creates_promotion(&self, admin: &Someone, promotion: Value) {
        self.post("/v1/contents/promotion", promotion).by(admin).send().await.ok();
    }
}

async fn a_quote_says_what_a_booking_needs(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    world.books(order(&sailing, 28, "many@example.com")).await.ok();
    let before = world.all_stored_data().await;
    let asked = question(&order_of(&sailing, &["adult_foreign", "infant"], "sari@example.com"));
    let quote = world.quotes(asked).await.ok();
    assert_eq!(quote["available_seats"], 2);
    assert_eq!(quote["price"]["total"], 150_000);
    assert_eq!(quote["promo"], Value::Null);
    let infant = json!({
        "key": "infant", "category": "infant", "residency": "any", "min_age": 0, "max_age": 2,
        "price": 0, "takes_seat": false, "id_required": false,
    });
    assert_eq!(quote["fares"][3], infant);
    let prices = [0, 1, 2].map(|fare| quote["fares"][fare]["price"].as_i64().unwrap());
    assert_eq!(prices, [90_000, 150_000, 112_500], "of this sailing");
    assert_eq!(quote["closes_at"], "2026-11-15T23:45:00Z");
    let policy =
        json!([{ "hours_before": 24, "percent": 100 }, { "hours_before": 6, "percent": 50 }]);
    assert_eq!(quote["refund_policy"], policy);
    let there = &quote["sailing"];
    assert_eq!(
        (&there["from"], &there["to"], &there["speedboat"]["id"]),
        (&json!("Sanur"), &json!("Nusa Penida"), &json!(sailing.boat))
    );
    assert_eq!(there["departure_at"], "2026-11-16T00:00:00Z");
    // Without passengers everybody has the first fare, and too few seats are no refusal.
    let asked = json!({
        "type": "speedboat", "item_id": sailing.boat, "route_time_id": sailing.id, "qty": 3,
    });
    let quote = world.quotes(asked).await.ok();
    assert_eq!((&quote["available_seats"], &quote["price"]["total"]), (&json!(2), &json!(270_000)));
    let boat = world.quotes(question(&charter(&sailing, 3, "sari@example.com"))).await.ok();
    assert_eq!(boat["fares"], json!([]), "a charter has none");
    assert_eq!((&boat["available_seats"], &boat["price"]["total"]), (&json!(2), &json!(4_500_000)));
    assert_eq!(world.all_stored_data().await, before, "nothing is written");
}

/// A random order that follows the rules of the fares: every second passenger is an adult.
fn random_order(random: &mut StdRng, sailing: &Sailing, keys: &[String], n: usize) -> Value {
    let qty = random.random_range(1..=5);
    let chosen: Vec<&str> = (0..qty)
        .map(|index| match index % 2 {
            0 => "adult",
            _ => &*keys[random.random_range(0..keys.len())],
        })
        .collect();
    let mut wanted = order_of(sailing, &chosen, &format!("buyer{n}@example.com"));
    if random.random_bool(0.1) {
        wanted["type"] = json!("charter");
    }
    let code = ["", "", "TEN", "FIXED", "CAPPED", "DEAR", "ONCE", "NONE"];
    wanted["code_promo"] = json!(code[random.random_range(0..code.len())]);
    wanted
}

/// Sets random fares of which `adult` takes a seat; returns their keys.
async fn random_fares(random: &mut StdRng, world: &World, sailing: &Sailing) -> Vec<String> {
    let mut fares = Vec::new();
    for category in ["adult", "child", "infant", "senior", "student"] {
        let takes_seat = category == "adult" || random.random_bool(0.5);
        let price = match random.random_bool(0.7) {
            true => json!({ "percent": random.random_range(1..=150) }),
            false => json!({ "amount": random.random_range(1_000..300_000) }),
        };
        fares.push(json!({ "category": category, "price": price, "takes_seat": takes_seat }));
    }
    let fares = world.sets_fares(sailing, json!(fares)).await["fares"].clone();
    let keys = fares.as_array().unwrap().iter();
    keys.map(|fare| fare["key"].as_str().unwrap().to_owned()).collect()
}

async fn a_quote_equals_the_booking_to_the_rupiah(world: World) {
    let admin = world.admin().await;
    let mut random = StdRng::seed_from_u64(25);
    for (code, applies_to) in
        [("PPN", "booking"), ("PSL", "seats"), ("PSK", "charter"), ("PPNJ", "commission")]
    {
        let rate = f64::from(random.random_range(1..2_000)) / 100.0;
        let tax = json!({
            "name": code, "code": code, "rate": rate, "applies_to": applies_to, "is_active": true,
            "base_factor": if code == "PPN" { "11/12" } else { "1" },
        });
        world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    }
    for (code, discount) in [
        ("TEN", json!({ "type": "percentage", "value": 10.5 })),
        ("FIXED", json!({ "type": "fixed", "value": 33_333 })),
        ("CAPPED", json!({ "type": "percentage", "value": 50, "max_amount": 70_001 })),
        ("DEAR", json!({ "type": "fixed", "value": 50_000, "min_purchase": 400_000 })),
    ] {
        let mut made = promotion(code);
        made["discount"] = discount;
        made["quota"] = json!(1_000);
        world.creates_promotion(&admin, made).await;
    }
    let mut once = promotion("ONCE");
    once["quota"] = json!(1);
    world.creates_promotion(&admin, once).await;
    let first = world.sailing().await;
    let mut sailings = vec![first.clone()];
    for n in 0..4_i64 {
        let price = random.random_range(1_000..1_000_000);
        sailings.push(world.another_sailing(&first, &format!("GT. 1{n}"), price).await);
    }
    let (mut priced, mut discounted, mut refused) = (0, 0, 0);
    for n in 0..60 {
        let keys = random_fares(&mut random, &world, &first).await;
        let sailing = &sailings[random.random_range(0..sailings.len())];
        let wanted = random_order(&mut random, sailing, &keys, n);
        let quote = world.quotes(question(&wanted)).await.ok();
        let mut booked = world.books(wanted.clone()).await;
        if quote["promo"]["valid"] == false {
            // The sale refuses the code for the same reason, and costs as quoted without it.
            let reason = quote["promo"]["reason"].as_str().unwrap();
            if booked.status == 422 {
                booked.has_field_errors(&[("code_promo", reason)]);
                refused += 1;
            }
            let mut without = wanted.clone();
            without["code_promo"] = json!("");
            booked = world.books(without).await;
        }
        if booked.status == 409 {
            booked.is(409, "sold_out");
            continue;
        }
        let booking = booked.ok();
        assert_eq!(quote["price"], booking["price"], "{wanted}");
        assert_eq!(quote["sailing"], booking["sailing"]);
        priced += 1;
        discounted += i32::from(booking["price"]["discount"] != 0);
    }
    assert!(priced > 30 && discounted > 5 && refused > 2, "{priced} {discounted} {refused}");
    assert_invariants(&world).await;
}

async fn a_promotion_that_cannot_be_used_is_no_refusal(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let change = |code: &str, change: Value| {
        let mut made = promotion(code);
        made.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        made
    };
    let past = json!({ "period": { "start_date": "2026-10-01", "end_date": "2026-10-02" } });
    let dear =
        json!({ "discount": { "type": "fixed", "value": 5_000, "min_purchase": 10_000_000 } });
    for made in [
        promotion("TEN"),
        change("PAST", past),
        change("DEAR", dear),
        change("MINE", json!({ "per_customer_limit": 1 })),
        change("OFF", json!({ "status": "inactive" })),
    ] {
        world.creates_promotion(&admin, made).await;
    }
    let mut used = order(&sailing, 1, "sari@example.com");
    used["code_promo"] = json!("MINE");
    world.books(used.clone()).await.ok();
    let mut asked = question(&used);
    for (code, valid) in [
        ("TEN", true),
        ("ten", true),
        ("PAST", false),
        ("DEAR", false),
        ("MINE", false),
        ("OFF", false),
        ("NOTHING", false),
        ("' OR 1=1", false),
    ] {
        asked["code_promo"] = json!(code);
        let quote = world.quotes(asked.clone()).await.ok();
        let mut same = asked.clone();
        same.as_object_mut().unwrap().remove("passengers");
        let verdict = world.post("/v1/booking/validate-code-promo", same).send().await.ok();
        assert_eq!(quote["promo"]["valid"], valid, "{code}");
        assert_eq!(quote["promo"]["valid"], verdict["valid"], "{code}");
        assert_eq!(quote["promo"].get("reason"), verdict.get("reason"), "{code}");
        assert_eq!(quote["promo"].as_object().unwrap().len(), 2 - usize::from(valid));
        let total = if valid { 135_000 } else { 150_000 };
        assert_eq!(quote["price"]["total"], total, "{code}");
        if valid {
            assert_eq!(quote["price"], verdict["price"]);
        }
    }
    // Blank is none.
    asked["code_promo"] = json!("  ");
    assert_eq!(world.quotes(asked).await.ok()["promo"], Value::Null);
}

async fn a_partner_is_quoted_what_it_sells_for(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.creates_promotion(&admin, promotion("TEN")).await;
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["code_promo"] = json!("TEN");
    let quote = world.post("/v1/booking/quote", question(&wanted)).by(&sailing.partner);
    let quote = quote.send().await.ok();
    assert_eq!(quote["promo"]["reason"], "not_applicable");
    let sold = world.post("/v1/booking/", wanted.clone()).by(&sailing.partner).send().await;
    sold.has_field_errors(&[("code_promo", "not_applicable")]);
    wanted["code_promo"] = json!("");
    let sold = world.post("/v1/booking/", wanted).by(&sailing.partner).send().await.ok();
    assert_eq!(sold["price"], quote["price"]);
    let wrong = world.post("/v1/booking/quote", question(&order(&sailing, 1, "x@example.com")));
    assert_eq!(wrong.with_token("nonsense").send().await.status, 401);
}

async fn faults_of_a_quote_are_named(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let asked = question(&order_of(&sailing, &["adult_foreign", "infant"], "sari@example.com"));
    let with = |change: Value| {
        let mut asked = asked.clone();
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        asked
    };
    let other = world.adds_boat(&sailing.partner, "GT. 2").await;
    for (asked, field, rule) in [
        (with(json!({ "qty": 3 })), "passengers", "count"),
        (with(json!({ "qty": 0, "passengers": [] })), "qty", "min"),
        (with(json!({ "qty": 51, "passengers": null })), "qty", "max"),
        (with(json!({ "type": "boat" })), "type", "enum"),
        (with(json!({ "item_id": other })), "item_id", "unknown"),
        (with(json!({ "route_time_id": other })), "route_time_id", "unknown"),
        (with(json!({ "email": "nobody" })), "email", "format"),
        (with(json!({ "passengers": [{}, { "fare": "dog" }] })), "passengers[1].fare", "unknown"),
        (with(json!({ "passengers": [{}, { "fare": 1 }] })), "passengers[1].fare", "type"),
        (
            with(json!({ "passengers": [{ "fare": "child" }, { "fare": "infant" }] })),
            "passengers[1].fare",
            "adult_required",
        ),
        (with(json!({ "passengers": vec![json!({}); 501] })), "passengers", "max_items"),
        (
            with(json!({ "type": "charter", "qty": 31, "passengers": vec![json!({}); 31] })),
            "qty",
            "max",
        ),
    ] {
        world.quotes(asked).await.has_field_errors(&[(field, rule)]);
    }
    // The draft of a route has no sailing, and one that is called off is not on sale.
    world.creates_route(&sailing.partner, route(&other)).await;
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    world.post(&path, json!({ "reason": "Storm" })).by(&sailing.partner).send().await.ok();
    world.quotes(asked).await.is(409, "booking_closed");
}

async fn quotes_are_limited(world: World) {
    let world = world.with(|config| config.rate_limit.0 = true).await;
    let sailing = world.sailing().await;
    let asked = question(&order(&sailing, 1, "sari@example.com"));
    let mut limited = false;
    for _ in 0..300 {
        let answer = world.post("/v1/booking/quote", asked.clone()).send().await;
        limited = answer.status == 429;
        if limited {
            break;
        }
        answer.ok();
    }
    assert!(limited);
}
