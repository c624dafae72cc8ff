//! A copy of an SQLite database that others go on writing to, and whether a copy is sound.

use std::path::Path;

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{Failure, Result};
use crate::kernel::private;

/// Copies the database of a file as it is at one moment. Nobody waits for it: the writer goes on
/// in its log.
pub async fn copy(from: &Path, to: &Path) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(from).create_if_missing(false);
    let mut source = SqliteConnection::connect_with(&options).await?;
    // An empty file is taken for a new one.
    private::ensure(to).map_err(Failure::unavailable)?;
    let to = to.to_str().ok_or_else(|| Failure::fault("the path is not readable text"))?;
    sqlx::query("VACUUM INTO ?").bind(to).execute(&mut source).await?;
    Ok(source.close().await?)
}

/// What is wrong with the database of a file, by its own word; nothing when it is sound.
pub async fn faults(file: &Path) -> Result<Vec<String>> {
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(false);
    let mut conn = SqliteConnection::connect_with(&options).await?;
    let said: Vec<(String,)> =
        sqlx::query_as("PRAGMA integrity_check").fetch_all(&mut conn).await?;
    let mut faults: Vec<_> =
        said.into_iter().map(|(line,)| line).filter(|line| line != "ok").collect();
    let orphans = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut conn).await?;
    if !orphans.is_empty() {
        faults.push(format!("{} rows refer to others that are not there", orphans.len()));
    }
    conn.close().await?;
    Ok(faults)
}
