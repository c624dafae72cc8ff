//! Handlers of notifications. Admins can also read those of others.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    model::{Notification, NotificationRow, NotificationsQuery, Unread},
    store,
};
use crate::{
    accounts,
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
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

/// For the owner and admins; 404 for others.
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
    let page = page.each(|row| row.into_notification(caller.context.lang));
    Ok(page.beside(Unread { unread_count }))
}

/// The notification of the path, if the caller owns it.
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
    Ok(Reply::data(row.into_notification(caller.context.lang)))
}

pub async fn read_notification(
    State(app): State<App>,
    caller: Caller,
    PathNotification(row): PathNotification,
) -> Result<Reply<Notification>> {
    read(&app, &caller, Some(row.id)).await?;
    let row = store::get(&app.db, caller.person.id, row.id).await?.ok_or(Error::NotFound)?;
    Ok(Reply::data(row.into_notification(caller.context.lang))
        .saying("The notification is marked as read.", "Notifikasi ditandai sudah dibaca."))
}

pub async fn read_all_notifications(State(app): State<App>, caller: Caller) -> Result<Reply> {
    read(&app, &caller, None).await?;
    Ok(Reply::done(
        "All notifications are marked as read.",
        "Semua notifikasi ditandai sudah dibaca.",
    ))
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
