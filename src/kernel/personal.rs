//! Which fields of records hold personal data, and how an audit entry shows them: their names, and
//! not their values.
//!
//! - A personal value is replaced by [`MARKER`]; null stays null.
//! - An entry with a state before and after leaves out personal fields that did not change, so those
//!   that it shows are the changed ones.
//!
//! Names are personal unless they are known to name a thing. A new record with a new kind of personal
//! field adds it here; `tests/api/audit.rs` looks for personal values in the entries of all operations.

use std::collections::BTreeSet;

use serde_json::Value;
use uuid::Uuid;

/// What an audit entry shows instead of a personal value.
pub const MARKER: &str = "[personal]";

/// What stands for the name of a person who was erased.
pub const ERASED: &str = "[erased]";

/// What stands for the e-mail address of an erased account or booking: unique, and no address.
pub fn erased_address(id: Uuid) -> String {
    format!("erased-{}", id.simple())
}

/// Fields that hold personal data wherever they occur.
const FIELDS: &[&str] = &[
    "account_number",
    "addresses",
    "avatar_url",
    "bank_code",
    "birth_date",
    "email",
    "filename",
    "gender",
    "identity_number",
    "identity_type",
    "last_used_address",
    "msisdn",
    "nationality",
    "nik",
    "npwp",
    "phone",
    "redirect_url",
    "user_agent",
];

/// Fields with other names end like this: `contact_name`, `pending_email`.
const ENDINGS: &[&str] = &["_email", "_name", "_phone"];

/// Names of things.
const NAMES_OF_THINGS: &[&str] = &["from_name", "permission_name", "speedboat_name", "to_name"];

/// Objects and lists that are about a person as a whole. Ids, states and times in them are not
/// personal.
const OBJECTS: &[&str] = &[
    "address",
    "bank_account",
    "business",
    "cancelled_passengers",
    "contact",
    "passengers",
    "pic",
    "refund_account",
];

/// Records and objects whose `name` is that of a thing.
const THINGS: &[&str] =
    &["fares", "harbour", "permission", "promotion", "speedboat", "tax", "taxes"];

/// Free texts about one booking, which may name people.
const BOOKING_TEXTS: &[&str] = &["cancel_reason", "last_error", "note", "reason"];

/// Records whose free texts are about one booking.
const BOOKING_RECORDS: &[&str] = &["booking", "payment_review", "refund"];

/// Where in a record a value is.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Kind of the record.
    entity: &'a str,
    /// The field that the value belongs to; the kind of the record at its top.
    field: &'a str,
    /// Whether the value is in one of [`OBJECTS`].
    in_personal_object: bool,
    is_personal: bool,
}

impl<'a> Place<'a> {
    fn top(entity: &'a str) -> Self {
        Self { entity, field: entity, in_personal_object: false, is_personal: false }
    }

    fn of_field(self, name: &'a str) -> Self {
        let in_personal_object = self.in_personal_object || OBJECTS.contains(&name);
        let is_personal = match name {
            _ if in_personal_object => !says_nothing_about_a_person(name),
            "name" => !THINGS.contains(&self.field),
            _ if BOOKING_RECORDS.contains(&self.entity) && BOOKING_TEXTS.contains(&name) => true,
            _ if NAMES_OF_THINGS.contains(&name) => false,
            _ => FIELDS.contains(&name) || ENDINGS.iter().any(|end| name.ends_with(end)),
        };
        Self { entity: self.entity, field: name, in_personal_object, is_personal }
    }
}

fn says_nothing_about_a_person(name: &str) -> bool {
    name == "id" || name == "status" || name.ends_with("_id") || name.ends_with("_at")
}

/// The states of a record of this kind before and after a change, without personal values.
pub fn redact(
    entity: &str,
    mut before: Option<Value>,
    mut after: Option<Value>,
) -> (Option<Value>, Option<Value>) {
    redact_both(Place::top(entity), before.as_mut(), after.as_mut());
    (before, after)
}

