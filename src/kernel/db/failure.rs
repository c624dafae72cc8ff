//! Failures of the database, classified by what a caller can do about them.

use std::{error::Error, fmt, io};

use rusqlite::ffi::{
    SQLITE_BUSY, SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY,
    SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_TRIGGER, SQLITE_CONSTRAINT_UNIQUE, SQLITE_FULL,
    SQLITE_IOERR,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A unique value was taken already.
    Unique,
    /// The referenced row does not exist, or the row is still referenced.
    ForeignKey,
    /// A CHECK constraint refused the row.
    Check,
    /// An exclusion constraint (on SQLite: a trigger) refused the row.
    Exclusion,
    /// Conflict with another transaction; a retry may succeed.
    Contention,
    /// The database cannot be reached or is too busy.
    Unavailable,
    /// It is not known whether it was done: no answer to a COMMIT arrived.
    Unknown,
    /// Everything else: a bug.
    Fault,
}

#[derive(Debug, Clone)]
pub struct Failure {
    kind: Kind,
    cause: String,
    /// No answer arrived: the work may have been done, or may still be.
    unanswered: bool,
}

impl Failure {
    pub(super) fn unavailable(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Unavailable, cause: cause.to_string(), unanswered: false }
    }

    /// The same failure before anything was sent: the outcome is known.
    pub(super) fn before_sending(self) -> Self {
        Self { kind: Kind::Unavailable, unanswered: false, ..self }
    }

    /// What failed, without the prefix of the display.
    pub(super) fn cause(&self) -> &str {
        &self.cause
    }

    /// The statement may have been sent, and no answer arrived.
    pub(super) fn unanswered(cause: impl fmt::Display) -> Self {
        Self { unanswered: true, ..Self::unavailable(cause) }
    }

    pub(super) fn fault(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Fault, cause: cause.to_string(), unanswered: false }
    }

    /// As a failure of a commit. Without an answer its outcome is unknown; an error that the
    /// database reports means that it was rolled back.
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

    /// Whether the constraint of this name refused it.
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

    /// Whether PostgreSQL has cancelled the statement because it took too long.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cause.ends_with("(57014)")
    }

    /// Whether it may have been done. A retry may do it twice.
    pub fn is_unknown(&self) -> bool {
        self.kind == Kind::Unknown
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database: {}", self.cause)
    }
}

impl Error for Failure {}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let lost = is_lost(&error);
        match error.as_db_error() {
            // Its detail and hint may contain values.
            Some(db) => Self {
                kind: postgres_kind(db.code().code()),
                cause: format!("{} ({})", db.message(), db.code().code()),
                unanswered: lost,
            },
            None => {
                let kind = if lost { Kind::Unavailable } else { Kind::Fault };
                let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
                Self { kind, cause: format!("{error}{source}"), unanswered: lost }
            }
        }
    }
}

/// Whether the connection was lost. A server that ends one may do so after the commit.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => is_lost_code(code.code()),
        None => error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>()),
    }
}

fn is_lost_code(code: &str) -> bool {
    ["08", "57P", "40003"].iter().any(|lost| code.starts_with(lost))
}

fn postgres_kind(code: &str) -> Kind {
    match code {
        "23505" => Kind::Unique,
        "23503" => Kind::ForeignKey,
        "23514" => Kind::Check,
        "23P01" => Kind::Exclusion,
        "40001" | "40P01" => Kind::Contention,
        // Statement and lock timeouts, read-only standby.
        "57014" | "55P03" | "25006" => Kind::Unavailable,
        // Lost connection, out of resources, shutting down.
        _ if ["08", "53", "57"].contains(&&code[..2]) => Kind::Unavailable,
        _ => Kind::Fault,
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match error.sqlite_error().map_or(0, |error| error.extended_code) {
            SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY => Kind::Unique,
            SQLITE_CONSTRAINT_FOREIGNKEY => Kind::ForeignKey,
            SQLITE_CONSTRAINT_CHECK => Kind::Check,
            // Triggers refuse what PostgreSQL refuses by exclusion.
            SQLITE_CONSTRAINT_TRIGGER => Kind::Exclusion,
            // The low byte is the class.
            code => match code & 0xff {
                SQLITE_BUSY | SQLITE_IOERR | SQLITE_FULL => Kind::Unavailable,
                _ => Kind::Fault,
            },
        };
        // SQLite runs in this process: it always answers.
        Self { kind, cause: error.to_string(), unanswered: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_without_an_answer_is_unknown() {
        let lost = || Failure::unanswered("connection reset");
        assert!(lost().is_unavailable() && !lost().is_unknown());
        let commit = lost().of_commit();
        assert!(commit.is_unknown() && !commit.is_unavailable() && !commit.is_contention());
        assert!(Failure::unavailable("too many wait").of_commit().is_unavailable());
        for (code, lost) in [("57P01", true), ("08006", true), ("40003", true), ("40001", false)] {
            assert_eq!(is_lost_code(code), lost, "{code}");
        }
    }

    #[test]
    fn what_sqlite_refuses_is_known() {
        for code in [SQLITE_BUSY, SQLITE_FULL] {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            assert!(Failure::from(error).of_commit().is_unavailable());
        }
    }
}
