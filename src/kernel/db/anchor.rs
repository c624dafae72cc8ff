//! Where deep pages begin.
//!
//! Skipping rows costs as much as reading them. The first row of a deep page is therefore remembered
//! for a minute, and the same or a later page of the same query is read from there on. Rows that are
//! inserted before it meanwhile do not move the pages.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::kernel::ids::Uuid;

/// Pages before are read from the first row on.
pub const DEEP: i64 = 10_000;
const LIFETIME: Duration = Duration::from_secs(60);
/// Queries that are remembered.
const CAPACITY: usize = 200;

#[derive(Clone, Copy)]
pub struct Anchor {
    /// The position of the row in its list.
    pub offset: i64,
    pub id: Uuid,
    since: Instant,
}

#[derive(Default)]
pub struct Anchors(Mutex<HashMap<String, Anchor>>);

impl Anchors {
    /// The row to read from, if it is not after `offset`.
    pub fn before(&self, query: &str, offset: i64) -> Option<Anchor> {
        let anchors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let anchor = anchors.get(query).filter(|anchor| anchor.offset <= offset);
        anchor.filter(|anchor| anchor.since.elapsed() < LIFETIME).copied()
    }

    /// The age of what it was found by stays: otherwise pages would never move.
    pub fn remember(&self, query: String, offset: i64, id: Uuid, by: Option<Anchor>) {
        let mut anchors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if anchors.len() >= CAPACITY {
            anchors.retain(|_, anchor| anchor.since.elapsed() < LIFETIME);
        }
        if anchors.len() < CAPACITY {
            let since = by.map_or_else(Instant::now, |by| by.since);
            anchors.insert(query, Anchor { offset, id, since });
        }
    }
}
