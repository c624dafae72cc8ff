//! Types of files.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{ids::Uuid, schema::Input};

crate::string_enum! {
    pub enum Purpose {
        Avatar = "avatar",
        Photo = "photo",
        Content = "content",
        Document = "document",
        Proof = "proof",
    }
}

crate::string_enum! {
    /// Supported content types.
    pub enum Kind {
        Jpeg = "image/jpeg",
        Png = "image/png",
        Webp = "image/webp",
        Pdf = "application/pdf",
    }
}

crate::string_enum! {
    pub enum FileStatus { Pending = "pending", Ready = "ready" }
}

#[derive(Serialize, JsonSchema)]
pub struct FileRecord {
    pub id: Uuid,
    pub filename: String,
    pub content_type: Kind,
    pub size: i64,
    pub purpose: Purpose,
    pub status: FileStatus,
    /// Signed and valid for five minutes if the file is private.
    pub url: String,
    pub created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct PresignQuery {
    #[schemars(length(min = 1, max = 255))]
    pub filename: String,
    pub content_type: Kind,
    #[schemars(range(min = 1))]
    pub size: i64,
    pub purpose: Purpose,
}

impl Input for PresignQuery {}

#[derive(Serialize, JsonSchema)]
pub struct Presigned {
    pub file_id: Uuid,
    pub upload_url: String,
    pub method: &'static str,
    /// Headers that the upload must send unchanged.
    pub headers: BTreeMap<&'static str, String>,
    pub expires_at: DateTime<Utc>,
}

/// Signature of a signed address; empty for a public one.
#[derive(Deserialize, JsonSchema)]
pub struct SignedQuery {
    pub expires: Option<String>,
    pub signature: Option<String>,
}

impl Input for SignedQuery {}
