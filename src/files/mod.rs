//! Files: avatars, photos and contents for everyone, documents and proofs for those concerned.
//!
//! - The content decides the type, never the name or the header. Pictures lose their metadata.
//! - A file is pending until its content has arrived and passed; only a ready one can be used, by
//!   its uploader (or an admin), for the purpose that it was uploaded for.
//! - An account keeps so many files and bytes; what nothing refers to is removed after a week.
//! - Each arrival is stored under a key of its own and wins the file by one conditional update, so
//!   that what was checked is what is served.

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
        error::{Error, Result},
        ids::Uuid,
        lang::text,
    },
};

pub use http::{download_file, presign_url, receive_file, upload_file};
pub use model::Purpose;

/// Where a public file is.
pub fn public_url(app: &App, id: Uuid) -> String {
    format!("{}/v1/files/{id}", app.config.public_url())
}

/// Where a private file is, for a few minutes: for those who may see it.
pub fn private_url(app: &App, id: Uuid) -> String {
    let expires_at = app.clock.now() + sign::READ;
    let query = sign::query(&app.secret_key, sign::Deed::Read(id), expires_at);
    format!("{}?{query}", public_url(app, id))
}

/// The file that a request refers to in a field; refused on that field unless the caller may use
/// it for this.
pub async fn refer(
    app: &App,
    caller: &Caller,
    field: &str,
    id: &str,
    purpose: Purpose,
) -> Result<Uuid> {
    let unknown = || {
        let message = text("There is no such file for this.", "Tidak ada berkas seperti ini.");
        Error::field(field, "unknown", message)
    };
    let id: Uuid = id.parse().map_err(|_| unknown())?;
    let file = arrival::settled(app, id).await?.ok_or_else(unknown)?;
    let owned = file.owner_id == caller.person.id || caller.role == Role::Admin;
    let usable = owned && file.purpose == purpose && file.object_key.is_some();
    // From here on the sweep leaves it alone for days, which is time enough to refer to it.
    match usable && store::keep(&app.db, id, app.clock.now()).await? {
        true => Ok(id),
        false => Err(unknown()),
    }
}

/// Keeps the files that a text shows, as [`refer`] does for a field.
pub async fn keep_shown(app: &App, html: &str) -> Result<()> {
    for rest in html.split("/v1/files/").skip(1).take(MOST_SHOWN) {
        if let Some(Ok(id)) = rest.get(..36).map(str::parse) {
            store::keep(&app.db, id, app.clock.now()).await?;
        }
    }
    Ok(())
}

/// So many files of one text are kept.
const MOST_SHOWN: usize = 100;
/// So many batches at most in one sweep: what is left waits for the next.
const BATCHES: usize = 10;

/// Removes what was announced and never came, and what nothing refers to.
pub async fn sweep(app: &App, now: DateTime<Utc>) -> Result<()> {
    give_up_unused(app, now).await?;
    for _ in 0..BATCHES {
        let overdue = store::overdue(&app.db, now).await?;
        let mut swept = 0;
        for id in &overdue {
            match sweep_one(app, *id).await {
                Ok(()) => swept += 1,
                Err(error) => tracing::warn!(file = %id, %error, "not swept"),
            }
        }
        // What cannot be swept now is tried again next time.
        if overdue.len() < store::SOME || swept == 0 {
            break;
        }
    }
    Ok(())
}

/// Looks who refers to the files that were not looked at for a week. What was in use then and is not
/// now has another week.
///
/// Who refers is read before, outside any transaction. Nothing can be missed: whoever refers to a file
/// has it kept first, and what was kept within the week is neither read nor given up here.
async fn give_up_unused(app: &App, now: DateTime<Utc>) -> Result<()> {
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
                // What was sent there again later must not become its content now.
                app.storage.delete(&arrival::incoming(file.id)).await?;
            }
            store::give_up(&app.db, file.id, until, now).await?;
        }
    }
    Ok(())
}

async fn sweep_one(app: &App, id: Uuid) -> Result<()> {
    // It may have come and never been looked at.
    let file = arrival::settled(app, id).await?;
    if file.is_some_and(|file| file.object_key.is_none()) {
        app.storage.delete(&arrival::incoming(id)).await?;
        // Contents that were stored and never became the file's.
        app.storage.delete_all(&format!("files/{id}")).await?;
        let mut tx = app.db.begin().await?;
        store::forget_pending(&mut tx, id).await?;
        tx.commit().await?;
    }
    Ok(())
}
