//! The real providers, played by a server with their documented format, correct and faulty.

// The server is axum's alone, so its own extractor is the right one.
#![allow(clippy::disallowed_types)]

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::TimeDelta;
use dermaga::config::{PaymentProvider, Url, WebUrl};
use serde_json::{Value, json};

use crate::{
    harbour::{callback_body, order},
    on_both_engines,
    world::{Answer, SERVER_KEY, World},
};

on_both_engines![
    requests_to_midtrans_have_the_documented_format,
    requests_to_xendit_have_the_documented_format,
    a_booking_survives_an_outage_of_the_provider,
    a_reference_that_is_used_up_is_followed_by_another,
    the_status_of_a_midtrans_notification_is_confirmed,
    a_xendit_callback_needs_the_token,
    a_xendit_callback_is_confirmed,
    xendit_is_asked_for_the_amount,
    an_invoice_of_another_payment_is_refused,
    a_xendit_callback_is_confirmed_after_an_outage,
    a_xendit_notice_counts_once,
    an_event_for_another_provider_is_refused,
    an_attempt_at_a_former_provider_is_followed_by_another,
    the_simulator_is_disabled_with_a_real_provider,
];

/// The behaviour of the provider, and the requests that it received.
#[derive(Default)]
struct Provider {
    mood: Mood,
    asked: Vec<(String, Value)>,
    /// What the status API, or the invoice API, says.
    status: Value,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Mood {
    #[default]
    Well,
    Broken,
    Garbage,
    Slow,
    /// It knows the reference already.
    Refusing,
}

type Shared = Arc<Mutex<Provider>>;

async fn respond(shared: &Shared, headers: &HeaderMap, asked: Value, right: Value) -> Response {
    let mood = {
        let mut provider = shared.lock().unwrap();
        let authorization = headers["authorization"].to_str().unwrap().to_owned();
        provider.asked.push((authorization, asked));
        provider.mood
    };
    match mood {
        Mood::Well => right.to_string().into_response(),
        Mood::Broken => (StatusCode::BAD_GATEWAY, "upstream").into_response(),
        Mood::Garbage => "<html>hello</html>".into_response(),
        Mood::Refusing => (StatusCode::BAD_REQUEST, "order_id is used").into_response(),
        Mood::Slow => {
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
            right.to_string().into_response()
        }
    }
}

async fn snap(State(shared): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let order = body["transaction_details"]["order_id"].as_str().unwrap().to_owned();
    let right = json!({ "token": "t", "redirect_url": format!("https://snap.test/{order}") });
    respond(&shared, &headers, body, right).await
}

async fn status(
    State(shared): State<Shared>,
    Path(order): Path<String>,
    headers: HeaderMap,
) -> Response {
    let right = shared.lock().unwrap().status.clone();
    respond(&shared, &headers, json!(order), right).await
}

async fn invoices(State(shared): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["external_id"].as_str().unwrap().to_owned();
    let right = json!({ "id": "inv-1", "invoice_url": format!("https://xendit.test/{id}") });
    respond(&shared, &headers, body, right).await
}

async fn invoice(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let right = shared.lock().unwrap().status.clone();
    respond(&shared, &headers, json!({ "invoice": id }), right).await
}

async fn with_provider(world: World, kind: PaymentProvider) -> (World, Shared) {
    let (url, shared) = provider().await;
    let world = world
        .with(|config| {
            config.payment_provider = kind;
            config.payment_url = Some(WebUrl(Url(url)));
        })
        .await;
    (world, shared)
}

async fn provider() -> (String, Shared) {
    let shared = Shared::default();
    let router = Router::new()
        .route("/snap/v1/transactions", post(snap))
        .route("/v2/{order}/status", get(status))
        .route("/v2/invoices", post(invoices))
        .route("/v2/invoices/{id}", get(invoice))
        .with_state(shared.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, shared)
}

/// An invoice of Xendit, as its callback and its API describe it.
fn invoice_of(booking: &Value, status: &str, amount: i64) -> Value {
    json!({
        "id": "inv-1", "external_id": booking["payment"]["reference"], "status": status,
        "amount": 150_000, "paid_amount": amount, "payment_method": "EWALLET", "currency": "IDR",
    })
}

impl World {
    /// Xendit's callback, with the right token.
    async fn receives_xendit_callback(&self, told: &Value) -> Answer {
        let call = self.post("/v1/payment/callback", told.clone());
        call.header("x-callback-token", SERVER_KEY).send().await
    }

    async fn assert_unpaid(&self, booking: &Value) {
        assert_eq!(self.looks_up(booking).await["status"], "pending_payment");
        assert_eq!(self.count("SELECT COUNT(*) FROM ledger_lines").await, 0);
    }
}

fn basic_authorization() -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{SERVER_KEY}:")))
}

