//! A temporary PostgreSQL server from the installed binaries.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use tokio_postgres::NoTls;

pub struct Cluster {
    pub socket: PathBuf,
    /// A shell that stops the server when its standard input is closed, which happens when this
    /// process ends.
    _keeper: Child,
}

/// Runs `CREATE DATABASE name …` and returns its address.
pub async fn create(cluster: &Cluster, statement: &str) -> String {
    run(cluster, statement).await;
    let name = statement.split(' ').nth(2).expect("CREATE DATABASE name");
    url(cluster, name)
}

pub async fn run(cluster: &Cluster, statement: &str) {
    run_at(&url(cluster, "postgres"), statement).await;
}

/// Runs statements on a new connection.
pub async fn run_at(url: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    let connection = tokio::spawn(connection);
    client.batch_execute(statements).await.expect(statements);
    connection.abort();
}

fn url(cluster: &Cluster, database: &str) -> String {
    format!("postgres:///{database}?host={}&user=postgres", cluster.socket.display())
}

/// Starts a server in this folder, with these options; it stops when the cluster is dropped.
pub fn start(bin: &Path, folder: TempDir, options: &str) -> Result<Cluster, String> {
    let init = "initdb -U postgres -A trust -E UTF8 --locale=C.UTF-8";
    launch(bin, folder, init, options)
}

/// Starts a standby of this server.
#[allow(dead_code, reason = "benches have none")]
pub fn start_standby(
    bin: &Path,
    folder: TempDir,
    primary: &Cluster,
    options: &str,
) -> Result<Cluster, String> {
    let socket = primary.socket.display();
    launch(bin, folder, &format!("pg_basebackup -h {socket} -U postgres -R -c fast"), options)
}

/// `init` is the program that creates the data directory, with its arguments.
fn launch(bin: &Path, folder: TempDir, init: &str, options: &str) -> Result<Cluster, String> {
    let fault = |error: std::io::Error| error.to_string();
    // The keeper removes it.
    let folder = folder.keep();
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if root {
        // The server refuses to run as root.
        let owner = Command::new("chown").arg("postgres").arg(&folder).status().map_err(fault)?;
        assert!(owner.success(), "there is no user postgres");
    }
    let script = format!(
        r#"cd /
        "{bin}"/{init} -D "{data}" --no-sync >/dev/null || exit 1
        "{bin}/postgres" -D "{data}" -k "{folder}" -c listen_addresses= \
          -c max_connections=500 -c log_min_messages=fatal {options} &
        cat >/dev/null
        kill -QUIT $!
        wait
        rm -rf "{folder}""#,
        bin = bin.display(),
        data = folder.join("data").display(),
        folder = folder.display(),
    );
    let mut command = if root { Command::new("runuser") } else { Command::new("sh") };
    if root {
        command.args(["-u", "postgres", "--", "sh"]);
    }
    let keeper = command
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(fault)?;
    let ready = || {
        let probe = Command::new(bin.join("pg_isready")).arg("-q").arg("-h").arg(&folder).status();
        probe.is_ok_and(|status| status.success())
    };
    for _ in 0..1_200 {
        if ready() {
            return Ok(Cluster { socket: folder, _keeper: keeper });
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(format!("PostgreSQL is installed in {} but did not start", bin.display()))
}

/// Debian has a folder for each version.
pub fn binaries() -> Option<PathBuf> {
    let whole = |folder: &Path| folder.join("initdb").exists() && folder.join("postgres").exists();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders.into_iter().find(|folder| whole(folder))
}
