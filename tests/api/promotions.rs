//! Promotions: creation, validation, use and release.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_promotion_is_made_and_changed,
    faults_are_named,
    lists_show_the_state,
    a_code_is_tried_without_being_used,
    a_code_makes_it_cheaper_at_the_platforms_expense,
    a_use_is_released_once,
    a_customer_has_a_limit,
    a_used_promotion_stays,
    a_booking_without_a_price_is_paid,
    what_an_update_leaves_out_stays,
    a_partner_pays_for_its_own_code,
    a_partner_pays_for_its_own_sailings_only,
    a_partner_owes_the_commission_of_what_it_gives_away,
    the_platform_pays_for_no_discount_of_a_partners_sales,
];

/// Ten percent off everything for a month, at most five times.
pub fn promotion(code: &str) -> Value {
    json!({
        "title": "Holiday", "code": code, "description": "", "quota": 5, "target_type": "all",
        "status": "active", "tnc": "",
        "discount": { "type": "percentage", "value": 10 },
        "period": { "start_date": "2026-11-01", "end_date": "2026-11-30" },
    })
}

fn with(mut value: Value, changes: Value) -> Value {
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    value
}

async fn creates_promotion(world: &World, admin: &Someone, promotion: Value) -> Value {
    world.post("/v1/contents/promotion", promotion).by(admin).send().await.ok()
}

async fn a_promotion_is_made_and_changed(world: World) {
    let admin = world.admin().await;
    let made = creates_promotion(&world, &admin, promotion("libur-1")).await;
    assert_eq!(made["code"], "LIBUR-1");
    assert_eq!(made["state"], "running");
    assert_eq!(made["used"], 0);
    assert_eq!(made["remaining"], 5);
    assert_eq!(made["discount"]["value"], 10);
    assert_eq!(made["target_ids"], json!([]));
    let again = world.post("/v1/contents/promotion", promotion("LIBUR-1")).by(&admin).send().await;
    again.is(409, "already_exists");
    let path = format!("/v1/promotion/{}", made["id"].as_str().unwrap());
    let discount = json!({ "type": "fixed", "value": 25_000, "max_amount": null });
    let change = with(promotion("LIBUR-1"), json!({ "discount": discount, "quota": null }));
    let after = world.put(&path, change).by(&admin).send().await.ok();
    assert_eq!(after["discount"]["value"], 25_000);
    assert_eq!(after["remaining"], json!(null));
    assert_eq!(world.get(&path).by(&admin).send().await.ok(), after);
    world.delete(&path).by(&admin).send().await.ok();
    world.get(&path).by(&admin).send().await.is(404, "not_found");
}

async fn faults_are_named(world: World) {
    let admin = world.admin().await;
    let rubbish = json!({
        "title": "", "code": "a b", "description": "", "quota": 0, "target_type": "mitra",
        "status": "lost", "tnc": "", "discount": { "type": "percentage", "value": 10.555 },
        "period": { "start_date": "2026-11-02", "end_date": "2026-11-01" },
    });
    let post = |body| world.post("/v1/contents/promotion", body).by(&admin).send();
    post(rubbish).await.has_field_errors(&[
        ("code", "format"),
        ("discount.value", "range"),
        ("period.end_date", "order"),
        ("quota", "min"),
        ("status", "enum"),
        ("target_ids", "required"),
        ("title", "required"),
    ]);
    let missing = post(json!({})).await.field_errors();
    assert_eq!(missing.len(), 9, "{missing:?}");
    for (kind, value) in
        [("percentage", json!(0)), ("percentage", json!(101)), ("fixed", json!(1.5))]
    {
        let discount = json!({ "discount": { "type": kind, "value": value } });
        post(with(promotion("X-1"), discount))
            .await
            .has_field_errors(&[("discount.value", "range")]);
    }
    let nobody = dermaga::kernel::ids::fresh();
    let target = json!({ "target_type": "route", "target_ids": [nobody] });
    post(with(promotion("X-1"), target)).await.has_field_errors(&[("target_ids[0]", "unknown")]);
}

