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
        csv::harmless,
        db::List,
        error::Result,
        http::{
            FileOr, ListFormat, PageOrCsv, Paging, Query,
            export::{self, words},
        },
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
    /// `csv`: all entries that are found, as a file.
    format: Option<ListFormat>,
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
) -> Result<PageOrCsv<AuditLog>> {
    let paging = &query.paging;
    let sort = paging.sort(None, "created_at");
    let list = filtered(&app, &query);
    if query.format == Some(ListFormat::Csv) {
        let list = list.found_in("SELECT id FROM audit_logs");
        return file(app.clone(), list.ids(sort, "id", export::LIMIT).await?);
    }
    let rows = list.page(sort, "id", paging.limit(), paging.offset()).await?;
    Ok(FileOr::Json(paging.page(rows).each(|row: Row| row.into())))
}

macro_rules! entry {
    ($rest:literal) => {
        concat!(
            "SELECT id, actor_id, actor_name, actor_email, on_behalf_of_id, on_behalf_of_name,
               on_behalf_of_email, action, entity_type, entity_id, before_change, after_change,
               address, user_agent, request_id, created_at
             FROM audit_logs",
            $rest
        )
    };
}

fn filtered<'a>(app: &'a App, query: &AuditQuery) -> List<'a> {
    let zone = app.config.timezone;
    let from = query.start_date.map(|date| midnight(date, zone));
    let until = query.end_date.map(|date| midnight(date + Days::new(1), zone));
    app.db
        .list(entry!(""))
        .filter("actor_id = ?", query.actor_id)
        .filter("entity_type = ?", query.entity_type.clone())
        .filter("entity_id = ?", query.entity_id)
        .filter("action = ?", query.action.clone())
        .filter("created_at >= ?", from)
        .filter("created_at < ?", until)
        .search(&["actor_name", "actor_email", "action"], query.paging.search())
}

const HEADER: &[&str] = &[
    "created_at",
    "actor_name",
    "actor_email",
    "on_behalf_of_name",
    "on_behalf_of_email",
    "action",
    "entity_type",
    "entity_id",
    "before",
    "after",
    "address",
    "user_agent",
    "request_id",
];

fn file(app: App, ids: Vec<Uuid>) -> Result<PageOrCsv<AuditLog>> {
    export::csv("audit-log", HEADER, ids, move |ids| {
        let app = app.clone();
        async move {
            let rows = app.db.sql_among(entry!(" WHERE id IN"), ids.len(), "").long();
            let rows: Vec<Row> = ids.iter().fold(rows, |rows, id| rows.bind(*id)).all().await?;
            Ok(rows.into_iter().map(|row| (row.id, cells(&row))).collect())
        }
    })
}

fn cells(row: &Row) -> export::Row {
    let json = |value: &Option<Value>| words(value.as_ref().map(Value::to_string));
    vec![
        row.created_at.to_rfc3339(),
        harmless(&row.actor_name),
        harmless(&row.actor_email),
        words(row.on_behalf_of_name.as_deref()),
        words(row.on_behalf_of_email.as_deref()),
        row.action.clone(),
        row.entity_type.clone(),
        row.entity_id.to_string(),
        json(&row.before_change),
        json(&row.after_change),
        row.address.clone(),
        words(row.user_agent.as_deref()),
        harmless(&row.request_id),
    ]
}
