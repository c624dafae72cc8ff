//! Handlers of files.

use std::collections::BTreeMap;

use axum::{
    body::Body as AxumBody,
    extract::State,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
            CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        },
    },
    response::Response,
};

use super::{
    arrival::{accept, accept_incoming, incoming, inspect, refuse, store_content},
    form::{Content, Download, Upload, UploadSignature, announced, slot},
    model::{FileRecord, FileStatus, Kind, PresignQuery, Presigned, Purpose, SignedQuery},
    picture::Refusal,
    private_url, public_url,
    rules::{clean_name, quota},
    sign::{self, SignedAction},
    store::{self, File},
};
use crate::{
    app::App,
    kernel::{
        access::{Role, Rule},
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Path, Query, Reply, unreadable},
        ids::{self, Uuid},
    },
};

pub async fn upload_file(
    State(app): State<App>,
    caller: Caller,
    upload: Upload,
) -> Result<Reply<FileRecord>> {
    let Upload { purpose, filename, content, slot: _slot } = upload;
    allowed(&caller, purpose)?;
    let (kind, content) = inspect(&app, "file", content, purpose).await?;
    let now = app.clock.now();
    let mut file = File {
        id: ids::fresh(),
        owner_id: caller.person.id,
        filename,
        content_type: kind,
        size: content.len() as i64,
        purpose,
        object_key: None,
        expires_at: now + sign::UPLOAD,
        created_at: now,
    };
    // Registered before the content is stored, so that the cleanup job knows of it in any case.
    let mut tx = app.db.begin().await?;
    let verified = store::is_owner_verified(&mut tx, caller.person.id).await?;
    if !store::announce(&mut tx, &file, quota(caller.role, verified)).await? {
        return Err(quota_exceeded());
    }
    tx.commit().await?;
    let key = store_content(&app, file.id, content).await?;
    let mut tx = caller.begin(&app.db, now).await?;
    store::fill(&mut tx, &file, &key, file.size).await?;
    file.object_key = Some(key);
    let record = record(&app, &file);
    tx.record(Change {
        action: "file.uploaded",
        entity: "file",
        id: file.id,
        before: None,
        after: Some(&Audited { filename: &file.filename, purpose, size: file.size }),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(record).saying("The file has been stored.", "Berkas tersimpan."))
}

fn allowed(caller: &Caller, purpose: Purpose) -> Result<()> {
    match purpose.rule() {
        Some(rule) if !caller.may(rule) => Err(Error::Forbidden),
        // They have a picture of their own and nothing else to upload.
        _ if matches!(caller.role, Role::Crew | Role::Reseller) && purpose != Purpose::Avatar => {
            Err(Error::Forbidden)
        }
        _ => Ok(()),
    }
}

fn quota_exceeded() -> Error {
    Error::conflict(
        "quota_exceeded",
        "Your file quota is used up. Unused files are deleted after seven days.",
        "Kuota berkas Anda sudah habis. Berkas yang tidak dipakai dihapus setelah tujuh hari.",
    )
}

/// Audit form without file address.
#[derive(serde::Serialize)]
struct Audited<'a> {
    filename: &'a str,
    purpose: Purpose,
    size: i64,
}

pub async fn presign_url(
    State(app): State<App>,
    caller: Caller,
    Query(wanted): Query<PresignQuery>,
) -> Result<Reply<Presigned>> {
    let PresignQuery { filename, content_type: kind, size, purpose } = wanted;
    allowed(&caller, purpose)?;
    if !purpose.allows(kind) {
        return Err(refuse("content_type", &Refusal::Kind));
    }
    if size > kind.limit() as i64 {
        return Err(Error::TooLarge);
    }
    let now = app.clock.now();
    let file = File {
        id: ids::fresh(),
        owner_id: caller.person.id,
        filename: clean_name(&filename),
        content_type: kind,
        size,
        purpose,
        object_key: None,
        expires_at: now + sign::UPLOAD,
        created_at: now,
    };
    let life = std::time::Duration::from_secs(sign::UPLOAD.num_seconds().unsigned_abs());
    let presigned = app.storage.presign(&incoming(file.id), kind.as_str(), life).await?;
    let upload_url = presigned.unwrap_or_else(|| {
        let action = SignedAction::Upload(file.id, kind, size);
        let query = sign::query(&app.secret_key, action, file.expires_at);
        format!("{}/content?{query}", public_url(&app, file.id))
    });
    let mut tx = caller.begin(&app.db, now).await?;
    let verified = store::is_owner_verified(&mut tx, caller.person.id).await?;
    if !store::announce(&mut tx, &file, quota(caller.role, verified)).await? {
        return Err(quota_exceeded());
    }
    tx.record(Change {
        action: "file.announced",
        entity: "file",
        id: file.id,
        before: None,
        after: Some(&Audited { filename: &file.filename, purpose, size }),
    })
    .await?;
    tx.commit().await?;
    let headers = [("Content-Type", kind.to_string()), ("Content-Length", size.to_string())].into();
    Ok(Reply::data(Presigned {
        file_id: file.id,
        upload_url,
        method: "PUT",
        headers,
        expires_at: file.expires_at,
    }))
}

