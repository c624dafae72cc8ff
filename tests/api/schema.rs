//! Migrations and triggers: applied once, verified at every start, refused when they do not fit.

use dermaga::kernel::db::{Db, Migration, Schema};
use futures_util::future::join_all;

use crate::{
    binary::{dermaga, run_expecting_failure},
    on_both_engines, postgres,
    world::World,
};

on_both_engines![
    the_first_start_creates_tables_and_triggers,
    a_second_start_changes_nothing,
    processes_that_start_at_once_migrate_once,
    changed_triggers_are_created_again,
    foreign_triggers_are_kept,
    an_older_process_leaves_newer_triggers,
    a_migration_runs_without_triggers,
    staff_keep_their_salary,
    a_migration_that_fails_changes_nothing,
    a_newer_database_is_refused,
    a_changed_checksum_is_refused,
    a_database_from_before_the_first_release_is_refused,
    jobs_do_not_read_all_bookings_of_a_status,
    payments_are_found_by_the_ids_of_their_channel,
    lists_by_departure_and_of_a_partner_use_their_index,
];

/// Of the triggers.
const EDITION: &str = "Edition 4.";
const NEXT_EDITION: &str = "Edition 5.";

/// The address of an empty database on the engine of this world.
async fn empty_database_url(world: &World) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let url = match world.db().engine() {
        "sqlite" => folder.path().join("dermaga.db").to_str().unwrap().to_owned(),
        _ => postgres::empty_database().await.unwrap(),
    };
    (folder, url)
}

async fn triggers(db: &Db) -> Vec<String> {
    let names = match db.engine() {
        "sqlite" => "SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
        _ => "SELECT CAST(tgname AS TEXT) FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname",
    };
    let names: Vec<(String,)> = db.sql(names).all().await.unwrap();
    names.into_iter().map(|(name,)| name).collect()
}

/// Changes whenever a trigger is created, dropped or replaced.
async fn fingerprint(db: &Db) -> String {
    let text = match db.engine() {
        "sqlite" => "SELECT CAST(schema_version AS TEXT) FROM pragma_schema_version",
        _ => {
            "SELECT CAST((SELECT SUM(CAST(CAST(xmin AS TEXT) AS BIGINT)) FROM pg_proc) AS TEXT)
               || ' ' || string_agg(CAST(oid AS TEXT) || ':' || CAST(xmin AS TEXT), ',' ORDER BY oid)
             FROM pg_trigger"
        }
    };
    db.sql(text).scalar().await.unwrap()
}

async fn applied(db: &Db) -> Vec<(i64, String)> {
    let text = "SELECT version, name FROM applied_migrations ORDER BY version";
    db.sql(text).all().await.unwrap()
}

fn with_migration(db: &Db, text: &'static str) -> Schema {
    let mut schema = db.schema();
    schema.migrations.push(Migration { name: "9999_next", text });
    schema
}

/// Without the triggers of terms, with another text of the ledger's.
fn other_triggers(db: &Db, edition: &str) -> Schema {
    let mut schema = db.schema();
    let text = schema.triggers.replacen(EDITION, edition, 1);
    let (head, rest) = text.split_once("-- Contents\n").unwrap();
    let (_, tail) = rest.split_once("-- Bookings: seats").unwrap();
    let tail = tail.replace("the ledger is append-only", "the ledger only grows");
    schema.triggers = format!("{head}-- Bookings: seats{tail}");
    schema
}

async fn migration_error(world: &World) -> String {
    let why = world.db().migrate().await.unwrap_err().to_string();
    let behind = world.db().is_behind().await.unwrap_err().to_string();
    assert_eq!(why, behind, "both say the same");
    why
}

async fn the_first_start_creates_tables_and_triggers(world: World) {
    let (_folder, url) = empty_database_url(&world).await;
    let db = Db::open(&url).await.unwrap();
    assert!(db.is_behind().await.unwrap());
    db.migrate().await.unwrap();
    assert!(!db.is_behind().await.unwrap());
    let names = applied(&db).await.into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    let all = [
        "0001_baseline",
        "0002_secret_key_check",
        "0003_more_indexes",
        "0004_lists",
        "0005_deleted_taxes",
        "0006_partner_totals",
        "0007_retail_figures",
        "0008_staff_without_salary",
        "0009_booking_revision",
        "0010_fewer_booking_indexes",
        "0011_indexes_of_paid_bookings",
    ];
    assert_eq!(names, all);
    let created = db.schema().triggers;
    let created = created.lines().filter(|line| {
        line.starts_with("CREATE TRIGGER") || line.starts_with("CREATE OR REPLACE TRIGGER")
    });
    assert_eq!(triggers(&db).await.len(), created.count());
    let rows: i64 = db.sql("SELECT COUNT(*) FROM bookings").scalar().await.unwrap();
    assert_eq!(rows, 0);
    db.close().await;
    if db.engine() == "postgres" {
        postgres::remove(&url).await;
    }
}

