//! Webhooks: subscriptions and deliveries.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, response::IntoResponse};
use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::TimeDelta;
use dermaga::{config::Switch, kernel::access::Rule};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{
    documented,
    harbour::order,
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    events_are_as_documented,
    subscribed_events_are_delivered_with_a_signature,
    subscriptions_are_kept_by_admins,
    failed_deliveries_are_retried_in_order_with_the_same_id,
    a_410_response_deactivates_the_webhook,
    a_day_of_failures_deactivates_the_webhook,
    a_delivery_can_be_sent_again,
    a_pending_delivery_can_be_sent_at_once,
    private_addresses_are_never_called,
    a_redirect_is_not_followed,
    a_hanging_receiver_delays_no_other,
];

/// A subscriber: what it received, and what it answers.
#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    pub heard: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    answers: Arc<AtomicU16>,
}

impl Receiver {
    pub async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://localhost:{}/hook", listener.local_addr().unwrap().port()),
            heard: Arc::default(),
            answers: Arc::new(AtomicU16::new(200)),
        };
        async fn receive(
            State(receiver): State<Receiver>,
            headers: HeaderMap,
            body: Bytes,
        ) -> axum::response::Response {
            let text = String::from_utf8(body.to_vec()).unwrap();
            receiver.heard.lock().unwrap().push((headers, text));
            let status = receiver.answers.load(Ordering::SeqCst);
            if status == 0 {
                std::future::pending::<()>().await;
            }
            let status = axum::http::StatusCode::from_u16(status).unwrap();
            (status, [("location", "http://localhost:1/")]).into_response()
        }
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        receiver
    }

    fn respond_with(&self, status: u16) {
        self.answers.store(status, Ordering::SeqCst);
    }

    pub fn event_types(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let kind = |body: &str| serde_json::from_str::<Value>(body).unwrap()["type"].clone();
        heard.iter().map(|(_, body)| kind(body).as_str().unwrap().to_owned()).collect()
    }
}

/// One connection after the other is enough here.
async fn axum_serve(listener: tokio::net::TcpListener, router: Router) {
    while let Ok((stream, _)) = listener.accept().await {
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let io = hyper_util::rt::TokioIo::new(stream);
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
        });
    }
}

pub async fn allow_private_addresses(world: World) -> World {
    world.with(|config| config.webhook_private_addresses = Switch(true)).await
}

async fn creates_webhook(world: &World, admin: &Someone, url: &str, events: &[&str]) -> Value {
    let body = json!({ "url": url, "events": events });
    world.post("/v1/webhooks", body).by(admin).send().await.ok()
}

async fn deliveries(world: &World, admin: &Someone, webhook: &Value) -> Vec<Value> {
    let path = format!("/v1/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    world.get(&path).by(admin).send().await.ok().as_array().unwrap().clone()
}

async fn subscribed_events_are_delivered_with_a_signature(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let webhook =
        creates_webhook(&world, &admin, &receiver.url, &["booking.paid", "booking.completed"])
            .await;
    let secret = webhook["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"));
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.delivers_outbox().await;
    assert_eq!(receiver.event_types(), ["booking.paid", "booking.completed"], "and nothing else");
    let (headers, body) = receiver.heard.lock().unwrap()[0].clone();
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(said["data"]["code"], booking["code"]);
    assert_eq!(said["timestamp"], "2026-11-15T03:00:00Z");
    let (id, timestamp) = (headers["webhook-id"].to_str().unwrap(), &headers["webhook-timestamp"]);
    let key = BASE64_STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap();
    let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let mac = mac.chain_update(format!("{id}.{}.{body}", timestamp.to_str().unwrap()));
    let expected = format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(headers["webhook-signature"], expected);
    let log = deliveries(&world, &admin, &webhook).await;
    assert_eq!(log.len(), 2);
    assert_eq!(log[1]["status"], "delivered");
    assert_eq!(log[1]["response_status"], 200);
    assert_eq!(log[1]["event_id"], json!(id));
    // The secret is neither stored in plain text nor in any later response.
    assert!(!world.all_stored_data().await.contains(&secret));
    let listed = world.get("/v1/webhooks").by(&admin).send().await.ok();
    assert!(listed[0].get("secret").is_none());
}

