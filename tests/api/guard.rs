//! The production guard, the metrics token, file modes, and a log that cannot be written.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use dermaga::{
    config::{
        Url, WebUrl,
        guard::{PRINTED_KEYS, PRINTED_PASSWORDS, is_known_key},
    },
    demo,
    kernel::secret::Secret,
};
use serde_json::{Value, json};

use crate::{
    binary::{dermaga, run_expecting_failure, start, start_logging_to},
    on_both_engines,
    world::World,
};

on_both_engines![metrics_want_their_token];

/// A service that others can reach, with nothing wrong.
fn valid_command(folder: &Path) -> Command {
    let mut command = dermaga(folder);
    command
        .env("DERMAGA_LISTEN", "0.0.0.0:0")
        .env("DERMAGA_PAYMENT_PROVIDER", "midtrans")
        .env("DERMAGA_PAYMENT_SERVER_KEY", "SB-x");
    command
}

async fn read(url: &str) -> (u16, Value) {
    let answer = crate::world::client().get(url).send().await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn a_reachable_service_refuses_public_keys_and_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let weak = BASE64_STANDARD.encode([7; 32]);
    let faults = [
        ("DERMAGA_PAYMENT_PROVIDER", "simulator"),
        ("DERMAGA_RATE_LIMIT", "off"),
        ("DERMAGA_SECRET_KEY", PRINTED_KEYS[0]),
        ("DERMAGA_SECRET_KEY", &weak),
        ("DERMAGA_OLD_SECRET_KEYS", PRINTED_KEYS[1]),
        ("DERMAGA_ADMIN_PASSWORD", "pelabuhan ramai 2026"),
        ("DERMAGA_ADMIN_PASSWORD", demo::PASSWORD),
    ];
    for (name, value) in faults {
        for (reachable, at) in [
            ("DERMAGA_LISTEN", "0.0.0.0:0"),
            ("DERMAGA_LISTEN", "[::]:0"),
            ("DERMAGA_PUBLIC_URL", "https://localhost"),
            ("DERMAGA_PUBLIC_URL", "http://dermaga.example:8080"),
        ] {
            let mut command = valid_command(folder.path());
            command.env("DERMAGA_LISTEN", "127.0.0.1:0").env(reachable, at).env(name, value);
            let why = run_expecting_failure(&mut command);
            assert!(why.starts_with(&format!("dermaga: {name}: ")), "{reachable}={at}: {why}");
            assert_eq!(why.lines().count(), 1, "{why}");
            assert!(value == "off" || value == "simulator" || !why.contains(value), "{why}");
        }
    }
    assert!(!folder.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn a_sound_service_starts_and_keeps_its_metrics_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let url = |greeted: &str| greeted.replace("0.0.0.0", "127.0.0.1");
    let service = start(&mut valid_command(folder.path()));
    let (status, health) = read(&url(&format!("{}/health", service.url))).await;
    assert_eq!((status, &health["data"]["insecure_demo"]), (200, &json!(false)));
    assert_eq!(read(&url(&format!("{}/metrics", service.url))).await.0, 401);
}

#[tokio::test]
async fn an_insecure_demo_is_allowed_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = dermaga(folder.path());
    command
        .env("DERMAGA_LISTEN", "0.0.0.0:0")
        .env("DERMAGA_RATE_LIMIT", "off")
        .env("DERMAGA_SECRET_KEY", PRINTED_KEYS[0])
        .env("DERMAGA_ADMIN_PASSWORD", demo::PASSWORD)
        .env("DERMAGA_INSECURE_DEMO", "true");
    let service = start_logging_to(&mut command, File::create(&log).unwrap());
    let url = service.url.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(read(&format!("{url}/health")).await.1["data"]["insecure_demo"], true);
    assert_eq!(read(&format!("{url}/metrics")).await.0, 401, "others can reach it all the same");
    let log = std::fs::read_to_string(log).unwrap();
    let warned = log.lines().find(|line| line.contains("DERMAGA_INSECURE_DEMO")).unwrap();
    assert!(warned.contains("WARN") && warned.contains("DERMAGA_PAYMENT_PROVIDER: "), "{warned}");
    drop(service);

    // For this machine alone, nothing needs to be configured.
    let folder = tempfile::tempdir().unwrap();
    let service = start(&mut dermaga(folder.path()));
    let health = read(&format!("{}/health", service.url)).await.1;
    assert_eq!(health["data"]["insecure_demo"], false);
    assert_eq!(read(&format!("{}/metrics", service.url)).await.0, 200);
}

