//! SQLite called on the thread that wants something of it, where sqlx would hand each statement to a
//! thread of the connection's own and each row back.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, Statement};

use super::{Failure, Plain, Result};

/// What every connection to SQLite is set to.
pub(super) const SETTINGS: [(&str, &str); 5] = [
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("foreign_keys", "on"),
    ("journal_size_limit", "67108864"),
    // A larger log is folded into the file less often, and each page fewer times; too large a one
    // makes everybody wait when its time has come.
    ("wal_autocheckpoint", "2000"),
];
/// 8 MB of what those who write have read.
pub(super) const WRITERS: [(&str, &str); 1] = [("cache_size", "-8192")];
/// Whoever tries to write fails at once instead of fighting the writer for the lock; sorting stays
/// in memory. Each reader keeps 2 MB of what it has read.
pub(super) const READERS: [(&str, &str); 3] =
    [("query_only", "on"), ("temp_store", "memory"), ("cache_size", "-2000")];

pub(super) const BUSY: Duration = Duration::from_secs(5);
/// What takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_secs(1);
/// So many statements stay prepared.
pub(super) const PREPARED: usize = 100;

/// Whatever hinders it may be over in a moment.
pub(super) fn open(file: &Path, more: &[(&str, &str)]) -> Result<Connection> {
    connect(file, more).map_err(Failure::unavailable)
}

fn connect(file: &Path, more: &[(&str, &str)]) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags)?;
    conn.busy_timeout(BUSY)?;
    for (name, value) in SETTINGS.iter().chain(more) {
        conn.execute_batch(&format!("PRAGMA {name} = {value}"))?;
    }
    conn.set_prepared_statement_cache_capacity(PREPARED);
    Ok(conn)
}

/// What is asked for, or written, with its values.
pub(super) struct Question {
    pub text: sqlx::SqlStr,
    pub values: Vec<Plain>,
    /// Whether it is worth being kept prepared.
    pub lasting: bool,
    pub length: Length,
}

/// How long a question may take, as far as whoever asks knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Most likely next to no time.
    Short,
    /// A list or a report, which grows with the data.
    Long,
    /// One that counts all of a table: SQLite does that in one step, which cannot be interrupted.
    Whole,
}

impl Question {
    /// Prepares it, with its values, and does something with it.
    pub fn with<T>(
        &self,
        conn: &Connection,
        work: impl FnOnce(&mut Statement) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let started = Instant::now();
        let text = self.text.as_str();
        let done = match self.lasting {
            true => self.bound(&mut *conn.prepare_cached(text)?, work),
            false => self.bound(&mut conn.prepare(text)?, work),
        };
        let elapsed = started.elapsed();
        if elapsed > SLOW {
            tracing::warn!(?elapsed, "slow statement: {text}");
        }
        done
    }

    fn bound<T>(
        &self,
        statement: &mut Statement,
        work: impl FnOnce(&mut Statement) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        for place in 1..=statement.parameter_count() {
            // `$7` is a name to SQLite, `?` has none.
            let name = statement.parameter_name(place).and_then(|name| name[1..].parse().ok());
            statement.raw_bind_parameter(place, self.values.get(name.unwrap_or(place) - 1))?;
        }
        work(statement)
    }
}
