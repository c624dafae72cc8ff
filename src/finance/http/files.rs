//! Lists and reports of the books as files.

use chrono::{Datelike, NaiveDate};

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        lang::text,
        money::Rupiah,
    },
    reports::Cell,
};

/// A file is made in memory.
pub const FILE_LINES: i64 = 20_000;

/// One more than a file may have, so that too many are noticed.
pub const FILE_LIMIT: i64 = FILE_LINES + 1;

pub fn ensure_fits<T>(lines: &[T]) -> Result<()> {
    match lines.len() as i64 > FILE_LINES {
        true => Err(Error::field(
            "format",
            "max_items",
            text(
                "A file has at most 20,000 lines. Narrow the selection.",
                "Berkas paling banyak 20.000 baris. Persempit pilihan.",
            ),
        )),
        false => Ok(()),
    }
}

pub fn amount(amount: Rupiah) -> Cell {
    Cell::Number(amount.0)
}

pub fn word(word: impl ToString) -> Cell {
    Cell::text(word.to_string())
}

/// Empty if there is none.
pub fn maybe(word: Option<impl ToString>) -> Cell {
    Cell::text(word.map(|word| word.to_string()).unwrap_or_default())
}

/// The days of a report. Default: the month of the last day, and until today.
pub fn days(
    app: &App,
    start: Option<NaiveDate>,
    end: Option<NaiveDate>,
) -> Result<(NaiveDate, NaiveDate)> {
    let end = end.unwrap_or_else(|| app.today());
    let start = start.unwrap_or_else(|| end.with_day(1).unwrap_or(end));
    match start <= end {
        true => Ok((start, end)),
        // The start alone was given, and it is in the future.
        false => {
            let message = text("The start is after the end.", "Mulai setelah berakhir.");
            Err(Error::field("start_date", "max", message))
        }
    }
}
