//! Those who read SQLite.
//!
//! Most questions are answered in less time than it takes to wake another thread, so each is asked
//! right where somebody wants to know. One that turns out to take long is interrupted, and asked
//! again on a thread that may be kept waiting: nothing is lost, since reading changes nothing.
//!
//! No reader for short questions is held for longer than a moment. Lists and reports have readers of
//! their own. So have short questions that turned out to take long: they neither wait for lists nor
//! keep other short ones waiting.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, Statement};
use sqlx::FromRow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    Failure, Result,
    direct::{self, Length, Question},
    queue::{Queue, now},
    rows::{Names, Row},
    within_for,
};

/// So many answer short questions at once.
const QUICK_READERS: usize = 4;
/// So many answer those that were thought to be short.
const LATE_READERS: usize = 2;
/// So many answer lists and reports.
const LONG_READERS: usize = 2;
/// What takes longer does so elsewhere.
const QUICK: Duration = Duration::from_millis(2);
/// After so many steps of SQLite's machine it is asked whether it takes too long.
const STEPS: i32 = 200;
/// What was asked that so many times has worked hard. What takes long with less has most likely
/// waited for the processor, and is short after all.
const HARD: u64 = 50;
/// What has not worked hard may keep its reader for so long.
const SOON: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct Readers {
    quick: Arc<Shelf>,
    late: Arc<Shelf>,
    long: Arc<Shelf>,
}

struct Shelf {
    file: PathBuf,
    /// The one that was used last is lent first.
    kept: Mutex<Vec<Reader>>,
    slots: Arc<Semaphore>,
    queue: Queue,
}

impl Readers {
    pub fn new(file: PathBuf) -> Self {
        Self {
            quick: Shelf::new(file.clone(), QUICK_READERS),
            late: Shelf::new(file.clone(), LATE_READERS),
            long: Shelf::new(file, LONG_READERS),
        }
    }

    fn shelves(&self) -> [&Arc<Shelf>; 3] {
        [&self.quick, &self.late, &self.long]
    }

    pub fn is_busy(&self) -> bool {
        self.shelves().iter().any(|shelf| shelf.queue.is_busy())
    }

    /// Closes what is kept, and reads nothing any more.
    pub fn close(&self) {
        for shelf in self.shelves() {
            shelf.slots.close();
            shelf.kept().clear();
        }
    }

    /// The first rows, at most so many.
    pub async fn ask<T>(
        &self,
        question: Question,
        most: usize,
        patience: Duration,
    ) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, Row> + Send + 'static,
    {
        within_for(patience, self.answer(question, most, patience)).await
    }

    async fn answer<T>(&self, question: Question, most: usize, patience: Duration) -> Result<Vec<T>>
    where
        T: for<'r> FromRow<'r, Row> + Send + 'static,
    {
        let mut lent = match question.length {
            Length::Short => self.quick.lend().await?,
            Length::Long | Length::Whole => self.long.lend().await?,
        };
        if question.length != Length::Whole {
            lent.reader().limit(QUICK)?;
            if let Some(rows) = lent.reader().ask(&question, most)? {
                return Ok(rows);
            }
        }
        let question = Arc::new(question);
        if question.length == Length::Short {
            if lent.reader().has_worked_hard() {
                // Before it waits for another reader: somebody else can use this one.
                drop(lent);
            } else if let Some(rows) = aside(lent, question.clone(), most, SOON).await? {
                return Ok(rows);
            }
            lent = self.late.lend().await?;
        }
        let rows = aside(lent, question, most, patience).await?;
        rows.ok_or_else(|| Failure::unavailable("the database did not answer in time"))
    }
}

/// Asks on a thread that may be kept waiting; `None` when it took too long.
async fn aside<T>(
    mut lent: Lent,
    question: Arc<Question>,
    most: usize,
    time: Duration,
) -> Result<Option<Vec<T>>>
where
    T: for<'r> FromRow<'r, Row> + Send + 'static,
{
    lent.reader().limit(time)?;
    let until = lent.reader().until.clone();
    let mut slow = tokio::task::spawn_blocking(move || {
        let rows = lent.reader().ask(&question, most);
        (lent, rows)
    });
    let over = Over(until);
    let done = (&mut slow).await;
    // Before the reader goes back: what it ends is this question, not the next one's.
    drop(over);
    let (_lent, rows) = done.map_err(Failure::fault)?;
    rows
}

