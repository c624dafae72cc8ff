//! Handlers without their types.

use std::sync::Arc;

use axum::{extract::Request, handler::Handler, response::Response};
use futures_util::future::BoxFuture;

use crate::app::App;

/// Any handler. What axum builds around a handler is compiled for this type only, and not for each of
/// two hundred operations, which took a third of the time to compile this crate.
#[derive(Clone)]
pub struct AnyHandler(Arc<dyn Fn(Request, App) -> BoxFuture<'static, Response> + Send + Sync>);

impl AnyHandler {
    /// The futures of functions are boxed by axum.
    pub fn new<H, T>(handler: H) -> Self
    where
        H: Handler<T, App, Future = BoxFuture<'static, Response>>,
        T: 'static,
    {
        Self(Arc::new(move |request, app| handler.clone().call(request, app)))
    }
}

impl Handler<(), App> for AnyHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        (self.0)(request, app)
    }
}
