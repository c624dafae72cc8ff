//! Spans: one for each request, run of a job and call of another system.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Instant, SystemTime},
};

use axum::http::{HeaderMap, Method};
use futures_util::FutureExt;
use opentelemetry::{
    Context as OtelContext, KeyValue,
    propagation::TextMapPropagator,
    trace::{SpanContext, SpanKind, Status, TraceContextExt, TraceFlags, TraceState},
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::{
    propagation::TraceContextPropagator,
    trace::{IdGenerator, SamplingDecision, ShouldSample, SpanData},
};

use super::Telemetry;
use crate::kernel::{
    caller::{self, Context},
    error::Result,
    ids::Uuid,
    metrics,
};

/// Of a path in a span. Routes are shorter.
const MAX_PATH: usize = 256;

tokio::task_local! {
    static CURRENT: Span;
}

/// The span of the request or job that this task works on.
pub fn current() -> Option<Span> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Span(Arc<Open>);

struct Open {
    telemetry: Telemetry,
    context: SpanContext,
    parent: SpanContext,
    kind: SpanKind,
    start: SystemTime,
    statements: AtomicU64,
    /// In microseconds.
    database: AtomicU64,
}

/// A request, as its span describes it.
pub struct TracedRequest<'a> {
    pub context: &'a Context,
    pub method: &'a Method,
    pub path: &'a str,
    pub route: Option<&'static str>,
    pub operation: Option<&'static str>,
}

impl Telemetry {
    /// The span of a request. Its parent is the caller's span, if `traceparent` names one.
    pub fn server_span(&self, headers: &HeaderMap) -> Span {
        let parent = match headers.contains_key("traceparent") {
            true => remote_parent(headers),
            false => SpanContext::NONE,
        };
        self.span(SpanKind::Server, parent)
    }

    /// Runs a job in a span. `items` says how many items it processed, or `None` if the span is not
    /// worth exporting.
    pub async fn job<T>(
        &self,
        name: String,
        run: impl Future<Output = Result<T>>,
        items: impl FnOnce(&T) -> Option<u64>,
    ) -> Result<T> {
        let span = self.span(SpanKind::Internal, SpanContext::NONE);
        let done = AssertUnwindSafe(span.scope(run)).catch_unwind().await;
        let outcome = |outcome| KeyValue::new("dermaga.outcome", outcome);
        match &done {
            Ok(Ok(done)) => {
                if let Some(count) = items(done) {
                    let items = KeyValue::new("dermaga.items", count as i64);
                    span.end(name, vec![outcome("ok"), items], None);
                }
            }
            Ok(Err(error)) => span.end(name, vec![outcome("error")], Some(error.describe().1)),
            Err(_) => span.end(name, vec![outcome("panic")], Some("panic")),
        }
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn span(&self, kind: SpanKind, parent: SpanContext) -> Span {
        let inner = &self.0;
        let (trace, flags) = match parent.is_valid() {
            true => (parent.trace_id(), parent.trace_flags() & TraceFlags::SAMPLED),
            false => {
                let trace = inner.ids.new_trace_id();
                let sampled = inner.sampler.should_sample(None, trace, "", &kind, &[], &[]);
                let sampled = sampled.decision == SamplingDecision::RecordAndSample;
                (trace, TraceFlags::default().with_sampled(sampled))
            }
        };
        let id = inner.ids.new_span_id();
        Span(Arc::new(Open {
            telemetry: self.clone(),
            context: SpanContext::new(trace, id, flags, false, TraceState::NONE),
            parent,
            kind,
            start: SystemTime::now(),
            statements: AtomicU64::new(0),
            database: AtomicU64::new(0),
        }))
    }
}

/// Without the caller's `tracestate`: it can be long, and is not passed on.
fn remote_parent(headers: &HeaderMap) -> SpanContext {
    let extractor = HeaderExtractor(headers);
    let context =
        TraceContextPropagator::new().extract_with_context(&OtelContext::new(), &extractor);
    let span = context.span();
    let span = span.span_context();
    SpanContext::new(span.trace_id(), span.span_id(), span.trace_flags(), true, TraceState::NONE)
}

impl Span {
    pub(super) fn context(&self) -> &SpanContext {
        &self.0.context
    }

