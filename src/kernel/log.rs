//! Log output to standard error. Failed writes (full disk, closed pipe) are counted and never fail
//! the caller.

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

/// Writes to standard error and always reports success. The subscriber would print a reported error
/// to standard error as well, which panics.
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

/// Counter of lines that could not be written, for `/metrics`.
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
