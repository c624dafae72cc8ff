//! `cargo bench --bench abuse`: attacks on a real process from one network, and their effect on honest
//! clients and health probes from other networks.
//!
//! Each attack comes from 127.0.0.1. Meanwhile an honest client calls from 127.0.0.2, and a probe
//! requests `/health/live` from 127.0.0.3. Rate limits are on. The table has, for each attack, the
//! number of attacking requests, the longest time between two answered probes, the share of honest
//! requests that were answered in time, and the slowest honest request.
//!
//! - `--sqlite` and `--postgres` choose one engine; without them both are attacked.
//! - `--seconds N` sets the length of each attack (6).
//! - `BENCH_BINARY` names another build of the service to attack.

#[path = "../tests/support/cluster.rs"]
mod cluster;

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use chrono::{TimeDelta, Utc};
use dermaga::{
    config::{Config, DatabaseUrl, Url},
    demo::{self, Extent},
    kernel::{db::Db, ids, secret::Secret},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
};

const SECRET: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
const ADMIN: (&str, &str) = ("campaign@dermaga.test", "ombak tenang 9 perahu");
/// An honest request that takes longer counts as not answered.
const TIMEOUT: Duration = Duration::from_secs(2);
const CLIENTS: usize = 32;

/// A sailing that can be booked: its id, its boat, its harbours and its day.
type Sailing = (ids::Uuid, ids::Uuid, String, String, chrono::NaiveDate);

struct Target {
    address: SocketAddr,
    sailings: Vec<Sailing>,
}

#[derive(Clone, Copy, Debug)]
enum Attack {
    /// No attack, for comparison.
    None,
    /// Bodies near the size limit that are slow to parse.
    LargeBodies,
    /// Large bodies for an operation that refuses the caller before it reads them.
    RefusedBodies,
    /// Connections that never finish a request head.
    HalfOpenConnections,
    /// Bodies that stop after the first byte.
    StalledBodies,
    /// Sign-ins with a wrong password, half of them for an account that exists.
    SignIns,
    /// Requests to mail a password reset.
    PasswordResets,
    /// Bookings that are never paid.
    Holds,
    /// Random bytes in place of HTTP.
    RandomBytes,
}

const CAMPAIGN: [Attack; 9] = [
    Attack::None,
    Attack::LargeBodies,
    Attack::RefusedBodies,
    Attack::HalfOpenConnections,
    Attack::StalledBodies,
    Attack::SignIns,
    Attack::PasswordResets,
    Attack::Holds,
    Attack::RandomBytes,
];

#[derive(Default)]
struct Outcome {
    /// The longest time between two answered probes.
    longest_gap: Duration,
    honest: usize,
    answered: usize,
    slowest: Duration,
    attacks: usize,
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let has = |word: &str| words.iter().any(|w| w == word);
    let seconds = words.iter().skip_while(|word| *word != "--seconds").nth(1);
    let time = Duration::from_secs(seconds.and_then(|word| word.parse().ok()).unwrap_or(6));
    let _ = rlimit::increase_nofile_limit(65_536);
    println!(
        "{:<12} {:<20} {:>8} {:>10} {:>9} {:>8}",
        "", "attack", "attacks", "gap, ms", "honest", "max, ms"
    );
    if has("--sqlite") || !has("--postgres") {
        campaign("SQLite", None, time).await;
    }
    if has("--postgres") || !has("--sqlite") {
        let Some(bin) = cluster::binaries() else { return println!("PostgreSQL is not installed") };
        let cluster = cluster::start(
            &bin,
            tempfile::Builder::new().prefix("dermaga-pg-").tempdir().expect("a folder"),
            "",
        )
        .expect("PostgreSQL starts");
        let name = format!("b{}", ids::fresh().simple());
        let url = cluster::create(&cluster, &format!("CREATE DATABASE {name}")).await;
        campaign("PostgreSQL", Some(url), time).await;
    }
}

async fn campaign(engine: &str, url: Option<String>, time: Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let sailings = fill(folder.path(), url.clone()).await;
    for attack in CAMPAIGN {
        // A new process, so that rate limits of the previous attack do not count.
        let (mut service, address) = serve(folder.path(), url.as_deref()).await;
        let target = Target { address, sailings: sailings.clone() };
        let outcome = run(&target, attack, time).await;
        let share = 100.0 * outcome.answered as f64 / outcome.honest.max(1) as f64;
        println!(
            "{engine:<12} {:<20} {:>8} {:>10} {share:>8.1}% {:>8}",
            format!("{attack:?}"),
            outcome.attacks,
            outcome.longest_gap.as_millis(),
            outcome.slowest.as_millis(),
        );
        let _ = service.kill();
        let _ = service.wait();
    }
}

