//! Extractors for body, query and path that validate before the handler runs.

use aide::{
    OperationInput,
    generate::GenContext,
    openapi::{MediaType, Operation, Parameter, ReferenceOr, RequestBody, SchemaObject},
    operation::{ParamLocation, add_parameters, parameters_from_schema},
};
use axum::{
    body::{Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, Request},
    http::{header::CONTENT_TYPE, request::Parts},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::kernel::{
    error::{Error, Result},
    idempotency::Key,
    lang::text,
    phone,
    schema::{self, Input},
};

pub const MAX_BODY: usize = 1024 * 1024;
/// The largest file and its multipart form.
pub const MAX_UPLOAD: usize = 10 * MAX_BODY + 64 * 1024;

/// A valid JSON body.
pub struct Body<T>(pub T);

/// An optional JSON body.
pub struct OptionalBody<T>(pub T);

/// A JSON body and its bytes, which identify the request for idempotency.
pub struct Fingerprinted<T>(pub T, pub Vec<u8>);

/// The `Idempotency-Key` header, if present.
pub struct IdempotencyKey(pub Option<String>);

/// A valid query string. An empty value counts as absent.
pub struct Query<T>(pub T);

/// Filters in the query string or in a JSON body.
pub struct Filters<T>(pub T);

/// Path parameters. A malformed id is 404.
pub struct Path<T>(pub T);

impl<S: Sync, T: Input> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let essence = content_type.and_then(|v| v.split(';').next()).map(str::trim);
        if !essence.is_some_and(|e| e.eq_ignore_ascii_case("application/json")) {
            return Err(Error::UnsupportedMediaType);
        }
        let bytes = to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
        decode(bytes, body_from).await.map(Self)
    }
}

fn body_from<T: Input>(bytes: &[u8]) -> Result<T> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| {
        Error::Malformed(text(
            "The body is not valid JSON.",
            "Isi permintaan bukan JSON yang valid.",
        ))
    })?;
    if !value.is_object() {
        return Err(Error::Malformed(text(
            "The body must be a JSON object.",
            "Isi permintaan harus berupa objek JSON.",
        )));
    }
    schema::read(value).map_err(Error::Invalid)
}

/// Decodes a body: a small one in place, a large one on a blocking thread so that it does not block
/// the worker. Small ones also use a blocking thread until phone metadata is loaded. Only a few
/// large bodies are decoded at once: decoded JSON takes up to a hundred times the memory of its
/// text.
pub async fn decode<T: Send + 'static>(
    bytes: Bytes,
    read: impl FnOnce(&[u8]) -> Result<T> + Send + 'static,
) -> Result<T> {
    const INLINE: usize = 64 * 1024;
    static LARGE: Semaphore = Semaphore::const_new(2);
    let small = bytes.len() <= INLINE;
    if small && phone::is_loaded() {
        return read(&bytes);
    }
    let permit = match small {
        true => None,
        false => Some(LARGE.acquire().await.map_err(Error::internal)?),
    };
    let decoded = tokio::task::spawn_blocking(move || {
        let decoded = read(&bytes);
        drop(permit);
        decoded
    });
    decoded.await.map_err(Error::internal)?
}

impl<S: Sync, T: Input + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let bytes = to_bytes(body, MAX_BODY).await.map_err(unreadable)?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let request = Request::from_parts(parts, bytes.into());
        Body::from_request(request, state).await.map(|Body(value)| Self(value))
    }
}

impl<S: Sync, T: Input> FromRequest<S> for Fingerprinted<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let bytes = to_bytes(body, MAX_BODY).await.map_err(unreadable)?;
        let request = Request::from_parts(parts, bytes.clone().into());
        let Body(value) = Body::from_request(request, state).await?;
        Ok(Self(value, bytes.to_vec()))
    }
}

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        match parts.headers.get("idempotency-key") {
            None => Ok(Self(None)),
            Some(key) => Key::parse(key.to_str().unwrap_or_default()).map(Some).map(Self),
        }
    }
}

/// Error for a body that could not be read: too large, incomplete or stalled.
pub fn unreadable(error: axum::Error) -> Error {
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return Error::TooLarge;
        }
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut) {
            return Error::Timeout;
        }
        cause = error.source();
    }
    Error::Malformed(text("The body is incomplete.", "Isi permintaan terputus."))
}

impl<T: Input> OperationInput for Body<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        document_body::<T>(ctx, operation, true);
    }
}

