//! Combines reads by key that arrive while another one runs into one statement. A round trip to the
//! database costs many times what it takes to find a row by its key.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::{
    error::{Error, Result},
    telemetry,
};

/// More callers would only wait longer, so they fail at once.
const MAX_WAITING: usize = 512;

pub struct Batch<K, V>(Arc<Mutex<State<K, V>>>);

struct State<K, V> {
    waiting: Vec<(K, oneshot::Sender<Option<V>>)>,
    /// Whether a task reads for those that wait.
    is_running: bool,
}

impl<K, V> Default for Batch<K, V> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { waiting: Vec::new(), is_running: false })))
    }
}

impl<K: Copy + Eq + Hash + Send + 'static, V: Copy + Send + 'static> Batch<K, V> {
    /// The value of a key, by a statement that begins after this call. `read` gets at most `most`
    /// keys. It belongs to a task of its own, so a caller that hangs up takes nothing from the others.
    pub async fn get<R>(
        &self,
        key: K,
        most: usize,
        read: impl Fn(Vec<K>) -> R + Send + 'static,
    ) -> Result<Option<V>>
    where
        R: Future<Output = Result<HashMap<K, V>>> + Send + 'static,
    {
        // The task that reads is in no span, so the statement counts here.
        let _measured = telemetry::statement();
        let (sender, value) = oneshot::channel();
        let must_run = {
            let mut state = lock(&self.0);
            if state.waiting.len() >= MAX_WAITING {
                return Err(Error::Unavailable("too many wait for a combined read".into()));
            }
            state.waiting.push((key, sender));
            !std::mem::replace(&mut state.is_running, true)
        };
        if must_run {
            let running = Running { state: self.0.clone(), has_ended: false };
            tokio::spawn(run(running, most, read));
        }
        value.await.map_err(|_| Error::Unavailable("a combined read failed".into()))
    }
}

/// Reads until nobody waits.
async fn run<K: Copy + Eq + Hash, V: Copy, R: Future<Output = Result<HashMap<K, V>>>>(
    mut running: Running<K, V>,
    most: usize,
    read: impl Fn(Vec<K>) -> R,
) {
    while let Some(waiting) = running.next(most) {
        match read(waiting.iter().map(|(key, _)| *key).collect()).await {
            Ok(values) => {
                for (key, sender) in waiting {
                    // Nobody waits any more if its caller has hung up.
                    let _ = sender.send(values.get(&key).copied());
                }
            }
            // Dropping the senders tells those that wait, also those that have come meanwhile: they
            // would wait for a database that does not answer, one statement after another.
            Err(error) => {
                tracing::warn!(%error, "a combined read failed");
                running.refuse_all();
            }
        }
    }
}

/// The task that reads. If it does not end by itself, the next caller starts another one.
struct Running<K, V> {
    state: Arc<Mutex<State<K, V>>>,
    has_ended: bool,
}

impl<K, V> Running<K, V> {
    /// Those that have waited longest; `None` if nobody waits, which ends the task.
    fn next(&mut self, most: usize) -> Option<Vec<(K, oneshot::Sender<Option<V>>)>> {
        let mut state = lock(&self.state);
        // Who has hung up costs no place.
        state.waiting.retain(|(_, sender)| !sender.is_closed());
        let some = state.waiting.len().min(most);
        state.is_running = some > 0;
        self.has_ended = some == 0;
        (some > 0).then(|| state.waiting.drain(..some).collect())
    }

    fn refuse_all(&self) {
        lock(&self.state).waiting.clear();
    }
}

impl<K, V> Drop for Running<K, V> {
    fn drop(&mut self) {
        if !self.has_ended {
            *lock(&self.state) = State { waiting: Vec::new(), is_running: false };
        }
    }
}

fn lock<K, V>(state: &Mutex<State<K, V>>) -> MutexGuard<'_, State<K, V>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use futures_util::future::join_all;
    use tokio::{sync::Semaphore, time::timeout};

    use super::*;

    #[tokio::test]
    async fn reads_that_wait_share_a_statement() {
        let (batch, gate) = (Batch::<u32, u32>::default(), Arc::new(Semaphore::new(0)));
        let statements = Arc::new(AtomicUsize::new(0));
        let get = |key| {
            let (gate, statements) = (gate.clone(), statements.clone());
            batch.get(key, 8, move |keys| {
                let (gate, statements) = (gate.clone(), statements.clone());
                async move {
                    assert!(keys.len() <= 8);
                    statements.fetch_add(1, Ordering::Relaxed);
                    gate.acquire().await.unwrap().forget();
                    Ok(keys.into_iter().filter(|key| key % 2 == 0).map(|k| (k, k * 10)).collect())
                }
            })
        };
        let all = join_all((0..17).map(get));
        let open = async {
            tokio::task::yield_now().await;
            gate.add_permits(10);
        };
        let (values, ()) = tokio::join!(all, open);
        for (key, value) in (0..17).zip(values) {
            assert_eq!(value.unwrap(), (key % 2 == 0).then_some(key * 10));
        }
        assert_eq!(statements.load(Ordering::Relaxed), 3);
        assert_eq!(get(4).await.unwrap(), Some(40));
    }

    #[tokio::test]
    async fn a_failure_is_one_of_those_that_waited() {
        let batch = Batch::<u32, u32>::default();
        let fails = batch.get(1, 8, |_| async { Err(Error::Unavailable("away".into())) });
        assert!(fails.await.is_err());
        let panics = batch.get(1, 8, |_| async { panic!("as expected") });
        assert!(panics.await.is_err());
        let read = |keys: Vec<u32>| async move { Ok(keys.into_iter().map(|k| (k, k)).collect()) };
        assert_eq!(batch.get(1, 8, read).await.unwrap(), Some(1));
    }

    #[tokio::test]
    async fn who_waits_beside_a_failed_read_fails_with_it_and_too_many_fail_at_once() {
        let batch = Batch::<u32, u32>::default();
        let get = |key| {
            batch.get(key, 8, |_| async {
                tokio::task::yield_now().await;
                Err(Error::Unavailable("away".into()))
            })
        };
        let all = join_all((0..MAX_WAITING as u32 + 10).map(get)).await;
        assert!(all.iter().all(Result::is_err));
        let too_many = |error: &&Error| error.to_string().contains("too many");
        assert_eq!(all.iter().filter_map(|one| one.as_ref().err()).filter(too_many).count(), 10);
        assert!(lock(&batch.0).waiting.is_empty() && !lock(&batch.0).is_running);
    }

    #[tokio::test]
    async fn a_caller_that_hangs_up_leaves_the_others() {
        let (batch, gate) = (Batch::<u32, u32>::default(), Arc::new(Semaphore::new(0)));
        let read = |gate: &Arc<Semaphore>| {
            let gate = gate.clone();
            move |keys: Vec<u32>| {
                let gate = gate.clone();
                async move {
                    gate.acquire().await.unwrap().forget();
                    Ok(keys.into_iter().map(|key| (key, key)).collect())
                }
            }
        };
        let mut first = Box::pin(batch.get(1, 1, read(&gate)));
        assert!(timeout(Duration::ZERO, &mut first).await.is_err());
        let second = batch.get(2, 1, read(&gate));
        drop(first);
        gate.add_permits(2);
        assert_eq!(second.await.unwrap(), Some(2));
    }
}
