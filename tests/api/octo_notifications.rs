//! Notifications of resellers: subscriptions, and what they are told.

use serde_json::{Value, json};

use crate::{
    on_both_engines,
    resale::{Reseller, Shop, UNKNOWN},
    webhooks::{Receiver, allow_private_addresses},
    world::World,
};

on_both_engines![
    a_subscription_is_made_changed_and_ended,
    a_subscription_needs_an_address_types_and_harmless_headers,
    a_subscription_of_another_reseller_does_not_exist,
    keys_see_only_the_subscriptions_of_their_scope,
    a_reseller_is_told_of_its_bookings,
    a_reseller_is_told_of_changed_availability_and_products,
];

const SUBSCRIPTIONS: &str = "/notifications/subscriptions";

async fn subscribes(world: &World, shop: &Shop, url: &str, types: &[&str]) -> Value {
    let headers = json!({ "X-Api-Key": "secret" });
    let body = json!({ "url": url, "notificationTypes": types, "headers": headers });
    world.octo_post(shop, SUBSCRIPTIONS, body).send().await.bare()
}

fn one(subscription: &Value) -> String {
    format!("{SUBSCRIPTIONS}/{}", subscription["id"].as_str().unwrap())
}

/// What was received: type and data.
fn heard(receiver: &Receiver) -> Vec<(String, Value)> {
    let heard = receiver.heard.lock().unwrap();
    let read = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        (body["type"].as_str().unwrap().to_owned(), body["data"].clone())
    };
    heard.iter().map(|(_, body)| read(body)).collect()
}

async fn a_subscription_is_made_changed_and_ended(world: World) {
    let shop = world.shop().await;
    let made = subscribes(&world, &shop, "https://hooks.agen.test/a", &["BOOKING_UPDATE"]).await;
    assert_eq!(made["notificationTypes"], json!(["BOOKING_UPDATE"]));
    assert_eq!(made["headers"], json!({ "x-api-key": "secret" }));
    let all = world.octo_get(&shop, SUBSCRIPTIONS).send().await.bare();
    assert_eq!(all, json!([made]));
    let change = json!({ "notificationTypes": ["PRODUCT_UPDATE", "AVAILABILITY_UPDATE"] });
    let changed = world.octo("PATCH", &shop, &one(&made)).json(change).send().await.bare();
    assert_eq!(changed["url"], made["url"]);
    assert_eq!(changed["headers"], made["headers"]);
    assert_eq!(changed["notificationTypes"], json!(["PRODUCT_UPDATE", "AVAILABILITY_UPDATE"]));
    assert_eq!(world.octo_get(&shop, &one(&made)).send().await.bare(), changed);
    world.octo("DELETE", &shop, &one(&made)).send().await.bare();
    assert_eq!(world.octo_get(&shop, &one(&made)).send().await.status, 404);
    // Those of resellers are none of the platform's.
    let admin = world.admin().await;
    subscribes(&world, &shop, "https://hooks.agen.test/a", &["BOOKING_UPDATE"]).await;
    let ours = world.get("/v1/webhooks").by(&admin).send().await.ok();
    assert_eq!(ours, json!([]));
}

async fn a_subscription_needs_an_address_types_and_harmless_headers(world: World) {
    let shop = world.shop().await;
    let good = json!({
        "url": "https://hooks.agen.test/a", "notificationTypes": ["BOOKING_UPDATE"],
    });
    for (field, wrong) in [
        ("url", json!(null)),
        ("url", json!("ftp://agen.test")),
        ("url", json!("http://127.0.0.1/")),
        ("notificationTypes", json!([])),
        ("notificationTypes", json!(["EVERYTHING"])),
        ("headers", json!({ "Host": "bank.test" })),
        ("headers", json!({ "x": "a\r\nb: c" })),
        ("headers", json!({ "x": 1 })),
    ] {
        let mut body = good.clone();
        body[field] = wrong;
        let answer = world.octo_post(&shop, SUBSCRIPTIONS, body.clone()).send().await;
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!("BAD_REQUEST")), "{body}");
    }
    assert_eq!(world.octo_get(&shop, SUBSCRIPTIONS).send().await.bare(), json!([]));
    for _ in 0..20 {
        world.octo_post(&shop, SUBSCRIPTIONS, good.clone()).send().await.bare();
    }
    let answer = world.octo_post(&shop, SUBSCRIPTIONS, good).send().await;
    assert_eq!(answer.body["error"], "UNPROCESSABLE_ENTITY");
}

async fn a_subscription_of_another_reseller_does_not_exist(world: World) {
    let shop = world.shop().await;
    let made = subscribes(&world, &shop, "https://hooks.agen.test/a", &["BOOKING_UPDATE"]).await;
    let other = Shop { reseller: world.reseller_with_key("Agen Lain").await, ..shop };
    assert_eq!(world.octo_get(&other, SUBSCRIPTIONS).send().await.bare(), json!([]));
    for method in ["GET", "PATCH", "DELETE"] {
        let answer = world.octo(method, &other, &one(&made)).send().await;
        assert_eq!(answer.status, 404, "{method}");
    }
    let path = format!("{SUBSCRIPTIONS}/{UNKNOWN}");
    assert_eq!(world.octo_get(&other, &path).send().await.status, 404);
}

