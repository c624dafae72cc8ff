//! The OpenAPI documentation of an operation.

use aide::{
    axum::routing::ApiMethodDocs,
    generate::{GenContext, in_context},
    openapi::{self, ReferenceOr, Response, StatusCode},
    operation::{OperationInput, OperationOutput},
    transform::TransformOperation,
};
use axum::http::Method;

use super::Operation;
use crate::kernel::{access::Access, http::ErrorEnvelope};

type Responses = fn(&mut GenContext, &mut openapi::Operation) -> Vec<(Option<u16>, Response)>;

/// How a handler's types document its parameters, body and responses.
pub struct Io {
    input: fn(&mut GenContext, &mut openapi::Operation),
    /// What the handler answers.
    responses: Responses,
    /// What its extractors answer when they refuse a request.
    early_responses: Responses,
}

impl Io {
    pub fn of<I: OperationInput, O: OperationOutput>() -> Self {
        Self {
            input: I::operation_input,
            responses: O::inferred_responses,
            early_responses: I::inferred_early_responses,
        }
    }

    fn operation(self) -> openapi::Operation {
        let mut operation = openapi::Operation::default();
        in_context(|ctx| {
            (self.input)(ctx, &mut operation);
            for documented in [self.responses, self.early_responses] {
                for (code, response) in documented(ctx, &mut operation) {
                    let responses = operation.responses.get_or_insert_default();
                    let response = ReferenceOr::Item(response);
                    match code {
                        Some(code) => {
                            responses.responses.entry(StatusCode::Code(code)).or_insert(response);
                        }
                        None => {
                            responses.default.get_or_insert(response);
                        }
                    }
                }
            }
        });
        operation
    }
}

pub fn document(operation: &Operation, summary: &str, io: Io) -> ApiMethodDocs {
    let method = match operation.method {
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        ref other => panic!("{other} has no place in the table"),
    };
    let mut documented = io.operation();
    describe(TransformOperation::new(&mut documented), operation, summary);
    ApiMethodDocs::new(method, documented)
}

fn describe(docs: TransformOperation<'_>, operation: &Operation, summary: &str) {
    let tag = operation.path.trim_start_matches("/v1").split('/').nth(1).unwrap_or_default();
    let mut docs = docs.id(operation.id).summary(summary).tag(tag);
    let who = match operation.access {
        Access::Public => "Public.".into(),
        Access::Guest => "Public; a bearer token says who calls.".into(),
        Access::GuestOr(rule) => format!(
            "Public for what one knows of; partners for their own, admins, and staff with `{rule}`."
        ),
        Access::SignedIn => "Any account.".into(),
        Access::Admin => "Admins.".into(),
        Access::Staff(rule) => format!("Admins, and staff with `{rule}`."),
        Access::Partner => "Partners.".into(),
        Access::PartnerOr(rule) => {
            format!("Partners for their own, admins, and staff with `{rule}`.")
        }
    };
    docs = docs.description(&who);
    if operation.access != Access::Public {
        docs = docs.security_requirement("bearer");
    }
    let inner = docs.inner_mut();
    // An empty requirement: nobody in particular.
    if operation.access == Access::Public || operation.access.admits_guests() {
        inner.security.push(Default::default());
    }
    let parameters = operation.path.split('/').filter_map(|part| part.strip_prefix('{'));
    for name in parameters.map(|part| part.trim_end_matches('}')) {
        inner.parameters.push(ReferenceOr::Item(path_parameter(name)));
    }
    document_errors(inner, operation);
}

fn path_parameter(name: &str) -> openapi::Parameter {
    openapi::Parameter::Path {
        parameter_data: openapi::ParameterData {
            name: name.into(),
            description: None,
            required: true,
            deprecated: None,
            format: openapi::ParameterSchemaOrContent::Schema(openapi::SchemaObject {
                json_schema: schemars::json_schema!({ "type": "string", "format": "uuid" }),
                external_docs: None,
                example: None,
            }),
            example: None,
            examples: Default::default(),
            explode: None,
            extensions: Default::default(),
        },
        style: openapi::PathStyle::Simple,
    }
}

/// Errors that follow from nothing but what the operation is about.
const ALSO: &[(&str, u16)] = &[
    // Not paid, or no longer good.
    ("get_ticket", 409),
    // Nothing is published.
    ("get_terms", 404),
    // What is announced is too large.
    ("presign_url", 413),
    // Not the provider's word, or about no payment of ours.
    ("payment_callback", 401),
    ("payment_callback", 404),
];

/// Which errors an operation can end in follows from its access, path and input.
fn document_errors(docs: &mut openapi::Operation, operation: &Operation) {
    let guarded = operation.access != Access::Public;
    let has_body = docs.request_body.is_some();
    let has_query = docs
        .parameters
        .iter()
        .any(|p| matches!(p, ReferenceOr::Item(openapi::Parameter::Query { .. })));
    let changes = operation.changes;
    let also = |code| ALSO.contains(&(operation.id, code));
    let errors = [
        (400, has_body, "Malformed request"),
        (
            401,
            guarded || operation.path.contains("auth") || also(401),
            "Not signed in, or a bad credential",
        ),
        (403, guarded, "Not allowed"),
        (404, operation.path.contains('{') || also(404), "Not found"),
        (409, changes || also(409), "The state does not allow it"),
        (413, has_body || also(413), "Too large"),
        (415, has_body, "Not application/json"),
        (422, has_body || has_query, "Some fields are not right"),
        (429, true, "Too many requests"),
        (500, true, "A fault of ours"),
        (503, true, "Busy; try again"),
    ];
    let json_schema = in_context(|ctx| ctx.schema.subschema_for::<ErrorEnvelope<'static>>());
    let media = openapi::MediaType {
        schema: Some(openapi::SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    let responses = &mut docs.responses.get_or_insert_default().responses;
    for (code, _, description) in errors.into_iter().filter(|(_, possible, _)| *possible) {
        let response = openapi::Response {
            description: description.into(),
            content: [("application/json".to_owned(), media.clone())].into_iter().collect(),
            ..Default::default()
        };
        responses.insert(openapi::StatusCode::Code(code), ReferenceOr::Item(response));
    }
}
