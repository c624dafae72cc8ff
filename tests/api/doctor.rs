//! `dermaga doctor`, and what other commands do without a database or with another key.

use std::{fs, path::Path};

use chrono::TimeDelta;
use dermaga::{
    app::App,
    backup::{backup, restore},
    config::Config,
    doctor,
    kernel::{clock::Clock, db::Db, ids, secret::Secret},
};

use crate::{
    binary::{dermaga, run_expecting_failure},
    postgres,
    world::World,
};

crate::on_both_engines! {
    a_healthy_service_passes,
    a_database_that_is_out_of_date_is_reported_and_not_migrated,
    deliveries_that_are_late_are_reported,
    another_secret_key_is_refused,
    only_a_start_stores_the_value_of_its_key,
}

const OTHER_KEY: &str = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";

async fn findings(config: Config) -> Vec<doctor::Finding> {
    let findings = doctor::examine(config).await;
    let guide = include_str!("../../docs/operating.md");
    let slug = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.replace(|c: char| !c.is_alphanumeric() && c != '-', "")
    };
    let headings: Vec<_> = guide.lines().filter(|line| line.starts_with('#')).map(slug).collect();
    for finding in &findings {
        assert!(headings.iter().any(|heading| heading == finding.section), "{}", finding.section);
    }
    findings
}

async fn finding(config: &Config, what: &str) -> Result<String, String> {
    let mut all = findings(config.clone()).await.into_iter();
    all.find(|finding| finding.what == what).unwrap().found
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

async fn a_healthy_service_passes(world: World) {
    let all = findings(world.app.config.clone()).await;
    for finding in &all {
        assert!(finding.found.is_ok(), "{}: {:?}", finding.what, finding.found);
    }
    let of = |what| all.iter().find(|finding| finding.what == what).unwrap().found.clone().unwrap();
    assert!(of("database").contains("schema up to date; a transaction committed in"));
    assert!(of("disk space").contains(" MiB free in "));
    assert_eq!(of("secret key"), "decrypts the data of this database");
    let probes = fs::read_dir(&world.app.config.data_dir).unwrap();
    let mut names = probes.map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().starts_with("probe")));
}

async fn a_database_that_is_out_of_date_is_reported_and_not_migrated(world: World) {
    let older = "UPDATE applied_triggers SET edition = 0, sha256 = 'older'";
    world.db().sql(older).run().await.unwrap();
    let config = world.app.config.clone();
    let found = finding(&config, "database").await.unwrap_err();
    assert!(found.contains("run `dermaga migrate` first"), "{found}");
    assert!(world.db().is_behind().await.unwrap());
    let why = App::attach(config.clone(), Clock::System).await.err().unwrap();
    assert!(why.contains("run `dermaga migrate` first"), "{why}");
    // What needs no tables is checked all the same.
    finding(&config, "storage").await.unwrap();
    let all = findings(config).await;
    assert!(!all.iter().any(|finding| finding.what == "deliveries"));
}

async fn deliveries_that_are_late_are_reported(world: World) {
    // The checks use the clock of the machine.
    let due = chrono::Utc::now() - TimeDelta::minutes(7);
    let insert = world.db().sql(
        "INSERT INTO outbox (id, queue, topic, payload, attempts, due_at, created_at)
         VALUES ($1, 'mail', 'mail', '{}', 0, $2, $2)",
    );
    insert.bind(ids::fresh()).bind(due).run().await.unwrap();
    let found = finding(&world.app.config, "deliveries").await.unwrap_err();
    assert!(found.contains("1 pending, the oldest for 7 minutes"), "{found}");
}

async fn another_secret_key_is_refused(mut world: World) {
    let ours = world.app.config.clone();
    let theirs = Config { secret_key: Some(Secret::new(OTHER_KEY)), ..ours.clone() };
    world.stops().await;
    let refused = async |config: &Config| {
        let start = App::start(config.clone(), Clock::System).await.err().unwrap();
        assert!(start.starts_with("DERMAGA_SECRET_KEY: "), "{start}");
        assert_eq!(App::attach(config.clone(), Clock::System).await.err().unwrap(), start);
        assert_eq!(finding(config, "secret key").await.unwrap_err(), start);
    };
    let accepted = async |config: &Config| {
        let app = App::start(config.clone(), Clock::System).await.unwrap();
        finding(config, "secret key").await.unwrap();
        app
    };
    refused(&theirs).await;
    // Rotation: the old key still decrypts, until everything is encrypted with the new one.
    let mut both = theirs.clone();
    both.old_secret_keys.0.extend(ours.secret_key.clone());
    let app = accepted(&both).await;
    app.reseal().await.unwrap();
    app.db.close().await;
    accepted(&theirs).await.db.close().await;
    refused(&ours).await;
}

