//! How a line of the table becomes a route: guarded, retried, documented.

pub mod document;
mod layers;

use aide::{
    axum::{ApiRouter, routing::ApiMethodRouter},
    openapi::{self, OpenApi, SecurityScheme},
    operation::{OperationHandler, OperationInput, OperationOutput},
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    handler::Handler,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
};

use crate::{
    app::App,
    kernel::{access::Access, http::MAX_UPLOAD},
};
use document::documented;
use layers::{again_on_contention, end_shared, guard, only_if_meant};

/// One line of the table, as others see it.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    /// The handler's name.
    pub id: &'static str,
    /// Whether it changes something.
    pub changes: bool,
    /// Whether its answer is everyone's, and given before the table is asked.
    pub shared: bool,
    /// A limit per minute and client address, tighter than the general one.
    pub at_most: Option<u32>,
}

/// The first column: the method, and whether it changes something, which the method does not always
/// say. A GET that does must be meant: neither a HEAD nor a prefetch.
pub struct Verb {
    method: Method,
    changes: bool,
    shares: Shares,
}

/// What it is to the answers that are shared.
#[derive(Clone, Copy, PartialEq)]
enum Shares {
    /// It gives one.
    Its,
    /// It ends them all.
    Ends,
    Nothing,
}

impl Verb {
    pub const fn reads(method: Method) -> Self {
        Self { method, changes: false, shares: Shares::Nothing }
    }

    pub const fn changes(method: Method) -> Self {
        Self { method, changes: true, shares: Shares::Ends }
    }

    /// The answer is the same for everyone, and may be a moment old.
    pub const fn shares(method: Method) -> Self {
        Self { method, changes: false, shares: Shares::Its }
    }

    /// A frequent change that says itself which shared answers it ends.
    pub const fn sells(method: Method) -> Self {
        Self { method, changes: true, shares: Shares::Nothing }
    }
}

pub struct Table {
    app: App,
    router: ApiRouter<App>,
    operations: Vec<Operation>,
    pages: Vec<&'static str>,
}

/// The routes, and what is known of them.
pub struct Finished {
    pub router: Router<App>,
    pub document: OpenApi,
    pub operations: Vec<Operation>,
    pub pages: Vec<&'static str>,
}

impl Table {
    pub fn new(app: App) -> Self {
        Self { app, router: ApiRouter::new(), operations: Vec::new(), pages: Vec::new() }
    }

    /// Adds a line.
    pub fn op<H, I, O, T>(
        mut self,
        verb: Verb,
        path: &'static str,
        access: Access,
        handler: H,
        summary: &'static str,
    ) -> Self
    where
        H: Handler<T, App> + OperationHandler<I, O>,
        I: OperationInput,
        O: OperationOutput,
        T: 'static,
    {
        let Verb { method, changes, shares } = verb;
        let shared = shares == Shares::Its;
        let anyones = access == Access::Public && !path.contains('{');
        assert!(!shared || anyones, "{path} is not everyone's");
        let id = name_of::<H>();
        let operation = Operation { method, path, access, id, changes, shared, at_most: None };
        let document = documented(operation.clone(), summary);
        let routes = ApiMethodRouter::<App>::new();
        let mut routes = match operation.method {
            Method::GET => routes.get_with(handler, document),
            Method::POST => routes.post_with(handler, document),
            Method::PUT => routes.put_with(handler, document),
            Method::PATCH => routes.patch_with(handler, document),
            Method::DELETE => routes.delete_with(handler, document),
            ref other => panic!("{other} has no place in the table"),
        };
        if changes {
            routes = routes.route_layer(from_fn(again_on_contention));
        }
        if shares == Shares::Ends {
            routes = routes.route_layer(from_fn_with_state(self.app.clone(), end_shared));
        }
        if changes && operation.method == Method::GET {
            routes = routes.route_layer(from_fn(only_if_meant));
        }
        routes = routes.route_layer(DefaultBodyLimit::max(MAX_UPLOAD));
        if access != Access::Public {
            let guard = from_fn_with_state((self.app.clone(), access), guard);
            routes = routes.route_layer(guard);
        }
        self.router = self.router.api_route(path, routes);
        self.operations.push(operation);
        self
    }

    /// Limits the line above to so many requests a minute from one address.
    pub fn at_most(mut self, per_minute: u32) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            operation.at_most = Some(per_minute);
        }
        self
    }

    /// A page for people; not an operation.
    pub fn page<H, T>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.router = self.router.route(path, axum::routing::get(handler));
        self.pages.push(path);
        self
    }

    /// A page with a form that is sent back to it.
    pub fn page_with_form<H, T, F, U>(mut self, path: &'static str, page: H, pressed: F) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
        F: Handler<U, App>,
        U: 'static,
    {
        self.router = self.router.route(path, axum::routing::get(page).post(pressed));
        self.pages.push(path);
        self
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    pub fn finish(self) -> Finished {
        let mut document = OpenApi {
            info: openapi::Info {
                title: "Dermaga".into(),
                description: Some(
                    "Backend of a speedboat booking platform. Every response has the same \
                     envelope; errors have a stable code in `error`. Send `Accept-Language: id` \
                     for Indonesian messages."
                        .into(),
                ),
                version: env!("CARGO_PKG_VERSION").into(),
                license: Some(openapi::License {
                    name: "MIT".into(),
                    identifier: Some("MIT".into()),
                    ..Default::default()
                }),
                ..Default::default()
            },
            servers: vec![openapi::Server { url: "/".into(), ..Default::default() }],
            ..Default::default()
        };
        let router = self.router.finish_api_with(&mut document, |api| {
            api.security_scheme(
                "bearer",
                SecurityScheme::Http {
                    scheme: "bearer".into(),
                    bearer_format: None,
                    description: Some("The access_token that login returns.".into()),
                    extensions: Default::default(),
                },
            )
        });
        let Self { operations, pages, .. } = self;
        Finished { router, document, operations, pages }
    }
}

/// `dermaga::accounts::http::users::list_users` → `list_users`
fn name_of<H>() -> &'static str {
    std::any::type_name::<H>().rsplit("::").next().unwrap_or_default()
}
