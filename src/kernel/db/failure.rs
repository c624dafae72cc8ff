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
    /// Everything else is a fault of ours.
    Fault,
}

#[derive(Debug, Clone)]
pub struct Failure {
    kind: Kind,
    cause: String,
}

impl Failure {
    pub(super) fn unavailable(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Unavailable, cause: cause.to_string() }
    }

    pub(super) fn fault(cause: impl fmt::Display) -> Self {
        Self { kind: Kind::Fault, cause: cause.to_string() }
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
        Self { kind, cause: error.to_string() }
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
        Self { kind, cause: error.to_string() }
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
