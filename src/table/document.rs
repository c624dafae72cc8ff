//! The OpenAPI document: what it says of an operation, and the texts and examples that complete it.

mod errors;
mod examples;
mod recorded;
mod texts;
mod webhooks;

use aide::{
    axum::{ApiRouter, routing::ApiMethodDocs},
    generate::{GenContext, in_context},
    openapi::{self, OpenApi, ReferenceOr, Response, SecurityScheme, StatusCode},
    operation::{OperationInput, OperationOutput},
    transform::TransformOperation,
};
use axum::http::Method;
use serde_json::{Map, Value, json};

use super::Operation;
use crate::kernel::access::Access;

pub use webhooks::Event;

type Responses = fn(&mut GenContext, &mut openapi::Operation) -> Vec<(Option<u16>, Response)>;

/// How a handler's types document its parameters, body and responses.
#[derive(Clone, Copy, Debug)]
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

/// Generates the document from the operations of the table. It takes longer than everything else at a
/// start, so it is only done where the document is needed.
pub fn document(operations: &[Operation], events: &[Event]) -> OpenApi {
    let mut document = OpenApi {
        info: openapi::Info {
            title: "Dermaga".into(),
            description: Some(
                "Backend of a speedboat booking platform. Every response has the same envelope; \
                 errors have a stable code in `error`. Send `Accept-Language: id` for Indonesian \
                 messages."
                    .into(),
            ),
            version: env!("CARGO_PKG_VERSION").into(),
            license: Some(openapi::License {
                name: "MIT".into(),
                identifier: Some("MIT".into()),
                ..Default::default()
            }),
            ..Default::default()
        },
        servers: vec![openapi::Server { url: "/".into(), ..Default::default() }],
        webhooks: events.iter().map(webhooks::document).collect(),
        components: Some(errors::shared()),
        ..Default::default()
    };
    let mut router = ApiRouter::<()>::new();
    for operation in operations {
        router = router.api_route_docs(operation.path, method_docs(operation));
    }
    let _router = router.finish_api_with(&mut document, |api| {
        api.security_scheme(
            "bearer",
            SecurityScheme::Http {
                scheme: "bearer".into(),
                bearer_format: None,
                description: Some("The access_token that login returns.".into()),
                extensions: Default::default(),
            },
        )
    });
    document
}

fn method_docs(operation: &Operation) -> ApiMethodDocs {
    let method = match operation.method {
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        ref other => panic!("{other} has no place in the table"),
    };
    let mut documented = operation.io.operation();
    describe(TransformOperation::new(&mut documented), operation);
    ApiMethodDocs::new(method, documented)
}

fn describe(docs: TransformOperation<'_>, operation: &Operation) {
    let (tag, text) = texts::of_operation(operation.id).unwrap_or_default();
    let who = match operation.access {
        Access::Public => "Public.".into(),
        Access::Guest => "Public; a bearer token identifies the caller.".into(),
        Access::GuestOr(rule) => format!(
            "Guests with the booking's code and e-mail address; partners for their own; admins; \
             staff with `{rule}`."
        ),
        Access::AnySession | Access::OwnAccount => "Every signed-in account.".into(),
        Access::SignedIn => "Admins, staff, partners and resellers.".into(),
        Access::Admin => "Admins.".into(),
        Access::Staff(rule) => format!("Admins; staff with `{rule}`."),
        Access::Partner => "Partners.".into(),
        Access::PartnerOr(rule) => {
            format!("Partners for their own; admins; staff with `{rule}`.")
        }
        Access::ResellerOr(rule) => {
            format!("Resellers for their own; admins; staff with `{rule}`.")
        }
        Access::PartnerCrewOr(rule) => {
            format!("Partners and their crew for their own; admins; staff with `{rule}`.")
        }
        Access::PartnerCrewOrAny(one, other) => format!(
            "Partners and their crew for their own; admins; staff with `{one}` or `{other}`."
        ),
    };
    let recent = match operation.recent_sign_in {
        true => {
            " Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour: otherwise \
             403 `reauthentication_required`."
        }
        false => "",
    };
    let description = format!("{text}\n\n**Access:** {who}{recent}");
    let docs = docs.id(operation.id).summary(operation.summary).tag(tag);
    let mut docs = docs.description(&description);
    if operation.access != Access::Public {
        docs = docs.security_requirement("bearer");
    }
    let inner = docs.inner_mut();
    // An empty requirement makes authentication optional.
    if operation.access == Access::Public || operation.access.admits_guests() {
        inner.security.push(Default::default());
    }
    // Clients repeat what changes nothing.
    inner.extensions.insert("x-changes".into(), json!(operation.changes));
    let parameters = operation.path.split('/').filter_map(|part| part.strip_prefix('{'));
    for name in parameters.map(|part| part.trim_end_matches('}')) {
        inner.parameters.push(ReferenceOr::Item(path_parameter(name)));
    }
    errors::document_errors(inner, operation);
}

