//! Bringing the schema up to date, once, whoever starts first.

use sqlx::{ConnectOptions, Connection, migrate::Migrator};

use super::{Db, Engine, Failure, Result};

static MIGRATIONS: Migrator = sqlx::migrate!();

impl Db {
    /// On PostgreSQL the migrator holds an advisory lock, so processes that start together wait
    /// for the first.
    pub async fn migrate(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { lane, .. } => lane.migrate(&MIGRATIONS).await,
            Engine::Postgres(pool) => {
                let patient = (*pool.connect_options())
                    .clone()
                    .options([("statement_timeout", "0"), ("lock_timeout", "0")]);
                let mut conn = patient.connect().await?;
                MIGRATIONS.run(&mut conn).await.map_err(Failure::fault)?;
                Ok(conn.close().await?)
            }
        }
    }
}
