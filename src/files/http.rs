//! Handlers of files.

use std::collections::BTreeMap;

use aide::{
    OperationInput, OperationOutput,
    generate::GenContext,
    openapi::{
        MediaType, Operation, ReferenceOr, RequestBody, Response as Documented, SchemaObject,
    },
};
use axum::{
    body::{Body as AxumBody, Bytes},
    extract::{FromRequest, Multipart, Request, State, multipart::Field},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
            CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        },
    },
    response::{IntoResponse, Response},
};
use schemars::json_schema;

use super::{
    model::{FileRecord, FileStatus, Kind, PresignQuery, Presigned, Purpose, SignedQuery},
    picture::{self, Refusal},
    public_url,
    rules::{LARGEST, clean_name},
    sign::{self, Deed},
    store::{self, File},
};
use crate::{
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
        error::{Error, Fault, Result},
        http::{Path, Query, Reply, unreadable},
        ids::{self, Uuid},
        lang::text,
    },
};

/// What a form adds to its file.
const FORM: usize = 64 * 1024;

/// A multipart upload, read up to its limit and no further.
pub struct Upload {
    purpose: Purpose,
    filename: String,
    content: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if announced(request.headers()).is_some_and(|length| length > (LARGEST + FORM) as u64) {
            return Err(Error::TooLarge);
        }
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        if !content_type.is_some_and(|v| v.starts_with("multipart/form-data")) {
            return Err(Error::UnsupportedMediaType);
        }
        let mut form = Multipart::from_request(request, state).await.map_err(|_| malformed())?;
        let (mut purpose, mut file) = (None, None);
        while let Some(mut field) = form.next_field().await.map_err(refused)? {
            match field.name() {
                Some("purpose") => {
                    purpose =
                        Some(String::from_utf8_lossy(&read(&mut field, 64).await?).into_owned());
                }
                Some("file") => {
                    let filename = clean_name(field.file_name().unwrap_or_default());
                    file = Some((filename, read_file(&mut field).await?));
                }
                _ => drop(read(&mut field, FORM).await?),
            }
        }
        let mut faults = Vec::new();
        let required = || text("This is required.", "Wajib diisi.");
        let purpose = match purpose.as_deref().map(str::parse::<Purpose>) {
            Some(Ok(purpose)) => Some(purpose),
            Some(Err(_)) => {
                let words: Vec<_> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
                let message = format!("{}.", words.join(", "));
                let message = crate::kernel::lang::Text::new(message.clone(), message);
                faults.push(Fault::new("purpose", "enum", message));
                None
            }
            None => {
                faults.push(Fault::new("purpose", "required", required()));
                None
            }
        };
        if file.is_none() {
            faults.push(Fault::new("file", "required", required()));
        }
        match (purpose, file) {
            (Some(purpose), Some((filename, content))) => Ok(Self { purpose, filename, content }),
            _ => Err(Error::Invalid(faults)),
        }
    }
}

impl OperationInput for Upload {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        let purposes: Vec<_> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
        let json_schema = json_schema!({
            "type": "object",
            "required": ["file", "purpose"],
            "properties": {
                "file": { "type": "string", "format": "binary" },
                "purpose": { "type": "string", "enum": purposes },
            },
        });
        document_body(operation, "multipart/form-data", json_schema);
    }
}

fn document_body(operation: &mut Operation, kind: &str, json_schema: schemars::Schema) {
    let media = MediaType {
        schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    operation.request_body = Some(ReferenceOr::Item(RequestBody {
        content: [(kind.to_owned(), media)].into_iter().collect(),
        required: true,
        ..Default::default()
    }));
}

/// The raw content of a presigned upload.
pub struct Content(Request);

impl<S: Sync> FromRequest<S> for Content {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        Ok(Self(request))
    }
}

impl OperationInput for Content {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        let schema = json_schema!({ "type": "string", "format": "binary" });
        document_body(operation, "application/octet-stream", schema);
    }
}