async fn requests_to_midtrans_have_the_documented_format(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    assert_eq!(booking["payment"]["provider"], "midtrans");
    assert_eq!(booking["payment"]["redirect_url"], json!(format!("https://snap.test/{reference}")));
    assert_eq!(world.looks_up(&booking).await["payment"], booking["payment"]);
    let asked = provider.lock().unwrap().asked.clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].0, basic_authorization());
    let body = &asked[0].1;
    assert_eq!(
        body["transaction_details"],
        json!({ "order_id": reference, "gross_amount": 300_000 })
    );
    assert_eq!(body["customer_details"]["email"], "sari@example.com");
    assert_eq!(
        body["expiry"],
        json!({ "start_time": "2026-11-15 10:00:00 +0700", "unit": "minutes", "duration": 30 })
    );
    assert_eq!(body["callbacks"]["finish"], json!(page_of(&world, &booking)));
}

/// Where the customer returns to.
fn page_of(world: &World, booking: &Value) -> String {
    format!("{}/booking/{}", world.app.config.app_url(), booking["code"].as_str().unwrap())
}

async fn requests_to_xendit_have_the_documented_format(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    assert_eq!(
        booking["payment"]["redirect_url"],
        json!(format!("https://xendit.test/{reference}"))
    );
    let asked = provider.lock().unwrap().asked.clone();
    assert_eq!(asked[0].0, basic_authorization());
    assert_eq!(asked[0].1["external_id"], json!(reference));
    assert_eq!(asked[0].1["amount"], 150_000);
    assert_eq!(asked[0].1["invoice_duration"], 1_800);
    assert_eq!(asked[0].1["success_redirect_url"], json!(page_of(&world, &booking)));
}

async fn a_booking_survives_an_outage_of_the_provider(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    for mood in [Mood::Broken, Mood::Garbage, Mood::Slow] {
        provider.lock().unwrap().mood = mood;
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        assert_eq!(booking["status"], "pending_payment");
        assert_eq!(booking["payment"]["redirect_url"], json!(null));
        if mood != Mood::Slow {
            world.delivers_outbox().await;
            assert_eq!(world.looks_up(&booking).await["payment"]["redirect_url"], json!(null));
        }
        provider.lock().unwrap().mood = Mood::Well;
        world.advances_clock(TimeDelta::minutes(1));
        world.delivers_outbox().await;
        let payment = world.looks_up(&booking).await["payment"].clone();
        assert!(payment["redirect_url"].is_string(), "{payment}");
    }
    assert_eq!(world.seats_taken(&sailing).await, 3, "no seat is lost");
    assert_eq!(world.count("SELECT COUNT(*) FROM payments").await, 3, "one attempt each");
}

async fn a_reference_that_is_used_up_is_followed_by_another(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    provider.lock().unwrap().mood = Mood::Refusing;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    provider.lock().unwrap().mood = Mood::Well;
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    let payment = world.looks_up(&booking).await["payment"].clone();
    assert_eq!(payment["reference"], json!(format!("{}-2", booking["code"].as_str().unwrap())));
    assert!(payment["redirect_url"].is_string());
}

async fn the_status_of_a_midtrans_notification_is_confirmed(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let told = callback_body(reference, 150_000, "settlement", "t1");
    let hear = || world.post("/v1/payment/callback", told.clone()).send();
    let state = async || world.looks_up(&booking).await["status"].as_str().unwrap().to_owned();
    // Correctly signed but false: the provider knows of no payment.
    provider.lock().unwrap().status = callback_body(reference, 150_000, "pending", "t1");
    hear().await.ok();
    assert_eq!(state().await, "pending_payment");
    // While it cannot be asked, the notification is stored and not applied.
    for mood in [Mood::Broken, Mood::Garbage] {
        provider.lock().unwrap().mood = mood;
        hear().await.ok();
        world.delivers_outbox().await;
        assert_eq!(state().await, "pending_payment");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1, "kept, once");
    provider.lock().unwrap().mood = Mood::Well;
    provider.lock().unwrap().status = callback_body(reference, 150_000, "settlement", "t1");
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    assert_eq!(state().await, "paid");
    hear().await.ok();
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
}

