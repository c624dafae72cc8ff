//! The whole service as one function from request to response.

use std::{
    any::Any,
    convert::Infallible,
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderName, HeaderValue, Method, header},
    response::{IntoResponse, Response},
};
use futures_util::{FutureExt, future::BoxFuture};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::{cors::CorsLayer, normalize_path::NormalizePath};

use super::{
    compression::{Compression, compression},
    context::context,
    cors::cors,
};
use crate::{
    api,
    app::App,
    console,
    kernel::{
        caller::Context,
        error::Error,
        http::{Answer, CompressOnce, MAX_BODY, render, unreadable},
        response_cache::CacheKey,
        telemetry::{self, TracedRequest},
    },
    octo, pages, pier, service,
    table::{Operation, Route, Routes},
    web::{self, Site, Web, again::Typed},
};

/// Capacity for the headers that are added to a response.
const ADDED_HEADERS: usize = 12;
/// The label of requests for unknown paths in metrics.
const NO_ROUTE: &str = "-";
const TOO_LONG: &str = "the request took too long";

#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    app: App,
    routes: Routes,
    web: Web,
    /// Headers of every response that does not set them itself. Not a stack of tower-http layers:
    /// each one moves the future of the request and its response, which costs a fifth of a cached
    /// search.
    default_headers: Vec<(HeaderName, HeaderValue)>,
    cors: Option<CorsLayer>,
    compression: Compression,
    /// For a whole request: its body, its work, the head of its response.
    timeout: Duration,
}

impl Service {
    pub fn new(app: &App, timeout: Duration) -> Self {
        let table = api::table(app.clone()).finish();
        app.limits().limit_operations(&table.operations);
        let all: Arc<[Operation]> = table.operations.clone().into();
        let document = {
            let all = all.clone();
            Arc::new(move || service::served_document(&all).plain().clone())
        };
        // The console calls the operations, and none of the pages.
        let operations = Routes::new(app, &table.operations, table.handlers.clone());
        let site =
            Site { pages: pages::pages().pages, sign_in: console::SIGN_IN, files: pier::files() };
        let web = Web::new(app, site, operations, &table.operations, document);
        let mut handlers = table.handlers;
        handlers.extend(service::documentation(all));
        handlers.extend(web.handlers());
        handlers.extend(octo::handlers(app));
        let routes = Routes::new(app, &table.operations, handlers);
        Self(Arc::new(Parts {
            app: app.clone(),
            routes,
            web,
            default_headers: default_headers(app),
            cors: cors(app),
            compression: compression(),
            timeout,
        }))
    }

    pub async fn respond(&self, peer: Option<SocketAddr>, request: Request) -> Response {
        let context = context(self.0.app.config.trusted_hops, peer, &request);
        // Boxed: the adapters around it move the future several times.
        let service = service_fn(|request| self.respond_in_span(&context, request));
        // The path is normalized before a route is looked for.
        let service = NormalizePath::trim_trailing_slash(service);
        if !context.accepts_gzip {
            return infallible(service.oneshot(request).await);
        }
        let service =
            self.0.compression.layer(service).map_response(|answer| answer.map(Body::new));
        infallible(service.oneshot(request).boxed().await)
    }

