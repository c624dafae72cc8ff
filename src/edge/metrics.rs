//! What Prometheus reads at /metrics.

use std::{sync::atomic::AtomicU64, time::Duration};

use axum::http::Method;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::kernel::{db::Db, log};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: &'static str,
}

static STANDARD: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];

pub struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    pub connections: Gauge,
    statements: Counter<u64, AtomicU64>,
    commits: Counter<u64, AtomicU64>,
}

fn histogram() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0])
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("dermaga");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        let connections = Gauge::default();
        let statements = Counter::default();
        let commits = Counter::default();
        registry.register("requests", "Requests answered", requests.clone());
        registry.register("request_seconds", "Time to answer", seconds.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register(
            "log_write_failures",
            "Log lines that could not be written",
            log::Failures,
        );
        registry.register("statements", "SQL statements run", statements.clone());
        registry.register("sqlite_commits", "Commits of the SQLite writer", commits.clone());
        Self { registry, requests, seconds, connections, statements, commits }
    }

    pub fn request(&self, method: &Method, route: &'static str, status: u16, took: Duration) {
        // Anyone can make up a method; made-up ones share a label.
        let known = STANDARD.iter().find(|known| *known == method);
        let method = known.map_or("OTHER", Method::as_str);
        self.requests.get_or_create(&Request { method, route, status }).inc();
        self.seconds.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }

    pub fn text(&self, db: &Db) -> String {
        self.statements.inner().store(db.statements(), std::sync::atomic::Ordering::Relaxed);
        if let Some(commits) = db.commits() {
            self.commits.inner().store(commits, std::sync::atomic::Ordering::Relaxed);
        }
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
