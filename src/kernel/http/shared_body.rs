//! Bodies that several requests get: a page or an answer that is kept, an asset. What is made for one
//! request is compressed by the edge.

use std::{io::Write, sync::OnceLock};

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY},
    },
    response::Response,
};
use flate2::{Compression, write::GzEncoder};

/// Smaller bodies fit into one packet anyway.
pub const MIN_COMPRESSED: usize = 1_024;

/// Compressed once, when the first client takes it so.
pub struct SharedBody {
    plain: Bytes,
    level: Compression,
    gzipped: OnceLock<Bytes>,
}

impl SharedBody {
    /// For what is kept for seconds.
    pub fn new(plain: impl Into<Bytes>) -> Self {
        Self { plain: plain.into(), level: Compression::fast(), gzipped: OnceLock::new() }
    }

    /// For what is kept as long as the process runs.
    pub fn constant(plain: impl Into<Bytes>) -> Self {
        Self { level: Compression::best(), ..Self::new(plain) }
    }

    pub fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// Makes it the body of a response.
    pub fn put_into(&self, response: &mut Response, accepts_gzip: bool) {
        let headers = response.headers_mut();
        // It was the length of another body.
        headers.remove(CONTENT_LENGTH);
        let is_compressed = accepts_gzip && self.plain.len() >= MIN_COMPRESSED;
        if is_compressed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            if !headers.contains_key(VARY) {
                headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
            }
        }
        *response.body_mut() = Body::from(match is_compressed {
            true => self.gzipped.get_or_init(|| gzip(&self.plain, self.level)).clone(),
            false => self.plain.clone(),
        });
    }
}

fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default().into()
}

/// Whether `Accept-Encoding` names gzip, with a weight above zero.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|encoding| {
        let (name, weight) = encoding.split_once(';').unwrap_or((encoding, ""));
        let weight = weight.trim().trim_start_matches(['q', 'Q', '=']);
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse() != Ok(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_has_to_be_named() {
        let accepts = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT_ENCODING, HeaderValue::from_static(value));
            }
            accepts_gzip(&headers)
        };
        for values in
            [&["gzip"][..], &["br, GZIP;q=0.5"], &["deflate, gzip ; q=1"], &["br", "gzip"]]
        {
            assert!(accepts(values), "{values:?}");
        }
        for values in [&[][..], &["*"], &["br, deflate"], &["gzip;q=0, br"], &["gzip; q=0.000"]] {
            assert!(!accepts(values), "{values:?}");
        }
    }
}
