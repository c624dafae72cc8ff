//! How a line of the table becomes a route: guarded, retried, documented.

use std::time::Duration;

use aide::{
    axum::{ApiRouter, routing::ApiMethodRouter},
    generate::in_context,
    openapi::{self, OpenApi, ReferenceOr, SecurityScheme},
    operation::{OperationHandler, OperationInput, OperationOutput},
    transform::TransformOperation,
};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{DefaultBodyLimit, Request, State},
    handler::Handler,
    http::{
        Method,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};

use crate::{
    accounts,
    app::App,
    edge::{LONGEST, Question},
    kernel::{
        access::Access,
        caller::Context,
        error::{Error, Result},
        http::{Answer, ErrorEnvelope, MAX_BODY, MAX_UPLOAD, unreadable},
    },
};

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

    /// The answer is the same for everyone, and may be a second old.
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
}

impl Table {
    pub fn new(app: App) -> Self {
        Self { app, router: ApiRouter::new(), operations: Vec::new() }
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
        let anyones = access == Access::Public && !path.contains('{');
        assert!(shares != Shares::Its || anyones, "{path} is not everyone's");
        let id = name_of::<H>();
        let operation = Operation { method, path, access, id, changes, at_most: None };
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
        match shares {
            Shares::Its => {
                let share = from_fn_with_state((self.app.clone(), id), share);
                routes = routes.route_layer(share);
            }
            Shares::Ends => {
                routes = routes.route_layer(from_fn_with_state(self.app.clone(), end_shared));
            }
            Shares::Nothing => {}
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
        self
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The routes and their documentation.
    pub fn finish(self) -> (Router<App>, OpenApi, Vec<Operation>) {
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
        (router, document, self.operations)
    }
}

/// `dermaga::accounts::http::users::list_users` → `list_users`
fn name_of<H>() -> &'static str {
    std::any::type_name::<H>().rsplit("::").next().unwrap_or_default()
}

/// Who calls, and whether they may.
async fn guard(
    State((app, access)): State<(App, Access)>,
    context: Context,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    let header = request.headers().get(AUTHORIZATION);
    let caller = match header {
        None if access.admits_guests() => None,
        None => return Err(Error::Unauthenticated),
        Some(header) => {
            let token = header.to_str().ok().and_then(|value| value.split_once(' '));
            let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let (_, token) = token.ok_or(Error::Unauthenticated)?;
            Some(accounts::caller(&app, token.trim(), context).await?)
        }
    };
    if let Some(caller) = caller {
        if !caller.admitted(access) {
            return Err(Error::Forbidden);
        }
        request.extensions_mut().insert(caller);
    }
    Ok(next.run(request).await)
}

/// Lets a GET pass that somebody meant, and nothing that a browser tries on its own.
async fn only_if_meant(request: Request, next: Next) -> Result<Response> {
    if request.method() == Method::HEAD {
        return Err(Error::MethodNotAllowed);
    }
    let ahead_of_time = ["sec-purpose", "purpose", "x-purpose", "x-moz"].iter().any(|name| {
        let hint = request.headers().get(*name).and_then(|hint| hint.to_str().ok());
        hint.is_some_and(|hint| hint.to_ascii_lowercase().contains("pre"))
    });
    if ahead_of_time {
        return Err(Error::Forbidden);
    }
    Ok(next.run(request).await)
}

/// Gives an answer that somebody has just been given, where there is one.
async fn share(
    State((app, operation)): State<(App, &'static str)>,
    context: Context,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, MAX_BODY).await {
        Ok(body) => body,
        Err(error) => return unreadable(error).into_response(),
    };
    let kind = parts.headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_vec());
    let query = parts.uri.query().map(str::to_owned);
    let asked = Request::from_parts(parts, Body::from(body.clone()));
    // A copy: what came may be part of a larger buffer.
    let body = Bytes::copy_from_slice(&body);
    let question = Question { operation, lang: context.lang, kind, query, body };
    if question.asked() > LONGEST {
        return next.run(asked).await;
    }
    let since = match app.shared.ask(&question, app.clock.now()) {
        Ok(answer) => return answer.again(),
        Err(since) => since,
    };
    let response = next.run(asked).await;
    let answer = response.extensions().get::<Answer>();
    if let Some(answer) = answer.filter(|answer| answer.error().is_none()) {
        app.shared.keep(question, answer.clone(), since);
    }
    response
}

/// After a change nobody is given an answer of before.
async fn end_shared(State(app): State<App>, request: Request, next: Next) -> Response {
    let _until = app.shared.until_changed();
    next.run(request).await
}

