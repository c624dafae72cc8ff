//! Calls operations in the same process: the console is a client of the API and has no other way to
//! the data.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use form_urlencoded::Serializer;
use serde_json::{Map, Value};

use super::schema::{self, Input};
use crate::{
    app::App,
    kernel::{
        caller::Context,
        error::Error,
        http::{Answer, CacheTags, render},
    },
    table::{Operation, Routes},
};

/// The largest answer that a page is made from.
const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// Returns the OpenAPI document. The first call generates it.
pub type Document = Arc<dyn Fn() -> Bytes + Send + Sync>;

pub struct Client {
    app: App,
    routes: Routes,
    operations: HashMap<&'static str, Operation>,
    document: Document,
}

/// One call of an operation.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub operation: &'static str,
    /// Values of the parameters in its path, in their order.
    pub params: Vec<String>,
    pub query: Vec<(String, String)>,
    pub body: Payload,
    pub bearer: Option<String>,
    pub key: Option<String>,
    /// The remember token of the device.
    pub remember: Option<String>,
    pub accept: Option<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub enum Payload {
    #[default]
    None,
    Json(Value),
    /// With its content type, which has the boundary.
    Form(String, Bytes),
}

/// The envelope of an answer.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    pub status: u16,
    pub message: String,
    pub data: Value,
    pub pagination: Value,
    /// Whatever else stands beside the data.
    pub beside: Map<String, Value>,
    pub error: String,
    pub faults: Vec<Fault>,
    pub retry_after: Option<u64>,
    /// What the answer depends on, if it may be kept for other visitors.
    pub depends_on: Option<CacheTags>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub field: String,
    pub rule: String,
    pub message: String,
}

impl Call {
    pub fn of(operation: &'static str) -> Self {
        Self { operation, ..Self::default() }
    }

    pub fn params(self, params: &[String]) -> Self {
        Self { params: params.to_vec(), ..self }
    }

    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub fn json(self, body: Value) -> Self {
        Self { body: Payload::Json(body), ..self }
    }
}

impl Client {
    pub fn new(app: &App, routes: Routes, operations: &[Operation], document: Document) -> Self {
        let operations = operations.iter().map(|operation| (operation.id, operation.clone()));
        Self { app: app.clone(), routes, operations: operations.collect(), document }
    }

    pub fn operation(&self, id: &str) -> Option<&Operation> {
        self.operations.get(id)
    }

    /// What an operation takes. Read from the document at the first call.
    pub fn input(&self, id: &str) -> Arc<Input> {
        // One document for all services of a process.
        static INPUTS: OnceLock<HashMap<String, Arc<Input>>> = OnceLock::new();
        let inputs = INPUTS.get_or_init(|| {
            let document = serde_json::from_slice(&(self.document)()).unwrap_or_default();
            schema::inputs(&document).into_iter().map(|(id, input)| (id, input.into())).collect()
        });
        inputs.get(id).cloned().unwrap_or_default()
    }

    /// The answer as it is, for files and streams. The general limit has counted the page; a tighter
    /// one of the operation counts here.
    pub async fn send(&self, context: &Context, call: Call) -> Response {
        let Some(operation) = self.operation(call.operation) else {
            return Error::internal(format!("{} is not in the table", call.operation))
                .into_response();
        };
        if let Some(refused) = self.app.limits().take_own(context.address, operation) {
            return Error::TooManyRequests { retry_after: refused }.into_response();
        }
        let path = path_of(operation.path, &call.params);
        let Some((route, params)) = self.routes.find(&path) else {
            return Error::NotFound.into_response();
        };
        let request = match request(operation, &path, call) {
            Ok(mut request) => {
                request.extensions_mut().insert(Context { is_page: true, ..context.clone() });
                request.extensions_mut().insert(params);
                request
            }
            Err(error) => return error.into_response(),
        };
        let Ok(response) = route.call(request).await;
        response
    }

    /// The envelope of the answer.
    pub async fn ask(&self, context: &Context, call: Call) -> Envelope {
        let is_cached = self.operation(call.operation).is_some_and(|operation| operation.cached);
        let response = self.send(context, call).await;
        let answer = response.extensions().get::<Answer>().filter(|_| is_cached);
        let depends_on = answer.and_then(|answer| answer.cache_tags().cloned());
        Envelope { depends_on, ..read(response, context).await }
    }
}