    /// In a span, if traces are exported.
    fn respond_in_span<'a>(
        &'a self,
        context: &'a Context,
        request: Request,
    ) -> BoxFuture<'a, Result<Response, Infallible>> {
        let telemetry = self.0.app.telemetry.as_ref();
        let span = telemetry.map(|telemetry| telemetry.server_span(request.headers()));
        let response = self.respond_to(context, request).map(Ok);
        match span {
            None => response.boxed(),
            Some(span) => span.scope(response.boxed()).boxed(),
        }
    }

    /// Applies the limits, answers, and records metrics, the log line and the span.
    async fn respond_to(&self, context: &Context, mut request: Request) -> Response {
        let started = Instant::now();
        let app = &self.0.app;
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let (route, params) = self.0.routes.find(uri.path()).unzip();
        if let Some(params) = params.filter(|params| !params.0.is_empty()) {
            request.extensions_mut().insert(params);
        }
        let operation = route.and_then(|route| route.operation(&method));
        // Errors on a page are pages, too.
        let is_page = web::is_page(uri.path())
            || (route.is_none() && web::is_asked_for_page(&method, request.headers()));
        let page = is_page.then(|| (request.headers().clone(), Typed::default()));
        if let Some((_, typed)) = &page {
            request.extensions_mut().insert(typed.clone());
        }
        let target = Target { route, operation, context };
        let is_octo = octo::is_octo(uri.path());
        // Keys of resellers have limits of their own.
        let has_key =
            route.is_some_and(|route| octo::is_limited_by_key(route.path, request.headers()));
        let allowance = match has_key {
            true => None,
            false => app.limits().take(context.address, operation),
        };
        let refused = allowance.as_ref().and_then(|allowance| allowance.refused());
        let mut response = match refused {
            Some(retry_after) => {
                if page.is_some() {
                    let _ =
                        tokio::time::timeout(self.0.timeout, self.0.web.keep_typed(request)).await;
                }
                Error::TooManyRequests { retry_after }.into_response()
            }
            None => self.answer_in_time(target, request).await,
        };
        if let Some((headers, typed)) = page {
            let (web, form) = (&self.0.web, typed.take());
            web.render_problem(&mut response, context, &headers, &method, &uri, form).await;
        }
        // One allocation for all headers that follow.
        response.headers_mut().reserve(ADDED_HEADERS);
        if let Some(allowance) = allowance {
            allowance.announce(response.headers_mut());
        }
        let span = telemetry::current().map(|span| (span, error_code(&response)));
        let problem = is_octo.then(|| octo::rendered(&response, context.lang)).flatten();
        render(&mut response, context);
        if let Some((status, body)) = problem {
            *response.status_mut() = status;
            *response.body_mut() = Body::from(body);
            // That of the body before.
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        for (name, value) in &self.0.default_headers {
            response.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        if response.extensions().get::<web::answer::AnyFrame>().is_some() {
            response.headers_mut().remove(header::X_FRAME_OPTIONS);
        }
        let (status, took) = (response.status().as_u16(), started.elapsed());
        app.metrics.request(&method, route.map_or(NO_ROUTE, |route| route.path), status, took);
        tracing::info!(
            request_id = %context.request_id,
            %method,
            path = uri.path(),
            status,
            ms = took.as_secs_f64() * 1000.0,
            address = %context.address,
            user_agent = context.user_agent.as_deref().unwrap_or_default(),
            "request"
        );
        if let Some((span, error)) = span {
            let route = route.map(|route| route.path);
            let operation = operation.map(|operation| operation.id);
            let path = uri.path();
            let request = TracedRequest { context, method: &method, path, route, operation };
            span.end_request(request, status, error);
        }
        response
    }

    async fn answer_in_time(&self, target: Target<'_>, request: Request) -> Response {
        let changes = target.changes(request.method());
        match tokio::time::timeout(self.0.timeout, self.answer_with_cors(target, request)).await {
            Ok(response) => response,
            // A change may have been committed.
            Err(_) if changes => Error::OutcomeUnknown(TOO_LONG.into()).into_response(),
            Err(_) => Error::Unavailable(TOO_LONG.into()).into_response(),
        }
    }

    async fn answer_with_cors(&self, target: Target<'_>, request: Request) -> Response {
        // Other origins call the API. They neither read pages nor send forms.
        let cors = self.0.cors.as_ref().filter(|_| !web::is_page(request.uri().path()));
        let Some(cors) = cors else { return self.answer(target, request).await };
        let service = service_fn(async |request| Ok(self.answer(target, request).await));
        infallible(cors.layer(service).oneshot(request).boxed().await)
    }

    async fn answer(&self, target: Target<'_>, request: Request) -> Response {
        let answer = AssertUnwindSafe(self.cached_or_handled(target, request));
        answer.catch_unwind().await.unwrap_or_else(after_panic)
    }

    async fn cached_or_handled(&self, target: Target<'_>, request: Request) -> Response {
        let Some(operation) = target.operation.filter(|operation| operation.cached) else {
            return target.handle(request).await;
        };
        let (parts, body) = request.into_parts();
        let body = match to_bytes(body, MAX_BODY).await {
            Ok(body) => body,
            Err(error) => return unreadable(error).into_response(),
        };
        let key = CacheKey::new(operation.id, target.context.lang, &parts, &body);
        let handle = || target.handle(Request::from_parts(parts, Body::from(body)));
        match key {
            Some(key) => {
                let app = &self.0.app;
                let cached = app.response_cache.get_or_compute(&key, &app.clock, handle);
                let mut response = cached.await;
                if target.context.accepts_gzip {
                    response.extensions_mut().insert(CompressOnce);
                }
                response
            }
            None => handle().await,
        }
    }
}

/// The route of a request, and its sender.
#[derive(Clone, Copy)]
struct Target<'a> {
    route: Option<&'a Route>,
    operation: Option<&'a Operation>,
    context: &'a Context,
}

impl<'a> Target<'a> {
    /// Boxed: a cached response does not need the memory of a handler's future.
    fn handle(self, mut request: Request) -> BoxFuture<'a, Response> {
        request.extensions_mut().insert(self.context.clone());
        async move {
            match self.route {
                Some(route) => infallible(route.call(request).await),
                None => Error::NotFound.into_response(),
            }
        }
        .boxed()
    }

    /// Pages are not operations, but their forms have side effects.
    fn changes(&self, method: &Method) -> bool {
        self.operation.map_or(!method.is_safe(), |operation| operation.changes)
    }
}

/// The code of the error that will be rendered.
fn error_code(response: &Response) -> Option<&'static str> {
    let answer = response.extensions().get::<Answer>()?;
    answer.error().map(|error| error.describe().1)
}

fn default_headers(app: &App) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = vec![
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    if app.config.public_url().starts_with("https://") {
        headers.push((header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"));
    }
    let fixed = |(name, value)| (name, HeaderValue::from_static(value));
    headers.into_iter().map(fixed).collect()
}

fn infallible(Ok(response): Result<Response, Infallible>) -> Response {
    response
}

fn after_panic(panic: Box<dyn Any + Send>) -> Response {
    Error::from_panic(&*panic).into_response()
}