async fn lists_show_the_state(world: World) {
    let admin = world.admin().await;
    let period =
        |start: &str, end: &str| json!({ "period": { "start_date": start, "end_date": end } });
    creates_promotion(&world, &admin, promotion("RUN")).await;
    creates_promotion(&world, &admin, with(promotion("DRAFT"), json!({ "status": "draft" }))).await;
    creates_promotion(&world, &admin, with(promotion("OFF"), json!({ "status": "inactive" })))
        .await;
    creates_promotion(&world, &admin, with(promotion("SOON"), period("2026-12-01", "2026-12-31")))
        .await;
    creates_promotion(&world, &admin, with(promotion("PAST"), period("2026-10-01", "2026-11-14")))
        .await;
    let sailing = world.sailing().await;
    creates_promotion(&world, &admin, with(promotion("GONE"), json!({ "quota": 1 }))).await;
    let wanted = with(order(&sailing, 1, "sari@example.com"), json!({ "code_promo": "gone" }));
    world.books(wanted).await.ok();
    for (state, code) in [
        ("running", "RUN"),
        ("draft", "DRAFT"),
        ("inactive", "OFF"),
        ("scheduled", "SOON"),
        ("ended", "PAST"),
        ("exhausted", "GONE"),
    ] {
        let path = format!("/v1/promotions?state={state}");
        let list = world.get(&path).by(&admin).send().await.ok();
        let codes: Vec<_> = list.as_array().unwrap().iter().map(|p| p["code"].clone()).collect();
        assert_eq!(codes, [code], "{state}");
        assert_eq!(list[0]["state"], state);
    }
    let public = world.get("/v1/contents/promotions").send().await.ok();
    assert_eq!(public.as_array().unwrap().len(), 1);
    assert_eq!(public[0]["code"], "RUN");
}

async fn validates_code(
    world: &World,
    sailing: &Sailing,
    code: &str,
    qty: i64,
    email: &str,
) -> Answer {
    let body = json!({
        "code_promo": code, "type": "speedboat", "item_id": sailing.boat,
        "route_time_id": sailing.id, "qty": qty, "email": email,
    });
    world.post("/v1/booking/validate-code-promo", body).send().await
}

