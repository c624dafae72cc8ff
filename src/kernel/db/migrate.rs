//! Bringing the schema up to date, once, whoever starts first.

use sqlx::{ConnectOptions, Connection, migrate::Migrator};

use super::{Db, Engine, Failure, Result};

/// One text for both engines, and for each the few statements that the other does not know.
static COMMON: Migrator = sqlx::migrate!();
static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

fn with(own: &Migrator) -> Migrator {
    Migrator::with_migrations(COMMON.iter().chain(own.iter()).cloned().collect())
}

impl Db {
    /// On PostgreSQL the migrator holds an advisory lock, so processes that start together wait
    /// for the first.
    pub async fn migrate(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { lane, .. } => lane.migrate(&with(&SQLITE)).await,
            Engine::Postgres(pool) => {
                let patient = pool
                    .options()
                    .clone()
                    .options([("statement_timeout", "0"), ("lock_timeout", "0")]);
                let mut conn = patient.connect().await?;
                with(&POSTGRES).run(&mut conn).await.map_err(Failure::fault)?;
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