async fn fill(folder: &Path, url: Option<String>) -> Vec<Sailing> {
    let config = Config {
        data_dir: folder.into(),
        database_url: url.clone().map(|url| DatabaseUrl(Url(url))),
        secret_key: Some(Secret::new(SECRET)),
        ..Config::default()
    };
    let extent = Extent { days: 1, scale: 1 };
    let app = demo::fill(config, 1, extent, demo::Progress::hidden()).await;
    app.expect("the demo is filled").db.close().await;
    let file = format!("sqlite:{}", folder.join("dermaga.db").display());
    let db = Db::open_without_timeout(url.as_deref().unwrap_or(&file)).await.expect("opens");
    let sailings = db
        .sql(
            "SELECT s.id, s.speedboat_id, r.from_name, r.to_name, s.day FROM sailings s
             JOIN routes r ON r.id = s.route_id
             WHERE s.departure_at > $1 AND s.status = 'open' ORDER BY s.departure_at, s.id",
        )
        .bind(Utc::now() + TimeDelta::days(1))
        .all()
        .await
        .expect("sailings");
    db.close().await;
    sailings
}

async fn serve(folder: &Path, url: Option<&str>) -> (Child, SocketAddr) {
    let binary = std::env::var_os("BENCH_BINARY");
    let binary = binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_dermaga").into());
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let address = free.expect("a free port");
    let mut command = Command::new(binary);
    command
        .env_clear()
        .current_dir(folder)
        .env("DERMAGA_LISTEN", address.to_string())
        .env("DERMAGA_DATA_DIR", folder)
        .env("DERMAGA_SECRET_KEY", SECRET)
        .env("DERMAGA_LOG", "error")
        .stdout(Stdio::null());
    if let Some(url) = url {
        command.env("DERMAGA_DATABASE_URL", url);
    }
    let admin = |mut command: Command| {
        let create = command.args(["admin", "create", "--email", ADMIN.0]).stdin(Stdio::piped());
        let mut child = create.stderr(Stdio::null()).spawn().expect("it runs");
        let written = std::io::Write::write_all(
            child.stdin.as_mut().expect("it is piped"),
            ADMIN.1.as_bytes(),
        );
        drop((written, child.stdin.take()));
        // It fails from the second start on, when the admin exists.
        let _ = child.wait();
    };
    let mut create = Command::new(command.get_program());
    create.env_clear().current_dir(folder).stdout(Stdio::null());
    create.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    admin(create);
    let service = command.spawn().expect("it starts");
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (service, address)
}

async fn run(target: &Target, attack: Attack, time: Duration) -> Outcome {
    let until = tokio::time::Instant::now() + time;
    let probe = tokio::spawn(probe(target.address, until));
    let honest = tokio::spawn(honest(target.address, target.sailings.clone(), until));
    let mut attackers = JoinSet::new();
    let clients = match attack {
        Attack::None => 0,
        // Below the number of connections that one process accepts.
        Attack::HalfOpenConnections => 4_000,
        Attack::StalledBodies => 500,
        _ => CLIENTS,
    };
    for number in 0..clients {
        let (address, sailings) = (target.address, target.sailings.clone());
        attackers.spawn(async move {
            let mut done = 0;
            while tokio::time::Instant::now() < until {
                let work = attack_once(address, attack, number + done * clients, &sailings, until);
                let _ = tokio::time::timeout_at(until, work).await;
                done += 1;
            }
            done
        });
    }
    let longest_gap = probe.await.expect("the probe does not panic");
    let mut outcome = Outcome { longest_gap, ..Outcome::default() };
    (outcome.honest, outcome.answered, outcome.slowest) =
        honest.await.expect("the client does not panic");
    while let Some(done) = attackers.join_next().await {
        outcome.attacks += done.unwrap_or_default();
    }
    outcome
}

fn client(from: [u8; 4]) -> reqwest::Client {
    let client = reqwest::Client::builder().local_address(IpAddr::from(from));
    client.build().expect("a client")
}

