//! Texts of the OpenAPI document. `docs/operations/` has one file per tag: the tag's name and
//! description, then a section for each operation.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

/// One file per tag, in the order in which the document lists the tags.
const FILES: &[&str] = &[
    include_str!("../../../docs/operations/accounts.md"),
    include_str!("../../../docs/operations/staff.md"),
    include_str!("../../../docs/operations/partners.md"),
    include_str!("../../../docs/operations/fleet.md"),
    include_str!("../../../docs/operations/routes.md"),
    include_str!("../../../docs/operations/harbours.md"),
    include_str!("../../../docs/operations/bookings.md"),
    include_str!("../../../docs/operations/payments.md"),
    include_str!("../../../docs/operations/boarding.md"),
    include_str!("../../../docs/operations/tickets.md"),
    include_str!("../../../docs/operations/promotions.md"),
    include_str!("../../../docs/operations/taxes.md"),
    include_str!("../../../docs/operations/settlements.md"),
    include_str!("../../../docs/operations/resellers.md"),
    include_str!("../../../docs/operations/finance.md"),
    include_str!("../../../docs/operations/reports.md"),
    include_str!("../../../docs/operations/content.md"),
    include_str!("../../../docs/operations/notifications.md"),
    include_str!("../../../docs/operations/webhooks.md"),
    include_str!("../../../docs/operations/files.md"),
    include_str!("../../../docs/operations/privacy.md"),
    include_str!("../../../docs/operations/service.md"),
];

/// The events of webhooks.
static EVENTS: LazyLock<Tag> =
    LazyLock::new(|| parse(include_str!("../../../docs/operations/events.md")));

pub struct Tag {
    pub name: &'static str,
    pub description: &'static str,
    /// Operation id and description.
    pub operations: Vec<(&'static str, &'static str)>,
}

pub static TAGS: LazyLock<Vec<Tag>> =
    LazyLock::new(|| FILES.iter().map(|file| parse(file)).collect());

fn parse(file: &'static str) -> Tag {
    let mut sections = file.trim_start_matches("# ").split("\n## ").map(|section| {
        let (title, text) = section.split_once('\n').unwrap_or((section, ""));
        (title.trim(), text.trim())
    });
    let (name, description) = sections.next().unwrap_or_default();
    Tag { name, description, operations: sections.collect() }
}

/// Tag and description of an operation.
pub fn of_operation(id: &str) -> Option<(&'static str, &'static str)> {
    let (tag, text) = section(id)?;
    Some((tag, text.split_once(ERRORS).map_or(text, |(text, _)| text.trim_end())))
}

/// The error codes that the section of an operation lists.
pub fn errors_of(id: &str) -> impl Iterator<Item = &'static str> + use<> {
    let listed = section(id).and_then(|(_, text)| text.split_once(ERRORS));
    // Every second part is between backticks.
    listed.into_iter().flat_map(|(_, codes)| codes.split('`').skip(1).step_by(2))
}

/// Starts the last line of a section.
const ERRORS: &str = "\nErrors: ";

fn section(id: &str) -> Option<(&'static str, &'static str)> {
    TAGS.iter().find_map(|tag| {
        let (_, text) = tag.operations.iter().find(|(known, _)| *known == id)?;
        Some((tag.name, *text))
    })
}

/// Tag and description of an event.
pub fn of_event(name: &str) -> (&'static str, &'static str) {
    let text = EVENTS.operations.iter().find(|(known, _)| *known == name);
    let (_, text) = text.unwrap_or_else(|| panic!("docs/operations/events.md: {name} is missing"));
    (EVENTS.name, text)
}

/// The tag of events.
pub fn events() -> &'static Tag {
    &EVENTS
}

/// What is known of a field or parameter beyond its schema.
#[derive(Deserialize)]
pub struct Field {
    pub description: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub example: Option<Value>,
}

/// An example of `null` is an example.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// By `name`, or by `Schema.name` where one schema differs. A key of the file can list several.
static FIELDS: LazyLock<HashMap<&'static str, &'static Field>> = LazyLock::new(|| {
    static ENTRIES: LazyLock<HashMap<String, Field>> = LazyLock::new(|| {
        let file = include_str!("../../../docs/operations/fields.json");
        serde_json::from_str(file).expect("docs/operations/fields.json is valid")
    });
    let keys = |(keys, field): (&'static String, &'static Field)| {
        keys.split_whitespace().map(move |key| (key, field))
    };
    ENTRIES.iter().flat_map(keys).collect()
});

/// The texts that apply to a field, the most specific first.
pub fn of_field(schema: &str, name: &str) -> impl Iterator<Item = &'static Field> {
    let specific = FIELDS.get(format!("{schema}.{name}").as_str());
    specific.into_iter().chain(FIELDS.get(name)).copied()
}

pub fn field_keys() -> impl Iterator<Item = &'static str> {
    FIELDS.keys().copied()
}
