//! Taxes, and that a booking keeps those it was sold with.

use serde_json::json;

use crate::{harbour::order, on_both_engines, world::World};

on_both_engines![taxes_are_managed, a_booking_keeps_the_rates_it_was_sold_with];

const TAXES: &str = "/v1/configurations/taxs";

async fn taxes_are_managed(world: World) {
    let admin = world.admin().await;
    let form = |code: &str, rate: f64| {
        json!({
            "name": "PPN", "code": code, "rate": rate, "applies_to": "booking", "is_active": true,
        })
    };
    let made = world.post(TAXES, form("PPN", 11.0)).by(&admin).send().await.ok();
    assert_eq!(made["rate"], 11);
    world.post(TAXES, form("ppn", 2.5)).by(&admin).send().await.is(409, "already_exists");
    let rubbish = json!({ "name": "", "code": "X", "rate": 101, "applies_to": "boat" });
    world.post(TAXES, rubbish).by(&admin).send().await.has_field_errors(&[
        ("applies_to", "enum"),
        ("is_active", "required"),
        ("name", "required"),
        ("rate", "max"),
    ]);
    let path = format!("{TAXES}/{}", made["id"].as_str().unwrap());
    let after = world.put(&path, form("PPN", 2.5)).by(&admin).send().await.ok();
    assert_eq!(after["rate"], 2.5);
    let list = world.get(TAXES).by(&admin).send().await.ok();
    assert_eq!(list.as_array().unwrap().len(), 1);
    world.delete(&path).by(&admin).send().await.ok();
    world.put(&path, form("PPN", 1.0)).by(&admin).send().await.is(404, "not_found");
}

async fn a_booking_keeps_the_rates_it_was_sold_with(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    for (code, rate, on) in [("PPN", 11.0, "booking"), ("PPN-K", 12.0, "commission")] {
        let tax = json!({
            "name": code, "code": code, "rate": rate, "applies_to": on, "is_active": true,
        });
        world.post(TAXES, tax).by(&admin).send().await.ok();
    }
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(booking["price"]["tax"], 16_500);
    assert_eq!(booking["price"]["total"], 166_500);
    assert_eq!(
        booking["price"]["taxes"],
        json!([{ "code": "PPN", "name": "PPN", "rate": 11, "amount": 16_500 }])
    );
    let list = world.get(TAXES).by(&admin).send().await.ok();
    for tax in list.as_array().unwrap() {
        let path = format!("{TAXES}/{}", tax["id"].as_str().unwrap());
        world.delete(&path).by(&admin).send().await.ok();
    }
    assert_eq!(world.looks_up(&booking).await["price"], booking["price"]);
    let net: i64 = world.db().sql("SELECT partner_net FROM bookings").scalar().await.unwrap();
    assert_eq!(net, 150_000 - 15_000 - 1_800, "less commission and the tax on it");
    let untaxed = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(untaxed["price"]["total"], 150_000);
}
