//! Health, metrics and documentation of the service itself.

use std::{
    collections::HashSet,
    sync::{Arc, LazyLock, OnceLock},
};

use aide::{openapi::OpenApi, scalar::Scalar};
use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Redirect, Response},
    routing::{MethodRouter, get},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    config::guard,
    kernel::{
        caller::Context,
        disk,
        error::{Error, Result},
        http::{Reply, SharedBody},
    },
    providers,
    table::{
        Operation,
        document::{self, Event},
    },
    webhooks,
};

#[derive(Serialize, JsonSchema)]
pub struct Health {
    version: &'static str,
    uptime_seconds: u64,
    /// Engine of the database.
    database: &'static str,
    storage: &'static str,
    /// Whether the production guard is disabled.
    insecure_demo: bool,
}

/// 503 when the database does not answer.
pub async fn health(State(app): State<App>) -> Result<Reply<Health>> {
    app.db.ping().await?;
    Ok(Reply::data(Health {
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: app.started.elapsed().as_secs(),
        database: app.db.engine(),
        storage: app.storage.name(),
        insecure_demo: app.config.insecure_demo.0,
    }))
}

pub async fn live() -> Reply {
    Reply::done("Alive", "Hidup")
}

/// 503 when the database does not answer, or when a background job of this process has not
/// succeeded for 5 of its intervals (at least 30 s). The log names the job.
pub async fn ready(State(app): State<App>) -> Result<Reply> {
    app.db.ping().await?;
    if let Some((job, since)) = app.jobs.overdue() {
        let since = since.as_secs();
        return Err(Error::Unavailable(format!("the job {job} has not succeeded for {since} s")));
    }
    Ok(Reply::done("Ready", "Siap"))
}

/// 401 without the token. A service that others can reach must have one.
pub async fn metrics(State(app): State<App>, headers: HeaderMap) -> Result<impl IntoResponse> {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let allowed = match &app.config.metrics_token {
        Some(token) => given.is_some_and(|(_, given)| token.is(given.trim())),
        None => guard::exposure(&app.config).is_none(),
    };
    if !allowed {
        return Err(Error::Unauthenticated);
    }
    app.metrics.jobs(&app.jobs);
    app.metrics.cache(&app.response_cache);
    app.metrics.provider_calls(&providers::calls());
    app.metrics.disk(disk::free(&app.config.data_dir));
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics.text(&app.db)))
}

/// The page at `/docs`. It has no script of its own: its policy allows none.
const REFERENCE_PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dermaga API</title>
<style>body { margin: 0 }</style>
</head>
<body>
<noscript>The reference needs JavaScript. The document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration='{
  "theme": "default", "withDefaultFonts": false, "hideClientButton": true, "hideDarkModeToggle": false,
  "defaultHttpClient": { "targetKey": "shell", "clientKey": "curl" },
  "metaData": { "title": "Dermaga API" }
}'></script>
<script src="/docs/reference.js"></script>
</body>
</html>
"#;

/// The reference at `/docs`, its script, and the document it is made from. All are part of the binary.
pub fn documentation(operations: Arc<[Operation]>) -> [(&'static str, MethodRouter<App>); 3] {
    // Three megabytes, taken out at the first request.
    static SCRIPT: LazyLock<SharedBody> =
        LazyLock::new(|| SharedBody::constant(reference_script()));
    static PAGE: LazyLock<SharedBody> = LazyLock::new(|| SharedBody::constant(REFERENCE_PAGE));
    let kind = |kind| (header::CONTENT_TYPE, kind);
    let script_kind = [kind("text/javascript")];
    let policy = (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; \
         font-src data:; worker-src blob:; frame-ancestors 'none'",
    );
    let page_head = [kind("text/html; charset=utf-8"), policy];
    [
        ("/openapi.json", get(async move |context| serve_document(operations, &context).await)),
        ("/docs", get(async move |context| serve(page_head, &PAGE, &context))),
        ("/docs/reference.js", get(async move |context| serve(script_kind, &SCRIPT, &context))),
    ]
}

/// The script of the library's own page, which has a theme that cannot be chosen.
fn reference_script() -> String {
    let page = Scalar::new("").html();
    let script = page.split_once("JSON.stringify(configuration)").and_then(|(_, rest)| {
        let (_, script) = rest.split_once("<script>")?;
        Some(script.rsplit_once("</script>")?.0.trim().to_owned())
    });
    script.expect("the page ends with the script")
}

fn serve(head: impl IntoResponse, body: &SharedBody, context: &Context) -> Response {
    let mut response = head.into_response();
    body.put_into(&mut response, context.accepts_gzip);
    response
}

/// The document as it is served. Made when it is first needed, because that takes longer than everything
/// else at a start. One for all services of a process: tests start hundreds.
pub fn served_document(operations: &[Operation]) -> &'static SharedBody {
    static DOCUMENT: OnceLock<SharedBody> = OnceLock::new();
    DOCUMENT.get_or_init(|| SharedBody::constant(openapi(operations)))
}

async fn serve_document(operations: Arc<[Operation]>, context: &Context) -> Result<Response> {
    let document = tokio::task::spawn_blocking(move || served_document(&operations)).await;
    let document = document.map_err(Error::internal)?;
    Ok(serve([(header::CONTENT_TYPE, "application/json")], document, context))
}

/// The document as it is served and committed, without unreferenced schemas (those of queries, which
/// are documented as parameters).
pub fn openapi(operations: &[Operation]) -> String {
    const REFERENCE: &str = "\"#/components/schemas/";
    let events = webhooks::documented_events().map(|(name, data)| Event { name, data });
    let mut document = document::document(operations, &events.collect::<Vec<_>>());
    let text = |document: &OpenApi| {
        serde_json::to_string_pretty(document).expect("the document serializes")
    };
    let mut json = text(&document);
    while let Some(components) = &mut document.components {
        let before = components.schemas.len();
        let references = json.split(REFERENCE).skip(1);
        let used: HashSet<_> = references.filter_map(|rest| rest.split('"').next()).collect();
        components.schemas.retain(|name, _| used.contains(name.as_str()));
        if components.schemas.len() == before {
            break;
        }
        json = text(&document);
    }
    document::complete(&mut document);
    json = text(&document);
    json.push('\n');
    json
}

/// Pages of mailed links, unless another app is configured for them. Opening one changes nothing, because
/// mail scanners open links; its button sends the token.
pub async fn reset_page(RawQuery(query): RawQuery) -> impl IntoResponse {
    to_console("reset", query)
}

pub async fn verify_email_page(RawQuery(query): RawQuery) -> impl IntoResponse {
    to_console("verify-email", query)
}

pub async fn confirm_email_page(RawQuery(query): RawQuery) -> impl IntoResponse {
    to_console("confirm-email", query)
}

pub async fn cancel_email_change_page(RawQuery(query): RawQuery) -> impl IntoResponse {
    to_console("cancel-email-change", query)
}

fn to_console(page: &str, query: Option<String>) -> Redirect {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::to(&format!("/console/{page}{query}"))
}
