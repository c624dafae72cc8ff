//! Turns a line of the table into a route: guarded, retried, documented.

pub mod document;
mod handler;
mod layers;
mod routes;
mod verb;

use aide::operation::{OperationHandler, OperationInput, OperationOutput};
use axum::{
    extract::DefaultBodyLimit,
    handler::Handler,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
    response::Response,
    routing::{MethodFilter, MethodRouter},
};

use futures_util::future::BoxFuture;

use crate::{
    app::App,
    kernel::{access::Access, http::MAX_UPLOAD},
};
use document::Io;
use handler::AnyHandler;
use layers::{Guard, authorize, invalidate_offers, refuse_prefetch};

pub use layers::retry_on_contention;

pub use routes::{Route, Routes};
pub use verb::{BeforeEnrolment, OfferChange, UnsafeMethod, Verb};

/// One operation of the table.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    /// The handler's name.
    pub id: &'static str,
    pub summary: &'static str,
    pub io: Io,
    /// Whether it changes something.
    pub changes: bool,
    /// Whether its responses are cached.
    pub cached: bool,
    pub offers: OfferChange,
    /// Whether it needs the password within the last hour.
    pub recent_sign_in: bool,
    /// Whether accounts may call it that must set up a second factor first.
    pub before_enrolment: BeforeEnrolment,
    /// A limit per minute and client address, tighter than the general one.
    pub at_most: Option<u32>,
}

pub struct Table {
    app: App,
    operations: Vec<Operation>,
    handlers: Vec<(&'static str, MethodRouter<App>)>,
}

/// The handlers by path, and the operations.
pub struct Finished {
    pub handlers: Vec<(&'static str, MethodRouter<App>)>,
    pub operations: Vec<Operation>,
}

impl Table {
    pub fn new(app: App) -> Self {
        Self { app, operations: Vec::new(), handlers: Vec::new() }
    }

    /// Adds an operation.
    pub fn op<H, I, O, T>(
        self,
        verb: Verb,
        path: &'static str,
        access: Access,
        handler: H,
        summary: &'static str,
    ) -> Self
    where
        H: Handler<T, App, Future = BoxFuture<'static, Response>> + OperationHandler<I, O>,
        I: OperationInput,
        O: OperationOutput,
        T: 'static,
    {
        let handler = AnyHandler::new(handler);
        self.add(verb, path, access, name_of::<H>(), summary, handler, Io::of::<I, O>())
    }

    /// The part of `op` that does not depend on the handler's type, so that it is compiled once.
    fn add(
        mut self,
        verb: Verb,
        path: &'static str,
        access: Access,
        id: &'static str,
        summary: &'static str,
        handler: AnyHandler,
        io: Io,
    ) -> Self {
        let mut routes = MethodRouter::new().on(filter(&verb.method), handler);
        let Verb { method, changes, cached, offers, recent_sign_in, before_enrolment } = verb;
        assert!(!cached || access == Access::Public, "{path}: responses depend on the caller");
        let operation = Operation {
            method,
            path,
            access,
            id,
            summary,
            io,
            changes,
            cached,
            offers,
            recent_sign_in,
            before_enrolment,
            at_most: None,
        };
        if changes {
            routes = routes.route_layer(from_fn(retry_on_contention));
        }
        if offers == OfferChange::All {
            routes = routes.route_layer(from_fn_with_state(self.app.clone(), invalidate_offers));
        }
        if changes && operation.method == Method::GET {
            routes = routes.route_layer(from_fn(refuse_prefetch));
        }
        routes = routes.route_layer(DefaultBodyLimit::max(MAX_UPLOAD));
        if access != Access::Public {
            let guard = Guard { access, changes, recent_sign_in, before_enrolment };
            let authorize = from_fn_with_state((self.app.clone(), guard), authorize);
            routes = routes.route_layer(authorize);
        }
        self.handlers.push((path, routes));
        self.operations.push(operation);
        self
    }

    /// Limits the operation above to this many requests a minute from one address.
    pub fn at_most(mut self, per_minute: u32) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            operation.at_most = Some(per_minute);
        }
        self
    }

    /// Adds an HTML page, which is not an operation.
    pub fn page<H, T>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, App, Future = BoxFuture<'static, Response>>,
        T: 'static,
    {
        self.handlers.push((path, axum::routing::get(AnyHandler::new(handler))));
        self
    }

    /// Adds a page with a form that is posted to the same path.
    pub fn page_with_form<H, T, F, U>(mut self, path: &'static str, page: H, submit: F) -> Self
    where
        H: Handler<T, App, Future = BoxFuture<'static, Response>>,
        T: 'static,
        F: Handler<U, App, Future = BoxFuture<'static, Response>>,
        U: 'static,
    {
        let (page, submit) = (AnyHandler::new(page), AnyHandler::new(submit));
        self.handlers.push((path, axum::routing::get(page).post(submit)));
        self
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    pub fn finish(self) -> Finished {
        Finished { handlers: self.handlers, operations: self.operations }
    }
}

fn filter(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).expect("the table has standard methods")
}

/// `dermaga::accounts::http::users::list_users` → `list_users`
fn name_of<H>() -> &'static str {
    let name = std::any::type_name::<H>().split('<').next().unwrap_or_default();
    name.rsplit("::").next().unwrap_or_default()
}
