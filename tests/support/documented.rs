//! What the OpenAPI document says of errors and events, against which those of tests are checked.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use matchit::Router;
use serde_json::Value;

/// The error codes of each method of a path.
type Errors = HashMap<String, HashSet<String>>;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap());

static DOCUMENTED: LazyLock<Router<Errors>> = LazyLock::new(|| {
    let document = &*DOCUMENT;
    let mut routes = Router::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let mut errors = Errors::new();
        for (method, operation) in item.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap().values();
            let responses = responses.map(|response| match response["$ref"].as_str() {
                Some(reference) => document.pointer(&reference[1..]).unwrap(),
                None => response,
            });
            let examples = responses.filter_map(|response| {
                response["content"]["application/json"]["examples"].as_object()
            });
            let codes = examples.flat_map(|examples| examples.keys().cloned());
            errors.insert(method.to_uppercase(), codes.collect());
        }
        routes.insert(path.clone(), errors).unwrap();
    }
    routes
});

/// Panics if an operation answers an error that it does not document.
pub fn check(method: &str, path: &str, error: &str) {
    let Ok(found) = DOCUMENTED.at(path.trim_end_matches('/')) else { return };
    let Some(codes) = found.value.get(method) else { return };
    assert!(
        codes.contains(error),
        "{method} {path} answers `{error}`: add it to `Errors:` of the operation in \
         docs/operations/*.md and run `cargo run -- openapi > docs/openapi.json`"
    );
}

/// The names of the documented events.
#[allow(dead_code, reason = "tests of pages have no webhooks")]
pub fn events() -> Vec<&'static str> {
    DOCUMENT["webhooks"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// Panics if the body of a webhook is not as documented.
#[allow(dead_code, reason = "tests of pages have no webhooks")]
pub fn check_event(body: &Value) {
    let name = body["type"].as_str().unwrap();
    let webhook = &DOCUMENT["webhooks"][name]["post"]["requestBody"];
    let mut schema = webhook["content"]["application/json"]["schema"].clone();
    schema["components"] = DOCUMENT["components"].clone();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(body).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}: {body}");
}
