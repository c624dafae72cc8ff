//! File storage: a local folder or an S3-compatible store.

use std::{path::Path as Folder, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::header::CONTENT_TYPE,
};
use futures_util::StreamExt;
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt,
    aws::{AmazonS3, AmazonS3Builder},
    local::LocalFileSystem,
    path::Path,
    signer::{HeaderValue, Method, SignedUrlOptions, Signer},
};

use super::{
    error::{Error, Result},
    private,
};

#[derive(Clone)]
pub struct Storage {
    store: Arc<dyn ObjectStore>,
    /// Signs upload addresses; only for S3.
    s3: Option<Arc<AmazonS3>>,
}

impl Storage {
    pub fn local(folder: &Folder) -> Result<Self, String> {
        private::folder(folder).map_err(|error| error.to_string())?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| error.to_string())?;
        // Flush files to disk: a file must survive a power failure like its row.
        Ok(Self { store: Arc::new(store.with_fsync(true)), s3: None })
    }

    /// `s3://bucket?region=…&access_key_id=…&secret_access_key=…&endpoint=https://…`; what the
    /// address leaves out comes from the usual AWS variables.
    pub fn s3(url: &str) -> Result<Self, String> {
        let (bucket, query) = url
            .trim_start_matches("s3://")
            .split_once('?')
            .unwrap_or((url.trim_start_matches("s3://"), ""));
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket.trim_matches('/'));
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let key = name.parse().map_err(|_| format!("unknown parameter {name}"))?;
            if name == "endpoint" && value.starts_with("http://") {
                builder = builder.with_allow_http(true);
            }
            builder = builder.with_config(key, value);
        }
        let s3 = Arc::new(builder.build().map_err(|error| error.to_string())?);
        Ok(Self { store: s3.clone(), s3: Some(s3) })
    }

    pub fn name(&self) -> &'static str {
        if self.s3.is_some() { "s3" } else { "local" }
    }

    pub async fn put(&self, key: &str, content: Bytes) -> Result<()> {
        self.store.put(&Path::from(key), content.into()).await.map_err(unavailable)?;
        Ok(())
    }

    /// The content as a stream.
    pub async fn get(&self, key: &str) -> Result<Body> {
        let found = self.store.get(&Path::from(key)).await.map_err(unavailable)?;
        Ok(Body::from_stream(found.into_stream()))
    }

    /// The whole content if it exists with exactly this size.
    pub async fn get_sized(&self, key: &str, size: u64) -> Result<Option<Bytes>> {
        let found = match self.store.get(&Path::from(key)).await {
            Ok(found) if found.meta.size == size => found,
            Ok(_) | Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(unavailable(error)),
        };
        found.bytes().await.map(Some).map_err(unavailable)
    }

    /// Deletes the object if it exists.
    pub async fn delete(&self, key: &str) -> Result<()> {
        match self.store.delete(&Path::from(key)).await {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Deletes everything in a folder.
    pub async fn delete_all(&self, folder: &str) -> Result<()> {
        let mut found = self.store.list(Some(&Path::from(folder)));
        while let Some(object) = found.next().await {
            let object = object.map_err(unavailable)?;
            self.store.delete(&object.location).await.map_err(unavailable)?;
        }
        Ok(())
    }

    /// A signed address for a PUT of this content type; `None` for local storage. S3 does not sign
    /// the length, so the caller must check it.
    pub async fn presign(
        &self,
        key: &str,
        content_type: &'static str,
        life: Duration,
    ) -> Result<Option<String>> {
        let Some(s3) = &self.s3 else { return Ok(None) };
        let kind = HeaderValue::from_static(content_type);
        let options = SignedUrlOptions::new().with_signed_header(CONTENT_TYPE, kind);
        let path = Path::from(key);
        let url = s3.signed_url_opts(Method::PUT, &path, life, &options).await;
        Ok(Some(url.map_err(unavailable)?.to_string()))
    }
}

fn unavailable(error: StoreError) -> Error {
    Error::Unavailable(format!("storage: {error}"))
}