async fn events_are_as_documented(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    creates_webhook(&world, &admin, &receiver.url, &documented::events()).await;
    let sailing = world.sailing().await;
    world.submitted_partner("putu@bahari.id").await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    world.paid_booking(&sailing, 2).await;
    let next = world.sailing_of_another_day(&sailing).await;
    world.paid_booking(&next, 1).await;
    world.cancels_sailing(&next, &admin).await.ok();
    world.completes_paid_bookings().await;
    let settlement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&settlement, &admin).await.ok();
    world.delivers_outbox().await;
    let heard = receiver.heard.lock().unwrap().clone();
    let mut kinds = BTreeSet::new();
    for (_, body) in &heard {
        let body: Value = serde_json::from_str(body).unwrap();
        documented::check_event(&body);
        kinds.insert(body["type"].as_str().unwrap().split('.').next().unwrap().to_owned());
    }
    let kinds: Vec<_> = kinds.into_iter().collect();
    assert_eq!(kinds, ["booking", "partner", "refund", "sailing", "settlement"]);
}

async fn subscriptions_are_kept_by_admins(world: World) {
    let admin = world.admin().await;
    let clerk = world.staff("isi@dermaga.test", &[Rule::ContentsWrite]).await;
    let body = json!({ "url": "https://hooks.example/x", "events": ["booking.paid"] });
    let refused = world.post("/v1/webhooks", body.clone()).by(&clerk).send().await;
    refused.is(403, "forbidden");
    let made = world.post("/v1/webhooks", body).by(&admin).send().await.ok();
    assert_eq!(made["active"], true);
    let path = format!("/v1/webhooks/{}", made["id"].as_str().unwrap());
    let body = json!({
        "url": "https://hooks.example/y", "events": ["terms.published"], "active": false,
    });
    let changed = world.put(&path, body).by(&admin).send().await.ok();
    assert_eq!(changed["events"], json!(["terms.published"]));
    assert_eq!(changed["active"], false);
    let of = async |query: &str| {
        let list = world.get(&format!("/v1/webhooks?{query}")).by(&admin).send().await.ok();
        list.as_array().unwrap().len()
    };
    assert_eq!(
        (of("active=true").await, of("active=false").await, of("search=/Y").await),
        (0, 1, 1)
    );
    world.delete(&path).by(&admin).send().await.ok();
    world.delete(&path).by(&admin).send().await.is(404, "not_found");
    let post = async |body: Value| world.post("/v1/webhooks", body).by(&admin).send().await;
    post(json!({})).await.has_field_errors(&[("events", "required"), ("url", "required")]);
    let bad = post(json!({ "url": "ftp://x", "events": ["booking.lost"], "active": 1 })).await;
    let fields: Vec<_> = bad.field_errors().into_iter().map(|fault| fault.0).collect();
    assert_eq!(fields, ["active", "events[0]", "url"]);
    let none = post(json!({ "url": "https://x.id", "events": [] })).await;
    none.has_field_errors(&[("events", "min_items")]);
    let secret = post(json!({ "url": "https://a:b@x.id", "events": ["booking.paid"] })).await;
    secret.has_field_errors(&[("url", "format")]);
}

