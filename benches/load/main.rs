//! `cargo bench --bench load`: throughput and latency of the service, beside the limit of the machine.
//!
//! It starts the service on a database of its own, with a known data set, and drives it from this
//! process over loopback. For each operation it also measures a limit: the same bytes from memory, or
//! the same statements on the bare engine. Machines are noisy; the ratio of two figures that were
//! taken alternately is less so.
//!
//! - `--mixed` runs a mixed load in place of single operations, with latencies of each kind.
//! - `--lists` asks every list and report, with every filter and order, at a million bookings
//!   (`--scale N`: with N fleets; `--at ADDRESS`: of a service that runs already; `--only PATH`: one list).
//! - `--pages` measures pages of the console beside the operations that they call.
//! - `--growth` shows how cost grows with data, clients and processes; it takes long.
//! - `--sqlite` and `--postgres` choose one engine; without them both are measured.
//! - `--seconds N` sets the length of each measurement (3).
//! - `BENCH_BINARY` names another build of the service to measure.

mod bare;
#[path = "../../tests/support/cluster.rs"]
mod cluster;
mod data;
mod drive;
mod growth;
mod lists;
mod machine;
mod mixed;
mod pages;
mod show;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use cluster::Cluster;
use data::{DAYS, Data, sign_in};
use dermaga::demo::Extent;
use drive::{Script, Seen, call, drive};
use machine::{Process, family, postmaster, seconds, stolen};
use show::{Line, Table};

/// Concurrent clients, unless given.
const CLIENTS: usize = 32;
/// Fleets of the usual data set: about 10,000 sailings.
const FLEETS: u16 = 5;
/// Each measurement is split into rounds, so that a slow moment of the machine affects all alike.
const ROUNDS: u32 = 3;

/// The options of the command line.
pub struct Options {
    growth: bool,
    mixed: bool,
    lists: bool,
    pages: bool,
    scale: Option<u16>,
    at: Option<SocketAddr>,
    only: Option<String>,
    sqlite: bool,
    postgres: bool,
    time: Duration,
}

impl Options {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let has = |word: &str| words.iter().any(|w| w == word);
        let after = |word: &str| words.iter().skip_while(|w| *w != word).nth(1);
        let seconds = after("--seconds").and_then(|word| word.parse().ok()).unwrap_or(3.0);
        let (sqlite, postgres) = (has("--sqlite"), has("--postgres"));
        Self {
            growth: has("--growth"),
            mixed: has("--mixed"),
            lists: has("--lists"),
            pages: has("--pages"),
            scale: after("--scale").and_then(|word| word.parse().ok()),
            at: after("--at").and_then(|word| word.parse().ok()),
            only: after("--only").cloned(),
            sqlite: sqlite || !postgres,
            postgres: postgres || !sqlite,
            time: Duration::from_secs_f64(seconds),
        }
    }
}

/// The database engine: SQLite in a folder, or a PostgreSQL server of its own.
pub enum Engine {
    Sqlite,
    Postgres { cluster: Cluster, bin: PathBuf },
}

impl Engine {
    fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }

    /// An empty database.
    async fn database(&self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres { cluster, .. } => {
                let name = format!("b{}", dermaga::kernel::ids::fresh().simple());
                Some(cluster::create(cluster, &format!("CREATE DATABASE {name}")).await)
            }
        }
    }

    async fn fill(&self, folder: &Path, extent: Extent) -> Data {
        Data::fill(folder, self.database().await, extent).await
    }

    fn pids(&self) -> Vec<u32> {
        match self {
            Self::Sqlite => Vec::new(),
            Self::Postgres { cluster, .. } => {
                postmaster(&cluster.socket).map(family).unwrap_or_default()
            }
        }
    }
}

/// The service (or several) under load.
pub struct Bench<'a> {
    engine: &'a Engine,
    services: Vec<&'a Process>,
    time: Duration,
    clients: usize,
}

/// The result of one operation, with its processor time.
#[derive(Default)]
pub struct Measured {
    pub seen: Seen,
    /// Processor seconds of the service, and of the database.
    pub spent: (f64, f64),
    /// Stolen processor time, and total time.
    pub stolen: (f64, f64),
}

