//! The real providers, played by a server that speaks their documented format, well and badly.

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
    harbour::{notice, order},
    on_both_engines,
    world::{SERVER_KEY, World},
};

on_both_engines![
    midtrans_is_asked_as_it_wants_to_be,
    xendit_is_asked_as_it_wants_to_be,
    a_provider_that_is_down_leaves_a_booking_that_is_paid_later,
    a_reference_that_is_used_up_is_followed_by_another,
    the_status_word_of_midtrans_is_not_believed,
    xendit_is_known_by_its_token,
    the_simulator_is_closed_where_real_money_is_taken,
];

/// How it behaves, and what it was asked.
#[derive(Default)]
struct Provider {
    mood: Mood,
    asked: Vec<(String, Value)>,
    /// What the status API says.
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

async fn answer(shared: &Shared, headers: &HeaderMap, asked: Value, right: Value) -> Response {
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
    answer(&shared, &headers, body, right).await
}

async fn status(
    State(shared): State<Shared>,
    Path(order): Path<String>,
    headers: HeaderMap,
) -> Response {
    let right = shared.lock().unwrap().status.clone();
    answer(&shared, &headers, json!(order), right).await
}

async fn invoices(State(shared): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["external_id"].as_str().unwrap().to_owned();
    let right = json!({ "id": "inv-1", "invoice_url": format!("https://xendit.test/{id}") });
    answer(&shared, &headers, body, right).await
}

async fn with_provider(world: World, kind: PaymentProvider) -> (World, Shared) {
    let shared = Shared::default();
    let router = Router::new()
        .route("/snap/v1/transactions", post(snap))
        .route("/v2/{order}/status", get(status))
        .route("/v2/invoices", post(invoices))
        .with_state(shared.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let world = world
        .with(|config| {
            config.payment_provider = kind;
            config.payment_url = Some(WebUrl(Url(url)));
        })
        .await;
    (world, shared)
}

fn basic() -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{SERVER_KEY}:")))
}

async fn midtrans_is_asked_as_it_wants_to_be(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    assert_eq!(booking["payment"]["provider"], "midtrans");
    assert_eq!(booking["payment"]["redirect_url"], json!(format!("https://snap.test/{reference}")));
    assert_eq!(world.looks_up(&booking).await["payment"], booking["payment"]);
    let asked = provider.lock().unwrap().asked.clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].0, basic());
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
}

async fn xendit_is_asked_as_it_wants_to_be(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    assert_eq!(
        booking["payment"]["redirect_url"],
        json!(format!("https://xendit.test/{reference}"))
    );
    let asked = provider.lock().unwrap().asked.clone();
    assert_eq!(asked[0].0, basic());
    assert_eq!(asked[0].1["external_id"], json!(reference));
    assert_eq!(asked[0].1["amount"], 150_000);
    assert_eq!(asked[0].1["invoice_duration"], 1_800);
}

async fn a_provider_that_is_down_leaves_a_booking_that_is_paid_later(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    for mood in [Mood::Broken, Mood::Garbage, Mood::Slow] {
        provider.lock().unwrap().mood = mood;
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        assert_eq!(booking["status"], "pending_payment");
        assert_eq!(booking["payment"]["redirect_url"], json!(null));
        if mood != Mood::Slow {
            world.delivers().await;
            assert_eq!(world.looks_up(&booking).await["payment"]["redirect_url"], json!(null));
        }
        provider.lock().unwrap().mood = Mood::Well;
        world.later(TimeDelta::minutes(1));
        world.delivers().await;
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
    world.later(TimeDelta::minutes(1));
    world.delivers().await;
    let payment = world.looks_up(&booking).await["payment"].clone();
    assert_eq!(payment["reference"], json!(format!("{}-2", booking["code"].as_str().unwrap())));
    assert!(payment["redirect_url"].is_string());
}

async fn the_status_word_of_midtrans_is_not_believed(world: World) {
    let (world, provider) = with_provider(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let told = notice(reference, 150_000, "settlement", "t1");
    let hear = || world.post("/v1/payment/callback", told.clone()).send();
    let state = async || world.looks_up(&booking).await["status"].as_str().unwrap().to_owned();
    // Rightly signed, and not true: the provider knows of no payment.
    provider.lock().unwrap().status = notice(reference, 150_000, "pending", "t1");
    hear().await.ok();
    assert_eq!(state().await, "pending_payment");
    // It cannot be asked: nothing happens until it can, and nothing is forgotten.
    for mood in [Mood::Broken, Mood::Garbage] {
        provider.lock().unwrap().mood = mood;
        hear().await.ok();
        world.delivers().await;
        assert_eq!(state().await, "pending_payment");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1, "kept, once");
    provider.lock().unwrap().mood = Mood::Well;
    provider.lock().unwrap().status = notice(reference, 150_000, "settlement", "t1");
    world.later(TimeDelta::minutes(1));
    world.delivers().await;
    assert_eq!(state().await, "paid");
    hear().await.ok();
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
}

async fn xendit_is_known_by_its_token(world: World) {
    let (world, _) = with_provider(world, PaymentProvider::Xendit).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let paid = json!({
        "id": "inv-1", "external_id": booking["payment"]["reference"], "status": "PAID",
        "amount": 150_000, "paid_amount": 150_000, "payment_method": "EWALLET",
    });
    let hear = |token: &'static str| {
        let call = world.post("/v1/payment/callback", paid.clone());
        call.header("x-callback-token", token).send()
    };
    world.post("/v1/payment/callback", paid.clone()).send().await.is(401, "invalid_token");
    hear("wrong").await.is(401, "invalid_token");
    hear(SERVER_KEY).await.ok();
    hear(SERVER_KEY).await.ok();
    let mut settled = paid.clone();
    settled["status"] = json!("SETTLED");
    let call = world.post("/v1/payment/callback", settled).header("x-callback-token", SERVER_KEY);
    call.send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0, "the same money");
    let after = world.looks_up(&booking).await;
    assert_eq!(after["status"], "paid");
    assert_eq!(after["payment"]["method"], "ewallet");
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
}

async fn the_simulator_is_closed_where_real_money_is_taken(world: World) {
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
