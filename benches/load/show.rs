//! Tables of results.

use super::{Measured, drive::Seen};

pub struct Line(Vec<String>);

impl Line {
    /// An operation beside its limit.
    pub fn new(name: &str, measured: &Measured, limit: f64) -> Self {
        let Self(mut cells) = Self::alone(name, measured);
        let ratio = match limit > 0.0 {
            true => format!("{:.2}", measured.seen.per_second() / limit),
            false => "-".into(),
        };
        cells.splice(2..2, [format!("{limit:.0}"), ratio]);
        Self(cells)
    }

    /// The latencies of one kind of calls.
    pub fn latencies(name: &str, seen: &Seen) -> Self {
        let mut cells = vec![name.into(), format!("{:.0}", seen.per_second())];
        cells.extend([0.5, 0.95, 0.99, 1.0].map(|part| format!("{:.1}", seen.at(part))));
        cells.push(others(seen));
        Self(cells)
    }

    /// An operation without a limit to compare with.
    pub fn alone(name: &str, Measured { seen, spent, stolen }: &Measured) -> Self {
        let each = 1e6 / (seen.micros.len().max(1) as f64);
        Self(vec![
            name.into(),
            format!("{:.0}", seen.per_second()),
            format!("{:.1}", seen.at(0.5)),
            format!("{:.1}", seen.at(0.99)),
            format!("{:.1}", seen.at(0.99) / seen.at(0.5).max(0.001)),
            format!("{:.0}", spent.0 * each),
            format!("{:.0}", spent.1 * each),
            format!("{:.0}", 100.0 * stolen.0 / stolen.1.max(1.0)),
            others(seen),
        ])
    }
}

fn others(seen: &Seen) -> String {
    let others: Vec<_> =
        seen.others.iter().map(|(status, count)| format!("{count} × {status}")).collect();
    match others.is_empty() {
        true => "none".into(),
        false => others.join(", "),
    }
}

/// Lines under a title.
pub struct Table {
    title: String,
    lines: Vec<Vec<String>>,
}

const AFTER: [&str; 7] =
    ["p50 ms", "p99 ms", "p99/p50", "µs CPU", "of database", "stolen %", "failed"];

impl Table {
    /// Of operations beside their limits.
    pub fn new(title: String) -> Self {
        let head = ["operation", "per s", "limit", "ratio"].into_iter().chain(AFTER);
        Self { title, lines: vec![head.map(str::to_owned).collect()] }
    }

    /// Of operations alone.
    pub fn alone(title: String) -> Self {
        let head = ["operation", "per s"].into_iter().chain(AFTER);
        Self { title, lines: vec![head.map(str::to_owned).collect()] }
    }

    /// Of the latencies of several kinds of calls.
    pub fn latencies(title: String) -> Self {
        let head = ["operation", "per s", "p50 ms", "p95 ms", "p99 ms", "max ms", "failed"];
        Self { title, lines: vec![head.map(str::to_owned).to_vec()] }
    }

    pub fn line(&mut self, Line(cells): Line) {
        self.lines.push(cells);
    }

    pub fn print(&self) {
        println!("{}", self.title);
        let width = |column: usize| {
            self.lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
        };
        for line in &self.lines {
            let cells = line.iter().enumerate().map(|(column, cell)| match column {
                0 => format!("{cell:<width$}", width = width(0)),
                _ => format!("{cell:>width$}", width = width(column)),
            });
            println!("  {}", cells.collect::<Vec<_>>().join("  "));
        }
    }
}