fn path_parameter(name: &str) -> openapi::Parameter {
    openapi::Parameter::Path {
        parameter_data: openapi::ParameterData {
            name: name.into(),
            description: texts::of_field("", name).find_map(|field| field.description.clone()),
            required: true,
            deprecated: None,
            format: openapi::ParameterSchemaOrContent::Schema(openapi::SchemaObject {
                json_schema: match name {
                    "month" => schemars::json_schema!({
                        "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$", "examples": ["2026-11"],
                    }),
                    "slug" | "reference" => schemars::json_schema!({ "type": "string" }),
                    _ => schemars::json_schema!({ "type": "string", "format": "uuid" }),
                },
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

/// Adds descriptions of tags, schemas and parameters, and examples of operations and events.
pub fn complete(document: &mut OpenApi) {
    let tags = texts::TAGS.iter().chain([texts::events()]);
    document.tags = tags.map(described_tag).collect();
    let recorded = recorded::Examples::read();
    for operation in operations_mut(document) {
        for parameter in &mut operation.parameters {
            if let ReferenceOr::Item(parameter) = parameter {
                describe_parameter(parameter);
            }
        }
        recorded.add_to(operation);
    }
    let events = serde_json::to_string(&document.webhooks).expect("the document serializes");
    let Some(components) = &mut document.components else { return };
    let mut schemas = Map::new();
    for (name, schema) in &mut components.schemas {
        if let Some(schema) = schema.json_schema.as_object_mut() {
            describe_fields(name, schema);
            schemas.insert(name.clone(), Value::Object(schema.clone()));
        }
    }
    // Operations have examples of their own.
    let examples = examples::Examples::new(&schemas);
    for (name, schema) in &mut components.schemas {
        let is_event = events.contains(&format!("\"#/components/schemas/{name}\""));
        if let (true, Some(schema)) = (is_event, schema.json_schema.as_object_mut()) {
            schema.insert("examples".into(), json!([examples.of_schema(name)]));
        }
    }
}

/// The keys of `docs/operations/fields.json`, for a test that each is in use.
pub fn field_keys() -> impl Iterator<Item = &'static str> {
    texts::field_keys()
}

/// The codes of `docs/operations/errors.json`, for a test that each is in use.
pub fn error_codes() -> impl Iterator<Item = &'static str> {
    errors::codes()
}

/// The operation ids that have examples, for a test that each exists.
pub fn operations_with_examples() -> impl Iterator<Item = String> {
    recorded::Examples::read().operations()
}

/// The operation ids that have a description, for a test that each exists.
pub fn described_operations() -> impl Iterator<Item = &'static str> {
    texts::TAGS.iter().flat_map(|tag| tag.operations.iter().map(|(id, _)| *id))
}

fn described_tag(tag: &texts::Tag) -> openapi::Tag {
    openapi::Tag {
        name: tag.name.into(),
        description: Some(tag.description.into()),
        ..Default::default()
    }
}

fn operations_mut(document: &mut OpenApi) -> impl Iterator<Item = &mut openapi::Operation> {
    let paths = document.paths.iter_mut().flat_map(|paths| paths.paths.values_mut());
    paths
        .filter_map(|path| match path {
            ReferenceOr::Item(item) => Some(item),
            ReferenceOr::Reference { .. } => None,
        })
        .flat_map(|item| {
            let openapi::PathItem { get, put, post, delete, patch, .. } = item;
            [get, put, post, delete, patch].into_iter().flatten()
        })
}

fn describe_parameter(parameter: &mut openapi::Parameter) {
    let data = parameter.parameter_data_mut();
    if data.description.is_none() {
        let mut texts = texts::of_field("", &data.name);
        data.description = texts.find_map(|field| field.description.clone());
    }
}

/// Describes the fields of an object, also where it is one of several alternatives.
fn describe_fields(name: &str, schema: &mut Map<String, Value>) {
    for branch in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(branch) = branch.as_object_mut() {
            describe_fields(name, branch);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (field, schema) in properties.into_iter().flatten() {
        let text = texts::of_field(name, field).find_map(|field| field.description.as_ref());
        // A reference says what it is by its own description.
        if let (Some(text), Some(schema)) = (text, schema.as_object_mut())
            && !schema.contains_key("description")
            && !schema.contains_key("$ref")
        {
            schema.insert("description".into(), json!(text));
        }
    }
}
