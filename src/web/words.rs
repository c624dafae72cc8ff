//! Words of fields and values in both languages, from `web/words.txt` and `web/states.txt`.

use std::{collections::HashMap, sync::LazyLock};

use crate::kernel::lang::Lang;

/// How a value looks: the tone of its chip, and its word.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// `ok`, `warn`, `bad`, `info` or `none`.
    pub tone: &'static str,
    en: &'static str,
    id: &'static str,
}

impl State {
    pub fn word(self, lang: Lang) -> &'static str {
        lang.of(self.en, self.id)
    }
}

static STATES: LazyLock<HashMap<&'static str, State>> = LazyLock::new(|| {
    let rows = rows(include_str!("../../web/states.txt"));
    rows.map(|[value, tone, en, id]| (value, State { tone, en, id })).collect()
});

static WORDS: LazyLock<HashMap<&'static str, (&'static str, &'static str)>> = LazyLock::new(|| {
    let rows = rows(include_str!("../../web/words.txt"));
    rows.map(|[field, en, id]| (field, (en, id))).collect()
});

static ACTIONS: LazyLock<HashMap<&'static str, (&'static str, &'static str)>> =
    LazyLock::new(|| {
        let rows = rows(include_str!("../../web/actions.txt"));
        rows.map(|[action, en, id]| (action, (en, id))).collect()
    });

/// The columns of a table in a text file.
fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        columns.try_into().ok()
    })
}

pub fn state(value: &str) -> Option<State> {
    STATES.get(value).copied()
}

/// The word of a value in a field, where it differs from that in others.
pub fn value_of<'v>(field: &str, value: &'v str, lang: Lang) -> &'v str {
    match STATES.get(format!("{field}.{value}").as_str()) {
        Some(state) => state.word(lang),
        None => self::value(value, lang),
    }
}

/// The word of a value; the value itself if it has none.
pub fn value(value: &str, lang: Lang) -> &str {
    state(value).map_or(value, |state| state.word(lang))
}

/// What the person of an audit entry did, such as "cancelled a booking"; the action itself if it has
/// no words.
pub fn action(action: &str, lang: Lang) -> &str {
    ACTIONS.get(action).map_or(action, |(en, id)| lang.of(en, id))
}

pub fn has_action(action: &str) -> bool {
    ACTIONS.contains_key(action)
}

/// The label of a field: by its whole path (`contact.name`), else by its last part.
pub fn label(path: &str, lang: Lang) -> String {
    let last = path.rsplit('.').next().unwrap_or(path);
    let words = WORDS.get(path).or_else(|| WORDS.get(last));
    match words {
        Some((en, id)) => lang.of(en, id).to_owned(),
        None => humanized(last),
    }
}

/// What one item of a list is called, such as a passenger.
pub fn one_of(list: &str, lang: Lang) -> String {
    match WORDS.get(format!("{list}[]").as_str()) {
        Some((en, id)) => lang.of(en, id).to_owned(),
        None => label(list, lang),
    }
}

pub fn has_label(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    WORDS.contains_key(path) || WORDS.contains_key(last)
}

/// `line_count` → `Line count`
fn humanized(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_word_of_its_own_or_that_of_its_last_part() {
        assert_eq!(label("contact.name", Lang::En), "Contact");
        assert_eq!(label("name", Lang::Id), "Nama");
        assert_eq!(label("sailing.departure_at", Lang::Id), "Berangkat");
        assert_eq!(label("some_thing", Lang::Id), "Some thing");
    }

    #[test]
    fn every_line_of_the_files_is_read() {
        let lines = |text: &str| {
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count()
        };
        assert_eq!(STATES.len(), lines(include_str!("../../web/states.txt")));
        assert_eq!(WORDS.len(), lines(include_str!("../../web/words.txt")));
        assert_eq!(ACTIONS.len(), lines(include_str!("../../web/actions.txt")));
    }
}