async fn only_a_start_stores_the_value_of_its_key(world: World) {
    world.db().sql("DELETE FROM secret_key_check").run().await.unwrap();
    let theirs = Config { secret_key: Some(Secret::new(OTHER_KEY)), ..world.app.config.clone() };
    finding(&theirs, "secret key").await.unwrap();
    App::attach(theirs, Clock::System).await.unwrap().db.close().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM secret_key_check").await, 0);
    let app = App::start(world.app.config.clone(), Clock::System).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM secret_key_check").await, 1);
    app.db.close().await;
}

#[tokio::test]
async fn processes_that_start_at_once_agree_on_the_key() {
    let Some(url) = postgres::empty_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let starts = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", OTHER_KEY].map(|key| {
        let mut command = dermaga(folder.path());
        command.arg("migrate").env("DERMAGA_DATABASE_URL", &url).env("DERMAGA_SECRET_KEY", key);
        std::thread::spawn(move || command.output().unwrap().status.success())
    });
    let started = starts.map(|start| start.join().unwrap());
    assert!(started[0] != started[1], "{started:?}: one of the two keys is in use");
    postgres::remove(&url).await;
}

#[test]
fn commands_create_no_database() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        &["outbox"][..],
        &["reseal"],
        &["audit"],
        &["scrub"],
        &["rebuild-reports"],
        &["backup"],
        &["admin", "reset-second-factor", "--email", "ketut@dermaga.example"],
    ] {
        let why = run_expecting_failure(dermaga(folder.path()).args(command));
        assert!(why.contains("there is no database"), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    let output = dermaga(folder.path()).arg("doctor").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("ok   database: none yet; the first start creates it"), "{said}");
    assert!(said.contains("does not exist yet; the first start creates it"), "{said}");
    assert!(said.contains("ok   storage: "), "what needs no database is checked: {said}");
    assert!(is_empty(folder.path()));
}

#[tokio::test]
async fn doctor_creates_no_tables_in_an_empty_database() {
    let Some(url) = postgres::empty_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let doctor = &mut dermaga(folder.path());
    doctor.arg("doctor").env("DERMAGA_DATABASE_URL", &url).env("DERMAGA_SECRET_KEY", OTHER_KEY);
    let output = doctor.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && said.contains("FAIL database: "), "{said}");
    assert!(said.contains("     see docs/operating.md#database-down"), "{said}");
    let db = Db::open(&url).await.unwrap();
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(db.sql(tables).scalar::<i64>().await.unwrap(), 0);
    db.close().await;
    postgres::remove(&url).await;
}

#[tokio::test]
async fn a_lost_key_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let migrate = || {
        let mut command = dermaga(folder.path());
        command.arg("migrate");
        command
    };
    assert!(migrate().status().unwrap().success());
    let (key, away) = (folder.path().join("data/secret.key"), folder.path().join("away"));
    fs::rename(&key, &away).unwrap();
    for command in ["serve", "migrate", "doctor", "outbox"] {
        let output = dermaga(folder.path()).arg(command).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!output.status.success() && said.contains("secret.key: the key of"), "{said}");
        assert!(!key.exists());
    }
    fs::rename(&away, &key).unwrap();
    assert!(migrate().status().unwrap().success());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = dermaga(folder.path());
    let mut child = command.arg("doctor").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_even_if_an_invariant_is_violated() {
    let world = World::on_sqlite().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let wrong = "UPDATE sailings SET seats_taken = 3 WHERE seats_taken = 2";
    world.db().sql(wrong).run().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (config, clock) = (world.app.config.clone(), Clock::manual(world.now()));
    fs::write(config.data_dir.join("secret.key"), "an older key").unwrap();
    let made = backup(&config, folder.path(), &clock).await.unwrap();
    assert_eq!(made.violations.len(), 1, "{:?}", made.violations);
    assert!(made.violations[0].contains("seats taken"), "{:?}", made.violations);
    assert!(
        !made.folder.join("secret.key").exists(),
        "a key is configured: the file is not in use"
    );
    let data_dir = folder.path().join("restored");
    let config = Config { data_dir: data_dir.clone(), database_url: None, ..config };
    let restored = restore(&config, &made.folder).await.unwrap();
    assert_eq!(restored.violations, made.violations);
    App::attach(config, clock).await.unwrap().db.close().await;
    // The command says so with its exit status.
    let mut command = dermaga(folder.path());
    let into = folder.path().join("again");
    command.arg("backup").arg(&into).env("DERMAGA_DATA_DIR", &data_dir);
    command.env("DERMAGA_SECRET_KEY", OTHER_KEY);
    let why = run_expecting_failure(&mut command);
    assert!(why.contains("invariant violated: ") && why.contains("seats taken"), "{why}");
    assert!(!is_empty(&into));
}
