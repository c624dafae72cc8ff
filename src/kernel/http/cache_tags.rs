//! What a cached response depends on.

use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};

/// Names data that responses depend on: a change of the data invalidates the responses with its tag.
/// A tag is a hash. Two names with one hash only cause a response to be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheTag(u64);

impl CacheTag {
    /// `kind` keeps names of different kinds apart.
    pub fn new(kind: &str, name: impl Hash) -> Self {
        // Not seeded: the same name has the same tag everywhere in the process.
        let mut hasher = DefaultHasher::new();
        (kind, name).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// When a response stops being right.
#[derive(Clone, Debug, Default)]
pub struct CacheTags {
    /// When data with one of these tags changes.
    pub tags: Vec<CacheTag>,
    /// At this time, although nothing changes.
    pub until: Option<DateTime<Utc>>,
}
