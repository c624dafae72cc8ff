//! Per-process cache of responses that are the same for every caller (ADR 15).
//!
//! - Entries live up to 5 s where no other process changes the database, up to 1 s otherwise.
//! - Every entry has tags (`CacheTags`). A change invalidates its tags, or all entries.
//! - A response that was computed from data older than such a change is not used for later requests.
//! - Requests with the same key that arrive while it is computed wait for that one computation.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    body::Bytes,
    http::{HeaderValue, header::CONTENT_TYPE, request::Parts},
    response::Response,
};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::BoxFuture;
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use crate::kernel::{
    clock::Clock,
    http::{Answer, CacheTag, CacheTags},
    lang::Lang,
};

/// The lifetime of an entry beside other processes, which change data unnoticed.
const LIFETIME_BESIDE_OTHERS: TimeDelta = TimeDelta::seconds(1);
/// The lifetime of an entry where this process is the only one.
const LIFETIME_ALONE: TimeDelta = TimeDelta::seconds(5);
/// Above this weight entries are evicted, the least used first.
const BUDGET: usize = 8 * 1024 * 1024;
/// Parts of the cache with a lock and an equal share of the budget each. A response that is larger
/// than a share is not cached.
const SHARDS: usize = 8;
/// About how many entries fit into the budget.
const EXPECTED_ENTRIES: usize = 2_048;
/// Requests with a longer key are not cached.
const LONGEST_KEY: usize = 1_024;
/// About what an entry takes besides its key and its answer.
const ENTRY_OVERHEAD: usize = 512;
/// Requests that arrive together read the clock in any order: an entry is also valid for one that
/// has read it a moment earlier.
pub(super) const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(1);
/// The number of changed tags that are remembered, at least. The oldest half is forgotten together.
const TAG_HISTORY: usize = 20_000;

/// What was requested, byte by byte.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    operation: &'static str,
    lang: Lang,
    content_type: Option<Vec<u8>>,
    path: String,
    query: Option<String>,
    body: Bytes,
}

impl CacheKey {
    /// `None` when it is too long.
    pub fn new(operation: &'static str, lang: Lang, head: &Parts, body: &[u8]) -> Option<Self> {
        let (content_type, query) = (head.headers.get(CONTENT_TYPE), head.uri.query());
        let path = head.uri.path();
        let length = body.len()
            + path.len()
            + query.map_or(0, str::len)
            + content_type.map_or(0, HeaderValue::len);
        (length <= LONGEST_KEY).then(|| Self {
            operation,
            lang,
            content_type: content_type.map(|value| value.as_bytes().to_vec()),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            // A copy: the original may be part of a larger buffer.
            body: Bytes::copy_from_slice(body),
        })
    }

    fn bytes(&self) -> usize {
        let query = self.query.as_ref().map_or(0, String::len);
        self.body.len() + self.path.len() + query + self.content_type.as_ref().map_or(0, Vec::len)
    }
}

pub struct ResponseCache {
    lifetime: TimeDelta,
    entries: Cache<CacheKey, Arc<Entry>, EntryWeight>,
    changes: Changes,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The outcome of one computation. It is given to the requests that waited for it, and to later
/// ones while it is fresh.
struct Entry {
    /// `None` when the operation failed.
    answer: Option<Answer>,
    /// The generation in which the computation began.
    generation: Generation,
    /// By the application's clock.
    valid: Range<DateTime<Utc>>,
    /// Whether later requests may get it.
    is_kept: bool,
    /// About how much memory key and answer take.
    bytes: usize,
}

impl ResponseCache {
    /// `alone`: no other process changes the database.
    pub fn new(alone: bool) -> Self {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(EXPECTED_ENTRIES)
            .weight_capacity(BUDGET as u64)
            .build()
            .expect("both capacities are set");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self {
            lifetime: if alone { LIFETIME_ALONE } else { LIFETIME_BESIDE_OTHERS },
            entries: Cache::with_options(options, EntryWeight, hasher, lifecycle),
            changes: Changes::default(),
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
        }
    }

