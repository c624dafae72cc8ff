//! Files: avatars, photos and contents for everyone, documents and proofs for those concerned.
//!
//! - The content decides the type, never the name or the header. Pictures lose their metadata.
//! - A file is pending until its content has arrived and passed; only a ready one can be used, by
//!   its uploader (or an admin), for the purpose that it was uploaded for.
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
    usable.then_some(id).ok_or_else(unknown)
}

/// Removes what was announced and never came.
pub async fn sweep(app: &App, now: DateTime<Utc>) -> Result<()> {
    loop {
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
            return Ok(());
        }
    }
}

async fn sweep_one(app: &App, id: Uuid) -> Result<()> {
    // It may have come and never been looked at.
    let file = arrival::settled(app, id).await?;
    if file.is_some_and(|file| file.object_key.is_none()) {
        app.storage.delete(&arrival::incoming(id)).await?;
        // Contents that were stored and never became the file's.
        app.storage.delete_all(&format!("files/{id}")).await?;
        store::forget_pending(&app.db, id).await?;
    }
    Ok(())
}