async fn a_second_start_changes_nothing(world: World) {
    let db = world.db();
    let before = fingerprint(db).await;
    db.migrate().await.unwrap();
    assert_eq!(fingerprint(db).await, before);
    // The fingerprint tells a change.
    db.migrate_to(&other_triggers(db, EDITION)).await.unwrap();
    assert_ne!(fingerprint(db).await, before);
}

async fn processes_that_start_at_once_migrate_once(world: World) {
    let (_folder, url) = empty_database_url(&world).await;
    let mut started = Vec::new();
    for _ in 0..6 {
        started.push(Db::open(&url).await.unwrap());
    }
    for done in join_all(started.iter().map(|db| db.migrate())).await {
        done.unwrap();
    }
    for db in &started {
        assert!(!db.is_behind().await.unwrap());
        assert_eq!(applied(db).await.len(), db.schema().migrations.len());
        db.close().await;
    }
    if world.db().engine() == "postgres" {
        postgres::remove(&url).await;
    }
}

async fn changed_triggers_are_created_again(world: World) {
    let db = world.db();
    let texts = match db.engine() {
        "sqlite" => "SELECT COUNT(*) FROM sqlite_schema WHERE sql LIKE '%the ledger only grows%'",
        _ => "SELECT COUNT(*) FROM pg_proc WHERE prosrc LIKE '%the ledger only grows%'",
    };
    let ours = triggers(db).await;
    assert_eq!(world.count(texts).await, 0);
    db.migrate_to(&other_triggers(db, EDITION)).await.unwrap();
    assert!(world.count(texts).await > 0, "the text is the new one");
    let theirs = triggers(db).await;
    let gone = ours.iter().filter(|name| !theirs.contains(name));
    assert_eq!(Vec::from_iter(gone), ["terms_remain", "terms_stay"], "the file has them no longer");
    if db.engine() == "postgres" {
        let functions = "SELECT COUNT(*) FROM pg_proc WHERE proname = 'terms_stay'";
        assert_eq!(world.count(functions).await, 0);
    }
    // The same edition with another text: while one is being written.
    assert!(db.is_behind().await.unwrap());
    db.migrate().await.unwrap();
    assert_eq!(triggers(db).await, ours);
    assert_eq!(world.count(texts).await, 0);
}

async fn foreign_triggers_are_kept(world: World) {
    let db = world.db();
    let by_hand = match db.engine() {
        "sqlite" => "CREATE TRIGGER by_hand AFTER UPDATE ON locks BEGIN SELECT 1; END",
        _ => {
            "CREATE TRIGGER by_hand BEFORE UPDATE ON locks FOR EACH ROW
             EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        }
    };
    db.sql(by_hand).run().await.unwrap();
    db.migrate_to(&other_triggers(db, EDITION)).await.unwrap();
    db.migrate().await.unwrap();
    assert!(triggers(db).await.contains(&"by_hand".to_owned()));
}

async fn an_older_process_leaves_newer_triggers(world: World) {
    let db = world.db();
    db.migrate_to(&other_triggers(db, NEXT_EDITION)).await.unwrap();
    let newer = fingerprint(db).await;
    assert!(!db.is_behind().await.unwrap());
    db.migrate().await.unwrap();
    assert_eq!(fingerprint(db).await, newer);
    // A migration of its own cannot be run without replacing them.
    let next = with_migration(db, "CREATE TABLE next (id BIGINT)");
    let why = db.migrate_to(&next).await.unwrap_err().to_string();
    let edition = NEXT_EDITION.trim_end_matches('.').to_lowercase();
    assert!(why.contains(&format!("{edition} of the triggers")), "{why}");
    assert_eq!(fingerprint(db).await, newer);
}

async fn a_migration_runs_without_triggers(world: World) {
    let db = world.db();
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let change = "UPDATE ledger_lines SET kind = kind";
    db.sql(change).run().await.unwrap_err();
    db.migrate_to(&with_migration(db, "UPDATE ledger_lines SET kind = kind")).await.unwrap();
    assert_eq!(applied(db).await.last().unwrap().1, "9999_next");
    db.sql(change).run().await.unwrap_err();
}