async fn a_code_is_tried_without_being_used(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let discount = json!({ "discount": {
        "type": "percentage", "value": 12.5, "max_amount": 30_000, "min_purchase": 200_000,
    } });
    let made = creates_promotion(&world, &admin, with(promotion("HEMAT"), discount)).await;
    let verdict = validates_code(&world, &sailing, "hemat", 2, "").await.ok();
    assert_eq!(verdict["valid"], true);
    assert_eq!(verdict["discount"], 30_000, "12.5 % of 300,000 would be more");
    assert_eq!(verdict["price"]["total"], 270_000);
    let reason = async |code: &str, qty: i64| {
        let verdict = validates_code(&world, &sailing, code, qty, "").await.ok();
        assert_eq!(verdict["valid"], false);
        verdict["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("HEMAT", 1).await, "below_minimum");
    assert_eq!(reason("NOPE", 1).await, "unknown");
    let own = json!({ "target_type": "mitra", "target_ids": [made["id"]] });
    let other = world.active_partner("other@bahari.id").await;
    let target = with(own, json!({ "target_ids": [world.partner_id(&other).await] }));
    creates_promotion(&world, &admin, with(promotion("THEIRS"), target)).await;
    assert_eq!(reason("THEIRS", 1).await, "not_applicable");
    let target = json!({ "target_type": "speedboat", "target_ids": [sailing.boat] });
    creates_promotion(&world, &admin, with(promotion("OURS"), target)).await;
    assert_eq!(validates_code(&world, &sailing, "OURS", 1, "").await.ok()["valid"], true);
    creates_promotion(&world, &admin, with(promotion("OFF"), json!({ "status": "inactive" })))
        .await;
    assert_eq!(reason("OFF", 1).await, "inactive");
    world.advances_clock(TimeDelta::days(-20));
    assert_eq!(reason("OURS", 1).await, "not_started");
    world.advances_clock(TimeDelta::days(36));
    assert_eq!(reason("OURS", 1).await, "ended");
    let nowhere = json!({ "code_promo": "OURS", "type": "speedboat", "item_id": sailing.boat,
        "route_time_id": dermaga::kernel::ids::fresh(), "qty": 1 });
    let answer = world.post("/v1/booking/validate-code-promo", nowhere).send().await;
    answer.has_field_errors(&[("route_time_id", "unknown")]);
    assert_eq!(world.count("SELECT CAST(SUM(used) AS BIGINT) FROM promotions").await, 0);
}

fn order_with_code(sailing: &Sailing, qty: usize, email: &str, code: &str) -> Value {
    with(order(sailing, qty, email), json!({ "code_promo": code }))
}

async fn a_code_makes_it_cheaper_at_the_platforms_expense(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    creates_promotion(&world, &admin, promotion("HEMAT")).await;
    let booking = world.books(order_with_code(&sailing, 2, "sari@example.com", "hemat")).await.ok();
    assert_eq!(booking["code_promo"], "HEMAT");
    assert_eq!(booking["price"]["discount"], 30_000);
    assert_eq!(booking["price"]["total"], 270_000);
    let net: i64 = world.db().sql("SELECT partner_net FROM bookings").scalar().await.unwrap();
    assert_eq!(net, 270_000, "of the full price, less ten percent commission");
}

async fn count_uses(world: &World) -> i64 {
    let uses = "SELECT CAST(COALESCE(SUM(used), 0) AS BIGINT) FROM promotion_uses";
    let both = (
        world.count(uses).await,
        world.count("SELECT CAST(SUM(used) AS BIGINT) FROM promotions").await,
    );
    assert_eq!(both.0, both.1);
    both.1
}

async fn a_use_is_released_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    creates_promotion(&world, &admin, with(promotion("HEMAT"), json!({ "quota": 1 }))).await;
    let first = world.books(order_with_code(&sailing, 1, "sari@example.com", "HEMAT")).await.ok();
    let second = world.books(order_with_code(&sailing, 1, "putu@example.com", "HEMAT")).await;
    second.has_field_errors(&[("code_promo", "exhausted")]);
    assert_eq!(world.seats_taken(&sailing).await, 1, "a refused code takes no seats");
    world.advances_clock(TimeDelta::minutes(30));
    dermaga::bookings::expire(&world.app).await.unwrap();
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(count_uses(&world).await, 0);
    world.books(order_with_code(&sailing, 1, "putu@example.com", "HEMAT")).await.ok();
    assert_eq!(count_uses(&world).await, 1);
    // The first pays late: seats are left, but its discount was used by another booking.
    world.pays(&first).await;
    assert_eq!(world.looks_up(&first).await["status"], "refund_pending");
    assert_eq!(count_uses(&world).await, 1);
}

async fn a_customer_has_a_limit(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    creates_promotion(&world, &admin, with(promotion("HEMAT"), json!({ "per_customer_limit": 1 })))
        .await;
    world.books(order_with_code(&sailing, 1, "sari@example.com", "HEMAT")).await.ok();
    let again = world.books(order_with_code(&sailing, 1, "Sari@Example.com", "HEMAT")).await;
    again.has_field_errors(&[("code_promo", "limit_reached")]);
    let verdict = validates_code(&world, &sailing, "HEMAT", 1, "sari@example.com").await.ok();
    assert_eq!(verdict["reason"], "limit_reached");
    let anyone = validates_code(&world, &sailing, "HEMAT", 1, "").await.ok();
    assert_eq!(anyone["valid"], true);
    world.books(order_with_code(&sailing, 1, "putu@example.com", "HEMAT")).await.ok();
    assert_eq!(count_uses(&world).await, 2);
}

async fn a_used_promotion_stays(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let made = creates_promotion(&world, &admin, promotion("HEMAT")).await;
    let path = format!("/v1/promotion/{}", made["id"].as_str().unwrap());
    for email in ["sari@example.com", "putu@example.com"] {
        world.books(order_with_code(&sailing, 1, email, "HEMAT")).await.ok();
    }
    world.delete(&path).by(&admin).send().await.is(409, "in_use");
    let fewer = with(promotion("HEMAT"), json!({ "quota": 1 }));
    world.put(&path, fewer).by(&admin).send().await.has_field_errors(&[("quota", "min")]);
    let just = with(promotion("HEMAT"), json!({ "quota": 2 }));
    assert_eq!(world.put(&path, just).by(&admin).send().await.ok()["state"], "exhausted");
}

async fn a_booking_without_a_price_is_paid(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let discount = json!({ "discount": { "type": "percentage", "value": 100 } });
    creates_promotion(&world, &admin, with(promotion("GRATIS"), discount)).await;
    let booking =
        world.books(order_with_code(&sailing, 1, "sari@example.com", "GRATIS")).await.ok();
    assert_eq!(booking["price"]["total"], 0);
    assert_eq!(booking["status"], "paid");
    assert_eq!(booking["payment"], json!(null));
    world.delivers_outbox().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM payments").await, 0);
}

/// Null clears; the required fields are given each time.
async fn what_an_update_leaves_out_stays(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let optional = json!({
        "target_type": "speedboat", "target_ids": [sailing.boat], "funded_by": "partner",
        "per_customer_limit": 2,
        "discount": {
            "type": "percentage", "value": 10, "max_amount": 20_000, "min_purchase": 100_000,
        },
    });
    let made = creates_promotion(&world, &admin, with(promotion("HEMAT"), optional)).await;
    assert_eq!(made["funded_by"], "partner");
    let path = format!("/v1/promotion/{}", made["id"].as_str().unwrap());
    let put = |form: Value| world.put(&path, form).by(&admin).send();
    let same = with(promotion("HEMAT"), json!({ "target_type": "speedboat" }));
    assert_eq!(put(same.clone()).await.ok(), made);
    let cleared = json!({
        "per_customer_limit": null, "funded_by": null,
        "discount": { "type": "percentage", "value": 10, "max_amount": null, "min_purchase": null },
    });
    let after = put(with(same.clone(), cleared)).await.ok();
    assert_eq!(after["per_customer_limit"], json!(null));
    assert_eq!(after["funded_by"], "platform");
    assert_eq!(after["discount"]["max_amount"], json!(null));
    assert_eq!(after["discount"]["min_purchase"], json!(null));
    assert_eq!(after["target_ids"], json!([sailing.boat]));
    let required = [("target_ids", "required")];
    for none in [json!(null), json!([])] {
        let none = with(same.clone(), json!({ "target_ids": none }));
        put(none).await.has_field_errors(&required);
    }
    // Boats are no routes.
    let routes = with(promotion("HEMAT"), json!({ "target_type": "route" }));
    put(routes).await.has_field_errors(&required);
    assert_eq!(put(promotion("HEMAT")).await.ok()["target_ids"], json!([]));
}

async fn partner_code(world: &World, sailing: &Sailing, code: &str, percent: i64) -> Value {
    let id = world.partner_id(&sailing.partner).await;
    with(
        promotion(code),
        json!({
            "funded_by": "partner", "target_type": "mitra", "target_ids": [id],
            "discount": { "type": "percentage", "value": percent },
        }),
    )
}

async fn a_partner_pays_for_its_own_code(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let made = partner_code(&world, &sailing, "BAHARI", 20).await;
    creates_promotion(&world, &admin, made).await;
    let list = world.get("/v1/promotions?funded_by=partner").by(&admin).send().await.ok();
    assert_eq!(list[0]["code"], "BAHARI");
    let none = world.get("/v1/promotions?funded_by=platform").by(&admin).send().await.ok();
    assert_eq!(none, json!([]));
    let booking = world.books(order_with_code(&sailing, 1, "sari@example.com", "BAHARI")).await;
    let booking = booking.ok();
    assert_eq!(booking["price"]["total"], 120_000);
    let stored: (i64, i64) =
        world.db().sql("SELECT partner_discount, partner_net FROM bookings").one().await.unwrap();
    assert_eq!(stored, (30_000, 150_000 - 30_000 - 15_000));
    world.pays(&booking).await;
    assert_eq!(world.completes_paid_bookings().await, 1);
    assert_eq!(world.balance("promotion_expense").await, 0);
    assert_eq!(world.balance("partner_payable").await, -105_000);
    assert_eq!(world.balance("commission_revenue").await, -15_000);
    let due = "SELECT net FROM partner_dues WHERE gross = 120000 AND commission = 15000";
    assert_eq!(world.count(due).await, 105_000);
}

async fn a_partner_pays_for_its_own_sailings_only(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let post = |form: Value| world.post("/v1/contents/promotion", form).by(&admin).send();
    let nobody = with(promotion("SEMUA"), json!({ "funded_by": "nobody" }));
    post(nobody).await.has_field_errors(&[("funded_by", "enum")]);
    let other = world.active_partner("putu@gili.id").await;
    let theirs = json!({ "target_ids": [world.partner_id(&other).await] });
    let theirs = with(partner_code(&world, &sailing, "GILI", 20).await, theirs);
    creates_promotion(&world, &admin, theirs).await;
    let refused = world.books(order_with_code(&sailing, 1, "sari@example.com", "GILI")).await;
    refused.has_field_errors(&[("code_promo", "not_applicable")]);
    // Without targets, each partner pays for its own sailings.
    let all = with(promotion("SEMUA"), json!({ "funded_by": "partner" }));
    creates_promotion(&world, &admin, all).await;
    world.books(order_with_code(&sailing, 1, "sari@example.com", "SEMUA")).await.ok();
    let paid_by =
        "SELECT COUNT(*) FROM bookings WHERE discount > 0 AND partner_discount = discount";
    assert_eq!(world.count(paid_by).await, 1);
}

/// A discount of the whole price: the customer pays nothing, and the partner the commission.
async fn a_partner_owes_the_commission_of_what_it_gives_away(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let made = partner_code(&world, &sailing, "GRATIS", 100).await;
    creates_promotion(&world, &admin, made).await;
    let order = order_with_code(&sailing, 1, "sari@example.com", "GRATIS");
    assert_eq!(world.books(order).await.ok()["status"], "paid");
    assert_eq!(world.completes_paid_bookings().await, 1);
    assert_eq!(world.balance("promotion_expense").await, 0);
    assert_eq!(world.balance("partner_payable").await, 15_000);
    assert_eq!(world.count("SELECT net FROM partner_dues").await, -15_000);
}

async fn the_platform_pays_for_no_discount_of_a_partners_sales(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    creates_promotion(&world, &admin, promotion("HEMAT")).await;
    let made = partner_code(&world, &sailing, "BAHARI", 20).await;
    creates_promotion(&world, &admin, made).await;
    let asked = |code: &str| {
        let body = json!({
            "code_promo": code, "type": "speedboat", "item_id": sailing.boat,
            "route_time_id": sailing.id, "qty": 1,
        });
        world.post("/v1/booking/validate-code-promo", body)
    };
    let wanted = |code: &str| {
        world.post("/v1/booking/", order_with_code(&sailing, 1, "sari@example.com", code))
    };
    let partner = &sailing.partner;
    let crew = world.crew(partner, "nyoman@bahari.id").await;
    for who in [partner, &crew] {
        let verdict = asked("HEMAT").by(who).send().await.ok();
        assert_eq!(verdict, json!({ "valid": false, "reason": "not_applicable" }), "{}", who.email);
    }
    assert_eq!(asked("BAHARI").by(partner).send().await.ok()["valid"], true);
    assert_eq!(asked("HEMAT").by(&admin).send().await.ok()["valid"], true);
    assert_eq!(asked("HEMAT").send().await.ok()["valid"], true);
    asked("HEMAT").with_token("forged").send().await.is(401, "unauthenticated");
    let refused = wanted("HEMAT").by(partner).send().await;
    refused.has_field_errors(&[("code_promo", "not_applicable")]);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(wanted("BAHARI").by(partner).send().await.ok()["price"]["discount"], 30_000);
    assert_eq!(wanted("HEMAT").by(&admin).send().await.ok()["price"]["discount"], 15_000);
    assert_eq!(wanted("HEMAT").send().await.ok()["price"]["discount"], 15_000);
}
