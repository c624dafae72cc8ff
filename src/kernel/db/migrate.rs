//! Bringing a database to the schema of this release.
//!
//! Numbered migrations run once, in order; the SHA-256 of each is stored and verified at every
//! start. Triggers are not part of them: `triggers.sql` of each engine holds their current text,
//! which is applied again whenever it differs from what was applied last.
//!
//! All of it is one transaction. If anything is to be done, the triggers are dropped first and
//! created last, so a migration changes tables and rows without firing them. Processes that start
//! at the same time take turns: by an advisory lock on PostgreSQL, by the write lock on SQLite.
//!
//! Releases side by side: the newest wins. A process refuses to start on a database with a
//! migration that it does not know, and leaves triggers of a newer edition as they are.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Db, Failure, Result, Tx};

/// `each`: a file per engine. `both`: one file for both.
macro_rules! migration {
    (each $name:literal) => {
        (
            $name,
            include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")),
            include_str!(concat!("../../../migrations/postgres/", $name, ".sql")),
        )
    };
    (both $name:literal) => {
        (
            $name,
            include_str!(concat!("../../../migrations/", $name, ".sql")),
            include_str!(concat!("../../../migrations/", $name, ".sql")),
        )
    };
}

/// Name (the version is its number), text for SQLite, text for PostgreSQL; in order.
const MIGRATIONS: &[(&str, &str, &str)] = &[
    migration!(each "0001_baseline"),
    migration!(both "0002_secret_key_check"),
    migration!(both "0003_more_indexes"),
    migration!(each "0004_lists"),
    migration!(both "0005_deleted_taxes"),
    migration!(both "0006_partner_totals"),
    migration!(both "0007_retail_figures"),
    migration!(both "0008_staff_without_salary"),
    migration!(both "0009_booking_revision"),
    migration!(both "0010_fewer_booking_indexes"),
    migration!(each "0011_indexes_of_paid_bookings"),
];
const SQLITE_TRIGGERS: &str = include_str!("../../../migrations/sqlite/triggers.sql");
const POSTGRES_TRIGGERS: &str = include_str!("../../../migrations/postgres/triggers.sql");

