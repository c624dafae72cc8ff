//! Statements that are transactions of their own, on SQLite.
//!
//! They are the most frequent writes, and those who wait for one wait for all of its group: nothing
//! but SQLite takes time here.

use std::path::PathBuf;

use rusqlite::{Connection, ErrorCode, Statement};
use tokio::sync::oneshot;

use super::{
    Failure, Result,
    direct::{self, Question},
};

/// So many share one commit at most.
const TOGETHER: usize = 256;

/// A statement for the scribe.
pub(super) struct Note {
    pub statement: Question,
    pub done: oneshot::Sender<Result<u64>>,
}

pub(super) struct Scribe {
    file: PathBuf,
    /// Opened when it is wanted, and again after it was given up.
    conn: Option<Connection>,
    closed: bool,
}

impl Scribe {
    pub fn new(file: PathBuf) -> Self {
        Self { file, conn: None, closed: false }
    }

    /// Writes these, up to a point, and commits them together; whether anything was.
    pub fn write(&mut self, notes: impl Iterator<Item = Note>) -> bool {
        let mut notes = notes.take(TOGETHER);
        let conn = match self.begin() {
            Ok(conn) => conn,
            Err(why) => {
                // It would be the same for everyone who has come; whoever comes once the first are
                // told is tried anew.
                let come: Vec<_> = notes.collect();
                come.into_iter().for_each(|note| drop(note.done.send(Err(why.clone()))));
                return false;
            }
        };
        let mut members = Vec::new();
        let mut done = Ok(());
        while done.is_ok()
            && let Some(note) = notes.next()
        {
            // Whoever gave up was told that it failed, and may have asked again.
            if note.done.is_closed() {
                continue;
            }
            // It is undone by itself when a rule of the database refuses it, so it needs no savepoint.
            match note.statement.with(conn, |statement| changes(conn, statement)) {
                Ok(changed) => members.push((note.done, changed)),
                Err(error) => {
                    let refused = is_refusal(&error) && !conn.is_autocommit();
                    let failure = Failure::from(error);
                    if !refused {
                        done = Err(lost(&failure));
                    }
                    let _ = note.done.send(Err(failure));
                }
            }
        }
        if done.is_ok() && !members.is_empty() {
            done = conn.execute_batch("COMMIT").map_err(Failure::from);
        }
        self.finish();
        let written = done.is_ok() && !members.is_empty();
        for (member, changed) in members {
            let _ = member.send(done.clone().map(|()| changed));
        }
        written
    }

    fn begin(&mut self) -> Result<&Connection> {
        let conn = match self.conn.take() {
            _ if self.closed => return Err(Failure::unavailable("the database is closed")),
            Some(conn) => conn,
            None => direct::open(&self.file, &direct::WRITERS)?,
        };
        conn.execute_batch("BEGIN IMMEDIATE")?;
        Ok(self.conn.insert(conn))
    }

    /// Leaves nothing open. A connection that cannot even undo is given up, which undoes.
    fn finish(&mut self) {
        self.conn = self.conn.take().filter(|conn| {
            conn.is_autocommit() || conn.execute_batch("ROLLBACK").is_ok() || conn.is_autocommit()
        });
    }

    pub fn close(&mut self) {
        self.conn = None;
        self.closed = true;
    }
}

fn changes(conn: &Connection, statement: &mut Statement) -> rusqlite::Result<u64> {
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(conn.changes())
}

fn lost(why: &Failure) -> Failure {
    Failure::unavailable(format!("the transaction of the group was undone: {why}"))
}

/// Whether it was the statement's own fault, and undone with it: a rule of the database refused it,
/// or it could not be understood. After any other failure nobody knows what is left, and the group
/// ends; also when SQLite could not undo the statement alone and undid all.
fn is_refusal(error: &rusqlite::Error) -> bool {
    use ErrorCode::{ConstraintViolation, TooBig, TypeMismatch, Unknown};
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ConstraintViolation | TooBig | TypeMismatch | Unknown),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Db;

    #[tokio::test]
    async fn who_cannot_write_now_can_later() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let db = Db::open(file.to_str().unwrap()).await.unwrap();
        db.sql("CREATE TABLE things (n BIGINT CHECK (n < 10))").run().await.unwrap();
        let other = rusqlite::Connection::open(&file).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let put = |n: i64| db.sql("INSERT INTO things VALUES ($1)").bind(n).run();
        let (one, two) = tokio::join!(put(1), put(2));
        assert!(one.unwrap_err().is_unavailable() && two.unwrap_err().is_unavailable());
        drop(other);
        // Of one group, each has its own answer.
        let (one, ten, two) = tokio::join!(put(1), put(10), put(2));
        assert_eq!((one.unwrap(), two.unwrap()), (1, 1));
        assert!(ten.unwrap_err().is_check());
        let all = db.sql("SELECT n FROM things ORDER BY n").all::<(i64,)>().await.unwrap();
        assert_eq!(all, [(1,), (2,)]);
        db.close().await;
        assert!(db.sql("DELETE FROM things").run().await.unwrap_err().is_unavailable());
        assert!(!file.with_extension("db-wal").exists(), "the log is folded into the file");
    }
}
