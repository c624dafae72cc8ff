//! Traces and logs, as a collector receives them.

// The server is axum's alone, so its own extractors are the right ones.
#![allow(clippy::disallowed_types)]

use std::{
    collections::HashMap,
    fs::File,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
};
use chrono::TimeDelta;
use dermaga::config::{Config, PaymentProvider, Ratio, Url, WebUrl};
use opentelemetry_proto::tonic::{
    collector::{logs::v1::ExportLogsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{AnyValue, KeyValue, any_value},
    logs::v1::LogRecord,
    trace::v1::{Span, span::SpanKind, status::StatusCode as SpanStatus},
};
use prost::Message;
use serde_json::{Value, json};

use crate::{
    binary::{dermaga, start_logging_to},
    harbour::order,
    world::{PASSWORD, World},
};

crate::on_both_engines! {
    a_request_is_a_span,
    errors_are_in_the_span,
    a_callers_trace_is_continued,
    a_run_of_a_job_is_a_span,
    a_call_of_a_provider_is_a_child_and_carries_no_trace_id,
    nothing_secret_or_personal_is_exported,
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

#[derive(Default)]
struct Received {
    spans: Vec<Span>,
    logs: Vec<LogRecord>,
    resource: Vec<KeyValue>,
    raw: Vec<u8>,
    /// Headers by path.
    headers: Vec<(String, HeaderMap)>,
    /// Whether it refuses everything, and how often it has.
    refuses: bool,
    refused: usize,
}

#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Received>>,
    url: String,
}

impl Collector {
    async fn start() -> Self {
        let mut collector = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        collector.url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(receive).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        collector
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }

    /// Waits until it has received it.
    async fn until<T>(&self, mut found: impl FnMut(&Received) -> Option<T>) -> T {
        eventually(|| found(&self.received())).await
    }

    async fn span(&self, name: &str) -> Span {
        self.until(|received| received.spans.iter().find(|span| span.name == name).cloned()).await
    }

    fn has(&self, text: &str) -> bool {
        let raw = &self.received().raw;
        raw.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

async fn receive(
    State(collector): State<Collector>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let mut received = collector.received();
    received.headers.push((uri.path().to_owned(), headers));
    if received.refuses {
        received.refused += 1;
        return StatusCode::BAD_REQUEST;
    }
    match uri.path() {
        "/v1/traces" => {
            for resource in ExportTraceServiceRequest::decode(body.clone()).unwrap().resource_spans
            {
                received.resource = resource.resource.unwrap().attributes;
                received.spans.extend(resource.scope_spans.into_iter().flat_map(|s| s.spans));
            }
        }
        "/v1/logs" => {
            for resource in ExportLogsServiceRequest::decode(body.clone()).unwrap().resource_logs {
                let scopes = resource.scope_logs.into_iter();
                received.logs.extend(scopes.flat_map(|scope| scope.log_records));
            }
        }
        // A provider that refuses.
        _ => return StatusCode::BAD_GATEWAY,
    }
    received.raw.extend_from_slice(&body);
    StatusCode::OK
}

async fn eventually<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = found() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it happens in time")
}

fn attributes(of: &[KeyValue]) -> HashMap<String, Value> {
    let value = |value: &Option<AnyValue>| match value.as_ref().and_then(|v| v.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => json!(text),
        Some(any_value::Value::IntValue(number)) => json!(number),
        Some(any_value::Value::DoubleValue(number)) => json!(number),
        other => json!(format!("{other:?}")),
    };
    of.iter().map(|pair| (pair.key.clone(), value(&pair.value))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn exports_to(url: &str) -> impl FnOnce(&mut Config) {
    let url = Some(WebUrl(Url(url.to_owned())));
    move |config| config.otlp_url = url
}

/// A service that exports to a collector.
async fn traced(world: World) -> (World, Collector) {
    let collector = Collector::start().await;
    (world.with(exports_to(&collector.url)).await, collector)
}

fn traceparent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-{PARENT}-{flags}")
}

async fn a_request_is_a_span(world: World) {
    let (world, collector) = traced(world).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@mail.id")).await.ok();
    let before = world.db().statements();
    world.looks_up(&booking).await;
    let statements = world.db().statements() - before;
    let span = collector.span("GET /v1/booking/{id}").await;
    assert_eq!(span.kind(), SpanKind::Server);
    assert!(span.parent_span_id.is_empty());
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    assert_eq!(span.status.unwrap_or_default().code(), SpanStatus::Unset);
    let of = attributes(&span.attributes);
    assert_eq!(of["http.request.method"], "GET");
    assert_eq!(of["http.route"], "/v1/booking/{id}");
    assert_eq!(of["http.response.status_code"], 200);
    assert_eq!(of["url.path"], format!("/v1/booking/{}", booking["id"].as_str().unwrap()));
    assert_eq!(of["dermaga.operation"], "get_booking");
    assert_eq!(of["dermaga.client_network"], "127.0.0.0/24");
    assert_eq!(of["dermaga.request_id"].as_str().unwrap().len(), 36);
    assert!(statements > 0);
    assert_eq!(of["dermaga.statements"], statements);
    assert!(of["dermaga.database_ms"].as_f64().unwrap() > 0.0);
    assert!(!of.contains_key("error.type"));
    let resource = attributes(&collector.received().resource);
    assert_eq!(resource["service.name"], "dermaga");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    assert!(resource.contains_key("service.instance.id"));
}

async fn errors_are_in_the_span(world: World) {
    let (world, collector) = traced(world).await;
    world.get("/made/up").send().await.is(404, "not_found");
    let span = collector.span("GET").await;
    let of = attributes(&span.attributes);
    assert_eq!(
        (&of["http.response.status_code"], &of["dermaga.error"]),
        (&json!(404), &json!("not_found"))
    );
    assert!(!of.contains_key("url.path") && !of.contains_key("error.type"), "{of:?}");
    assert_eq!(span.status.unwrap_or_default().code(), SpanStatus::Unset);
    world.app.db.close().await;
    assert!(world.get("/user/me").with_token("x").send().await.status >= 500);
    let span = collector.span("GET /user/me").await;
    let of = attributes(&span.attributes);
    assert!(of["http.response.status_code"].as_i64().unwrap() >= 500);
    assert_eq!(of["error.type"], of["dermaga.error"]);
    assert_eq!(span.status.unwrap().code(), SpanStatus::Error);
}

async fn a_callers_trace_is_continued(world: World) {
    let (world, collector) = traced(world).await;
    let live = |header: &str| {
        let call = world.get("/health/live").header("traceparent", header);
        call.header("tracestate", "vendor=a-long-state").send()
    };
    let unsampled = traceparent("11112222333344445555666677778888", "00");
    live(&unsampled).await;
    live(&traceparent(TRACE, "01")).await;
    let malformed = [
        "".to_owned(),
        "00".to_owned(),
        "x".repeat(5_000),
        traceparent(TRACE, "01").replace("00-", "ff-"),
        traceparent("00000000000000000000000000000000", "01"),
        traceparent("4bf92f3577b34da6a3ce929d0e0e473g", "01"),
        format!("00-{TRACE}-0000000000000000-01"),
    ];
    for header in &malformed {
        live(header).await;
    }
    let spans = collector.until(|received| {
        let spans: Vec<_> = received.spans.clone();
        (spans.len() > malformed.len()).then_some(spans)
    });
    let spans = spans.await;
    assert_eq!(spans.len(), 1 + malformed.len(), "the caller does not trace the first");
    assert_eq!(
        (hex(&spans[0].trace_id), hex(&spans[0].parent_span_id)),
        (TRACE.into(), PARENT.into())
    );
    for span in &spans[1..] {
        assert_ne!(hex(&span.trace_id), TRACE);
        assert!(span.parent_span_id.is_empty());
    }
    assert!(!collector.has("a-long-state"));
}

async fn a_run_of_a_job_is_a_span(world: World) {
    let (world, collector) = traced(world).await;
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@mail.id")).await.ok();
    world.advances_clock(TimeDelta::hours(2));
    world.db().sql("DROP TABLE idempotency_keys").run().await.unwrap();
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let span = collector.span("job expire_holds").await;
    let of = attributes(&span.attributes);
    assert_eq!(span.kind(), SpanKind::Internal);
    assert_eq!((&of["dermaga.outcome"], &of["dermaga.items"]), (&json!("ok"), &json!(1)));
    assert!(of["dermaga.statements"].as_i64().unwrap() > 0);
    // Jobs that run rarely are always spans.
    collector.span("job sweep_accounts").await;
    let failed = collector.until(|received| {
        let failed = |span: &&Span| {
            let failed = span.status.clone().unwrap_or_default().code() == SpanStatus::Error;
            failed && span.name == "job sweep_idempotency_keys"
        };
        received.spans.iter().find(failed).cloned()
    });
    let of = attributes(&failed.await.attributes);
    assert_eq!((&of["dermaga.outcome"], &of["error.type"]), (&json!("error"), &json!("internal")));
    world.app.stop();
    worker.await.unwrap();
    let idle = |span: &Span| {
        span.name == "job expire_holds" && attributes(&span.attributes)["dermaga.items"] == 0
    };
    assert!(!collector.received().spans.iter().any(idle));
}

async fn a_call_of_a_provider_is_a_child_and_carries_no_trace_id(world: World) {
    let collector = Collector::start().await;
    let url = collector.url.clone();
    let world = world.with(|config| {
        exports_to(&url)(config);
        config.payment_provider = PaymentProvider::Midtrans;
        config.payment_url = Some(WebUrl(Url(url.clone())));
    });
    let world = world.await;
    let sailing = world.sailing().await;
    let call = world.post("/v1/booking/", order(&sailing, 1, "sari@mail.id"));
    call.header("traceparent", &traceparent(TRACE, "01")).send().await;
    world.delivers_outbox().await;
    let call = collector.until(|received| {
        let calls = |span: &&Span| span.kind() == SpanKind::Client;
        received.spans.iter().find(calls).cloned()
    });
    let call = call.await;
    let of = attributes(&call.attributes);
    assert_eq!(call.name, "POST");
    assert_eq!(
        (&of["server.address"], &of["http.response.status_code"]),
        (&json!("127.0.0.1"), &json!(502))
    );
    assert_eq!(call.status.unwrap().code(), SpanStatus::Error);
    let parent = collector.until(|received| {
        received.spans.iter().find(|span| span.span_id == call.parent_span_id).cloned()
    });
    assert_eq!(parent.await.trace_id, call.trace_id);
    let received = collector.received();
    let calls: Vec<_> =
        received.headers.iter().filter(|(path, _)| !path.starts_with("/v1/traces")).collect();
    assert!(!calls.is_empty());
    assert!(calls.iter().all(|(_, headers)| !headers.contains_key("traceparent")));
}

async fn nothing_secret_or_personal_is_exported(world: World) {
    let (world, collector) = traced(world).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@mail.id")).await.ok();
    world.looks_up(&booking).await;
    let code = booking["code"].as_str().unwrap();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    world.pays(&booking).await;
    let partner = &sailing.partner;
    world.get(&format!("/booking/{code}?email=sari%40mail.id")).bytes().await;
    world.get(&format!("/v1/booking/{code}/sari@mail.id")).bytes().await;
    world.get("/user/me").by(partner).send().await.ok();
    world.delivers_outbox().await;
    world.get("/health/live").header("user-agent", "A telephone of Sari").send().await;
    collector.span("GET /health/live").await;
    for secret in [
        "sari@mail.id",
        "sari%40",
        "Sari",
        "081234567890",
        "Penumpang",
        code,
        reference,
        PASSWORD,
        &partner.token,
        &partner.email,
        "127.0.0.1",
        "code=",
    ] {
        assert!(!collector.has(secret), "{secret}");
    }
    assert!(collector.has("/booking/{code}"));
}

#[tokio::test]
async fn a_ratio_of_zero_exports_the_traces_of_callers_alone() {
    let collector = Collector::start().await;
    let world = World::on_sqlite().await.with(|config| {
        exports_to(&collector.url)(config);
        config.trace_ratio = Ratio(0.0);
    });
    let world = world.await;
    world.get("/health/live").send().await;
    world.get("/health/live").header("traceparent", &traceparent(TRACE, "01")).send().await;
    let span = collector.span("GET /health/live").await;
    assert_eq!(hex(&span.trace_id), TRACE);
    assert_eq!(collector.received().spans.len(), 1);
}

#[tokio::test]
async fn nothing_is_exported_by_default() {
    let world = World::on_sqlite().await;
    assert!(world.app.telemetry.is_none());
    let call = world.get("/health/live").header("traceparent", &traceparent(TRACE, "01"));
    assert_eq!(call.send().await.status, 200);
    assert_eq!(world.app.metrics.otlp_dropped.get(), 0);
}

#[tokio::test]
async fn requests_do_not_depend_on_the_collector() {
    // Nobody listens there any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let world = World::on_sqlite().await.with(exports_to(&url)).await;
    world.get("/health/live").send().await.ok();
    eventually(|| (world.app.metrics.otlp_dropped.get() > 0).then_some(())).await;
    let (_, _, metrics) = world.get("/metrics").bytes().await;
    assert!(String::from_utf8(metrics).unwrap().contains("dermaga_otlp_dropped_total 1"));
    world.get("/health/live").send().await.ok();
}

/// More spans than the queue and a batch hold, while the collector does not answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_collector_costs_spans_and_nothing_else() {
    // Connections are accepted by the system and never read.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let world = World::on_sqlite().await.with(exports_to(&url)).await;
    for _ in 0..3_000 {
        world.get("/health/live").send().await.ok();
    }
    assert!(world.app.metrics.otlp_dropped.get() > 0);
    let telemetry = world.app.telemetry.clone().unwrap();
    telemetry.finish().await;
}

/// The binary: logs, headers, an outage, and the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_carry_trace_ids_and_an_outage_is_logged_once() {
    let collector = Collector::start().await;
    collector.received().refuses = true;
    let folder = tempfile::tempdir().unwrap();
    let mut command = dermaga(folder.path());
    command
        .env("DERMAGA_OTLP_URL", &collector.url)
        .env("DERMAGA_OTLP_HEADERS", "authorization=Bearer hunter2, x-tenant=1")
        .env("DERMAGA_LOG", "debug");
    let log = File::create(folder.path().join("log")).unwrap();
    let mut service = start_logging_to(&mut command, log);
    let client = crate::world::client();
    let get = |path: &str| {
        let call = client.get(format!("{}{path}", service.url));
        call.header("traceparent", traceparent(TRACE, "01")).send()
    };
    let refused = |received: &Received, path: &str| {
        received.headers.iter().filter(|(of, _)| of == path).count() >= 2
    };
    while !["/v1/traces", "/v1/logs"].iter().all(|path| refused(&collector.received(), path)) {
        assert_eq!(get("/health/live").await.unwrap().status(), 200);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    collector.received().refuses = false;
    get("/made/up/nobody@mail.id").await.unwrap();
    let span = collector.span("GET").await;
    let of_span = |record: &&LogRecord| record.span_id == span.span_id;
    let record = collector.until(|received| received.logs.iter().find(of_span).cloned()).await;
    assert_eq!(hex(&record.trace_id), TRACE);
    assert_eq!(record.severity_text, "INFO");
    let of = attributes(&record.attributes);
    assert_eq!((&of["status"], &of["method"]), (&json!(404), &json!("GET")));
    assert!(service.signal("-TERM").success());
    let said = |received: &Received, text: &str| {
        let is = |record: &LogRecord| {
            let body = record.body.as_ref().and_then(|body| body.value.as_ref());
            matches!(body, Some(any_value::Value::StringValue(said)) if said == text)
        };
        received.logs.iter().any(is)
    };
    assert!(said(&collector.received(), "stopped"), "the last lines are exported");
    for absent in ["nobody@mail.id", "127.0.0.1", "hunter2", "collector"] {
        assert!(!collector.has(absent), "{absent}");
    }
    let sent = &collector.received().headers[0].1;
    assert_eq!(
        (&sent["authorization"], &sent["x-tenant"]),
        (&"Bearer hunter2".parse().unwrap(), &"1".parse().unwrap())
    );
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    for line in ["does not accept spans", "does not accept logs", "accepts spans again"] {
        assert_eq!(log.matches(line).count(), 1, "{line}: {log}");
    }
    assert!(!log.contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_asks_the_collector() {
    let collector = Collector::start().await;
    let folder = tempfile::tempdir().unwrap();
    let said = |url: &str, headers: &str| {
        let mut command = dermaga(folder.path());
        command.arg("doctor").env("DERMAGA_OTLP_URL", url).env("DERMAGA_OTLP_HEADERS", headers);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let words = said(&collector.url, "");
    assert!(words.contains("ok   collector: accepts traces"), "{words}");
    collector.received().refuses = true;
    let words = said(&collector.url, "");
    assert!(words.contains("FAIL collector: "), "{words}");
    let words = said(&collector.url, "a token");
    assert!(words.contains("DERMAGA_OTLP_HEADERS: must have the form"), "{words}");
    let words = said("", "");
    assert!(words.contains("ok   collector: none"), "{words}");
}
