//! Lists as CSV files. The ids of the rows are read at once, the rows in chunks while the file is sent,
//! so that a file takes little memory. Rows that are deleted meanwhile are left out.

use std::collections::HashMap;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};

use super::{File, FileOr, Kinds, Page};
use crate::kernel::{
    csv,
    error::{Error, Result},
    ids::Uuid,
    lang::text,
};

crate::string_enum! {
    pub enum ListFormat { Json = "json", Csv = "csv" }
}

/// How many rows a file has at most.
const MAX: usize = 50_000;
/// One more, so that too many are noticed.
pub const LIMIT: i64 = MAX as i64 + 1;
const CHUNK: usize = 500;
const CSV: &str = "text/csv; charset=utf-8";

pub struct Csv;

impl Kinds for Csv {
    const KINDS: &'static [&'static str] = &["text/csv"];
}

/// One page of a list as JSON, or all of it as a file.
pub type PageOrCsv<T> = FileOr<Page<T>, Csv>;

/// The cells of a row. Texts of people pass through [`csv::harmless`].
pub type Row = Vec<String>;

/// A file of the rows with these ids. `read` reads some of them, in any order.
pub fn csv<T, F, Read>(
    name: &str,
    header: &'static [&'static str],
    ids: Vec<Uuid>,
    read: F,
) -> Result<PageOrCsv<T>>
where
    F: Fn(Vec<Uuid>) -> Read + Send + 'static,
    Read: Future<Output = Result<Vec<(Uuid, Row)>>> + Send + 'static,
{
    if ids.len() > MAX {
        return Err(Error::field(
            "format",
            "max_items",
            text(
                "A file has at most 50,000 rows. Narrow the selection.",
                "Berkas paling banyak 50.000 baris. Persempit pilihan.",
            ),
        ));
    }
    let chunks: Vec<Vec<Uuid>> = ids.chunks(CHUNK).map(<[Uuid]>::to_vec).collect();
    let rows = stream::iter(chunks).then(move |ids| {
        let rows = read(ids.clone());
        async move {
            rows.await.map(|rows| lines(&ids, rows)).map_err(|error| {
                tracing::warn!(%error, "an export ended early");
                std::io::Error::other(error.to_string())
            })
        }
    });
    let header = stream::once(std::future::ready(Ok(csv::line(header))));
    let file = File::attached(&format!("{name}.csv"), CSV, Body::from_stream(header.chain(rows)))?;
    Ok(FileOr::File(file))
}

/// The rows in the order of the ids.
fn lines(ids: &[Uuid], rows: Vec<(Uuid, Row)>) -> Bytes {
    let rows: HashMap<Uuid, Row> = rows.into_iter().collect();
    let mut lines = Vec::new();
    for row in ids.iter().filter_map(|id| rows.get(id)) {
        lines.extend_from_slice(&csv::line(row));
    }
    lines.into()
}

/// A value that the service writes itself; empty if there is none.
pub fn plain(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text of somebody; empty if there is none.
pub fn words(text: Option<impl AsRef<str>>) -> String {
    text.map(|text| csv::harmless(text.as_ref())).unwrap_or_default()
}
