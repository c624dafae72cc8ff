//! Clients that call as fast as they are answered, and what they saw.

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

/// What many calls came to.
#[derive(Default)]
pub struct Seen {
    /// Of those that succeeded, in microseconds, sorted.
    pub micros: Vec<u32>,
    /// How many were answered otherwise, by status; 0 is a broken connection.
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

    pub fn per_second(&self) -> f64 {
        self.micros.len() as f64 / self.took.as_secs_f64()
    }

    pub fn at(&self, part: f64) -> f64 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((last as f64 * part) as usize).map_or(0.0, |micros| *micros as f64 / 1000.0)
    }
}

/// How one request looks; `None`: there is nothing left to ask for.
pub trait Script: Fn(u64) -> Option<Vec<u8>> + Clone + Send + Sync + 'static {}
impl<F: Fn(u64) -> Option<Vec<u8>> + Clone + Send + Sync + 'static> Script for F {}

/// A whole request. Without a body it is a GET.
pub fn request(method: &str, path: &str, token: Option<&str>, body: &str) -> Vec<u8> {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
         {token}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// So many clients call the addresses in turn for so long.
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
            let mut line = None;
            while Instant::now() < until {
                let Some(request) = script(count.fetch_add(1, Ordering::Relaxed)) else { break };
                let asked = Instant::now();
                let status = match call(&mut line, address, &request).await {
                    Ok((status, _)) => status,
                    Err(_) => {
                        line = None;
                        0
                    }
                };
                match status {
                    200..=299 => seen.micros.push(asked.elapsed().as_micros() as u32),
                    other => *seen.others.entry(other).or_default() += 1,
                }
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

/// One call on a connection that is kept.
pub async fn call(
    line: &mut Option<(TcpStream, Vec<u8>)>,
    address: SocketAddr,
    request: &[u8],
) -> std::io::Result<(u16, Vec<u8>)> {
    let fault = |why: &'static str| std::io::Error::other(why);
    if line.is_none() {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        *line = Some((stream, Vec::with_capacity(64 * 1024)));
    }
    let (stream, buffer) = line.as_mut().ok_or_else(|| fault("no line"))?;
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
