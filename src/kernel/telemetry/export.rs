//! Bounded queues, each with a task that exports batches of its items.

use std::time::Duration;

use futures_util::future::BoxFuture;
use opentelemetry_sdk::error::OTelSdkResult;
use prometheus_client::metrics::counter::Counter;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use super::EXPORT_TIMEOUT;
use crate::kernel::metrics::Metrics;

/// How many items wait. More are dropped: while the collector is down, memory must not grow.
const QUEUED: usize = 2_048;
const BATCH: usize = 512;
/// How long a batch is gathered.
const GATHER: Duration = Duration::from_secs(1);

pub struct Queue<T> {
    sender: mpsc::Sender<T>,
    dropped: Counter,
}

impl<T: Send + 'static> Queue<T> {
    pub fn start(
        name: &'static str,
        metrics: &Metrics,
        stop: &watch::Sender<bool>,
        running: &mut JoinSet<()>,
        export: impl Fn(Vec<T>) -> BoxFuture<'static, OTelSdkResult> + Send + 'static,
    ) -> Self {
        let (sender, items) = mpsc::channel(QUEUED);
        let dropped = metrics.otlp_dropped.clone();
        running.spawn(run(name, items, stop.subscribe(), dropped.clone(), export));
        Self { sender, dropped }
    }

    /// Never waits.
    pub fn push(&self, item: T) {
        if self.sender.try_send(item).is_err() {
            self.dropped.inc();
        }
    }
}

/// Exports batches until the service stops or the queue is dropped, and then the rest. The log has one
/// line for each outage; `LogExport` skips the lines of this module.
async fn run<T>(
    name: &'static str,
    mut items: mpsc::Receiver<T>,
    mut stop: watch::Receiver<bool>,
    dropped: Counter,
    export: impl Fn(Vec<T>) -> BoxFuture<'static, OTelSdkResult>,
) {
    let mut down = false;
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            taken = items.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    return;
                }
            }
            _ = stop.wait_for(|stop| *stop), if !items.is_closed() => {
                items.close();
                continue;
            }
        }
        if batch.len() < BATCH && !items.is_closed() {
            let _ = tokio::time::timeout(GATHER, stop.wait_for(|stop| *stop)).await;
        }
        while batch.len() < BATCH
            && let Ok(item) = items.try_recv()
        {
            batch.push(item);
        }
        let count = batch.len() as u64;
        let why = match tokio::time::timeout(EXPORT_TIMEOUT, export(batch)).await {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why.to_string()),
            Err(_) => Some("no response".to_owned()),
        };
        if why.is_some() {
            dropped.inc_by(count);
        }
        match &why {
            Some(why) if !down => tracing::warn!("the collector does not accept {name}: {why}"),
            None if down => tracing::info!("the collector accepts {name} again"),
            _ => {}
        }
        down = why.is_some();
    }
}