    /// How many requests got a cached or joined response, and how many were computed.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// The cached response, or a new one by `compute`. Of several requests with the same key one
    /// computes. If that one hangs up, another one does; if it fails, the others compute for
    /// themselves.
    pub async fn get_or_compute<'a>(
        &self,
        key: &CacheKey,
        clock: &Clock,
        compute: impl FnOnce() -> BoxFuture<'a, Response> + Send,
    ) -> Response {
        let (arrived, now) = (self.changes.generation(), clock.now());
        // The computation that a request has joined may be too old for it. The next one begins after
        // its arrival.
        for _ in 0..2 {
            if let Some(entry) = self.entries.get(key) {
                match &entry.answer {
                    Some(answer) if self.is_fresh(&entry, now) => return self.hit(answer),
                    _ => self.remove(key, &entry),
                }
            }
            match self.entries.get_value_or_guard_async(key).await {
                // No other request computes. If this one hangs up, the guard is given to another.
                Err(guard) => {
                    let (generation, at) = (self.changes.generation(), clock.now());
                    self.misses.fetch_add(1, Ordering::Relaxed);
                    let response = compute().await;
                    let entry = Arc::new(self.entry(key, &response, generation, at));
                    // Only `remove` removes, and only finished entries, so the guard's place is there.
                    let _ = guard.insert(entry.clone());
                    if !entry.is_kept {
                        // The requests that waited have it.
                        self.remove(key, &entry);
                    }
                    return response;
                }
                Ok(joined) => {
                    let Some(answer) = &joined.answer else { break };
                    if joined.generation >= arrived || self.is_fresh(&joined, now) {
                        return self.hit(answer);
                    }
                }
            }
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        compute().await
    }

    fn hit(&self, answer: &Answer) -> Response {
        self.hits.fetch_add(1, Ordering::Relaxed);
        answer.clone().ok()
    }

    /// Removes this entry, but not a newer one with its key.
    fn remove(&self, key: &CacheKey, entry: &Arc<Entry>) {
        self.entries.remove_if(key, |present| Arc::ptr_eq(present, entry));
    }

    fn entry(
        &self,
        key: &CacheKey,
        response: &Response,
        generation: Generation,
        at: DateTime<Utc>,
    ) -> Entry {
        let answer = response.extensions().get::<Answer>();
        let Some((answer, tags)) = answer.and_then(|answer| Some((answer, answer.cache_tags()?)))
        else {
            let (valid, bytes) = (at..at, key.bytes() + ENTRY_OVERHEAD);
            return Entry { answer: None, generation, valid, is_kept: false, bytes };
        };
        let end = at + self.lifetime_of_entry();
        let end = tags.until.map_or(end, |until| until.min(end));
        let bytes = key.bytes() + answer.bytes() + ENTRY_OVERHEAD;
        Entry {
            answer: Some(answer.clone()),
            generation,
            valid: at - CLOCK_TOLERANCE..end,
            is_kept: self.changes.none_since(generation, tags),
            bytes,
        }
    }

    fn is_fresh(&self, entry: &Entry, now: DateTime<Utc>) -> bool {
        let tags = entry.answer.as_ref().and_then(Answer::cache_tags);
        entry.is_kept
            && entry.valid.contains(&now)
            && tags.is_some_and(|tags| self.changes.none_since(entry.generation, tags))
    }

    /// Invalidates the entries with one of the tags when the guard is dropped. Create it before the
    /// commit and drop it afterwards: this also covers a caller that hangs up during the commit.
    pub fn invalidate_on_drop(&self, tags: impl Into<Vec<CacheTag>>) -> Invalidation<'_> {
        Invalidation { changes: &self.changes, scope: Some(Scope::Tags(tags.into())) }
    }

    /// The same for all entries.
    pub fn invalidate_all_on_drop(&self) -> Invalidation<'_> {
        Invalidation { changes: &self.changes, scope: Some(Scope::All) }
    }

    pub fn invalidate_all(&self) {
        self.changes.record(&Scope::All);
    }

    pub(super) fn generation(&self) -> Generation {
        self.changes.generation()
    }

    /// Whether nothing with these tags has changed after the generation.
    pub(super) fn none_since(&self, generation: Generation, tags: &CacheTags) -> bool {
        self.changes.none_since(generation, tags)
    }

    /// When something with one of these tags, or everything, has last changed in this process.
    pub fn last_change(&self, tags: &[CacheTag]) -> Option<Instant> {
        self.changes.last_change(tags)
    }

    pub(super) fn lifetime_of_entry(&self) -> TimeDelta {
        part_of(self.lifetime)
    }
}

