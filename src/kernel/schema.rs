//! The schema of a type is its documentation and its validator.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, RwLock},
};

use jsonschema::{
    Keyword, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    email::Email,
    error::Fault,
    lang::{Text, text},
    phone::Phone,
    text::{ONE_LINE, SOMETHING},
};

/// A type that a request can carry.
pub trait Input: DeserializeOwned + JsonSchema + Send + 'static {
    /// Evens out what forms send in more than one way, before anything is checked.
    fn tidy(_value: &mut Value) {}

    /// Rules across fields, which a schema cannot say. They see the raw value, so that their
    /// faults come in one list with the schema's.
    fn check(_value: &Value, _faults: &mut Vec<Fault>) {}
}

/// What `T` wants, ready to check with.
pub struct Compiled {
    validator: Validator,
    schema: Value,
}

static COMPILED: LazyLock<RwLock<HashMap<TypeId, Arc<Compiled>>>> = LazyLock::new(Default::default);

/// Compiled once per type.
pub fn compiled<T: JsonSchema + 'static>() -> Arc<Compiled> {
    let id = TypeId::of::<T>();
    let known = COMPILED.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&id).cloned();
    known.unwrap_or_else(|| {
        let new = Arc::new(compile::<T>());
        let mut all = COMPILED.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.entry(id).or_insert(new).clone()
    })
}

fn compile<T: JsonSchema>() -> Compiled {
    let schema = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .with_format("email", |text: &str| text.parse::<Email>().is_ok())
        .with_keyword("x-phone", |_, _, _| Ok(Box::new(PhoneKeyword)))
        .build(&schema)
        .unwrap_or_else(|error| panic!("{} has a bad schema: {error}", T::schema_name()));
    Compiled { validator, schema }
}

impl Compiled {
    /// Whether a property may be an integer, a boolean, …
    pub fn is(&self, property: &str, kind: &str) -> bool {
        match &self.schema["properties"][property]["type"] {
            Value::String(only) => only == kind,
            Value::Array(any) => any.iter().any(|one| one == kind),
            _ => false,
        }
    }
}

/// Every fault of the value, in the order of the schema.
pub fn faults<T: JsonSchema + 'static>(value: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let compiled = compiled::<T>();
    // Most values are right, and that is quickly said; what is wrong with one takes longer.
    if !compiled.validator.is_valid(value) {
        for error in compiled.validator.iter_errors(value) {
            collect(&error, &mut faults);
        }
    }
    if has_nul(value) {
        nul("", value, &mut faults);
    }
    faults
}

/// Checks the value, then reads it.
pub fn read<T: Input>(mut value: Value) -> Result<T, Vec<Fault>> {
    T::tidy(&mut value);
    let mut faults = faults::<T>(&value);
    T::check(&value, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    // Here, too, a fault is looked for only where there is one.
    T::deserialize(&value).or_else(|_| serde_path_to_error::deserialize(&value)).map_err(|error| {
        let field = error.path().to_string();
        vec![Fault::new(field, "format", text("This is not valid.", "Isian ini tidak valid."))]
    })
}

struct PhoneKeyword;

impl<'i> Keyword<'i> for PhoneKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.is_valid(instance) {
            true => Ok(()),
            false => Err(ValidationError::custom("not a telephone number")),
        }
    }

    /// A wrong type is the type's fault, not the keyword's.
    fn is_valid(&self, instance: &'i Value) -> bool {
        !(instance.is_string() || instance.is_i64() || instance.is_u64())
            || Phone::from_json(instance).is_some()
    }
}

fn collect(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let mut field = field(error.instance_path().as_str());
    match error.kind() {
        // An optional value fails against "null" too; only what it should have been is news.
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let news = |branch: &&Vec<ValidationError<'_>>| {
                !branch.iter().all(|e| is_null_expected(e.kind()))
            };
            for error in context.iter().find(news).into_iter().flatten() {
                collect(error, faults);
            }
            return;
        }
        Kind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            field = if field.is_empty() { property.into() } else { format!("{field}.{property}") };
        }
        _ => {}
    }
    let (rule, message) = explain(error.kind());
    if !faults.iter().any(|known| known.field == field && known.rule == rule) {
        faults.push(Fault::new(field, rule, message));
    }
}

fn is_null_expected(kind: &Kind) -> bool {
    matches!(kind, Kind::Type { kind: TypeKind::Single(t) } if t.to_string() == "null")
}

/// `/passengers/1/name` → `passengers[1].name`
fn field(pointer: &str) -> String {
    let mut field = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(index) => field += &format!("[{index}]"),
            Err(_) if field.is_empty() => field = part,
            Err(_) => field = field + "." + &part,
        }
    }
    field
}