impl Measured {
    fn add(&mut self, other: Self) {
        self.seen.add(other.seen);
        self.seen.micros.sort_unstable();
        self.spent.0 += other.spent.0;
        self.spent.1 += other.spent.1;
        self.stolen.0 += other.stolen.0;
        self.stolen.1 += other.stolen.1;
    }
}

impl Bench<'_> {
    async fn measure(&self, script: impl Script) -> Measured {
        let script = Arc::new(script);
        let addresses: Vec<_> = self.services.iter().map(|service| service.address).collect();
        let count = Arc::new(AtomicU64::new(0));
        let warm = self.time.min(Duration::from_millis(400));
        drive(&addresses, self.clients, warm, script.clone(), count.clone()).await;
        let pids: Vec<_> = self.services.iter().map(|service| service.pid()).collect();
        let before = (seconds(&pids), seconds(&self.engine.pids()), stolen());
        let seen = drive(&addresses, self.clients, self.time, script, count).await;
        let spent = (seconds(&pids) - before.0, seconds(&self.engine.pids()) - before.1);
        let (taken, all) = stolen();
        Measured { spent, seen, stolen: (taken - before.2.0, all - before.2.1) }
    }

    /// The operation, and the rate at which its response is served from memory.
    async fn beside(&self, folder: &Path, script: impl Script) -> (Measured, f64) {
        let answer = first(self.services[0], &script).await;
        let measured = self.measure(script.clone()).await;
        let handler = bare::handler(folder, &answer).await;
        let bench = Bench { services: vec![&handler], engine: &Engine::Sqlite, ..*self };
        (measured, bench.measure(script).await.seen.per_second())
    }
}

/// The first response of a script.
async fn first(service: &Process, script: &impl Script) -> Vec<u8> {
    let ask = script(0).expect("there is one");
    let (status, answer) = call(&mut None, service.address, &ask).await.expect("an answer");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    answer
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if let [_, flag, file, address] = words.as_slice()
        && flag == "--answer"
    {
        return runtime.block_on(bare::answer(file, address));
    }
    let options = Options::read();
    runtime.block_on(async {
        if let Some(address) = options.at {
            return lists::run_at(address, options.only.as_deref()).await;
        }
        if options.sqlite {
            run(&options, Engine::Sqlite).await;
        }
        if options.postgres {
            match cluster::binaries() {
                None => println!("PostgreSQL is not installed: SQLite alone was measured."),
                Some(bin) => {
                    let settings = "-c shared_buffers=256MB -c max_wal_size=4GB";
                    let cluster = cluster::start(
                        &bin,
                        tempfile::Builder::new().prefix("dermaga-pg-").tempdir().expect("a folder"),
                        settings,
                    )
                    .expect("PostgreSQL starts");
                    run(&options, Engine::Postgres { cluster, bin }).await;
                }
            }
        }
    });
}

async fn run(options: &Options, engine: Engine) {
    match options {
        Options { growth: true, .. } => growth::run(options, &engine).await,
        Options { mixed: true, .. } => mixed::run(options, &engine).await,
        Options { pages: true, .. } => pages::run(&engine).await,
        Options { lists: true, .. } => lists::run(options, &engine).await,
        _ => operations(options, &engine).await,
    }
}

/// An operation, and its limit per second in each round.
#[derive(Default)]
struct Beside(Measured, Vec<f64>);

impl Beside {
    fn add(&mut self, measured: Measured, limit: f64) {
        self.0.add(measured);
        self.1.push(limit);
    }

    fn line(&self, name: &str) -> Line {
        let Self(measured, limits) = self;
        Line::new(name, measured, limits.iter().sum::<f64>() / limits.len() as f64)
    }
}

/// Each hot operation beside its limit.
#[derive(Default)]
struct Operations {
    search: Beside,
    rare: Beside,
    lookup: Beside,
    list: Beside,
    year: Beside,
    spread: Beside,
    hot: Beside,
    paid: Beside,
    search_many: Beside,
    spread_many: Beside,
    /// Megabytes after 32 clients, and after 256.
    memory: (f64, f64),
    /// Events and mails in the outbox after a round.
    waiting: i64,
}

