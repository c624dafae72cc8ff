//! CORS: which other origins may call.

use std::time::Duration;

use axum::http::{HeaderName, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::App;

pub fn cors(app: &App) -> Option<CorsLayer> {
    let origins = app.config.cors_origins.0.clone();
    if origins.is_empty() {
        return None;
    }
    let exposed =
        ["x-request-id", "ratelimit", "ratelimit-policy", "retry-after", "idempotency-replayed"];
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_credentials(true)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::ACCEPT_LANGUAGE,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("x-request-id"),
            HeaderName::from_static("x-remember-token"),
        ])
        .expose_headers(exposed.map(HeaderName::from_static))
        .max_age(Duration::from_secs(600));
    Some(layer)
}
