//! Handlers of lines.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    model::{Line, LineForm, LineRow, LinesQuery},
    store,
};
use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
};

/// The line of the path, if the caller may see it.
pub struct PathLine(LineRow);

impl FromRequestParts<App> for PathLine {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        let owner = caller.partner_filter(None)?;
        Ok(Self(store::get(&app.db, owner, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathLine {}

pub async fn list_lines(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<LinesQuery>,
) -> Result<Page<Line>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    Ok(store::list(&app.db, owner, &query).await?.each(Line::from))
}

pub async fn get_line(PathLine(line): PathLine) -> Result<Reply<Line>> {
    Ok(Reply::data(line.into()))
}

/// Changes what new bookings of all its routes cost and until when they are sold.
pub async fn update_line(
    State(app): State<App>,
    caller: Caller,
    PathLine(seen): PathLine,
    Body(form): Body<LineForm>,
) -> Result<Reply<Line>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_cutoff(&mut tx, seen.id).await?;
    let before = store::get_in(&mut tx, None, seen.id).await?.ok_or(Error::NotFound)?;
    let changed = form.over(&before);
    store::update(&mut tx, &changed, now).await?;
    if changed.cutoff_minutes != before.cutoff_minutes {
        store::copy_cutoff(&mut tx, &changed, now).await?;
    }
    let after = store::get_in(&mut tx, None, seen.id).await?.ok_or(Error::NotFound)?.into();
    tx.record(Change {
        action: "line.updated",
        entity: "line",
        id: seen.id,
        before: Some(&Line::from(before)),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The line has been saved.", "Lintasan tersimpan."))
}
