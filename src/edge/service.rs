//! The whole service as one function from request to response: framed, then answered from what is
//! shared or by the table.

use std::{any::Any, convert::Infallible, net::SocketAddr, panic::AssertUnwindSafe, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    response::{IntoResponse, Response},
};
use futures_util::{FutureExt, future::BoxFuture};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::{cors::CorsLayer, normalize_path::NormalizePath};

use super::{
    cors::cors,
    frame::Frame,
    lines::{Line, Lines},
};
use crate::{
    api,
    app::App,
    kernel::{
        caller::Context,
        error::Error,
        http::{Answer, MAX_BODY, unreadable},
        response_cache::Question,
    },
    service,
};

#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    app: App,
    lines: Lines,
    frame: Frame,
    cors: Option<CorsLayer>,
    router: Router,
}

impl Service {
    pub fn new(app: &App) -> Self {
        let table = api::table(app.clone()).finish();
        app.limits().tighten(&table.operations);
        let pages = table.pages.iter().chain(&service::DOCUMENTATION);
        let lines = Lines::new(&table.operations, pages);
        let router = table.router.merge(service::documentation(&table.document));
        let router = router
            .fallback(async || Error::NotFound)
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .with_state(app.clone());
        let (app, frame, cors) = (app.clone(), Frame::new(app), cors(app));
        Self(Arc::new(Parts { app, lines, frame, cors, router }))
    }

    pub async fn answer(&self, peer: Option<SocketAddr>, request: Request) -> Response {
        // The path is put right before anybody looks at it.
        let framed = service_fn(async |request| Ok(self.framed(peer, request).await));
        into_answer(NormalizePath::trim_trailing_slash(framed).oneshot(request).await)
    }

    async fn framed(&self, peer: Option<SocketAddr>, request: Request) -> Response {
        let line = self.0.lines.find(request.uri().path());
        let within = async |request, context: &Context| match &self.0.cors {
            None => self.within(line, request, context).await,
            Some(cors) => {
                let within =
                    service_fn(async |request| Ok(self.within(line, request, context).await));
                into_answer(cors.layer(within).oneshot(request).boxed().await)
            }
        };
        self.0.frame.around(line.route, peer, request, within).await
    }

    async fn within(&self, line: &Line, request: Request, context: &Context) -> Response {
        let answer = AssertUnwindSafe(self.shared(line, request, context));
        answer.catch_unwind().await.unwrap_or_else(after_panic)
    }

    /// Gives an answer that somebody has just been given, where there is one.
    async fn shared(&self, line: &Line, request: Request, context: &Context) -> Response {
        let Some(operation) = line.shared_by(request.method()) else {
            return self.by_table(request, context).await;
        };
        let app = &self.0.app;
        let (parts, body) = request.into_parts();
        let body = match to_bytes(body, MAX_BODY).await {
            Ok(body) => body,
            Err(error) => return unreadable(error).into_response(),
        };
        let question = Question::new(operation, context.lang, &parts, &body);
        let asked = Request::from_parts(parts, Body::from(body));
        let Some(question) = question else { return self.by_table(asked, context).await };
        let since = match app.shared.ask(&question, app.clock.now()) {
            Ok(answer) => return answer.again(),
            Err(since) => since,
        };
        let response = self.by_table(asked, context).await;
        if let Some(answer) = response.extensions().get::<Answer>() {
            app.shared.keep(question, answer, since);
        }
        response
    }

    /// Boxed: whoever is answered before need not carry its room along.
    fn by_table<'a>(&'a self, mut request: Request, context: &Context) -> BoxFuture<'a, Response> {
        request.extensions_mut().insert(context.clone());
        self.0.router.clone().oneshot(request).map(into_answer).boxed()
    }
}

fn into_answer(Ok(answer): Result<Response, Infallible>) -> Response {
    answer
}

fn after_panic(panic: Box<dyn Any + Send>) -> Response {
    Error::from_panic(&*panic).into_response()
}