async fn failed_deliveries_are_retried_in_order_with_the_same_id(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let events = ["booking.created", "booking.paid"];
    let webhook = creates_webhook(&world, &admin, &receiver.url, &events).await;
    receiver.respond_with(503);
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    assert_eq!(receiver.event_types(), ["booking.created"], "the second waits for the first");
    let log = deliveries(&world, &admin, &webhook).await;
    assert_eq!(log[1]["status"], "pending");
    assert_eq!(log[1]["response_status"], 503);
    assert_eq!(log[1]["last_error"], "the receiver responded with 503");
    receiver.respond_with(200);
    world.delivers_outbox().await;
    assert_eq!(receiver.event_types().len(), 1, "not before its time");
    world.advances_clock(TimeDelta::seconds(5));
    world.delivers_outbox().await;
    assert_eq!(receiver.event_types(), ["booking.created", "booking.created", "booking.paid"]);
    let heard = receiver.heard.lock().unwrap().clone();
    assert_eq!(heard[0].0["webhook-id"], heard[1].0["webhook-id"]);
    let log = deliveries(&world, &admin, &webhook).await;
    assert!(log.iter().all(|delivery| delivery["status"] == "delivered"));
    assert_eq!(log[1]["attempts"], 2);
}

async fn a_410_response_deactivates_the_webhook(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let events = ["booking.created", "booking.paid"];
    let webhook = creates_webhook(&world, &admin, &receiver.url, &events).await;
    receiver.respond_with(410);
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let listed = world.get("/v1/webhooks").by(&admin).send().await.ok();
    assert_eq!(listed[0]["active"], false);
    assert_eq!(listed[0]["disabled_reason"], "gone");
    assert_eq!(receiver.event_types().len(), 1, "what was to follow is not sent");
    let log = deliveries(&world, &admin, &webhook).await;
    assert!(log.iter().all(|delivery| delivery["status"] == "failed"));
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let after = deliveries(&world, &admin, &webhook).await.len();
    assert_eq!(after, log.len(), "and nothing new is for it");
    let resend = format!(
        "/v1/webhooks/{}/deliveries/{}/resend",
        webhook["id"].as_str().unwrap(),
        log[0]["id"].as_str().unwrap()
    );
    world.post(&resend, json!({})).by(&admin).send().await.is(409, "invalid_state");
}

async fn a_day_of_failures_deactivates_the_webhook(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    creates_webhook(&world, &admin, &receiver.url, &["booking.created"]).await;
    receiver.respond_with(500);
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let started = world.now();
    let is_on = "SELECT COUNT(*) FROM webhooks WHERE active";
    // From attempt to attempt of one delivery.
    while world.count(is_on).await == 1 && world.now() - started < TimeDelta::days(3) {
        world.delivers_outbox().await;
        let due: Option<(chrono::DateTime<chrono::Utc>,)> = world
            .db()
            .sql("SELECT due_at FROM outbox WHERE queue = 'webhook' AND dead_at IS NULL")
            .maybe()
            .await
            .unwrap();
        if let Some((due,)) = due {
            world.advances_clock(due - world.now());
        }
    }
    let took = world.now() - started;
    assert!(took >= TimeDelta::hours(22) && took <= TimeDelta::hours(24), "{took}");
    let admin = world.signs_in(&admin.email, "admin").await;
    let listed = world.get("/v1/webhooks").by(&admin).send().await.ok();
    assert_eq!(listed[0]["disabled_reason"], "failing");
    // Reactivated manually, its failures are reset.
    let path = format!("/v1/webhooks/{}", listed[0]["id"].as_str().unwrap());
    let body = json!({ "url": receiver.url, "events": ["booking.created"], "active": true });
    let on = world.put(&path, body).by(&admin).send().await.ok();
    assert_eq!((&on["disabled_reason"], &on["failing_since"]), (&json!(null), &json!(null)));
}

