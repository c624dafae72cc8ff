//! Taxes, and that a booking keeps those it was sold with.

use chrono::TimeDelta;
use dermaga::invariants;
use serde_json::{Value, json};

use crate::{
    harbour::{charter, order},
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    taxes_are_managed,
    a_part_of_the_price_is_taxed,
    a_tax_applies_to_seats_or_to_charters,
    a_charged_tax_keeps_its_code,
    bookings_keep_a_tax_that_is_deleted,
    a_tax_that_was_never_charged_can_be_removed,
    a_booking_keeps_the_rates_it_was_sold_with,
    taxes_are_owed_to_the_state_by_code,
];

const TAXES: &str = "/v1/configurations/taxs";

fn tax(code: &str, rate: f64, applies_to: &str) -> Value {
    json!({
        "name": "PPN", "code": code, "rate": rate, "applies_to": applies_to, "is_active": true,
    })
}

fn with(mut value: Value, changes: Value) -> Value {
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    value
}

async fn creates_tax(world: &World, admin: &Someone, tax: Value) -> (String, Value) {
    let made = world.post(TAXES, tax).by(admin).send().await.ok();
    (format!("{TAXES}/{}", made["id"].as_str().unwrap()), made)
}

async fn taxes_are_managed(world: World) {
    let admin = world.admin().await;
    let (path, made) = creates_tax(&world, &admin, tax("PPN", 11.0, "booking")).await;
    assert_eq!((&made["rate"], &made["base_factor"]), (&json!(11), &json!("1")));
    let again = tax("ppn", 2.5, "booking");
    world.post(TAXES, again).by(&admin).send().await.is(409, "already_exists");
    let rubbish = json!({ "name": "", "code": "X", "rate": 101, "applies_to": "boat" });
    world.post(TAXES, rubbish).by(&admin).send().await.has_field_errors(&[
        ("applies_to", "enum"),
        ("is_active", "required"),
        ("name", "required"),
        ("rate", "max"),
    ]);
    let after = world.put(&path, tax("PPN", 2.5, "seats")).by(&admin).send().await.ok();
    assert_eq!((&after["rate"], &after["applies_to"]), (&json!(2.5), &json!("seats")));
    let list = world.get(&format!("{TAXES}?applies_to=seats")).by(&admin).send().await.ok();
    assert_eq!(list, json!([after]));
    world.delete(&path).by(&admin).send().await.ok();
    world.put(&path, tax("PPN", 1.0, "booking")).by(&admin).send().await.is(404, "not_found");
}

async fn a_part_of_the_price_is_taxed(world: World) {
    let admin = world.admin().await;
    let form = |factor: Value| with(tax("PPN", 12.0, "booking"), json!({ "base_factor": factor }));
    for (factor, rule) in [
        (json!("13/12"), "format"),
        (json!("0/12"), "format"),
        (json!("11/0"), "format"),
        (json!("eleven twelfths"), "format"),
        (json!("99999999/99999999"), "format"),
        (json!(1.5), "max"),
        (json!(0.123_456_78), "format"),
        (json!(true), "type"),
    ] {
        let answer = world.post(TAXES, form(factor.clone())).by(&admin).send().await;
        assert_eq!(answer.field_errors(), [("base_factor".into(), rule.into())], "{factor}");
    }
    for nothing in [json!(0), json!(-1)] {
        let answer = world.post(TAXES, form(nothing)).by(&admin).send().await;
        assert_eq!(answer.field_errors()[0].0, "base_factor");
    }
    let (path, made) = creates_tax(&world, &admin, form(json!("22/24"))).await;
    assert_eq!(made["base_factor"], "11/12");
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(booking["price"]["tax"], 16_500, "12 % of 137,500");
    assert_eq!(booking["price"]["taxes"][0]["base_factor"], "11/12");
    // What is left out stays, null is the default.
    let put = async |form: Value| world.put(&path, form).by(&admin).send().await.ok();
    assert_eq!(put(tax("PPN", 12.0, "booking")).await["base_factor"], "11/12");
    assert_eq!(put(form(json!(0.5))).await["base_factor"], "1/2");
    assert_eq!(put(form(json!(null))).await["base_factor"], "1");
    let dearer = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(dearer["price"]["tax"], 18_000);
    assert_eq!(world.looks_up(&booking).await["price"], booking["price"]);
}

