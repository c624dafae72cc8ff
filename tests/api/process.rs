//! The binary itself: commands, several processes, and a kill during requests.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use dermaga::kernel::db::Db;
use serde_json::{Value, json};

use crate::{
    binary::{dermaga, run_expecting_failure, start},
    postgres,
    world::{World, registration},
};

const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

#[tokio::test]
async fn one_command_in_an_empty_folder_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = start(&mut dermaga(folder.path()));
    assert!(service.greeting.contains("/docs"), "{}", service.greeting);
    let word = |after: &str| {
        let rest = service.greeting.split(after).nth(1).expect("the greeting names it");
        rest.split_whitespace().next().unwrap().to_owned()
    };
    let body = json!({ "email": word("login"), "password": word("password"), "role": "admin" });
    let client = crate::world::client();
    let login = client.post(format!("{}/v1/auth/login", service.url)).json(&body).send().await;
    assert_eq!(login.unwrap().status(), 200);
    assert!(service.signal("-TERM").success(), "it drains and exits with 0");

    // The second start finds the admin and prints no password.
    let service = start(&mut dermaga(folder.path()));
    assert!(!service.greeting.contains("password"), "{}", service.greeting);
}

#[tokio::test]
async fn a_second_process_on_one_sqlite_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = start(&mut dermaga(folder.path()));
    let why = run_expecting_failure(&mut dermaga(folder.path()));
    assert!(why.contains("dermaga.lock: another process serves this database"), "{why}");
    // The lock ends with its process, however that ends.
    first.signal("-KILL");
    start(&mut dermaga(folder.path()));
}

#[tokio::test]
async fn a_chosen_admin_can_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = dermaga(folder.path());
    command
        .env("DERMAGA_ADMIN_EMAIL", "Boss@Dermaga.test")
        .env("DERMAGA_ADMIN_PASSWORD", "12345678");
    let service = start(&mut command);
    assert!(!service.greeting.contains("12345678"));
    let body = json!({ "email": "boss@dermaga.test", "password": "12345678", "role": "admin" });
    let client = crate::world::client();
    let login = client.post(format!("{}/v1/auth/login", service.url)).json(&body).send().await;
    assert_eq!(login.unwrap().status(), 200);
}

