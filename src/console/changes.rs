//! Entries of the audit log as their page shows them.

use serde_json::{Map, Value, json};

/// An entry with the fields that have changed. A record has many that have not.
pub fn changed_fields(entry: &Value) -> Value {
    let (before, after) = (&entry["before"], &entry["after"]);
    let mut shown = entry.clone();
    for (side, fields) in [("before", before), ("after", after)] {
        let Some(fields) = fields.as_object() else { continue };
        let changed =
            fields.iter().filter(|(name, _)| before[name.as_str()] != after[name.as_str()]);
        let changed: Map<_, _> =
            changed.map(|(name, value)| (name.clone(), value.clone())).collect();
        shown[side] = json!(changed);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_the_same_are_left_out() {
        let entry = json!({
            "action": "speedboat.updated",
            "before": { "name": "Bahari", "capacity": 30, "engine": null },
            "after": { "name": "Bahari", "capacity": 40, "engine": "2 x 300 HP" },
        });
        let shown = changed_fields(&entry);
        assert_eq!(shown["before"], json!({ "capacity": 30, "engine": null }));
        assert_eq!(shown["after"], json!({ "capacity": 40, "engine": "2 x 300 HP" }));
        assert_eq!(shown["action"], "speedboat.updated");
        let made = changed_fields(&json!({ "before": null, "after": { "name": "Bahari" } }));
        assert_eq!(made["after"], json!({ "name": "Bahari" }));
    }
}
