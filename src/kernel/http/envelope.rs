//! Renders the answer of a handler: the JSON envelope in the caller's language, with the request id.

use axum::{
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{self, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

use super::Answer;
use crate::kernel::{caller::Context, error::Error, lang::text};

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Marks a response that is no envelope whatever its status is, such as a page.
#[derive(Clone, Copy, Debug)]
pub struct Complete;

/// Marks an answer that further requests get, for a client that takes it compressed.
#[derive(Clone, Copy, Debug)]
pub struct CompressOnce;

/// Writes the envelope, and logs the details that the caller must not see.
pub fn render(response: &mut Response, context: &Context) {
    let answer = match response.extensions_mut().remove::<Answer>() {
        Some(answer) => Some(answer),
        // A page, which may have the status of an error.
        None if response.extensions().get::<Complete>().is_some() => None,
        None => default_rejection(response.status()).map(|error| {
            let framework = std::mem::replace(response, error.into_response());
            // Such as `Allow`.
            response.headers_mut().extend(framework.headers().clone());
            response.extensions_mut().remove::<Answer>().expect("an error carries its answer")
        }),
    };
    if let Some(answer) = answer {
        if let Some(error) = answer.error() {
            if let Some(cause) = error.cause() {
                tracing::error!(request_id = %context.request_id, cause, "request failed");
            }
            let retry_after = match error {
                Error::TooManyRequests { retry_after } => Some(*retry_after),
                Error::Unavailable(_) | Error::Contention(_) => Some(1),
                _ => None,
            };
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
        }
        let compress_once =
            context.accepts_gzip && response.extensions_mut().remove::<CompressOnce>().is_some();
        answer.render(response, context.lang, &context.request_id, compress_once);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let lang = HeaderValue::from_static(context.lang.as_str());
        headers.insert(header::CONTENT_LANGUAGE, lang);
    }
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// Errors of axum itself get the same envelope.
fn default_rejection(status: StatusCode) -> Option<Error> {
    match status {
        StatusCode::BAD_REQUEST => {
            Some(Error::Malformed(text("The request is malformed.", "Permintaan tidak valid.")))
        }
        StatusCode::NOT_FOUND => Some(Error::NotFound),
        StatusCode::METHOD_NOT_ALLOWED => Some(Error::MethodNotAllowed),
        StatusCode::REQUEST_TIMEOUT => Some(Error::Timeout),
        StatusCode::PAYLOAD_TOO_LARGE => Some(Error::TooLarge),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(Error::UnsupportedMediaType),
        status if status.is_server_error() => Some(Error::internal(status)),
        _ => None,
    }
}