async fn a_xendit_callback_needs_the_token(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let paid = invoice_of(&booking, "PAID", 150_000);
    provider.lock().unwrap().status = paid.clone();
    let hear = |token: &'static str| {
        let call = world.post("/v1/payment/callback", paid.clone());
        call.header("x-callback-token", token).send()
    };
    world.post("/v1/payment/callback", paid.clone()).send().await.is(401, "invalid_token");
    hear("wrong").await.is(401, "invalid_token");
    assert_eq!(provider.lock().unwrap().asked.len(), 1, "a stranger makes nobody ask");
    hear(SERVER_KEY).await.ok();
    let asked = provider.lock().unwrap().asked.clone();
    assert_eq!(asked[1], (basic_authorization(), json!({ "invoice": "inv-1" })));
    hear(SERVER_KEY).await.ok();
    let settled = invoice_of(&booking, "SETTLED", 150_000);
    provider.lock().unwrap().status = settled.clone();
    world.receives_xendit_callback(&settled).await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0, "the same money");
    let after = world.looks_up(&booking).await;
    assert_eq!(after["status"], "paid");
    assert_eq!(after["payment"]["method"], "ewallet");
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
}

async fn a_xendit_callback_is_confirmed(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    // The token is valid, but nothing was paid.
    provider.lock().unwrap().status = invoice_of(&booking, "PENDING", 0);
    for status in ["PAID", "SETTLED", "REFUNDED", "EXPIRED", "FAILED"] {
        world.receives_xendit_callback(&invoice_of(&booking, status, 150_000)).await.ok();
    }
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    world.assert_unpaid(&booking).await;
    assert_eq!(world.looks_up(&booking).await["payment"]["status"], "pending");
    // The invoice is over, whatever the callback says.
    provider.lock().unwrap().status = invoice_of(&booking, "EXPIRED", 0);
    let mut told = invoice_of(&booking, "PAID", 150_000);
    told["amount"] = json!(150_001);
    world.receives_xendit_callback(&told).await.ok();
    world.assert_unpaid(&booking).await;
    assert_eq!(world.looks_up(&booking).await["payment"]["status"], "expired");
}

async fn xendit_is_asked_for_the_amount(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    // It was paid in part; the callback claims that it was paid in full.
    provider.lock().unwrap().status = invoice_of(&booking, "PAID", 100_000);
    world.receives_xendit_callback(&invoice_of(&booking, "PAID", 150_000)).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "pending_payment");
    assert_eq!(world.balance("unapplied_payments").await, -100_000);
    assert_eq!(
        world.count("SELECT COUNT(*) FROM payment_reviews WHERE amount = 100000").await,
        1,
        "a person looks at what came"
    );
    // The method and the amount are the provider's, not the callback's.
    let other = world.books(order(&sailing, 1, "tono@example.com")).await.ok();
    let mut paid = invoice_of(&other, "PAID", 150_000);
    paid["payment_method"] = json!("QR_CODE");
    provider.lock().unwrap().status = paid;
    world.receives_xendit_callback(&invoice_of(&other, "PAID", 1)).await.ok();
    let after = world.looks_up(&other).await;
    assert_eq!((&after["status"], &after["payment"]["method"]), (&json!("paid"), &json!("qris")));
    assert_eq!(world.balance("customer_deposits").await, -150_000);
}

async fn an_invoice_of_another_payment_is_refused(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let other = world.books(order(&sailing, 1, "tono@example.com")).await.ok();
    let asked = || provider.lock().unwrap().asked.len();
    let told = invoice_of(&booking, "PAID", 150_000);
    // An invoice that was paid, and pays for somebody else.
    provider.lock().unwrap().status = invoice_of(&other, "PAID", 150_000);
    world.receives_xendit_callback(&told).await.is(404, "not_found");
    let mut another = told.clone();
    another["id"] = json!("inv-2");
    provider.lock().unwrap().status = another;
    world.receives_xendit_callback(&told).await.is(404, "not_found");
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 0);
    // An invalid notification is not confirmed.
    let before = asked();
    let mut stray = told.clone();
    stray["external_id"] = json!("nothing-1");
    world.receives_xendit_callback(&stray).await.is(404, "not_found");
    for id in [json!("../balance"), json!("a?b"), json!(""), json!(7), json!(null)] {
        let mut odd = told.clone();
        odd["id"] = id;
        world.receives_xendit_callback(&odd).await.is(400, "malformed_request");
    }
    assert_eq!(asked(), before);
    // The same while the provider is down: once it answers, the notice is dropped.
    provider.lock().unwrap().mood = Mood::Broken;
    world.receives_xendit_callback(&told).await.ok();
    provider.lock().unwrap().mood = Mood::Well;
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    world.assert_unpaid(&booking).await;
    world.assert_unpaid(&other).await;
    let waiting = "SELECT COUNT(*) FROM outbox WHERE topic = 'payment.unconfirmed'";
    assert_eq!(world.count(waiting).await, 0);
}

