//! Examples of events, composed from the examples of their fields.

use serde_json::{Map, Value, json};

use super::texts;

/// Schemas refer to each other in trees; this only bounds a mistake.
const MAX_DEPTH: usize = 12;

const REFERENCE: &str = "#/components/schemas/";

/// All schemas of the document by name.
pub struct Examples<'a> {
    schemas: &'a Map<String, Value>,
}

impl<'a> Examples<'a> {
    pub fn new(schemas: &'a Map<String, Value>) -> Self {
        Self { schemas }
    }

    pub fn of_schema(&self, name: &str) -> Value {
        self.schemas.get(name).map_or(Value::Null, |schema| self.compose(schema, name, "", 0))
    }

    /// The example of a schema that is the field `field` of the schema `owner`.
    fn compose(&self, schema: &Value, owner: &str, field: &str, depth: usize) -> Value {
        let (schema, owner) = self.resolve(schema, owner);
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(first) = schema["enum"].get(0).or(schema["examples"].get(0)) {
            return first.clone();
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(branch) = self.first_branch(schema) {
            return self.field(branch, owner, field, depth);
        }
        match kinds(schema).find(|kind| *kind != "null") {
            Some("object") => {
                let properties = schema["properties"].as_object().into_iter().flatten();
                let fields = properties
                    .map(|(name, inner)| (name.clone(), self.field(inner, owner, name, depth + 1)));
                Value::Object(fields.collect())
            }
            Some("array") => json!([self.field(&schema["items"], owner, field, depth + 1)]),
            Some("string") => match schema["format"].as_str() {
                Some("uuid") => uuid(owner, field),
                Some("date-time") => json!("2026-12-24T02:00:00Z"),
                Some("date") => json!("2026-12-24"),
                _ => json!("Sanur"),
            },
            Some("integer" | "number") => match &schema["minimum"] {
                Value::Number(minimum) if minimum.as_f64() > Some(12.0) => json!(minimum),
                _ => json!(12),
            },
            Some("boolean") => json!(true),
            _ => json!({}),
        }
    }

    /// A field that has an example of its own uses it, if its type allows it.
    fn field(&self, schema: &Value, owner: &str, field: &str, depth: usize) -> Value {
        let own = texts::of_field(owner, field).filter_map(|field| field.example.as_ref());
        match own.into_iter().find(|example| self.allows(schema, example)) {
            Some(example) => example.clone(),
            None => self.compose(schema, owner, field, depth),
        }
    }

    /// Whether the type of a value fits. The values of enumerations must be listed.
    fn allows(&self, schema: &Value, value: &Value) -> bool {
        let (schema, _) = self.resolve(schema, "");
        if let Some(listed) = schema["enum"].as_array() {
            return listed.contains(value);
        }
        if let Some(branches) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            return branches.iter().any(|branch| self.allows(branch, value));
        }
        if schema.get("examples").is_some() {
            return false;
        }
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let is_any = schema.get("type").is_none() && schema.get("allOf").is_none();
        is_any || kinds(schema).any(|one| one == kind || (one, kind) == ("number", "integer"))
    }

    /// Follows references, also the one in `allOf` of a described reference. Fields of a schema that
    /// is referred to belong to that schema.
    fn resolve<'s>(&'s self, schema: &'s Value, owner: &'s str) -> (&'s Value, &'s str) {
        let described = schema["allOf"].get(0).filter(|inner| inner.get("$ref").is_some());
        let reference = schema["$ref"].as_str().or_else(|| described?["$ref"].as_str());
        let name = reference.and_then(|path| path.strip_prefix(REFERENCE));
        match name.and_then(|name| self.schemas.get_key_value(name)) {
            Some((name, schema)) => self.resolve(schema, name),
            None => (schema, owner),
        }
    }

    fn first_branch<'s>(&self, schema: &'s Value) -> Option<&'s Value> {
        let branches = schema["anyOf"].as_array().or(schema["oneOf"].as_array())?;
        branches.iter().find(|branch| branch["type"] != "null")
    }
}

/// The types that a schema allows.
fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    let several = schema["type"].as_array().into_iter().flatten();
    schema["type"].as_str().into_iter().chain(several.filter_map(Value::as_str))
}

/// The same id for `booking_id` and for the `id` of `Booking`.
fn uuid(owner: &str, field: &str) -> Value {
    let name = match field {
        "" | "id" => owner.to_lowercase(),
        _ => field.trim_end_matches("_id").to_lowercase(),
    };
    // FNV-1a, of which 24 bits are enough to tell the ids of a document apart.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    json!(format!("0199a5c8-7e00-7000-8000-000000{:06x}", hash >> 40))
}