async fn keys_see_only_the_subscriptions_of_their_scope(world: World) {
    let shop = world.shop().await;
    let bookings =
        subscribes(&world, &shop, "https://hooks.agen.test/a", &["BOOKING_UPDATE"]).await;
    let products =
        subscribes(&world, &shop, "https://hooks.agen.test/b", &["PRODUCT_UPDATE"]).await;
    let with = async |scopes: &[&str]| {
        let key = world.key_of(shop.reseller.id, scopes).await;
        Shop { reseller: Reseller { key, ..shop.reseller.clone() }, ..shop.clone() }
    };
    let catalog = with(&["catalog"]).await;
    let all = world.octo_get(&catalog, SUBSCRIPTIONS).send().await.bare();
    assert_eq!(all, json!([products]));
    for method in ["GET", "PATCH", "DELETE"] {
        assert_eq!(world.octo(method, &catalog, &one(&bookings)).send().await.status, 404);
    }
    assert_eq!(world.octo_get(&catalog, &one(&products)).send().await.bare(), products);
    // What is sent concerns all partners.
    let limited = with(&["catalog", "bookings.read"]).await;
    let partner = world.partner_id(&shop.partner).await;
    world
        .db()
        .sql("UPDATE reseller_keys SET partner_id = $1 WHERE prefix = $2")
        .bind(partner.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .bind(limited.reseller.key[..12].to_owned())
        .run()
        .await
        .unwrap();
    world.octo_get(&limited, "/products").send().await.bare();
    let body =
        json!({ "url": "https://hooks.agen.test/c", "notificationTypes": ["PRODUCT_UPDATE"] });
    world.octo_post(&limited, SUBSCRIPTIONS, body).send().await.refuses("FORBIDDEN");
    world.octo_get(&limited, SUBSCRIPTIONS).send().await.refuses("FORBIDDEN");
    for method in ["GET", "PATCH", "DELETE"] {
        world.octo(method, &limited, &one(&products)).send().await.refuses("FORBIDDEN");
    }
    // The base of a partner limits no key.
    let of_base = format!("/partners/{partner}{SUBSCRIPTIONS}");
    let all = world.octo_get(&shop, &of_base).send().await.bare();
    assert_eq!(all.as_array().unwrap().len(), 2);
}

async fn a_reseller_is_told_of_its_bookings(world: World) {
    let world = allow_private_addresses(world).await;
    let shop = world.shop().await;
    let receiver = Receiver::open().await;
    subscribes(&world, &shop, &receiver.url, &["BOOKING_UPDATE"]).await;
    let other = Shop { reseller: world.reseller_with_key("Agen Lain").await, ..shop.clone() };
    let foreign = Receiver::open().await;
    subscribes(&world, &other, &foreign.url, &["BOOKING_UPDATE"]).await;
    let sold = world.confirmed(&shop, 1).await;
    world.cancels(&shop, &sold, json!({})).await.bare();
    world.delivers_outbox().await;
    let told = ("BOOKING_UPDATE".to_owned(), json!({ "uuid": sold["uuid"] }));
    assert_eq!(heard(&receiver), [told.clone(), told]);
    let (headers, _) = receiver.heard.lock().unwrap()[0].clone();
    assert_eq!(headers["x-api-key"], "secret");
    assert!(headers.contains_key("webhook-signature"));
    assert_eq!(heard(&foreign), []);
}

async fn a_reseller_is_told_of_changed_availability_and_products(world: World) {
    let world = allow_private_addresses(world).await;
    let shop = world.shop().await;
    let receiver = Receiver::open().await;
    subscribes(&world, &shop, &receiver.url, &["AVAILABILITY_UPDATE", "PRODUCT_UPDATE"]).await;
    let announce = async || {
        dermaga::webhooks::queue_line_changes(&world.app).await.unwrap();
        world.delivers_outbox().await;
        std::mem::take(&mut *receiver.heard.lock().unwrap())
    };
    // What was published before anybody subscribed is not told again.
    announce().await;
    let sailing = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let path = format!("/v1/mitra/route-times/{sailing}");
    world.put(&path, json!({ "price": 175_000 })).by(&shop.partner).send().await.ok();
    // A sale that changes no status is no news.
    world.held(&shop, 1).await;
    dermaga::webhooks::queue_line_changes(&world.app).await.unwrap();
    world.delivers_outbox().await;
    let data = json!({
        "productId": shop.line, "localDateStart": "2026-11-20", "localDateEnd": "2026-11-20",
    });
    assert_eq!(heard(&receiver), [("AVAILABILITY_UPDATE".to_owned(), data)]);
    announce().await;
    let path = format!("/v1/mitra/lines/{}", shop.other_line);
    world.put(&path, json!({ "max_party": 5 })).by(&shop.partner).send().await.ok();
    dermaga::webhooks::queue_line_changes(&world.app).await.unwrap();
    world.delivers_outbox().await;
    let products: Vec<_> = heard(&receiver).into_iter().map(|(_, data)| data).collect();
    let expected =
        [json!({ "productId": shop.other_line }), json!({ "productId": shop.day_ticket() })];
    assert!(expected.iter().all(|one| products.contains(one)), "{products:?}");
    assert_eq!(products.len(), 2);
}