/// Runs a change again when another transaction got in its way. A handler has one transaction that
/// matters, and this happens only when that one was undone; what it commits before (a counted
/// sign-in attempt) must bear being done twice. Bodies that are not JSON are files: they are
/// streamed, and what was streamed cannot be run again.
async fn again_on_contention(request: Request, next: Next) -> Response {
    const TRIES: u32 = 4;
    let content_type = request.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|kind| !kind.as_bytes().starts_with(b"application/json")) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, MAX_BODY).await {
        Ok(body) => body,
        Err(error) => return unreadable(error).into_response(),
    };
    let mut tried = 0;
    loop {
        let request = Request::from_parts(parts.clone(), Body::from(body.clone()));
        let response = next.clone().run(request).await;
        let error = response.extensions().get::<Answer>().and_then(Answer::error);
        tried += 1;
        if tried == TRIES || !matches!(error, Some(Error::Contention(_))) {
            return response;
        }
        let pause = rand::random_range(1..=10 * u64::from(tried));
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

fn documented(
    operation: Operation,
    summary: &'static str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> {
    move |docs| document(docs, &operation, summary)
}

fn document<'t>(
    docs: TransformOperation<'t>,
    operation: &Operation,
    summary: &str,
) -> TransformOperation<'t> {
    let tag = operation.path.trim_start_matches("/v1").split('/').nth(1).unwrap_or_default();
    let mut docs = docs.id(operation.id).summary(summary).tag(tag);
    let who = match operation.access {
        Access::Public => "Public.".into(),
        Access::Guest => "Public; a bearer token says who calls.".into(),
        Access::GuestOr(rule) => format!(
            "Public for what one knows of; partners for their own, admins, and staff with `{rule}`."
        ),
        Access::SignedIn => "Any account.".into(),
        Access::Admin => "Admins.".into(),
        Access::Staff(rule) => format!("Admins, and staff with `{rule}`."),
        Access::Partner => "Partners.".into(),
        Access::PartnerOr(rule) => {
            format!("Partners for their own, admins, and staff with `{rule}`.")
        }
    };
    docs = docs.description(&who);
    if operation.access != Access::Public {
        docs = docs.security_requirement("bearer");
    }
    let inner = docs.inner_mut();
    // An empty requirement: nobody in particular.
    if operation.access == Access::Public || operation.access.admits_guests() {
        inner.security.push(Default::default());
    }
    let parameters = operation.path.split('/').filter_map(|part| part.strip_prefix('{'));
    for name in parameters.map(|part| part.trim_end_matches('}')) {
        inner.parameters.push(ReferenceOr::Item(path_parameter(name)));
    }
    document_errors(inner, operation);
    docs
}

fn path_parameter(name: &str) -> openapi::Parameter {
    openapi::Parameter::Path {
        parameter_data: openapi::ParameterData {
            name: name.into(),
            description: None,
            required: true,
            deprecated: None,
            format: openapi::ParameterSchemaOrContent::Schema(openapi::SchemaObject {
                json_schema: schemars::json_schema!({ "type": "string", "format": "uuid" }),
                external_docs: None,
                example: None,
            }),
            example: None,
            examples: Default::default(),
            explode: None,
            extensions: Default::default(),
        },
        style: openapi::PathStyle::Simple,
    }
}

/// Errors that follow from nothing but what the operation is about.
const ALSO: &[(&str, u16)] = &[
    // Not paid, or no longer good.
    ("get_ticket", 409),
    // Nothing is published.
    ("get_terms", 404),
    // What is announced is too large.
    ("presign_url", 413),
    // Not the provider's word, or about no payment of ours.
    ("payment_callback", 401),
    ("payment_callback", 404),
];

/// Which errors an operation can end in follows from its access, path and input.
fn document_errors(docs: &mut openapi::Operation, operation: &Operation) {
    let guarded = operation.access != Access::Public;
    let has_body = docs.request_body.is_some();
    let has_query = docs
        .parameters
        .iter()
        .any(|p| matches!(p, ReferenceOr::Item(openapi::Parameter::Query { .. })));
    let changes = operation.changes;
    let also = |code| ALSO.contains(&(operation.id, code));
    let errors = [
        (400, has_body, "Malformed request"),
        (
            401,
            guarded || operation.path.contains("auth") || also(401),
            "Not signed in, or a bad credential",
        ),
        (403, guarded, "Not allowed"),
        (404, operation.path.contains('{') || also(404), "Not found"),
        (409, changes || also(409), "The state does not allow it"),
        (413, has_body || also(413), "Too large"),
        (415, has_body, "Not application/json"),
        (422, has_body || has_query, "Some fields are not right"),
        (429, true, "Too many requests"),
        (500, true, "A fault of ours"),
        (503, true, "Busy; try again"),
    ];
    let json_schema = in_context(|ctx| ctx.schema.subschema_for::<ErrorEnvelope<'static>>());
    let media = openapi::MediaType {
        schema: Some(openapi::SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    let responses = &mut docs.responses.get_or_insert_default().responses;
    for (code, _, description) in errors.into_iter().filter(|(_, possible, _)| *possible) {
        let response = openapi::Response {
            description: description.into(),
            content: [("application/json".to_owned(), media.clone())].into_iter().collect(),
            ..Default::default()
        };
        responses.insert(openapi::StatusCode::Code(code), ReferenceOr::Item(response));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use tower::ServiceExt;

    use super::*;
    use crate::kernel::http::Reply;

    /// A change that loses its first `losses` races: how often it ran, and how it ended.
    async fn change(losses: u32) -> (u32, u16) {
        let ran = Arc::new(AtomicU32::new(0));
        let count = ran.clone();
        let handler = async move |body: String| {
            assert_eq!(body, "whole");
            if count.fetch_add(1, Ordering::Relaxed) < losses {
                return Err(Error::Contention("deadlock".into()));
            }
            Ok(Reply::done("Done", "Selesai"))
        };
        let route = axum::routing::post(handler).route_layer(from_fn(again_on_contention));
        let router = Router::<()>::new().route("/", route);
        let request = Request::post("/").body(Body::from("whole")).unwrap();
        let response = router.oneshot(request).await.unwrap();
        (ran.load(Ordering::Relaxed), response.status().as_u16())
    }

    #[tokio::test]
    async fn a_change_that_loses_a_race_runs_again_a_few_times() {
        assert_eq!(change(0).await, (1, 200));
        assert_eq!(change(2).await, (3, 200));
        assert_eq!(change(99).await, (4, 503));
    }
}