/// The longest time between two answered probes.
async fn probe(address: SocketAddr, until: tokio::time::Instant) -> Duration {
    let (client, url) = (client([127, 0, 0, 3]), format!("http://{address}/health/live"));
    let (mut longest, mut last) = (Duration::ZERO, Instant::now());
    while tokio::time::Instant::now() < until {
        let answered = client.get(&url).timeout(TIMEOUT).send().await;
        if answered.is_ok_and(|response| response.status() == 200) {
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        // Within the limit of 600 requests a minute and its burst.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    longest.max(last.elapsed())
}

/// Searches, and signs in with every eighth request. Returns the number of requests, how many of them
/// were answered in time, and the slowest.
async fn honest(
    address: SocketAddr,
    sailings: Vec<Sailing>,
    until: tokio::time::Instant,
) -> (usize, usize, Duration) {
    let (client, url) = (client([127, 0, 0, 2]), format!("http://{address}"));
    let (mut asked, mut answered, mut slowest) = (0, 0, Duration::ZERO);
    while tokio::time::Instant::now() < until {
        let (_, _, from, to, day) = &sailings[asked * 7 % sailings.len()];
        let (path, body) = match asked % 8 {
            0 => {
                let body = json!({ "email": ADMIN.0, "password": ADMIN.1, "role": "admin" });
                ("/v1/auth/login", body)
            }
            _ => {
                let body = json!({ "from": from, "to": to, "date": day, "qty": 1 });
                ("/v1/speedboats/search", body)
            }
        };
        let began = Instant::now();
        let call = client.post(format!("{url}{path}")).json(&body).timeout(TIMEOUT).send().await;
        let right = call.is_ok_and(|response| response.status() == 200);
        asked += 1;
        answered += usize::from(right);
        slowest = slowest.max(began.elapsed());
        tokio::time::sleep(Duration::from_millis(80)).await;
    }
    (asked, answered, slowest)
}

/// One request of the attack.
async fn attack_once(
    address: SocketAddr,
    attack: Attack,
    number: usize,
    sailings: &[Sailing],
    until: tokio::time::Instant,
) -> std::io::Result<()> {
    let mut stream = connect(address).await?;
    match attack {
        Attack::None => {}
        Attack::LargeBodies => {
            let (path, body) = match number % 3 {
                0 => ("/v1/booking", format!(r#"{{"passengers":[{}0]}}"#, "0,".repeat(520_000))),
                1 => {
                    ("/v1/auth/login", format!(r#"{{"x":[{}0]}}"#, r#""\u0000","#.repeat(110_000)))
                }
                _ => (
                    "/v1/speedboats/search",
                    format!(r#"{{"x":[{}0]}}"#, r#"{"a":1},"#.repeat(125_000)),
                ),
            };
            send(&mut stream, path, &body).await?;
        }
        Attack::RefusedBodies => {
            send(&mut stream, "/v1/auth/logout", &" ".repeat(900_000)).await?;
        }
        Attack::HalfOpenConnections => {
            stream.write_all(b"POST /v1/booking HTTP/1.1\r\nHost: x\r\nX-").await?;
            let mut rest = [0; 64];
            let _ = tokio::time::timeout_at(until, stream.read(&mut rest)).await;
        }
        Attack::StalledBodies => {
            let head = "POST /v1/booking HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                        Content-Length: 1000000\r\n\r\n{";
            stream.write_all(head.as_bytes()).await?;
            let mut rest = [0; 64];
            let _ = tokio::time::timeout_at(until, stream.read(&mut rest)).await;
        }
        Attack::SignIns => {
            // Half of them against the account that the honest client uses.
            let email = match number % 2 {
                0 => ADMIN.0.to_owned(),
                _ => format!("nobody{number}@example.id"),
            };
            let body =
                json!({ "email": email, "password": "guess me if you can", "role": "admin" });
            send(&mut stream, "/v1/auth/login", &body.to_string()).await?;
        }
        Attack::PasswordResets => {
            let body = json!({ "email": ADMIN.0 });
            send(&mut stream, "/auth/forgot-password", &body.to_string()).await?;
        }
        Attack::Holds => {
            let (sailing, boat, ..) = &sailings[number % sailings.len()];
            let body = booking(*sailing, *boat, number);
            send(&mut stream, "/v1/booking", &body.to_string()).await?;
        }
        Attack::RandomBytes => {
            let bytes: Vec<u8> = (0..4_000).map(|_| rand::random()).collect();
            stream.write_all(&bytes).await?;
            let _ = stream.read(&mut [0; 512]).await;
        }
    }
    Ok(())
}

fn booking(sailing: ids::Uuid, boat: ids::Uuid, number: usize) -> Value {
    let passengers: Vec<_> = (0..8).map(|n| json!({ "name": format!("Guest {n}") })).collect();
    json!({
        "type": "speedboat",
        "item_id": boat,
        "route_time_id": sailing,
        "qty": passengers.len(),
        "contact": {
            "name": "Guest",
            "email": format!("guest{number}@example.id"),
            "phone": "81234567890",
        },
        "passengers": passengers,
        "accept_terms": true,
    })
}

async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    socket.connect(address).await
}

async fn send(stream: &mut TcpStream, path: &str, body: &str) -> std::io::Result<()> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let _ = stream.write_all(body.as_bytes()).await;
    // The start of the response is enough.
    let _ = stream.read(&mut [0; 512]).await?;
    Ok(())
}