#[tokio::test]
async fn demo_accounts_are_refused_on_a_reachable_service() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = dermaga(folder.path());
    made.args(["admin", "create", "--email", demo::ADMIN]);
    let mut made = made.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut made.stdin.take().unwrap(), demo::PASSWORD.as_bytes()).unwrap();
    assert!(made.wait().unwrap().success());
    let why = run_expecting_failure(&mut valid_command(folder.path()));
    assert!(why.starts_with("dermaga: DERMAGA_DATABASE_URL: admin@dermaga.example "), "{why}");
    assert_eq!(why.lines().count(), 1, "{why}");
    let output = valid_command(folder.path()).arg("doctor").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("FAIL production guard: DERMAGA_DATABASE_URL: "), "{said}");
    start(valid_command(folder.path()).env("DERMAGA_INSECURE_DEMO", "true"));
    start(&mut dermaga(folder.path()));
}

#[tokio::test]
async fn doctor_applies_the_guard() {
    let folder = tempfile::tempdir().unwrap();
    let look = |settings: &[(&str, &str)]| {
        let mut command = dermaga(folder.path());
        let looked = command.arg("doctor").envs(settings.iter().copied()).output().unwrap();
        (looked.status.success(), String::from_utf8(looked.stdout).unwrap())
    };
    let (well, said) = look(&[]);
    assert!(well && said.contains("ok   production guard: not needed"), "{said}");
    let public = ("DERMAGA_PUBLIC_URL", "https://dermaga.example");
    let (well, said) = look(&[public]);
    assert!(!well, "{said}");
    assert!(said.contains("FAIL production guard: DERMAGA_PAYMENT_PROVIDER: "), "{said}");
    let (well, said) = look(&[public, ("DERMAGA_INSECURE_DEMO", "true")]);
    assert!(well && said.contains("ok   production guard: switched off"), "{said}");
}

async fn metrics_want_their_token(world: World) {
    let token = "dua belas jangkar";
    let answers = async |world: &World, given: &str| {
        let mut call = world.get("/metrics");
        if !given.is_empty() {
            call = call.header("authorization", given);
        }
        call.send().await
    };
    // Nobody else can reach it: open.
    assert_eq!(answers(&world, "").await.status, 200);
    assert_eq!(answers(&world, "Bearer whatever").await.status, 200);

    let world = world.with(|config| config.metrics_token = Some(Secret::new(token))).await;
    for wrong in ["", "Bearer", "Bearer ", "Bearer dua", token, "Basic dua belas jangkar"] {
        answers(&world, wrong).await.is(401, "unauthenticated");
    }
    answers(&world, &format!("Bearer {token}x")).await.is(401, "unauthenticated");
    let text = answers(&world, &format!("Bearer {token}")).await;
    assert_eq!(text.status, 200);
    assert!(text.body.as_str().unwrap().contains("dermaga_log_write_failures_total"));
    assert_eq!(answers(&world, &format!("bearer {token}")).await.status, 200);
    // An admin's session is another thing.
    let admin = world.admin().await;
    world.get("/metrics").by(&admin).send().await.is(401, "unauthenticated");

    let public = || Some(WebUrl(Url("https://dermaga.example".into())));
    let world = world.with(|config| config.public_url = public()).await;
    answers(&world, "").await.is(401, "unauthenticated");
    answers(&world, "Bearer ").await.is(401, "unauthenticated");
    let with_token = |config: &mut dermaga::config::Config| {
        config.public_url = public();
        config.metrics_token = Some(Secret::new(token));
    };
    let world = world.with(with_token).await;
    answers(&world, "").await.is(401, "unauthenticated");
    assert_eq!(answers(&world, &format!("Bearer {token}")).await.status, 200);
}

