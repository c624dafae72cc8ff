//! Entries of the audit log as their page shows them.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::{
    kernel::{html::escape, personal::MARKER},
    web::{
        format::{Locale, time},
        words,
    },
};

/// The pages of records, by the entity of an entry, with the operations that they show.
const PAGES: &[(&str, &str, &str)] = &[
    ("account", "users", "get_user"),
    ("booking", "bookings", "get_booking"),
    ("partner", "partners", "partner_overview"),
    ("permission", "permissions", "get_permission"),
    ("promotion", "promotions", "get_promotion"),
    ("refund", "refunds", "get_refund"),
    ("route", "routes", "get_route"),
    ("sailing", "sailings", "get_route_time"),
    ("settlement", "settlements", "get_settlement"),
    ("speedboat", "boats", "get_speedboat"),
    ("staff", "staff", "get_staff"),
];

/// An entry with the fields that have changed, as HTML: rows of a table. A record has many fields, and a
/// page many records: the template only prints them.
pub fn audit_entry(entry: &Value, locale: Locale) -> Value {
    let (before, after) = (&entry["before"], &entry["after"]);
    let removed = names(before).filter(|name| after.get(name.as_str()).is_none());
    let all = names(after).chain(removed);
    let changed = |name: &&String| {
        let (before, after) = (&before[name.as_str()], &after[name.as_str()]);
        before != after || is_personal(before) || is_personal(after)
    };
    let mut changes = String::new();
    for name in all.filter(changed) {
        let shown = |side: &Value| match side.is_object() {
            true => locale.field(side, name),
            false => "–".to_owned(),
        };
        let label = escape(&words::label(name, locale.lang));
        let (before, after) = (shown(before), shown(after));
        let _ = write!(
            changes,
            "<tr><th scope=\"row\">{label}</th><td>{before}</td><td>{after}</td></tr>"
        );
    }
    let page = PAGES.iter().find(|(entity, ..)| entry["entity_type"] == *entity);
    let at = entry["created_at"].as_str().unwrap_or_default();
    let when = at.parse::<DateTime<Utc>>().map(|moment| locale.when(moment, locale.zone));
    json!({
        "when": time(at, &when.unwrap_or_default()),
        "actor": entry["actor"]["name"],
        "on_behalf_of": entry["on_behalf_of"]["name"],
        "says": words::action(entry["action"].as_str().unwrap_or_default(), locale.lang),
        "action": entry["action"],
        "page": page.map(|(_, page, _)| page),
        "operation": page.map(|(.., operation)| operation),
        "address": entry["address"],
        "request_id": entry["request_id"],
        "entity_id": entry["entity_id"],
        "changes_html": changes,
    })
}

/// Whether a personal value has changed: unchanged ones are left out of an entry.
fn is_personal(value: &Value) -> bool {
    match value {
        Value::String(text) => text == MARKER,
        Value::Array(all) => all.iter().any(is_personal),
        Value::Object(fields) => fields.values().any(is_personal),
        _ => false,
    }
}

fn names(fields: &Value) -> impl Iterator<Item = &String> {
    fields.as_object().into_iter().flat_map(Map::keys)
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;
    use crate::kernel::lang::Lang;

    const LOCALE: Locale = Locale { lang: Lang::En, zone: Tz::Asia__Jakarta, opens_bookings: true };

    fn row(label: &str, before: &str, after: &str) -> String {
        format!("<tr><th scope=\"row\">{label}</th><td>{before}</td><td>{after}</td></tr>")
    }

    #[test]
    fn fields_that_are_the_same_are_left_out() {
        let entry = json!({
            "action": "speedboat.updated", "entity_type": "speedboat",
            "created_at": "2026-11-16T00:00:00Z",
            "before": { "name": "Bahari", "capacity": 30, "engine": null, "note": "<old>" },
            "after": { "name": "Bahari", "capacity": 40, "engine": "2 x 300 HP" },
        });
        let shown = audit_entry(&entry, LOCALE);
        let none = "<span class=\"none\">–</span>";
        let expected = [
            row("Seats", "30", "40"),
            row("Engine", none, "2 x 300 HP"),
            row("Note", "&lt;old&gt;", none),
        ];
        assert_eq!(shown["changes_html"], expected.concat());
        assert_eq!(
            (&shown["action"], &shown["page"]),
            (&json!("speedboat.updated"), &json!("boats"))
        );
    }

    #[test]
    fn changed_personal_fields_are_shown_without_their_values() {
        let entry = json!({
            "before": { "phone": MARKER, "contact": { "name": MARKER }, "role": "staff" },
            "after": { "phone": MARKER, "contact": { "name": MARKER }, "role": "staff" },
        });
        let changes = audit_entry(&entry, LOCALE)["changes_html"].clone();
        let rows = changes.as_str().unwrap().matches("<tr>").count();
        let has = |label| changes.as_str().unwrap().contains(&format!(">{label}</th>"));
        assert!(rows == 2 && has("Contact") && has("Telephone"), "{changes}");
    }

    #[test]
    fn a_record_without_a_past_has_one_side() {
        let entry = json!({ "before": null, "after": { "name": "Bahari", "note": null } });
        let changes = &audit_entry(&entry, LOCALE)["changes_html"];
        assert_eq!(*changes, row("Name", "–", "Bahari"));
    }
}
