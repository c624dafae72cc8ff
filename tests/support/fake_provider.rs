//! A provider of payments and payouts over HTTP, with its own books: what it says, what it loses on
//! the way, and what it has really done are different things.

// The server is axum's alone, so its own extractors are the right ones.
#![allow(clippy::disallowed_types)]

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

pub const CREATOR: &str = "kunci-pembuat";
pub const APPROVER: &str = "kunci-penyetuju";
pub const MERCHANT: &str = "kunci-merchant";
pub const TOKEN: &str = "token-callback";

/// How it takes the next call that moves money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Well,
    /// Does it, and the connection breaks before the answer.
    Drops,
    /// Does it, and answers after everybody has stopped waiting.
    Slow,
    /// Does it, and fails afterwards.
    FailsAfter,
    /// Does it, and says that it still runs.
    StillRuns,
    /// Does it, and answers something else.
    Garbage,
    /// Does it, and answers with words that nobody knows.
    NewWords,
    /// Fails before it has done anything.
    FailsBefore,
    TooMany,
    NoBalance,
    /// Refuses it for good.
    Refuses,
    /// Does it with another amount.
    Pays(i64),
}

/// A refund or a payout in its books.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Our id of it.
    pub key: String,
    pub id: String,
    /// The payment that is refunded.
    pub payment: String,
    pub amount: i64,
    pub state: EntryState,
    body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Working,
    Done,
    Declined,
    /// Done, and then taken back.
    Reversed,
}

#[derive(Default)]
pub struct Books {
    moods: VecDeque<Mood>,
    /// Amount, transaction id and kind of payment by reference.
    paid: HashMap<String, (i64, String, String)>,
    pub refunds: Vec<Entry>,
    pub payouts: Vec<Entry>,
    approved: Vec<String>,
    calls: usize,
    /// Whether every key is refused.
    pub locked_out: bool,
    /// Whether keys of payouts are forgotten.
    pub forgetful: bool,
}

impl Books {
    fn refunded(&self, payment: &str) -> i64 {
        let moved = |state| !matches!(state, EntryState::Declined | EntryState::Reversed);
        let of_it = |entry: &&Entry| entry.payment == payment && moved(entry.state);
        self.refunds.iter().filter(of_it).map(|entry| entry.amount).sum()
    }
}

#[derive(Clone)]
pub struct Fake {
    pub url: String,
    books: Arc<Mutex<Books>>,
}

impl Fake {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { url, books: Arc::default() };
        let router = Router::new()
            .route("/snap/v1/transactions", post(snap))
            .route("/v2/{id}/status", get(midtrans_status))
            .route("/v2/{id}/refund", post(midtrans_refund))
            .route("/iris/payouts", post(iris_payout))
            .route("/iris/payouts/approve", post(iris_approve))
            .route("/iris/payouts/{id}", get(iris_status))
            .route("/iris/balance", get(balance))
            .route("/v2/invoices", post(xendit_invoice))
            .route("/v2/invoices/{id}", get(xendit_invoice_status))
            .route("/refunds", post(xendit_refund).get(xendit_refunds))
            .route("/refunds/{id}", get(xendit_refund_by_id))
            .route("/v2/payouts", post(xendit_payout).get(xendit_payouts))
            .route("/v2/payouts/{id}", get(xendit_payout_status))
            .route("/balance", get(balance))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// The next calls that move money are taken in these moods.
    pub fn takes_next(&self, moods: &[Mood]) {
        self.books().moods.extend(moods);
    }

    /// A customer has paid this.
    pub fn receives(&self, reference: &str, amount: i64, transaction: &str, kind: &str) {
        let paid = (amount, transaction.to_owned(), kind.to_owned());
        self.books().paid.insert(reference.to_owned(), paid);
    }

    /// Everything that it works on is done, or declined.
    pub fn finishes(&self, state: EntryState) {
        let mut books = self.books();
        let Books { refunds, payouts, .. } = &mut *books;
        for entry in refunds.iter_mut().chain(payouts) {
            if entry.state == EntryState::Working {
                entry.state = state;
            }
        }
    }

