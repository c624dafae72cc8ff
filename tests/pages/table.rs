//! The table of pages against the table of operations.

use std::collections::{BTreeSet, HashSet};

use dermaga::{api, pages, web::words};
use serde_json::Value;

use crate::world::World;

/// Operations that no page uses, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("payment_callback", "called by providers"),
    ("payout_callback", "called by providers"),
    ("publish_route", "the POST is used"),
    ("presign_url", "forms upload through the service"),
    ("receive_file", "forms upload through the service"),
    ("live", "a probe"),
    ("ready", "a probe"),
    ("validate_promo", "quote_booking says the same, with the whole price"),
    ("list_own_speedboats", "list_speedboats answers the same"),
    ("get_catalog_speedboat", "the page of its partner has all boats"),
];

fn used() -> HashSet<&'static str> {
    pages::pages().pages.iter().flat_map(|page| page.operations().chain([page.guard])).collect()
}

#[tokio::test]
async fn every_operation_of_a_page_exists() {
    let world = World::on_sqlite().await;
    let table = api::table(world.app.clone());
    let known: HashSet<_> = table.operations().iter().map(|operation| operation.id).collect();
    // For uploads.
    let used: BTreeSet<_> = used().into_iter().chain(["upload_file"]).collect();
    let unknown: Vec<_> = used.iter().filter(|id| !known.contains(**id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[tokio::test]
async fn every_operation_is_on_a_page_or_left_out_for_a_reason() {
    let world = World::on_sqlite().await;
    let table = api::table(world.app.clone());
    let used = used();
    let left_out: HashSet<_> = LEFT_OUT.iter().map(|(id, _)| *id).collect();
    for operation in table.operations() {
        let id = operation.id;
        let on_page = used.contains(id) || id == "upload_file";
        assert!(on_page || left_out.contains(id), "{id} is on no page");
        assert!(!(on_page && left_out.contains(id)), "{id} is on a page and left out");
    }
}

#[test]
fn every_value_of_the_api_has_a_word() {
    /// Identifiers, and parameters that no page shows.
    const TECHNICAL: &[&str] =
        &["Rule", "EventName", "Format", "ListFormat", "ManifestFormat", "Kind"];
    let document: Value = serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
    let mut missing = BTreeSet::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if TECHNICAL.contains(&name.as_str()) || name.ends_with("Sort") {
            continue;
        }
        for value in schema["enum"].as_array().into_iter().flatten() {
            let value = value.as_str().unwrap();
            if words::state(value).is_none() {
                missing.insert(format!("{name}: {value}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_column_and_field_has_a_label() {
    let mut missing = BTreeSet::new();
    for page in pages::pages().pages {
        let columns = page.columns.split_whitespace();
        let tables = page.tables.iter().flat_map(|(_, columns)| columns.split_whitespace());
        let columns = columns.chain(tables).map(|column| column.split(':').next().unwrap());
        let fields = page.fields.split([' ', '[', ']']).filter(|field| !field.is_empty());
        let fields = fields.filter(|field| !field.ends_with(":hidden"));
        let fields = fields.map(|field| field.split(':').next().unwrap());
        for name in columns.chain(fields).filter(|name| !name.is_empty()) {
            if !words::has_label(name) {
                missing.insert(format!("{}: {name}", page.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
