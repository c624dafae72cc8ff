//! Pages of the console beside the operations that they call: the time until they are there, and their
//! size.

use std::{net::SocketAddr, time::Instant};

use super::{
    Engine, Extent, FLEETS,
    data::{DAYS, sign_in},
    drive::{Connection, Request, Seen, call, request},
    show::{Line, Table},
};

/// Pages with 20 rows, and their operations.
const PAGES: [(&str, &[&str]); 5] = [
    ("/console/bookings", &["/user/me", "/v1/booking"]),
    ("/console/partners", &["/user/me", "/v1/mitra/manajemen", "/v1/mitra/manajemen/statistics"]),
    ("/console/boats", &["/user/me", "/v1/speedboats", "/v1/speedboats/summary"]),
    ("/console/settlements", &["/user/me", "/v1/settlements"]),
    ("/console/audit", &["/user/me", "/v1/audit-logs"]),
];
const CALLS: usize = 300;

pub async fn run(engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = engine.fill(folder.path(), Extent { days: DAYS, scale: FLEETS }).await;
    let service = data.serve().await;
    let (address, token) = (service.address, sign_in(service.address).await);
    let title = format!("{}: pages of the console, {CALLS} calls each", engine.name());
    let mut table = Table::latencies(title);
    let mut sizes = Vec::new();
    for (path, operations) in PAGES {
        let mut page = Seen::default();
        let mut parts: Vec<Seen> = operations.iter().map(|_| Seen::default()).collect();
        let mut connection = Connection::default();
        // Alternately, so that a slow moment of the machine affects both.
        for n in 0..=CALLS {
            let counts = n > 0;
            timed(&mut connection, address, &browser(path, &token, true), &mut page, counts).await;
            for (operation, seen) in operations.iter().zip(&mut parts) {
                let ask = request("GET", operation, Some(&token), "");
                timed(&mut connection, address, &ask, seen, counts).await;
            }
        }
        page.micros.sort_unstable();
        parts.iter_mut().for_each(|seen| seen.micros.sort_unstable());
        let budget = 1.5 * parts.iter().map(|seen| seen.at(0.95)).sum::<f64>() + 2.0;
        let of = |zipped| browser(path, &token, zipped);
        let plain = call(&mut connection, address, &of(false)).await.expect("an answer").1.len();
        let zipped = call(&mut connection, address, &of(true)).await.expect("an answer").1.len();
        sizes.push(format!(
            "{path}: p95 {:.1} ms of {budget:.1} allowed; {plain} bytes, {zipped} compressed",
            page.at(0.95)
        ));
        table.line(Line::latencies(path, &page));
        for (operation, seen) in operations.iter().zip(&parts) {
            table.line(Line::latencies(&format!("  {operation}"), seen));
        }
    }
    table.print();
    sizes.iter().for_each(|line| println!("{line}"));
    data.close().await;
}

/// The request of a browser that is signed in.
fn browser(path: &str, token: &str, zipped: bool) -> Request {
    let encoding = if zipped { "accept-encoding: gzip\r\n" } else { "" };
    format!(
        "GET {path} HTTP/1.1\r\nhost: bench\r\ncookie: dermaga_session={token}\r\n{encoding}\r\n"
    )
    .into_bytes()
}

async fn timed(
    connection: &mut Connection,
    address: SocketAddr,
    ask: &[u8],
    seen: &mut Seen,
    counts: bool,
) {
    let asked = Instant::now();
    let (status, _) = call(connection, address, ask).await.expect("an answer");
    if counts {
        seen.count(status, asked.elapsed());
        seen.took += asked.elapsed();
    }
}
