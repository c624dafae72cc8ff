//! Errors of requests, and their mapping to HTTP status, error code and message.

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
    /// The password was right; a code of the second factor is missing.
    SecondFactorRequired,
    Forbidden,
    /// The operation needs a recent sign-in.
    ReauthenticationRequired,
    /// The account must set up a second factor first.
    SecondFactorEnrolmentRequired,
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
    /// Conflict with another transaction; the request is retried before the caller is told.
    Contention(String),
    Unavailable(String),
    /// The commit was not confirmed, so the change may have been made. Not retried, because that
    /// could apply it twice.
    OutcomeUnknown(String),
    Internal(String),
}

/// A valid request that conflicts with the current state (409).
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

    /// A validation error of one field.
    pub fn field(field: &str, rule: &'static str, message: Text) -> Self {
        Self::Invalid(vec![Fault { field: field.into(), rule: rule.into(), message }])
    }

    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::Internal(cause.to_string())
    }

    /// Converts a caught panic.
    pub fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let why = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Self::Internal(format!("panic: {why}"))
    }

    /// Whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Contention(_) | Self::Unavailable(_))
    }

    /// HTTP status, error code, message.
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
                "E-mail address, password or role is wrong.",
                "E-mail, kata sandi, atau peran salah.",
            ),
            Self::InvalidToken => (
                S::UNAUTHORIZED,
                "invalid_token",
                "This token is unknown, already used or expired.",
                "Token ini tidak dikenal, sudah dipakai, atau kedaluwarsa.",
            ),
            Self::SecondFactorRequired => (
                S::UNAUTHORIZED,
                "second_factor_required",
                "Enter the code of your authenticator app.",
                "Masukkan kode dari aplikasi autentikator Anda.",
            ),
            Self::ReauthenticationRequired => (
                S::FORBIDDEN,
                "reauthentication_required",
                "Please confirm your password first.",
                "Silakan konfirmasi kata sandi Anda terlebih dahulu.",
            ),
            Self::SecondFactorEnrolmentRequired => (
                S::FORBIDDEN,
                "second_factor_enrolment_required",
                "Set up two-factor authentication first.",
                "Aktifkan autentikasi dua faktor terlebih dahulu.",
            ),
            Self::Forbidden => (
                S::FORBIDDEN,
                "forbidden",
                "You are not allowed to do this.",
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
                "This path does not support this HTTP method.",
                "Alamat ini tidak mendukung metode tersebut.",
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
                "Some fields are not valid.",
                "Beberapa isian tidak valid.",
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
                "It is unknown whether the change was made. Check before you try again, or repeat \
                 the request with the same Idempotency-Key.",
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

    /// Internal cause, for the log only.
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

/// A violated rule of a field, in both languages.
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

/// A violated rule of a field.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct SpokenFault<'a> {
    /// Path of the field, such as `passengers[1].name`.
    field: &'a str,
    /// Stable code of the rule.
    rule: &'a str,
    message: &'a str,
}
