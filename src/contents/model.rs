//! Types of contents.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{
    http::Pages,
    ids::Uuid,
    schema::Input,
    text::{Description, Line, Name},
};

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct CtaRow {
    pub title: String,
    pub description: String,
    pub button_label: String,
    pub button_url: String,
    pub image_file_id: Option<Uuid>,
    pub is_active: bool,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CtaPartnership {
    pub title: String,
    pub description: String,
    pub button_label: String,
    pub button_url: String,
    pub image_file_id: Option<Uuid>,
    pub image_url: Option<String>,
    pub is_active: bool,
    pub updated_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct CtaForm {
    pub title: Name,
    pub description: Description,
    pub button_label: Name,
    /// `http` or `https`.
    #[schemars(
        length(max = 2_000),
        regex(pattern = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s<>\x22'/]+[^\s<>\x22']*$")
    )]
    pub button_url: String,
    /// An empty string removes the image.
    #[serde(default)]
    pub image_file_id: Option<String>,
    pub is_active: bool,
}

impl Input for CtaForm {}

crate::string_enum! {
    pub enum TermsStatus { Draft = "draft", Published = "published", Archived = "archived" }
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Terms {
    pub id: Uuid,
    #[serde(rename = "type")]
    #[row(rename = "type")]
    pub kind: String,
    pub content: String,
    pub version: i32,
    pub status: TermsStatus,
    pub published_at: Option<DateTime<Utc>>,
}

/// A version of terms with its author and publisher.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct TermsVersion {
    #[serde(flatten)]
    #[row(flatten)]
    pub terms: Terms,
    pub user_creator_id: Uuid,
    pub creator_name: String,
    pub user_editor_id: Uuid,
    pub user_validator_id: Option<Uuid>,
    pub validator_name: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// `customer`, `mitra`, `privacy`, …
#[derive(Deserialize, JsonSchema)]
pub struct TermsQuery {
    #[serde(rename = "type")]
    #[schemars(length(max = 40), regex(pattern = r"^[a-z0-9]+([-_][a-z0-9]+)*$"))]
    pub kind: String,
}

impl Input for TermsQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct HistoryQuery {
    #[serde(flatten)]
    pub paging: Pages,
    #[serde(rename = "type")]
    #[schemars(length(max = 40), regex(pattern = r"^[a-z0-9]+([-_][a-z0-9]+)*$"))]
    pub kind: String,
}

impl Input for HistoryQuery {}

#[derive(Deserialize, JsonSchema)]
pub struct NewTerms {
    #[serde(rename = "type")]
    #[schemars(length(max = 40), regex(pattern = r"^[a-z0-9]+([-_][a-z0-9]+)*$"))]
    pub kind: String,
    /// HTML.
    #[schemars(length(max = 200_000), regex(pattern = r"\S"))]
    pub content: String,
    /// The caller's own id.
    pub user_creator_id: Line<60>,
}

impl Input for NewTerms {}

#[derive(Deserialize, JsonSchema)]
pub struct ChangedTerms {
    pub id: Uuid,
    /// HTML.
    #[schemars(length(max = 200_000), regex(pattern = r"\S"))]
    pub content: String,
    /// The caller's own id.
    pub user_creator_id: Line<60>,
}

impl Input for ChangedTerms {}

#[derive(Deserialize, JsonSchema)]
pub struct PublishTerms {
    pub id: Uuid,
    /// The caller's own id.
    pub user_validator_id: Line<60>,
}

impl Input for PublishTerms {}
