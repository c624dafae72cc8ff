//! Accepting uploaded content: check it, store it under a new key, and assign it to its file.

use axum::body::Bytes;

use super::{
    form::slot,
    model::{Kind, Purpose},
    picture::{self, Refusal},
    store::{self, File},
};
use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::{self, Uuid},
        lang::text,
    },
};

/// Storage key of direct uploads to S3.
pub fn incoming(id: Uuid) -> String {
    format!("incoming/{id}")
}

/// The file, after accepting content that was uploaded directly to the store. Invalid content is
/// deleted, and the upload address stays usable.
pub async fn accept_incoming(app: &App, id: Uuid) -> Result<Option<File>> {
    let Some(file) = store::get(&app.db, id).await? else { return Ok(None) };
    if file.object_key.is_some() || app.storage.name() == "local" {
        return Ok(Some(file));
    }
    let _slot = slot(app, file.owner_id).await?;
    let arrived = app.storage.get_sized(&incoming(id), file.size.unsigned_abs()).await?;
    let Some(content) = arrived else { return Ok(Some(file)) };
    let accepted = match accept(app, file, content).await {
        Ok(accepted) => accepted,
        Err(Error::Invalid(_) | Error::TooLarge) => None,
        // A transient error: the content is kept.
        Err(error) => return Err(error),
    };
    app.storage.delete(&incoming(id)).await?;
    match accepted {
        Some(file) => Ok(Some(file)),
        None => store::get(&app.db, id).await,
    }
}

/// Checks content and assigns it to its pending file; `None` if another upload came first.
pub async fn accept(app: &App, mut file: File, content: Bytes) -> Result<Option<File>> {
    let (kind, content) = inspect(app, "content", content, file.purpose).await?;
    if kind != file.content_type {
        return Err(refuse("content", &Refusal::Kind));
    }
    let size = content.len() as i64;
    let key = store_content(app, file.id, content).await?;
    let mut tx = app.db.begin().await?;
    let first = store::fill(&mut tx, &file, &key, size).await?;
    tx.commit().await?;
    if !first {
        app.storage.delete(&key).await?;
        return Ok(None);
    }
    file.size = size;
    file.object_key = Some(key);
    Ok(Some(file))
}

/// Stores content under a new key.
pub async fn store_content(app: &App, id: Uuid, content: Bytes) -> Result<String> {
    let key = format!("files/{id}/{}", ids::fresh().simple());
    app.storage.put(&key, content).await?;
    Ok(key)
}

/// Checks content on a blocking thread, one at a time, because a decoded image takes many times its
/// size.
pub async fn inspect(
    app: &App,
    field: &'static str,
    content: Bytes,
    purpose: Purpose,
) -> Result<(Kind, Bytes)> {
    let turn = app.inspections.clone().acquire_owned().await.map_err(Error::internal)?;
    let work = tokio::task::spawn_blocking(move || {
        let inspected = picture::inspect(content, purpose);
        // Released here, because the work continues if the client disconnects.
        drop(turn);
        inspected
    });
    work.await.map_err(Error::internal)?.map_err(|refusal| refuse(field, &refusal))
}

pub fn refuse(field: &'static str, refusal: &Refusal) -> Error {
    let (rule, message) = match refusal {
        Refusal::TooLarge => return Error::TooLarge,
        Refusal::Kind => (
            "kind",
            text(
                "This type of file is not allowed here.",
                "Jenis berkas ini tidak diizinkan di sini.",
            ),
        ),
        Refusal::Broken => (
            "broken",
            text(
                "This file is damaged or not what it claims to be.",
                "Berkas ini rusak atau bukan seperti yang dinyatakan.",
            ),
        ),
        Refusal::TooManyPixels => (
            "pixels",
            text("This picture has too many pixels.", "Gambar ini memiliki terlalu banyak piksel."),
        ),
    };
    Error::field(field, rule, message)
}
