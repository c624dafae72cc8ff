//! Finds the route of a request. This happens once: limits, cache and metrics need the operation
//! before a handler runs, so the handlers are found with it.

use std::{
    convert::Infallible,
    sync::{Mutex, PoisonError},
};

use axum::{
    extract::Request,
    http::Method,
    routing::{MethodRouter, future::RouteFuture},
};
use matchit::Router;
use percent_encoding::percent_decode_str;
use tower::Service;

use super::Operation;
use crate::{app::App, kernel::http::PathParams};

pub struct Routes(Router<Route>);

/// A path and its operations.
pub struct Route {
    /// As in the table.
    pub path: &'static str,
    operations: Vec<Operation>,
    /// Calling it needs `&mut`, although it only clones the handler of the method. The lock is held
    /// for that long. Cloning all handlers of the path for each request would allocate more.
    handlers: Mutex<MethodRouter>,
}

impl Routes {
    /// `handlers` may name a path several times.
    pub fn new(
        app: &App,
        operations: &[Operation],
        handlers: Vec<(&'static str, MethodRouter<App>)>,
    ) -> Self {
        let mut paths: Vec<(&'static str, MethodRouter<App>)> = Vec::new();
        for (path, more) in handlers {
            match paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => *known = std::mem::take(known).merge(more),
                None => paths.push((path, more)),
            }
        }
        let mut routes = Router::new();
        for (path, handlers) in paths {
            let operations = operations.iter().filter(|operation| operation.path == path);
            let handlers = Mutex::new(handlers.with_state(app.clone()));
            let route = Route { path, operations: operations.cloned().collect(), handlers };
            routes.insert(path, route).expect("the paths of the table do not conflict");
        }
        Self(routes)
    }

    /// The route of a path, with the values of its parameters.
    pub fn find(&self, path: &str) -> Option<(&Route, PathParams)> {
        let found = self.0.at(path).ok()?;
        let decoded = |value| percent_decode_str(value).decode_utf8().ok().map(String::from);
        // A value that is not UTF-8 matches nothing.
        let params: Option<Vec<String>> =
            found.params.iter().map(|(_, value)| decoded(value)).collect();
        Some((found.value, PathParams(params.unwrap_or_default())))
    }
}

impl Route {
    /// HEAD is GET without the body.
    pub fn operation(&self, method: &Method) -> Option<&Operation> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.operations.iter().find(|operation| operation.method == *method)
    }

    /// 405 if the path does not support the method.
    pub fn call(&self, request: Request) -> RouteFuture<Infallible> {
        // No code that holds the lock panics.
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner).call(request)
    }
}
