//! Layers of an operation: access, cache invalidation, retries.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        Method,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::verb::BeforeEnrolment;
use crate::{
    accounts,
    app::App,
    kernel::{
        access::Access,
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Answer, MAX_BODY, unreadable},
    },
};

/// Whom an operation admits.
#[derive(Clone, Copy)]
pub struct Guard {
    pub access: Access,
    /// Whether the operation changes something.
    pub changes: bool,
    pub recent_sign_in: bool,
    pub before_enrolment: BeforeEnrolment,
}

impl Guard {
    fn admit(self, app: &App, caller: &Caller) -> Result<()> {
        let before_enrolment = match self.before_enrolment {
            BeforeEnrolment::Nobody => false,
            BeforeEnrolment::Pages => caller.context.is_page,
            BeforeEnrolment::Everybody => true,
        };
        // First: until it is set up, such a session learns nothing else.
        if !before_enrolment && lacks_second_factor(app, caller) {
            return Err(Error::SecondFactorEnrolmentRequired);
        }
        if !caller.admitted(self.access)
            || !caller.impersonation_admitted(self.access, self.changes)
        {
            return Err(Error::Forbidden);
        }
        if self.recent_sign_in && !caller.has_recent_sign_in(app.clock.now()) {
            return Err(Error::ReauthenticationRequired);
        }
        Ok(())
    }
}

/// Whether the caller, or whoever impersonates it, must set up a second factor.
fn lacks_second_factor(app: &App, caller: &Caller) -> bool {
    let required = app.config.require_second_factor;
    let lacks = |role, second_factor: bool| required.applies_to(role) && !second_factor;
    lacks(caller.role, caller.second_factor)
        || caller
            .impersonator
            .as_ref()
            .is_some_and(|behind| lacks(behind.role, behind.second_factor))
}

/// Finds the caller by its token, and refuses it unless the operation admits it.
pub async fn authorize(
    State((app, guard)): State<(App, Guard)>,
    context: Context,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    let header = request.headers().get(AUTHORIZATION);
    let caller = match header {
        None if guard.access.admits_guests() => None,
        None => return Err(Error::Unauthenticated),
        Some(header) => {
            let token = header.to_str().ok().and_then(|value| value.split_once(' '));
            let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let (_, token) = token.ok_or(Error::Unauthenticated)?;
            Some(accounts::authenticate(&app, token.trim(), context).await?)
        }
    };
    let mut changes_by = None;
    if let Some(caller) = caller {
        guard.admit(&app, &caller)?;
        changes_by = guard.changes.then(|| caller.acting_person().id);
        request.extensions_mut().insert(caller);
    }
    let response = next.run(request).await;
    if let Some(person) = changes_by {
        app.db.changed_by(person);
    }
    Ok(response)
}

/// For a GET that changes something: refuses HEAD, and requests that a browser sends ahead of time.
pub async fn refuse_prefetch(request: Request, next: Next) -> Result<Response> {
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

/// Invalidates all cached responses after a change, also when its caller has hung up. A request that
/// was refused (4xx) has changed nothing.
pub async fn invalidate_offers(State(app): State<App>, request: Request, next: Next) -> Response {
    let invalidation = app.response_cache.invalidate_all_on_drop();
    let response = next.run(request).await;
    if response.status().is_client_error() {
        invalidation.cancel();
    }
    response
}

/// Retries a change that failed because of another transaction. A handler has one transaction that
/// matters, and it was rolled back then; whatever it commits before (a counted sign-in attempt) must
/// allow being done twice. Bodies that are not JSON are files: they are streamed, so such a request
/// cannot be retried.
pub async fn retry_on_contention(request: Request, next: Next) -> Response {
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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use axum::{Router, middleware::from_fn};
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
        let route = axum::routing::post(handler).route_layer(from_fn(retry_on_contention));
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
