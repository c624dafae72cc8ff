//! One connection to SQLite: how it is set up, and how a statement runs on it.

use std::{
    borrow::Cow,
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, Statement};

use super::{
    Failure, Result, SLOW, Value,
    row::{Decoded, Decoder, RowType, Source},
};
use crate::kernel::private;

const SETTINGS: [(&str, &str); 6] = [
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("foreign_keys", "on"),
    ("journal_size_limit", "67108864"),
    // In pages. A larger log is checkpointed less often, and writes each page fewer times. One that
    // is too large delays all commits while it is checkpointed.
    ("wal_autocheckpoint", "2000"),
    // Deleted content is overwritten with zeros. `fast` would leave it in free pages.
    ("secure_delete", "on"),
];
/// The writer caches 8 MB of pages.
pub(super) const WRITER: [(&str, &str); 1] = [("cache_size", "-8192")];
/// A reader that tries to write fails at once instead of competing with the writer for the lock.
/// It sorts in memory, and caches 2 MB of pages.
pub(super) const READER: [(&str, &str); 3] =
    [("query_only", "on"), ("temp_store", "memory"), ("cache_size", "-2000")];

/// How long a connection waits for a lock that another process holds.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How many statements stay prepared per connection.
const PREPARED: usize = 200;

pub(super) fn create(file: &Path) -> Result<()> {
    if let Some(folder) = file.parent() {
        private::folder(folder).map_err(Failure::unavailable)?;
    }
    // SQLite gives the files beside it (-wal, -shm, -journal) the mode of this one.
    private::ensure(file).map_err(Failure::unavailable)
}

/// All failures count as temporary.
pub(super) fn open(file: &Path, more: &[(&str, &str)]) -> Result<Connection> {
    let conn = connect(file).map_err(Failure::unavailable)?;
    for (name, value) in SETTINGS.iter().chain(more) {
        let pragma = format!("PRAGMA {name} = {value}");
        conn.execute_batch(&pragma).map_err(Failure::unavailable)?;
    }
    conn.set_prepared_statement_cache_capacity(PREPARED);
    Ok(conn)
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    Ok(conn)
}

/// Copies a consistent snapshot of a database file while others write to it.
pub async fn copy(from: &Path, to: &Path) -> Result<()> {
    // An empty file is taken for a new one.
    private::ensure(to).map_err(Failure::unavailable)?;
    let to = to.to_str().ok_or_else(|| Failure::fault("the path is not UTF-8"))?.to_owned();
    on_file(from, move |conn| conn.execute("VACUUM INTO ?", [to])).await.map(drop)
}

/// The faults that SQLite finds in a database file.
pub async fn faults(file: &Path) -> Result<Vec<String>> {
    on_file(file, |conn| {
        let mut check = conn.prepare("PRAGMA integrity_check")?;
        let lines = check.query_map([], |row| row.get(0))?;
        let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
        let mut faults: Vec<_> = lines.into_iter().filter(|line| line != "ok").collect();
        let mut check = conn.prepare("PRAGMA foreign_key_check")?;
        let orphans = check.query_map([], |_| Ok(()))?.count();
        if orphans > 0 {
            faults.push(format!("{orphans} rows refer to others that are not there"));
        }
        Ok(faults)
    })
    .await
}

async fn on_file<T: Send + 'static>(
    file: &Path,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T> {
    let file = file.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&connect(&file)?));
    Ok(done.await.map_err(Failure::fault)??)
}

/// A statement with its values.
pub(super) struct Query {
    pub text: Cow<'static, str>,
    pub values: Vec<Value<'static>>,
    /// Whether it stays prepared.
    pub cached: bool,
    pub length: Length,
}

/// The expected cost of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Most likely well below a millisecond.
    Short,
    /// A list or a report, which grows with the data.
    Long,
}

impl Query {
    /// The text, unless it was composed.
    pub fn static_text(&self) -> Option<&'static str> {
        match self.text {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }

    /// At most `most` rows. The inner result is that of decoding them.
    pub fn rows(
        &self,
        conn: &Connection,
        kind: RowType,
        most: usize,
    ) -> rusqlite::Result<Result<Decoded>> {
        self.prepared(conn, |statement| {
            let mut decoder = Decoder::new(kind, self.static_text());
            let mut rows = statement.raw_query();
            while decoder.count() < most
                && let Some(row) = rows.next()?
            {
                if let Err(failure) = decoder.add(Source::Sqlite(row)) {
                    return Ok(Err(failure));
                }
            }
            Ok(Ok(decoder.finish()))
        })
    }

    /// Runs it and returns the number of changed rows.
    pub fn execute(&self, conn: &Connection) -> rusqlite::Result<u64> {
        self.prepared(conn, |statement| {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(conn.changes())
        })
    }

    fn prepared<T>(
        &self,
        conn: &Connection,
        work: impl FnOnce(&mut Statement) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let started = Instant::now();
        let done = match self.cached {
            true => self.bound(&mut *conn.prepare_cached(&self.text)?, work),
            false => self.bound(&mut conn.prepare(&self.text)?, work),
        };
        let elapsed = started.elapsed();
        if elapsed > SLOW {
            tracing::warn!(?elapsed, "slow statement: {}", self.text);
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