async fn a_delivery_can_be_sent_again(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let webhook = creates_webhook(&world, &admin, &receiver.url, &["booking.created"]).await;
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let first = deliveries(&world, &admin, &webhook).await.remove(0);
    let path = format!("/v1/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    let resend = format!("{path}/{}/resend", first["id"].as_str().unwrap());
    let again = world.post(&resend, json!({})).by(&admin).send().await.ok();
    assert_eq!(again["status"], "pending");
    world.delivers_outbox().await;
    let heard = receiver.heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].0["webhook-id"], heard[1].0["webhook-id"]);
    assert_eq!(heard[0].1, heard[1].1);
    let nobody = dermaga::kernel::ids::fresh();
    let call = world.post(&format!("{path}/{nobody}/resend"), json!({})).by(&admin);
    call.send().await.is(404, "not_found");
    let other = creates_webhook(&world, &admin, &receiver.url, &["booking.paid"]).await;
    let foreign = format!(
        "/v1/webhooks/{}/deliveries/{}/resend",
        other["id"].as_str().unwrap(),
        first["id"].as_str().unwrap()
    );
    world.post(&foreign, json!({})).by(&admin).send().await.is(404, "not_found");
}

async fn a_pending_delivery_can_be_sent_at_once(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let events = ["booking.created", "booking.paid"];
    let webhook = creates_webhook(&world, &admin, &receiver.url, &events).await;
    receiver.respond_with(503);
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    for _ in 0..8 {
        world.delivers_outbox().await;
        world.advances_clock(TimeDelta::minutes(11));
    }
    world.delivers_outbox().await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let tried = receiver.event_types().len();
    receiver.respond_with(200);
    let waiting = deliveries(&world, &admin, &webhook).await.pop().unwrap();
    assert_eq!(waiting["status"], "pending");
    let resend = format!(
        "/v1/webhooks/{}/deliveries/{}/resend",
        webhook["id"].as_str().unwrap(),
        waiting["id"].as_str().unwrap()
    );
    world.post(&resend, json!({})).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let heard = receiver.event_types();
    assert_eq!(
        heard[tried..],
        ["booking.created", "booking.paid"],
        "once, and what waited behind it"
    );
}

async fn private_addresses_are_never_called(world: World) {
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let port = receiver.url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    // By number, in all notations.
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "127.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "169.254.169.254",
    ] {
        let url = format!("http://{host}:{port}/hook");
        let body = json!({ "url": url, "events": ["booking.created"] });
        let answer = world.post("/v1/webhooks", body).by(&admin).send().await;
        answer.has_field_errors(&[("url", "private")]);
    }
    // By name: the address is checked when the name is resolved.
    let webhook = creates_webhook(&world, &admin, &receiver.url, &["booking.created"]).await;
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let log = deliveries(&world, &admin, &webhook).await;
    assert_eq!(log[0]["status"], "pending");
    assert_eq!(log[0]["last_error"], "its name does not resolve to a public address");
    // Also one that was stored without the check.
    let moved = "UPDATE webhooks SET url = 'http://127.0.0.1:1/hook'";
    world.db().sql(moved).run().await.unwrap();
    world.advances_clock(TimeDelta::seconds(5));
    world.delivers_outbox().await;
    let log = deliveries(&world, &admin, &webhook).await;
    assert_eq!(log[0]["last_error"], "its address is not public");
    assert!(receiver.event_types().is_empty());
}

async fn a_redirect_is_not_followed(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    let webhook = creates_webhook(&world, &admin, &receiver.url, &["booking.created"]).await;
    receiver.respond_with(307);
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let log = deliveries(&world, &admin, &webhook).await;
    assert_eq!(log[0]["response_status"], 307);
    assert_eq!(log[0]["status"], "pending");
    assert_eq!(receiver.event_types().len(), 1);
}

async fn a_hanging_receiver_delays_no_other(world: World) {
    let world = allow_private_addresses(world).await;
    let admin = world.admin().await;
    let receiver = Receiver::open().await;
    creates_webhook(&world, &admin, &receiver.url, &["booking.created"]).await;
    receiver.respond_with(0);
    let sailing = world.sailing().await;
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let done = async {
        for n in 0..20 {
            world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await.ok();
        }
        let told = "SELECT COUNT(*) FROM notifications WHERE type = 'booking.created'";
        while world.count(told).await < 20 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), done).await.unwrap();
    worker.abort();
}
