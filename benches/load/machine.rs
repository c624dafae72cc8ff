//! Processes: the service under load, the bare limit, and their cost.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::drive::{call, request};

/// A child process, stopped when it is dropped.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    /// The time from its start until it served requests.
    pub ready: Duration,
}

impl Process {
    /// Starts a program that listens where `place` puts the address, and waits until it answers.
    pub async fn start(mut command: Command, place: impl Fn(&mut Command, SocketAddr)) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        place(&mut command, address);
        let started = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut process = Self { child, address, ready: Duration::ZERO };
        let ask = request("GET", "/health/ready", None, "");
        while !matches!(call(&mut None, address, &ask).await, Ok((200, _))) {
            assert!(started.elapsed() < Duration::from_secs(60), "it does not answer");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        process.ready = started.elapsed();
        process
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn megabytes(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kilobytes.unwrap_or_default() / 1024.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = Command::new("sh").args(["-c", &format!("kill {}", self.pid())]).status();
        let _ = self.child.wait();
    }
}

/// Processor time of processes and of their ended children, in seconds.
pub fn seconds(pids: &[u32]) -> f64 {
    let ticks = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        rest.split_whitespace().skip(11).take(4).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>()
    };
    // Linux counts in hundredths.
    pids.iter().map(ticks).sum::<f64>() / 100.0
}

/// Time of the processors that was stolen by other guests of the host, and their total time. A
/// measurement with a large share of it is unreliable.
pub fn stolen() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> =
        line.split_whitespace().skip(1).take(8).filter_map(|n| n.parse().ok()).collect();
    (ticks.get(7).copied().unwrap_or_default(), ticks.iter().sum())
}

/// A server and its children: PostgreSQL has one for each connection.
pub fn family(parent: u32) -> Vec<u32> {
    let mut family = vec![parent];
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        if rest.split_whitespace().nth(1).and_then(|p| p.parse().ok()) == Some(parent) {
            family.push(pid);
        }
    }
    family
}

/// The process id of the server with this socket folder.
pub fn postmaster(socket: &Path) -> Option<u32> {
    let lock = std::fs::read_to_string(socket.join(".s.PGSQL.5432.lock")).ok()?;
    lock.lines().next()?.trim().parse().ok()
}
