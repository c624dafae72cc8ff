//! Rows, requests and responses of notifications.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::texts::{title_and_body, unknown_text};
use crate::{
    kernel::{http::Pages, ids::Uuid, lang::Lang, schema::Input},
    webhooks,
};

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct NotificationRow {
    pub id: Uuid,
    pub account_id: Uuid,
    #[row(rename = "type")]
    pub kind: String,
    pub data: Value,
    pub read_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Notification {
    pub id: Uuid,
    pub user_id: Uuid,
    /// Name of the event.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub body: String,
    /// What the event says: the same as `data` of its webhook.
    #[schemars(schema_with = "webhooks::any_data_schema")]
    pub data: Value,
    pub read_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

impl NotificationRow {
    pub fn into_notification(self, lang: Lang) -> Notification {
        let (title, body) = match self.kind.parse() {
            Ok(kind) => title_and_body(kind, &self.data),
            Err(_) => unknown_text(&self.kind),
        };
        Notification {
            id: self.id,
            user_id: self.account_id,
            title: title.say(lang).to_owned(),
            body: body.say(lang).to_owned(),
            kind: self.kind,
            data: self.data,
            read_at: self.read_at,
            created_at: self.created_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct NotificationsQuery {
    #[serde(flatten)]
    pub paging: Pages,
    /// Only unread notifications.
    pub unread: Option<bool>,
}

impl Input for NotificationsQuery {}

/// Returned next to the list.
#[derive(Serialize, JsonSchema)]
pub struct Unread {
    pub unread_count: i64,
}
