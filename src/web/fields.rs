//! The fields of a form as templates show them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    client::Fault,
    format::{Locale, is_money},
    forms::{ADDED, Spec, Values, field_of},
    schema::{Field, Input, Kind},
    words,
};
use crate::kernel::lang::Lang;

/// A field with its value and its fault.
#[derive(Debug, Default, Serialize)]
pub struct FieldView {
    pub name: String,
    /// Of its element.
    pub id: String,
    pub label: String,
    /// How it is edited: `text`, `long`, `select`, …
    pub widget: String,
    pub value: String,
    /// Of lists and files.
    pub values: Vec<String>,
    pub options: Vec<Choice>,
    pub required: bool,
    /// Required unless something else of the form stands for it: the browser does not insist.
    pub conditional: bool,
    /// Not required by the form, but to hand in the papers that it belongs to.
    pub needed: bool,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    pub max_length: Option<u64>,
    pub autocomplete: &'static str,
    pub error: Option<String>,
    /// What the records to choose from are searched by, if there are more than are listed.
    pub search: Option<String>,
    /// What one row of a list is called.
    pub one: String,
    /// The rows of a list.
    pub rows: Vec<Row>,
    /// Whether typing begins here: the first field of a row that was just added.
    pub focus: bool,
}

impl FieldView {
    pub fn has_files(&self) -> bool {
        let rows = || self.rows.iter().flat_map(|row| &row.fields);
        self.widget.starts_with("file") || rows().any(Self::has_files)
    }
}

#[derive(Debug, Serialize)]
pub struct Row {
    /// Such as `times[0]`.
    pub name: String,
    pub number: usize,
    pub fields: Vec<FieldView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    pub value: String,
    pub label: String,
}

/// A fault in the summary of a form.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// The element of its field; empty if the form does not show it.
    pub id: String,
    pub label: String,
    pub message: String,
}

/// Everything that the fields of a form depend on.
pub struct Form<'a> {
    pub input: &'a Input,
    pub values: &'a Values,
    pub faults: &'a [Fault],
    /// Records to choose from, by field.
    pub choices: &'a HashMap<&'static str, Vec<Choice>>,
    pub lang: Lang,
}

impl Form<'_> {
    pub fn fields(&self, specs: &[Spec]) -> Vec<FieldView> {
        specs.iter().filter_map(|spec| self.field(spec, None, "")).collect()
    }

    /// The fields of a row, whose names begin with `prefix`.
    fn row(&self, list: &str, prefix: &str, specs: &[Spec]) -> Vec<FieldView> {
        specs.iter().filter_map(|spec| self.field(spec, Some(list), prefix)).collect()
    }

    fn field(&self, spec: &Spec, list: Option<&str>, prefix: &str) -> Option<FieldView> {
        let field = field_of(self.input, list, &spec.path)?;
        let name = format!("{prefix}{}", spec.path);
        let several = format!("{name}[]");
        let widget = widget(field, spec, self.choices.contains_key(spec.path.as_str()));
        // Nobody types an id: without records to choose from the field is left out.
        if field.kind == Kind::Id && widget == "text" {
            return None;
        }
        let mut values: Vec<String> = self.values.all(&several).map(str::to_owned).collect();
        values.retain(|value| !value.is_empty());
        // An untouched checkbox: the browser sends `false` for one that was cleared.
        let initial = if field.is_on { "true" } else { "" };
        let mut value = self.values.get(&name).unwrap_or(initial).to_owned();
        if widget == "lines" && !values.is_empty() {
            value = values.join("\n");
        }
        let label = match list {
            Some(list) => words::label(&format!("{list}.{}", spec.path), self.lang),
            None => words::label(&spec.path, self.lang),
        };
        let whole = |limit: Option<f64>| limit.filter(|limit| limit.abs() < 1e15).map(|n| n as i64);
        Some(FieldView {
            id: element_id(&name),
            options: self.options(field, spec, &value),
            one: words::one_of(&spec.path, self.lang),
            rows: self.rows(&name, spec),
            error: self.error(&name),
            search: self.values.get(&format!("_search.{name}")).map(str::to_owned),
            conditional: false,
            needed: false,
            focus: false,
            required: field.required && !matches!(field.kind, Kind::Boolean | Kind::List(_)),
            minimum: whole(field.minimum),
            maximum: whole(field.maximum),
            max_length: field.max_length,
            autocomplete: autocomplete(&spec.path),
            widget,
            label,
            name,
            value,
            values,
        })
    }

    fn rows(&self, name: &str, spec: &Spec) -> Vec<Row> {
        if spec.children.is_empty() {
            return Vec::new();
        }
        let rows = (0..self.values.rows(name).max(1)).map(|row| {
            let name = format!("{name}[{row}]");
            let mut fields = self.row(&spec.path, &format!("{name}."), &spec.children);
            if let Some(first) = fields.first_mut() {
                first.focus = self.values.get(ADDED) == Some(&name);
            }
            Row { name, number: row + 1, fields }
        });
        rows.collect()
    }

    fn options(&self, field: &Field, spec: &Spec, value: &str) -> Vec<Choice> {
        if let Some(records) = self.choices.get(spec.path.as_str()) {
            let mut records = records.clone();
            // What is chosen now may not be among the records any more.
            if !value.is_empty() && !records.iter().any(|record| record.value == value) {
                records.push(Choice { value: value.into(), label: value.into() });
            }
            return records;
        }
        let words = match &field.kind {
            Kind::Choice(words) => words,
            Kind::List(item) => match item.as_ref() {
                Kind::Choice(words) => words,
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let choice = |word: &String| Choice {
            value: word.clone(),
            label: words::value_of(&field.name, word, self.lang).to_owned(),
        };
        words.iter().map(choice).collect()
    }

    fn error(&self, name: &str) -> Option<String> {
        let fault = self.faults.iter().find(|fault| {
            // A fault of an item in a list of words is shown at the list.
            let item = fault.field.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
            fault.field == name || (item && !fault.field.contains("]."))
        });
        fault.map(|fault| fault.message.clone())
    }

    /// The faults for the summary, in the order of the form.
    pub fn problems(&self, fields: &[FieldView]) -> Vec<Problem> {
        let mut shown = Vec::new();
        collect(fields, &mut shown);
        let problems = self.faults.iter().map(|fault| {
            let base = fault.field.split_once('[').map_or(fault.field.as_str(), |(base, _)| base);
            let by_name = |name: &str| shown.iter().position(|(known, ..)| *known == name);
            let place = by_name(&fault.field).or_else(|| by_name(base));
            let (id, label) = match place {
                Some(place) => (shown[place].1.to_owned(), shown[place].2.clone()),
                None => (String::new(), words::label(&fault.field, self.lang)),
            };
            let problem = Problem { id, label, message: fault.message.clone() };
            (place.unwrap_or(usize::MAX), problem)
        });
        let mut problems: Vec<_> = problems.collect();
        problems.sort_by_key(|(place, _)| *place);
        problems.into_iter().map(|(_, problem)| problem).collect()
    }
}

/// Name, element and label of all fields; those of a row say its number.
fn collect<'f>(fields: &'f [FieldView], shown: &mut Vec<(&'f str, &'f str, String)>) {
    for field in fields {
        shown.push((&field.name, &field.id, field.label.clone()));
        for row in &field.rows {
            let label =
                |child: &FieldView| format!("{} {}, {}", field.one, row.number, child.label);
            shown.extend(row.fields.iter().map(|child| (&*child.name, &*child.id, label(child))));
        }
    }
}

