//! HTTP extractors that validate input, and the envelope of responses.

mod answer;
mod cache_tags;
mod envelope;
pub mod export;
mod file;
mod input;
mod once;
mod paging;
mod rendered;
mod shared_body;

pub use answer::{Answer, ErrorEnvelope, Page, Paged, RenderedPage, Reply};
pub use cache_tags::{CacheTag, CacheTags};
pub use envelope::{Complete, CompressOnce, REQUEST_ID, render};
pub use export::{ListFormat, PageOrCsv};
pub use file::{File, FileOr, Kinds, accepted};
pub use input::{
    Body, Filters, Fingerprinted, IdempotencyKey, MAX_BODY, MAX_UPLOAD, OptionalBody, Path,
    PathParams, Query, decode, unreadable,
};
pub use once::{Once, once, once_amended};
pub use paging::{Direction, Pages, Paging};
pub use rendered::Rendered;
pub use shared_body::{MIN_COMPRESSED, SharedBody, accepts_gzip};