/// Every file below, with its text.
fn read_files(path: &Path, found: &mut Vec<(PathBuf, String)>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            read_files(&entry.path(), found);
        }
    } else if let Ok(text) = std::fs::read_to_string(path) {
        found.push((path.to_owned(), text));
    }
}

fn repository(names: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for name in names {
        read_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &mut found);
    }
    found
}

/// The values that a text gives to a name: `name=it`, a line of YAML `name: it`, JSON
/// `"name": "it"`, Rust `env("name", "it")` and `name: &str = "it"`, a shell's `${name:-it}`.
/// Sentences about it are none.
fn assigned_values<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices(name) {
            let rest = &line[at + name.len()..];
            if let Some(default) = rest.strip_prefix(":-") {
                found.extend(default.split('}').next());
                continue;
            }
            let yaml = if line.trim_start().starts_with(name) { ":" } else { "\0" };
            let rust = if line.contains("env(") { "\"," } else { "\0" };
            let signs = [": &str =", "=", "\":", yaml, rust];
            let value = signs.iter().find_map(|sign| rest.strip_prefix(sign)).map(str::trim_start);
            found.extend(value.and_then(|value| match value.strip_prefix(['"', '\'']) {
                Some(quoted) => quoted.split(['"', '\'']).next(),
                None => value.split(" #").next().map(str::trim_end),
            }));
        }
    }
    found
}

#[test]
fn assignments_are_found_in_every_shape() {
    let is = |line, value| assert_eq!(assigned_values(line, "A_PASSWORD"), [value], "{line}");
    is("A_PASSWORD=hunter22", "hunter22");
    is("A_PASSWORD='hunter 22' dermaga", "hunter 22");
    is("  A_PASSWORD: hunter 22  # so", "hunter 22");
    is(".env(\"A_PASSWORD\", \"hunter22\")", "hunter22");
    is("const A_PASSWORD: &str = \"hunter22\";", "hunter22");
    is("x ${A_PASSWORD:-hunter 22}", "hunter 22");
    is("{\"A_PASSWORD\":\"hunter22\"}", "hunter22");
    for none in ["${A_PASSWORD:?make one}", "# A_PASSWORD, and more", "`A_PASSWORD`: for admins"] {
        assert!(assigned_values(none, "A_PASSWORD").is_empty(), "{none}");
    }
}

/// Keys and passwords that are printed in the repository are public, so the guard must refuse them.
#[test]
fn the_guard_knows_every_key_and_password_that_is_printed_here() {
    let documents = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "docs", "compose.yaml"];
    let others = ["Dockerfile", "deploy", ".ci", "src", "tests", "benches"];
    let all = repository(&[&documents[..], &others[..]].concat());
    assert!(all.len() > 100);
    let mut keys = 0;
    for (path, text) in &all {
        let base64 = |c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c));
        for word in text.split(base64).filter(|word| word.ends_with('=')) {
            // What stands before an equals sign is the name of a setting.
            let key = word.trim_end_matches('=').rsplit('=').next().unwrap_or_default();
            let key = format!("{key}=");
            if key.len() == 44 && BASE64_STANDARD.decode(&key).is_ok_and(|key| key.len() == 32) {
                keys += 1;
                assert!(is_known_key(&key), "{}: add {key} to PRINTED_KEYS", path.display());
            }
        }
    }
    assert!(keys >= 4, "only {keys} keys were found");

    let mut passwords = 0;
    let mut known = |path: &Path, name: &str, value: &str| {
        let elsewhere = ["$", "?", "…", "*"];
        if value.chars().count() < 8 || elsewhere.iter().any(|word| value.starts_with(word)) {
            return;
        }
        passwords += 1;
        let path = path.display();
        assert!(PRINTED_PASSWORDS.contains(&value), "{path}: {name}: add {value:?}");
    };
    for (path, text) in &all {
        if path.ends_with("tests/api/guard.rs") {
            continue;
        }
        for value in assigned_values(text, "DERMAGA_ADMIN_PASSWORD") {
            known(path, "DERMAGA_ADMIN_PASSWORD", value);
        }
        for line in text.lines().filter(|line| line.contains("const ")) {
            assigned_values(line, "PASSWORD")
                .iter()
                .for_each(|value| known(path, "PASSWORD", value));
        }
    }
    let examples: Vec<_> = all
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|kind| kind == "md" || kind == "yaml"))
        .chain(all.iter().filter(|(path, _)| path.iter().any(|part| part == ".ci")))
        .collect();
    for (path, text) in examples {
        for value in assigned_values(text, "\"password") {
            known(path, "password", value);
        }
    }
    assert!(passwords >= 3, "only {passwords} passwords were found");
    assert!(PRINTED_PASSWORDS.contains(&demo::PASSWORD));
    assert!(PRINTED_PASSWORDS.contains(&crate::world::PASSWORD));
}

