//! HTTP extractors that validate input, and the envelope of responses.

mod answer;
mod file;
mod input;
mod once;
mod paging;

pub use answer::{Answer, ErrorEnvelope, Page, Paged, Reply, Shows};
pub use file::{File, FileOr, Kinds, accepted};
pub use input::{
    Body, Filters, Fingerprinted, IdempotencyKey, MAX_BODY, MAX_UPLOAD, OptionalBody, Path, Query,
    decode, unreadable,
};
pub use once::{Once, once};
pub use paging::{Direction, Paging};