#[tokio::test]
async fn a_bad_setting_stops_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [
        ("DERMAGA_LISTEN", "here"),
        ("DERMAGA_TIMEZONE", "Mars/Base"),
        ("DERMAGA_RATE_LIMIT", "perhaps"),
        ("DERMAGA_SECRET_KEY", "short"),
        ("DERMAGA_MAIL_URL", "pigeon://coop"),
        ("DERMAGA_NO_SUCH", "1"),
        ("DERMAGA_LOG", "a=b=c"),
    ] {
        let why = run_expecting_failure(dermaga(folder.path()).env(name, value));
        assert!(why.starts_with(&format!("dermaga: {name}: ")), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    std::fs::write(folder.path().join("dermaga.toml"), "[booking]\nholdseconds = 1").unwrap();
    let why = run_expecting_failure(&mut dermaga(folder.path()));
    assert!(why.contains("DERMAGA_BOOKING_HOLDSECONDS: unknown setting"), "{why}");
    std::fs::write(folder.path().join("dermaga.toml"), "= nonsense").unwrap();
    assert!(
        run_expecting_failure(&mut dermaga(folder.path())).starts_with("dermaga: dermaga.toml: ")
    );
    // Processes share PostgreSQL, so they must share the key.
    std::fs::remove_file(folder.path().join("dermaga.toml")).unwrap();
    let why =
        run_expecting_failure(dermaga(folder.path()).env("DERMAGA_DATABASE_URL", "postgres:///x"));
    assert!(why.starts_with("dermaga: DERMAGA_SECRET_KEY: "), "{why}");
}

#[tokio::test]
async fn a_demo_is_not_longer_than_a_route() {
    let folder = tempfile::tempdir().unwrap();
    let why = run_expecting_failure(dermaga(folder.path()).args(["demo", "--days", "336"]));
    assert!(why.contains("'--days <DAYS>': 336 is not in 0..=335"), "{why}");
    assert!(!folder.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn the_effective_settings_are_printed_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dermaga.toml"), "timezone = 'Asia/Makassar'").unwrap();
    let mut command = dermaga(folder.path());
    command.env("DERMAGA_ADMIN_PASSWORD", "hunter22").arg("config");
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(output.contains("DERMAGA_TIMEZONE=Asia/Makassar\n"), "{output}");
    assert!(output.contains("DERMAGA_ADMIN_PASSWORD=***\n"), "{output}");
    assert!(!output.contains("hunter22"));
}

#[tokio::test]
async fn an_admin_is_made_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let create = |password: &str| {
        let mut command = dermaga(folder.path());
        let args = ["admin", "create", "--email", "boss@dermaga.test", "--name", "Boss"];
        let pipes = command.args(args).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = pipes.stderr(Stdio::null()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
        child.wait().unwrap().success()
    };
    assert!(!create("password"));
    assert!(create("ombak tenang 9 perahu"));
    assert!(!create("ombak tenang 9 perahu"), "the e-mail is taken now");
}

#[tokio::test]
async fn a_lost_second_factor_is_reset_on_the_command_line() {
    let mut world = World::on_sqlite().await;
    let admin = world.admin().await;
    world.enrols(&admin).await;
    world.login(&admin.email, "admin").await.is(401, "second_factor_required");
    let (folder, _) = world.stops().await;
    let reset = |email: &str| {
        let mut command = dermaga(&folder);
        command.env("DERMAGA_DATA_DIR", &folder).env("DERMAGA_SECRET_KEY", KEY);
        let output = command.args(["admin", "reset-second-factor", "--email", email]).output();
        let output = output.unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (done, why) = reset("nobody@dermaga.test");
    assert!(!done && why.contains("there is no account"), "{why}");
    let (done, why) = reset(&admin.email);
    assert!(done, "{why}");
    let (done, why) = reset(&admin.email);
    assert!(!done && why.contains("has no second factor"), "{why}");
    let world = world.restarts().await;
    world.get("/user/me").by(&admin).send().await.is(401, "unauthenticated");
    world.login(&admin.email, "admin").await.ok();
}

#[tokio::test]
async fn several_processes_start_at_once_on_one_empty_postgres() {
    let Some(url) = postgres::empty_database().await else { return };
    let folders: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let started: Vec<_> = folders
        .iter()
        .map(|folder| {
            let mut command = dermaga(folder.path());
            command.env("DERMAGA_DATABASE_URL", &url).env("DERMAGA_SECRET_KEY", KEY);
            std::thread::spawn(move || start(&mut command))
        })
        .collect();
    let services: Vec<_> = started.into_iter().map(|thread| thread.join().unwrap()).collect();
    let passwords = services.iter().filter(|s| s.greeting.contains("password")).count();
    assert_eq!(passwords, 1, "one of them made the admin");
    let client = crate::world::client();
    for service in &services {
        let health: Value = client
            .get(format!("{}/health", service.url))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        assert_eq!(health["data"]["database"], "postgres");
    }
    let db = Db::open(&url).await.unwrap();
    let admins: i64 = db.sql("SELECT COUNT(*) FROM accounts").scalar().await.unwrap();
    assert_eq!(admins, 1);
}

/// 64 concurrent clients; killed in the middle. Every acknowledged booking is stored.
async fn nothing_answered_is_lost(folder: &Path, command: &mut Command, url: String) {
    let mut service = start(command.env("DERMAGA_RATE_LIMIT", "off"));
    let client = crate::world::client();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..64 {
        let call = client
            .post(format!("{}/auth/register-mitra", service.url))
            .json(&registration(&format!("n{n}@bahari.id")));
        calls.spawn(async move {
            loop {
                let again = call.try_clone().expect("nothing is streamed");
                match again.send().await.map(|answer| answer.status().as_u16()) {
                    // Only so many passwords are hashed at a time.
                    Ok(503) => tokio::time::sleep(Duration::from_secs(1)).await,
                    answer => return answer.is_ok_and(|status| status == 200).then_some(n),
                }
            }
        });
    }
    let mut answered = Vec::new();
    while answered.len() < 32 {
        answered.extend(calls.join_next().await.expect("32 are answered").unwrap());
    }
    service.signal("-KILL");
    answered.extend(calls.join_all().await.into_iter().flatten());
    drop(service);

    let db = Db::open(&url).await.unwrap();
    for n in answered {
        let found: i64 = db
            .sql(
                "SELECT COUNT(*) FROM accounts a JOIN partners p ON p.account_id = a.id
                 WHERE a.email = $1",
            )
            .bind(format!("n{n}@bahari.id"))
            .scalar()
            .await
            .unwrap();
        assert_eq!(found, 1, "n{n} was answered with 200");
    }
    let (accounts, partners): (i64, i64) = db
        .sql(
            "SELECT (SELECT COUNT(*) FROM accounts WHERE role = 'mitra'),
               (SELECT COUNT(*) FROM partners)",
        )
        .one()
        .await
        .unwrap();
    assert_eq!(accounts, partners, "no half registrations");
    db.close().await;
    start(dermaga(folder).env("DERMAGA_DATABASE_URL", url).env("DERMAGA_SECRET_KEY", KEY));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_answered_is_lost_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("data/dermaga.db").display());
    let mut command = dermaga(folder.path());
    command.env("DERMAGA_SECRET_KEY", KEY);
    nothing_answered_is_lost(folder.path(), &mut command, url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_answered_is_lost_on_postgres() {
    let Some(url) = postgres::empty_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = dermaga(folder.path());
    command.env("DERMAGA_DATABASE_URL", &url).env("DERMAGA_SECRET_KEY", KEY);
    nothing_answered_is_lost(folder.path(), &mut command, url).await;
}

#[tokio::test]
async fn a_second_signal_is_not_needed_and_idle_connections_do_not_hold_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = start(&mut dermaga(folder.path()));
    let address = service.url.trim_start_matches("http://").to_owned();
    let _idle: Vec<_> = (0..20).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    let started = Instant::now();
    assert!(service.signal("-INT").success());
    assert!(started.elapsed() < Duration::from_secs(20));
}