#[test]
fn compose_publishes_on_this_machine_and_has_no_secrets() {
    let compose = repository(&["compose.yaml"]).remove(0).1;
    let mut published = 0;
    for line in compose.lines().filter(|line| line.trim_start().starts_with("ports:")) {
        published += 1;
        assert!(line.contains("\"127.0.0.1:"), "{line}");
    }
    assert_eq!(published, 2);
    for line in compose.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let upper = line.to_uppercase();
        for word in ["PASSWORD", "SECRET_KEY", "SECRET_ACCESS_KEY", "TOKEN"] {
            if upper.contains(word) {
                assert!(line.contains('$'), "a secret of its own: {line}");
                assert!(!line.contains(":-") || line.contains(":-}"), "a default: {line}");
            }
        }
    }
}

#[cfg(unix)]
mod modes {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The binary as a shell with the usual umask starts it.
    fn command_with_umask(folder: &Path, words: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        let script = format!("umask 022; exec \"$0\" {words}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_dermaga")]);
        command.env_clear().current_dir(folder).env("DERMAGA_LISTEN", "127.0.0.1:0");
        command
    }

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    /// Everything below, the folder itself included.
    fn list_paths(path: &Path, found: &mut Vec<PathBuf>) {
        found.push(path.to_owned());
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap().flatten() {
                list_paths(&entry.path(), found);
            }
        }
    }

    fn assert_private(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list_paths(folder, &mut found);
        for path in &found {
            // Files of a database may go while it is looked at.
            let Ok(is) = std::fs::symlink_metadata(path) else { continue };
            let right = if is.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(is.permissions().mode() & 0o7777, right, "{}", path.display());
        }
        found
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn stored_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        // With bookings, and files of partners.
        assert!(
            command_with_umask(folder.path(), "demo --days 0").output().unwrap().status.success()
        );
        let data = folder.path().join("data");
        assert_private(&data);

        let service = start(&mut command_with_umask(folder.path(), "serve"));
        let client = crate::world::client();
        let forgot = client
            .post(format!("{}/auth/forgot-password", service.url))
            .json(&json!({ "email": demo::ADMIN }));
        assert_eq!(forgot.send().await.unwrap().status(), 200);
        let letters = || {
            let found = std::fs::read_dir(data.join("mail")).into_iter().flatten().flatten();
            found.filter(|file| file.path().extension().is_some_and(|end| end == "eml")).count()
        };
        let started = Instant::now();
        while letters() == 0 {
            assert!(started.elapsed() < Duration::from_secs(120), "the letter is written");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let made = command_with_umask(folder.path(), "backup backups").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

        let kept = assert_private(&data);
        for name in ["dermaga.db", "dermaga.db-wal", "dermaga.db-shm", "secret.key"] {
            assert!(kept.contains(&data.join(name)), "{name} in {kept:?}");
        }
        assert!(kept.iter().any(|path| path.starts_with(data.join("files")) && path.is_file()));
        let backed_up = assert_private(&folder.path().join("backups"));
        for name in ["dermaga.db", "secret.key"] {
            assert!(backed_up.iter().any(|path| path.ends_with(name)), "{name} in {backed_up:?}");
        }
        drop(service);

        // Into a folder of its own, from a backup that somebody has opened to all.
        let backup = backed_up[1].clone();
        for path in &backed_up {
            let open = if path.is_dir() { 0o755 } else { 0o644 };
            std::fs::set_permissions(path, PermissionsExt::from_mode(open)).unwrap();
        }
        let mut restore =
            command_with_umask(folder.path(), &format!("restore '{}'", backup.display()));
        let restored = restore.env("DERMAGA_DATA_DIR", "restored").output().unwrap();
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        assert_private(&folder.path().join("restored"));
    }

    #[tokio::test]
    async fn file_modes_are_corrected_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        drop(start(&mut dermaga(folder.path())));
        let ours = ["", "dermaga.db", "secret.key", "files"].map(|name| data.join(name));
        for path in &ours {
            let open = if path.is_dir() { 0o755 } else { 0o644 };
            std::fs::set_permissions(path, PermissionsExt::from_mode(open)).unwrap();
        }
        let log = folder.path().join("log");
        drop(start_logging_to(&mut dermaga(folder.path()), File::create(&log).unwrap()));
        let log = std::fs::read_to_string(log).unwrap();
        for path in &ours {
            assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
        }
        assert_eq!(log.matches("was accessible to other users").count(), ours.len(), "{log}");

        // Other people's things beside it: the folder stays as it is, what is ours does not.
        std::fs::write(data.join("notes.txt"), "x").unwrap();
        std::fs::set_permissions(&data, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(data.join("secret.key"), PermissionsExt::from_mode(0o644))
            .unwrap();
        drop(start(&mut dermaga(folder.path())));
        assert_eq!(mode(&data), 0o755);
        assert_eq!(mode(&data.join("secret.key")), 0o600);
    }
}

