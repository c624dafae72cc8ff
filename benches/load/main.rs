//! `cargo bench`: what the service does on this machine, beside what the machine can do.
//!
//! It starts the service on a database of its own, with a known data set, and drives it from this
//! process over loopback. Then, without the service, it measures the limit of each operation: the
//! same bytes from memory, the same statements on the bare engine. The machine is noisy; the ratio
//! of two figures of one run is not, as much.
//!
//! `cargo bench -- --growth` shows how cost grows with data, clients and processes; it takes long.
//! `--sqlite` and `--postgres` choose one engine, `--seconds N` the length of each measurement; with
//! `BENCH_BINARY` another build is measured.

mod bare;
#[path = "../../tests/cluster/mod.rs"]
mod cluster;
mod data;
mod drive;
mod growth;
mod machine;
mod show;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use cluster::Cluster;
use data::{DAYS, Data, sign_in};
use dermaga::demo::Extent;
use drive::{Script, Seen, call, drive};
use machine::{Process, family, postmaster, seconds};
use show::{Line, Table};

/// Clients that call at once, where nothing else is said.
const CLIENTS: usize = 32;
/// Fleets of the usual data set: about 10,000 sailings.
const FLEETS: u16 = 5;

/// What was asked for on the command line.
pub struct Wish {
    growth: bool,
    sqlite: bool,
    postgres: bool,
    time: Duration,
}

impl Wish {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let has = |word: &str| words.iter().any(|w| w == word);
        let after = |word: &str| words.iter().skip_while(|w| *w != word).nth(1);
        let seconds = after("--seconds").and_then(|word| word.parse().ok()).unwrap_or(3.0);
        let (sqlite, postgres) = (has("--sqlite"), has("--postgres"));
        Self {
            growth: has("--growth"),
            sqlite: sqlite || !postgres,
            postgres: postgres || !sqlite,
            time: Duration::from_secs_f64(seconds),
        }
    }
}

/// Where data live: SQLite in a folder, or a PostgreSQL of our own.
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

/// What one operation came to, with its processor time.
pub struct Measured {
    pub seen: Seen,
    /// Microseconds for each: of the service, of the database beside it.
    pub cpu: (f64, f64),
}

impl Bench<'_> {
    async fn measure(&self, script: impl Script) -> Measured {
        let script = Arc::new(script);
        let addresses: Vec<_> = self.services.iter().map(|service| service.address).collect();
        let count = Arc::new(AtomicU64::new(0));
        let warm = self.time.min(Duration::from_millis(700));
        drive(&addresses, self.clients, warm, script.clone(), count.clone()).await;
        let pids: Vec<_> = self.services.iter().map(|service| service.pid()).collect();
        let before = (seconds(&pids), seconds(&self.engine.pids()));
        let seen = drive(&addresses, self.clients, self.time, script, count).await;
        let spent = (seconds(&pids) - before.0, seconds(&self.engine.pids()) - before.1);
        let each = 1e6 / (seen.micros.len().max(1) as f64);
        Measured { cpu: (spent.0 * each, spent.1 * each), seen }
    }

    /// How fast these bytes come from memory.
    async fn in_memory(&self, folder: &Path, bytes: &[u8], script: impl Script) -> f64 {
        let handler = bare::handler(folder, bytes).await;
        let bench = Bench { services: vec![&handler], engine: &Engine::Sqlite, ..*self };
        bench.measure(script).await.seen.per_second()
    }
}

/// The first answer of a script.
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
    let wish = Wish::read();
    runtime.block_on(async {
        if wish.sqlite {
            run(&wish, Engine::Sqlite).await;
        }
        if wish.postgres {
            match cluster::binaries() {
                None => println!("PostgreSQL is not installed: SQLite alone was measured."),
                Some(bin) => {
                    let options = "-c shared_buffers=256MB -c max_wal_size=4GB";
                    let cluster = cluster::start(&bin, options).expect("PostgreSQL starts");
                    run(&wish, Engine::Postgres { cluster, bin }).await;
                }
            }
        }
    });
}

