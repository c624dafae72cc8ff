//! Reports as files in CSV or XLSX.

use aide::OperationInput;
use axum::{
    body::{Body, Bytes},
    extract::FromRequestParts,
    http::request::Parts,
};
use futures_util::stream;
use rust_xlsxwriter::{Format as CellFormat, Workbook};

use super::{model::Format, rules::Percent};
use crate::kernel::{
    csv,
    error::{Error, Result},
    http::{File, FileOr, Kinds, accepted},
};

const CSV: &str = "text/csv; charset=utf-8";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Format preferred by the `Accept` header.
pub struct Accepts(Option<Format>);

impl<S: Sync> FromRequestParts<S> for Accepts {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let known = |kind: &str| match kind {
            "text/csv" => Some(Format::Csv),
            XLSX => Some(Format::Xlsx),
            "application/json" | "*/*" | "application/*" => Some(Format::Json),
            _ => None,
        };
        Ok(Self(accepted(&parts.headers).find_map(known)))
    }
}

impl OperationInput for Accepts {}

impl Accepts {
    /// The query takes precedence over the header.
    pub fn or(&self, asked: Option<Format>) -> Format {
        asked.or(self.0).unwrap_or(Format::Json)
    }
}

pub enum Cell {
    Text(String),
    Number(i64),
    Percent(Option<Percent>),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) => csv::harmless(text),
            Self::Number(number) => number.to_string(),
            Self::Percent(percent) => {
                percent.map(|percent| percent.as_f64().to_string()).unwrap_or_default()
            }
        }
    }
}

pub struct Sheet {
    pub name: &'static str,
    pub header: &'static [&'static str],
    pub rows: Vec<Vec<Cell>>,
}

/// A report as JSON or as a file.
pub type Report<R> = FileOr<R, Sheets>;

pub struct Sheets;

impl Kinds for Sheets {
    const KINDS: &'static [&'static str] = &["text/csv", XLSX];
}

pub async fn file<R>(name: String, format: Format, sheets: Vec<Sheet>) -> Result<Report<R>> {
    let (kind, body) = match format {
        Format::Xlsx => {
            let made = tokio::task::spawn_blocking(move || xlsx(&sheets)).await;
            (XLSX, chunked(made.map_err(Error::internal).flatten()?))
        }
        _ => (CSV, csv_rows(sheets)),
    };
    Ok(FileOr::File(File::attached(&format!("{name}.{format}"), kind, body)?))
}

/// Streams rows; sheets are separated by an empty line.
fn csv_rows(sheets: Vec<Sheet>) -> Body {
    let rows = sheets.into_iter().enumerate().flat_map(|(n, sheet)| {
        let gap = (n > 0).then(|| Bytes::from_static(b"\r\n"));
        let header: Vec<_> = sheet.header.iter().map(|name| (*name).to_owned()).collect();
        let cells = sheet.rows.into_iter().map(|row| row.iter().map(Cell::csv).collect());
        gap.into_iter()
            .chain(std::iter::once(header).chain(cells).map(|row: Vec<String>| csv::line(&row)))
    });
    Body::from_stream(stream::iter(rows.map(Ok::<_, std::convert::Infallible>)))
}

/// XLSX is a zip archive with its directory at the end, so it is built in memory. A report has at
/// most thousands of rows.
fn xlsx(sheets: &[Sheet]) -> Result<Vec<u8>> {
    let mut book = Workbook::new();
    let bold = CellFormat::new().set_bold();
    for sheet in sheets {
        let page = book.add_worksheet();
        page.set_name(sheet.name).map_err(Error::internal)?;
        for (column, name) in (0..).zip(sheet.header) {
            page.write_with_format(0, column, *name, &bold).map_err(Error::internal)?;
        }
        for (row, cells) in (1..).zip(&sheet.rows) {
            for (column, cell) in (0..).zip(cells) {
                let written = match cell {
                    Cell::Text(text) => page.write_string(row, column, text),
                    Cell::Number(number) => page.write_number(row, column, *number as f64),
                    Cell::Percent(Some(percent)) => {
                        page.write_number(row, column, percent.as_f64())
                    }
                    Cell::Percent(None) => continue,
                };
                written.map_err(Error::internal)?;
            }
        }
    }
    book.save_to_buffer().map_err(Error::internal)
}

fn chunked(whole: Vec<u8>) -> Body {
    const PIECE: usize = 64 * 1024;
    let whole = Bytes::from(whole);
    let pieces = (0..whole.len()).step_by(PIECE).map(move |at| {
        Ok::<_, std::convert::Infallible>(whole.slice(at..(at + PIECE).min(whole.len())))
    });
    Body::from_stream(stream::iter(pieces))
}