    /// What was paid out comes back.
    pub fn reverses_payouts(&self) {
        for entry in self.books().payouts.iter_mut() {
            if entry.state == EntryState::Done {
                entry.state = EntryState::Reversed;
            }
        }
    }

    fn sum(entries: &[Entry]) -> i64 {
        entries.iter().filter(|e| e.state == EntryState::Done).map(|e| e.amount).sum()
    }

    /// What customers have paid less what they got back.
    pub fn holds(&self) -> i64 {
        let books = self.books();
        books.paid.values().map(|(amount, ..)| amount).sum::<i64>() - Self::sum(&books.refunds)
    }

    pub fn paid_out(&self) -> i64 {
        Self::sum(&self.books().payouts)
    }

    /// How often a refund or payout was asked for.
    pub fn calls(&self) -> usize {
        self.books().calls
    }

    /// How many refunds and payouts it has in its books.
    pub fn entries(&self) -> usize {
        let books = self.books();
        books.refunds.len() + books.payouts.len()
    }

    /// Each key that it has seen has moved money at most once.
    pub fn assert_each_once(&self) {
        let books = self.books();
        let mut keys: Vec<_> = books.refunds.iter().chain(&books.payouts).map(|e| &e.key).collect();
        keys.sort();
        let all = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), all, "a key has moved money twice");
    }

    fn mood(&self) -> Mood {
        let mut books = self.books();
        books.calls += 1;
        books.moods.pop_front().unwrap_or(Mood::Well)
    }

    fn is_allowed(&self, headers: &HeaderMap, keys: &[&str]) -> bool {
        let given = headers.get("authorization").and_then(|given| given.to_str().ok());
        let right = |key: &&str| {
            given == Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{key}:"))).as_str())
        };
        !self.books().locked_out && keys.iter().any(right)
    }

    /// Answers about something that it has done.
    async fn answers(&self, mood: Mood, status: u16, right: Value) -> Response {
        let reply = |status: u16, body: String| {
            (StatusCode::from_u16(status).unwrap(), body).into_response()
        };
        match mood {
            Mood::Drops => {
                let broken = std::io::Error::other("the connection is gone");
                let stream = futures_util::stream::iter([Err::<Vec<u8>, _>(broken)]);
                Response::new(Body::from_stream(stream))
            }
            Mood::Slow => {
                tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                reply(status, right.to_string())
            }
            Mood::FailsAfter => reply(502, "<html>bad gateway</html>".into()),
            Mood::StillRuns => reply(202, json!({ "status_code": "202" }).to_string()),
            Mood::Garbage => reply(status, "<html>hello</html>".into()),
            Mood::NewWords => reply(status, json!({ "zustand": "fertig" }).to_string()),
            _ => reply(status, right.to_string()),
        }
    }
}

fn reply(status: u16, body: &Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}

/// Midtrans answers HTTP 200 and says in the body what it means.
fn midtrans_says(code: &str, message: &str) -> Response {
    reply(200, &json!({ "status_code": code, "status_message": message }))
}

async fn snap(body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let order = body["transaction_details"]["order_id"].as_str().unwrap();
    reply(201, &json!({ "token": "t", "redirect_url": format!("https://snap.test/{order}") }))
}

impl Books {
    fn payment(&self, id: &str) -> Option<(String, i64, String, String)> {
        // It knows a DANA payment by its own id alone.
        let is_it = |order: &str, id_there: &str, kind: &str| {
            id_there == id || (order == id && kind != "dana")
        };
        let found =
            self.paid.iter().find(|(order, (_, id_there, kind))| is_it(order, id_there, kind));
        found.map(|(order, (amount, id, kind))| (order.clone(), *amount, id.clone(), kind.clone()))
    }
}