async fn run(wish: &Wish, engine: Engine) {
    match wish.growth {
        true => growth::run(wish, &engine).await,
        false => operations(wish, &engine).await,
    }
}

/// Each hot operation beside its limit.
async fn operations(wish: &Wish, engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = engine.fill(folder.path(), Extent { days: DAYS, scale: FLEETS }).await;
    let service = data.serve().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = service.megabytes();
    let bench = Bench { engine, services: vec![&service], time: wish.time, clients: CLIENTS };
    let token = sign_in(&service).await;
    let years = data.years(&token);
    let pages = data.pages(&token);
    let answers = (
        first(&service, &data.searches()).await,
        first(&service, &data.lookups().await).await,
        first(&service, &pages).await,
        first(&service, &years).await,
    );

    let search = bench.measure(data.searches()).await;
    let rare = bench.measure(data.rare_searches()).await;
    let lookup = bench.measure(data.lookups().await).await;
    let list = bench.measure(pages).await;
    let year = bench.measure(years).await;
    let spread = bench.measure(data.sales(false)).await;
    let hot = bench.measure(data.sales(true)).await;
    let paid = bench.measure(data.payments().await).await;
    let loaded = service.megabytes();
    let many = Bench { clients: 256, services: vec![&service], ..bench };
    let search_many = many.measure(data.searches()).await;
    let spread_many = many.measure(data.sales(false)).await;
    let most = service.megabytes();
    let waiting = data.waiting().await;

    let place = folder.path();
    let limit_search = bench.in_memory(place, &answers.0, data.searches()).await;
    let limit_lookup = bench.in_memory(place, &answers.1, data.lookups().await).await;
    let limit_list = bench.in_memory(place, &answers.2, data.pages(&token)).await;
    let limit_year = bench.in_memory(place, &answers.3, data.years(&token)).await;
    let limit_many = many.in_memory(place, &answers.0, data.searches()).await;
    let ready = service.ready;
    drop(service);
    let bare = bare_writes(wish, engine, &data, place).await;
    data.close().await;

    let mut table = Table::new(format!(
        "{}: {} sailings, {} bookings, {CLIENTS} clients",
        engine.name(),
        data.sailings,
        data.bookings
    ));
    table.line(Line::new("search", &search, limit_search));
    table.line(Line::new("search, not shared", &rare, limit_search));
    table.line(Line::new("booking lookup", &lookup, limit_lookup));
    table.line(Line::new("bookings, signed in", &list, limit_list));
    table.line(Line::new("yearly report", &year, limit_year));
    table.line(Line::new("book, spread", &spread, bare.spread));
    table.line(Line::new("book, one sailing", &hot, bare.hot));
    table.line(Line::new("payment callback", &paid, bare.paid));
    table.line(Line::new("search, 256 clients", &search_many, limit_many));
    table.line(Line::new("book, 256 clients", &spread_many, bare.many));
    table.print();
    println!(
        "Ready after {} ms; memory {idle:.0} MB idle, {loaded:.0} MB after {CLIENTS} clients, \
         {most:.0} MB after 256; {waiting} events and letters were left for later.\n",
        ready.as_millis()
    );
}

/// The statements alone, each per second.
#[derive(Default)]
struct Bare {
    spread: f64,
    hot: f64,
    many: f64,
    paid: f64,
}

async fn bare_writes(wish: &Wish, engine: &Engine, data: &Data, folder: &Path) -> Bare {
    let one = Arc::new(data.berths[..1].to_vec());
    match engine {
        Engine::Sqlite => {
            let spread = bare::Sqlite::open(data, CLIENTS, wish.time);
            let many = bare::Sqlite::open(data, 256, wish.time);
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
            let seconds = wish.time.as_secs().max(1);
            let with = |clients| bare::Pgbench { program: &program, url, clients, seconds };
            let rate = Option::unwrap_or_default;
            Bare {
                spread: rate(with(CLIENTS).sell(folder, &data.berths)),
                hot: rate(with(CLIENTS).sell(folder, &one)),
                many: rate(with(256).sell(folder, &data.berths)),
                paid: rate(with(CLIENTS).pay(folder)),
            }
        }
    }
}
