//! Files of a form, which are uploaded before its operation is called.

use axum::body::Bytes;

/// A file of a form.
pub struct Upload {
    /// The field that its id goes to.
    pub field: String,
    pub filename: String,
    pub content: Bytes,
}

/// A multipart body for the upload of one file.
pub fn multipart(purpose: &str, upload: &Upload) -> (String, Bytes) {
    let boundary = format!("dermaga{:032x}", rand::random::<u128>());
    let filename: String =
        upload.filename.chars().filter(|c| !c.is_control() && *c != '"').collect();
    let mut body = Vec::with_capacity(upload.content.len() + 512);
    body.extend_from_slice(
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .as_bytes(),
    );
    body.extend_from_slice(&upload.content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body.into())
}