async fn staff_keep_their_salary(world: World) {
    let (_folder, url) = empty_database_url(&world).await;
    let db = Db::open(&url).await.unwrap();
    let mut before = db.schema();
    before.migrations.retain(|migration| migration.name < "0008");
    // The present ones may need later migrations.
    before.triggers = "-- Edition 1.\n".into();
    db.migrate_to(&before).await.unwrap();
    let (id, now) = (dermaga::kernel::ids::fresh(), world.now());
    for text in [
        "INSERT INTO accounts (id, name, email, role, status, created_at, updated_at)
         VALUES ($1, 'Ayu', 'ayu@dermaga.test', 'staff', 'active', $2, $2)",
        "INSERT INTO permissions (id, name, description, level, rules, created_at, updated_at)
         VALUES ($1, 'Desk', '', 'viewer', '[]', $2, $2)",
        "INSERT INTO staff (id, account_id, permission_id, join_date, working_type, show_salary,
           salary, address, bank_code, account_number, account_name, created_at, updated_at)
         VALUES ($1, $1, $1, '2026-11-01', 'contract', FALSE, 7500000, '{}', '', '', '', $2, $2)",
    ] {
        db.sql(text).bind(id).bind(now).run().await.unwrap();
    }
    db.migrate().await.unwrap();
    let salary: Option<i64> = db.sql("SELECT salary FROM staff").scalar().await.unwrap();
    assert_eq!(salary, Some(7_500_000));
    assert!(db.sql("UPDATE staff SET salary = -1").run().await.is_err());
    assert_eq!(db.sql("UPDATE staff SET salary = NULL").run().await.unwrap(), 1);
    db.close().await;
    if db.engine() == "postgres" {
        postgres::remove(&url).await;
    }
}

async fn a_migration_that_fails_changes_nothing(world: World) {
    let db = world.db();
    let before = (triggers(db).await, applied(db).await);
    let fails = with_migration(db, "CREATE TABLE halves (id BIGINT); SELECT nonsense FROM halves");
    let why = db.migrate_to(&fails).await.unwrap_err().to_string();
    assert!(why.contains("9999_next") && why.contains("nonsense"), "{why}");
    assert_eq!((triggers(db).await, applied(db).await), before);
    assert!(db.sql("SELECT COUNT(*) FROM halves").scalar::<i64>().await.is_err());
    // Whoever starts next can go on.
    db.migrate_to(&with_migration(db, "CREATE TABLE halves (id BIGINT)")).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM halves").await, 0);
}

async fn a_newer_database_is_refused(world: World) {
    let db = world.db();
    db.migrate_to(&with_migration(db, "CREATE TABLE later (id BIGINT)")).await.unwrap();
    let why = migration_error(&world).await;
    assert!(why.contains("9999_next") && why.contains("unknown to this program"), "{why}");
    assert!(why.contains("Start that release or a newer one"), "{why}");
}

async fn a_changed_checksum_is_refused(world: World) {
    let damage = "UPDATE applied_migrations SET sha256 = 'other' WHERE version = 1";
    world.db().sql(damage).run().await.unwrap();
    let why = migration_error(&world).await;
    assert!(why.contains("0001_baseline") && why.contains("another text"), "{why}");
}

