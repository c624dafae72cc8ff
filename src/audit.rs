//! Handler of the audit log, which `kernel::audit` writes.

use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::App,
    kernel::{
        clock::midnight,
        error::Result,
        http::{Page, Paging, Query},
        ids::Uuid,
        schema::Input,
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct AuditQuery {
    #[serde(flatten)]
    paging: Paging,
    actor_id: Option<Uuid>,
    #[schemars(length(max = 60))]
    entity_type: Option<String>,
    entity_id: Option<Uuid>,
    #[schemars(length(max = 60))]
    action: Option<String>,
    /// Inclusive, in the service's time zone.
    start_date: Option<NaiveDate>,
    /// Inclusive, in the service's time zone.
    end_date: Option<NaiveDate>,
}

impl Input for AuditQuery {}

#[derive(Serialize, JsonSchema)]
pub struct AuditLog {
    id: Uuid,
    actor: Person,
    /// The impersonated account, if the change was made in an impersonated session.
    on_behalf_of: Option<Person>,
    action: String,
    entity_type: String,
    entity_id: Uuid,
    before: Option<Value>,
    after: Option<Value>,
    address: String,
    user_agent: Option<String>,
    request_id: String,
    created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
pub struct Person {
    id: Uuid,
    name: String,
    email: String,
}

#[derive(crate::kernel::db::FromRow)]
struct Row {
    id: Uuid,
    actor_id: Uuid,
    actor_name: String,
    actor_email: String,
    on_behalf_of_id: Option<Uuid>,
    on_behalf_of_name: Option<String>,
    on_behalf_of_email: Option<String>,
    action: String,
    entity_type: String,
    entity_id: Uuid,
    before_change: Option<Value>,
    after_change: Option<Value>,
    address: String,
    user_agent: Option<String>,
    request_id: String,
    created_at: DateTime<Utc>,
}

impl From<Row> for AuditLog {
    fn from(row: Row) -> Self {
        let owner = row.on_behalf_of_id.zip(row.on_behalf_of_name).zip(row.on_behalf_of_email);
        Self {
            id: row.id,
            actor: Person { id: row.actor_id, name: row.actor_name, email: row.actor_email },
            on_behalf_of: owner.map(|((id, name), email)| Person { id, name, email }),
            action: row.action,
            entity_type: row.entity_type,
            entity_id: row.entity_id,
            before: row.before_change,
            after: row.after_change,
            address: row.address,
            user_agent: row.user_agent,
            request_id: row.request_id,
            created_at: row.created_at,
        }
    }
}

pub async fn list_audit_logs(
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Page<AuditLog>> {
    let zone = app.config.timezone;
    let from = query.start_date.map(|date| midnight(date, zone));
    let until = query.end_date.map(|date| midnight(date + Days::new(1), zone));
    let paging = &query.paging;
    let rows = app
        .db
        .list(
            "SELECT id, actor_id, actor_name, actor_email, on_behalf_of_id, on_behalf_of_name,
               on_behalf_of_email, action, entity_type, entity_id, before_change, after_change,
               address, user_agent, request_id, created_at
             FROM audit_logs",
        )
        .filter("actor_id = ?", query.actor_id)
        .filter("entity_type = ?", query.entity_type.clone())
        .filter("entity_id = ?", query.entity_id)
        .filter("action = ?", query.action.clone())
        .filter("created_at >= ?", from)
        .filter("created_at < ?", until)
        .search(&["actor_name", "actor_email", "action"], paging.search())
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows).each(|row: Row| row.into()))
}
