//! Supervision of background jobs: a task each, restarted when it panics or ends.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use futures_util::FutureExt;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, MissedTickBehavior},
};

use super::{
    error::{Error, Result},
    set_aside::Pass,
    telemetry::Telemetry,
};

/// A job is overdue when it has not succeeded for this many of its intervals.
const OVERDUE_INTERVALS: u32 = 5;
/// No job is overdue before this: a slow machine is not a broken one.
const MIN_OVERDUE: Duration = Duration::from_secs(30);

/// How soon a run that has failed is repeated, at the latest.
const RETRY: Duration = Duration::from_secs(60);

/// The interval of jobs of which every run is traced.
const RARELY: Duration = Duration::from_secs(60);

/// How long a job that has panicked or ended waits for its restart. The pause doubles each time, and
/// starts over when the job has succeeded in between.
#[derive(Clone, Copy)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_secs(60) }
    }
}

impl Backoff {
    fn pause(self, failures_in_a_row: u32) -> Duration {
        let doubled = 1_u32.checked_shl(failures_in_a_row).unwrap_or(u32::MAX);
        self.first.saturating_mul(doubled).min(self.longest)
    }
}

/// One job of this process, and its statistics.
pub struct Job {
    pub name: &'static str,
    pub interval: Duration,
    telemetry: Option<Telemetry>,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
pub struct State {
    /// Runs that succeeded.
    pub runs: u64,
    /// Runs that ended with an error.
    pub failures: u64,
    pub panics: u64,
    pub last_success: Option<SystemTime>,
    /// The last success, or the start. In the future while a long first run is allowed.
    healthy_at: Instant,
}

impl Job {
    fn new(name: &'static str, interval: Duration, telemetry: Option<Telemetry>) -> Self {
        let state = State {
            runs: 0,
            failures: 0,
            panics: 0,
            last_success: None,
            healthy_at: Instant::now(),
        };
        Self { name, interval, telemetry, state: Mutex::new(state) }
    }

    pub fn state(&self) -> State {
        *self.locked()
    }

    pub fn succeeded(&self, now: Instant) {
        let mut state = self.locked();
        state.runs += 1;
        state.last_success = Some(SystemTime::now());
        state.healthy_at = now;
    }

    /// Counts and logs a failed run.
    pub fn failed(&self, error: &Error) {
        self.locked().failures += 1;
        tracing::error!(job = self.name, %error, "a background job failed");
    }

    pub fn done<T>(&self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(done) => {
                self.succeeded(Instant::now());
                Some(done)
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    /// Allows a long first run. Has no effect after a restart.
    pub fn may_take(&self, long: Duration) {
        let mut state = self.locked();
        if (state.runs, state.failures, state.panics) == (0, 0, 0) {
            state.healthy_at = Instant::now() + long;
        }
    }

    /// How long the job has not succeeded, if it is overdue.
    fn overdue(&self, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.state().healthy_at);
        (since > (self.interval * OVERDUE_INTERVALS).max(MIN_OVERDUE)).then_some(since)
    }

    /// Runs the job at its interval, and again at once while there is more to do. A run that has failed
    /// is repeated after a minute at the latest.
    pub async fn repeat<Fut, R>(&self, run: impl Fn() -> Fut)
    where
        Fut: Future<Output = Result<R>>,
        R: Into<Pass>,
    {
        self.repeat_with(RETRY, run).await;
    }

    async fn repeat_with<Fut, R>(&self, retry: Duration, run: impl Fn() -> Fut)
    where
        Fut: Future<Output = Result<R>>,
        R: Into<Pass>,
    {
        let mut tick = tokio::time::interval(self.interval);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            loop {
                // Boxed: futures of jobs are large.
                match self.done(self.pass(Box::pin(run())).await) {
                    Some(pass) if pass.more => {}
                    Some(_) => break,
                    None => {
                        tick.reset_after(self.interval.min(retry));
                        break;
                    }
                }
            }
        }
    }

    async fn pass<R: Into<Pass>>(&self, run: impl Future<Output = Result<R>>) -> Result<Pass> {
        let Some(telemetry) = &self.telemetry else { return run.await.map(Into::into) };
        // A job that looks for work every few seconds is not traced when it finds none.
        let rarely = self.interval >= RARELY;
        let items = |pass: &Pass| (rarely || pass.done > 0).then_some(pass.done);
        let run = async { run.await.map(Into::into) };
        telemetry.job(format!("job {}", self.name), run, items).await
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The jobs that this process runs. Empty in commands that run none.
#[derive(Default)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    telemetry: Option<Telemetry>,
}

impl Jobs {
    pub fn new(telemetry: Option<Telemetry>) -> Self {
        Self { telemetry, ..Self::default() }
    }

