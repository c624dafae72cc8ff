//! Hostile requests: large and malformed bodies, refused bodies, too many connections. They must
//! affect only their sender.

use std::{net::SocketAddr, time::Duration};

use dermaga::{
    bookings::{BookingForm, RescheduleForm},
    edge::{self, ConnectionLimits, Edge},
    kernel::{
        http::MAX_BODY,
        json::{self, Parsed},
        schema::{self, Input},
    },
};
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::world::World;

/// A hostile body of about this many bytes.
type Shape = fn(usize) -> String;

fn repeated(before: &str, item: &str, after: &str, bytes: usize) -> String {
    let count = bytes.saturating_sub(before.len() + after.len()) / (item.len() + 1);
    format!("{before}{}{after}", vec![item; count.max(1)].join(","))
}

const SHAPES: &[(&str, Shape)] = &[
    ("numbers for passengers", |n| repeated(r#"{"passengers":["#, "0", "]}", n)),
    ("empty passengers", |n| repeated(r#"{"passengers":["#, "{}", "]}", n)),
    ("wrong passengers", |n| repeated(r#"{"passengers":["#, r#"{"name":0,"gender":0}"#, "]}", n)),
    ("NUL in an array", |n| repeated(r#"{"x":["#, r#""\u0000""#, "]}", n)),
    ("NUL in names", |n| repeated("{", r#""\u0000":0"#, "}", n)),
    ("NUL at the end", |n| repeated(r#"{"x":["#, "[0]", r#","\u0000"]}"#, n)),
    ("objects in objects", |n| {
        let nested = format!("{}0{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        repeated(r#"{"x":["#, &nested, "]}", n)
    }),
    ("arrays in arrays", |n| {
        let nested = format!("{}0{}", "[".repeat(100), "]".repeat(100));
        repeated(r#"{"passengers":["#, &nested, "]}", n)
    }),
    ("many names", |n| {
        let fields: Vec<_> = (0..n / 12).map(|i| format!(r#""a{i:06}":0"#)).collect();
        format!("{{{}}}", fields.join(","))
    }),
    ("one name many times", |n| repeated("{", r#""passengers":[0]"#, "}", n)),
    ("a long telephone number", |n| {
        format!(r#"{{"contact":{{"phone":"{}"}},"phone":"{0}"}}"#, "1".repeat(n / 2))
    }),
    ("a long address", |n| {
        format!(r#"{{"contact":{{"email":"{}@b.id"}},"email":"{0}"}}"#, "a.".repeat(n / 4))
    }),
    ("a long name of blanks", |n| {
        format!(r#"{{"contact":{{"name":"{}"}},"from":"{0}"}}"#, " ".repeat(n / 2))
    }),
    ("escapes", |n| format!(r#"{{"note":"{}"}}"#, r"\u00e9".repeat(n / 6))),
    ("a long number", |n| format!(r#"{{"qty":{}}}"#, "1".repeat(n))),
    ("a long date", |n| {
        format!(r#"{{"departure_date":"{}","route_time_id":"{0}"}}"#, "2026-".repeat(n / 10))
    }),
];

/// Processor time of this thread in nanoseconds, so that concurrent tests do not count.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// The least of several measurements.
fn cost<T: Input>(body: &str) -> u64 {
    let once = || {
        let before = processor_time();
        // A body that cannot be parsed is refused before validation.
        if let Ok(Parsed { value, truncated }) = json::parse(body.as_bytes()) {
            assert!(schema::read::<T>(value).is_err() || truncated);
        }
        processor_time() - before
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

fn grows_linearly<T: Input>(name: &str, shape: Shape) {
    let (small, large) = (cost::<T>(&shape(MAX_BODY / 8)), cost::<T>(&shape(MAX_BODY)));
    // Eight times the bytes: a linear cost grows eightfold, a quadratic one by 64. What a body costs
    // at any size is added to both.
    let floor = 2_000_000;
    let growth = (large + floor) as f64 / (small + floor) as f64;
    assert!(growth < 24.0, "{name}: {small} ns, then {large} ns");
    // Without optimisation everything takes many times as long.
    assert!(cfg!(debug_assertions) || large < 100_000_000, "{name}: {large} ns");
}

#[test]
fn the_cost_of_validation_is_linear_in_the_body() {
    // Compiling the schemas is no part of it.
    for warm in ["{}", "[]"] {
        let _ = (cost::<BookingForm>(warm), cost::<RescheduleForm>(warm));
    }
    for (name, shape) in SHAPES {
        grows_linearly::<BookingForm>(name, *shape);
        grows_linearly::<RescheduleForm>(name, *shape);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is mixed, one answer has at most a hundred faults, and a NUL is the only one.
    #[test]
    fn faults_are_limited(
        pieces in prop::collection::vec((0..SHAPES.len(), 1..2_000_usize), 1..4),
        nul: bool,
    ) {
        let mut merged = serde_json::Map::new();
        for (which, bytes) in pieces {
            if let Ok(Value::Object(fields)) = serde_json::from_str(&SHAPES[which].1(bytes)) {
                merged.extend(fields);
            }
        }
        if nul {
            merged.insert("zzz".into(), json!([["\0"]]));
        }
        let text = Value::Object(merged).to_string();
        let faults = schema::read::<BookingForm>(serde_json::from_str(&text).unwrap());
        let faults = faults.err().unwrap_or_default();
        prop_assert!(!faults.is_empty());
        prop_assert!(faults.len() <= schema::MAX_FAULTS + 1, "{}", faults.len());
        if text.contains(r"\u0000") {
            prop_assert_eq!(faults.len(), 1);
            prop_assert_eq!(&faults[0].rule, "characters");
        }
    }
}

async fn large_bodies_hold_nobody_up(world: World) {
    let client = reqwest::Client::new();
    let url = format!("http://{}", world.address);
    let paths = ["/v1/booking", "/v1/auth/login", "/v1/speedboats/search", "/v1/payment/callback"];
    let attacks = SHAPES.iter().cycle().zip(paths.iter().cycle()).take(32);
    let attacks = attacks.map(|((name, shape), path)| {
        let request = client
            .post(format!("{url}{path}"))
            .header("content-type", "application/json")
            .body(shape(MAX_BODY - 100));
        async move { (*name, request.send().await.unwrap().status().as_u16()) }
    });
    let mut attacks = std::pin::pin!(futures_util::future::join_all(attacks));
    let mut probes = 0;
    let statuses = loop {
        tokio::select! {
            statuses = &mut attacks => break statuses,
            probe = world.get("/health/live").send() => {
                assert_eq!(probe.status, 200);
                probes += 1;
            }
        }
    };
    for (name, status) in statuses {
        assert!((400..500).contains(&status), "{name}: {status}");
    }
    assert!(probes >= 10, "{probes} probes were answered meanwhile");
}

async fn at_most_a_hundred_faults_are_listed(world: World) {
    let items = vec![json!({ "name": " " }); 500];
    let refused = world.post("/v1/booking", json!({ "passengers": items })).send().await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.body["errors"].as_array().unwrap().len(), 100);
    assert_eq!(refused.body["errors_truncated"], true);

    let items = vec![json!({ "name": " " }); 501];
    let refused = world.post("/v1/booking", json!({ "passengers": items })).send().await;
    let faults = refused.body["errors"].as_array().unwrap();
    let of_passengers: Vec<_> = faults
        .iter()
        .filter(|fault| fault["field"].as_str().unwrap().starts_with("passengers"))
        .collect();
    assert_eq!(of_passengers.len(), 1, "{of_passengers:?}");
    assert_eq!(of_passengers[0]["rule"], "max_items");
    assert!(refused.body.get("errors_truncated").is_none());
}

async fn a_query_has_at_most_200_parameters(world: World) {
    let query = |count: usize| {
        let pairs: Vec<_> = (0..count).map(|i| format!("p{i}=1")).collect();
        format!("/v1/contents/promotions?{}", pairs.join("&"))
    };
    assert_eq!(world.get(&query(200)).send().await.status, 200);
    world.get(&query(201)).send().await.is(400, "malformed_request");
}

crate::on_both_engines!(
    large_bodies_hold_nobody_up,
    at_most_a_hundred_faults_are_listed,
    a_query_has_at_most_200_parameters,
    refused_requests_never_break_the_connection,
);

/// A client that keeps its connection.
struct KeepAlive {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

struct Answered {
    status: u16,
    closes: bool,
}

impl KeepAlive {
    async fn connect(address: SocketAddr) -> Self {
        Self { address, stream: BufReader::new(TcpStream::connect(address).await.unwrap()) }
    }

    /// Writes; a client whose connection was announced as closing may fail to.
    async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await
    }

    async fn read(&mut self) -> std::io::Result<Answered> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.split_once("content-length: ").unwrap().1;
        let length: usize = length.split_once("\r\n").unwrap().0.parse().unwrap();
        self.stream.read_exact(&mut vec![0; length]).await?;
        Ok(Answered { status, closes: head.contains("connection: close") })
    }
}

#[derive(Clone, Copy, Debug)]
enum Sending {
    AtOnce,
    /// After the response has been read.
    Late,
    Chunked,
    Expecting,
}

/// Sends a request that is refused and one after it, on one connection where it was not announced as
/// closing.
async fn refused_then_served(
    client: &mut KeepAlive,
    (line, kind, bytes): (&str, &str, usize),
    sending: Sending,
    status: u16,
) {
    let body = vec![b' '; bytes];
    let head = match sending {
        Sending::Chunked => "Transfer-Encoding: chunked".to_owned(),
        Sending::Expecting => format!("Content-Length: {bytes}\r\nExpect: 100-continue"),
        Sending::AtOnce | Sending::Late => format!("Content-Length: {bytes}"),
    };
    let head = format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n{head}\r\n\r\n");
    client.write(head.as_bytes()).await.unwrap();
    let (mut from, mut to) = client.stream.get_mut().split();
    let _ = &mut from;
    let sent = match sending {
        Sending::AtOnce => to.write_all(&body).await,
        Sending::Chunked => {
            let mut chunks = format!("{bytes:x}\r\n").into_bytes();
            chunks.extend(&body);
            chunks.extend(b"\r\n0\r\n\r\n");
            to.write_all(&chunks).await
        }
        Sending::Late | Sending::Expecting => Ok(()),
    };
    let what = format!("{line} {bytes} {sending:?}");
    let answered = client.read().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(answered.status, status, "{what}");
    if answered.closes {
        *client = KeepAlive::connect(client.address).await;
    } else {
        sent.unwrap_or_else(|error| panic!("{what}: {error}"));
        if matches!(sending, Sending::Late) {
            client.write(&body).await.unwrap();
        }
    }
    client.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let next = client.read().await.unwrap_or_else(|error| panic!("after {what}: {error}"));
    assert_eq!((next.status, next.closes), (200, false), "after {what}");
}

async fn refused_requests_never_break_the_connection(world: World) {
    let limited = world.with(|config| config.rate_limit.0 = true).await;
    let (json, text) = ("application/json", "text/plain");
    let mut client = KeepAlive::connect(limited.address).await;
    for bytes in [1, 10_000, 300_000] {
        for sending in [Sending::AtOnce, Sending::Late, Sending::Chunked, Sending::Expecting] {
            for (request, status) in [
                (("POST /v1/auth/logout", json, bytes), 401),
                (("POST /nowhere", json, bytes), 404),
                (("PUT /health/live", json, bytes), 405),
                (("POST /v1/speedboats/search", text, bytes), 415),
            ] {
                // A body that is wanted is waited for.
                if status == 415 && !matches!(sending, Sending::AtOnce | Sending::Chunked) {
                    continue;
                }
                refused_then_served(&mut client, request, sending, status).await;
            }
        }
    }
    for bytes in [1_100_000, 1_900_000, 4_000_000, 12_000_000] {
        for _ in 0..3 {
            for sending in [Sending::AtOnce, Sending::Chunked] {
                let request = ("POST /v1/speedboats/search", json, bytes);
                refused_then_served(&mut client, request, sending, 413).await;
            }
        }
    }
    for _ in 0..20 {
        let forgotten = json!({ "email": "nobody@example.id" });
        limited.post("/auth/forgot-password", forgotten).send().await;
    }
    for sending in [Sending::AtOnce, Sending::Late, Sending::Chunked, Sending::Expecting] {
        for bytes in [100, 200_000, 2_000_000] {
            let request = ("POST /auth/forgot-password", json, bytes);
            // A late body that is too long to be drained would be written to a closed connection.
            refused_then_served(&mut client, request, sending, 429).await;
        }
    }
}

async fn with_limits(world: &World, connections: ConnectionLimits) -> SocketAddr {
    let edge = Edge { connections, ..Edge::default() };
    let listener = edge::listen(([127, 0, 0, 1], 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(edge::serve(world.app.clone(), listener, edge, std::future::pending()));
    address
}

async fn is_served(address: SocketAddr) -> KeepAlive {
    let mut client = KeepAlive::connect(address).await;
    client.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(client.read().await.unwrap().status, 200);
    client
}

/// Waits until the service closes the connection.
async fn is_closed(client: &mut KeepAlive) {
    let read = tokio::time::timeout(Duration::from_secs(30), client.stream.read_u8()).await;
    assert!(read.expect("it is closed in time").is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_connections_of_a_network_have_an_incomplete_head() {
    let world = World::on_sqlite().await;
    let limits = ConnectionLimits { incomplete: 4, ..ConnectionLimits::default() };
    let address = with_limits(&world, limits).await;
    let mut half_open = Vec::new();
    for number in 0..20 {
        let mut client = KeepAlive::connect(address).await;
        if number % 2 == 0 {
            client.write(b"GET /health/live HT").await.unwrap();
        }
        half_open.push(client);
    }
    let mut closing: FuturesUnordered<_> = half_open.iter_mut().map(is_closed).collect();
    for _ in 0..16 {
        closing.next().await;
    }
    assert!(closing.next().now_or_never().is_none(), "four may stay");
    drop(closing);
    // A later head that arrives in pieces counts as well.
    let mut later = is_served(address).await;
    later.write(b"GET /health/li").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    later.write(b"ve").await.unwrap();
    is_closed(&mut later).await;
    is_served(address).await;
    drop(half_open);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_a_limit_the_oldest_idle_connection_is_closed() {
    let world = World::on_sqlite().await;
    for limits in [
        ConnectionLimits { per_network: 3, ..ConnectionLimits::default() },
        ConnectionLimits { total: 3, ..ConnectionLimits::default() },
    ] {
        let address = with_limits(&world, limits).await;
        let mut first = is_served(address).await;
        let mut second = is_served(address).await;
        let _third = is_served(address).await;
        let _fourth = is_served(address).await;
        is_closed(&mut first).await;
        let _fifth = is_served(address).await;
        is_closed(&mut second).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_may_open_as_many_connections_as_they_like() {
    let world = World::on_sqlite().await.with(|config| config.trusted_hops = 1).await;
    let limits = ConnectionLimits { per_network: 2, incomplete: 1, total: 100 };
    let address = with_limits(&world, limits).await;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(is_served(address).await);
    }
    for mut client in clients {
        client.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        assert_eq!(client.read().await.unwrap().status, 200);
    }
}
