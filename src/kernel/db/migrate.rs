//! Bringing the schema up to date, once, whoever starts first.

use sha2::{Digest, Sha384};

use super::{Db, Failure, Result, Tx};

struct Migration {
    name: &'static str,
    text: &'static str,
}

impl Migration {
    fn version(&self) -> i64 {
        self.name[..4].parse().expect("the name of a migration begins with its number")
    }

    fn checksum(&self) -> Vec<u8> {
        Sha384::digest(self.text).to_vec()
    }
}

macro_rules! migrations {
    ($folder:literal: $($name:literal)+) => {
        &[$(Migration {
            name: $name,
            text: include_str!(concat!("../../../migrations/", $folder, $name, ".sql")),
        }),+]
    };
}

/// One text for both engines, and for each the few statements that the other does not know.
static COMMON: &[Migration] = migrations!("":
    "0001_kernel"
    "0002_accounts"
    "0003_staff"
    "0004_files"
    "0005_partners"
    "0006_fleet"
    "0008_bookings"
    "0010_settlements"
    "0012_reports"
    "0013_contents"
    "0015_notifications"
    "0017_webhooks"
    "0018_boarding"
    "0020_reschedules"
    "0023_sales_months"
    "0025_accounts_under_attack"
    "0026_set_aside"
    "0028_file_quota");

macro_rules! engine_migrations {
    ($folder:literal) => {
        migrations!($folder:
            "0007_one_place_at_a_time"
            "0009_seats_follow_bookings"
            "0011_bookings_tell_their_moves"
            "0014_published_terms_stay"
            "0016_bookings_announce_in_order"
            "0019_a_closed_manifest_stays"
            "0021_bookings_change_sailings"
            "0024_months_of_the_days_there_are"
            "0027_unpaid_holds")
    };
}

static SQLITE: &[Migration] = engine_migrations!("sqlite/");
static POSTGRES: &[Migration] = engine_migrations!("postgres/");

fn of_engine(sqlite: bool) -> Vec<&'static Migration> {
    let own = if sqlite { SQLITE } else { POSTGRES };
    let mut all: Vec<_> = COMMON.iter().chain(own).collect();
    all.sort_by_key(|migration| migration.version());
    all
}

impl Db {
    /// Whether it wants to be brought up to date.
    pub async fn is_behind(&self) -> Result<bool> {
        let applied: Vec<(i64,)> = self.sql("SELECT version FROM _sqlx_migrations").all().await?;
        let all = of_engine(self.engine() == "sqlite");
        Ok(all.iter().any(|migration| !applied.contains(&(migration.version(),))))
    }

    /// Each migration is a transaction. Processes that start together wait for the first.
    pub async fn migrate(&self) -> Result<()> {
        loop {
            let mut tx = self.begin_without_timeout().await?;
            let is_done = tx.apply_next().await?;
            tx.commit().await?;
            if is_done {
                return Ok(());
            }
        }
    }
}

impl Tx {
    /// Applies the first migration that is missing; whether there was none.
    async fn apply_next(&mut self) -> Result<bool> {
        if !self.is_sqlite() {
            let lock = "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(1684370029)";
            self.execute_script(lock).await?;
        }
        self.execute_script(
            "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
                 version BIGINT PRIMARY KEY,
                 description TEXT NOT NULL,
                 installed_on TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
                 success BOOLEAN NOT NULL,
                 checksum BYTEA NOT NULL,
                 execution_time BIGINT NOT NULL
             )",
        )
        .await?;
        let all = of_engine(self.is_sqlite());
        let applied: Vec<(i64, Vec<u8>)> =
            self.sql("SELECT version, checksum FROM _sqlx_migrations").all().await?;
        for (version, checksum) in &applied {
            let known = all.iter().find(|migration| migration.version() == *version);
            match known {
                Some(known) if known.checksum() == *checksum => {}
                _ if applied.iter().any(|(version, _)| *version == 22) => {
                    return self.join_parted(&all).await;
                }
                Some(known) => {
                    let why = format!("migration {} was applied with another text", known.name);
                    return Err(Failure::fault(why));
                }
                None => {
                    let why = format!("migration {version} was applied and is not known");
                    return Err(Failure::fault(why));
                }
            }
        }
        let is_applied = |version| applied.iter().any(|(applied, _)| *applied == version);
        let Some(next) = all.iter().find(|migration| !is_applied(migration.version())) else {
            return Ok(true);
        };
        self.execute_script(next.text).await?;
        self.sql(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES ($1, $2, TRUE, $3, 0)",
        )
        .bind(next.version())
        .bind(next.name[5..].replace('_', " "))
        .bind(next.checksum())
        .run()
        .await?;
        Ok(false)
    }

    /// For a while the last column of migration 18 came by one of its own, 22. A database of then
    /// has all that it should have under other numbers; 22 is never used again.
    async fn join_parted(&mut self, all: &[&Migration]) -> Result<bool> {
        let whole = all.iter().find(|migration| migration.version() == 18);
        self.sql("UPDATE _sqlx_migrations SET checksum = $1 WHERE version = 18")
            .bind(whole.map(|migration| migration.checksum()))
            .run()
            .await?;
        self.sql("DELETE FROM _sqlx_migrations WHERE version = 22").run().await?;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that has run a migration refuses to start once its text is another.
    #[test]
    fn what_has_run_does_not_change() {
        let mut all = String::new();
        for (folder, migrations) in [("", COMMON), ("sqlite/", SQLITE), ("postgres/", POSTGRES)] {
            for migration in migrations {
                let sum: String =
                    migration.checksum().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                all += &format!("{folder}{:04} {sum}\n", migration.version());
            }
        }
        let known = include_str!("../../../migrations/known");
        assert_eq!(
            all, known,
            "new ones are added to migrations/known; old ones stay as they were"
        );
    }
}
