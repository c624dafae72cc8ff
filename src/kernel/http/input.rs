//! Extractors for body, query and path that validate before the handler runs.

use std::any::Any;

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
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::kernel::{
    error::{Error, Fault, Result},
    idempotency::Key,
    ids::Uuid,
    json::{self, Parsed},
    lang::text,
    schema::{self, Compiled, Input},
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
        let bytes = json_bytes(request).await?;
        let read = |bytes: &[u8]| {
            let Parsed { value, truncated } = object(bytes)?;
            let read = schema::read(value).map_err(Error::Invalid)?;
            if truncated { Err(too_many_values()) } else { Ok(read) }
        };
        decode(bytes, read).await.map(Self)
    }
}

// What does not depend on the type of a body stands in functions of its own, which are compiled once
// and not for every type.

async fn json_bytes(request: Request) -> Result<Bytes> {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let essence = content_type.and_then(|v| v.split(';').next()).map(str::trim);
    if !essence.is_some_and(|e| e.eq_ignore_ascii_case("application/json")) {
        return Err(Error::UnsupportedMediaType);
    }
    to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)
}

fn object(bytes: &[u8]) -> Result<Parsed> {
    let parsed = json::parse(bytes).map_err(|_| {
        Error::Malformed(text(
            "The body is not valid JSON.",
            "Isi permintaan bukan JSON yang valid.",
        ))
    })?;
    if !parsed.value.is_object() {
        return Err(Error::Malformed(text(
            "The body must be a JSON object.",
            "Isi permintaan harus berupa objek JSON.",
        )));
    }
    Ok(parsed)
}

fn too_many_values() -> Error {
    Error::Invalid(vec![Fault::new(
        "body",
        "max_items",
        text("The body holds too many values.", "Isi permintaan memuat terlalu banyak nilai."),
    )])
}

/// Decodes a body: a small one in place, a large one on a blocking thread so that it does not block
/// the worker. Only a few large bodies are decoded at once: decoded JSON takes many times the memory
/// of its text.
pub async fn decode<T: Send + 'static>(
    bytes: Bytes,
    read: impl FnOnce(&[u8]) -> Result<T> + Send + 'static,
) -> Result<T> {
    if bytes.len() <= INLINE {
        return read(&bytes);
    }
    let erased: Decode =
        Box::new(move |bytes| read(bytes).map(|decoded| Box::new(decoded) as Box<dyn Any + Send>));
    let decoded = decode_blocking(bytes, erased).await?.downcast::<T>();
    decoded.map(|decoded| *decoded).map_err(|_| Error::internal("decoded as another type"))
}

const INLINE: usize = 64 * 1024;

/// Turns a body into a value of the type that its caller expects.
type Decode = Box<dyn FnOnce(&[u8]) -> Result<Box<dyn Any + Send>> + Send>;

async fn decode_blocking(bytes: Bytes, decode: Decode) -> Result<Box<dyn Any + Send>> {
    static LARGE: Semaphore = Semaphore::const_new(2);
    let permit = LARGE.acquire().await.map_err(Error::internal)?;
    let decoded = tokio::task::spawn_blocking(move || {
        let decoded = decode(&bytes);
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
        let fields = query_fields(parts, &schema::compiled::<T>())?;
        schema::read(Value::Object(fields)).map(Self).map_err(Error::Invalid)
    }
}

const MAX_PARAMETERS: usize = 200;

fn query_fields(parts: &Parts, schema: &Compiled) -> Result<Map<String, Value>> {
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
        let fields = query_fields(&parts, &schema::compiled::<T>())?;
        let bytes = to_bytes(body, MAX_BODY).await.map_err(unreadable)?;
        let read = move |body: &[u8]| {
            let fields = Value::Object(with_body(fields, body)?);
            schema::read(fields).map_err(Error::Invalid)
        };
        decode(bytes, read).await.map(Self)
    }
}

fn with_body(mut fields: Map<String, Value>, body: &[u8]) -> Result<Map<String, Value>> {
    if !body.is_empty() {
        // Lists and objects count as absent, so it does not matter when some are left out.
        let Ok(Parsed { value: Value::Object(body), .. }) = json::parse(body) else {
            return Err(Error::Malformed(text(
                "The body is not a JSON object.",
                "Isi bukan objek JSON.",
            )));
        };
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
    Ok(fields)
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

impl<S: Sync, T: FromPath> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let params = parts.extensions.get::<PathParams>();
        params.and_then(|params| T::from_path(&params.0)).map(Self).ok_or(Error::NotFound)
    }
}

/// The values of the parameters in a path, in their order. The edge finds them with the route.
#[derive(Clone, Default)]
pub struct PathParams(pub Vec<String>);

pub trait FromPath: Sized {
    fn from_path(params: &[String]) -> Option<Self>;
}

impl FromPath for String {
    fn from_path(params: &[String]) -> Option<Self> {
        match params {
            [text] => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromPath for Uuid {
    fn from_path(params: &[String]) -> Option<Self> {
        match params {
            [id] => id.parse().ok(),
            _ => None,
        }
    }
}

impl FromPath for (Uuid, Uuid) {
    fn from_path(params: &[String]) -> Option<Self> {
        match params {
            [first, second] => Some((first.parse().ok()?, second.parse().ok()?)),
            _ => None,
        }
    }
}

/// The table documents path parameters from the path itself.
impl<T> OperationInput for Path<T> {}
