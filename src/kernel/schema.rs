//! JSON schemas of request types, used for documentation and validation.

use std::{
    any::TypeId,
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock, RwLock},
};

use jsonschema::{
    Keyword, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    email::Email,
    error::Fault,
    lang::{Text, text},
    phone::Phone,
    text::{ONE_LINE, SOMETHING},
};

/// A request type.
pub trait Input: DeserializeOwned + JsonSchema + Send + 'static {
    /// Normalises the raw value before validation.
    fn tidy(_value: &mut Value) {}

    /// Rules across fields, which a schema cannot express. They check the raw value, so that their
    /// faults are reported together with those of the schema.
    fn check(_value: &Value, _faults: &mut Vec<Fault>) {}
}

/// The compiled schema of a type.
pub struct Compiled {
    validator: Validator,
    schema: Value,
}

static COMPILED: LazyLock<RwLock<HashMap<TypeId, Arc<Compiled>>>> = LazyLock::new(Default::default);

/// The compiled schema of `T`, cached per type.
pub fn compiled<T: JsonSchema + 'static>() -> Arc<Compiled> {
    compiled_once(TypeId::of::<T>(), || generator().into_root_schema_for::<T>())
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_deserialize().into_generator()
}

fn compiled_once(id: TypeId, schema: fn() -> Schema) -> Arc<Compiled> {
    let known = COMPILED.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&id).cloned();
    known.unwrap_or_else(|| {
        let new = Arc::new(compile(schema().to_value()));
        let mut all = COMPILED.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.entry(id).or_insert(new).clone()
    })
}

fn compile(schema: Value) -> Compiled {
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .with_format("email", |text: &str| text.parse::<Email>().is_ok())
        .with_keyword(PHONE, |_, _, _| Ok(Box::new(PhoneKeyword)))
        .build(&schema)
        .unwrap_or_else(|error| panic!("{} has an invalid schema: {error}", schema["title"]));
    Compiled { validator, schema }
}

impl Compiled {
    /// Whether a property allows the JSON type `kind`.
    pub fn is(&self, property: &str, kind: &str) -> bool {
        match &self.schema["properties"][property]["type"] {
            Value::String(only) => only == kind,
            Value::Array(any) => any.iter().any(|one| one == kind),
            _ => false,
        }
    }
}

/// Maximum number of faults in a response.
pub const MAX_FAULTS: usize = 100;

/// Validates and deserialises the value. The cost is linear in its size.
pub fn read<T: Input>(mut value: Value) -> Result<T, Vec<Fault>> {
    checked(&mut value, &compiled::<T>(), T::tidy, T::check)?;
    // Tracking the path of a fault is slow, so it is done only after a failure.
    T::deserialize(&value).or_else(|_| serde_path_to_error::deserialize(&value)).map_err(misfit)
}