/// What is recorded about the schema. `teardown` holds the statements that drop the triggers which
/// were created, so that those of an older release are dropped as well.
const RECORDS: &str = "
    CREATE TABLE IF NOT EXISTS applied_migrations (
        version BIGINT PRIMARY KEY,
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        applied_by TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS applied_triggers (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
        edition BIGINT NOT NULL,
        sha256 TEXT NOT NULL,
        teardown TEXT NOT NULL,
        applied_by TEXT NOT NULL
    )";

/// Held until the transaction ends. Waiting for another process that migrates has no time limit.
const ONE_AT_A_TIME: &str =
    "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(4919131752989213764)";

/// Processes of an older release may be at work and lock tables in another order.
const ATTEMPTS: usize = 5;

const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// What a release wants a database to have.
#[derive(Clone)]
pub struct Schema {
    pub migrations: Vec<Migration>,
    /// The first line names the edition: `-- Edition 1.`
    pub triggers: String,
}

#[derive(Clone, Copy)]
pub struct Migration {
    pub name: &'static str,
    pub text: &'static str,
}

impl Migration {
    fn version(&self) -> i64 {
        let digits = self.name.split('_').next().unwrap_or_default();
        digits.parse().expect("a migration's name begins with its number")
    }
}

impl Schema {
    fn edition(&self) -> i64 {
        let first = self.triggers.strip_prefix("-- Edition ").unwrap_or_default();
        let number = first.split('.').next().unwrap_or_default();
        number.parse().expect("the first line of triggers.sql names its edition")
    }
}

/// What a database has.
#[derive(Default)]
struct Applied {
    migrations: Vec<(i64, String, String, String)>,
    triggers: Option<Triggers>,
}

struct Triggers {
    edition: i64,
    sha256: String,
    teardown: String,
    applied_by: String,
}

impl Db {
    /// The schema of this release.
    pub fn schema(&self) -> Schema {
        let sqlite = self.engine() == "sqlite";
        let own = |&(name, on_sqlite, on_postgres)| Migration {
            name,
            text: if sqlite { on_sqlite } else { on_postgres },
        };
        let triggers = if sqlite { SQLITE_TRIGGERS } else { POSTGRES_TRIGGERS };
        Schema { migrations: MIGRATIONS.iter().map(own).collect(), triggers: triggers.into() }
    }

    /// Whether `migrate` would change something. An error if it would refuse.
    pub async fn is_behind(&self) -> Result<bool> {
        let applied = applied(&mut self.begin().await?).await?;
        Ok(plan(&self.schema(), &applied)?.is_some())
    }

    /// Fails if `migrate` would change something.
    pub async fn ensure_current(&self) -> Result<(), String> {
        match self.is_behind().await {
            Ok(false) => Ok(()),
            Ok(true) => {
                Err("the database schema is out of date; run `dermaga migrate` first".into())
            }
            Err(why) => Err(format!("DERMAGA_DATABASE_URL: {why}")),
        }
    }

    pub async fn migrate(&self) -> Result<()> {
        self.migrate_to(&self.schema()).await
    }

    pub async fn migrate_to(&self, schema: &Schema) -> Result<()> {
        let mut attempts = 1;
        loop {
            match self.try_migrate(schema).await {
                Err(failure) if failure.is_contention() && attempts < ATTEMPTS => attempts += 1,
                done => return done,
            }
        }
    }

    async fn try_migrate(&self, schema: &Schema) -> Result<()> {
        let mut tx = self.begin_without_timeout().await?;
        if !tx.is_sqlite() {
            tx.execute_script(ONE_AT_A_TIME).await?;
        }
        let applied = applied(&mut tx).await?;
        let Some(pending) = plan(schema, &applied)? else { return Ok(()) };
        tx.execute_script(RECORDS).await?;
        if let Some(triggers) = &applied.triggers {
            let done = tx.execute_script(&triggers.teardown).await;
            done.map_err(|why| context("dropping triggers", why))?;
        }
        for migration in pending {
            let done = tx.execute_script(migration.text).await;
            done.map_err(|why| context(migration.name, why))?;
            tx.record(migration).await?;
        }
        let done = tx.execute_script(&schema.triggers).await;
        done.map_err(|why| context("triggers", why))?;
        tx.record_triggers(schema).await?;
        tx.commit().await
    }
}

/// The migrations to run before the triggers are applied; `None` if nothing is to be done.
fn plan<'s>(schema: &'s Schema, applied: &Applied) -> Result<Option<Vec<&'s Migration>>> {
    for (version, name, sha256, by) in &applied.migrations {
        let Some(known) = schema.migrations.iter().find(|m| m.version() == *version) else {
            return Err(unknown(&format!("migration {name}"), by));
        };
        if *sha256 != hash(known.text) {
            return Err(Failure::fault(format!(
                "its migration {name}, applied by Dermaga {by}, had another text than the one in \
                 this program (Dermaga {RELEASE}). Start the release that the database belongs to"
            )));
        }
    }
    let is_applied = |m: &Migration| applied.migrations.iter().any(|(v, ..)| *v == m.version());
    let pending: Vec<_> = schema.migrations.iter().filter(|m| !is_applied(m)).collect();
    let triggers_are_current = match &applied.triggers {
        Some(newer) if newer.edition > schema.edition() => {
            // Our migrations may not fit its triggers, and our triggers must not replace them.
            if !pending.is_empty() {
                let what = format!("edition {} of the triggers", newer.edition);
                return Err(unknown(&what, &newer.applied_by));
            }
            true
        }
        Some(same_or_older) => same_or_older.sha256 == hash(&schema.triggers),
        None => false,
    };
    Ok((!pending.is_empty() || !triggers_are_current).then_some(pending))
}

fn unknown(what: &str, by: &str) -> Failure {
    Failure::fault(format!(
        "its {what}, applied by Dermaga {by}, is unknown to this program (Dermaga {RELEASE}). \
         Start that release or a newer one, or restore a backup from before the upgrade"
    ))
}

/// Adds what was being done. Contention stays recognisable, since it is worth another attempt.
fn context(what: &str, why: Failure) -> Failure {
    if why.is_contention() { why } else { Failure::fault(format!("{what}: {why}")) }
}

async fn applied(tx: &mut Tx) -> Result<Applied> {
    let tables = match tx.is_sqlite() {
        true => {
            "SELECT name FROM sqlite_schema
             WHERE name IN ('_sqlx_migrations', 'applied_migrations')"
        }
        false => {
            "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
             WHERE table_schema = current_schema()
               AND table_name IN ('_sqlx_migrations', 'applied_migrations')"
        }
    };
    let tables: Vec<(String,)> = tx.sql(tables).all().await?;
    if tables.iter().any(|(name,)| name == "_sqlx_migrations") {
        return Err(Failure::fault(
            "it was made before the first release, and there is no conversion. Start with an empty \
             one: move the SQLite file away, or create another PostgreSQL database",
        ));
    }
    if tables.is_empty() {
        return Ok(Applied::default());
    }
    let migrations = "SELECT version, name, sha256, applied_by FROM applied_migrations
         ORDER BY version";
    let migrations = tx.sql(migrations).all().await?;
    let triggers = "SELECT edition, sha256, teardown, applied_by FROM applied_triggers";
    let triggers: Option<(i64, String, String, String)> = tx.sql(triggers).maybe().await?;
    let triggers = triggers.map(|(edition, sha256, teardown, applied_by)| Triggers {
        edition,
        sha256,
        teardown,
        applied_by,
    });
    Ok(Applied { migrations, triggers })
}