async fn midtrans_status(
    State(fake): State<Fake>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !fake.is_allowed(&headers, &[super::world::SERVER_KEY]) {
        return midtrans_says("401", "unknown merchant");
    }
    let books = fake.books();
    let Some((order, amount, transaction, kind)) = books.payment(&id) else {
        return midtrans_says("404", "no such transaction");
    };
    let refunds: Vec<_> = books
        .refunds
        .iter()
        .filter(|entry| entry.payment == order)
        .map(|entry| {
            let mut row = json!({
                "refund_key": entry.key, "refund_amount": format!("{}.00", entry.amount),
                "refund_chargeback_id": entry.id,
            });
            match entry.state {
                EntryState::Done => row["bank_confirmed_at"] = json!("2026-11-15 12:00:00"),
                EntryState::Declined => row["status"] = json!("deny"),
                EntryState::Working | EntryState::Reversed => {}
            }
            row
        })
        .collect();
    let refunded = books.refunded(&order);
    let word = match refunded {
        0 => "settlement",
        all if all >= amount => "refund",
        _ => "partial_refund",
    };
    reply(
        200,
        &json!({
            "status_code": "200", "order_id": order, "transaction_id": transaction,
            "transaction_status": word, "gross_amount": format!("{amount}.00"),
            "payment_type": kind, "fraud_status": "accept", "refunds": refunds,
            "refund_amount": format!("{refunded}.00"),
        }),
    )
}

