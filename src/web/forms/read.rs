//! Reading a posted form.

use axum::{
    body::to_bytes,
    extract::{
        FromRequest, Multipart, Request,
        multipart::{Field as Part, MultipartError},
    },
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
};

use super::{Spec, Upload, Values, split_row};
use crate::kernel::{
    error::Error,
    http::{MAX_BODY, unreadable},
    idempotency::Key,
    lang::text,
};

/// Whether a form has files, or could have.
pub fn is_multipart(headers: &HeaderMap) -> bool {
    media_type(headers) == "multipart/form-data"
}

fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// A form that was not read to its end, with the texts before that.
pub struct Unread {
    pub error: Error,
    pub values: Values,
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self { error, values: Values::default() }
    }
}

/// Reads a form. Files are kept for the fields that take them; others are read and dropped.
pub async fn read(request: Request, fields: &[Spec]) -> Result<(Values, Vec<Upload>), Unread> {
    match media_type(request.headers()).as_str() {
        "multipart/form-data" => read_multipart(request, fields).await,
        "application/x-www-form-urlencoded" => {
            let bytes = to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
            let mut values = Values::default();
            for (name, value) in form_urlencoded::parse(&bytes) {
                values.push(name.into_owned(), value.into_owned())?;
            }
            Ok((with_valid_key(values.normalized()), Vec::new()))
        }
        _ => Err(Error::UnsupportedMediaType.into()),
    }
}

/// A form without a valid key is sent without one, and shown again with a fresh one.
fn with_valid_key(mut values: Values) -> Values {
    values.0.retain(|(name, value)| name != "_key" || Key::parse(value).is_ok());
    values
}

async fn read_multipart(
    request: Request,
    fields: &[Spec],
) -> Result<(Values, Vec<Upload>), Unread> {
    let mut form = Multipart::from_request(request, &()).await.map_err(|_| malformed())?;
    let (mut values, mut uploads) = (Values::default(), Vec::new());
    // Stands for a file until rows are renumbered. Nobody can type it.
    let nonce = rand::random::<u128>();
    let placeholder = |index: usize| format!("file {index} {nonce:032x}");
    let read = read_parts(&mut form, fields, placeholder, &mut values, &mut uploads).await;
    let mut values = with_valid_key(values.normalized());
    let mut index = 0;
    // A file belongs to its row, whatever number the row has now.
    uploads.retain_mut(|upload| {
        let mark = placeholder(index);
        index += 1;
        let place = values.0.iter().position(|(_, value)| *value == mark);
        let is_kept = place.is_some();
        if let Some(place) = place {
            upload.field = values.0.remove(place).0;
        }
        is_kept
    });
    match read {
        Ok(()) => Ok((values, uploads)),
        Err(error) => Err(Unread { error, values }),
    }
}

async fn read_parts(
    form: &mut Multipart,
    fields: &[Spec],
    placeholder: impl Fn(usize) -> String,
    values: &mut Values,
    uploads: &mut Vec<Upload>,
) -> Result<(), Error> {
    let mut left = MAX_BODY;
    while let Some(mut part) = form.next_field().await.map_err(unreadable_part)? {
        let name = part.name().unwrap_or_default().to_owned();
        match part.file_name().map(str::to_owned) {
            None => {
                let text = content(&mut part, &mut left).await?;
                values.push(name, String::from_utf8(text).map_err(|_| malformed())?)?;
            }
            Some(filename) if takes_file(fields, &name) => {
                // The size of the whole body is limited.
                let content = part.bytes().await.map_err(unreadable_part)?;
                // A browser sends an empty part for a file that was not chosen.
                if !content.is_empty() {
                    values.push(name.clone(), placeholder(uploads.len()))?;
                    uploads.push(Upload { field: name, filename, content });
                }
            }
            Some(_) => while part.chunk().await.map_err(unreadable_part)?.is_some() {},
        }
    }
    Ok(())
}

/// The content of a part, and how many bytes are left for the texts of the form.
async fn content(part: &mut Part<'_>, left: &mut usize) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(unreadable_part)? {
        *left = left.checked_sub(chunk.len()).ok_or(Error::TooLarge)?;
        content.extend_from_slice(&chunk);
    }
    Ok(content)
}

fn malformed() -> Error {
    Error::Malformed(text("The form is malformed.", "Formulir tidak valid."))
}

fn unreadable_part(error: MultipartError) -> Error {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge,
        _ => malformed(),
    }
}

/// Whether a form has a field for files with this name.
fn takes_file(fields: &[Spec], name: &str) -> bool {
    let find = |path: &str| fields.iter().find(|field| field.path == path);
    match split_row(name) {
        Some((list, _, rest)) => find(list).is_some_and(|list| {
            rest.strip_prefix('.').is_some_and(|path| takes_file(&list.children, path))
        }),
        None => find(name.strip_suffix("[]").unwrap_or(name)).is_some_and(Spec::is_file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_by_the_fields_of_the_form() {
        let fields = Spec::parse("name photo_file_ids proof:file documents[type file_id]");
        for name in ["photo_file_ids[]", "photo_file_ids", "proof", "documents[3].file_id"] {
            assert!(takes_file(&fields, name), "{name}");
        }
        for name in
            ["name", "file_id", "documents[3].type", "documents[3]", "documents", "other_file_id"]
        {
            assert!(!takes_file(&fields, name), "{name}");
        }
        assert!(!takes_file(&[], "photo_file_ids[]"));
    }
}