/// The part of `read` that does not depend on the type, so that it is compiled once.
fn checked(
    value: &mut Value,
    schema: &Compiled,
    tidy: fn(&mut Value),
    check: fn(&Value, &mut Vec<Fault>),
) -> Result<(), Vec<Fault>> {
    if let Some(fault) = find_nul(value) {
        return Err(vec![fault]);
    }
    tidy(value);
    let (mut faults, pruned) = schema.check(value);
    // Rules across fields would see the emptied arrays.
    if !pruned {
        check(value, &mut faults);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// A value that its schema allows and its type does not.
fn misfit(error: serde_path_to_error::Error<serde_json::Error>) -> Vec<Fault> {
    let field = error.path().to_string();
    vec![Fault::new(field, "format", text("This is not valid.", "Isian ini tidak valid."))]
}

impl Compiled {
    /// The faults of the value in the order of the schema, at most `MAX_FAULTS + 1`, and whether an
    /// array was emptied because it exceeds its `maxItems`.
    fn check(&self, value: &mut Value) -> (Vec<Fault>, bool) {
        let mut faults = Vec::new();
        // Most values are valid, and `is_valid` is much cheaper than collecting errors.
        if self.validator.is_valid(value) {
            return (faults, false);
        }
        let mut path = String::new();
        self.prune(&self.schema, value, &mut path, &mut faults);
        let emptied: HashSet<_> = faults.iter().map(|fault| fault.field.clone()).collect();
        let mut collected = Collected { faults, known: HashSet::new() };
        for error in self.validator.iter_errors(value) {
            collected.add(&error, &emptied);
            if collected.faults.len() > MAX_FAULTS {
                break;
            }
        }
        (collected.faults, !emptied.is_empty())
    }

    /// Empties every array that exceeds its `maxItems` and reports one fault for it, so that its
    /// items are not validated.
    fn prune(&self, node: &Value, value: &mut Value, path: &mut String, faults: &mut Vec<Fault>) {
        let length = path.len();
        match value {
            Value::Array(items) => {
                let mut nodes = Vec::new();
                self.alternatives(node, &mut nodes);
                let limit = nodes.iter().find_map(|node| node["maxItems"].as_u64());
                if let Some(limit) = limit.filter(|limit| items.len() as u64 > *limit) {
                    items.clear();
                    let (rule, message) = explain(&Kind::MaxItems { limit });
                    faults.push(Fault::new(path.clone(), rule, message));
                } else if let Some(node) = nodes.iter().find_map(|node| node.get("items")) {
                    for (index, item) in items.iter_mut().enumerate() {
                        if item.is_array() || item.is_object() {
                            *path += &format!("[{index}]");
                            self.prune(node, item, path, faults);
                            path.truncate(length);
                        }
                    }
                }
            }
            Value::Object(fields) => {
                let mut nodes = Vec::new();
                self.alternatives(node, &mut nodes);
                for (name, node) in nodes
                    .iter()
                    .filter_map(|node| node["properties"].as_object())
                    .flat_map(|properties| properties.iter())
                {
                    if let Some(inner) = fields.get_mut(name) {
                        push_name(path, name);
                        self.prune(node, inner, path, faults);
                        path.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }

    /// The node and all schemas that it applies to the same value.
    fn alternatives<'s>(&'s self, node: &'s Value, found: &mut Vec<&'s Value>) {
        found.push(node);
        if let Some(name) = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            self.alternatives(&self.schema["$defs"][name], found);
        }
        for several in ["anyOf", "oneOf", "allOf"] {
            for node in node[several].as_array().into_iter().flatten() {
                self.alternatives(node, found);
            }
        }
    }
}

/// Every fault of the value, in the order of the schema.
#[cfg(test)]
pub fn faults<T: JsonSchema + 'static>(value: &Value) -> Vec<Fault> {
    match find_nul(value) {
        Some(fault) => vec![fault],
        None => compiled::<T>().check(&mut value.clone()).0,
    }
}

/// The keyword of the schema of telephone numbers.
const PHONE: &str = "x-phone";

struct PhoneKeyword;

impl<'i> Keyword<'i> for PhoneKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.is_valid(instance) {
            true => Ok(()),
            false => Err(ValidationError::custom("not a telephone number")),
        }
    }

    /// A wrong type is reported by `type`, not by this keyword.
    fn is_valid(&self, instance: &'i Value) -> bool {
        !(instance.is_string() || instance.is_i64() || instance.is_u64())
            || Phone::from_json(instance).is_some()
    }
}

/// Distinct faults: several branches of a schema can find the same one.
struct Collected {
    faults: Vec<Fault>,
    known: HashSet<(String, &'static str)>,
}

impl Collected {
    /// Adds the error, unless it concerns an emptied array.
    fn add(&mut self, error: &ValidationError<'_>, emptied: &HashSet<String>) {
        let mut field = field(error.instance_path().as_str());
        match error.kind() {
            // An optional value also fails against "null"; only the other branch is reported.
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                let of_interest = |branch: &&Vec<ValidationError<'_>>| {
                    !branch.iter().all(|error| is_null_expected(error.kind()))
                };
                for error in context.iter().find(of_interest).into_iter().flatten() {
                    self.add(error, emptied);
                }
                return;
            }
            Kind::Required { property } => {
                push_name(&mut field, property.as_str().unwrap_or_default());
            }
            _ => {}
        }
        let (rule, message) = explain(error.kind());
        if !emptied.contains(&field)
            && self.faults.len() <= MAX_FAULTS
            && self.known.insert((field.clone(), rule))
        {
            self.faults.push(Fault::new(field, rule, message));
        }
    }
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
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

/// `16` of `^[0-9]{16}$`
fn digits_of(pattern: &str) -> Option<&str> {
    pattern.strip_prefix("^[0-9]{")?.strip_suffix("}$")
}

fn malformed(format: &str) -> Text {
    match format {
        "email" => text("This is not a valid e-mail address.", "Alamat e-mail ini tidak valid."),
        "date" => text("This is not a valid date.", "Tanggal ini tidak valid."),
        _ => text("This is not valid.", "Isian ini tidak valid."),
    }
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
            text(
                "This contains characters that are not allowed.",
                "Berisi karakter yang tidak diperbolehkan.",
            ),
        ),
        Kind::Pattern { pattern } if digits_of(pattern).is_some() => limited(
            "format",
            ("This must have {} digits.", "Harus {} angka."),
            &digits_of(pattern).unwrap_or_default().replace(',', "–"),
        ),
        Kind::Format { format } => ("format", malformed(format)),
        Kind::Custom { keyword, .. } if keyword == PHONE => (
            "format",
            text("This is not a valid telephone number.", "Nomor telepon ini tidak valid."),
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
            match name.as_str() {
                "integer" => {
                    ("type", text("This must be a whole number.", "Harus berupa bilangan bulat."))
                }
                "number" => ("type", text("This must be a number.", "Harus berupa angka.")),
                _ => limited("type", ("This must be of type {}.", "Harus bertipe {}."), &name),
            }
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
        Kind::MinLength { limit } => limited(
            "min_length",
            ("This must have at least {} characters.", "Minimal {} karakter."),
            limit,
        ),
        Kind::MaxLength { limit } => limited(
            "max_length",
            ("This must have at most {} characters.", "Maksimal {} karakter."),
            limit,
        ),
        Kind::Minimum { limit } => {
            limited("min", ("This must be at least {}.", "Minimal {}."), limit)
        }
        Kind::Maximum { limit } => {
            limited("max", ("This must be at most {}.", "Maksimal {}."), limit)
        }
        Kind::MinItems { limit } => {
            limited("min_items", ("This must have at least {} items.", "Minimal {} butir."), limit)
        }
        Kind::MaxItems { limit } => {
            limited("max_items", ("This must have at most {} items.", "Maksimal {} butir."), limit)
        }
        Kind::UniqueItems => ("unique", text("Items must be unique.", "Butir tidak boleh sama.")),
        Kind::MultipleOf { multiple_of } => {
            limited("step", ("This must be a multiple of {}.", "Harus kelipatan {}."), multiple_of)
        }
        _ => ("format", text("This is not valid.", "Isian ini tidak valid.")),
    }
}