impl<T: Input> OperationInput for OptionalBody<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        document_body::<T>(ctx, operation, false);
    }
}

impl<T: Input> OperationInput for Fingerprinted<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        document_body::<T>(ctx, operation, true);
    }
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct IdempotencyHeader {
    /// A repeated request with the same key and body returns the first response for 24 hours.
    #[serde(rename = "Idempotency-Key")]
    #[schemars(length(min = 1, max = 255))]
    key: Option<String>,
}

impl OperationInput for IdempotencyKey {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        let schema = ctx.schema.subschema_for::<IdempotencyHeader>();
        let parameters = parameters_from_schema(ctx, schema, ParamLocation::Header);
        add_parameters(ctx, operation, parameters);
    }
}

fn document_body<T: Input>(ctx: &mut GenContext, operation: &mut Operation, required: bool) {
    let json_schema = ctx.schema.subschema_for::<T>();
    let media = MediaType {
        schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    operation.request_body = Some(ReferenceOr::Item(RequestBody {
        content: [("application/json".to_owned(), media)].into_iter().collect(),
        required,
        ..Default::default()
    }));
}

impl<S: Sync, T: Input> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let fields = query_fields::<T>(parts)?;
        schema::read(Value::Object(fields)).map(Self).map_err(Error::Invalid)
    }
}

const MAX_PARAMETERS: usize = 200;

fn query_fields<T: Input>(parts: &Parts) -> Result<Map<String, Value>> {
    let schema = schema::compiled::<T>();
    let mut fields = Map::new();
    let query = parts.uri.query().unwrap_or("").as_bytes();
    if form_urlencoded::parse(query).nth(MAX_PARAMETERS).is_some() {
        return Err(Error::Malformed(text(
            "The query has more than 200 parameters.",
            "Kueri memiliki lebih dari 200 parameter.",
        )));
    }
    for (name, text) in form_urlencoded::parse(query) {
        if text.is_empty() {
            continue;
        }
        // A value that does not parse as its type stays a string, which the schema refuses.
        let value = match text.as_ref() {
            "true" | "false" if schema.is(&name, "boolean") => Value::Bool(text == "true"),
            _ if schema.is(&name, "integer") => {
                text.parse::<i64>().map_or_else(|_| Value::from(text.as_ref()), Value::from)
            }
            _ => Value::from(text.as_ref()),
        };
        fields.insert(name.into_owned(), value);
    }
    Ok(fields)
}

/// The body supplements the query. Null, empty strings, lists and objects count as absent.
impl<S: Sync, T: Input> FromRequest<S> for Filters<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let fields = query_fields::<T>(&parts)?;
        let bytes = to_bytes(body, MAX_BODY).await.map_err(unreadable)?;
        decode(bytes, move |body| filters_from(fields, body)).await.map(Self)
    }
}

fn filters_from<T: Input>(mut fields: Map<String, Value>, body: &[u8]) -> Result<T> {
    if !body.is_empty() {
        let body: Map<String, Value> = serde_json::from_slice(body).map_err(|_| {
            Error::Malformed(text("The body is not a JSON object.", "Isi bukan objek JSON."))
        })?;
        for (name, value) in body {
            let is_given = match &value {
                Value::String(text) => !text.trim().is_empty(),
                Value::Null | Value::Array(_) | Value::Object(_) => false,
                _ => true,
            };
            if is_given {
                fields.entry(name).or_insert(value);
            }
        }
    }
    schema::read(Value::Object(fields)).map_err(Error::Invalid)
}

impl<T: Input> OperationInput for Filters<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        Query::<T>::operation_input(ctx, operation);
    }
}

impl<T: Input> OperationInput for Query<T> {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        let schema = ctx.schema.subschema_for::<T>();
        let mut parameters = parameters_from_schema(ctx, schema, ParamLocation::Query);
        for parameter in &mut parameters {
            // An empty value counts as absent.
            if let Parameter::Query { parameter_data, .. } = parameter
                && !parameter_data.required
            {
                // The library has a field for it, and misspells it.
                parameter_data.extensions.insert("allowEmptyValue".into(), true.into());
            }
        }
        add_parameters(ctx, operation, parameters);
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(value)| Self(value)).map_err(|_| Error::NotFound)
    }
}

/// The table documents path parameters from the path itself.
impl<T> OperationInput for Path<T> {}
