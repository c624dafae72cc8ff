//! Threads of low priority, for reads that may take long.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use tokio::sync::oneshot;

use super::{Failure, Result};

type Work = Box<dyn FnOnce() + Send>;

/// Starts its threads when it is first needed. They end when it is dropped.
pub(super) struct Background {
    threads: usize,
    queue: OnceLock<Mutex<Sender<Work>>>,
}

impl Background {
    pub fn new(threads: usize) -> Self {
        Self { threads, queue: OnceLock::new() }
    }

    /// Fails if the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (done, result) = oneshot::channel();
        // If the caller was cancelled, nobody receives the result.
        let work = Box::new(move || drop(done.send(work())));
        let queue = self.queue.get_or_init(|| Mutex::new(start(self.threads)));
        let sent = queue.lock().unwrap_or_else(PoisonError::into_inner).send(work);
        sent.map_err(Failure::fault)?;
        result.await.map_err(Failure::fault)
    }
}

fn start(threads: usize) -> Sender<Work> {
    let (sender, receiver) = channel();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..threads {
        let receiver = receiver.clone();
        let named = thread::Builder::new().name("lists".into());
        named.spawn(move || serve(&receiver)).expect("the system has threads");
    }
    sender
}

fn serve(receiver: &Mutex<Receiver<Work>>) {
    lower_priority();
    loop {
        let work = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = work else { return };
        // The thread outlives a panic. The waiting caller gets an error.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    }
}

/// Of this thread alone. On other systems it would be that of the process.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // SAFETY: it changes a number of the calling thread.
    unsafe { libc::nice(10) };
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_outlives_a_panic() {
        let background = Background::new(1);
        assert_eq!(background.run(|| 1).await.unwrap(), 1);
        assert!(background.run(|| -> i32 { panic!("as expected") }).await.is_err());
        assert_eq!(background.run(|| 2).await.unwrap(), 2);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn only_its_threads_have_a_low_priority() {
        // SAFETY: it reads a number of the calling thread, by adding nothing.
        let nice = || unsafe { libc::nice(0) };
        let usual = nice();
        let low = Background::new(1).run(nice).await.unwrap();
        assert_eq!(low, (usual + 10).min(19));
        assert_eq!(nice(), usual);
    }
}
