//! Handlers of notifications: one's own, and for admins anyone's to read.

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
    model::{Notification, NotificationRow, NotificationsQuery, Unread},
    store,
};
use crate::{
    accounts,
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Paged, Path, Query, Reply},
        ids::Uuid,
    },
};

pub async fn list_notifications(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<NotificationsQuery>,
) -> Result<Paged<Vec<Notification>, Unread>> {
    list(&app, &caller, caller.person.id, &query).await
}

/// One's own; an admin's any. To others there are none.
pub async fn list_notifications_of(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(query): Query<NotificationsQuery>,
) -> Result<Paged<Vec<Notification>, Unread>> {
    if id != caller.person.id && caller.role != Role::Admin {
        return Err(Error::NotFound);
    }
    if id != caller.person.id && !accounts::exists(&app.db, id).await? {
        return Err(Error::NotFound);
    }
    list(&app, &caller, id, &query).await
}

async fn list(
    app: &App,
    caller: &Caller,
    owner: Uuid,
    query: &NotificationsQuery,
) -> Result<Paged<Vec<Notification>, Unread>> {
    let (page, unread_count) =
        tokio::try_join!(store::list(&app.db, owner, query), store::unread(&app.db, owner),)?;
    let page = page.each(|row| row.said(caller.context.lang));
    Ok(page.beside(Unread { unread_count }))
}

/// One's own notification of the path.
pub struct PathNotification(NotificationRow);

impl FromRequestParts<App> for PathNotification {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let caller = <Caller as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let row = store::get(&app.db, caller.person.id, id).await?;
        row.map(Self).ok_or(Error::NotFound)
    }
}

impl aide::OperationInput for PathNotification {}

pub async fn get_notification(
    caller: Caller,
    PathNotification(row): PathNotification,
) -> Result<Reply<Notification>> {
    Ok(Reply::data(row.said(caller.context.lang)))
}

pub async fn read_notification(
    State(app): State<App>,
    caller: Caller,
    PathNotification(row): PathNotification,
) -> Result<Reply<Notification>> {
    read(&app, &caller, Some(row.id)).await?;
    let row = store::get(&app.db, caller.person.id, row.id).await?.ok_or(Error::NotFound)?;
    Ok(Reply::data(row.said(caller.context.lang)).saying("Read.", "Dibaca."))
}

pub async fn read_all_notifications(State(app): State<App>, caller: Caller) -> Result<Reply> {
    read(&app, &caller, None).await?;
    Ok(Reply::done("All of them are read.", "Semua sudah dibaca."))
}

async fn read(app: &App, caller: &Caller, id: Option<Uuid>) -> Result<()> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::read(&mut tx, caller.person.id, id, now).await?;
    tx.record(Change {
        action: "notification.read",
        entity: "notification",
        id: id.unwrap_or(caller.person.id),
        before: None,
        after: None,
    })
    .await?;
    tx.commit().await
}

/// What the client of a stream says of itself.
pub struct Listener {
    token: String,
    /// The last one that it has.
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

/// New notifications as server-sent events, for as long as the session lasts. A client that comes
/// back says what it had last, and gets what it missed.
pub async fn stream_notifications(
    State(app): State<App>,
    caller: Caller,
    context: Context,
    listener: Listener,
) -> Result<Events> {
    // Before looking at what was missed: nothing falls between.
    let live = app.hub.look(caller.person.id);
    let live = live.ok_or(Error::TooManyRequests { retry_after: 30 })?;
    let (since, missed) = match listener.last {
        Some(last) => (last, store::after(&app.db, last, Some(caller.person.id)).await?),
        None => (earliest_id(Duration::from_secs(2)), Vec::new()),
    };
    let beat = tokio::time::interval(Duration::from_secs(15));
    let token = listener.token;
    let mut open = Open { app, caller, context, token, live, beat, since, sent: HashSet::new() };
    // Where there is more, the client comes back for it.
    let more = missed.len() == store::SOME;
    let missed: String = missed.iter().filter_map(|row| open.event(row)).collect();
    // One who has heard nothing yet can say so, too, when it comes back.
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

/// Somebody who is looking.
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
    /// The next event, or a sign of life. `None` ends the stream: the session is over, the service
    /// stops, or it could not keep up; the client comes back with what it had last.
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
            // As every request does, so does every event read the live account.
            let still = accounts::caller(&self.app, &self.token, self.context.clone());
            return still.await.ok().map(|_| event);
        }
    }

    fn event(&mut self, row: &NotificationRow) -> Option<String> {
        let theirs = row.account_id == self.caller.person.id && row.id > self.since;
        if !theirs || !self.sent.insert(row.id) {
            return None;
        }
        let said = row.clone().said(self.context.lang);
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
        // A proxy that waits for more would make it late.
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
            description: "Server-sent events, each with a notification as its data".into(),
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