fn redact_both(place: Place<'_>, mut before: Option<&mut Value>, mut after: Option<&mut Value>) {
    for name in names(before.as_deref(), after.as_deref()) {
        let place = place.of_field(&name);
        let was = before.as_deref_mut().and_then(|value| value.get_mut(&name));
        let is = after.as_deref_mut().and_then(|value| value.get_mut(&name));
        if is_nested(was.as_deref()) || is_nested(is.as_deref()) {
            redact_both(place, was, is);
        } else if place.is_personal && was.is_some() && was == is {
            remove(before.as_deref_mut(), &name);
            remove(after.as_deref_mut(), &name);
        } else if place.is_personal {
            was.into_iter().chain(is).for_each(mask);
        }
    }
    let length = |list: Option<&Value>| list.and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..length(before.as_deref()).max(length(after.as_deref())) {
        let was = before.as_deref_mut().and_then(|value| value.get_mut(index));
        let is = after.as_deref_mut().and_then(|value| value.get_mut(index));
        if is_nested(was.as_deref()) || is_nested(is.as_deref()) {
            redact_both(place, was, is);
        } else if place.is_personal {
            was.into_iter().chain(is).for_each(mask);
        }
    }
}

fn names(before: Option<&Value>, after: Option<&Value>) -> BTreeSet<String> {
    let objects = before.into_iter().chain(after).filter_map(Value::as_object);
    objects.flat_map(|object| object.keys().cloned()).collect()
}

fn is_nested(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.is_object() || value.is_array())
}

fn remove(object: Option<&mut Value>, name: &str) {
    if let Some(object) = object.and_then(Value::as_object_mut) {
        object.remove(name);
    }
}

fn mask(value: &mut Value) {
    if !value.is_null() {
        *value = Value::String(MARKER.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(entity: &str, before: Value, after: Value) -> (Value, Value) {
        let (before, after) = redact(entity, Some(before), Some(after));
        (before.unwrap(), after.unwrap())
    }

    #[test]
    fn a_change_shows_the_names_of_changed_fields() {
        let (before, after) = redacted(
            "account",
            json!({ "id": 1, "name": "Wayan", "email": "w@x.id", "phone": null, "role": "staff" }),
            json!({ "id": 1, "name": "Wayan", "email": "p@x.id", "phone": "+62", "role": "staff" }),
        );
        assert_eq!(
            before,
            json!({ "id": 1, "email": MARKER, "phone": null, "role": "staff" }),
            "an unchanged name is left out"
        );
        assert_eq!(after, json!({ "id": 1, "email": MARKER, "phone": MARKER, "role": "staff" }));
    }

    #[test]
    fn a_new_record_shows_which_personal_fields_it_has() {
        let (before, after) = redact("account", None, Some(json!({ "name": "W", "phone": null })));
        assert_eq!((before, after), (None, Some(json!({ "name": MARKER, "phone": null }))));
    }

    #[test]
    fn personal_objects_keep_ids_states_and_times() {
        let (_, after) = redact(
            "booking",
            None,
            Some(json!({
                "code": "DMG-1", "note": "window seat", "contact": { "email": "s@x.id" },
                "passengers": [{ "id": 7, "name": "Sari", "checked_in_at": "2026" }],
                "sailing": { "speedboat": { "name": "Bahari 1" }, "mitra": { "name": "Made" } },
                "price": { "taxes": [{ "name": "PPN", "code": "PPN" }], "total": 5 },
            })),
        );
        let expected = json!({
            "code": "DMG-1", "note": MARKER, "contact": { "email": MARKER },
            "passengers": [{ "id": 7, "name": MARKER, "checked_in_at": "2026" }],
            "sailing": { "speedboat": { "name": "Bahari 1" }, "mitra": { "name": MARKER } },
            "price": { "taxes": [{ "name": "PPN", "code": "PPN" }], "total": 5 },
        });
        assert_eq!(after, Some(expected));
    }

    #[test]
    fn lists_and_objects_that_come_or_go_are_masked() {
        let (before, after) = redacted(
            "partner",
            json!({ "pic": null, "documents": [{ "file": { "filename": "ktp made.pdf" } }] }),
            json!({ "pic": { "nik": "517", "name": "Made" }, "documents": [] }),
        );
        assert_eq!(
            before,
            json!({ "pic": null, "documents": [{ "file": { "filename": MARKER } }] })
        );
        assert_eq!(after, json!({ "pic": { "nik": MARKER, "name": MARKER }, "documents": [] }));
    }

    #[test]
    fn names_of_things_and_notes_about_them_stay() {
        let record = json!({ "name": "Desk", "description": "At the pier", "note": "x" });
        let (_, after) = redact("permission", None, Some(record.clone()));
        assert_eq!(after, Some(record));
    }
}