/// At least three fifths: entries that are made together do not expire together.
fn part_of(lifetime: TimeDelta) -> TimeDelta {
    let most = lifetime.num_milliseconds();
    TimeDelta::milliseconds(rand::random_range(most * 3 / 5..=most))
}

#[derive(Clone)]
struct EntryWeight;

impl Weighter<CacheKey, Arc<Entry>> for EntryWeight {
    fn weight(&self, _: &CacheKey, entry: &Arc<Entry>) -> u64 {
        entry.bytes as u64
    }
}

enum Scope {
    All,
    Tags(Vec<CacheTag>),
}

/// Invalidates entries when it is dropped.
#[must_use]
pub struct Invalidation<'a> {
    changes: &'a Changes,
    scope: Option<Scope>,
}

impl Invalidation<'_> {
    /// Nothing was changed.
    pub fn cancel(mut self) {
        self.scope = None;
    }
}

impl Drop for Invalidation<'_> {
    fn drop(&mut self) {
        if let Some(scope) = &self.scope {
            self.changes.record(scope);
        }
    }
}

/// Counts changes. What was computed in a generation depends on no change after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u64);

/// Which tags have changed, and in which generation.
#[derive(Default)]
struct Changes {
    generation: AtomicU64,
    history: Mutex<History>,
}

/// Changed tags, in two parts: when `recent` is full it becomes `older`, whose tags are forgotten.
#[derive(Default)]
struct History {
    /// Of generations before this one, not all changes are known.
    known_since: u64,
    /// When everything has changed, or tags were forgotten.
    forgotten_at: Option<Instant>,
    older: HashMap<CacheTag, Change>,
    recent_since: u64,
    recent: HashMap<CacheTag, Change>,
}

#[derive(Clone, Copy)]
struct Change {
    generation: u64,
    at: Instant,
}

impl History {
    fn of(&self, tag: &CacheTag) -> Option<Change> {
        self.recent.get(tag).or_else(|| self.older.get(tag)).copied()
    }
}

