//! Reads on a streaming replica (ADR 26).
//!
//! About once a second the process writes a number on the primary: a beat. A replica that shows a beat
//! has everything that was committed before the beat was sent. Every read on the replica reads the beat
//! as well, just before and on the same connection, so the age of its rows is known, whichever server
//! the connection leads to. If they are too old, or the replica fails, the primary is read.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tokio_postgres::{Row, types::Type};

use super::{
    Db, Failure, Result,
    postgres::PgPool,
    sqlite::{Length, Query},
    within_for,
};
use crate::kernel::ids::Uuid;

/// How long a short read may take on the replica before the primary is read.
const SHORT: Duration = Duration::from_secs(2);
/// In milliseconds: pauses before the replica is asked for a new beat.
const PAUSES: [u64; 4] = [0, 10, 50, 200];
/// The beat is at least the time in milliseconds. So a primary that was restored from a backup does
/// not repeat beats that a replica already has.
const WRITE_BEAT: &str = "INSERT INTO locks (name, taken) VALUES ('replica', $1)
    ON CONFLICT (name) DO UPDATE
      SET taken = CASE WHEN locks.taken < $1 THEN $1 ELSE locks.taken + 1 END
    RETURNING taken";
const READ_BEAT: &str = "SELECT taken FROM locks WHERE name = 'replica'";

pub(super) fn read_beat() -> Query {
    Query { text: READ_BEAT.into(), values: Vec::new(), cached: true, length: Length::Short }
}

pub(super) struct Replica {
    pool: PgPool,
    max_lag: Duration,
    beats: Mutex<Beats>,
    /// When somebody has last changed something in this process, by person.
    changes: Mutex<HashMap<Uuid, Instant>>,
    reads: AtomicU64,
    primary_reads: AtomicU64,
    was_used: AtomicBool,
    started: Instant,
}

#[derive(Default)]
struct Beats {
    /// Of this process, with the time before each was sent; the oldest first.
    written: VecDeque<(i64, Instant)>,
    /// The time of the newest that the replica has shown.
    shown: Option<Instant>,
    /// Whether it has answered last.
    answers: bool,
}

impl Beats {
    /// The time up to which a server with this beat has all commits.
    fn show(&mut self, beat: Option<i64>) -> Option<Instant> {
        let of_beat = |beat| self.written.iter().rev().find(|(written, _)| *written <= beat);
        let (_, at) = *beat.and_then(of_beat)?;
        self.shown = self.shown.max(Some(at));
        Some(at)
    }
}

/// What a replica does, for metrics and the doctor.
pub struct ReplicaState {
    pub in_use: bool,
    /// The age of the newest beat that it has shown; if it has shown none, that of the process.
    pub lag: Duration,
    /// Statements that the replica may serve, and did.
    pub reads: u64,
    /// Those that the primary has served instead.
    pub primary_reads: u64,
}

impl Replica {
    /// Does not connect: the service also runs without its replica.
    pub fn new(url: &str, max_lag: Duration) -> Result<Self> {
        Ok(Self {
            pool: PgPool::new(url, "7s")?,
            max_lag,
            beats: Mutex::default(),
            changes: Mutex::default(),
            reads: AtomicU64::new(0),
            primary_reads: AtomicU64::new(0),
            was_used: AtomicBool::new(false),
            started: Instant::now(),
        })
    }

    /// Writes a beat on the primary and reads it on the replica.
    pub async fn measure(&self, primary: &Db) -> Result<()> {
        let measured = self.beat(primary).await;
        self.beats().answers &= measured.is_ok();
        let state = self.state();
        if self.was_used.swap(state.in_use, Ordering::Relaxed) != state.in_use {
            let (lag, why) = (state.lag, measured.as_ref().err().map(Failure::to_string));
            match state.in_use {
                true => tracing::info!(?lag, "the replica is read"),
                false => tracing::warn!(?lag, why, "the replica is not read"),
            }
        }
        measured
    }

