//! Lines of CSV that a spreadsheet opens without harm.

use axum::body::Bytes;

/// A text that a spreadsheet would take for a formula is one no more.
pub fn harmless(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

pub fn line<T: AsRef<[u8]>>(cells: &[T]) -> Bytes {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    // Writing to memory does not fail.
    let _ = writer.write_record(cells);
    writer.into_inner().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_always_quoted_where_it_must_be() {
        let line = |text: &str| {
            let line = line(&[harmless(text), "-5".to_owned()]);
            String::from_utf8(line.to_vec()).unwrap()
        };
        assert_eq!(line("=1+1"), "'=1+1,-5\r\n");
        assert_eq!(line("@cmd"), "'@cmd,-5\r\n");
        assert_eq!(line("PT \"Laut\", Bali"), "\"PT \"\"Laut\"\", Bali\",-5\r\n");
    }
}