async fn a_xendit_callback_is_confirmed_after_an_outage(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let told = invoice_of(&booking, "PAID", 150_000);
    for mood in [Mood::Broken, Mood::Garbage, Mood::Refusing] {
        provider.lock().unwrap().mood = mood;
        world.receives_xendit_callback(&told).await.ok();
        world.delivers_outbox().await;
        world.assert_unpaid(&booking).await;
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1, "kept, once");
    provider.lock().unwrap().mood = Mood::Well;
    provider.lock().unwrap().status = told.clone();
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    world.receives_xendit_callback(&told).await.ok();
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1);
}

async fn a_xendit_notice_counts_once(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let told = invoice_of(&booking, "PAID", 150_000);
    provider.lock().unwrap().status = told.clone();
    let calls = (0..8).map(|_| {
        let call = world.post("/v1/payment/callback", told.clone());
        call.header("x-callback-token", SERVER_KEY).send_with_retry()
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.ok();
    }
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
}

async fn an_event_for_another_provider_is_refused(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(booking["payment"]["provider"], "simulator");
    let reference = booking["payment"]["reference"].as_str().unwrap().to_owned();
    // The simulator is replaced by Midtrans, which signs in the same way with the same key.
    let (url, provider) = provider().await;
    let address = url.clone();
    let world = world
        .restarts_with(|config| {
            config.payment_provider = PaymentProvider::Midtrans;
            config.payment_url = Some(WebUrl(Url(address)));
        })
        .await;
    let told = callback_body(&reference, 150_000, "settlement", "t1");
    provider.lock().unwrap().status = told.clone();
    world.post("/v1/payment/callback", told).send().await.is(404, "not_found");
    let told = callback_body(&reference, 150_000, "expire", "t1");
    world.post("/v1/payment/callback", told).send().await.is(404, "not_found");
    // A notification of Midtrans is unconfirmed when Midtrans is replaced by Xendit.
    let late = world.books(order(&sailing, 1, "tono@example.com")).await.ok();
    let told =
        callback_body(late["payment"]["reference"].as_str().unwrap(), 150_000, "settlement", "t2");
    provider.lock().unwrap().mood = Mood::Broken;
    world.post("/v1/payment/callback", told).send().await.ok();
    let world = world
        .restarts_with(|config| {
            config.payment_provider = PaymentProvider::Xendit;
            config.payment_url = Some(WebUrl(Url(url)));
        })
        .await;
    provider.lock().unwrap().mood = Mood::Well;
    for booking in [&booking, &late] {
        let paid = invoice_of(booking, "PAID", 150_000);
        provider.lock().unwrap().status = paid.clone();
        world.receives_xendit_callback(&paid).await.is(404, "not_found");
    }
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    world.assert_unpaid(&booking).await;
    world.assert_unpaid(&late).await;
    let waiting = "SELECT COUNT(*) FROM outbox WHERE topic = 'payment.unconfirmed'";
    assert_eq!(world.count(waiting).await, 1, "a person has to look");
    // It does not pay cash payments, either.
    world.db().sql("UPDATE payments SET provider = 'cash'").run().await.unwrap();
    world
        .receives_xendit_callback(&invoice_of(&booking, "PAID", 150_000))
        .await
        .is(404, "not_found");
    world.assert_unpaid(&booking).await;
    let asked = provider.lock().unwrap().asked.clone();
    assert!(asked.iter().all(|(_, asked)| asked["invoice"].is_null()), "nobody was asked");
}

async fn an_attempt_at_a_former_provider_is_followed_by_another(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let (url, provider) = provider().await;
    let world = world
        .restarts_with(|config| {
            config.payment_provider = PaymentProvider::Xendit;
            config.payment_url = Some(WebUrl(Url(url)));
        })
        .await;
    // Notifications of the new provider count only for attempts that were made there.
    let path = format!("/v1/booking/{}/payment", booking["id"].as_str().unwrap());
    let knows = json!({ "code": booking["code"], "email": "sari@example.com" });
    let again = world.post(&path, knows).send().await.ok();
    let reference = format!("{}-2", booking["code"].as_str().unwrap());
    assert_eq!(again["payment"]["provider"], "xendit");
    assert_eq!(again["payment"]["reference"], json!(reference));
    assert_eq!(again["payment"]["redirect_url"], json!(format!("https://xendit.test/{reference}")));
    let paid = invoice_of(&again, "PAID", 150_000);
    provider.lock().unwrap().status = paid.clone();
    world.receives_xendit_callback(&paid).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
}

async fn the_simulator_is_disabled_with_a_real_provider(world: World) {
    let (world, _) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/pay/{}", booking["payment"]["reference"].as_str().unwrap());
    assert_eq!(world.get(&path).bytes().await.0, 404);
    let press = world.call(reqwest::Method::POST, &path).body("action=pay");
    let press = press.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(press.bytes().await.0, 404);
    assert_eq!(world.looks_up(&booking).await["status"], "pending_payment");
}