impl Changes {
    fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::Acquire))
    }

    fn record(&self, scope: &Scope) {
        let mut history = self.history();
        // The lock orders writers; readers need the new generation no earlier than they can see its
        // tags.
        let (generation, at) = (self.generation.load(Ordering::Relaxed) + 1, Instant::now());
        match scope {
            Scope::All => {
                *history = History {
                    known_since: generation,
                    forgotten_at: Some(at),
                    recent_since: generation,
                    ..History::default()
                };
            }
            Scope::Tags(tags) => {
                if history.recent.len() + tags.len() > TAG_HISTORY {
                    history.known_since = history.recent_since;
                    history.forgotten_at = Some(at);
                    history.older = std::mem::take(&mut history.recent);
                    history.recent_since = generation - 1;
                }
                let change = Change { generation, at };
                history.recent.extend(tags.iter().map(|tag| (*tag, change)));
            }
        }
        self.generation.store(generation, Ordering::Release);
    }

    /// Whether nothing with these tags has changed after the generation.
    fn none_since(&self, generation: Generation, tags: &CacheTags) -> bool {
        if self.generation() == generation {
            return true;
        }
        let history = self.history();
        let changed =
            |tag: &CacheTag| history.of(tag).is_some_and(|last| last.generation > generation.0);
        generation.0 >= history.known_since && !tags.tags.iter().any(changed)
    }

    fn last_change(&self, tags: &[CacheTag]) -> Option<Instant> {
        let history = self.history();
        let changes = tags.iter().filter_map(|tag| Some(history.of(tag)?.at));
        changes.chain(history.forgotten_at).max()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        // No code that holds the lock panics.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::atomic::AtomicUsize};

    use axum::{extract::Request, response::IntoResponse};
    use futures_util::{FutureExt, future::join_all};
    use tokio::sync::Notify;

    use super::*;
    use crate::kernel::{
        db::Total,
        error::Error,
        http::{Page, Reply},
    };

    fn key(query: &str) -> CacheKey {
        let request = Request::get(format!("/?{query}")).body(()).unwrap();
        CacheKey::new("search", Lang::En, &request.into_parts().0, b"").unwrap()
    }

    const ONE: Total = Total { items: 1, is_minimum: false };

    fn clock() -> Clock {
        Clock::manual("2026-11-15T03:00:00Z".parse().unwrap())
    }

    fn tag(name: &str) -> CacheTag {
        CacheTag::new("trip", name)
    }

    fn tagged(name: &str) -> Response {
        let tags = CacheTags { tags: vec![tag(name)], until: None };
        Page::new(vec![name.to_owned()], 1, 20, ONE).tagged(tags).into_response()
    }

    /// Whether it was computed for this request.
    async fn is_computed(cache: &ResponseCache, key: &CacheKey, clock: &Clock) -> bool {
        let computed = AtomicUsize::new(0);
        let compute = async {
            computed.fetch_add(1, Ordering::Relaxed);
            tagged("a")
        };
        let response = cache.get_or_compute(key, clock, || compute.boxed()).await;
        assert_eq!(response.status(), 200);
        computed.load(Ordering::Relaxed) == 1
    }

    #[tokio::test]
    async fn a_change_invalidates_responses_with_its_tag() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        assert!(is_computed(&cache, &key, &clock).await);
        assert!(!is_computed(&cache, &key, &clock).await);
        drop(cache.invalidate_on_drop([tag("b")]));
        assert!(!is_computed(&cache, &key, &clock).await);
        cache.invalidate_on_drop([tag("a")]).cancel();
        assert!(!is_computed(&cache, &key, &clock).await);
        drop(cache.invalidate_on_drop([tag("b"), tag("a")]));
        assert!(is_computed(&cache, &key, &clock).await);
        assert!(!is_computed(&cache, &key, &clock).await);
        cache.invalidate_all();
        assert!(is_computed(&cache, &key, &clock).await);
    }

    #[tokio::test]
    async fn two_hundred_misses_are_one_computation() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        let (computed, go) = (AtomicUsize::new(0), Notify::new());
        let requests = (0..200).map(|_| {
            let compute = async {
                computed.fetch_add(1, Ordering::Relaxed);
                go.notified().await;
                tagged("a")
            };
            cache.get_or_compute(&key, &clock, || compute.boxed())
        });
        let (responses, ()) = tokio::join!(join_all(requests), async { go.notify_one() });
        assert!(responses.iter().all(|response| response.status() == 200));
        assert_eq!(computed.into_inner(), 1);
    }

    #[tokio::test]
    async fn a_request_that_hangs_up_leaves_its_computation_to_another() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        let mut leader = Box::pin(cache.get_or_compute(&key, &clock, || pending().boxed()));
        assert!((&mut leader).now_or_never().is_none());
        let mut waiter = Box::pin(is_computed(&cache, &key, &clock));
        assert!((&mut waiter).now_or_never().is_none());
        drop(leader);
        assert!(waiter.await);
    }

    #[tokio::test]
    async fn a_failure_is_not_cached_and_not_passed_on() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        let go = Notify::new();
        let fails = async {
            go.notified().await;
            Error::Unavailable("the database is away".into()).into_response()
        };
        let mut leader = Box::pin(cache.get_or_compute(&key, &clock, || fails.boxed()));
        assert!((&mut leader).now_or_never().is_none());
        let mut waiter = Box::pin(is_computed(&cache, &key, &clock));
        assert!((&mut waiter).now_or_never().is_none());
        go.notify_one();
        assert_eq!(leader.await.status(), 503);
        assert!(waiter.await);
        assert!(is_computed(&cache, &key, &clock).await, "nothing was cached");
    }

    #[tokio::test]
    async fn a_response_older_than_a_change_is_not_used_after_it() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        let go = Notify::new();
        let slow = async {
            go.notified().await;
            tagged("a")
        };
        let mut early = Box::pin(cache.get_or_compute(&key, &clock, || slow.boxed()));
        assert!((&mut early).now_or_never().is_none());
        drop(cache.invalidate_on_drop([tag("a")]));
        // It waits for the first computation, which began before the change, and then for its own.
        let mut late = Box::pin(is_computed(&cache, &key, &clock));
        assert!((&mut late).now_or_never().is_none());
        go.notify_one();
        assert_eq!(early.await.status(), 200);
        assert!(late.await);
        assert!(!is_computed(&cache, &key, &clock).await, "the second is cached");
    }

    #[tokio::test]
    async fn an_entry_ends_by_the_clock() {
        let (cache, key, clock) = (ResponseCache::new(true), key("a"), clock());
        assert!(is_computed(&cache, &key, &clock).await);
        clock.advance(LIFETIME_ALONE / 2);
        assert!(!is_computed(&cache, &key, &clock).await);
        clock.advance(LIFETIME_ALONE / 2);
        assert!(is_computed(&cache, &key, &clock).await);
        // A clock that was set back.
        clock.advance(TimeDelta::seconds(-60));
        assert!(is_computed(&cache, &key, &clock).await);
        let closes = async {
            let until = Some(clock.now() + TimeDelta::seconds(2));
            let tags = CacheTags { tags: Vec::new(), until };
            Page::new(vec![1], 1, 20, ONE).tagged(tags).into_response()
        };
        let other = self::key("b");
        cache.get_or_compute(&other, &clock, || closes.boxed()).await;
        assert!(!is_computed(&cache, &other, &clock).await);
        clock.advance(TimeDelta::seconds(2));
        assert!(is_computed(&cache, &other, &clock).await);
    }

    #[tokio::test]
    async fn entries_are_evicted_above_the_budget() {
        let (cache, clock) = (ResponseCache::new(true), clock());
        let large = "x".repeat(BUDGET / 50);
        for number in 0..60 {
            let compute = async { Reply::data(&large).into_response() };
            cache.get_or_compute(&key(&number.to_string()), &clock, || compute.boxed()).await;
        }
        assert!(cache.entries.weight() <= BUDGET as u64);
        assert!((6..60).contains(&cache.entries.len()), "{}", cache.entries.len());
        let too_large = "x".repeat(BUDGET / SHARDS);
        let key = key("large");
        for _ in 0..2 {
            let compute = async { Reply::data(&too_large).into_response() };
            assert_eq!(cache.get_or_compute(&key, &clock, || compute.boxed()).await.status(), 200);
            assert!(cache.entries.get(&key).is_none());
        }
    }

    #[test]
    fn what_is_forgotten_counts_as_changed() {
        let changes = Changes::default();
        let tags = |name: &str| CacheTags { tags: vec![tag(name)], until: None };
        let at_first = changes.generation();
        changes.record(&Scope::Tags(vec![tag("a")]));
        let then = changes.generation();
        assert!(!changes.none_since(at_first, &tags("a")));
        assert!(changes.none_since(at_first, &tags("b")) && changes.none_since(then, &tags("a")));
        for number in 0..TAG_HISTORY {
            changes.record(&Scope::Tags(vec![tag(&number.to_string())]));
        }
        assert!(changes.none_since(then, &tags("a")), "it is still known");
        assert!(!changes.none_since(at_first, &tags("a")));
        for number in 0..TAG_HISTORY {
            changes.record(&Scope::Tags(vec![tag(&number.to_string())]));
        }
        assert!(!changes.none_since(then, &tags("a")), "nobody knows");
        assert!(changes.none_since(changes.generation(), &tags("a")));
        let history = changes.history();
        assert!(history.recent.len() + history.older.len() <= 2 * TAG_HISTORY);
    }

    #[test]
    fn the_time_of_a_change_is_known() {
        let changes = Changes::default();
        let (a, b) = ([tag("a")], [tag("b")]);
        assert_eq!(changes.last_change(&a), None);
        changes.record(&Scope::Tags(a.to_vec()));
        let first = changes.last_change(&a);
        assert!(first.is_some() && changes.last_change(&b).is_none());
        changes.record(&Scope::All);
        assert!(changes.last_change(&b) >= first && changes.last_change(&[]) >= first);
        let all = changes.last_change(&[]);
        for number in 0..=TAG_HISTORY {
            changes.record(&Scope::Tags(vec![tag(&number.to_string())]));
        }
        assert!(changes.last_change(&[]) > all, "some tags are forgotten");
    }

    #[test]
    fn long_keys_are_not_cached() {
        let head = |query: usize| {
            let request = Request::get(format!("/?{}", "x".repeat(query))).body(()).unwrap();
            request.into_parts().0
        };
        let key = |query, body| CacheKey::new("search", Lang::En, &head(query), body);
        // The path has one byte.
        assert!(key(1_000, &[b'x'; 23][..]).is_some());
        assert!(key(1_000, &[b'x'; 24][..]).is_none());
    }
}