/// The largest that its kind may be, known from its first bytes on.
async fn read_file(field: &mut Field<'_>) -> Result<Bytes> {
    let mut content = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(refused)? {
        content.extend_from_slice(&chunk);
        let limit = Kind::sniff(&content).map_or(LARGEST, Kind::limit);
        if content.len() > limit {
            return Err(Error::TooLarge);
        }
    }
    Ok(content.into())
}

async fn read(field: &mut Field<'_>, limit: usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(refused)? {
        content.extend_from_slice(&chunk);
        if content.len() > limit {
            return Err(Error::TooLarge);
        }
    }
    Ok(content)
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn malformed() -> Error {
    Error::Malformed(text("The form cannot be read.", "Formulir tidak terbaca."))
}

fn refused(error: axum::extract::multipart::MultipartError) -> Error {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE { Error::TooLarge } else { malformed() }
}

pub async fn upload_file(
    State(app): State<App>,
    caller: Caller,
    upload: Upload,
) -> Result<Reply<FileRecord>> {
    let Upload { purpose, filename, content } = upload;
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
    // Announced before it is stored: whatever happens in between, the sweep knows of it.
    let mut tx = app.db.begin().await?;
    store::announce(&mut tx, &file).await?;
    tx.commit().await?;
    let key = arrive(&app, file.id, content).await?;
    let mut tx = caller.begin(&app.db, now).await?;
    store::fill(&mut tx, file.id, &key, file.size).await?;
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
    Ok(Reply::data(record).saying("The file is stored.", "Berkas tersimpan."))
}

/// The log keeps no address that opens the file.
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
        let deed = Deed::Upload(file.id, kind, size);
        let query = sign::query(&app.secret_key, deed, file.expires_at);
        format!("{}/content?{query}", public_url(&app, file.id))
    });
    let mut tx = caller.begin(&app.db, now).await?;
    store::announce(&mut tx, &file).await?;
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

/// Takes the content of a presigned upload on local storage.
pub async fn receive_file(
    State(app): State<App>,
    Path(id): Path<Uuid>,
    Query(query): Query<SignedQuery>,
    Content(request): Content,
) -> Result<Reply<FileRecord>> {
    let (parts, body) = request.into_parts();
    let file = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let deed = Deed::Upload(id, file.content_type, file.size);
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let as_signed = kind == Some(file.content_type.as_str())
        && announced(&parts.headers) == Some(file.size.unsigned_abs());
    if !sign::allows(&app.secret_key, deed, &query, app.clock.now()) || !as_signed {
        return Err(Error::Forbidden);
    }
    if file.object_key.is_some() {
        return Err(used());
    }
    let limit = usize::try_from(file.size).map_err(Error::internal)?;
    let content = axum::body::to_bytes(body, limit).await.map_err(unreadable)?;
    let file = accept(&app, file, content).await?.ok_or_else(used)?;
    Ok(Reply::data(record(&app, &file)).saying("The file is stored.", "Berkas tersimpan."))
}

fn used() -> Error {
    Error::invalid_state("This address was used already.", "Alamat ini sudah dipakai.")
}

/// Where a store that takes uploads by itself puts them.
pub fn incoming(id: Uuid) -> String {
    format!("incoming/{id}")
}

/// The file, with what has meanwhile arrived for it in the store. Content that does not pass is
/// thrown away, and the address stays usable.
pub async fn settled(app: &App, id: Uuid) -> Result<Option<File>> {
    let Some(file) = store::get(&app.db, id).await? else { return Ok(None) };
    if file.object_key.is_some() || app.storage.name() == "local" {
        return Ok(Some(file));
    }
    let arrived = app.storage.get_sized(&incoming(id), file.size.unsigned_abs()).await?;
    let Some(content) = arrived else { return Ok(Some(file)) };
    let accepted = accept(app, file, content).await;
    app.storage.delete(&incoming(id)).await?;
    match accepted {
        Ok(Some(file)) => Ok(Some(file)),
        Ok(None) | Err(Error::Invalid(_)) => store::get(&app.db, id).await,
        Err(error) => Err(error),
    }
}

