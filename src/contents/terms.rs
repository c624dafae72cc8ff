//! Handlers of terms and conditions.

use axum::extract::State;
use chrono::{DateTime, Utc};

use super::{
    model::{
        ChangedTerms, HistoryQuery, NewTerms, PublishTerms, Terms, TermsQuery, TermsStatus,
        TermsVersion,
    },
    store,
};
use crate::{
    app::App,
    events::{self, DomainEvent, TermsPublished},
    files,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        db::Failure,
        error::{Error, Result},
        http::{Body, Page, Query, Reply},
        ids::Uuid,
        lang::text,
    },
};

pub async fn get_terms(
    State(app): State<App>,
    Query(TermsQuery { kind }): Query<TermsQuery>,
) -> Result<Reply<Terms>> {
    Ok(Reply::data(store::published(&app.db, &kind).await?.ok_or(Error::NotFound)?))
}

pub async fn list_terms_history(
    State(app): State<App>,
    Query(query): Query<HistoryQuery>,
) -> Result<Page<TermsVersion>> {
    store::history(&app.db, &query).await
}

pub async fn create_terms(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<NewTerms>,
) -> Result<Reply<TermsVersion>> {
    ensure_self(&caller, &form.user_creator_id)?;
    let content = sanitised(&form.content)?;
    files::keep_shown(&app, &content).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let id = draft(&mut tx, &form.kind, &content, &caller, now).await?;
    let draft = finish(tx, "terms.created", None, id).await?;
    Ok(Reply::data(draft).saying("The draft has been saved.", "Draf tersimpan."))
}

/// Updates a draft; for published terms, creates the next draft.
pub async fn update_terms(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<ChangedTerms>,
) -> Result<Reply<TermsVersion>> {
    ensure_self(&caller, &form.user_creator_id)?;
    let content = sanitised(&form.content)?;
    files::keep_shown(&app, &content).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::get(&mut tx, form.id).await?.ok_or_else(unknown)?;
    let id = match before.terms.status {
        TermsStatus::Draft => {
            match store::edit(&mut tx, form.id, &content, caller.person.id, now).await? {
                true => form.id,
                false => return Err(invalid_transition()),
            }
        }
        TermsStatus::Published => {
            draft(&mut tx, &before.terms.kind, &content, &caller, now).await?
        }
        TermsStatus::Archived => return Err(invalid_transition()),
    };
    let changed = (id == form.id).then_some(before);
    let draft = finish(tx, "terms.updated", changed, id).await?;
    Ok(Reply::data(draft).saying("The draft has been saved.", "Draf tersimpan."))
}

/// Publishes a draft and archives the previous version.
pub async fn publish_terms(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<PublishTerms>,
) -> Result<Reply<TermsVersion>> {
    ensure_self(&caller, &form.user_validator_id)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::get(&mut tx, form.id).await?.ok_or_else(unknown)?;
    if before.terms.status != TermsStatus::Draft {
        return Err(invalid_transition());
    }
    let own = [before.user_creator_id, before.user_editor_id].contains(&caller.person.id);
    if own && app.config.four_eyes.0 {
        return Err(Error::conflict(
            "same_person",
            "The author of a draft cannot publish it.",
            "Penulis draf tidak dapat menerbitkannya sendiri.",
        ));
    }
    if !store::publish(&mut tx, &before, caller.person.id, now).await? {
        return Err(invalid_transition());
    }
    let published = TermsPublished {
        terms_id: form.id,
        kind: before.terms.kind.clone(),
        version: before.terms.version,
    };
    events::emit(&mut tx, DomainEvent::TermsPublished(published), now).await?;
    let published = finish(tx, "terms.published", Some(before), form.id).await?;
    Ok(Reply::data(published).saying("The terms have been published.", "Ketentuan diterbitkan."))
}

/// 403 unless the id in the body is the caller's.
fn ensure_self(caller: &Caller, said: &str) -> Result<()> {
    match said.parse::<Uuid>() == Ok(caller.person.id) {
        true => Ok(()),
        false => Err(Error::Forbidden),
    }
}

/// Removes scripts and unsafe links.
fn sanitised(content: &str) -> Result<String> {
    let clean = ammonia::clean(&content.replace('\0', ""));
    match clean.trim() {
        "" => {
            let message =
                text("The content is empty after sanitising.", "Isi kosong setelah dibersihkan.");
            Err(Error::field("content", "required", message))
        }
        clean => Ok(clean.to_owned()),
    }
}

async fn draft(
    tx: &mut AuditedTx,
    kind: &str,
    content: &str,
    caller: &Caller,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let made = store::insert(tx, kind, content, caller.person.id, now).await;
    made.map_err(|failure: Failure| match failure.is_unique() {
        true => Error::conflict(
            "already_exists",
            "A draft of these terms already exists.",
            "Draf ketentuan ini sudah ada.",
        ),
        false => failure.into(),
    })
}

fn unknown() -> Error {
    Error::field("id", "unknown", text("These terms do not exist.", "Ketentuan ini tidak ada."))
}

fn invalid_transition() -> Error {
    Error::invalid_state(
        "These terms are no longer a draft, or have changed in the meantime.",
        "Ketentuan ini bukan draf lagi, atau telah diubah.",
    )
}

async fn finish(
    mut tx: AuditedTx,
    action: &'static str,
    before: Option<TermsVersion>,
    id: Uuid,
) -> Result<TermsVersion> {
    let after = store::get(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action,
        entity: "terms",
        id,
        before: before.as_ref().map(|before| before as _),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(after)
}