fn element_id(name: &str) -> String {
    let id = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    format!("f-{}", id.collect::<String>())
}

fn widget(field: &Field, spec: &Spec, has_choices: bool) -> String {
    let name = field.name.as_str();
    let widget = match &field.kind {
        _ if !spec.widget.is_empty() => &spec.widget,
        _ if name.ends_with("file_ids") => "files",
        _ if name.ends_with("file_id") => "file",
        Kind::List(_) if has_choices => "checks",
        // Records of a kind that is not chosen yet.
        Kind::List(item) if **item == Kind::Id => "choose",
        _ if has_choices => "select",
        Kind::List(item) => match item.as_ref() {
            Kind::Object(_) => "rows",
            Kind::Choice(_) => "checks",
            _ => "lines",
        },
        Kind::Choice(_) => "select",
        Kind::Boolean => "checkbox",
        Kind::Integer if is_money(name) => "money",
        Kind::Integer => "integer",
        Kind::Number => "decimal",
        Kind::Date => "date",
        Kind::Time => "time",
        Kind::Email => "email",
        Kind::Password => "password",
        _ if name.contains("password") => "password",
        _ if matches!(name, "phone" | "msisdn") => "tel",
        _ if field.max_length.is_some_and(|length| length >= 1_000) => "long",
        _ => "text",
    };
    widget.to_owned()
}

fn autocomplete(path: &str) -> &'static str {
    match path {
        "email" => "email",
        "phone" => "tel",
        "name" => "name",
        "password" | "cpassword" => "new-password",
        "current_password" => "current-password",
        _ => "off",
    }
}

/// Records as choices: the id, and the fields that name it.
pub fn choices(data: &Value, label: &str, locale: Locale) -> Vec<Choice> {
    let records =
        data.as_array().or_else(|| data["items"].as_array()).or_else(|| data["grants"].as_array());
    let choice = |record: &Value| {
        let parts = label.split(' ').map(|path| locale.plain(record, path));
        let label = parts.collect::<Vec<_>>().join(" · ");
        // A grant is chosen by its partner.
        let id = record["id"].as_str().or_else(|| record["mitra_id"].as_str())?;
        Some(Choice { value: id.to_owned(), label })
    };
    records.into_iter().flatten().filter_map(choice).collect()
}
