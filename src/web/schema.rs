//! What operations take, in a compact form: the parts of the OpenAPI document that forms and filters
//! need. The document itself would take ten times the memory.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The inputs of one operation.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Parameters of the query string.
    pub query: Vec<Field>,
    /// Fields of the JSON body; `None` if it takes none.
    pub body: Option<Vec<Field>>,
    pub takes_key: bool,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    pub required: bool,
    pub nullable: bool,
    /// Whether it is `true` unless a request says otherwise.
    pub is_on: bool,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Text,
    Email,
    Password,
    Integer,
    Number,
    Boolean,
    Date,
    /// `08:30`
    Time,
    /// The id of another record.
    Id,
    Choice(Vec<String>),
    Object(Vec<Field>),
    List(Box<Kind>),
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.kind == other.kind
    }
}

impl Input {
    pub fn parameter(&self, name: &str) -> Option<&Field> {
        self.query.iter().find(|field| field.name == name)
    }

    /// A field of the body by its path, such as `discount.type`.
    pub fn field(&self, path: &str) -> Option<&Field> {
        find(self.body.as_deref()?, path)
    }
}

/// A field by its path. The items of a list are not part of the path.
pub fn find<'a>(fields: &'a [Field], path: &str) -> Option<&'a Field> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let field = fields.iter().find(|field| field.name == name)?;
    match (rest, &field.kind) {
        (None, _) => Some(field),
        (Some(rest), Kind::Object(fields)) => find(fields, rest),
        _ => None,
    }
}

/// Reads the inputs of all operations from the OpenAPI document.
pub fn inputs(document: &Value) -> HashMap<String, Input> {
    let reader = Reader { schemas: &document["components"]["schemas"] };
    let mut inputs = HashMap::new();
    let paths = document["paths"].as_object().into_iter().flatten();
    for (_, item) in paths {
        for (_, operation) in item.as_object().into_iter().flatten() {
            if let Some(id) = operation["operationId"].as_str() {
                inputs.insert(id.to_owned(), reader.input(operation));
            }
        }
    }
    inputs
}

struct Reader<'a> {
    schemas: &'a Value,
}

impl Reader<'_> {
    fn input(&self, operation: &Value) -> Input {
        let parameters = || operation["parameters"].as_array().into_iter().flatten();
        let query = parameters().filter(|parameter| parameter["in"] == "query").map(|parameter| {
            let name = parameter["name"].as_str().unwrap_or_default();
            self.field(name, &parameter["schema"], parameter["required"] == true)
        });
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = match self.kind(self.resolved(body)) {
            Kind::Object(fields) => Some(fields),
            _ => None,
        };
        Input {
            query: query.collect(),
            body,
            takes_key: parameters().any(|parameter| parameter["name"] == "Idempotency-Key"),
        }
    }

    fn field(&self, name: &str, schema: &Value, required: bool) -> Field {
        let (nullable, is_on) = (is_nullable(schema), schema["default"] == true);
        let schema = self.resolved(schema);
        Field {
            name: name.to_owned(),
            kind: self.kind(schema),
            required,
            nullable,
            is_on,
            minimum: schema["minimum"].as_f64(),
            maximum: schema["maximum"].as_f64(),
            min_length: schema["minLength"].as_u64(),
            max_length: schema["maxLength"].as_u64(),
        }
    }

    /// Follows references, also one that stands beside a description, and takes the other alternative
    /// where one is null.
    fn resolved<'v>(&'v self, mut schema: &'v Value) -> &'v Value {
        loop {
            if let Some(reference) = schema["$ref"].as_str() {
                let name = reference.rsplit('/').next().unwrap_or_default();
                schema = &self.schemas[name];
                continue;
            }
            let parts = schema["allOf"].as_array().into_iter().flatten();
            let referred = parts.into_iter().find(|part| part["$ref"].is_string());
            let alternatives = schema["anyOf"].as_array();
            let alternative =
                || alternatives.and_then(|all| all.iter().find(|one| one["type"] != "null"));
            match referred.or_else(alternative) {
                Some(alternative) => schema = alternative,
                None => return schema,
            }
        }
    }

    fn kind(&self, schema: &Value) -> Kind {
        if let Some(words) = schema["enum"].as_array() {
            return Kind::Choice(
                words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            );
        }
        if let Some(properties) = schema["properties"].as_object() {
            return Kind::Object(self.fields(properties, &schema["required"]));
        }
        match (type_of(schema), schema["format"].as_str()) {
            ("array", _) => Kind::List(Box::new(self.kind(self.resolved(&schema["items"])))),
            ("integer", _) => Kind::Integer,
            ("number", _) => Kind::Number,
            ("boolean", _) => Kind::Boolean,
            (_, Some("email")) => Kind::Email,
            (_, Some("password")) => Kind::Password,
            (_, Some("date")) => Kind::Date,
            (_, Some("uuid")) => Kind::Id,
            _ if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains(":[0-5]")) => {
                Kind::Time
            }
            _ => Kind::Text,
        }
    }

    fn fields(&self, properties: &Map<String, Value>, required: &Value) -> Vec<Field> {
        let required = required.as_array();
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let fields =
            properties.iter().map(|(name, schema)| self.field(name, schema, is_required(name)));
        fields.collect()
    }
}

/// The type of a schema without null. What may be a string is read as one.
fn type_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(one) => one,
        Value::Array(several) => {
            let mut several = several.iter().filter_map(Value::as_str).filter(|one| *one != "null");
            match several.clone().any(|one| one == "string") {
                true => "string",
                false => several.next().unwrap_or("string"),
            }
        }
        _ => "string",
    }
}

fn is_nullable(schema: &Value) -> bool {
    let is_null = |one: &Value| one == "null" || one["type"] == "null";
    ["type", "anyOf"]
        .iter()
        .any(|key| schema[key].as_array().is_some_and(|all| all.iter().any(is_null)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route_form() -> Input {
        let document = include_str!("../../docs/openapi.json");
        let document = serde_json::from_str(document).unwrap();
        inputs(&document).remove("create_route").unwrap()
    }

    #[test]
    fn a_field_knows_its_words_and_its_default() {
        let document = serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
        let inputs = inputs(&document);
        let method = inputs["pay_refund"].field("by").unwrap();
        assert!(matches!(&method.kind, Kind::Choice(words) if words.contains(&"bank".into())));
        assert!(inputs["create_webhook"].field("active").unwrap().is_on);
        let Kind::List(fare) = &inputs["update_line"].field("fares").unwrap().kind else {
            panic!("a list")
        };
        let Kind::Object(fields) = fare.as_ref() else { panic!("of objects") };
        assert!(find(fields, "takes_seat").unwrap().is_on);
    }

    #[test]
    fn the_inputs_of_an_operation_are_read_from_the_document() {
        let input = route_form();
        assert!(input.takes_key);
        let price = input.field("price").unwrap();
        assert_eq!((&price.kind, price.minimum), (&Kind::Integer, Some(1000.0)));
        assert!(price.required && !price.nullable);
        let zone = input.field("timezone").unwrap();
        assert!(!zone.required && zone.nullable);
        assert!(matches!(&zone.kind, Kind::Choice(zones) if zones.len() == 3));
        let Kind::List(times) = &input.field("times").unwrap().kind else { panic!("a list") };
        let Kind::Object(fields) = times.as_ref() else { panic!("of objects") };
        assert_eq!(find(fields, "departure_time").unwrap().kind, Kind::Time);
        let Kind::List(day) = &find(fields, "days").unwrap().kind else { panic!("a list") };
        assert!(matches!(day.as_ref(), Kind::Choice(days) if days.len() == 7));
    }
}
