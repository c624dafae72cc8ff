//! How a line of the table becomes a route: guarded, retried, documented.

mod document;
mod layers;
mod verb;

use aide::{
    axum::{ApiRouter, routing::ApiMethodRouter},
    openapi::{self, OpenApi, SecurityScheme},
    operation::{OperationHandler, OperationInput, OperationOutput},
};
use axum::{
    extract::DefaultBodyLimit,
    handler::Handler,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
    routing::MethodRouter,
};

use crate::{
    app::App,
    kernel::{access::Access, http::MAX_UPLOAD},
};
use document::documented;
use layers::{authorize, invalidate_offers, refuse_prefetch, retry_on_contention};

pub use verb::{OfferChange, UnsafeMethod, Verb};

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
    /// Whether its responses are cached.
    pub cached: bool,
    pub offers: OfferChange,
    /// A limit per minute and client address, tighter than the general one.
    pub at_most: Option<u32>,
}

pub struct Table {
    app: App,
    router: ApiRouter<App>,
    operations: Vec<Operation>,
    handlers: Vec<(&'static str, MethodRouter<App>)>,
}

/// The handlers by path, and what is known of them.
pub struct Finished {
    pub handlers: Vec<(&'static str, MethodRouter<App>)>,
    pub document: OpenApi,
    pub operations: Vec<Operation>,
}

impl Table {
    pub fn new(app: App) -> Self {
        Self { app, router: ApiRouter::new(), operations: Vec::new(), handlers: Vec::new() }
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
        let Verb { method, changes, cached, offers } = verb;
        let same_for_all = access == Access::Public && !path.contains('{');
        assert!(!cached || same_for_all, "{path}: responses depend on the caller");
        let (id, at_most) = (name_of::<H>(), None);
        let operation = Operation { method, path, access, id, changes, cached, offers, at_most };
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
            let authorize = from_fn_with_state((self.app.clone(), access), authorize);
            routes = routes.route_layer(authorize);
        }
        // The document is made from the router; requests go by `edge::Routes`.
        self.router = self.router.api_route(path, routes.clone());
        self.handlers.push((path, routes.into()));
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
        self.handlers.push((path, axum::routing::get(handler)));
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
        self.handlers.push((path, axum::routing::get(page).post(pressed)));
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
                    "The backend of a speedboat booking platform. Every answer comes in one \
                     envelope; errors carry a stable word in `error`. Send `Accept-Language: id` \
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
        let _router = self.router.finish_api_with(&mut document, |api| {
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
        let Self { operations, handlers, .. } = self;
        Finished { handlers, document, operations }
    }
}

/// `dermaga::accounts::http::users::list_users` → `list_users`
fn name_of<H>() -> &'static str {
    std::any::type_name::<H>().rsplit("::").next().unwrap_or_default()
}
