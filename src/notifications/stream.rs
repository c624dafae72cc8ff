//! Notifications as server-sent events.

use std::{collections::HashSet, convert::Infallible, sync::Arc, time::Duration};

use aide::openapi::SchemaObject;
use axum::{
    body::{Body, Bytes},
    extract::{FromRequestParts, State},
    http::{
        HeaderValue,
        header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    hub::earliest_id,
    model::{Notification, NotificationRow},
    store,
};
use crate::{
    accounts,
    app::App,
    kernel::{
        caller::{Caller, Context},
        error::{Error, Result},
        ids::Uuid,
    },
};

/// The headers of a stream's client.
pub struct Listener {
    token: String,
    /// The last notification that it has received (`Last-Event-ID`).
    last: Option<Uuid>,
}

impl<S: Sync> FromRequestParts<S> for Listener {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let token = text(AUTHORIZATION.as_str()).and_then(|value| value.split_once(' '));
        Ok(Self {
            token: token.map(|(_, token)| token.trim().to_owned()).unwrap_or_default(),
            last: text("last-event-id").and_then(|id| id.parse().ok()),
        })
    }
}

impl aide::OperationInput for Listener {}

/// New notifications as server-sent events, until the session ends. A client that reconnects sends
/// the last id that it has received, and gets the notifications since then.
pub async fn stream_notifications(
    State(app): State<App>,
    caller: Caller,
    context: Context,
    listener: Listener,
) -> Result<Events> {
    // Subscribes before the missed ones are read, so that none is lost in between.
    let live = app.hub().subscribe(caller.person.id);
    let live = live.ok_or(Error::TooManyRequests { retry_after: 30 })?;
    let (since, missed) = match listener.last {
        Some(last) => (last, store::newer_than(&app.db, last, Some(caller.person.id)).await?),
        None => (earliest_id(Duration::from_secs(2)), Vec::new()),
    };
    let beat = tokio::time::interval(Duration::from_secs(15));
    let token = listener.token;
    let mut open = Open { app, caller, context, token, live, beat, since, sent: HashSet::new() };
    // If there are more, the client gets them when it reconnects.
    let more = missed.len() == store::SOME;
    let missed: String = missed.iter().filter_map(|row| open.event(row)).collect();
    // A client that has not received a notification yet also gets an id to reconnect with.
    let hello = format!("retry: 3000\nid: {since}\n\n{missed}");
    let body = stream::unfold((open, Some(hello)), move |(mut open, hello)| async move {
        let text = match hello {
            Some(hello) => hello,
            None if more => return None,
            None => open.next().await?,
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), (open, None)))
    });
    Ok(Events(Body::from_stream(body)))
}

/// An open stream.
struct Open {
    app: App,
    caller: Caller,
    context: Context,
    token: String,
    live: Receiver<Arc<NotificationRow>>,
    beat: tokio::time::Interval,
    since: Uuid,
    sent: HashSet<Uuid>,
}

impl Open {
    /// The next event, or a keep-alive comment. `None` ends the stream: the session has ended, the
    /// service stops, or the client is too slow. The client reconnects with its last id.
    async fn next(&mut self) -> Option<String> {
        loop {
            let event = tokio::select! {
                new = self.live.recv() => match new {
                    Ok(row) => match self.event(&row) {
                        Some(event) => event,
                        None => continue,
                    },
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                },
                () = self.app.stopping() => return None,
                _ = self.beat.tick() => ": still here\n\n".into(),
            };
            // Every event checks the session and the account, like every request.
            let still = accounts::caller(&self.app, &self.token, self.context.clone());
            return still.await.ok().map(|_| event);
        }
    }

    fn event(&mut self, row: &NotificationRow) -> Option<String> {
        let theirs = row.account_id == self.caller.person.id && row.id > self.since;
        if !theirs || !self.sent.insert(row.id) {
            return None;
        }
        let said = row.clone().into_notification(self.context.lang);
        let json = serde_json::to_string(&said).ok()?;
        Some(format!("id: {}\nevent: notification\ndata: {json}\n\n", said.id))
    }
}

/// `text/event-stream`
pub struct Events(Body);

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Disables buffering in proxies.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

impl aide::OperationOutput for Events {
    type Inner = Self;

    fn operation_response(
        ctx: &mut aide::generate::GenContext,
        _: &mut aide::openapi::Operation,
    ) -> Option<aide::openapi::Response> {
        let json_schema = ctx.schema.subschema_for::<Notification>();
        let media = aide::openapi::MediaType {
            schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
            ..Default::default()
        };
        Some(aide::openapi::Response {
            description: "Server-sent events; each has a notification as its data".into(),
            content: [("text/event-stream".to_owned(), media)].into_iter().collect(),
            ..Default::default()
        })
    }

    fn inferred_responses(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) -> Vec<(Option<u16>, aide::openapi::Response)> {
        let response = Self::operation_response(ctx, operation);
        response.map(|response| (Some(200), response)).into_iter().collect()
    }
}