    async fn beat(&self, primary: &Db) -> Result<()> {
        let (at, now) = (Instant::now(), SystemTime::now().duration_since(SystemTime::UNIX_EPOCH));
        let now = now.map_err(Failure::fault)?.as_millis() as i64;
        let beat: i64 = primary.sql(WRITE_BEAT).bind(now).scalar().await?;
        {
            let written = &mut self.beats().written;
            written.push_back((beat, at));
            written.retain(|(_, at)| at.elapsed() <= self.max_lag);
        }
        for pause in PAUSES {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let read = self.read(&read_beat(), &[], SHORT).await?;
            self.beats().answers = true;
            if read.is_none_or(|(shown, _)| shown >= at) {
                break;
            }
        }
        Ok(())
    }

    /// The rows and their time; `None` if they are too old.
    async fn read(
        &self,
        query: &Query,
        types: &[Type],
        time: Duration,
    ) -> Result<Option<(Instant, Vec<Row>)>> {
        let time_of = |beat| self.beats().show(beat).filter(|at| self.is_fresh(*at, None));
        within_for(time, self.pool.query_after_beat(query, types, time_of)).await
    }

    pub fn state(&self) -> ReplicaState {
        ReplicaState {
            in_use: self.is_usable(None),
            lag: self.beats().shown.unwrap_or(self.started).elapsed(),
            reads: self.reads.load(Ordering::Relaxed),
            primary_reads: self.primary_reads.load(Ordering::Relaxed),
        }
    }

    /// Whether it answers, and has the changes before `since` most likely.
    fn is_usable(&self, since: Option<Instant>) -> bool {
        let beats = self.beats();
        beats.answers && beats.shown.is_some_and(|at| self.is_fresh(at, since))
    }

    /// Whether rows of this time may be used.
    fn is_fresh(&self, at: Instant, since: Option<Instant>) -> bool {
        at.elapsed() <= self.max_lag && since.is_none_or(|since| at >= since)
    }

    pub fn note_change(&self, person: Uuid) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        // Rows that are older than the longest lag are not read anyway.
        changes.retain(|_, at| at.elapsed() <= self.max_lag);
        changes.insert(person, Instant::now());
    }

    pub fn last_change(&self, person: Uuid) -> Option<Instant> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).get(&person).copied()
    }

    pub fn close(&self) {
        self.pool.close();
    }

    fn beats(&self) -> MutexGuard<'_, Beats> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some reads that belong together. Once one of them had to read the primary, the next ones do too, so
/// that none is older than the one before.
pub(super) struct ReplicaReads {
    pub replica: Arc<Replica>,
    /// Changes until then must be seen.
    since: Option<Instant>,
    is_left: AtomicBool,
    read_at: Mutex<Option<Instant>>,
}

impl ReplicaReads {
    pub fn new(replica: Arc<Replica>, since: Option<Instant>) -> Arc<Self> {
        let (is_left, read_at) = Default::default();
        Arc::new(Self { replica, since, is_left, read_at })
    }

    /// On the replica or else on the primary.
    pub async fn query(
        &self,
        primary: &PgPool,
        query: &Query,
        types: &[Type],
        time: Duration,
    ) -> Result<Vec<Row>> {
        if let Some(rows) = self.on_replica(query, types, time).await? {
            self.replica.reads.fetch_add(1, Ordering::Relaxed);
            return Ok(rows);
        }
        self.leave();
        self.replica.primary_reads.fetch_add(1, Ordering::Relaxed);
        primary.query(query, types, time).await
    }

    /// `None` where the primary must be read.
    async fn on_replica(
        &self,
        query: &Query,
        types: &[Type],
        time: Duration,
    ) -> Result<Option<Vec<Row>>> {
        let replica = &self.replica;
        if self.is_left.load(Ordering::Relaxed) || !replica.is_usable(self.since) {
            return Ok(None);
        }
        let time = if query.length == Length::Short { SHORT } else { time };
        match replica.read(query, types, time).await {
            Ok(Some((at, rows))) if replica.is_fresh(at, self.since) => {
                let mut read_at = self.read_at();
                *read_at = Some(read_at.map_or(at, |earlier| earlier.min(at)));
                Ok(Some(rows))
            }
            Ok(_) => Ok(None),
            // The primary would take as long.
            Err(failure) if failure.is_cancelled() => Err(failure),
            Err(failure) => {
                tracing::debug!(%failure, "a read on the replica failed; the primary is read");
                if failure.is_unavailable() {
                    replica.beats().answers = false;
                }
                Ok(None)
            }
        }
    }

    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Up to when the rows that were read on the replica have all changes.
    pub fn read_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.read_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
