//! Answers that are everyone's, kept for a moment: a thousand people who ask for the same day's
//! boats in the same second cost one look.
//!
//! What is shown may be a second old when another process has changed it, as a page is that somebody
//! has before them; a sale looks for itself. What this process changes it forgets at once: a sale
//! the answers that show its sailing, any other change all of them. So they last longer where there
//! is no other process.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::Range,
    sync::{Arc, Mutex},
};

use axum::{
    body::Bytes,
    http::{HeaderValue, header::CONTENT_TYPE, request::Parts},
};
use chrono::{DateTime, TimeDelta, Utc};

use super::{http::Answer, ids::Uuid, lang::Lang};

/// How long an answer lasts beside other processes, and where there is none.
const BESIDE_OTHERS: TimeDelta = TimeDelta::seconds(1);
const ALONE: TimeDelta = TimeDelta::seconds(5);
/// Beyond so many bytes of answers, or so many sailings, it begins anew.
const BYTES: usize = 8 * 1024 * 1024;
const SAILINGS: usize = 10_000;
/// Nobody asks longer questions.
const LONGEST: usize = 1_024;

/// What was asked, to the byte.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Question {
    operation: &'static str,
    lang: Lang,
    kind: Option<Vec<u8>>,
    query: Option<String>,
    body: Bytes,
}

impl Question {
    /// `None`: it is too long to be kept.
    pub fn new(operation: &'static str, lang: Lang, head: &Parts, body: &[u8]) -> Option<Self> {
        let (kind, query) = (head.headers.get(CONTENT_TYPE), head.uri.query());
        let length = body.len() + query.map_or(0, str::len) + kind.map_or(0, HeaderValue::len);
        (length <= LONGEST).then(|| Self {
            operation,
            lang,
            kind: kind.map(|kind| kind.as_bytes().to_vec()),
            query: query.map(str::to_owned),
            // A copy: what came may be part of a larger buffer.
            body: Bytes::copy_from_slice(body),
        })
    }

    /// About how much memory it takes, with its places in the tables.
    fn bytes(&self) -> usize {
        let query = self.query.as_ref().map_or(0, String::len);
        self.body.len() + query + self.kind.as_ref().map_or(0, Vec::len) + 512
    }
}

pub struct Shared {
    lasts: TimeDelta,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    answers: HashMap<Arc<Question>, (Answer, Range<DateTime<Utc>>)>,
    bytes: usize,
    /// To which questions a sailing is part of the answer.
    shown: HashMap<Uuid, HashSet<Arc<Question>>>,
    /// Counts changes.
    now: u64,
    /// When everything, and when a sailing, last changed.
    all: u64,
    sold: HashMap<Uuid, u64>,
}

/// The moment at which somebody began to look.
#[derive(Clone, Copy)]
pub struct Moment(u64, DateTime<Utc>);

impl Shared {
    /// `alone`: nobody else changes the data.
    pub fn new(alone: bool) -> Self {
        let lasts = if alone { ALONE } else { BESIDE_OTHERS };
        Self { lasts, kept: Mutex::default() }
    }

    /// The answer, or the moment from which on to look for it.
    pub fn ask(&self, question: &Question, now: DateTime<Utc>) -> Result<Answer, Moment> {
        let kept = self.kept();
        match kept.answers.get(question) {
            Some((answer, time)) if time.contains(&now) => Ok(answer.clone()),
            _ => Err(Moment(kept.now, now)),
        }
    }

    /// Keeps an answer, unless it is an error, or something that it shows has changed while it was
    /// looked for.
    pub fn keep(&self, question: Question, answer: &Answer, since: Moment) {
        let Some(shows) = answer.shows() else { return };
        let mut kept = self.kept();
        let Moment(count, at) = since;
        let is_old = kept.all > count
            || shows.ids.iter().any(|id| kept.sold.get(id).is_some_and(|sold| *sold > count));
        if is_old {
            return;
        }
        kept.remove(&question);
        let bytes = question.bytes() + answer.bytes();
        if kept.bytes + bytes > BYTES {
            kept.forget();
        }
        let lasts = if shows.counts_more { BESIDE_OTHERS } else { self.lasts };
        let until = at + some_of(lasts);
        let time = at..shows.until.map_or(until, |end| end.min(until));
        let question = Arc::new(question);
        for id in &shows.ids {
            kept.shown.entry(*id).or_default().insert(question.clone());
        }
        kept.bytes += bytes;
        kept.answers.insert(question, (answer.clone(), time));
    }

    /// Ends all answers when it is dropped: also when nobody waits any more for a change that was
    /// made.
    pub fn until_changed(&self) -> impl Drop + '_ {
        OnDrop(|| self.changed())
    }

    /// The same with a sale.
    pub fn until_sold(&self, sailing: Uuid) -> impl Drop + '_ {
        OnDrop(move || self.sold(sailing))
    }

    /// A sailing has fewer seats.
    fn sold(&self, sailing: Uuid) {
        let mut kept = self.kept();
        kept.now += 1;
        let now = kept.now;
        if kept.sold.len() >= SAILINGS {
            kept.forget();
        }
        kept.sold.insert(sailing, now);
        for question in kept.shown.remove(&sailing).unwrap_or_default() {
            kept.remove(&question);
        }
    }

    /// Something changed.
    pub fn changed(&self) {
        let mut kept = self.kept();
        kept.now += 1;
        kept.forget();
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing in here panics half-way.
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// At least three fifths: those that began together do not end together.
fn some_of(time: TimeDelta) -> TimeDelta {
    let most = time.num_milliseconds();
    TimeDelta::milliseconds(rand::random_range(most * 3 / 5..=most))
}

impl Kept {
    fn remove(&mut self, question: &Question) {
        let Some((answer, _)) = self.answers.remove(question) else { return };
        self.bytes -= question.bytes() + answer.bytes();
        for id in answer.shows().into_iter().flat_map(|shows| &shows.ids) {
            if let Entry::Occupied(mut questions) = self.shown.entry(*id) {
                questions.get_mut().remove(question);
                if questions.get().is_empty() {
                    questions.remove();
                }
            }
        }
    }

    fn forget(&mut self) {
        self.all = self.now;
        self.answers.clear();
        self.bytes = 0;
        self.shown.clear();
        self.sold.clear();
    }
}
