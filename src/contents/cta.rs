//! Handlers of the partnership call to action.

use axum::extract::State;

use super::{
    model::{CtaForm, CtaPartnership, CtaRow},
    store,
};
use crate::{
    app::App,
    files::{self, Purpose},
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        ids::Uuid,
    },
};

pub async fn get_cta_partnership(State(app): State<App>) -> Result<Reply<CtaPartnership>> {
    let row = store::cta(&app.db).await?.ok_or(Error::NotFound)?;
    Ok(Reply::data(to_response(&app, row)))
}

pub async fn save_cta_partnership(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<CtaForm>,
) -> Result<Reply<CtaPartnership>> {
    let before = store::cta(&app.db).await?;
    let image = match form.image_file_id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Some(picture(&app, &caller, before.as_ref(), id).await?),
        None => None,
    };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::cta_in(&mut tx).await?.map(|row| to_response(&app, row));
    store::save_cta(&mut tx, &form, image, now).await?;
    let row = store::cta_in(&mut tx).await?.ok_or(Error::NotFound)?;
    let after = to_response(&app, row);
    tx.record(Change {
        action: "cta_partnership.saved",
        entity: "cta_partnership",
        // There is only one record.
        id: Uuid::nil(),
        before: before.as_ref().map(|before| before as _),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

/// The current image can be kept, whoever uploaded it.
async fn picture(app: &App, caller: &Caller, now: Option<&CtaRow>, id: &str) -> Result<Uuid> {
    match now.and_then(|row| row.image_file_id) {
        Some(same) if id.parse() == Ok(same) => Ok(same),
        _ => files::refer(app, caller, "image_file_id", id, Purpose::Content).await,
    }
}

fn to_response(app: &App, row: CtaRow) -> CtaPartnership {
    CtaPartnership {
        title: row.title,
        description: row.description,
        button_label: row.button_label,
        button_url: row.button_url,
        image_file_id: row.image_file_id,
        image_url: row.image_file_id.map(|id| files::public_url(app, id)),
        is_active: row.is_active,
        updated_at: row.updated_at,
    }
}