    pub fn add(&self, name: &'static str, interval: Duration) -> Arc<Job> {
        let job = Arc::new(Job::new(name, interval, self.telemetry.clone()));
        let mut jobs = self.locked();
        jobs.retain(|known| known.name != name);
        jobs.push(job.clone());
        job
    }

    pub fn all(&self) -> Vec<Arc<Job>> {
        self.locked().clone()
    }

    /// A job that has not succeeded for too long, and how long that is.
    pub fn overdue(&self) -> Option<(&'static str, Duration)> {
        self.overdue_at(Instant::now())
    }

    fn overdue_at(&self, now: Instant) -> Option<(&'static str, Duration)> {
        self.locked().iter().find_map(|job| Some((job.name, job.overdue(now)?)))
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts jobs and restarts them. Dropping the supervisor ends them all.
pub struct Supervisor<C> {
    context: C,
    jobs: Arc<Jobs>,
    stop: watch::Receiver<bool>,
    backoff: Backoff,
    /// Jobs that finish their work when the service stops.
    finishing: JoinSet<()>,
    /// Jobs that are aborted when the service stops.
    others: JoinSet<()>,
}

impl<C: Clone + Send + Sync + 'static> Supervisor<C> {
    pub fn new(context: C, jobs: Arc<Jobs>, stop: watch::Receiver<bool>, backoff: Backoff) -> Self {
        let (finishing, others) = (JoinSet::new(), JoinSet::new());
        Self { context, jobs, stop, backoff, finishing, others }
    }

    /// Adds a job that runs at an interval.
    pub fn every<F, Fut, R>(&mut self, name: &'static str, interval: Duration, run: F)
    where
        F: Fn(C) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
        R: Into<Pass> + Send + 'static,
    {
        self.looping(name, interval, move |context: C, job| {
            let run = run.clone();
            async move { job.repeat(|| run(context.clone())).await }
        });
    }

    /// Adds a job that loops by itself and records each run.
    pub fn looping<F, Fut>(&mut self, name: &'static str, interval: Duration, work: F)
    where
        F: Fn(C, Arc<Job>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let supervised = self.supervised(name, interval, work);
        self.others.spawn(supervised);
    }

    /// The same for a job that ends by itself when the service stops.
    pub fn finishing<F, Fut>(&mut self, name: &'static str, interval: Duration, work: F)
    where
        F: Fn(C, Arc<Job>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let supervised = self.supervised(name, interval, work);
        self.finishing.spawn(supervised);
    }

    fn supervised<F, Fut>(
        &self,
        name: &'static str,
        interval: Duration,
        work: F,
    ) -> impl Future<Output = ()> + Send + use<C, F, Fut>
    where
        F: Fn(C, Arc<Job>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let job = self.jobs.add(name, interval);
        let (context, stop, backoff) = (self.context.clone(), self.stop.clone(), self.backoff);
        supervise(job, stop, backoff, move |job| work(context.clone(), job))
    }

    /// Runs until the service stops and the finishing jobs have ended.
    pub async fn run(mut self) {
        stopped(&mut self.stop).await;
        while self.finishing.join_next().await.is_some() {}
        self.others.shutdown().await;
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which counts as a stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn supervise<F, Fut>(
    job: Arc<Job>,
    mut stop: watch::Receiver<bool>,
    backoff: Backoff,
    work: F,
) where
    F: Fn(Arc<Job>) -> Fut,
    Fut: Future<Output = ()>,
{
    let mut in_a_row = 0;
    loop {
        let before = job.state().runs;
        let work = async { work(job.clone()).await };
        let ended = AssertUnwindSafe(work).catch_unwind().await;
        if *stop.borrow() {
            return;
        }
        match ended {
            Ok(()) => job.failed(&Error::internal("the job ended unexpectedly")),
            Err(panic) => {
                job.locked().panics += 1;
                let error = Error::from_panic(&*panic);
                tracing::error!(job = job.name, %error, "a background job panicked");
            }
        }
        if job.state().runs > before {
            in_a_row = 0;
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause(in_a_row)) => {}
            () = stopped(&mut stop) => return,
        }
        in_a_row += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// Short, so that a test need not wait; what it awaits are events.
    const SHORT: Backoff =
        Backoff { first: Duration::from_millis(1), longest: Duration::from_millis(2) };
    const TICK: Duration = Duration::from_millis(1);

    #[derive(Clone, Default)]
    struct Counter(Arc<(AtomicU64, Notify)>);

    impl Counter {
        fn add(&self) -> u64 {
            let count = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.1.notify_waiters();
            count
        }

        async fn reaches(&self, count: u64) {
            loop {
                let changed = self.0.1.notified();
                if self.0.0.load(Ordering::SeqCst) >= count {
                    return;
                }
                changed.await;
            }
        }
    }

    #[tokio::test]
    async fn a_job_that_panics_is_restarted_while_others_run() {
        let (jobs, stop) = (Arc::new(Jobs::default()), watch::Sender::new(false));
        let counters = (Counter::default(), Counter::default(), Counter::default());
        let (bad, good, short) = counters.clone();
        let mut supervisor = Supervisor::new(counters, jobs.clone(), stop.subscribe(), SHORT);
        supervisor.every("bad", TICK, |(bad, _, _): (Counter, Counter, Counter)| async move {
            assert!(bad.add() > 3, "not yet");
            Ok(())
        });
        supervisor.every("good", TICK, |(_, good, _): (Counter, Counter, Counter)| async move {
            good.add();
            Ok(())
        });
        supervisor.looping("short", TICK, |(_, _, short), _| async move {
            short.add();
        });
        supervisor.every("wrong", TICK, |_| async { Err::<(), _>(Error::internal("wrong")) });
        supervisor.finishing("last", TICK, |_, _| async { std::future::pending().await });
        let running = tokio::spawn(supervisor.run());
        // Past its three panics, and then several healthy runs.
        bad.reaches(6).await;
        good.reaches(6).await;
        short.reaches(3).await;
        let state = |name| jobs.all().iter().find(|job| job.name == name).unwrap().state();
        assert_eq!(state("bad").panics, 3);
        assert!(state("bad").runs >= 2 && state("bad").last_success.is_some());
        assert_eq!((state("good").panics, state("good").failures), (0, 0));
        assert!(state("short").failures >= 2, "a job that ends is started again, and counted");
        assert_eq!((state("wrong").runs, state("wrong").panics), (0, 0));
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
    }

    #[tokio::test]
    async fn a_stop_lets_deliveries_finish_and_ends_the_rest() {
        let (jobs, stop) = (Arc::new(Jobs::default()), watch::Sender::new(false));
        let (begun, finished) = (Counter::default(), Counter::default());
        let context = (begun.clone(), finished.clone(), stop.subscribe());
        type Context = (Counter, Counter, watch::Receiver<bool>);
        let mut supervisor = Supervisor::new(context, jobs, stop.subscribe(), SHORT);
        supervisor.finishing("delivers", TICK, |(begun, finished, stop): Context, _| async move {
            begun.add();
            let mut stop = stop;
            stopped(&mut stop).await;
            tokio::task::yield_now().await;
            finished.add();
        });
        supervisor.looping("goes on", TICK, |_, _| std::future::pending());
        let running = tokio::spawn(supervisor.run());
        begun.reaches(1).await;
        assert!(!running.is_finished());
        stop.send_replace(true);
        running.await.unwrap();
        assert_eq!(finished.0.0.load(Ordering::SeqCst), 1);
        assert_eq!(begun.0.0.load(Ordering::SeqCst), 1, "it is not restarted");
    }

    #[tokio::test]
    async fn a_failed_run_is_repeated_before_the_next_interval() {
        let (jobs, runs) = (Jobs::default(), Counter::default());
        let job = jobs.add("rare", Duration::from_secs(60 * 60));
        let repeated = job.repeat_with(TICK, || async {
            match runs.add() {
                3 => Ok(()),
                _ => Err(Error::internal("not yet")),
            }
        });
        tokio::select! {
            () = repeated => unreachable!("it never ends"),
            () = runs.reaches(3) => {}
        }
        assert_eq!(job.state().failures, 2);
    }

    #[test]
    fn back_off_doubles_up_to_a_minute() {
        let pauses: Vec<_> = (0..9).map(|n| Backoff::default().pause(n).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(Backoff::default().pause(u32::MAX), Duration::from_secs(60));
    }

    #[test]
    fn a_job_is_overdue_after_five_intervals_and_not_within_thirty_seconds() {
        let jobs = Jobs::default();
        let (quick, slow) = (Duration::from_secs(1), Duration::from_secs(60));
        let job = jobs.add("quick", quick);
        jobs.add("slow", slow);
        let start = Instant::now();
        let at = |seconds| jobs.overdue_at(start + Duration::from_secs(seconds));
        assert_eq!(at(29), None);
        assert_eq!(at(32).unwrap().0, "quick");
        job.may_take(Duration::from_secs(600));
        assert_eq!(at(299), None);
        assert_eq!(at(302).unwrap().0, "slow");
        job.succeeded(start + Duration::from_secs(280));
        assert_eq!(at(299), None);
        assert_eq!(at(311).unwrap().0, "quick");
        job.failed(&Error::internal("no success"));
        job.may_take(Duration::from_secs(600));
        assert_eq!(at(311).unwrap().0, "quick");
    }
}
