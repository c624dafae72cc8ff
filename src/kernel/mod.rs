//! Shared by all domains; depends on none of them.

pub mod access;
pub mod address_hash;
pub mod audit;
pub mod caller;
pub mod clock;
pub mod confidential;
pub mod csv;
pub mod db;
pub mod email;
pub mod error;
pub mod html;
pub mod http;
pub mod idempotency;
pub mod ids;
pub mod json;
pub mod lang;
pub mod log;
pub mod mail;
pub mod metrics;
pub mod money;
pub mod outbox;
pub mod patch;
pub mod pdf;
pub mod personal;
pub mod phone;
pub mod private;
pub mod response_cache;
pub mod schema;
pub mod seal;
pub mod secret;
pub mod set_aside;
pub mod storage;
pub mod string_enum;
pub mod supervisor;
pub mod text;

pub use error::{Error, Result};
