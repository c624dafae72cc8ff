//! A mixed load: of a hundred calls 90 search, 6 look up a booking, 3 book and 1 pays for a booking
//! that was made before. One more client signs in without pause. Latencies are measured for each kind,
//! alternately alone and beside eight clients that search the list of bookings without pause.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use dermaga::demo::Extent;
use serde_json::Value;

use super::{
    CLIENTS, Engine, FLEETS, Options, ROUNDS,
    data::{DAYS, Data, sign_in, sign_in_request},
    drive::{Connection, Request, Script, Seen, call},
    machine::{Process, seconds},
    show::{Line, Table},
};

/// Clients that search the list of bookings.
const BACK_OFFICE: usize = 8;

#[derive(Clone, Copy)]
enum Kind {
    Search,
    Lookup,
    Book,
    Pay,
    SignIn,
    List,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::Search, "search"),
    (Kind::Lookup, "booking lookup"),
    (Kind::Book, "book, spread"),
    (Kind::Pay, "payment callback"),
    (Kind::SignIn, "sign-in"),
    (Kind::List, "search of bookings"),
];

impl Kind {
    /// The kind of a public client's call. Multiplying spreads the rare kinds over each hundred.
    fn of(call: u64) -> Self {
        match call * 37 % 100 {
            0..90 => Self::Search,
            90..96 => Self::Lookup,
            96..99 => Self::Book,
            _ => Self::Pay,
        }
    }
}

/// State that the clients of a run share.
struct Load<S, L, B, I, P> {
    searches: S,
    lookups: L,
    sales: B,
    sign_ins: I,
    lists: P,
    /// Calls of public clients.
    calls: AtomicU64,
    /// Calls of each kind.
    counts: [AtomicU64; KINDS.len()],
    /// Provider notifications for bookings that are not paid yet.
    notifications: Mutex<VecDeque<Request>>,
}

impl<S: Script, L: Script, B: Script, I: Script, P: Script> Load<S, L, B, I, P> {
    /// The next request and its kind. If no booking is unpaid, a search replaces a payment.
    fn next(&self, kind: Kind) -> (Kind, Request) {
        let n = self.counts[kind as usize].fetch_add(1, Ordering::Relaxed);
        let request = match kind {
            Kind::Search => (self.searches)(n),
            Kind::Lookup => (self.lookups)(n),
            Kind::Book => (self.sales)(n),
            Kind::SignIn => (self.sign_ins)(n),
            Kind::List => (self.lists)(n),
            Kind::Pay => match self.notifications.lock().expect("nobody panics").pop_front() {
                Some(request) => Some(request),
                None => return self.next(Kind::Search),
            },
        };
        (kind, request.expect("these requests never run out"))
    }
}

/// The results of each kind.
type Kinds = [Seen; KINDS.len()];

pub async fn run(options: &Options, engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Arc::new(engine.fill(folder.path(), Extent { days: DAYS, scale: FLEETS }).await);
    let mut runs = [(0, Kinds::default(), (0.0, 0.0)), (BACK_OFFICE, Kinds::default(), (0.0, 0.0))];
    for _ in 0..ROUNDS {
        for (desks, all, spent) in &mut runs {
            let service = data.serve().await;
            let warm = options.time.min(Duration::from_millis(400));
            round(&data, &service, warm, *desks).await;
            let pids = [service.pid()];
            let before = (seconds(&pids), seconds(&engine.pids()));
            let seen = round(&data, &service, options.time / ROUNDS, *desks).await;
            spent.0 += seconds(&pids) - before.0;
            spent.1 += seconds(&engine.pids()) - before.1;
            for (all, seen) in all.iter_mut().zip(seen) {
                all.add(seen);
                all.micros.sort_unstable();
            }
            drop(service);
            // Every round starts with an empty outbox.
            data.forget().await;
        }
    }
    data.close().await;

    for (desks, all, spent) in &runs {
        let mut table = Table::latencies(format!(
            "{}, mixed: {} sailings, {} bookings, {CLIENTS} clients, {desks} search bookings",
            engine.name(),
            data.sailings,
            data.bookings
        ));
        for (kind, name) in KINDS {
            table.line(Line::latencies(name, &all[kind as usize]));
        }
        table.print();
        let calls: usize = all.iter().map(|seen| seen.micros.len()).sum();
        let each = 1e6 / calls.max(1) as f64;
        println!(
            "{:.0} µs CPU of the service for each call, {:.0} µs of the database beside it.\n",
            spent.0 * each,
            spent.1 * each
        );
    }
}

async fn round(data: &Arc<Data>, service: &Process, time: Duration, desks: usize) -> Kinds {
    let token = sign_in(service.address).await;
    let load = Arc::new(Load {
        searches: data.searches(),
        lookups: data.lookups().await,
        sales: data.sales(false),
        sign_ins: |_| Some(sign_in_request()),
        lists: data.booking_searches(&token),
        calls: AtomicU64::new(0),
        counts: Default::default(),
        notifications: Mutex::default(),
    });
    let started = Instant::now();
    let until = started + time;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS + 1 + desks {
        let (load, data, address) = (load.clone(), data.clone(), service.address);
        clients.spawn(async move {
            let (mut seen, mut connection) = (Kinds::default(), Connection::default());
            while Instant::now() < until {
                let (kind, request) = load.next(match client {
                    0..CLIENTS => Kind::of(load.calls.fetch_add(1, Ordering::Relaxed)),
                    CLIENTS => Kind::SignIn,
                    _ => Kind::List,
                });
                let asked = Instant::now();
                let answer = call(&mut connection, address, &request).await;
                let took = asked.elapsed();
                let status = answer.as_ref().map_or(0, |(status, _)| *status);
                seen[kind as usize].count(status, took);
                match (kind, answer) {
                    (_, Err(_)) => connection = Connection::default(),
                    (Kind::Book, Ok((200, body))) => {
                        let notification = notification(&data, &body);
                        load.notifications.lock().expect("nobody panics").push_back(notification);
                    }
                    _ => {}
                }
            }
            seen
        });
    }
    let mut all = Kinds::default();
    while let Some(seen) = clients.join_next().await {
        for (all, seen) in all.iter_mut().zip(seen.expect("a client does not panic")) {
            all.add(seen);
        }
    }
    for seen in &mut all {
        seen.took = started.elapsed();
    }
    all
}

/// The notification of the provider that the booking of this response is paid.
fn notification(data: &Data, booked: &[u8]) -> Request {
    let booked: Value = serde_json::from_slice(booked).expect("JSON");
    let booking = &booked["data"];
    let reference = booking["payment"]["reference"].as_str().expect("a payment");
    data.payment(reference, booking["price"]["total"].as_i64().expect("a total"))
}