/// Receives the content of a presigned upload on local storage.
pub async fn receive_file(
    State(app): State<App>,
    Path(id): Path<Uuid>,
    UploadSignature(query): UploadSignature,
    Content(request): Content,
) -> Result<Reply<FileRecord>> {
    let (parts, body) = request.into_parts();
    let file = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    // The signature covers the size of this request; stored content may be smaller after metadata
    // was removed.
    let size = announced(&parts.headers).and_then(|size| i64::try_from(size).ok());
    let action = SignedAction::Upload(id, file.content_type, size.unwrap_or_default());
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let as_signed = kind == Some(file.content_type.as_str());
    if !sign::allows(&app.secret_key, action, &query, app.clock.now()) || !as_signed {
        return Err(Error::Forbidden);
    }
    if file.object_key.is_some() {
        return Err(used());
    }
    if size != Some(file.size) {
        return Err(Error::Forbidden);
    }
    let _slot = slot(&app, file.owner_id).await?;
    let limit = usize::try_from(file.size).map_err(Error::internal)?;
    let content = axum::body::to_bytes(body, limit).await.map_err(unreadable)?;
    let file = accept(&app, file, content).await?.ok_or_else(used)?;
    Ok(Reply::data(record(&app, &file)).saying("The file has been stored.", "Berkas tersimpan."))
}

fn used() -> Error {
    Error::invalid_state("This address has already been used.", "Alamat ini sudah dipakai.")
}

fn record(app: &App, file: &File) -> FileRecord {
    let url = match file.purpose.is_public() {
        true => public_url(app, file.id),
        false => private_url(app, file.id),
    };
    FileRecord {
        id: file.id,
        filename: file.filename.clone(),
        content_type: file.content_type,
        size: file.size,
        purpose: file.purpose,
        status: match file.object_key {
            Some(_) => FileStatus::Ready,
            None => FileStatus::Pending,
        },
        url,
        created_at: file.created_at,
    }
}

/// Public files are open to everyone. Private ones need a signed address, or the uploader, an admin
/// or (for documents) a reviewer; for others they are 404.
pub async fn download_file(
    State(app): State<App>,
    caller: Option<Caller>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    Query(query): Query<SignedQuery>,
) -> Result<Download> {
    let file = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let public = file.purpose.is_public();
    let known = caller.is_some_and(|caller| {
        let reviews = file.purpose == Purpose::Document && caller.may(Rule::PartnersApprove);
        let own = caller.person.id == file.owner_id
            && (file.purpose != Purpose::Document
                || caller.impersonator_may(Rule::PartnersApprove));
        own || reviews || caller.role == Role::Admin
    });
    let signed = sign::allows(&app.secret_key, SignedAction::Read(id), &query, app.clock.now());
    if !(public || known || signed) {
        return Err(Error::NotFound);
    }
    // Accepts content that was uploaded directly to the store.
    let file = match file.object_key {
        None if known => accept_incoming(&app, id).await?.ok_or(Error::NotFound)?,
        _ => file,
    };
    let key = file.object_key.as_deref().ok_or(Error::NotFound)?;
    let etag = format!("\"{}\"", key.rsplit('/').next().unwrap_or_default());
    let fresh = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let body = match fresh {
        true => AxumBody::empty(),
        false => app.storage.get(key).await?,
    };
    let cache = match public {
        // The content of a file never changes.
        true => "public, max-age=31536000, immutable",
        false => "private, no-store",
    };
    let disposition = match file.content_type {
        Kind::Pdf => "attachment",
        _ => "inline",
    };
    let name: String = form_urlencoded::byte_serialize(file.filename.as_bytes()).collect();
    let name = name.replace('+', "%20");
    let mut response = Response::new(body);
    if fresh {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let fields: BTreeMap<_, _> = [
        (CONTENT_TYPE.as_str(), file.content_type.to_string()),
        (CACHE_CONTROL.as_str(), cache.to_owned()),
        (ETAG.as_str(), etag),
        (CONTENT_DISPOSITION.as_str(), format!("{disposition}; filename*=UTF-8''{name}")),
        (CONTENT_SECURITY_POLICY.as_str(), "default-src 'none'; sandbox".to_owned()),
    ]
    .into();
    for (name, value) in fields {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_str(&value).map_err(Error::internal)?);
    }
    if !fresh {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(file.size));
    }
    Ok(Download(response))
}