/// The first NUL character in a string or key. PostgreSQL cannot store it, so both engines refuse
/// it.
fn find_nul(value: &Value) -> Option<Fault> {
    let mut path = nul_path(value)?;
    let end = path.char_indices().nth(LONGEST_FIELD).map_or(path.len(), |(end, _)| end);
    path.truncate(end);
    let (rule, message) = explain(&Kind::Pattern { pattern: ONE_LINE.into() });
    Some(Fault::new(path, rule, message))
}

/// Limits the length of a caller's key in the response.
const LONGEST_FIELD: usize = 200;

/// Path of the first NUL. It is built while returning, so it costs nothing if there is none.
fn nul_path(value: &Value) -> Option<String> {
    let join = |head: String, rest: String| match rest.starts_with('[') || rest.is_empty() {
        true => head + &rest,
        false => head + "." + &rest,
    };
    match value {
        Value::String(text) => text.contains('\0').then(String::new),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| nul_path(item).map(|rest| join(format!("[{index}]"), rest))),
        Value::Object(fields) => fields.iter().find_map(|(name, inner)| {
            if name.contains('\0') {
                return Some(name.replace('\0', ""));
            }
            nul_path(inner).map(|rest| join(name.clone(), rest))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::kernel::{lang::Lang, text::Name};

    crate::string_enum! {
        enum Colour { Red = "red", Blue = "blue" }
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Passenger {
        name: Name,
        age: Option<u8>,
        colour: Option<Colour>,
        #[schemars(length(max = 3))]
        nicknames: Option<Vec<String>>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Trip {
        #[schemars(range(min = 1, max = 50))]
        qty: i64,
        email: Email,
        phone: Phone,
        #[schemars(length(min = 1, max = 500))]
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
            ],
        }));
        found.sort();
        let expected = [
            ("email", "format"),
            ("passengers[1].age", "min"),
            ("passengers[1].colour", "enum"),
            ("passengers[1].name", "required"),
            ("passengers[2].name", "required"),
            ("phone", "format"),
            ("qty", "type"),
        ];
        assert_eq!(found, expected.map(|(f, r)| (f.to_owned(), r.to_owned())));
    }

    #[test]
    fn a_fault_says_what_is_expected() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Papers {
            #[schemars(regex(pattern = "^[0-9]{16}$"))]
            nik: String,
            #[schemars(regex(pattern = "^[0-9]{15,16}$"))]
            npwp: Option<String>,
            seats: Option<i64>,
            email: Email,
            phone: Phone,
        }
        let value = json!({ "nik": "1", "npwp": "1", "seats": "two", "email": "x", "phone": "12" });
        let found = faults::<Papers>(&value).into_iter();
        let found: HashMap<_, _> =
            found.map(|f| (f.field, f.message.say(Lang::En).to_owned())).collect();
        let expected = [
            ("nik", "This must have 16 digits."),
            ("npwp", "This must have 15–16 digits."),
            ("seats", "This must be a whole number."),
            ("email", "This is not a valid e-mail address."),
            ("phone", "This is not a valid telephone number."),
        ];
        assert_eq!(found, expected.map(|(f, m)| (f.to_owned(), m.to_owned())).into());
    }

    #[test]
    fn a_nul_character_is_one_fault_and_ends_validation() {
        let trip = |passenger: Value| json!({ "qty": "two", "passengers": [{}, passenger] });
        let found = rules(trip(json!({ "name": "a\u{0}b", "age": "\u{0}" })));
        assert_eq!(found, [("passengers[1].age".to_owned(), "characters".to_owned())]);
        let found = rules(trip(json!({ "unknown": [["\u{0}"]] })));
        assert_eq!(found, [("passengers[1].unknown[0][0]".to_owned(), "characters".to_owned())]);
        let found = rules(json!({ "na\u{0}me": 1 }));
        assert_eq!(found, [("name".to_owned(), "characters".to_owned())]);
    }

    #[test]
    fn a_long_array_is_one_fault_and_its_items_are_not_checked() {
        let found = rules(json!({
            "qty": 2, "email": "a@b.id", "phone": "nobody", "passengers": vec![0; 100_000],
        }));
        assert_eq!(
            found,
            [("passengers", "max_items"), ("phone", "format")].map(|(f, r)| (f.into(), r.into()))
        );
        let nested = json!({ "name": "Sari", "nicknames": vec!["a"; 9] });
        let found = rules(json!({
            "qty": 2, "email": "a@b.id", "phone": "81234567890", "passengers": [nested],
        }));
        assert_eq!(found, [("passengers[0].nicknames".to_owned(), "max_items".to_owned())]);
    }

    #[test]
    fn collection_stops_above_the_most_faults() {
        let found = rules(json!({ "passengers": vec![0; 300] }));
        assert_eq!(found.len(), MAX_FAULTS + 1);
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
