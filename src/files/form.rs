//! Extractors of uploads and the download response.

use std::time::Duration;

use aide::{
    OperationInput, OperationOutput,
    generate::GenContext,
    openapi::{
        MediaType, Operation, ReferenceOr, RequestBody, Response as Documented, SchemaObject,
    },
    operation::{ParamLocation, add_parameters, parameters_from_schema},
};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Multipart, Request, multipart::Field},
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, json_schema};

use super::{
    model::{Kind, Purpose, SignedQuery},
    rules::{LARGEST, clean_name},
};
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        error::{Error, Fault, Result},
        http::{MAX_UPLOAD, Query, unreadable},
        ids::Uuid,
        lang::{Text, text},
        slots::Slot,
    },
};

/// Overhead of a multipart form.
const FORM: usize = 64 * 1024;
/// Maximum number of form parts.
const PARTS: usize = 20;

/// A multipart upload, read up to its limit.
pub struct Upload {
    pub purpose: Purpose,
    pub filename: String,
    pub content: Bytes,
    pub slot: Slot,
}

impl FromRequest<App> for Upload {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if announced(request.headers()).is_some_and(|length| length > MAX_UPLOAD as u64) {
            return Err(Error::TooLarge);
        }
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let essence = content_type.and_then(|v| v.split(';').next()).unwrap_or_default();
        if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
            return Err(Error::UnsupportedMediaType);
        }
        let caller = request.extensions().get::<Caller>().ok_or(Error::Unauthenticated)?;
        let slot = slot(app, caller.person.id).await?;
        let mut form = Multipart::from_request(request, app).await.map_err(|_| malformed())?;
        let (mut purpose, mut file, mut parts) = (None, None, 0);
        while let Some(mut field) = form.next_field().await.map_err(refused)? {
            parts += 1;
            if parts > PARTS {
                return Err(malformed());
            }
            match field.name() {
                Some("purpose") => {
                    purpose =
                        Some(String::from_utf8_lossy(&read(&mut field, 64).await?).into_owned());
                }
                Some("file") => {
                    let filename = clean_name(field.file_name().unwrap_or_default());
                    file = Some((filename, read_file(&mut field).await?));
                }
                _ => drop(read(&mut field, FORM).await?),
            }
        }
        let mut faults = Vec::new();
        let required = || text("This is required.", "Wajib diisi.");
        let purpose = match purpose.as_deref().map(str::parse::<Purpose>) {
            Some(Ok(purpose)) => Some(purpose),
            Some(Err(_)) => {
                let words: Vec<_> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
                let message = format!("{}.", words.join(", "));
                let message = Text::new(message.clone(), message);
                faults.push(Fault::new("purpose", "enum", message));
                None
            }
            None => {
                faults.push(Fault::new("purpose", "required", required()));
                None
            }
        };
        if file.is_none() {
            faults.push(Fault::new("file", "required", required()));
        }
        match (purpose, file) {
            (Some(purpose), Some((filename, content))) => {
                Ok(Self { purpose, filename, content, slot })
            }
            _ => Err(Error::Invalid(faults)),
        }
    }
}

impl OperationInput for Upload {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        let purposes: Vec<_> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
        let json_schema = json_schema!({
            "type": "object",
            "required": ["file", "purpose"],
            "properties": {
                "file": { "type": "string", "format": "binary" },
                "purpose": { "type": "string", "enum": purposes },
            },
        });
        document_body(operation, "multipart/form-data", json_schema);
    }
}

fn document_body(operation: &mut Operation, kind: &str, json_schema: schemars::Schema) {
    let media = MediaType {
        schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    operation.request_body = Some(ReferenceOr::Item(RequestBody {
        content: [(kind.to_owned(), media)].into_iter().collect(),
        required: true,
        ..Default::default()
    }));
}

/// The raw content of a presigned upload.
pub struct Content(pub Request);

impl<S: Sync> FromRequest<S> for Content {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        Ok(Self(request))
    }
}

impl OperationInput for Content {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        let schema = json_schema!({ "type": "string", "format": "binary" });
        document_body(operation, "application/octet-stream", schema);
    }
}

/// The signature of a presigned upload. A missing one is refused like a wrong one: 403, and not 422.
pub struct UploadSignature(pub SignedQuery);

impl<S: Sync> FromRequestParts<S> for UploadSignature {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Query(signature) = Query::<SignedQuery>::from_request_parts(parts, state).await?;
        Ok(Self(signature))
    }
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct RequiredSignature {
    expires: String,
    signature: String,
}

impl OperationInput for UploadSignature {
    fn operation_input(ctx: &mut GenContext, operation: &mut Operation) {
        let schema = ctx.schema.subschema_for::<RequiredSignature>();
        let parameters = parameters_from_schema(ctx, schema, ParamLocation::Query);
        add_parameters(ctx, operation, parameters);
    }
}

/// Reads the file up to the limit of its type, which is known from the first bytes.
async fn read_file(field: &mut Field<'_>) -> Result<Bytes> {
    let mut content = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(refused)? {
        content.extend_from_slice(&chunk);
        let limit = Kind::sniff(&content).map_or(LARGEST, Kind::limit);
        if content.len() > limit {
            return Err(Error::TooLarge);
        }
    }
    Ok(content.into())
}

async fn read(field: &mut Field<'_>, limit: usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(refused)? {
        content.extend_from_slice(&chunk);
        if content.len() > limit {
            return Err(Error::TooLarge);
        }
    }
    Ok(content)
}

/// The `Content-Length` header.
pub fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn malformed() -> Error {
    Error::Malformed(text("The form is malformed.", "Formulir tidak terbaca."))
}

fn refused(error: axum::extract::multipart::MultipartError) -> Error {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge,
        _ => match unreadable(axum::Error::new(error)) {
            Error::Malformed(_) => malformed(),
            other => other,
        },
    }
}

/// Reserves memory for an upload of this account.
pub async fn slot(app: &App, account: Uuid) -> Result<Slot> {
    app.uploads.take(account, Duration::from_secs(5)).await
}

/// Content of a file as response.
pub struct Download(pub Response);

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        self.0
    }
}

impl OperationOutput for Download {
    type Inner = Self;

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<u16>, Documented)> {
        let json_schema = json_schema!({ "type": "string", "format": "binary" });
        let media = MediaType {
            schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
            ..Default::default()
        };
        let content = Kind::ALL.iter().map(|kind| (kind.to_string(), media.clone()));
        let response = Documented {
            description: "Content of the file".into(),
            content: content.collect(),
            ..Default::default()
        };
        vec![(Some(200), response)]
    }
}