async fn operations(options: &Options, engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = engine.fill(folder.path(), Extent { days: DAYS, scale: FLEETS }).await;
    let service = data.serve().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (idle, ready) = (service.megabytes(), service.ready.as_millis());
    drop(service);
    let mut all = Operations::default();
    for _ in 0..ROUNDS {
        all.round(options.time / ROUNDS, engine, &data, folder.path()).await;
    }
    data.close().await;

    let mut table = Table::new(format!(
        "{}: {} sailings, {} bookings, {CLIENTS} clients",
        engine.name(),
        data.sailings,
        data.bookings
    ));
    table.line(all.search.line("search"));
    table.line(all.rare.line("search, not shared"));
    table.line(all.lookup.line("booking lookup"));
    table.line(all.list.line("bookings, signed in"));
    table.line(all.year.line("yearly report"));
    table.line(all.spread.line("book, spread"));
    table.line(all.hot.line("book, one sailing"));
    table.line(all.paid.line("payment callback"));
    table.line(all.search_many.line("search, 256 clients"));
    table.line(all.spread_many.line("book, 256 clients"));
    table.print();
    let ((loaded, most), waiting) = (all.memory, all.waiting);
    println!(
        "Ready after {ready} ms; memory {idle:.0} MB idle, {loaded:.0} MB after {CLIENTS} clients, \
         {most:.0} MB after 256; {waiting} events and letters were left for later in a round.\n"
    );
}

impl Operations {
    async fn round(&mut self, time: Duration, engine: &Engine, data: &Data, folder: &Path) {
        let service = data.serve().await;
        let bench = Bench { engine, services: vec![&service], time, clients: CLIENTS };
        let many = Bench { clients: 256, services: vec![&service], ..bench };
        let token = sign_in(service.address).await;
        let lookups = data.lookups().await;

        let search = bench.beside(folder, data.searches()).await;
        let rare = bench.measure(data.rare_searches()).await;
        self.rare.add(rare, search.1);
        self.search.add(search.0, search.1);
        let (lookup, limit) = bench.beside(folder, lookups).await;
        self.lookup.add(lookup, limit);
        let (list, limit) = bench.beside(folder, data.pages(&token)).await;
        self.list.add(list, limit);
        let (year, limit) = bench.beside(folder, data.years(&token)).await;
        self.year.add(year, limit);
        let spread = bench.measure(data.sales(false)).await;
        let hot = bench.measure(data.sales(true)).await;
        let paid = bench.measure(data.payments().await).await;
        self.memory.0 = service.megabytes().max(self.memory.0);
        let (search_many, limit) = many.beside(folder, data.searches()).await;
        self.search_many.add(search_many, limit);
        let spread_many = many.measure(data.sales(false)).await;
        self.memory.1 = service.megabytes().max(self.memory.1);
        self.waiting = data.waiting().await.max(self.waiting);

        // The service must not write while the bare engine is measured.
        drop(service);
        let bare = bare_writes(time, engine, data, folder).await;
        self.spread.add(spread, bare.spread);
        self.hot.add(hot, bare.hot);
        self.paid.add(paid, bare.paid);
        self.spread_many.add(spread_many, bare.many);
        // Every round starts with an empty outbox.
        data.forget().await;
    }
}

/// The bare statements, each per second.
#[derive(Default)]
struct Bare {
    spread: f64,
    hot: f64,
    many: f64,
    paid: f64,
}

async fn bare_writes(time: Duration, engine: &Engine, data: &Data, folder: &Path) -> Bare {
    let one = Arc::new(data.berths[..1].to_vec());
    match engine {
        Engine::Sqlite => {
            let spread = bare::Sqlite::open(data, CLIENTS, time);
            let many = bare::Sqlite::open(data, 256, time);
            Bare {
                spread: spread.sell(data.berths.clone()).per_second(),
                hot: spread.sell(one).per_second(),
                many: many.sell(data.berths.clone()).per_second(),
                paid: spread.pay().per_second(),
            }
        }
        Engine::Postgres { bin, .. } => {
            let program = bin.join("pgbench");
            let program = if program.exists() { program } else { "/usr/bin/pgbench".into() };
            let url = data.url.as_deref().expect("it has an address");
            let seconds = time.as_secs().max(1);
            let with = |clients| bare::Pgbench { program: &program, url, clients, seconds };
            let rate = Option::unwrap_or_default;
            Bare {
                spread: rate(with(CLIENTS).sell(folder, data, &data.berths)),
                hot: rate(with(CLIENTS).sell(folder, data, &one)),
                many: rate(with(256).sell(folder, data, &data.berths)),
                paid: rate(with(CLIENTS).pay(folder)),
            }
        }
    }
}