async fn a_database_from_before_the_first_release_is_refused(world: World) {
    let (folder, url) = empty_database_url(&world).await;
    let db = Db::open(&url).await.unwrap();
    for statement in [
        "CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL)",
        "INSERT INTO _sqlx_migrations VALUES (1, 'kernel'), (28, 'file quota')",
        "CREATE TABLE accounts (id UUID PRIMARY KEY)",
    ] {
        db.sql(statement).run().await.unwrap();
    }
    for why in [db.migrate().await.unwrap_err(), db.is_behind().await.unwrap_err()] {
        let why = why.to_string();
        assert!(why.contains("before the first release"), "{why}");
        assert!(why.contains("Start with an empty one"), "{why}");
    }
    db.close().await;
    // Every command says so, in one line.
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let named = if db.engine() == "sqlite" { format!("sqlite:{url}") } else { url.clone() };
    for command in ["serve", "migrate", "audit", "backup"] {
        if (command, db.engine()) == ("backup", "postgres") {
            continue;
        }
        let mut run = dermaga(folder.path());
        run.arg(command).env("DERMAGA_DATABASE_URL", &named).env("DERMAGA_SECRET_KEY", key);
        let why = run_expecting_failure(&mut run);
        assert!(why.starts_with("dermaga: ") && why.contains("before the first release"), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    if db.engine() == "postgres" {
        postgres::remove(&url).await;
    }
}

async fn plan_on_sqlite(world: &World, sql: &'static str) -> String {
    let steps: Vec<(i64, i64, i64, String)> = world.db().sql(sql).all().await.unwrap();
    steps.into_iter().map(|(.., step)| step).collect()
}

async fn lists_by_departure_and_of_a_partner_use_their_index(world: World) {
    if world.db().engine() != "sqlite" {
        return;
    }
    let plan = async |sql: &'static str| plan_on_sqlite(&world, sql).await;
    let of_status = plan(
        "EXPLAIN QUERY PLAN SELECT k.id FROM bookings k
         WHERE k.status <> 'pending_payment' AND k.status = 'paid' AND k.departure_at >= '2026'
           AND COALESCE(k.speedboat_id, k.id) = '1'
         ORDER BY k.departure_at DESC, k.id DESC LIMIT 20",
    );
    let of_status = of_status.await;
    assert!(of_status.contains("COVERING INDEX bookings_status_departure"), "{of_status}");
    assert!(!of_status.contains("TEMP B-TREE"), "{of_status}");
    let of_partner = plan(
        "EXPLAIN QUERY PLAN SELECT k.id FROM (SELECT k.id, k.status, k.total, k.surcharge, k.sailing_id
           FROM bookings k WHERE k.partner_id = '1' LIMIT 9223372036854775807) AS k
         WHERE k.status || '' = 'paid' ORDER BY k.total + k.surcharge DESC, k.id DESC LIMIT 20",
    );
    let of_partner = of_partner.await;
    assert!(of_partner.contains("bookings_partner (partner_id=?)"), "{of_partner}");
}

/// SQLite uses an index of rows with a channel only if the statement asks for these.
async fn payments_are_found_by_the_ids_of_their_channel(world: World) {
    if world.db().engine() != "sqlite" {
        return;
    }
    for (index, sql) in [
        (
            "payments_channel_payment",
            "EXPLAIN QUERY PLAN SELECT id FROM payments WHERE provider = 'xendit'
             AND channel IS NOT NULL AND channel ->> 'payment_id' IN ('1', '2')",
        ),
        (
            "payments_channel_request",
            "EXPLAIN QUERY PLAN SELECT id FROM payments
             WHERE channel IS NOT NULL AND channel ->> 'payment_request_id' = '1'",
        ),
    ] {
        let plan = plan_on_sqlite(&world, sql).await;
        assert!(plan.contains(index), "{plan}");
    }
}

/// The indexes for the list of bookings begin with the status too.
async fn jobs_do_not_read_all_bookings_of_a_status(world: World) {
    if world.db().engine() != "sqlite" {
        return;
    }
    let plan = async |sql: &'static str| plan_on_sqlite(&world, sql).await;
    let arrived = plan(
        "EXPLAIN QUERY PLAN SELECT id FROM bookings
         WHERE status = 'paid' AND status <> 'pending_payment' AND departure_at <= '2026'
           AND arrival_at <= '2026' ORDER BY departure_at LIMIT 10",
    );
    assert!(arrived.await.contains("COVERING INDEX bookings_status_departure"));
    let over = plan(
        "EXPLAIN QUERY PLAN SELECT k.id FROM bookings k WHERE k.erased_at IS NULL
           AND k.status IN ('completed', 'expired', 'cancelled', 'refunded')
           AND (CASE WHEN k.status = 'expired' THEN k.expires_at
             WHEN k.cancelled_at IS NOT NULL AND k.completed_at IS NULL THEN k.cancelled_at
             ELSE k.arrival_at END) <= '2026' LIMIT 10",
    );
    assert!(over.await.contains("bookings_retention"));
    let unpaid = plan(
        "EXPLAIN QUERY PLAN SELECT status, COUNT(*) FROM bookings
         WHERE status = 'pending_payment' AND (?1 IS NULL OR partner_id = ?1) GROUP BY status",
    );
    let unpaid = unpaid.await;
    assert!(
        unpaid.contains("COVERING INDEX bookings_holds") || unpaid.contains("status=?"),
        "{unpaid}"
    );
    let of_sailings = plan(
        "EXPLAIN QUERY PLAN UPDATE bookings SET updated_at = updated_at
         WHERE status IN ('pending_payment', 'paid') AND sailing_id IN ('1', '2', '3', '4')",
    );
    assert!(of_sailings.await.contains("bookings_sailing"));
}
