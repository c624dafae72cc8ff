//! Progress of the generation, on one line of the terminal.

use std::{
    io::{IsTerminal, Write},
    time::Instant,
};

/// Counts the steps of one phase after another.
pub struct Progress {
    is_visible: bool,
    phase: &'static str,
    done: u64,
    total: u64,
    started: Instant,
}

impl Progress {
    /// Written to the standard error if that is a terminal.
    pub fn visible() -> Self {
        Self { is_visible: std::io::stderr().is_terminal(), ..Self::hidden() }
    }

    pub fn hidden() -> Self {
        Self { is_visible: false, phase: "", done: 0, total: 0, started: Instant::now() }
    }

    pub(super) fn start(&mut self, phase: &'static str, total: u64) {
        *self = Self { phase, done: 0, total, started: Instant::now(), ..*self };
        self.write_line();
    }

    pub(super) fn step(&mut self) {
        self.done += 1;
        self.write_line();
    }

    pub(super) fn clear(&self) {
        self.overwrite("");
    }

    fn write_line(&self) {
        let Self { phase, done, total, .. } = *self;
        let elapsed = self.started.elapsed().as_secs();
        match (elapsed * total.saturating_sub(done)).checked_div(done) {
            Some(left) => self.overwrite(&format!("{phase} {done}/{total}, {left} s left")),
            None => self.overwrite(&format!("{phase} {done}/{total}")),
        }
    }

    fn overwrite(&self, line: &str) {
        if self.is_visible {
            // `\x1b[K` erases the rest of the line. A terminal that went away stops no generation.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
    }
}