impl Tx {
    async fn record(&mut self, migration: &Migration) -> Result<()> {
        self.sql(
            "INSERT INTO applied_migrations (version, name, sha256, applied_by)
             VALUES ($1, $2, $3, $4)",
        )
        .bind(migration.version())
        .bind(migration.name)
        .bind(hash(migration.text))
        .bind(RELEASE)
        .run()
        .await
        .map(drop)
    }

    async fn record_triggers(&mut self, schema: &Schema) -> Result<()> {
        let teardown = teardown(&schema.triggers, self.is_sqlite());
        self.sql(
            "INSERT INTO applied_triggers (only_one, edition, sha256, teardown, applied_by)
             VALUES (1, $1, $2, $3, $4)
             ON CONFLICT (only_one) DO UPDATE SET edition = excluded.edition,
               sha256 = excluded.sha256, teardown = excluded.teardown,
               applied_by = excluded.applied_by",
        )
        .bind(schema.edition())
        .bind(hash(&schema.triggers))
        .bind(teardown)
        .bind(RELEASE)
        .run()
        .await
        .map(drop)
    }
}

fn hash(text: &str) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(text) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The statements that drop what a `triggers.sql` creates, last first: a trigger depends on its
/// function.
fn teardown(triggers: &str, sqlite: bool) -> String {
    let mut drops = Vec::new();
    for statement in triggers.split("\nCREATE ").skip(1) {
        let statement = statement.strip_prefix("OR REPLACE ").unwrap_or(statement);
        let mut words = statement.split_whitespace();
        match (words.next(), words.next()) {
            (Some("TRIGGER"), Some(name)) if sqlite => {
                drops.push(format!("DROP TRIGGER IF EXISTS {name};\n"));
            }
            (Some("TRIGGER"), Some(name)) => {
                let table = words.skip_while(|word| *word != "ON").nth(1).unwrap_or_default();
                drops.push(format!("DROP TRIGGER IF EXISTS {name} ON {table};\n"));
            }
            (Some("FUNCTION"), _) => {
                let signature = statement.trim_start_matches("FUNCTION ").split_inclusive(')');
                let signature = signature.take(1).collect::<String>();
                drops.push(format!("DROP FUNCTION IF EXISTS {signature};\n"));
            }
            _ => {}
        }
    }
    drops.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A database that has run a migration refuses to start with another text of it, and a process
    /// that knows an older edition of the triggers relies on its number.
    #[test]
    fn released_files_do_not_change() {
        let mut all = String::new();
        for (name, on_sqlite, on_postgres) in MIGRATIONS {
            for (folder, text) in [("sqlite", on_sqlite), ("postgres", on_postgres)] {
                all += &format!("{folder}/{name} {}\n", &hash(text)[..16]);
            }
        }
        for (folder, text) in [("sqlite", SQLITE_TRIGGERS), ("postgres", POSTGRES_TRIGGERS)] {
            let schema = Schema { migrations: Vec::new(), triggers: text.into() };
            all += &format!("{folder}/triggers {} {}\n", schema.edition(), &hash(text)[..16]);
        }
        let known = include_str!("../../../migrations/known");
        assert_eq!(
            all, known,
            "migrations/known: add new migrations, raise the edition of changed triggers, and \
             leave what was released as it is"
        );
    }

    #[test]
    fn every_file_is_embedded() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut found = BTreeSet::new();
        for folder in ["", "sqlite", "postgres"] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if let Some(name) = name.strip_suffix(".sql").filter(|name| *name != "triggers") {
                    found.insert(name.to_owned());
                }
            }
        }
        let embedded: Vec<_> = MIGRATIONS.iter().map(|(name, ..)| name.to_string()).collect();
        assert!(embedded.is_sorted(), "{embedded:?}");
        assert_eq!(embedded, Vec::from_iter(found));
        let versions = MIGRATIONS.iter().map(|&(name, text, _)| Migration { name, text }.version());
        assert_eq!(BTreeSet::from_iter(versions).len(), MIGRATIONS.len(), "numbers are unique");
    }

    #[test]
    fn a_teardown_drops_all_that_the_file_creates() {
        for (text, sqlite) in [(SQLITE_TRIGGERS, true), (POSTGRES_TRIGGERS, false)] {
            let drops = teardown(text, sqlite);
            let created = text.lines().filter(|line| line.trim_start().starts_with("CREATE "));
            assert_eq!(drops.lines().count(), created.count());
        }
        let drops = teardown(POSTGRES_TRIGGERS, false);
        for drop in [
            "DROP FUNCTION IF EXISTS bookings_live(status TEXT);",
            "DROP FUNCTION IF EXISTS terms_stay();",
            "DROP TRIGGER IF EXISTS bookings_change_sailing ON bookings;",
            "DROP TRIGGER IF EXISTS boardings_while_open ON boardings;",
        ] {
            assert!(drops.lines().any(|line| line == drop), "{drop}\n{drops}");
        }
    }
}
