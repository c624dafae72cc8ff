//! Reports as files: sheets of cells, in CSV or XLSX.

use std::marker::PhantomData;

use aide::{
    OperationInput, OperationOutput,
    generate::GenContext,
    openapi::{MediaType, Operation, Response as DocumentedResponse},
};
use axum::{
    body::{Body, Bytes},
    extract::FromRequestParts,
    http::{
        HeaderValue,
        header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use futures_util::stream;
use rust_xlsxwriter::{Format as CellFormat, Workbook};

use super::{model::Format, rules::Percent};
use crate::kernel::error::{Error, Result};

const CSV: &str = "text/csv; charset=utf-8";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// What the caller would rather have, by its `Accept` header.
pub struct Accepts(Option<Format>);

impl<S: Sync> FromRequestParts<S> for Accepts {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let wanted = parts.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let kinds = wanted.unwrap_or_default().split(',').map(|kind| kind.split(';').next());
        let known = |kind: Option<&str>| match kind.map(str::trim)? {
            "text/csv" => Some(Format::Csv),
            XLSX => Some(Format::Xlsx),
            "application/json" | "*/*" | "application/*" => Some(Format::Json),
            _ => None,
        };
        Ok(Self(kinds.into_iter().find_map(known)))
    }
}

impl OperationInput for Accepts {}

impl Accepts {
    /// The query is more explicit than the header.
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

    /// A text that a spreadsheet would take for a formula is one no more.
    fn csv(&self) -> String {
        match self {
            Self::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
                format!("'{text}")
            }
            Self::Text(text) => text.clone(),
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

/// A report: as JSON, or as a file.
pub enum Report<R> {
    Json(R),
    File(Response),
}

impl<R> Report<R> {
    pub async fn file(name: String, format: Format, sheets: Vec<Sheet>) -> Result<Self> {
        let (kind, body) = match format {
            Format::Xlsx => {
                let made = tokio::task::spawn_blocking(move || xlsx(&sheets)).await;
                (XLSX, chunked(made.map_err(Error::internal).flatten()?))
            }
            _ => (CSV, csv_rows(sheets)),
        };
        let mut response = body.into_response();
        let disposition = format!("attachment; filename=\"{name}.{format}\"");
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let disposition = HeaderValue::from_str(&disposition).map_err(Error::internal)?;
        headers.insert(CONTENT_DISPOSITION, disposition);
        Ok(Self::File(response))
    }
}

impl<R: IntoResponse> IntoResponse for Report<R> {
    fn into_response(self) -> Response {
        match self {
            Self::Json(reply) => reply.into_response(),
            Self::File(response) => response,
        }
    }
}

/// Row by row; sheets follow one another after an empty line.
fn csv_rows(sheets: Vec<Sheet>) -> Body {
    let rows = sheets.into_iter().enumerate().flat_map(|(n, sheet)| {
        let gap = (n > 0).then(|| Bytes::from_static(b"\r\n"));
        let header: Vec<_> = sheet.header.iter().map(|name| (*name).to_owned()).collect();
        let cells = sheet.rows.into_iter().map(|row| row.iter().map(Cell::csv).collect());
        gap.into_iter().chain(std::iter::once(header).chain(cells).map(line))
    });
    Body::from_stream(stream::iter(rows.map(Ok::<_, std::convert::Infallible>)))
}

fn line(cells: Vec<String>) -> Bytes {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    // Writing to memory does not fail.
    let _ = writer.write_record(&cells);
    writer.into_inner().unwrap_or_default().into()
}

/// The format is a zip archive, whose table of contents comes last and points back: it is made
/// whole, then sent piece by piece. A report has thousands of rows at most.
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

impl<R: OperationOutput> OperationOutput for Report<R> {
    type Inner = PhantomData<Self>;

    fn operation_response(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Option<DocumentedResponse> {
        let mut response = R::operation_response(ctx, operation)?;
        for kind in ["text/csv", XLSX] {
            response.content.insert(kind.to_owned(), MediaType::default());
        }
        Some(response)
    }

    fn inferred_responses(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Vec<(Option<u16>, DocumentedResponse)> {
        let response = Self::operation_response(ctx, operation);
        response.map(|response| (Some(200), response)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_csv_is_never_a_formula_and_always_quoted_where_it_must_be() {
        let cell = |text: &str| {
            let line = line(vec![Cell::text(text).csv(), Cell::Number(-5).csv()]);
            String::from_utf8(line.to_vec()).unwrap()
        };
        assert_eq!(cell("=1+1"), "'=1+1,-5\r\n");
        assert_eq!(cell("@cmd"), "'@cmd,-5\r\n");
        assert_eq!(cell("PT \"Laut\", Bali"), "\"PT \"\"Laut\"\", Bali\",-5\r\n");
    }
}
