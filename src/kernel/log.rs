//! The log's way to standard error. A log that cannot be written (full disk, closed pipe) is
//! counted and never fails the caller.

use std::{
    fmt,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, NoLabelSet},
    metrics::MetricType,
};

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Writes to standard error and reports success whatever happens: the subscriber would print an
/// error that it is told of to standard error, which panics in the very case that it is about.
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if io::stderr().lock().write_all(line).is_err() {
            FAILURES.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many lines could not be written, as a counter of `/metrics`.
#[derive(Debug)]
pub struct Failures;

impl EncodeMetric for Failures {
    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        encoder.encode_counter::<NoLabelSet, _, u64>(&FAILURES.load(Ordering::Relaxed), None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}
