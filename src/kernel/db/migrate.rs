//! Bringing the schema up to date, once, whoever starts first.

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection,
    migrate::{MigrateError, Migrator},
    raw_sql,
};

use super::{Db, Engine, Failure, Result};

/// One text for both engines, and for each the few statements that the other does not know.
static COMMON: Migrator = sqlx::migrate!();
static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

fn with(own: &Migrator) -> Migrator {
    Migrator::with_migrations(COMMON.iter().chain(own.iter()).cloned().collect())
}

/// For a while the last column of migration 18 came by one of its own, 22. A database of then has all
/// that it should have, and calls it otherwise; 22 is never used again.
fn is_parted(done: &std::result::Result<(), MigrateError>) -> bool {
    matches!(done, Err(MigrateError::VersionMissing(22)))
}

fn joined(migrator: &Migrator, blob: impl Fn(&str) -> String) -> AssertSqlSafe<String> {
    let whole = migrator.iter().find(|migration| migration.version == 18);
    let sum: String =
        whole.iter().flat_map(|m| m.checksum.iter()).map(|byte| format!("{byte:02x}")).collect();
    AssertSqlSafe(format!(
        "UPDATE _sqlx_migrations SET checksum = {} WHERE version = 18;
         DELETE FROM _sqlx_migrations WHERE version = 22",
        blob(&sum)
    ))
}

pub(super) async fn sqlite(conn: &mut SqliteConnection) -> Result<()> {
    let migrator = with(&SQLITE);
    let mut done = migrator.run(&mut *conn).await;
    if is_parted(&done) {
        raw_sql(joined(&migrator, |sum| format!("x'{sum}'"))).execute(&mut *conn).await?;
        done = migrator.run(conn).await;
    }
    done.map_err(Failure::fault)
}

async fn postgres(conn: &mut PgConnection) -> Result<()> {
    let migrator = with(&POSTGRES);
    let mut done = migrator.run(&mut *conn).await;
    if is_parted(&done) {
        raw_sql(joined(&migrator, |sum| format!("'\\x{sum}'"))).execute(&mut *conn).await?;
        done = migrator.run(conn).await;
    }
    done.map_err(Failure::fault)
}

impl Db {
    /// Whether it wants to be brought up to date.
    pub async fn is_behind(&self) -> Result<bool> {
        let own = match &self.engine {
            Engine::Sqlite { .. } => &SQLITE,
            Engine::Postgres(_) => &POSTGRES,
        };
        let applied: Vec<(i64,)> = self.sql("SELECT version FROM _sqlx_migrations").all().await?;
        let mut all = COMMON.iter().chain(own.iter());
        Ok(all.any(|migration| !applied.contains(&(migration.version,))))
    }

    /// On PostgreSQL the migrator holds an advisory lock, so processes that start together wait
    /// for the first.
    pub async fn migrate(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { lane, .. } => lane.migrate().await,
            Engine::Postgres(pool) => {
                let patient = pool
                    .options()
                    .clone()
                    .options([("statement_timeout", "0"), ("lock_timeout", "0")]);
                let mut conn = patient.connect().await?;
                postgres(&mut conn).await?;
                Ok(conn.close().await?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that has run a migration refuses to start once its text is another.
    #[test]
    fn what_has_run_does_not_change() {
        let mut all = String::new();
        for (folder, migrator) in [("", &COMMON), ("sqlite/", &SQLITE), ("postgres/", &POSTGRES)] {
            for migration in migrator.iter() {
                let sum: String =
                    migration.checksum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                all += &format!("{folder}{:04} {sum}\n", migration.version);
            }
        }
        let known = include_str!("../../../migrations/known");
        assert_eq!(
            all, known,
            "new ones are added to migrations/known; old ones stay as they were"
        );
    }
}