/// Reads the envelope of a response.
pub async fn read(mut response: Response, context: &Context) -> Envelope {
    render(&mut response, context);
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
    let mut envelope = envelope(parts.status, &bytes);
    let header = |name| parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    envelope.retry_after = header(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
    envelope
}

fn envelope(status: StatusCode, bytes: &[u8]) -> Envelope {
    let mut fields = match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut text = |name: &str| match fields.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (message, error, _, _) =
        (text("message"), text("error"), text("status"), text("request_id"));
    fields.remove("code");
    let faults = match fields.remove("errors") {
        Some(Value::Array(faults)) => faults.iter().map(fault).collect(),
        _ => Vec::new(),
    };
    Envelope {
        status: status.as_u16(),
        message,
        error,
        faults,
        data: fields.remove("data").unwrap_or_default(),
        pagination: fields.remove("pagination").unwrap_or_default(),
        beside: fields,
        ..Envelope::default()
    }
}

fn fault(fault: &Value) -> Fault {
    let text = |name| fault[name].as_str().unwrap_or_default().to_owned();
    Fault { field: text("field"), rule: text("rule"), message: text("message") }
}

/// What a form is shown with: after a refusal, its faults at their fields, or what was answered.
pub struct Shown {
    pub status: u16,
    pub faults: Vec<Fault>,
    pub refusal: Option<Envelope>,
}

impl Shown {
    pub fn plain() -> Self {
        Self { status: 200, faults: Vec::new(), refusal: None }
    }

    pub fn refused(answer: Envelope) -> Self {
        let (status, faults) = (answer.status, answer.faults.clone());
        let refusal = (status != 422 || faults.is_empty()).then_some(answer);
        Self { status, faults, refusal }
    }

    pub fn message(&self) -> Option<&str> {
        self.refusal.as_ref().map(|refusal| refusal.message.as_str())
    }

    pub fn retry_after(&self) -> Option<u64> {
        self.refusal.as_ref().and_then(|refusal| refusal.retry_after)
    }
}

impl Envelope {
    /// The refusal of a form whose page has shown another amount than the one that counts now.
    pub fn changed(message: &str) -> Self {
        Self { status: 409, message: message.to_owned(), ..Self::default() }
    }

    /// The session has ended.
    pub fn needs_sign_in(&self) -> bool {
        (self.status, self.error.as_str()) == (401, "unauthenticated")
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

fn request(operation: &Operation, path: &str, call: Call) -> Result<Request, Error> {
    let mut uri = path.to_owned();
    if !call.query.is_empty() {
        let query = Serializer::new(String::new()).extend_pairs(&call.query).finish();
        uri = format!("{uri}?{query}");
    }
    let mut request = Request::new(Body::empty());
    *request.method_mut() = operation.method.clone();
    *request.uri_mut() = uri.parse().map_err(Error::internal)?;
    let mut headers = HeaderMap::new();
    let mut set = |name, value: String| -> Result<(), Error> {
        headers.insert(name, value.parse().map_err(Error::internal)?);
        Ok(())
    };
    if let Some(token) = call.bearer {
        set(AUTHORIZATION, format!("Bearer {token}"))?;
    }
    if let Some(token) = call.remember {
        set(HeaderName::from_static("x-remember-token"), token)?;
    }
    if let Some(accept) = call.accept {
        set(axum::http::header::ACCEPT, accept.into())?;
    }
    if let Some(key) = call.key {
        set(HeaderName::from_static("idempotency-key"), key)?;
    }
    match call.body {
        Payload::None => {}
        Payload::Json(body) => {
            set(CONTENT_TYPE, "application/json".into())?;
            *request.body_mut() = Body::from(body.to_string());
        }
        Payload::Form(content_type, body) => {
            set(CONTENT_TYPE, content_type)?;
            *request.body_mut() = Body::from(body);
        }
    }
    *request.headers_mut() = headers;
    Ok(request)
}

/// Puts values into a path of the table. A value that is missing stays a placeholder, which no record
/// has as its id.
fn path_of(path: &str, params: &[String]) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let mut params = params.iter();
    let parts = path.split('/').map(|part| match part.starts_with('{') {
        true => match params.next() {
            Some(value) => utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
            None => "-".to_owned(),
        },
        false => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_into_a_path() {
        let id = |id: &str| vec![id.to_owned()];
        assert_eq!(path_of("/v1/users/{id}/status", &id("7")), "/v1/users/7/status");
        assert_eq!(path_of("/v1/users/{id}", &id("../staff")), "/v1/users/%2E%2E%2Fstaff");
        assert_eq!(path_of("/v1/users/{id}", &[]), "/v1/users/-");
    }
}
