//! Prometheus metrics, served at /metrics.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use axum::http::Method;
use chrono::{DateTime, Utc};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::{
    db::Db, log, outbox::Backlog, response_cache::ResponseCache, set_aside::RowJob,
    supervisor::Jobs,
};

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

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfJob {
    /// Not `job`: Prometheus has a label of that name for every target.
    task: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Run {
    task: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfQueue {
    queue: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeOf {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Build {
    version: &'static str,
    engine: &'static str,
}

/// Which server has served a read.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Target {
    target: &'static str,
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
    pub connections_refused: Counter,
    statements: Counter<u64, AtomicU64>,
    database_waiting: Gauge,
    database_refused: Counter<u64, AtomicU64>,
    disk_free: Gauge,
    commits: Counter<u64, AtomicU64>,
    replica_in_use: Gauge,
    replica_lag: Gauge<f64, AtomicU64>,
    replica_reads: Family<Target, Counter<u64, AtomicU64>>,
    job_success: Family<OfJob, Gauge>,
    job_runs: Family<Run, Counter<u64, AtomicU64>>,
    set_aside: Family<OfJob, Gauge>,
    outbox_due: Family<OfQueue, Gauge>,
    outbox_delay: Family<OfQueue, Gauge>,
    outbox_dead: Family<OfQueue, Gauge>,
    cache: Family<OutcomeOf, Counter<u64, AtomicU64>>,
    provider: Family<OutcomeOf, Counter<u64, AtomicU64>>,
    build: Family<Build, Gauge>,
    pub otlp_dropped: Counter,
}

/// The name of a method. A caller can make up others.
pub fn standard(method: &Method) -> Option<&'static str> {
    STANDARD.iter().find(|known| *known == method).map(Method::as_str)
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
        let connections_refused = Counter::default();
        let statements = Counter::default();
        let commits = Counter::default();
        let (database_waiting, database_refused) = Default::default();
        let disk_free = Gauge::default();
        let (replica_in_use, replica_lag) = (Gauge::default(), Gauge::default());
        let replica_reads = Family::default();
        for target in ["replica", "primary"] {
            drop(replica_reads.get_or_create(&Target { target }));
        }
        let job_success = Family::default();
        let job_runs = Family::default();
        let set_aside = Family::default();
        let otlp_dropped = Counter::default();
        registry.register("requests", "HTTP requests served", requests.clone());
        registry.register("request_seconds", "HTTP response time", seconds.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register(
            "connections_refused",
            "Connections refused because their network has too many",
            connections_refused.clone(),
        );
        registry.register(
            "log_write_failures",
            "Log lines that could not be written",
            log::Failures,
        );
        registry.register("statements", "SQL statements run", statements.clone());
        registry.register(
            "database_waiting",
            "Requests and jobs that wait for a connection or the writer",
            Gauge::clone(&database_waiting),
        );
        registry.register(
            "database_refused",
            "Statements refused because too many waited",
            Counter::clone(&database_refused),
        );
        registry.register("disk_free_bytes", "Free space of the data directory", disk_free.clone());
        registry.register("sqlite_commits", "Commits of the SQLite writer", commits.clone());
        registry.register(
            "replica_in_use",
            "Whether the replica serves searches and reports",
            replica_in_use.clone(),
        );
        registry.register(
            "replica_lag_seconds",
            "How far the replica was behind at the last measurement, and the time since",
            replica_lag.clone(),
        );
        registry.register(
            "replica_reads",
            "Statements that a replica may serve, by the server that has",
            replica_reads.clone(),
        );
        registry.register(
            "job_last_success_timestamp_seconds",
            "Time of the last success of a background job of this process",
            job_success.clone(),
        );
        registry.register("job_runs", "Runs of background jobs", job_runs.clone());
        registry.register(
            "rows_set_aside",
            "Rows that a background job failed to process",
            set_aside.clone(),
        );
        let (outbox_due, outbox_delay, outbox_dead) = Default::default();
        registry.register(
            "outbox_due",
            "Deliveries that are due, at most 10,000",
            Family::clone(&outbox_due),
        );
        registry.register(
            "outbox_delay_seconds",
            "How long the oldest due delivery has waited",
            Family::clone(&outbox_delay),
        );
        registry.register(
            "outbox_dead",
            "Deliveries that were given up",
            Family::clone(&outbox_dead),
        );
        let (cache, provider, build) = Default::default();
        registry.register(
            "cache_requests",
            "Requests of cached operations, by whether the cache had the response",
            Family::clone(&cache),
        );
        registry.register(
            "provider_requests",
            "Calls of payment providers, by outcome",
            Family::clone(&provider),
        );
        registry.register("build_info", "Version and database engine", Family::clone(&build));
        registry.register(
            "otlp_dropped",
            "Spans and log records that could not be exported",
            otlp_dropped.clone(),
        );
        Self {
            registry,
            requests,
            seconds,
            connections,
            connections_refused,
            statements,
            database_waiting,
            database_refused,
            disk_free,
            commits,
            replica_in_use,
            replica_lag,
            replica_reads,
            job_success,
            job_runs,
            set_aside,
            outbox_due,
            outbox_delay,
            outbox_dead,
            cache,
            provider,
            build,
            otlp_dropped,
        }
    }

    pub fn request(&self, method: &Method, route: &'static str, status: u16, took: Duration) {
        // Methods that callers make up share a label.
        let method = standard(method).unwrap_or("OTHER");
        self.requests.get_or_create(&Request { method, route, status }).inc();
        self.seconds.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }

    /// How many rows of each job are set aside in the database.
    pub fn set_aside(&self, counts: &[(RowJob, i64)]) {
        for (job, count) in counts {
            self.set_aside.get_or_create(&OfJob { task: job.as_str() }).set(*count);
        }
    }

    /// How far deliveries are behind.
    pub fn outbox(&self, backlogs: &[Backlog], now: DateTime<Utc>) {
        for backlog in backlogs {
            let of = OfQueue { queue: backlog.queue.as_str() };
            let delay = backlog.due_since.map_or(0, |since| (now - since).num_seconds());
            self.outbox_due.get_or_create(&of).set(backlog.due);
            self.outbox_delay.get_or_create(&of).set(delay);
            self.outbox_dead.get_or_create(&of).set(backlog.dead);
        }
    }

    /// Calls of payment providers so far, by outcome.
    pub fn provider_calls(&self, calls: &[(&'static str, u64)]) {
        for (outcome, calls) in calls {
            let counter = self.provider.get_or_create(&OutcomeOf { outcome });
            counter.inner().store(*calls, Ordering::Relaxed);
        }
    }

    /// What the response cache has served so far.
    pub fn cache(&self, cache: &ResponseCache) {
        let (hits, misses) = cache.hits_and_misses();
        for (outcome, requests) in [("hit", hits), ("miss", misses)] {
            let counter = self.cache.get_or_create(&OutcomeOf { outcome });
            counter.inner().store(requests, Ordering::Relaxed);
        }
    }

    /// What the jobs of this process have done so far.
    pub fn jobs(&self, jobs: &Jobs) {
        for job in jobs.all() {
            let (job, state) = (job.name, job.state());
            let outcomes = [("ok", state.runs), ("error", state.failures), ("panic", state.panics)];
            for (outcome, runs) in outcomes {
                let counter = self.job_runs.get_or_create(&Run { task: job, outcome });
                counter.inner().store(runs, Ordering::Relaxed);
            }
            let success = state.last_success.unwrap_or(SystemTime::UNIX_EPOCH);
            let seconds = success.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            self.job_success.get_or_create(&OfJob { task: job }).set(seconds.as_secs() as i64);
        }
    }

    /// Free space of the data directory, where the system tells.
    pub fn disk(&self, free: Option<u64>) {
        self.disk_free.set(free.unwrap_or_default().try_into().unwrap_or(i64::MAX));
    }

    pub fn text(&self, db: &Db) -> String {
        let build = Build { version: env!("CARGO_PKG_VERSION"), engine: db.engine() };
        self.build.get_or_create(&build).set(1);
        self.statements.inner().store(db.statements(), Ordering::Relaxed);
        let load = db.load();
        self.database_waiting.set(load.waiting as i64);
        self.database_refused.inner().store(load.refused, Ordering::Relaxed);
        if let Some(commits) = db.commits() {
            self.commits.inner().store(commits, Ordering::Relaxed);
        }
        if let Some(replica) = db.replica_state() {
            self.replica_in_use.set(replica.in_use.into());
            self.replica_lag.set(replica.lag.as_secs_f64());
            for (target, reads) in [("replica", replica.reads), ("primary", replica.primary_reads)]
            {
                let counter = self.replica_reads.get_or_create(&Target { target });
                counter.inner().store(reads, Ordering::Relaxed);
            }
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
