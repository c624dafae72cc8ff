//! The errors of an operation: those that follow from its access, path and input, and those that its
//! section in `docs/operations/` names in its last line (`Errors: …`).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use aide::{
    generate::in_context,
    openapi::{self, Components, Example, MediaType, ReferenceOr, Response, StatusCode},
};
use serde::Deserialize;
use serde_json::json;

use super::texts;
use crate::{
    kernel::{access::Access, http::ErrorEnvelope},
    table::{BeforeEnrolment, Operation},
};

#[derive(Deserialize)]
struct Known {
    status: u16,
    /// In English, as it is sent where an error has one message.
    message: String,
}

/// Every error code.
static CODES: LazyLock<BTreeMap<String, Known>> = LazyLock::new(|| {
    let file = include_str!("../../../docs/operations/errors.json");
    serde_json::from_str(file).expect("docs/operations/errors.json is valid")
});

/// Errors that many operations have in common, documented once: name, status, codes.
const SHARED: &[(&str, u16, &[&str])] = &[
    ("MalformedRequest", 400, &["malformed_request"]),
    ("Unauthenticated", 401, &["unauthenticated"]),
    (
        "Forbidden",
        403,
        &["account_inactive", "account_suspended", "forbidden", "second_factor_enrolment_required"],
    ),
    (
        "ReauthenticationRequired",
        403,
        &[
            "account_inactive",
            "account_suspended",
            "forbidden",
            "reauthentication_required",
            "second_factor_enrolment_required",
        ],
    ),
    ("NotFound", 404, &["not_found"]),
    ("RequestTimeout", 408, &["request_timeout"]),
    ("PayloadTooLarge", 413, &["payload_too_large"]),
    ("UnsupportedMediaType", 415, &["unsupported_media_type"]),
    ("ValidationFailed", 422, &["validation_failed"]),
    ("TooManyRequests", 429, &["too_many_requests"]),
    ("InternalError", 500, &["internal"]),
    ("Unavailable", 503, &["unavailable"]),
    ("OutcomeUnknown", 503, &["outcome_unknown", "unavailable"]),
];

/// Documents the errors of an operation.
pub fn document_errors(docs: &mut openapi::Operation, operation: &Operation) {
    let mut by_status: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for code in derived(docs, operation).chain(texts::errors_of(operation.id)) {
        let known = CODES.get(code);
        let known = known.unwrap_or_else(|| panic!("{}: {code} is no error", operation.id));
        by_status.entry(known.status).or_default().insert(code);
    }
    let responses = &mut docs.responses.get_or_insert_default().responses;
    for (status, codes) in by_status {
        let shared = SHARED
            .iter()
            .find(|(_, of, all)| *of == status && all.iter().copied().eq(codes.iter().copied()));
        let response = match shared {
            Some((name, ..)) => ReferenceOr::ref_(&format!("#/components/responses/{name}")),
            None => ReferenceOr::Item(response(codes.iter().copied())),
        };
        responses.insert(StatusCode::Code(status), response);
    }
}

/// The errors that follow from access, path and input.
fn derived(
    docs: &openapi::Operation,
    operation: &Operation,
) -> impl Iterator<Item = &'static str> + use<> {
    let guarded = operation.access != Access::Public;
    let has_body = docs.request_body.is_some();
    let is_query =
        |p: &ReferenceOr<_>| matches!(p, ReferenceOr::Item(openapi::Parameter::Query { .. }));
    let has_input = has_body || docs.parameters.iter().any(is_query);
    let takes_key = texts::of_operation(operation.id)
        .is_some_and(|(_, text)| text.contains("Accepts an `Idempotency-Key`"));
    [
        ("malformed_request", has_input),
        ("unauthenticated", guarded),
        ("account_inactive", guarded),
        ("account_suspended", guarded),
        ("forbidden", guarded),
        ("reauthentication_required", operation.recent_sign_in),
        (
            "second_factor_enrolment_required",
            guarded && operation.before_enrolment != BeforeEnrolment::Everybody,
        ),
        ("not_found", operation.path.contains('{')),
        ("idempotency_conflict", takes_key),
        ("idempotency_in_progress", takes_key),
        ("request_timeout", has_body),
        ("payload_too_large", has_body),
        ("unsupported_media_type", has_body),
        ("validation_failed", has_input),
        ("too_many_requests", true),
        ("internal", true),
        ("unavailable", true),
        ("outcome_unknown", operation.changes),
    ]
    .into_iter()
    .filter_map(|(code, possible)| possible.then_some(code))
}

/// What the operations refer to.
pub fn shared() -> Components {
    let mut components = Components::default();
    for (name, _, codes) in SHARED {
        let shared = ReferenceOr::Item(response(codes.iter().copied()));
        components.responses.insert((*name).into(), shared);
    }
    for (code, known) in &*CODES {
        let mut value = json!({
            "status": "error", "code": known.status, "error": code, "message": known.message,
            "request_id": "0199a5c8-7e00-7000-8000-000000000001",
        });
        if code == "validation_failed" {
            let fault = json!({ "field": "qty", "rule": "minimum", "message": "At least 1." });
            value["errors"] = json!([fault]);
        }
        let summary = Some(known.message.clone());
        let example = Example { summary, value: Some(value), ..Example::default() };
        components.examples.insert(code.clone(), ReferenceOr::Item(example));
    }
    components
}

/// All error codes, for a test that each is in use.
pub fn codes() -> impl Iterator<Item = &'static str> {
    CODES.keys().map(String::as_str)
}

fn response(codes: impl Iterator<Item = &'static str> + Clone) -> Response {
    let line = |code| format!("- `{code}`: {}", CODES[code].message);
    let description: Vec<_> = codes.clone().map(line).collect();
    let json_schema = in_context(|ctx| ctx.schema.subschema_for::<ErrorEnvelope<'static>>());
    let example =
        |code: &str| (code.to_owned(), ReferenceOr::ref_(&format!("#/components/examples/{code}")));
    let media = MediaType {
        schema: Some(openapi::SchemaObject { json_schema, external_docs: None, example: None }),
        examples: codes.map(example).collect(),
        ..MediaType::default()
    };
    Response {
        description: description.join("\n"),
        content: [("application/json".to_owned(), media)].into_iter().collect(),
        ..Response::default()
    }
}
