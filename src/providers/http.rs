//! Calls of providers.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use axum::{body::Bytes, http::StatusCode};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Outcome;
use crate::kernel::{
    error::{Error, Result},
    money::Rupiah,
    secret::Secret,
};

pub fn client() -> Result<reqwest::Client, String> {
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(8))
        .connect_timeout(Duration::from_secs(3))
        .redirect(reqwest::redirect::Policy::none())
        .build();
    client.map_err(|error| {
        let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("cannot call the payment provider; is ca-certificates installed? {why}")
    })
}

pub fn basic_auth(key: &Secret) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{}:", key.reveal())))
}

/// Compares in constant time.
pub fn constant_time_eq(given: &str, right: &str) -> bool {
    let (given, right) = (Sha256::digest(given), Sha256::digest(right));
    given.iter().zip(right.iter()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

/// Calls of this process: answered, refused (4xx), and failed (5xx or no answer).
static CALLS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// How many calls came to which outcome.
pub fn calls() -> [(&'static str, u64); 3] {
    let count = |at: usize| CALLS[at].load(Ordering::Relaxed);
    [("ok", count(0)), ("refused", count(1)), ("failed", count(2))]
}

/// Status and body of any answer.
pub async fn answer(request: reqwest::RequestBuilder) -> Result<(StatusCode, Bytes)> {
    let unavailable = |why| Error::Unavailable(format!("provider: {}", with_cause(why)));
    counted(request).await.map_err(unavailable)
}

async fn counted(request: reqwest::RequestBuilder) -> reqwest::Result<(StatusCode, Bytes)> {
    let answer = async {
        let response = request.send().await?;
        Ok((response.status(), response.bytes().await?))
    };
    let answer: reqwest::Result<_> = answer.await;
    let outcome = match &answer {
        Ok((status, _)) if status.is_client_error() => 1,
        Ok((status, _)) if !status.is_server_error() => 0,
        _ => 2,
    };
    CALLS[outcome].fetch_add(1, Ordering::Relaxed);
    answer
}

/// A single attempt; the caller decides about retries.
pub async fn send(request: reqwest::RequestBuilder) -> Result<Value> {
    let (status, bytes) = answer(request).await?;
    if !status.is_success() {
        let why = format!("provider: {status}: {}", start_of(&bytes));
        return Err(match status.is_client_error() && status.as_u16() != 429 {
            true => Error::Internal(why),
            false => Error::Unavailable(why),
        });
    }
    serde_json::from_slice(&bytes)
        .map_err(|_| Error::Unavailable("provider: the response is not JSON".into()))
}

/// The error and its innermost cause, such as "connection refused".
fn with_cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let (what, why) = (error.to_string(), cause.to_string());
    if what == why { what } else { format!("{what}: {why}") }
}

fn start_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(300).collect()
}

/// An answer that says something: its HTTP status and body.
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// Why a call was refused, in the words of the provider.
    pub fn reason(&self) -> String {
        let words = ["failure_code", "error_code", "status_message", "error_message", "message"];
        let said = words.iter().find_map(|name| self.body[*name].as_str());
        let said = said.map_or_else(|| self.body.to_string(), str::to_owned);
        // Midtrans answers HTTP 200 and has the real status in the body.
        let http = self.status.to_string();
        let status = self.body["status_code"].as_str().unwrap_or(&http);
        format!("{status}: {}", said.chars().take(200).collect::<String>())
    }
}

/// Sends the request. `Err`: it is unknown whether the provider has done it. A connection that was lost
/// or timed out, a server error, HTTP 202 (the first request with this key still runs) and an answer
/// that is not JSON say nothing about it.
pub async fn ask(request: reqwest::RequestBuilder) -> Result<Answer, Outcome> {
    let unknown = |why: String| Outcome::Unknown(why);
    let lost = |why: reqwest::Error| unknown(format!("no answer: {}", with_cause(why)));
    let (status, bytes) = counted(request).await.map_err(lost)?;
    let status = status.as_u16();
    if status >= 500 || [202, 408, 425].contains(&status) {
        return Err(unknown(format!("HTTP {status}: {}", start_of(&bytes))));
    }
    match serde_json::from_slice(&bytes) {
        Ok(body) => Ok(Answer { status, body }),
        Err(_) => Err(unknown(format!("HTTP {status}, not JSON: {}", start_of(&bytes)))),
    }
}

/// An amount without cents, as a number or as `"150000.00"`.
pub fn rupiah(amount: &Value) -> Option<Rupiah> {
    let amount = match amount {
        Value::String(text) => {
            let (whole, cents) = text.split_once('.').unwrap_or((text, ""));
            whole.parse().ok().filter(|_: &i64| cents.bytes().all(|b| b == b'0'))
        }
        number => {
            let whole = |n: &f64| n.fract() == 0.0 && n.abs() < 9e15;
            number.as_i64().or_else(|| number.as_f64().filter(whole).map(|n| n as i64))
        }
    };
    amount.filter(|amount| *amount >= 0).map(Rupiah)
}

/// An id that becomes part of a URL.
pub fn is_safe_id(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=100).contains(&id.len()) && id.bytes().all(plain)
}