    /// Runs the work with this span as the current one.
    pub fn scope<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.clone(), work)
    }

    pub fn end_request(
        &self,
        request: TracedRequest<'_>,
        status: u16,
        error: Option<&'static str>,
    ) {
        let method = metrics::standard(request.method);
        let name = match (method.unwrap_or("HTTP"), request.route) {
            (method, Some(route)) => Cow::Owned(format!("{method} {route}")),
            (method, None) => Cow::Borrowed(method),
        };
        let mut attributes = Vec::with_capacity(11);
        attributes.extend([
            KeyValue::new("http.request.method", method.unwrap_or("_OTHER")),
            KeyValue::new("http.response.status_code", i64::from(status)),
            KeyValue::new("dermaga.request_id", request.context.request_id.clone()),
            KeyValue::new("dermaga.client_network", client_network(request.context.address)),
        ]);
        if let Some(route) = request.route {
            attributes.push(KeyValue::new("http.route", route));
            attributes.push(KeyValue::new("url.path", path_of_ids(route, request.path)));
        }
        let operation = request.operation.map(|id| KeyValue::new("dermaga.operation", id));
        attributes.extend(operation);
        attributes.extend(error.map(|error| KeyValue::new("dermaga.error", error)));
        // An error of the caller is not one of the server.
        let failed = (status >= 500).then_some(error.unwrap_or("5xx"));
        self.end(name, attributes, failed);
    }

    fn end(
        &self,
        name: impl Into<Cow<'static, str>>,
        mut attributes: Vec<KeyValue>,
        error: Option<&'static str>,
    ) {
        let span = &self.0;
        if !span.context.is_sampled() {
            return;
        }
        attributes.extend(error.map(|error| KeyValue::new("error.type", error)));
        if span.kind != SpanKind::Client {
            let statements = span.statements.load(Ordering::Relaxed) as i64;
            let ms = span.database.load(Ordering::Relaxed) as f64 / 1000.0;
            attributes.push(KeyValue::new("dermaga.statements", statements));
            attributes.push(KeyValue::new("dermaga.database_ms", ms));
        }
        span.telemetry.0.spans.push(SpanData {
            span_context: span.context.clone(),
            parent_span_id: span.parent.span_id(),
            parent_span_is_remote: span.parent.is_remote(),
            span_kind: span.kind.clone(),
            name: name.into(),
            start_time: span.start,
            end_time: SystemTime::now(),
            attributes,
            dropped_attributes_count: 0,
            events: Default::default(),
            links: Default::default(),
            status: error.map_or(Status::Unset, Status::error),
            instrumentation_scope: span.telemetry.0.scope.clone(),
        });
    }
}

/// Counts a statement of the current span, and the time until the result is dropped.
pub fn statement() -> Option<impl Drop> {
    struct Measured(Span, Instant);

    impl Drop for Measured {
        fn drop(&mut self) {
            let took = self.1.elapsed().as_micros() as u64;
            self.0.0.database.fetch_add(took, Ordering::Relaxed);
        }
    }

    let span = current()?;
    span.0.statements.fetch_add(1, Ordering::Relaxed);
    Some(Measured(span, Instant::now()))
}

/// Calls another system, in a child of the current span. Trace ids are not sent: all callees belong to
/// others.
pub async fn call(request: reqwest::RequestBuilder) -> reqwest::Result<reqwest::Response> {
    let Some(Span(caller)) = current() else { return request.send().await };
    let (client, request) = request.build_split();
    let request = request?;
    let span = caller.telemetry.span(SpanKind::Client, caller.context.clone());
    let method = metrics::standard(request.method()).unwrap_or("HTTP");
    let host = request.url().host_str().unwrap_or_default().to_owned();
    let mut attributes =
        vec![KeyValue::new("http.request.method", method), KeyValue::new("server.address", host)];
    let answer = client.execute(request).await;
    let error = match &answer {
        Ok(answer) => {
            let status = answer.status().as_u16();
            attributes.push(KeyValue::new("http.response.status_code", i64::from(status)));
            match status {
                ..400 => None,
                400..500 => Some("4xx"),
                500.. => Some("5xx"),
            }
        }
        Err(why) if why.is_timeout() => Some("timeout"),
        Err(why) if why.is_connect() => Some("connect"),
        Err(_) => Some("transport"),
    };
    span.end(method, attributes, error);
    answer
}

/// The path with ids and numbers only. Other parameters, such as the code of a booking or a token, stay
/// names.
fn path_of_ids(route: &'static str, path: &str) -> String {
    let is_id = |value: &str| {
        Uuid::try_parse(value).is_ok()
            || (value.len() <= 10 && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let shown = route
        .split('/')
        .zip(path.split('/'))
        .map(|(name, value)| if name.starts_with('{') && is_id(value) { value } else { name });
    let path: Vec<_> = shown.collect();
    let mut path = path.join("/");
    path.truncate(path.floor_char_boundary(MAX_PATH));
    path
}

/// Not the address: a /24 of IPv4, a /48 of IPv6.
fn client_network(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & 0xFFFF_FF00).to_string() + "/24",
        IpAddr::V6(_) => {
            caller::site(address).map_or_else(String::new, |site| format!("{site}/48"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_show_ids_and_nothing_else() {
        let id = "0192f0c1-7a5b-7c3d-9e8f-001122334455";
        let path = |route, path: &str| path_of_ids(route, path);
        assert_eq!(
            path("/v1/booking/{id}", &format!("/v1/booking/{id}")),
            format!("/v1/booking/{id}")
        );
        assert_eq!(path("/booking/{code}/move", "/booking/ABC234/move"), "/booking/{code}/move");
        assert_eq!(path("/files/{*path}", "/files/ayu@mail.id/b"), "/files/{*path}");
        assert_eq!(path("/x/{n}", "/x/12"), "/x/12");
        assert_eq!(path("/x/{phone}", "/x/081234567890"), "/x/{phone}");
    }

    #[test]
    fn a_network_is_no_address() {
        assert_eq!(client_network("203.0.113.7".parse().unwrap()), "203.0.113.0/24");
        assert_eq!(client_network("2001:db8:1:2:3::4".parse().unwrap()), "2001:db8:1::/48");
    }
}
