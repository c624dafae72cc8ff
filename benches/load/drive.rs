//! Clients that call as fast as they are answered, and the latencies that they see.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// The outcome of many calls.
#[derive(Default)]
pub struct Seen {
    /// Latencies of successful calls in microseconds, sorted once the measurement is over.
    pub micros: Vec<u32>,
    /// Other responses by status; 0 is a broken connection.
    pub others: BTreeMap<u16, u64>,
    pub took: Duration,
}

impl Seen {
    pub fn add(&mut self, other: Self) {
        self.micros.extend(other.micros);
        for (status, count) in other.others {
            *self.others.entry(status).or_default() += count;
        }
        self.took += other.took;
    }

    /// Counts a call. Status 0 is a broken connection.
    pub fn count(&mut self, status: u16, took: Duration) {
        match status {
            200..=299 => self.micros.push(took.as_micros() as u32),
            other => *self.others.entry(other).or_default() += 1,
        }
    }

    pub fn per_second(&self) -> f64 {
        self.micros.len() as f64 / self.took.as_secs_f64()
    }

    /// The latency in milliseconds that this part of the calls stays below.
    pub fn at(&self, part: f64) -> f64 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((last as f64 * part) as usize).map_or(0.0, |micros| *micros as f64 / 1000.0)
    }
}

/// The bytes of a whole request.
pub type Request = Vec<u8>;

/// Makes the request with this number; `None` when there are no more.
pub trait Script: Fn(u64) -> Option<Request> + Clone + Send + Sync + 'static {}
impl<F: Fn(u64) -> Option<Request> + Clone + Send + Sync + 'static> Script for F {}

/// A connection that is kept between calls, once it is open, and its read buffer.
pub type Connection = Option<(TcpStream, Vec<u8>)>;

/// A whole request with a JSON body, which may be empty.
pub fn request(method: &str, path: &str, token: Option<&str>, body: &str) -> Request {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
         {token}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Lets this many clients call for this long. Clients are spread over the addresses.
pub async fn drive(
    addresses: &[SocketAddr],
    clients: usize,
    time: Duration,
    script: std::sync::Arc<impl Script>,
    count: std::sync::Arc<AtomicU64>,
) -> Seen {
    let started = Instant::now();
    let until = started + time;
    let mut running = JoinSet::new();
    for client in 0..clients {
        let address = addresses[client % addresses.len()];
        let (script, count) = (script.clone(), count.clone());
        running.spawn(async move {
            let mut seen = Seen::default();
            let mut connection = Connection::default();
            while Instant::now() < until {
                let Some(request) = script(count.fetch_add(1, Ordering::Relaxed)) else { break };
                let asked = Instant::now();
                let status = match call(&mut connection, address, &request).await {
                    Ok((status, _)) => status,
                    Err(_) => {
                        connection = None;
                        0
                    }
                };
                seen.count(status, asked.elapsed());
            }
            seen
        });
    }
    let mut all = Seen::default();
    while let Some(seen) = running.join_next().await {
        all.add(seen.expect("a client does not panic"));
    }
    all.took = started.elapsed();
    all.micros.sort_unstable();
    all
}

/// One call. The connection is opened where there is none.
pub async fn call(
    connection: &mut Connection,
    address: SocketAddr,
    request: &[u8],
) -> std::io::Result<(u16, Vec<u8>)> {
    let fault = |why: &'static str| std::io::Error::other(why);
    if connection.is_none() {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        *connection = Some((stream, Vec::with_capacity(64 * 1024)));
    }
    let (stream, buffer) = connection.as_mut().ok_or_else(|| fault("no connection"))?;
    stream.write_all(request).await?;
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(fault("closed"));
        }
        let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head]).map_err(|_| fault("not text"))?;
        let status = text.get(9..12).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| fault("no status"))?;
        let length = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let whole = head + 4 + length.unwrap_or(0_usize);
        while buffer.len() < whole {
            if stream.read_buf(buffer).await? == 0 {
                return Err(fault("closed"));
            }
        }
        return Ok((status, buffer[head + 4..whole].to_vec()));
    }
}
