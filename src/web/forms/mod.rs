//! Forms: what a browser posted becomes the JSON that an operation takes, and what an operation
//! refused is shown at its field.
//!
//! `read` takes the values and the files of a request. `spec` names the fields that a page shows, and
//! `body` makes the JSON.

mod body;
mod read;
mod spec;
mod upload;

use std::collections::BTreeMap;

use serde_json::Value;

use super::format::at;
use crate::kernel::error::{Error, Result};

pub use body::{body, field_of};
pub use read::{Unread, is_multipart, read};
pub use spec::Spec;
pub use upload::{Upload, multipart};

/// The most fields of one form.
const MAX_FIELDS: usize = 2_000;
/// The row that was just added.
pub const ADDED: &str = "_added";
/// The most rows of a list in a form.
const MAX_ROWS: usize = 200;

/// The fields of a form by their names, such as `times[0].departure_time` or `rules[]`. Names that
/// begin with `_` are not sent to the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(pub Vec<(String, String)>);

impl Values {
    pub fn push(&mut self, name: String, value: String) -> Result<()> {
        if self.0.len() >= MAX_FIELDS {
            return Err(Error::TooLarge);
        }
        self.0.push((name, value));
        Ok(())
    }

    /// The named parameters of an address. A link fills in no more than that, and presses no button.
    pub fn of_address(query: &[(String, String)], names: &[&str]) -> Self {
        let is_named = |(name, _): &&(String, String)| names.contains(&name.as_str());
        Self(query.iter().filter(is_named).cloned().collect())
    }

    /// The last value of a name: a checkbox follows the hidden field that stands for its absence.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn take(&mut self, name: &str) -> Option<String> {
        let value = self.get(name).map(str::to_owned);
        self.0.retain(|(known, _)| known != name);
        value
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// Without what must not be shown again.
    pub fn without_secrets(mut self) -> Self {
        self.0.retain(|(name, _)| {
            let last = name.rsplit('.').next().unwrap_or(name);
            !matches!(last, "password" | "cpassword" | "current_password" | "_password" | "_code")
        });
        self
    }

    /// How many rows a list has. A name with a number that no form has is no row: whoever sends it
    /// must not make us build all rows before it.
    pub fn rows(&self, list: &str) -> usize {
        let indexes = self.0.iter().filter_map(|(name, _)| row_of(name, list));
        indexes.filter(|row| *row < MAX_ROWS).max().map_or(0, |last| last + 1)
    }

    /// Adds an empty row to a list, where typing goes on. A form shows one row of a list without values.
    pub fn add_row(&mut self, list: &str) {
        let row = format!("{list}[{}]", self.rows(list).clamp(1, MAX_ROWS - 1));
        self.0.push((format!("{row}._row"), String::new()));
        self.set(ADDED, row);
    }

    /// Removes a row, such as `times[1]`.
    pub fn remove_row(&mut self, row: &str) {
        let prefix = format!("{row}.");
        self.0.retain(|(name, _)| !name.starts_with(&prefix));
        *self = std::mem::take(self).renumbered();
    }

    /// Drops rows that were left empty except for checkboxes, and numbers the others without gaps, so that faults of the API
    /// name the rows that the form shows.
    fn normalized(mut self) -> Self {
        let mut filled: BTreeMap<String, bool> = BTreeMap::new();
        for (name, value) in &self.0 {
            if let Some(row) = row_name(name) {
                let has = !matches!(value.trim(), "" | "false" | "true");
                *filled.entry(row.to_owned()).or_default() |= has;
            }
        }
        self.0.retain(|(name, _)| row_name(name).is_none_or(|row| filled[row]));
        self.renumbered()
    }

    fn renumbered(mut self) -> Self {
        let mut numbers: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in &mut self.0 {
            let Some((list, row, rest)) = split_row(name) else { continue };
            let number = *numbers.entry((list.to_owned(), row)).or_insert_with(|| {
                let next = next.entry(list.to_owned()).or_default();
                *next += 1;
                *next - 1
            });
            *name = format!("{list}[{number}]{rest}");
        }
        self.0.retain(|(name, _)| split_row(name).is_none_or(|(_, row, _)| row < MAX_ROWS));
        self
    }

    /// The values of a record, for the fields of a form.
    pub fn of_record(record: &Value, fields: &[Spec]) -> Self {
        let mut values = Self::default();
        for field in fields {
            values.add(&field.path, at(record, &field.path), &field.children);
        }
        values
    }

    fn add(&mut self, name: &str, value: &Value, children: &[Spec]) {
        match value {
            Value::Null => {}
            Value::String(text) => self.0.push((name.to_owned(), text.clone())),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    match item {
                        Value::Object(_) => {
                            for child in children {
                                let value = at(item, &child.path);
                                let name = format!("{name}[{index}].{}", child.path);
                                self.add(&name, value, &child.children);
                            }
                        }
                        item => self.add(&format!("{name}[]"), item, children),
                    }
                }
            }
            Value::Object(_) => {}
            other => self.0.push((name.to_owned(), other.to_string())),
        }
    }
}

/// `times[3].days` → `times`, 3, `.days`
fn split_row(name: &str) -> Option<(&str, usize, &str)> {
    let (list, rest) = name.split_once('[')?;
    let (row, rest) = rest.split_once(']')?;
    Some((list, row.parse().ok()?, rest))
}

/// `times[3].days` → `times[3]`
fn row_name(name: &str) -> Option<&str> {
    let (list, ..) = split_row(name)?;
    let end = name[list.len()..].find(']')?;
    Some(&name[..=list.len() + end])
}

fn row_of(name: &str, list: &str) -> Option<usize> {
    let (known, row, _) = split_row(name)?;
    (known == list).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Values(pairs.collect()).normalized()
    }

    #[test]
    fn rows_are_added_and_removed() {
        let mut form = values(&[("lines[0].account", "bank"), ("lines[1].account", "cash")]);
        form.remove_row("lines[0]");
        assert_eq!(form.get("lines[0].account"), Some("cash"));
        form.add_row("lines");
        assert_eq!(form.rows("lines"), 2);
        let mut untouched = values(&[]);
        untouched.add_row("lines");
        assert_eq!(untouched.rows("lines"), 2);
    }

    #[test]
    fn a_row_beyond_the_limit_is_none() {
        let row = |number: &str| Values(vec![(format!("lines[{number}].account"), "x".into())]);
        for number in ["200", "4000000000", "18446744073709551615", "99999999999999999999"] {
            assert_eq!(row(number).rows("lines"), 0, "{number}");
        }
        assert_eq!(row("199").rows("lines"), 200);
    }

    #[test]
    fn passwords_are_not_shown_again() {
        let form = values(&[("email", "a@b.c"), ("password", "x"), ("current_password", "y")]);
        assert_eq!(form.without_secrets().0, [("email".into(), "a@b.c".into())]);
    }
}
