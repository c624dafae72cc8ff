//! Files as responses, alone or as an alternative to JSON.

use std::marker::PhantomData;

use aide::{
    OperationOutput,
    generate::GenContext,
    openapi::{MediaType, Operation, Response as DocumentedResponse, SchemaObject},
};
use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

use crate::kernel::error::{Error, Result};

/// Media types of the `Accept` header, in order.
pub fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').filter_map(|kind| kind.split(';').next()).map(str::trim)
}

/// Content types of a file response, for the OpenAPI document.
pub trait Kinds {
    const KINDS: &'static [&'static str];
}

/// A file response that must not be cached by others.
pub struct File<K> {
    response: Response,
    kinds: PhantomData<fn() -> K>,
}

impl<K> File<K> {
    /// Content-Disposition: attachment.
    pub fn attached(name: &str, kind: &'static str, content: impl Into<Body>) -> Result<Self> {
        Self::new("attachment", name, kind, content.into())
    }

    /// Content-Disposition: inline.
    pub fn inline(name: &str, kind: &'static str, content: impl Into<Body>) -> Result<Self> {
        Self::new("inline", name, kind, content.into())
    }

    fn new(how: &str, name: &str, kind: &'static str, content: Body) -> Result<Self> {
        let mut response = content.into_response();
        let disposition = HeaderValue::from_str(&format!("{how}; filename=\"{name}\""));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CONTENT_DISPOSITION, disposition.map_err(Error::internal)?);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        Ok(Self { response, kinds: PhantomData })
    }
}

impl<K> IntoResponse for File<K> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<K: Kinds> OperationOutput for File<K> {
    type Inner = PhantomData<K>;

    fn operation_response(_: &mut GenContext, _: &mut Operation) -> Option<DocumentedResponse> {
        let mut response =
            DocumentedResponse { description: "Content of the file".into(), ..Default::default() };
        describe::<K>(&mut response);
        Some(response)
    }

    fn inferred_responses(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Vec<(Option<u16>, DocumentedResponse)> {
        let response = Self::operation_response(ctx, operation);
        response.map(|response| (Some(200), response)).into_iter().collect()
    }
}

/// A JSON response or a file.
pub enum FileOr<R, K> {
    Json(R),
    File(File<K>),
}

impl<R: IntoResponse, K> IntoResponse for FileOr<R, K> {
    fn into_response(self) -> Response {
        match self {
            Self::Json(reply) => reply.into_response(),
            Self::File(file) => file.into_response(),
        }
    }
}

impl<R: OperationOutput, K: Kinds> OperationOutput for FileOr<R, K> {
    type Inner = PhantomData<(R, K)>;

    fn operation_response(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Option<DocumentedResponse> {
        let mut response = R::operation_response(ctx, operation)?;
        describe::<K>(&mut response);
        Some(response)
    }

    fn inferred_responses(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Vec<(Option<u16>, DocumentedResponse)> {
        let response = Self::operation_response(ctx, operation);
        response.map(|response| (Some(200), response)).into_iter().collect()
    }
}

fn describe<K: Kinds>(response: &mut DocumentedResponse) {
    for kind in K::KINDS {
        let binary = schemars::json_schema!({ "type": "string", "format": "binary" });
        let schema = SchemaObject { json_schema: binary, external_docs: None, example: None };
        let media = MediaType { schema: Some(schema), ..MediaType::default() };
        response.content.insert((*kind).to_owned(), media);
    }
}