async fn a_tax_applies_to_seats_or_to_charters(world: World) {
    let admin = world.admin().await;
    for (code, rate, on) in [("SEAT", 1.0, "seats"), ("BOAT", 10.0, "charter")] {
        creates_tax(&world, &admin, tax(code, rate, on)).await;
    }
    let sailing = world.sailing().await;
    let other = world.sailing_of_another_day(&sailing).await;
    let seat = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(seat["price"]["tax"], 1_500);
    assert_eq!(seat["price"]["taxes"][0]["code"], "SEAT");
    let boat = world.books(charter(&other, 2, "sari@example.com")).await.ok();
    assert_eq!(boat["price"]["tax"], 450_000, "30 seats of 150,000");
    assert_eq!(boat["price"]["taxes"][0]["code"], "BOAT");
}

/// Prices and ledger lines name a tax by its code.
async fn a_charged_tax_keeps_its_code(world: World) {
    let admin = world.admin().await;
    let (path, _) = creates_tax(&world, &admin, tax("PPN", 11.0, "booking")).await;
    let put = |form: Value| world.put(&path, form).by(&admin).send();
    put(tax("VAT", 11.0, "commission")).await.ok();
    put(tax("PPN", 11.0, "booking")).await.ok();
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    put(tax("VAT", 11.0, "booking")).await.is(409, "in_use");
    put(tax("ppn", 11.0, "booking")).await.is(409, "in_use");
    put(tax("PPN", 11.0, "commission")).await.is(409, "in_use");
    let off = json!({ "is_active": false });
    put(with(tax("PPN", 12.0, "seats"), off.clone())).await.ok();
    // It stays charged when nothing is charged any more.
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    put(with(tax("VAT", 12.0, "seats"), off)).await.is(409, "in_use");
    let taken = tax("PPN", 1.0, "booking");
    world.post(TAXES, taken).by(&admin).send().await.is(409, "already_exists");
    assert_eq!(world.count("SELECT COUNT(*) FROM taxes WHERE code = 'PPN'").await, 1);
}

async fn bookings_keep_a_tax_that_is_deleted(world: World) {
    let admin = world.admin().await;
    let (path, made) = creates_tax(&world, &admin, tax("PPN", 11.0, "booking")).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(booking["price"]["tax"], 16_500);
    world.delete(&path).by(&admin).send().await.ok();
    world.delete(&path).by(&admin).send().await.is(404, "not_found");
    world.put(&path, tax("PPN", 1.0, "booking")).by(&admin).send().await.is(404, "not_found");
    assert_eq!(world.get(TAXES).by(&admin).send().await.ok(), json!([]));
    assert_eq!(world.looks_up(&booking).await["price"], booking["price"]);
    let later = world.books(order(&sailing, 1, "dewi@example.com")).await.ok();
    assert_eq!(later["price"]["tax"], 0);
    // The code still means a tax on bookings.
    let create = |form: Value| world.post(TAXES, form).by(&admin).send();
    create(tax("ppn", 2.0, "commission")).await.is(409, "in_use");
    let (path, vat) = creates_tax(&world, &admin, tax("VAT", 2.0, "commission")).await;
    world.put(&path, tax("PPN", 2.0, "commission")).by(&admin).send().await.is(409, "in_use");
    let again = create(tax("PPN", 12.0, "seats")).await.ok();
    assert_ne!(again["id"], made["id"]);
    assert_ne!(again["id"], vat["id"]);
    let later = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    assert_eq!(later["price"]["tax"], 18_000);
}

async fn a_tax_that_was_never_charged_can_be_removed(world: World) {
    let admin = world.admin().await;
    let off = |tax: Value| with(tax, json!({ "is_active": false }));
    let (never, _) = creates_tax(&world, &admin, off(tax("NEVER", 1.0, "booking"))).await;
    let (briefly, _) = creates_tax(&world, &admin, tax("BRIEFLY", 1.0, "booking")).await;
    world.put(&briefly, off(tax("BRIEFLY", 1.0, "booking"))).by(&admin).send().await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    let (late, _) = creates_tax(&world, &admin, tax("LATE", 1.0, "booking")).await;
    for path in [&never, &briefly, &late] {
        let renamed = off(tax(&format!("X{}", &path[path.len() - 4..]), 1.0, "commission"));
        world.put(path, renamed).by(&admin).send().await.ok();
        world.delete(path).by(&admin).send().await.ok();
    }
}