/// Interrupts a question that nobody waits for any more.
struct Over(Arc<AtomicU64>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Shelf {
    fn new(file: PathBuf, most: usize) -> Arc<Self> {
        let (kept, queue) = Default::default();
        Arc::new(Self { file, kept, slots: Arc::new(Semaphore::new(most)), queue })
    }

    async fn lend(self: &Arc<Self>) -> Result<Lent> {
        let shelf = self;
        // What is answered at once would never be seen to wait: whoever comes lets the others come.
        let turn = async {
            tokio::task::yield_now().await;
            shelf.slots.clone().acquire_owned().await
        };
        let slot = shelf.queue.wait(turn).await?.map_err(Failure::unavailable)?;
        let kept = shelf.kept().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => {
                let file = shelf.file.clone();
                let opened = tokio::task::spawn_blocking(move || Reader::open(&file));
                opened.await.map_err(Failure::fault)??
            }
        };
        Ok(Lent { reader: Some(reader), shelf: shelf.clone(), _slot: slot })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader that goes back when it is dropped.
struct Lent {
    reader: Option<Reader>,
    shelf: Arc<Shelf>,
    _slot: OwnedSemaphorePermit,
}

impl Lent {
    fn reader(&mut self) -> &mut Reader {
        self.reader.as_mut().expect("it has its reader until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut kept = self.shelf.kept();
        if !self.shelf.slots.is_closed() {
            kept.extend(self.reader.take());
        }
    }
}

struct Reader {
    conn: Connection,
    /// The columns of what stays prepared.
    names: HashMap<String, Arc<Names>>,
    /// When it takes too long.
    until: Arc<AtomicU64>,
    /// How often it was asked that.
    asked: Arc<AtomicU64>,
}

impl Reader {
    fn open(file: &Path) -> Result<Self> {
        let conn = direct::open(file, &direct::READERS)?;
        let until = Arc::new(AtomicU64::new(u64::MAX));
        let asked = Arc::new(AtomicU64::new(0));
        let (limit, count) = (until.clone(), asked.clone());
        let is_late = move || {
            count.fetch_add(1, Ordering::Relaxed);
            now() > limit.load(Ordering::Relaxed)
        };
        conn.progress_handler(STEPS, Some(is_late))?;
        Ok(Self { conn, names: HashMap::new(), until, asked })
    }

    fn has_worked_hard(&self) -> bool {
        self.asked.load(Ordering::Relaxed) >= HARD
    }

    /// How long the next question may take.
    fn limit(&self, time: Duration) -> Result<()> {
        self.until.store(now() + time.as_millis() as u64, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
        Ok(self.conn.busy_timeout(time.min(direct::BUSY))?)
    }

    /// The first rows, at most so many; `None` when it took too long.
    fn ask<T>(&mut self, question: &Question, most: usize) -> Result<Option<Vec<T>>>
    where
        T: for<'r> FromRow<'r, Row>,
    {
        let names = &mut self.names;
        let done = question.with(&self.conn, |statement| {
            let mut row = Row::new(columns(names, question, statement));
            let mut found = Vec::new();
            let mut rows = statement.raw_query();
            while found.len() < most
                && let Some(next) = rows.next()?
            {
                row.fill(next)?;
                match T::from_row(&row) {
                    Ok(record) => found.push(record),
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(found))
        });
        match done {
            Ok(found) => Ok(Some(found?)),
            Err(error) if is_late(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_late(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, OperationInterrupted};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | OperationInterrupted))
}

fn columns(
    known: &mut HashMap<String, Arc<Names>>,
    question: &Question,
    statement: &Statement,
) -> Arc<Names> {
    let text = question.text.as_str();
    match known.get(text).filter(|names| names.len() == statement.column_count()) {
        Some(names) => names.clone(),
        None => {
            let names = Arc::new(Names::of(statement));
            if question.lasting {
                if known.len() >= direct::PREPARED {
                    known.clear();
                }
                known.insert(text.to_owned(), names.clone());
            }
            names
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::{
        super::{Db, Engine, Failure},
        Shelf,
    };

    const LONG: &str = "WITH RECURSIVE n (i) AS
        (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) SELECT COUNT(*) FROM n";

    async fn count(db: &Db, most: i64) -> Result<i64, Failure> {
        db.sql(LONG).bind(most).scalar().await
    }

    #[tokio::test]
    async fn what_takes_long_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        let mut long = pin!(async { join_all([(); 6].map(|()| count(&db, 1_000_000))).await });
        // On this one thread, others are answered meanwhile.
        let mut meanwhile = 0;
        let long = loop {
            tokio::select! {
                biased;
                long = &mut long => break long,
                quick = count(&db, 10) => assert_eq!(quick.unwrap(), 10),
            }
            meanwhile += 1;
        };
        assert!(long.into_iter().all(|count| count.unwrap() == 1_000_000));
        assert!(meanwhile > 0);
    }

    #[tokio::test]
    async fn quick_questions_are_answered_while_all_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        db.patience = Duration::from_secs(24 * 60 * 60);
        let Engine::Sqlite { readers, .. } = &db.engine else { unreachable!() };
        let free = |shelf: &Shelf| shelf.slots.available_permits();
        // Lists that never end, and more questions that were thought to be short than there are
        // readers for those.
        let endless = || db.sql(LONG).bind(i64::MAX);
        let lists = join_all((0..6).map(|_| endless().long().scalar::<i64>()));
        let counts = join_all((0..6).map(|_| endless().whole().scalar::<i64>()));
        let late = join_all((0..6).map(|_| endless().scalar::<i64>()));
        let mut endless = pin!(async { tokio::join!(lists, counts, late) });
        let meanwhile = async {
            while free(&readers.long) > 0 || free(&readers.late) > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            for _ in 0..100 {
                assert_eq!(count(&db, 10).await.unwrap(), 10);
            }
            assert_eq!((free(&readers.long), free(&readers.late)), (0, 0));
        };
        tokio::select! {
            _ = &mut endless => unreachable!("they never end"),
            answered = timeout(Duration::from_secs(60), meanwhile) => answered.unwrap(),
        }
    }

    #[tokio::test]
    async fn what_nobody_waits_for_stops() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        for _ in 0..8 {
            let endless = count(&db, i64::MAX);
            assert!(timeout(Duration::from_millis(50), endless).await.is_err());
        }
        // Else all readers would be taken for as long as anybody's patience lasts.
        assert_eq!(timeout(Duration::from_secs(30), count(&db, 10)).await.unwrap().unwrap(), 10);
    }

    #[tokio::test]
    async fn what_takes_too_long_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Db::open(folder.path().join("a.db").to_str().unwrap()).await.unwrap();
        db.patience = Duration::from_millis(50);
        for _ in 0..8 {
            assert!(count(&db, i64::MAX).await.unwrap_err().is_unavailable());
        }
        // Nobody is still busy with it.
        db.patience = Duration::from_secs(30);
        assert_eq!(count(&db, 10).await.unwrap(), 10);
        db.close().await;
        assert!(count(&db, 10).await.unwrap_err().is_unavailable());
    }
}
