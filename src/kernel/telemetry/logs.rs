//! Log events as OTLP log records, with the ids of the current span.

use std::{fmt, sync::OnceLock, time::SystemTime};

use opentelemetry::logs::{AnyValue, LogRecord, Logger, Severity};
use opentelemetry_sdk::logs::SdkLogRecord;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

use super::{Telemetry, current};

/// Fields that may be or contain personal data or secrets. The log on standard error has them.
const WITHHELD: [&str; 3] = ["path", "address", "user_agent"];
/// Bytes of text in a record.
const MAX_TEXT: usize = 4_096;

/// Of this process, because it has one log.
static EXPORT: OnceLock<Telemetry> = OnceLock::new();

impl Telemetry {
    /// Exports the log of this process from now on.
    pub fn export_logs(&self) {
        let _ = EXPORT.set(self.clone());
    }
}

/// Exports the events of this service, not those of libraries (of which some send the export).
pub struct LogExport;

impl<S: Subscriber> Layer<S> for LogExport {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(Telemetry(telemetry)) = EXPORT.get() else { return };
        let (level, target) = (event.metadata().level(), event.metadata().target());
        if !target.starts_with("dermaga") || target.starts_with("dermaga::kernel::telemetry") {
            return;
        }
        let mut record = telemetry.logger.create_log_record();
        let now = SystemTime::now();
        record.set_timestamp(now);
        record.set_observed_timestamp(now);
        record.set_severity_text(level.as_str());
        record.set_severity_number(severity(level));
        record.add_attribute("code.namespace", target);
        if let Some(span) = current() {
            let span = span.context();
            record.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
        }
        event.record(&mut Fields { record: &mut record, room: MAX_TEXT });
        telemetry.logs.push(record);
    }
}

fn severity(level: &Level) -> Severity {
    match *level {
        Level::ERROR => Severity::Error,
        Level::WARN => Severity::Warn,
        Level::INFO => Severity::Info,
        Level::DEBUG => Severity::Debug,
        Level::TRACE => Severity::Trace,
    }
}

struct Fields<'a> {
    record: &'a mut SdkLogRecord,
    room: usize,
}

impl Fields<'_> {
    fn add(&mut self, field: &Field, value: impl Into<AnyValue>) {
        match field.name() {
            name if WITHHELD.contains(&name) => {}
            "message" => self.record.set_body(value.into()),
            name => self.record.add_attribute(name, value),
        }
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let text = without_email_addresses(&value[..value.floor_char_boundary(self.room)]);
        self.room = self.room.saturating_sub(text.len());
        self.add(field, text);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }
}

/// Errors quote other systems, such as a mail server that names a recipient.
fn without_email_addresses(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    let hidden = words.map(|word| if word.contains('@') { "*** " } else { word });
    hidden.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_addresses_are_hidden() {
        let text = "550 <ayu@mail.id> unknown: (email)=(ayu@mail.id)\nnext";
        assert_eq!(without_email_addresses(text), "550 *** unknown: *** next");
        assert_eq!(without_email_addresses("slow  statement"), "slow  statement");
    }
}
