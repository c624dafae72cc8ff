//! What can go wrong in the database, sorted by what a caller can do about it.

use std::fmt;

use rusqlite::ffi::{
    SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY,
    SQLITE_CONSTRAINT_UNIQUE,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A unique value was taken already.
    Unique,
    /// A row that is referred to does not exist, or one is still referred to.
    ForeignKey,
    /// A row that a check of the table does not allow.
    Check,
    /// A row that cannot be beside another.
    Exclusion,
    /// Another transaction got in the way; the same work may succeed when run again.
    Contention,
    /// The database cannot be reached or is too busy.
    Unavailable,
    /// Whether it was done is not known: the answer to a COMMIT did not come.
    Unknown,
    /// Everything else is a fault of ours.
    Fault,
}

#[derive(Debug, Clone)]
pub struct Failure {
    kind: Kind,
    cause: String,
    /// No answer came: what was asked for may have been done, or may still be.
    unanswered: bool,
}

impl Failure {
    pub(super) fn unavailable(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Unavailable, cause: cause.to_string(), unanswered: false }
    }

    /// The database may have been asked, and did not answer.
    pub(super) fn unanswered(cause: impl fmt::Display) -> Self {
        Self { unanswered: true, ..Self::unavailable(cause) }
    }

    pub(super) fn fault(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Fault, cause: cause.to_string(), unanswered: false }
    }

    /// As a failure of something that commits. Without an answer it is not known what became of it;
    /// an error that the database reports means that it was undone.
    pub(super) fn of_commit(self) -> Self {
        match self.unanswered {
            true => Self { kind: Kind::Unknown, ..self },
            false => self,
        }
    }

    pub fn is_unique(&self) -> bool {
        self.kind == Kind::Unique
    }

    pub fn is_foreign_key(&self) -> bool {
        self.kind == Kind::ForeignKey
    }

    pub fn is_check(&self) -> bool {
        self.kind == Kind::Check
    }

    /// Whether a rule of this name refused it.
    pub fn names(&self, rule: &str) -> bool {
        matches!(self.kind, Kind::Check | Kind::Exclusion) && self.cause.contains(rule)
    }

    pub fn is_exclusion(&self) -> bool {
        self.kind == Kind::Exclusion
    }

    pub fn is_contention(&self) -> bool {
        self.kind == Kind::Contention
    }

    pub fn is_unavailable(&self) -> bool {
        self.kind == Kind::Unavailable
    }

    /// Whether it may have been done all the same. Doing it again may do it twice.
    pub fn is_unknown(&self) -> bool {
        self.kind == Kind::Unknown
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database: {}", self.cause)
    }
}

impl std::error::Error for Failure {}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        let kind = match &error {
            sqlx::Error::Database(e) if e.is_unique_violation() => Kind::Unique,
            sqlx::Error::Database(e) if e.is_foreign_key_violation() => Kind::ForeignKey,
            sqlx::Error::Database(e) if e.is_check_violation() => Kind::Check,
            sqlx::Error::Database(e) => by_code(e.code().as_deref().unwrap_or_default()),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Kind::Unavailable,
            _ => Kind::Fault,
        };
        Self { kind, cause: error.to_string(), unanswered: is_lost(&error) }
    }
}

/// Whether the connection was lost. A server that ends one may do so after the commit.
fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            code.len() == 5 && ["08", "57P", "40003"].iter().any(|lost| code.starts_with(lost))
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error().map_or(0, |error| error.extended_code);
        let kind = match code {
            SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY => Kind::Unique,
            SQLITE_CONSTRAINT_FOREIGNKEY => Kind::ForeignKey,
            SQLITE_CONSTRAINT_CHECK => Kind::Check,
            code => by_code(&code.to_string()),
        };
        // SQLite runs in this process: it always answers.
        Self { kind, cause: error.to_string(), unanswered: false }
    }
}

/// PostgreSQL's codes have five characters, SQLite's are numbers of up to four digits whose low
/// byte is the class.
fn by_code(code: &str) -> Kind {
    const SQLITE_BUSY: u32 = 5;
    const SQLITE_IOERR: u32 = 10;
    const SQLITE_FULL: u32 = 13;
    // Triggers of ours refuse what PostgreSQL refuses by exclusion.
    const SQLITE_CONSTRAINT_TRIGGER: u32 = 1811;
    if code.len() < 5
        && let Ok(extended) = code.parse::<u32>()
    {
        return match extended & 0xff {
            _ if extended == SQLITE_CONSTRAINT_TRIGGER => Kind::Exclusion,
            SQLITE_BUSY | SQLITE_IOERR | SQLITE_FULL => Kind::Unavailable,
            _ => Kind::Fault,
        };
    }
    match code {
        "40001" | "40P01" => Kind::Contention,
        "23P01" => Kind::Exclusion,
        // Statement and lock timeouts, read-only standby.
        "57014" | "55P03" | "25006" => Kind::Unavailable,
        // Lost connection, out of resources, shutting down.
        _ if code.len() == 5 && ["08", "53", "57"].contains(&&code[..2]) => Kind::Unavailable,
        _ => Kind::Fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io() -> sqlx::Error {
        sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())
    }

    #[test]
    fn only_a_commit_without_an_answer_is_unknown() {
        let lost = Failure::from(io());
        assert!(lost.is_unavailable() && !lost.is_unknown());
        let commit = Failure::from(io()).of_commit();
        assert!(commit.is_unknown() && !commit.is_unavailable() && !commit.is_contention());
        let late = Failure::unanswered("late").of_commit();
        assert!(late.is_unknown());
        // Nothing was asked.
        for known in [sqlx::Error::PoolTimedOut, sqlx::Error::PoolClosed, sqlx::Error::RowNotFound]
        {
            assert!(!Failure::from(known).of_commit().is_unknown());
        }
        assert!(Failure::unavailable("too many wait").of_commit().is_unavailable());
    }

    #[test]
    fn what_sqlite_refuses_is_known() {
        for code in [rusqlite::ffi::SQLITE_BUSY, rusqlite::ffi::SQLITE_FULL] {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            assert!(Failure::from(error).of_commit().is_unavailable());
        }
    }
}
