//! Traces and logs for an OpenTelemetry collector (OTLP over HTTP), if one is configured.
//!
//! A request, a run of a job and a call of another system are spans. Spans are built as data and put
//! into a bounded queue; the SDK's tracers and processors are not used (see
//! `docs/adr/0027-opentelemetry.md`). What leaves the process are ids, routes, codes and counts: no
//! bodies, no query strings, no addresses of clients.

mod export;
mod logs;
mod span;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::{HeaderName, HeaderValue};
use futures_util::FutureExt;
use opentelemetry::{InstrumentationScope, KeyValue, logs::LoggerProvider};
use opentelemetry_otlp::{
    LogExporter, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::{
    Resource,
    logs::{LogBatch, LogExporter as _, SdkLogRecord, SdkLogger, SdkLoggerProvider},
    trace::{RandomIdGenerator, Sampler, SpanData, SpanExporter as _},
};
use tokio::{sync::watch, task::JoinSet};

use super::{ids, metrics::Metrics, secret::Secret};
use export::Queue;

pub use logs::LogExport;
pub use span::{Span, TracedRequest, call, current, statement};

/// For one batch, with its retries.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// For everything that is queued when the service stops.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Where traces and logs are sent to.
pub struct Collector<'a> {
    pub url: &'a str,
    /// `name=value,…`
    pub headers: Option<&'a Secret>,
    /// The fraction of traces that are exported.
    pub ratio: f64,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    scope: InstrumentationScope,
    sampler: Sampler,
    ids: RandomIdGenerator,
    spans: Queue<SpanData>,
    logs: Queue<SdkLogRecord>,
    /// Only to create records.
    logger: SdkLogger,
    exporter: Arc<SpanExporter>,
    stop: watch::Sender<bool>,
    running: Mutex<JoinSet<()>>,
}

impl Telemetry {
    pub fn new(collector: Collector<'_>, metrics: &Metrics) -> Result<Self, String> {
        let url = collector.url.trim_end_matches('/');
        let headers = headers(collector.headers)?;
        let fault = |why: &dyn std::fmt::Display| format!("DERMAGA_OTLP_URL: {why}");
        let client = reqwest::Client::builder()
            .timeout(EXPORT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| fault(&why))?;
        let retries = RetryPolicy::recommended()
            .with_max_retries(2)
            .with_initial_delay(Duration::from_millis(500));
        let mut spans = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(format!("{url}/v1/traces"))
            .with_headers(headers.clone())
            .with_timeout(EXPORT_TIMEOUT)
            .with_retry_policy(retries.clone())
            .build()
            .map_err(|why| fault(&why))?;
        let mut logs = LogExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(format!("{url}/v1/logs"))
            .with_headers(headers)
            .with_timeout(EXPORT_TIMEOUT)
            .with_retry_policy(retries)
            .build()
            .map_err(|why| fault(&why))?;
        let resource = resource();
        spans.set_resource(&resource);
        logs.set_resource(&resource);
        Ok(Self::start(collector.ratio, metrics, spans, logs))
    }

    fn start(ratio: f64, metrics: &Metrics, spans: SpanExporter, logs: LogExporter) -> Self {
        let (exporter, logs) = (Arc::new(spans), Arc::new(logs));
        let scope = InstrumentationScope::builder("dermaga").build();
        let (stop, mut running) = (watch::Sender::new(false), JoinSet::new());
        let span_queue = Queue::start("spans", metrics, &stop, &mut running, {
            let exporter = exporter.clone();
            move |batch| {
                let exporter = exporter.clone();
                async move { exporter.export(batch).await }.boxed()
            }
        });
        let log_queue = Queue::start("logs", metrics, &stop, &mut running, {
            let scope = scope.clone();
            move |batch: Vec<SdkLogRecord>| {
                let (exporter, scope) = (logs.clone(), scope.clone());
                async move {
                    let batch: Vec<_> = batch.iter().map(|record| (record, &scope)).collect();
                    exporter.export(LogBatch::new(&batch)).await
                }
                .boxed()
            }
        });
        Self(Arc::new(Inner {
            logger: SdkLoggerProvider::builder().build().logger("dermaga"),
            sampler: Sampler::TraceIdRatioBased(ratio),
            ids: RandomIdGenerator::default(),
            spans: span_queue,
            logs: log_queue,
            running: Mutex::new(running),
            scope,
            exporter,
            stop,
        }))
    }

    /// Whether the collector accepts an empty batch.
    pub async fn reach(&self) -> Result<(), String> {
        let sent = tokio::time::timeout(EXPORT_TIMEOUT, self.0.exporter.export(Vec::new())).await;
        sent.map_err(|_| "no response".to_owned())?.map_err(|why| why.to_string())
    }

    /// Exports what is queued, for a few seconds at most. What comes later is dropped.
    pub async fn finish(&self) {
        self.0.stop.send_replace(true);
        let mut running = {
            let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *running)
        };
        let finished = async { while running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(FINISH_TIMEOUT, finished).await;
    }
}

/// `OTEL_RESOURCE_ATTRIBUTES` may add others.
fn resource() -> Resource {
    Resource::builder()
        .with_service_name("dermaga")
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("service.instance.id", ids::fresh().to_string()))
        .build()
}

fn headers(setting: Option<&Secret>) -> Result<HashMap<String, String>, String> {
    let pairs = setting.map_or("", Secret::reveal).split(',').map(str::trim);
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        HeaderName::from_bytes(name.as_bytes()).ok()?;
        HeaderValue::from_str(value).ok()?;
        Some((name.to_owned(), value.to_owned()))
    };
    let headers: Option<_> = pairs.filter(|text| !text.is_empty()).map(pair).collect();
    headers.ok_or_else(|| "DERMAGA_OTLP_HEADERS: must have the form name=value,name=value".into())
}