async fn a_booking_keeps_the_rates_it_was_sold_with(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut made = Vec::new();
    for form in [tax("PPN", 11.0, "booking"), tax("PPN-K", 12.0, "commission")] {
        made.push((creates_tax(&world, &admin, form.clone()).await.0, form));
    }
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(booking["price"]["tax"], 16_500);
    assert_eq!(booking["price"]["total"], 166_500);
    assert_eq!(
        booking["price"]["taxes"],
        json!([{ "code": "PPN", "name": "PPN", "rate": 11, "amount": 16_500 }])
    );
    for (path, form) in made {
        let off = with(form, json!({ "is_active": false }));
        world.put(&path, off).by(&admin).send().await.ok();
    }
    assert_eq!(world.looks_up(&booking).await["price"], booking["price"]);
    let net: i64 = world.db().sql("SELECT partner_net FROM bookings").scalar().await.unwrap();
    assert_eq!(net, 150_000 - 15_000 - 1_800, "less commission and the tax on it");
    let untaxed = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(untaxed["price"]["total"], 150_000);
}

async fn broken_rules(world: &World) -> Vec<&'static str> {
    let checked = invariants::check(world.db()).await.unwrap();
    checked.into_iter().filter(|one| !one.broken.is_empty()).map(|one| one.rule).collect()
}

/// Of a journey, and of the half that a late cancellation keeps.
async fn taxes_are_owed_to_the_state_by_code(world: World) {
    let admin = world.admin().await;
    let part = json!({ "base_factor": "11/12" });
    creates_tax(&world, &admin, with(tax("PPN", 12.0, "booking"), part.clone())).await;
    creates_tax(&world, &admin, tax("PAX", 1.0, "seats")).await;
    creates_tax(&world, &admin, with(tax("PPN-K", 12.0, "commission"), part)).await;
    let sailing = world.sailing().await;
    let (sailed, cancelled) =
        (world.paid_booking(&sailing, 1).await, world.paid_booking(&sailing, 1).await);
    let body = json!({
        "code": cancelled["code"], "email": "sari@example.com", "reason": "Sakit",
    });
    let path = format!("/v1/booking/{}/cancel", cancelled["id"].as_str().unwrap());
    let cancelled = world.post(&path, body).send().await.ok();
    assert_eq!(sailed["price"]["total"], 168_000);
    assert_eq!(cancelled["refund_amount"], 84_000, "half of it, less than a day before");
    assert_eq!(world.completes_paid_bookings().await, 1);
    let owed = async |code: &'static str| {
        let sum = "SELECT CAST(COALESCE(-SUM(amount), 0) AS BIGINT) FROM ledger_lines
             WHERE account = 'tax_payable' AND tax_code = $1";
        world.db().sql(sum).bind(code).scalar::<i64>().await.unwrap()
    };
    assert_eq!(owed("PPN").await, 16_500 + 8_250);
    assert_eq!(owed("PAX").await, 1_500 + 750);
    assert_eq!(owed("PPN-K").await, 1_650 + 825);
    let known = broken_rules(&world).await;
    let of_taxes = |rules: &[&str]| rules.iter().filter(|rule| rule.starts_with("taxes")).count();
    assert_eq!(of_taxes(&known), 0, "{known:?}");
    // A tax under another code is found.
    let changed = r#"[{"code":"PPN","name":"PPN","rate":12,"base_factor":"11/12","amount":16500},
        {"code":"PAX2","name":"PPN","rate":1,"amount":1500}]"#;
    let changed: Value = serde_json::from_str(changed).unwrap();
    world.db().sql("UPDATE bookings SET taxes = $1").bind(changed).run().await.unwrap();
    assert_eq!(of_taxes(&broken_rules(&world).await), 2);
}