/// Checks a content and gives it to its pending file; `None` when another was first.
async fn accept(app: &App, mut file: File, content: Bytes) -> Result<Option<File>> {
    let (kind, content) = inspect(app, "content", content, file.purpose).await?;
    if kind != file.content_type {
        return Err(refuse("content", &Refusal::Kind));
    }
    file.size = content.len() as i64;
    let key = arrive(app, file.id, content).await?;
    let mut tx = app.db.begin().await?;
    if !store::fill(&mut tx, file.id, &key, file.size).await? {
        app.storage.delete(&key).await?;
        return Ok(None);
    }
    tx.commit().await?;
    file.object_key = Some(key);
    Ok(Some(file))
}

/// Stores a content under a key of its own.
async fn arrive(app: &App, id: Uuid, content: Bytes) -> Result<String> {
    let key = format!("files/{id}/{}", ids::fresh().simple());
    app.storage.put(&key, content).await?;
    Ok(key)
}

/// One at a time, off the async threads: a picture unfolds to many times its size.
async fn inspect(
    app: &App,
    field: &'static str,
    content: Bytes,
    purpose: Purpose,
) -> Result<(Kind, Bytes)> {
    let turn = app.inspections.acquire().await.map_err(Error::internal)?;
    let work = tokio::task::spawn_blocking(move || picture::inspect(content, purpose));
    let inspected = work.await.map_err(Error::internal)?;
    drop(turn);
    inspected.map_err(|refusal| refuse(field, &refusal))
}

fn refuse(field: &'static str, refusal: &Refusal) -> Error {
    let (rule, message) = match refusal {
        Refusal::TooLarge => return Error::TooLarge,
        Refusal::Kind => (
            "kind",
            text(
                "This kind of file is not allowed here.",
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

fn record(app: &App, file: &File) -> FileRecord {
    let mut url = public_url(app, file.id);
    if !file.purpose.is_public() {
        let expires_at = app.clock.now() + sign::READ;
        url = format!("{url}?{}", sign::query(&app.secret_key, Deed::Read(file.id), expires_at));
    }
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

/// A content on its way out.
pub struct Download(Response);

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        self.0
    }
}

impl OperationOutput for Download {
    type Inner = Self;

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<u16>, Documented)> {
        let json_schema = json_schema!({ "type": "string", "format": "binary" });
        let media = MediaType {
            schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
            ..Default::default()
        };
        let content = Kind::ALL.iter().map(|kind| (kind.to_string(), media.clone()));
        let response = Documented {
            description: "The content".into(),
            content: content.collect(),
            ..Default::default()
        };
        vec![(Some(200), response)]
    }
}

/// Public files are everyone's; private ones are for whoever has a signed address, their uploader
/// and admins. For everyone else they do not exist.
pub async fn download_file(
    State(app): State<App>,
    caller: Option<Caller>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    Query(query): Query<SignedQuery>,
) -> Result<Download> {
    let file = settled(&app, id).await?.ok_or(Error::NotFound)?;
    let public = file.purpose.is_public();
    let known = caller
        .is_some_and(|caller| caller.person.id == file.owner_id || caller.role == Role::Admin);
    let signed = sign::allows(&app.secret_key, Deed::Read(id), &query, app.clock.now());
    if !(public || known || signed) {
        return Err(Error::NotFound);
    }
    let key = file.object_key.as_deref().ok_or(Error::NotFound)?;
    let etag = format!("\"{}\"", key.rsplit('/').next().unwrap_or_default());
    let fresh = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let body = match fresh {
        true => AxumBody::empty(),
        false => app.storage.get(key).await?,
    };
    let cache = match public {
        // Another content is another file.
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
