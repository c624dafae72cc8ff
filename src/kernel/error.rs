//! Every way a request can end other than well, and the one mapping to status and words.

use std::{any::Any, borrow::Cow, fmt};

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    db,
    lang::{Lang, Text, text},
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub enum Error {
    Malformed(Text),
    Unauthenticated,
    InvalidCredentials,
    InvalidToken,
    Forbidden,
    AccountSuspended,
    AccountInactive,
    NotFound,
    MethodNotAllowed,
    Timeout,
    TooLarge,
    UnsupportedMediaType,
    Conflict(Box<Conflict>),
    Invalid(Vec<Fault>),
    TooManyRequests {
        retry_after: u64,
    },
    /// Another transaction got in the way: worth another try before anyone is told.
    Contention(String),
    Unavailable(String),
    /// A change that may have been made: the answer to its commit did not come. It is not worth
    /// another try, since that may make it twice.
    OutcomeUnknown(String),
    Internal(String),
}

/// Well-formed, but the state does not allow it.
#[derive(Debug)]
pub struct Conflict {
    pub word: &'static str,
    pub message: Text,
    pub data: Option<serde_json::Value>,
}

impl Error {
    pub fn conflict(word: &'static str, en: &'static str, id: &'static str) -> Self {
        Self::Conflict(Box::new(Conflict { word, message: text(en, id), data: None }))
    }

    pub fn email_taken() -> Self {
        Self::conflict(
            "email_taken",
            "This e-mail address is already in use.",
            "Alamat e-mail ini sudah digunakan.",
        )
    }

    pub fn invalid_state(en: &'static str, id: &'static str) -> Self {
        Self::conflict("invalid_state", en, id)
    }

    /// A single field fault found in code.
    pub fn field(field: &str, rule: &'static str, message: Text) -> Self {
        Self::Invalid(vec![Fault { field: field.into(), rule: rule.into(), message }])
    }

    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::Internal(cause.to_string())
    }

    /// What a panic becomes where it is caught.
    pub fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let why = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Self::Internal(format!("panic: {why}"))
    }

    /// Whether the same work may succeed when it is tried again, with nothing changed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Contention(_) | Self::Unavailable(_))
    }

    /// Status, the word for programs, the sentence for people.
    pub fn describe(&self) -> (StatusCode, &'static str, Text) {
        use StatusCode as S;
        let (status, word, en, id) = match self {
            Self::Malformed(why) => return (S::BAD_REQUEST, "malformed_request", why.clone()),
            Self::Conflict(c) => return (S::CONFLICT, c.word, c.message.clone()),
            Self::Unauthenticated => (
                S::UNAUTHORIZED,
                "unauthenticated",
                "Please sign in.",
                "Silakan masuk terlebih dahulu.",
            ),
            Self::InvalidCredentials => (
                S::UNAUTHORIZED,
                "invalid_credentials",
                "E-mail, password or role is wrong.",
                "E-mail, kata sandi, atau peran salah.",
            ),
            Self::InvalidToken => (
                S::UNAUTHORIZED,
                "invalid_token",
                "This token is unknown, used or expired.",
                "Token ini tidak dikenal, sudah dipakai, atau kedaluwarsa.",
            ),
            Self::Forbidden => (
                S::FORBIDDEN,
                "forbidden",
                "You may not do this.",
                "Anda tidak berhak melakukan ini.",
            ),
            Self::AccountSuspended => (
                S::FORBIDDEN,
                "account_suspended",
                "This account is suspended.",
                "Akun ini ditangguhkan.",
            ),
            Self::AccountInactive => (
                S::FORBIDDEN,
                "account_inactive",
                "This account is not active.",
                "Akun ini tidak aktif.",
            ),
            Self::NotFound => (S::NOT_FOUND, "not_found", "Not found.", "Tidak ditemukan."),
            Self::MethodNotAllowed => (
                S::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                "This address does not take that method.",
                "Alamat ini tidak menerima metode tersebut.",
            ),
            Self::Timeout => (
                S::REQUEST_TIMEOUT,
                "request_timeout",
                "The request took too long to arrive.",
                "Permintaan terlalu lama diterima.",
            ),
            Self::TooLarge => (
                S::PAYLOAD_TOO_LARGE,
                "payload_too_large",
                "The request is too large.",
                "Permintaan terlalu besar.",
            ),
            Self::UnsupportedMediaType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "Send the body as application/json.",
                "Kirim isi permintaan sebagai application/json.",
            ),
            Self::Invalid(_) => (
                S::UNPROCESSABLE_ENTITY,
                "validation_failed",
                "Some fields are not right.",
                "Beberapa isian belum benar.",
            ),
            Self::TooManyRequests { .. } => (
                S::TOO_MANY_REQUESTS,
                "too_many_requests",
                "Too many requests. Please wait a moment.",
                "Terlalu banyak permintaan. Mohon tunggu sebentar.",
            ),
            Self::Contention(_) | Self::Unavailable(_) => (
                S::SERVICE_UNAVAILABLE,
                "unavailable",
                "The service is busy. Please try again in a moment.",
                "Layanan sedang sibuk. Silakan coba lagi sebentar.",
            ),
            Self::OutcomeUnknown(_) => (
                S::SERVICE_UNAVAILABLE,
                "outcome_unknown",
                "It is not known whether this was done. Please check before you try again, or \
                 repeat the request with the same Idempotency-Key.",
                "Belum diketahui apakah permintaan ini berhasil. Mohon periksa sebelum mencoba \
                 lagi, atau ulangi dengan Idempotency-Key yang sama.",
            ),
            Self::Internal(_) => (
                S::INTERNAL_SERVER_ERROR,
                "internal",
                "Something went wrong on our side.",
                "Terjadi kesalahan di pihak kami.",
            ),
        };
        (status, word, text(en, id))
    }

    /// What the log keeps and the caller never sees.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Contention(cause)
            | Self::Unavailable(cause)
            | Self::OutcomeUnknown(cause)
            | Self::Internal(cause) => Some(cause),
            _ => None,
        }
    }
}

impl From<db::Failure> for Error {
    fn from(failure: db::Failure) -> Self {
        match failure {
            f if f.is_contention() => Self::Contention(f.to_string()),
            f if f.is_unknown() => Self::OutcomeUnknown(f.to_string()),
            f if f.is_unavailable() => Self::Unavailable(f.to_string()),
            f => Self::Internal(f.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, word, message) = self.describe();
        match self.cause() {
            Some(cause) => write!(f, "{word}: {cause}"),
            None => write!(f, "{word}: {}", message.say(Lang::En)),
        }
    }
}

impl std::error::Error for Error {}

/// One field that is not right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub field: String,
    pub rule: Cow<'static, str>,
    pub message: Text,
}

impl Fault {
    pub fn new(field: impl Into<String>, rule: &'static str, message: Text) -> Self {
        Self { field: field.into(), rule: rule.into(), message }
    }

    pub fn say(&self, lang: Lang) -> SpokenFault<'_> {
        SpokenFault { field: &self.field, rule: &self.rule, message: self.message.say(lang) }
    }
}

/// A fault as the caller reads it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct SpokenFault<'a> {
    /// Where, as `passengers[1].name`.
    field: &'a str,
    /// What, as a stable word.
    rule: &'a str,
    message: &'a str,
}
