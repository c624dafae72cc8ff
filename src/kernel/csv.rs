//! CSV output that is safe to open in spreadsheets.

use axum::body::Bytes;

/// Prefixes texts that a spreadsheet could interpret as a formula with `'`. Some spreadsheets split
/// cells at `;`, so the part after one is checked as a cell of its own. Numbers written by the
/// service do not pass through here: `-5` stays a number.
pub fn harmless(text: &str) -> String {
    match text.split(';').any(is_formula) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// Spreadsheets ignore white space and invisible characters in front of a formula.
fn is_formula(cell: &str) -> bool {
    let ignored = |c: char| c.is_whitespace() || c.is_control() || is_format(c);
    let rest = cell.trim_start_matches(ignored);
    let skipped = &cell[..cell.len() - rest.len()];
    skipped.contains(['\t', '\r'])
        || rest.starts_with(['=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'])
}

/// Unicode format characters (category Cf) and other ignorable characters.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}'
        | '\u{890}'..='\u{891}' | '\u{8E2}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{110BD}' | '\u{110CD}'
        | '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// One record; every field is quoted.
pub fn line<T: AsRef<str>>(cells: &[T]) -> Bytes {
    let quoted = cells.iter().map(|cell| format!("\"{}\"", cell.as_ref().replace('"', "\"\"")));
    let mut line = quoted.collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_always_quoted() {
        let line = |text: &str| {
            let line = line(&[harmless(text), "-5".to_owned()]);
            String::from_utf8(line.to_vec()).unwrap()
        };
        assert_eq!(line("=1+1"), "\"'=1+1\",\"-5\"\r\n");
        assert_eq!(line("@cmd"), "\"'@cmd\",\"-5\"\r\n");
        assert_eq!(line("PT \"Laut\", Bali"), "\"PT \"\"Laut\"\", Bali\",\"-5\"\r\n");
    }

    #[test]
    fn what_spreadsheets_skip_or_split_hides_no_formula() {
        for text in [
            "=1",
            "+1",
            "-1",
            "@x",
            " =1",
            "\u{A0}\u{3000}=1",
            "\n=1",
            "\tx",
            "\rx",
            " \tx",
            "\u{FEFF}=1",
            "\u{200B}\u{2060}@x",
            "\u{202E}-1",
            "\0=1",
            "\u{FF1D}1",
            "\u{FF0B}1",
            "\u{FF0D}1",
            "\u{FF20}x",
            "Budi;=1",
            "Budi; \u{200B}+1",
            "a;b;\u{FF1D}1",
            "Budi;\tx",
        ] {
            assert_eq!(harmless(text), format!("'{text}"), "{text:?}");
        }
        for text in ["", "Budi", "a=b", "a-b@c", "Budi; Sari", "1;2", "'=1", "5 + 5", ";"] {
            assert_eq!(harmless(text), text);
        }
    }

    /// Of what makes a formula or hides one, and a little else.
    fn hostile() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "=", "+", "-", "@", "\t", "\r", "\n", " ", ";", ",", "\"", "'", "|", "a", "1",
            "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}", "\u{FEFF}", "\u{200B}", "\u{200F}",
            "\u{2060}", "\u{3000}", "\u{AD}",
        ]);
        prop_oneof![prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat()), ".*"]
    }

    /// The rule once more, character by character.
    fn runs(cell: &str) -> bool {
        let mut at_start = true;
        for c in cell.chars() {
            match c {
                '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '\t' | '\r' if at_start => {
                    return true;
                }
                ';' => at_start = true,
                c if c.is_whitespace()
                    || matches!(
                        c,
                        '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}'
                    ) => {}
                _ => at_start = false,
            }
        }
        false
    }

    /// The fields of one record (RFC 4180), all of which are quoted.
    fn read(record: &str) -> Vec<String> {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        let mut rest = record.strip_suffix("\r\n").unwrap().chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '"' if quoted && rest.next_if_eq(&'"').is_some() => {
                    fields.last_mut().unwrap().push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => {
                    assert!(quoted, "{record:?}");
                    fields.last_mut().unwrap().push(c);
                }
            }
        }
        assert!(!quoted, "{record:?}");
        fields
    }

    proptest! {
        #[test]
        fn no_text_becomes_a_formula_or_another_text(texts in prop::collection::vec(hostile(), 1..5)) {
            let cells: Vec<_> = texts.iter().map(|text| harmless(text)).collect();
            let record = read(std::str::from_utf8(&line(&cells)).unwrap());
            prop_assert_eq!(record.len(), texts.len());
            for (cell, text) in record.iter().zip(&texts) {
                let first = cell.split(';').next().unwrap_or_default();
                prop_assert!(!runs(first), "{:?}", cell);
                if runs(text) {
                    prop_assert_eq!(cell.strip_prefix('\''), Some(text.as_str()));
                } else {
                    prop_assert!(cell == text || cell.strip_prefix('\'') == Some(text.as_str()));
                }
            }
        }
    }
}
