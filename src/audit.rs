//! Handler of the audit log, which `kernel::audit` writes.

use axum::extract::State;
use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::App,
    kernel::{
        caller::Caller,
        clock::midnight,
        csv::harmless,
        db::{Db, EXACT, List, like},
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
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> Result<PageOrCsv<AuditLog>> {
    let paging = &query.paging;
    let sort = paging.sort(None, "l.created_at");
    let db = caller.on_replica(&app.db);
    let list = found(&app, &db, &query).await?;
    if query.format == Some(ListFormat::Csv) {
        return file(db.clone(), list.ids(sort, "l.id", export::LIMIT).await?);
    }
    let rows = list.page(sort, "l.id", paging.limit(), paging.offset()).await?;
    Ok(FileOr::Json(paging.page(rows).each(|row: Row| row.into())))
}

macro_rules! entry {
    ($rest:literal) => {
        concat!(
            "SELECT l.id, l.actor_id, l.actor_name, l.actor_email, l.on_behalf_of_id,
               l.on_behalf_of_name, l.on_behalf_of_email, l.action, l.entity_type, l.entity_id,
               l.before_change, l.after_change, l.address, l.user_agent, l.request_id, l.created_at
             FROM audit_logs l",
            $rest
        )
    };
}

/// The columns that filters check.
const COLUMNS: &str = "SELECT l.id, l.actor_id, l.actor_name, l.actor_email, l.action,
   l.entity_type, l.entity_id, l.created_at
 FROM audit_logs l";
/// A count checks at most this many entries.
const EXAMINED: i64 = 100_000;
/// If their names are searched, which no index has.
const SEARCHED: i64 = 10_000;
/// Words that more entries contain do not drive the query.
const RARE: i64 = EXACT;

/// Entries by people with a name or address like `?`, or of an action like it. A person may have had
/// another name at the time.
macro_rules! matching {
    ($value:literal) => {
        concat!(
            "SELECT m.id FROM audit_logs m WHERE m.actor_id IN (SELECT o.actor_id
               FROM audit_actors o WHERE lower(o.name) LIKE lower(",
            $value,
            ") ESCAPE '\\' OR lower(o.email) LIKE lower(",
            $value,
            ") ESCAPE '\\')
             UNION ALL
             SELECT m.id FROM audit_logs m WHERE m.action IN (SELECT o.action
               FROM audit_actions o WHERE lower(o.action) LIKE lower(",
            $value,
            ") ESCAPE '\\')"
        )
    };
}

/// What finds the entries of a list; the other filters are only checked, by conditions that no index
/// supports. So the plan depends neither on the engine nor on its statistics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Entity,
    /// Words that few entries contain.
    Search,
    Actor,
    Action,
    EntityType,
    /// The order of the list.
    Sort,
}

async fn found<'a>(app: &App, db: &'a Db, query: &AuditQuery) -> Result<List<'a>> {
    let zone = app.config.timezone;
    let words = query.paging.search().map(like);
    let are_rare = match &words {
        Some(words) => are_rare(db, words).await?,
        None => false,
    };
    let choices = [
        (query.entity_id.is_some(), Driver::Entity),
        (are_rare, Driver::Search),
        (query.actor_id.is_some(), Driver::Actor),
        (query.action.is_some(), Driver::Action),
        (query.entity_type.is_some(), Driver::EntityType),
    ];
    let driver = choices.into_iter().find(|(given, _)| *given);
    let driver = driver.map_or(Driver::Sort, |(_, driver)| driver);
    let list = db
        .list(entry!(""))
        .found_in("SELECT l.id FROM audit_logs l")
        .examining(COLUMNS, if words.is_some() { SEARCHED } else { EXAMINED })
        .few(driver == Driver::Search);
    let list = match driver {
        Driver::Search => list.filter(concat!("l.id IN (", matching!("?"), ")"), words.clone()),
        Driver::Entity => list.filter("l.entity_id = ?", query.entity_id),
        Driver::Actor => list.filter("l.actor_id = ?", query.actor_id),
        Driver::Action => list.filter("l.action = ?", query.action.clone()),
        Driver::EntityType => list.filter("l.entity_type = ?", query.entity_type.clone()),
        Driver::Sort => list,
    };
    let other = |one| move |_: &_| driver != one;
    let action = query.action.clone().filter(|_| driver != Driver::Action);
    let entity_type = query.entity_type.clone().filter(|_| driver != Driver::EntityType);
    let list = list
        .check("COALESCE(l.entity_id, l.id) = ?", query.entity_id.filter(other(Driver::Entity)))
        .check("COALESCE(l.actor_id, l.id) = ?", query.actor_id.filter(other(Driver::Actor)))
        .check("l.action || '' = ?", action)
        .check("l.entity_type || '' = ?", entity_type);
    let from = query.start_date.map(|date| midnight(date, zone));
    let until = query.end_date.map(|date| midnight(date + Days::new(1), zone));
    Ok(list.filter("l.created_at >= ?", from).filter("l.created_at < ?", until).check(
        "(lower(l.actor_name) LIKE lower(?) ESCAPE '\\'
              OR lower(l.actor_email) LIKE lower(?) ESCAPE '\\'
              OR lower(l.action) LIKE lower(?) ESCAPE '\\')",
        words,
    ))
}

/// Whether the words can drive the query.
async fn are_rare(db: &Db, words: &str) -> Result<bool> {
    let found: i64 = db
        .sql(concat!(
            "SELECT COUNT(*) FROM (",
            matching!("$1"),
            " LIMIT CAST($2 AS BIGINT)) AS found"
        ))
        .without_cached_plan()
        .bind(words.to_owned())
        .bind(RARE + 1)
        .long()
        .scalar()
        .await?;
    Ok(found <= RARE)
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

fn file(db: Db, ids: Vec<Uuid>) -> Result<PageOrCsv<AuditLog>> {
    export::csv("audit-log", HEADER, ids, move |ids| {
        let db = db.clone();
        async move {
            let rows = db.sql_among(entry!(" WHERE l.id IN"), ids.len(), "").long();
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
