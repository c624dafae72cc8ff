//! Which responses are compressed.

use axum::http::{
    Extensions, HeaderMap, HeaderValue, StatusCode, Version,
    header::{CONTENT_TYPE, ETAG},
};
use tower_http::compression::{
    CompressionLayer, CompressionLevel, Predicate,
    predicate::{And, SizeAbove},
};

use crate::kernel::http::MIN_COMPRESSED;

pub type Compression = CompressionLayer<And<SizeAbove, Compressible>>;

type Compressible = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

pub fn compression() -> Compression {
    let predicate = SizeAbove::new(MIN_COMPRESSED as u16).and(is_compressible as Compressible);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate)
}

/// Text. Pictures and documents are compressed already, and events would wait in the buffer of the
/// encoder. A strong ETag names the bytes of one encoding, so a response that has one stays as it is.
fn is_compressible(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_text = kind.starts_with(b"text/") && !kind.starts_with(b"text/event-stream");
    let is_json = kind.starts_with(b"application/json");
    let is_other_text =
        kind.starts_with(b"image/svg+xml") || kind.starts_with(b"application/openmetrics-text");
    (is_text || is_json || is_other_text) && !headers.contains_key(ETAG)
}
