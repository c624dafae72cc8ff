//! What lies between the network and the table.

mod accept;
mod frame;
mod io;
mod limits;
mod metrics;
mod shared;

use axum::{
    Router,
    http::{HeaderName, Method, Request, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use tower::{
    Layer,
    util::{BoxCloneSyncService, option_layer},
};
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowOrigin, CorsLayer},
    normalize_path::NormalizePathLayer,
};

use crate::{api, app::App, kernel::error::Error, service};

pub use accept::{Edge, listen, serve};
pub use limits::Limits;
pub use metrics::Metrics;
pub use shared::{LONGEST, Question, Shared};

/// The whole service as one function from request to response.
pub type Service =
    BoxCloneSyncService<Request<axum::body::Body>, Response, std::convert::Infallible>;

pub fn service(app: &App) -> Service {
    let (routes, document, operations) = api::table(app.clone()).finish();
    app.limits.tighten(&operations);
    let router: Router = routes
        .merge(service::documentation(&document))
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(CatchPanicLayer::custom(after_panic))
        .layer(option_layer(cors(app)))
        .layer(from_fn_with_state(app.clone(), frame::frame))
        .with_state(app.clone());
    // Outside the router: it must see the path before the router does.
    BoxCloneSyncService::new(NormalizePathLayer::trim_trailing_slash().layer(router))
}

fn after_panic(panic: Box<dyn std::any::Any + Send>) -> Response {
    let why = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Error::internal(format!("panic: {why}")).into_response()
}

fn cors(app: &App) -> Option<CorsLayer> {
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
        .max_age(std::time::Duration::from_secs(600));
    Some(layer)
}