async fn midtrans_refund(
    State(fake): State<Fake>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if !fake.is_allowed(&headers, &[super::world::SERVER_KEY]) {
        return midtrans_says("401", "unknown merchant");
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    let mood = fake.mood();
    match mood {
        Mood::FailsBefore => return reply(500, &json!({})),
        Mood::TooMany => return reply(429, &json!({ "status_message": "slowly" })),
        Mood::NoBalance => return midtrans_says("414", "insufficient balance"),
        Mood::Refuses => return midtrans_says("202", "denied by the bank"),
        _ => {}
    }
    let entry = {
        let mut books = fake.books();
        let Some((order, paid, ..)) = books.payment(&id) else {
            return midtrans_says("404", "no such transaction");
        };
        let key = body["refund_key"].as_str().unwrap().to_owned();
        if books.refunds.iter().any(|entry| entry.key == key) {
            return midtrans_says("406", "the refund key was used before");
        }
        let amount = body["amount"].as_i64().unwrap();
        if books.refunded(&order) + amount > paid {
            return midtrans_says("412", "the state does not allow it");
        }
        let amount = if let Mood::Pays(other) = mood { other } else { amount };
        let id = (1_000 + books.refunds.len()).to_string();
        let state = EntryState::Working;
        let entry = Entry { key, id, payment: order, amount, state, body };
        books.refunds.push(entry.clone());
        entry
    };
    let right = json!({
        "status_code": "200", "transaction_status": "refund", "refund_key": entry.key,
        "refund_amount": format!("{}.00", entry.amount), "refund_chargeback_id": entry.id,
    });
    fake.answers(mood, 200, right).await
}

async fn iris_payout(State(fake): State<Fake>, headers: HeaderMap, body: String) -> Response {
    if !fake.is_allowed(&headers, &[CREATOR]) {
        return reply(401, &json!({ "error_message": "unauthorized" }));
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    let key = headers["x-idempotency-key"].to_str().unwrap().to_owned();
    let mood = fake.mood();
    match mood {
        Mood::FailsBefore => return reply(500, &json!({})),
        Mood::TooMany => return reply(429, &json!({ "error_message": "slowly" })),
        Mood::NoBalance => return reply(400, &json!({ "error_message": "Insufficient balance" })),
        Mood::Refuses => return reply(400, &json!({ "error_message": "unknown bank" })),
        _ => {}
    }
    let (entry, mood) = {
        let mut books = fake.books();
        let known = books.payouts.iter().find(|e| e.key == key && !books.forgetful).cloned();
        match known {
            Some(entry) if entry.body != body => {
                return reply(409, &json!({ "error_message": "another body with this key" }));
            }
            // The first answer again, which can be lost again.
            Some(entry) => (entry, mood),
            None => {
                let amount = body["payouts"][0]["amount"].as_str().unwrap();
                let amount: i64 = amount.strip_suffix(".00").unwrap().parse().unwrap();
                let id = format!("iris-{}", books.payouts.len());
                let (payment, state) = (String::new(), EntryState::Working);
                let entry = Entry { key, id, payment, amount, state, body };
                books.payouts.push(entry.clone());
                (entry, mood)
            }
        }
    };
    let right = json!({ "payouts": [{ "status": "queued", "reference_no": entry.id }] });
    fake.answers(mood, 201, right).await
}

async fn iris_approve(State(fake): State<Fake>, headers: HeaderMap, body: String) -> Response {
    if !fake.is_allowed(&headers, &[APPROVER]) {
        return reply(401, &json!({ "error_message": "unauthorized" }));
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["reference_nos"][0].as_str().unwrap().to_owned();
    fake.books().approved.push(id);
    reply(202, &json!({ "status": "ok" }))
}

async fn iris_status(
    State(fake): State<Fake>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !fake.is_allowed(&headers, &[CREATOR]) {
        return reply(401, &json!({ "error_message": "unauthorized" }));
    }
    let books = fake.books();
    let Some(entry) = books.payouts.iter().find(|entry| entry.id == id) else {
        return reply(404, &json!({ "error_message": "not found" }));
    };
    let status = match entry.state {
        EntryState::Working if !books.approved.contains(&id) => "queued",
        EntryState::Working => "processed",
        EntryState::Done => "completed",
        EntryState::Declined | EntryState::Reversed => "failed",
    };
    let amount = format!("{}.00", entry.amount);
    reply(200, &json!({ "reference_no": id, "status": status, "amount": amount }))
}

async fn balance(State(fake): State<Fake>, headers: HeaderMap) -> Response {
    match fake.is_allowed(&headers, &[CREATOR, APPROVER]) {
        true => reply(200, &json!({ "balance": "1" })),
        false => reply(401, &json!({ "error_message": "unauthorized" })),
    }
}

/// A parameter of the query.
fn asked(address: &Uri, name: &str) -> String {
    let pairs = address.query().unwrap_or_default().split('&').filter_map(|p| p.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).unwrap().1.to_owned()
}

fn xendit_says(status: u16, code: &str) -> Response {
    reply(status, &json!({ "error_code": code, "message": code }))
}

async fn xendit_invoice(State(fake): State<Fake>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let reference = body["external_id"].as_str().unwrap();
    let id = format!("inv-{reference}");
    let amount = body["amount"].as_i64().unwrap();
    let _ = fake;
    reply(
        200,
        &json!({ "id": id, "invoice_url": format!("https://x.test/{id}"), "amount": amount }),
    )
}

async fn xendit_invoice_status(State(fake): State<Fake>, Path(id): Path<String>) -> Response {
    let Some((order, amount, _, kind)) = fake.books().payment(&id) else {
        return xendit_says(404, "INVOICE_NOT_FOUND_ERROR");
    };
    reply(
        200,
        &json!({
            "id": id, "external_id": order, "status": "PAID", "amount": amount,
            "paid_amount": amount, "payment_method": kind, "currency": "IDR",
        }),
    )
}

fn xendit_refund_row(entry: &Entry) -> Value {
    let status = match entry.state {
        EntryState::Working => "PENDING",
        EntryState::Done => "SUCCEEDED",
        EntryState::Declined | EntryState::Reversed => "FAILED",
    };
    json!({
        "id": entry.id, "reference_id": entry.key, "amount": entry.amount, "status": status,
        "failure_code": (status == "FAILED").then_some("REFUND_FAILED"),
    })
}

/// What it says before it does anything.
fn xendit_before(mood: Mood) -> Option<Response> {
    Some(match mood {
        Mood::FailsBefore => reply(500, &json!({})),
        Mood::TooMany => xendit_says(429, "RATE_LIMIT_EXCEEDED"),
        Mood::NoBalance => xendit_says(400, "INSUFFICIENT_BALANCE"),
        Mood::Refuses => xendit_says(400, "REFUND_NOT_SUPPORTED"),
        _ => return None,
    })
}

async fn xendit_refund(State(fake): State<Fake>, headers: HeaderMap, body: String) -> Response {
    if !fake.is_allowed(&headers, &[super::world::SERVER_KEY]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    let mood = fake.mood();
    if let Some(refused) = xendit_before(mood) {
        return refused;
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    let entry = {
        let mut books = fake.books();
        let Some((order, paid, ..)) = books.payment(body["invoice_id"].as_str().unwrap()) else {
            return xendit_says(404, "DATA_NOT_FOUND");
        };
        let key = body["reference_id"].as_str().unwrap().to_owned();
        assert_eq!(headers["idempotency-key"].to_str().unwrap(), key);
        if books.refunds.iter().any(|entry| entry.key == key) {
            return xendit_says(409, "DUPLICATE_ERROR");
        }
        let amount = body["amount"].as_i64().unwrap();
        if books.refunded(&order) + amount > paid {
            return xendit_says(400, "REFUND_AMOUNT_EXCEEDED");
        }
        let amount = if let Mood::Pays(other) = mood { other } else { amount };
        let id = format!("rfd-{}", books.refunds.len());
        let state = EntryState::Working;
        let entry = Entry { key, id, payment: order, amount, state, body };
        books.refunds.push(entry.clone());
        entry
    };
    fake.answers(mood, 200, xendit_refund_row(&entry)).await
}

async fn xendit_refunds(State(fake): State<Fake>, address: Uri, headers: HeaderMap) -> Response {
    if !fake.is_allowed(&headers, &[super::world::SERVER_KEY]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    let books = fake.books();
    let order = books.payment(&asked(&address, "invoice_id")).map(|(order, ..)| order);
    let of_it = books.refunds.iter().filter(|entry| Some(&entry.payment) == order.as_ref());
    reply(200, &json!({ "data": of_it.map(xendit_refund_row).collect::<Vec<_>>() }))
}

async fn xendit_refund_by_id(
    State(fake): State<Fake>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !fake.is_allowed(&headers, &[super::world::SERVER_KEY]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    let books = fake.books();
    match books.refunds.iter().find(|entry| entry.id == id) {
        Some(entry) => reply(200, &xendit_refund_row(entry)),
        None => xendit_says(404, "DATA_NOT_FOUND"),
    }
}

fn xendit_payout_row(entry: &Entry) -> Value {
    let status = match entry.state {
        EntryState::Working => "ACCEPTED",
        EntryState::Done => "SUCCEEDED",
        EntryState::Declined => "FAILED",
        EntryState::Reversed => "REVERSED",
    };
    let failure = (status == "FAILED").then_some("INVALID_DESTINATION");
    json!({
        "id": entry.id, "reference_id": entry.key, "amount": entry.amount, "status": status,
        "failure_code": failure,
    })
}

async fn xendit_payout(State(fake): State<Fake>, headers: HeaderMap, body: String) -> Response {
    if !fake.is_allowed(&headers, &[CREATOR]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    let mood = fake.mood();
    if let Some(refused) = xendit_before(mood) {
        return refused;
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    let (entry, mood) = {
        let mut books = fake.books();
        let known = books.payouts.iter().find(|entry| entry.key == key).cloned();
        match known {
            Some(entry) if entry.body != body => return xendit_says(409, "DUPLICATE_ERROR"),
            Some(entry) => (entry, Mood::Well),
            None => {
                let asked = body["amount"].as_i64().unwrap();
                let amount = if let Mood::Pays(other) = mood { other } else { asked };
                let id = format!("disb-{}", books.payouts.len());
                let (payment, state) = (String::new(), EntryState::Working);
                let entry = Entry { key, id, payment, amount, state, body };
                books.payouts.push(entry.clone());
                (entry, mood)
            }
        }
    };
    fake.answers(mood, 200, xendit_payout_row(&entry)).await
}

async fn xendit_payouts(State(fake): State<Fake>, address: Uri, headers: HeaderMap) -> Response {
    if !fake.is_allowed(&headers, &[CREATOR]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    let books = fake.books();
    let key = asked(&address, "reference_id");
    let of_it = books.payouts.iter().filter(|entry| entry.key == key);
    reply(200, &json!({ "data": of_it.map(xendit_payout_row).collect::<Vec<_>>() }))
}

async fn xendit_payout_status(
    State(fake): State<Fake>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !fake.is_allowed(&headers, &[CREATOR]) {
        return xendit_says(401, "INVALID_API_KEY");
    }
    match fake.books().payouts.iter().find(|entry| entry.id == id) {
        Some(entry) => reply(200, &xendit_payout_row(entry)),
        None => xendit_says(404, "DATA_NOT_FOUND"),
    }
}