#[cfg(target_os = "linux")]
mod log {
    use super::*;

    fn full_device() -> File {
        File::options().write(true).open("/dev/full").unwrap()
    }

    /// All are answered, and the lines that were lost are counted.
    async fn all_answered(url: &str) {
        let client = crate::world::client();
        for n in 0..200 {
            let answer = client.get(format!("{url}/health")).send().await;
            let status = answer.map(|answer| answer.status().as_u16());
            assert_eq!(status.ok(), Some(200), "request {n}");
        }
        let (_, text) = read(&format!("{url}/metrics")).await;
        let text = text.as_str().unwrap().to_owned();
        let name = "dermaga_log_write_failures_total ";
        let counted = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        assert!(counted.parse::<u64>().unwrap() >= 200, "{counted}");
    }

    #[tokio::test]
    async fn a_log_on_a_full_disk_fails_no_request() {
        for format in ["text", "json"] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = dermaga(folder.path());
            let mut service =
                start_logging_to(command.env("DERMAGA_LOG_FORMAT", format), full_device());
            all_answered(&service.url).await;
            assert!(service.signal("-TERM").success());
        }
    }

    #[tokio::test]
    async fn a_log_that_nobody_reads_any_more_fails_no_request() {
        let folder = tempfile::tempdir().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut service = start_logging_to(&mut dermaga(folder.path()), writer);
        all_answered(&service.url).await;
        assert!(service.signal("-TERM").success());
    }

    #[tokio::test]
    async fn a_greeting_that_cannot_be_written_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = dermaga(folder.path());
        command.env("DERMAGA_LISTEN", port.to_string()).stdout(full_device()).stderr(full_device());
        let mut child = command.spawn().unwrap();
        let url = format!("http://{port}");
        let started = Instant::now();
        let up = loop {
            let live = crate::world::client().get(format!("{url}/health/live")).send().await;
            if live.is_ok() || started.elapsed() > Duration::from_secs(120) {
                break live.is_ok();
            }
            if child.try_wait().unwrap().is_some() {
                break false;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        if up {
            all_answered(&url).await;
        }
        let _ = child.kill();
        let _ = child.wait();
        assert!(up, "it serves");
    }
}
