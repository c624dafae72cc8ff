//! Connections: no client can hold a connection, a slot or the shutdown indefinitely.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use dermaga::{
    config::{Origins, Switch},
    edge::{self, Edge},
};
use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::world::World;

async fn send_raw(world: &World, request: &str) -> TcpStream {
    send_raw_to(world.address, request).await
}

async fn send_raw_to(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn read_response(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text).await;
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_clients_stop_neither_others_nor_the_drain() {
    let mut world = World::on_sqlite().await;
    let mut stalled = Vec::new();
    for _ in 0..100 {
        stalled.push(send_raw(&world, "").await);
        stalled.push(send_raw(&world, "GET /health HTTP/1.1\r\nHo").await);
    }
    let head = "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{";
    let mid_body = send_raw(&world, head).await;
    world.get("/health").send().await.ok();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let started = Instant::now();
    world.drain().await;
    // The request in the middle of its body has ten seconds; idle connections are closed at once.
    assert!(started.elapsed() < Duration::from_secs(25));
    let text = read_response(mid_body).await;
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("request_timeout"), "{text}");
    drop(stalled);
}

const MOMENT: Duration = Duration::from_secs(1);
const HEALTH: &str = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";

/// The same service with shorter deadlines.
async fn with_edge(world: &World, edge: Edge) -> SocketAddr {
    let listener = edge::listen(([127, 0, 0, 1], 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(edge::serve(world.app.clone(), listener, edge, std::future::pending()));
    address
}

/// Sends a byte at intervals; returns when the connection was closed, and the response.
async fn trickle(address: SocketAddr, request: &str, byte: u8) -> (Duration, String) {
    let started = Instant::now();
    let (mut from, mut to) = send_raw_to(address, request).await.into_split();
    let sending = tokio::spawn(async move {
        while to.write_all(&[byte]).await.is_ok() {
            tokio::time::sleep(MOMENT / 8).await;
        }
    });
    let mut words = Vec::new();
    let _ = from.read_to_end(&mut words).await;
    sending.abort();
    (started.elapsed(), String::from_utf8(words).unwrap())
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.expect("it is over")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_head_has_a_deadline() {
    let world = World::on_sqlite().await;
    let address =
        with_edge(&world, Edge { first_head: MOMENT, head: MOMENT, ..Edge::default() }).await;
    let sent = async |request| read_response(send_raw_to(address, request).await).await;
    let (silent, half) = (sent(""), sent("GET /health HTTP/1.1\r\nHo"));
    let slow = trickle(address, "GET /health HTTP/1.1\r\nHost: ", b'x');
    let idle = sent(HEALTH);
    // The time of the first head is over while the body comes.
    let after_a_while = async {
        let head = "POST /v1/speedboats/search HTTP/1.1\r\nHost: x\r\n\
                    Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{";
        let mut stream = send_raw_to(address, head).await;
        tokio::time::sleep(MOMENT * 2).await;
        stream.write_all(b"}").await.unwrap();
        read_response(stream).await
    };
    // Each request has its own time.
    let steady = async {
        let started = Instant::now();
        let (mut stream, mut before) = (TcpStream::connect(address).await.unwrap(), started);
        while started.elapsed() < MOMENT * 3 {
            let began = Instant::now();
            let sent = stream.write_all(HEALTH.as_bytes()).await;
            let pause = before.elapsed();
            if sent.is_err() || stream.read(&mut [0; 2_000]).await.unwrap_or(0) == 0 {
                assert!(pause >= MOMENT, "it was shut out after {pause:?}");
                stream = TcpStream::connect(address).await.unwrap();
            }
            before = began;
            tokio::time::sleep(MOMENT / 8).await;
        }
    };
    let all = async { tokio::join!(silent, half, slow, idle, after_a_while, steady) };
    let (silent, half, (slow, cut), idle, late, ()) = in_time(all).await;
    assert_eq!((silent.as_str(), half.as_str(), cut.as_str()), ("", "", ""));
    assert!(slow >= MOMENT, "{slow:?}");
    assert!(idle.starts_with("HTTP/1.1 200"), "{idle}");
    assert!(late.starts_with("HTTP/1.1 422"), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_body_has_a_deadline() {
    let world = World::on_sqlite().await;
    let edge = Edge {
        first_head: MOMENT,
        head: MOMENT,
        stall: MOMENT * 5,
        body: MOMENT * 8,
        ..Edge::default()
    };
    let address = with_edge(&world, edge).await;
    let head = "POST /v1/speedboats/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    let stalled = async {
        let started = Instant::now();
        let words = read_response(send_raw_to(address, head).await).await;
        (started.elapsed(), words)
    };
    let both = async { tokio::join!(stalled, trickle(address, head, b' ')) };
    let ((stalled, words), (slow, late)) = in_time(both).await;
    for words in [words, late] {
        assert!(words.starts_with("HTTP/1.1 408") && words.contains("request_timeout"), "{words}");
    }
    assert!(stalled >= MOMENT * 5 && slow >= MOMENT * 8, "{stalled:?} {slow:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timed_out_change_has_an_unknown_outcome() {
    let world = World::on_sqlite().await;
    let edge = Edge { request: MOMENT, stall: MOMENT * 4, ..Edge::default() };
    let address = with_edge(&world, edge).await;
    let slow = async |path: &str| {
        let kind = if path.starts_with("/pay") { "x-www-form-urlencoded" } else { "json" };
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Content-Type: application/{kind}\r\nContent-Length: 1000\r\n\r\n{{"
        );
        read_response(send_raw_to(address, &head).await).await
    };
    let expected = [
        ("/v1/speedboats/search", "unavailable"),
        ("/v1/booking/validate-code-promo", "unavailable"),
        ("/v1/auth/login", "outcome_unknown"),
        ("/v1/booking", "outcome_unknown"),
        ("/pay/DMG-1", "outcome_unknown"),
    ];
    let all = futures_util::future::join_all(expected.iter().map(|(path, _)| slow(path)));
    for ((path, word), text) in expected.iter().zip(in_time(all).await) {
        assert!(text.starts_with("HTTP/1.1 503"), "{path}: {text}");
        assert!(text.contains(&format!("\"error\":\"{word}\"")), "{path}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_disconnected() {
    let world = World::on_sqlite().await;
    let address = with_edge(&world, Edge { write: MOMENT, ..Edge::default() }).await;
    let large = "GET /docs/reference.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(8);
    let held = send_raw_to(address, &large).await;
    let connections = async || {
        let text = world.app.metrics.text(world.db());
        let (_, count) = text.split_once("\ndermaga_connections ").unwrap();
        count.lines().next().map(str::to_owned)
    };
    in_time(async {
        while connections().await.as_deref() != Some("1") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while connections().await.as_deref() != Some("0") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    drop(held);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_finishes_running_requests() {
    let mut world = World::on_sqlite().await;
    // A login that is hashing, and a client that has not read its large response yet.
    let body = json!({ "email": "a@b.id", "password": "x", "role": "admin" }).to_string();
    let login = format!(
        "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let login = send_raw(&world, &login).await;
    let large =
        send_raw(&world, &"GET /docs/reference.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(8)).await;
    // Eight large responses exceed the buffers of the system, so one of them stalls.
    let given = || {
        let text = world.app.metrics.text(world.db());
        let count = text
            .split_once("route=\"/docs/reference.js\",status=\"200\"} ")
            .map(|(_, count)| count);
        count.and_then(|count| count.lines().next()).map(str::to_owned)
    };
    let (mut before, mut still) = (None, 0);
    while world.app.passwords().verified() == 0 || still < 5 {
        let now = given();
        still = if now.is_some() && now == before { still + 1 } else { 0 };
        before = now;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let address = world.address;
    let drained = tokio::spawn(async move { world.drain().await });
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!drained.is_finished(), "somebody still reads");
    let text = read_response(login).await;
    assert!(text.starts_with("HTTP/1.1 401") && text.ends_with('}'), "{text}");
    let text = read_response(large).await;
    assert!(text.starts_with("HTTP/1.1 200") && text.trim_end().ends_with(".map"));
    drained.await.unwrap();
}

/// Transfer-Encoding takes precedence, and nothing after the body is parsed as a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_lengths_in_one_request_smuggle_nothing() {
    let world = World::on_sqlite().await;
    for order in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
    ] {
        let request = format!(
            "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{order}\r\n\r\n\
             2\r\n{{}}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        );
        let text = read_response(send_raw(&world, &request).await).await;
        assert_eq!(text.matches("HTTP/1.1").count(), 1, "{text}");
        assert!(text.contains("connection: close"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_without_end_is_refused() {
    let world = World::on_sqlite().await;
    let request = "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\n\r\n";
    let (mut reader, mut writer) = send_raw(&world, request).await.into_split();
    let writing = tokio::spawn(async move {
        let chunk = format!("{:x}\r\n{}\r\n", 65536, " ".repeat(65536));
        while writer.write_all(chunk.as_bytes()).await.is_ok() {}
    });
    let mut start = [0; 12];
    reader.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    writing.abort();
}

/// Connections beyond the accept loop wait in the backlog instead of being dropped.
#[tokio::test]
async fn connections_wait_in_the_backlog() {
    let _ = rlimit::increase_nofile_limit(8_192);
    let listener = dermaga::edge::listen(([127, 0, 0, 1], 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    let allowed = allowed.trim().parse().unwrap_or(128);
    let mut waiting = Vec::new();
    for _ in 0..allowed.min(500) {
        let connected = tokio::time::timeout(Duration::from_secs(20), TcpStream::connect(address));
        waiting.push(connected.await.expect("there is room").unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_are_held() {
    let _ = rlimit::increase_nofile_limit(8_192);
    let world = World::on_sqlite().await;
    let mut held = Vec::new();
    let ask = async |stream: &mut TcpStream| {
        stream.write_all(HEALTH.as_bytes()).await.unwrap();
        let mut response = [0; 2_000];
        let length = stream.read(&mut response).await.unwrap();
        assert!(response[..length].starts_with(b"HTTP/1.1 200"));
    };
    for _ in 0..1_000 {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        ask(&mut stream).await;
        held.push(stream);
    }
    for stream in held.iter_mut().step_by(100) {
        ask(stream).await;
    }
    world.get("/health").send().await.ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_announced_and_kept() {
    let world = World::on_sqlite().await.with(|config| config.rate_limit = Switch(true)).await;
    let answer = world.get("/health").send().await;
    assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=600;w=60");
    assert_eq!(answer.header("ratelimit"), "\"default\";r=599;t=0");
    for _ in 0..20 {
        let answer = world.post("/auth/register-mitra", json!({})).send().await;
        assert_eq!(answer.status, 422);
        assert!(answer.header("ratelimit-policy").starts_with("\"register_mitra\";q=20"));
    }
    for way_around in ["/auth/register-mitra/", "//auth/register-mitra"] {
        // Every three seconds there is one more.
        let mut answer = world.post(way_around, json!({})).send().await;
        for _ in 0..20 {
            if answer.status != 422 {
                break;
            }
            answer = world.post(way_around, json!({})).send().await;
        }
        assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
        answer.is(429, "too_many_requests");
    }
    world.get("/health").send().await.ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_trusted_hops_choose_the_address() {
    let world = World::on_sqlite().await.with(|config| config.trusted_hops = 1).await;
    world.account("admin@dermaga.test", "admin").await;
    let body = json!({
        "email": "admin@dermaga.test", "password": crate::world::PASSWORD, "role": "admin",
    });
    let call = world.post("/v1/auth/login", body).header("x-forwarded-for", "6.6.6.6, 9.9.9.9");
    let token = call.send().await.ok()["access_token"].as_str().unwrap().to_owned();
    let sessions = world.get("/user/me/sessions").with_token(&token).send().await.ok();
    assert_eq!(sessions[0]["address"], "9.9.9.9");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cors_allows_configured_origins() {
    let origin = "https://app.example";
    let change = |config: &mut dermaga::config::Config| {
        config.cors_origins = Origins(vec![origin.parse().unwrap()]);
    };
    let world = World::on_sqlite().await.with(change).await;
    let preflight = async |origin: &str| {
        let call = world.call(Method::OPTIONS, "/v1/users").header("origin", origin);
        let call = call.header("access-control-request-method", "GET");
        call.header("access-control-request-headers", "authorization").send().await
    };
    let answer = preflight(origin).await;
    assert_eq!(answer.header("access-control-allow-origin"), origin);
    assert!(answer.header("access-control-allow-headers").contains("authorization"));
    assert_eq!(preflight("https://evil.example").await.header("access-control-allow-origin"), "");
    // Also on errors, or a page could not read them.
    let answer = world.get("/user/me").header("origin", origin).send().await;
    assert_eq!(answer.header("access-control-allow-origin"), origin);
    // And on answers that others were given before.
    for statements in [1, 0] {
        let before = world.db().statements();
        let answer = world.get("/v1/speedboats/locations").header("origin", origin).send().await;
        assert_eq!(world.db().statements() - before, statements);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_by_route_and_not_by_path() {
    let world = World::on_sqlite().await;
    let admin = world.admin().await;
    world.get(&format!("/v1/users/{}", admin.id)).by(&admin).send().await.ok();
    world.get("/made/up/path").send().await;
    let text = world.get("/metrics").send().await.body.as_str().unwrap().to_owned();
    let line = "dermaga_requests_total{method=\"GET\",route=\"/v1/users/{id}\",status=\"200\"} 1";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("/made/up/path") && !text.contains(&admin.id));
    assert!(text.contains("dermaga_statements_total"));
}
