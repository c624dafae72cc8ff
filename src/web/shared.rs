//! Pages that are the same for every visitor: kept for a moment, like the responses that they are made
//! of (ADR 15).

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    body::to_bytes,
    http::{HeaderMap, StatusCode},
    response::Response,
};

use super::client::Envelope;
use crate::{
    app::App,
    kernel::{
        error::Result,
        http::{CacheTags, Complete, SharedBody},
        read_cache::ReadCache,
    },
};

/// Pages with a longer address are not kept.
const LONGEST_ADDRESS: usize = 1_024;
/// The largest page that is kept.
const LARGEST: usize = 1024 * 1024;

#[derive(Default)]
pub struct SharedPages(ReadCache<String, Stored>);

struct Stored {
    status: StatusCode,
    headers: HeaderMap,
    body: SharedBody,
}

impl SharedPages {
    /// The page at an address, by `render` unless it is kept. `dependencies` are those of the page,
    /// once it is rendered.
    pub async fn get_or_render(
        &self,
        app: &App,
        address: String,
        accepts_gzip: bool,
        dependencies: Dependencies,
        render: impl Future<Output = Response>,
    ) -> Result<Response> {
        if address.len() > LONGEST_ADDRESS {
            return Ok(render.await);
        }
        let render = async || {
            let (parts, body) = render.await.into_parts();
            let body = to_bytes(body, LARGEST).await.unwrap_or_default();
            let mut depends_on = dependencies.take();
            if parts.status != StatusCode::OK {
                depends_on = None;
            }
            // What cannot be kept ends at once.
            let depends_on = depends_on
                .unwrap_or_else(|| CacheTags { tags: Vec::new(), until: Some(app.clock.now()) });
            // As it is, and compressed, which takes less than half.
            let bytes = body.len() * 3 / 2;
            let body = SharedBody::new(body);
            Ok((Stored { status: parts.status, headers: parts.headers, body }, depends_on, bytes))
        };
        let kept = self.0.get_or_read(&app.response_cache, &app.clock, address, render).await?;
        let mut response = Response::default();
        *response.status_mut() = kept.status;
        *response.headers_mut() = kept.headers.clone();
        kept.body.put_into(&mut response, accepts_gzip);
        // Also an error is a page already.
        response.extensions_mut().insert(Complete);
        Ok(response)
    }
}

/// What the page of a visit is made of. `None` if something of it must not be kept.
#[derive(Clone)]
pub struct Dependencies(Arc<Mutex<Option<CacheTags>>>);

impl Default for Dependencies {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(CacheTags::default()))))
    }
}

impl Dependencies {
    /// The page also has the answer of another operation.
    pub fn add(&self, answer: &Envelope) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.take().zip(answer.depends_on.as_ref()).map(|(mut all, more)| {
            all.tags.extend(&more.tags);
            all.until = all.until.into_iter().chain(more.until).min();
            all
        });
    }

    fn take(&self) -> Option<CacheTags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
