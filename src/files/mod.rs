//! Files: public avatars, photos and contents; private documents and proofs.
//!
//! - The content decides the type, never the name or the header. Image metadata is removed.
//! - A file is pending until its content was uploaded and checked. Only a ready file can be used, by
//!   its uploader or an admin, for the purpose of the upload.
//! - Accounts have a quota of files and bytes. Files without references are deleted after a week.
//! - Each upload is stored under a new key and assigned by one conditional update, so that the
//!   checked content is the served content.

mod arrival;
mod form;
mod http;
mod model;
mod picture;
mod rules;
mod sign;
mod store;

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    kernel::{
        access::Role,
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        lang::text,
    },
};

pub use http::{download_file, presign_url, receive_file, upload_file};
pub use model::{Purpose, SignedQuery};
pub use sign::{SignedAction, allows as signature_allows, query as signed_query};

/// Address of a public file.
pub fn public_url(app: &App, id: Uuid) -> String {
    format!("{}/v1/files/{id}", app.config.public_url())
}

/// Signed address of a private file.
pub fn private_url(app: &App, id: Uuid) -> String {
    let expires_at = app.clock.now() + sign::READ;
    let query = sign::query(&app.secret_key, sign::SignedAction::Read(id), expires_at);
    format!("{}?{query}", public_url(app, id))
}

/// Validates the file that a field of a request refers to; 422 unless the caller may use it for
/// this purpose.
pub async fn refer(
    app: &App,
    caller: &Caller,
    field: &str,
    id: &str,
    purpose: Purpose,
) -> Result<Uuid> {
    let unknown = || {
        let message = text(
            "This file does not exist or has another purpose.",
            "Berkas ini tidak ada atau untuk keperluan lain.",
        );
        Error::field(field, "unknown", message)
    };
    let id: Uuid = id.parse().map_err(|_| unknown())?;
    let file = arrival::accept_incoming(app, id).await?.ok_or_else(unknown)?;
    let owned = file.owner_id == caller.person.id || caller.role == Role::Admin;
    let usable = owned && file.purpose == purpose && file.object_key.is_some();
    // Protects the file from the cleanup job long enough to store the reference.
    match usable && store::keep(&app.db, id, app.clock.now()).await? {
        true => Ok(id),
        false => Err(unknown()),
    }
}

/// Protects the files that an HTML text shows, like [`refer`] for a field.
pub async fn keep_shown(app: &App, html: &str) -> Result<()> {
    for rest in html.split("/v1/files/").skip(1).take(MAX_SHOWN) {
        if let Some(Ok(id)) = rest.get(..36).map(str::parse) {
            store::keep(&app.db, id, app.clock.now()).await?;
        }
    }
    Ok(())
}

/// Lets the cleanup job delete the files of an account.
pub async fn give_up_all(tx: &mut Tx, owner: Uuid, now: DateTime<Utc>) -> Result<()> {
    store::give_up_all(tx, owner, now).await
}

/// Gives up the avatar and the documents of an account and of its partner, and replaces the names of
/// its other files. No row may refer to the given-up files any more when this commits. Returns them:
/// their content is still to be deleted by [`delete_given_up`].
pub async fn erase(
    tx: &mut Tx,
    owner: Uuid,
    documents: &[Uuid],
    now: DateTime<Utc>,
) -> Result<Vec<Uuid>> {
    store::give_up_personal(tx, owner, documents, now).await
}

/// Deletes the content and the rows of given-up files. What fails is deleted by the hourly sweep.
pub async fn delete_given_up(app: &App, files: &[Uuid]) -> Result<()> {
    for id in files {
        app.storage.delete(&arrival::incoming(*id)).await?;
        sweep_one(app, *id).await?;
    }
    Ok(())
}

/// Maximum number of protected files per text.
const MAX_SHOWN: usize = 100;
/// Maximum number of batches per run.
const BATCHES: usize = 10;

/// Deletes files that were never uploaded, and files without references.
pub async fn sweep(app: &App, now: DateTime<Utc>) -> Result<()> {
    delete_unused(app, now).await?;
    for _ in 0..BATCHES {
        let overdue = store::overdue(&app.db, now).await?;
        let mut swept = 0;
        for id in &overdue {
            match sweep_one(app, *id).await {
                Ok(()) => swept += 1,
                Err(error) => tracing::warn!(file = %id, %error, "the file could not be deleted"),
            }
        }
        // Files that cannot be deleted now are retried in the next run.
        if overdue.len() < store::SOME || swept == 0 {
            break;
        }
    }
    Ok(())
}

/// Checks the references of files that were not checked for a week. A file that was in use then and
/// is not now is kept for another week.
///
/// References are read outside of transactions. None can be missed: a request protects a file
/// before it refers to it, and files protected within the week are neither read nor deleted here.
async fn delete_unused(app: &App, now: DateTime<Utc>) -> Result<()> {
    let until = now - rules::UNUSED;
    let mut photos = None;
    for _ in 0..BATCHES {
        let files = store::unchecked(&app.db, until).await?;
        if files.is_empty() {
            return Ok(());
        }
        if photos.is_none() && files.iter().any(|file| file.purpose == Purpose::Photo) {
            photos = Some(store::photos(&app.db).await?);
        }
        let ids: Vec<_> = files.iter().map(|file| file.id).collect();
        let mut in_use: HashSet<_> = store::referred(&app.db, &ids).await?.into_iter().collect();
        for file in &files {
            let shown = match file.purpose {
                Purpose::Photo => photos.as_ref().is_some_and(|photos| photos.contains(&file.id)),
                Purpose::Content => store::is_shown_in_terms(&app.db, file.id).await?,
                Purpose::Avatar | Purpose::Document | Purpose::Proof => false,
            };
            if shown {
                in_use.insert(file.id);
            }
        }
        for file in &files {
            if file.in_use || in_use.contains(&file.id) {
                let in_use = in_use.contains(&file.id);
                store::set_checked(&app.db, file.id, in_use, until, now).await?;
                continue;
            }
            if app.storage.name() != "local" {
                // Later uploads to the address must not become its content.
                app.storage.delete(&arrival::incoming(file.id)).await?;
            }
            store::give_up(&app.db, file.id, until, now).await?;
        }
    }
    Ok(())
}

async fn sweep_one(app: &App, id: Uuid) -> Result<()> {
    // The content may have been uploaded but never accepted.
    let file = arrival::accept_incoming(app, id).await?;
    if file.is_some_and(|file| file.object_key.is_none()) {
        app.storage.delete(&arrival::incoming(id)).await?;
        // Content that was stored but never assigned.
        app.storage.delete_all(&format!("files/{id}")).await?;
        let mut tx = app.db.begin().await?;
        store::forget_pending(&mut tx, id).await?;
        tx.commit().await?;
    }
    Ok(())
}
