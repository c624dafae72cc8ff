//! Per-process cache of data that several different responses are made of (ADR 15). An entry has the
//! lifetime of a response, and changes invalidate it by the same tags.

use std::{hash::Hash, ops::Deref, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use super::{
    clock::Clock,
    error::Result,
    http::CacheTags,
    response_cache::{CLOCK_TOLERANCE, Generation, ResponseCache},
};

/// Above this weight entries are evicted, the least used first.
const BUDGET: u64 = 6 * 1024 * 1024;
/// Parts of the cache with a lock and an equal share of the budget each. Data that are larger than a
/// share are not kept.
const SHARDS: usize = 4;
/// About how many entries fit into the budget.
const EXPECTED_ENTRIES: usize = 1_024;
/// About what an entry takes besides its value.
const ENTRY_OVERHEAD: usize = 256;

pub struct ReadCache<K, V> {
    entries: Cache<K, Arc<Kept<V>>, ByBytes>,
    /// `None`: that of a response.
    lifetime: Option<TimeDelta>,
}

/// Data that were read from the database. They are right until `depends_on.until`, unless one of its
/// tags changes.
pub struct Kept<V> {
    value: V,
    pub depends_on: CacheTags,
    /// The generation in which the read began.
    generation: Generation,
    read_at: DateTime<Utc>,
    bytes: usize,
}

impl<V> Deref for Kept<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K: Hash + Eq, V> Default for ReadCache<K, V> {
    fn default() -> Self {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(EXPECTED_ENTRIES)
            .weight_capacity(BUDGET)
            .build()
            .expect("both capacities are set");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        let entries = Cache::with_options(options, ByBytes, hasher, lifecycle);
        Self { entries, lifetime: None }
    }
}

impl<K: Hash + Eq, V> ReadCache<K, V> {
    /// For data that other processes change rarely.
    pub fn with_lifetime(lifetime: TimeDelta) -> Self {
        Self { lifetime: Some(lifetime), ..Self::default() }
    }

    /// Removes everything.
    pub fn clear(&self) {
        self.entries.clear();
    }

    /// The data of the key, if they are kept and still right.
    pub fn get(&self, responses: &ResponseCache, clock: &Clock, key: &K) -> Option<Arc<Kept<V>>> {
        let now = clock.now();
        self.entries.get(key).filter(|kept| {
            kept.depends_on.until.is_some_and(|until| now < until)
                && now >= kept.read_at - CLOCK_TOLERANCE
                && responses.none_since(kept.generation, &kept.depends_on)
        })
    }

    /// The data of the key as of now, by `read` unless they are kept. It returns them with what they
    /// depend on and about how many bytes they take.
    pub async fn get_or_read(
        &self,
        responses: &ResponseCache,
        clock: &Clock,
        key: K,
        read: impl AsyncFnOnce() -> Result<(V, CacheTags, usize)>,
    ) -> Result<Arc<Kept<V>>> {
        self.get_current_or_read(responses, clock, key, |_| true, read).await
    }

    /// The same; kept data are read again unless they are current.
    pub async fn get_current_or_read(
        &self,
        responses: &ResponseCache,
        clock: &Clock,
        key: K,
        is_current: impl Fn(&V) -> bool,
        read: impl AsyncFnOnce() -> Result<(V, CacheTags, usize)>,
    ) -> Result<Arc<Kept<V>>> {
        let generation = responses.generation();
        if let Some(kept) = self.get(responses, clock, &key).filter(|kept| is_current(kept)) {
            return Ok(kept);
        }
        let now = clock.now();
        let (value, mut depends_on, bytes) = read().await?;
        let end = now + self.lifetime.unwrap_or_else(|| responses.lifetime_of_entry());
        depends_on.until = Some(depends_on.until.map_or(end, |until| until.min(end)));
        let kept = Arc::new(Kept { value, depends_on, generation, read_at: now, bytes });
        self.entries.insert(key, kept.clone());
        Ok(kept)
    }
}

#[derive(Clone)]
struct ByBytes;

impl<K, V> Weighter<K, Arc<Kept<V>>> for ByBytes {
    fn weight(&self, _: &K, kept: &Arc<Kept<V>>) -> u64 {
        (kept.bytes + ENTRY_OVERHEAD) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::http::CacheTag;

    struct Shelf {
        responses: ResponseCache,
        reads: ReadCache<&'static str, u32>,
        clock: Clock,
    }

    impl Shelf {
        fn new() -> Self {
            let clock = Clock::manual("2026-11-15T03:00:00Z".parse().unwrap());
            Self { responses: ResponseCache::new(true), reads: ReadCache::default(), clock }
        }

        /// Gets the key, which is also its tag. `true` if it was read.
        async fn is_read(&self, key: &'static str, bytes: usize) -> bool {
            let mut is_read = false;
            let read = async || {
                is_read = true;
                let tags = vec![CacheTag::new("trip", key)];
                Ok((7, CacheTags { tags, until: None }, bytes))
            };
            let kept = self.reads.get_or_read(&self.responses, &self.clock, key, read).await;
            assert_eq!(**kept.unwrap(), 7);
            is_read
        }
    }

    #[tokio::test]
    async fn data_are_kept_until_their_tag_changes_or_their_time_is_over() {
        let shelf = Shelf::new();
        assert!(shelf.is_read("a", 1).await && shelf.is_read("b", 1).await);
        assert!(!shelf.is_read("a", 1).await);
        drop(shelf.responses.invalidate_on_drop([CacheTag::new("trip", "a")]));
        assert!(shelf.is_read("a", 1).await && !shelf.is_read("b", 1).await);
        shelf.responses.invalidate_all();
        assert!(shelf.is_read("a", 1).await && !shelf.is_read("a", 1).await);
        shelf.clock.advance(TimeDelta::seconds(6));
        assert!(shelf.is_read("a", 1).await);
        // A clock that was set back.
        shelf.clock.advance(TimeDelta::seconds(-60));
        assert!(shelf.is_read("a", 1).await);
    }

    #[tokio::test]
    async fn data_that_change_while_they_are_read_are_read_again() {
        let shelf = Shelf::new();
        let read = async || {
            drop(shelf.responses.invalidate_on_drop([CacheTag::new("trip", "a")]));
            Ok((7, CacheTags { tags: vec![CacheTag::new("trip", "a")], until: None }, 1))
        };
        shelf.reads.get_or_read(&shelf.responses, &shelf.clock, "a", read).await.unwrap();
        assert!(shelf.is_read("a", 1).await && !shelf.is_read("a", 1).await);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let shelf = Shelf::new();
        assert!(shelf.is_read("large", BUDGET as usize).await);
        assert!(shelf.is_read("large", BUDGET as usize).await, "it was not kept");
        for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
            shelf.is_read(name, BUDGET as usize / SHARDS / 2).await;
        }
        assert!(shelf.reads.entries.weight() <= BUDGET);
    }
}