fn explain(kind: &Kind) -> (&'static str, Text) {
    let limited = |rule, (en, id): (&str, &str), limit: &dyn std::fmt::Display| {
        let fill = |sentence: &str| sentence.replace("{}", &limit.to_string());
        (rule, Text::new(fill(en), fill(id)))
    };
    match kind {
        Kind::Required { .. } => ("required", text("This is required.", "Wajib diisi.")),
        Kind::Pattern { pattern } if pattern == SOMETHING => {
            ("required", text("This must not be empty.", "Tidak boleh kosong."))
        }
        Kind::Pattern { pattern } if pattern == ONE_LINE => (
            "characters",
            text("This has characters that are not allowed.", "Berisi karakter yang tidak boleh."),
        ),
        Kind::Type { kind } => {
            let name = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(any) => any
                    .iter()
                    .map(|one| one.to_string())
                    .filter(|name| name != "null")
                    .collect::<Vec<_>>()
                    .join(" / "),
            };
            limited("type", ("This must be of type {}.", "Harus bertipe {}."), &name)
        }
        Kind::Enum { options } => {
            let words: Vec<_> =
                options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            limited(
                "enum",
                ("This must be one of: {}.", "Harus salah satu dari: {}."),
                &words.join(", "),
            )
        }
        Kind::MinLength { limit } => {
            limited("min_length", ("At least {} characters.", "Minimal {} karakter."), limit)
        }
        Kind::MaxLength { limit } => {
            limited("max_length", ("At most {} characters.", "Maksimal {} karakter."), limit)
        }
        Kind::Minimum { limit } => limited("min", ("At least {}.", "Minimal {}."), limit),
        Kind::Maximum { limit } => limited("max", ("At most {}.", "Maksimal {}."), limit),
        Kind::MinItems { limit } => {
            limited("min_items", ("At least {} items.", "Minimal {} butir."), limit)
        }
        Kind::MaxItems { limit } => {
            limited("max_items", ("At most {} items.", "Maksimal {} butir."), limit)
        }
        Kind::UniqueItems => ("unique", text("Items must differ.", "Butir tidak boleh sama.")),
        Kind::MultipleOf { multiple_of } => {
            limited("step", ("This must be a multiple of {}.", "Harus kelipatan {}."), multiple_of)
        }
        _ => ("format", text("This is not valid.", "Isian ini tidak valid.")),
    }
}

/// PostgreSQL cannot store NUL in a text and SQLite can: refused for both.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.values().any(has_nul),
        _ => false,
    }
}

/// Says where it is.
fn nul(at: &str, value: &Value, faults: &mut Vec<Fault>) {
    match value {
        Value::String(text) if text.contains('\0') => {
            let (rule, message) = explain(&Kind::Pattern { pattern: ONE_LINE.into() });
            if !faults.iter().any(|known| known.field == field(at) && known.rule == rule) {
                faults.push(Fault::new(field(at), rule, message));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                nul(&format!("{at}/{index}"), item, faults);
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                nul(&format!("{at}/{name}"), inner, faults);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::kernel::text::Name;

    crate::words! {
        enum Colour { Red = "red", Blue = "blue" }
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Passenger {
        name: Name,
        age: Option<u8>,
        colour: Option<Colour>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Trip {
        #[schemars(range(min = 1, max = 50))]
        qty: i64,
        email: Email,
        phone: Phone,
        #[schemars(length(min = 1))]
        passengers: Vec<Passenger>,
    }

    fn rules(value: Value) -> Vec<(String, String)> {
        faults::<Trip>(&value).into_iter().map(|f| (f.field, f.rule.into_owned())).collect()
    }

    #[test]
    fn every_fault_is_named_at_its_field() {
        let mut found = rules(json!({
            "qty": "two",
            "email": "nobody",
            "phone": 12,
            "passengers": [
                { "name": "Sari" },
                { "name": "  ", "age": -1, "colour": "green" },
                { "age": null, "colour": null },
                { "name": "a\u{0}b" },
            ],
        }));
        found.sort();
        let expected = [
            ("email", "format"),
            ("passengers[1].age", "min"),
            ("passengers[1].colour", "enum"),
            ("passengers[1].name", "required"),
            ("passengers[2].name", "required"),
            ("passengers[3].name", "characters"),
            ("phone", "format"),
            ("qty", "type"),
        ];
        assert_eq!(found, expected.map(|(f, r)| (f.to_owned(), r.to_owned())));
    }

    #[test]
    fn what_is_right_has_no_fault() {
        let found = rules(json!({
            "qty": 2,
            "email": "Sari@Example.com",
            "phone": 81234567890_u64,
            "passengers": [{ "name": "Sari", "colour": "red", "age": 7 }],
            "unknown": "is ignored",
        }));
        assert_eq!(found, []);
    }

    #[test]
    fn limits_are_named() {
        let found = rules(json!({
            "qty": 51, "email": "a@b.id", "phone": "+6281234567890", "passengers": [],
        }));
        assert_eq!(
            found,
            [("passengers", "min_items"), ("qty", "max")].map(|(f, r)| (f.into(), r.into()))
        );
    }
}
