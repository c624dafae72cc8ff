//! Types of harbours.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    name::{HarbourName, key},
    zone::Zone,
};
use crate::kernel::{
    db::Json,
    error::Fault,
    http::Paging,
    ids::Uuid,
    lang::text,
    patch::Patch,
    schema::Input,
    text::{Line, ONE_LINE},
};

/// Most aliases that one request can give a harbour.
const MOST_ALIASES: usize = 50;

crate::string_enum! {
    pub enum HarbourStatus {
        /// Checked by staff, or brought by the service.
        Verified = "verified",
        /// Made from the name that a route gave.
        Unverified = "unverified",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Harbour {
    pub id: Uuid,
    pub name: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    pub city: Option<String>,
    pub province: Option<String>,
    pub timezone: Zone,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub status: HarbourStatus,
}

impl Harbour {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    pub fn is_verified(&self) -> bool {
        self.status == HarbourStatus::Verified
    }

    /// Whether it is as a route made it, without anything that staff have added.
    pub fn is_name_only(&self) -> bool {
        !self.is_verified()
            && self.aliases.is_empty()
            && self.city.is_none()
            && self.province.is_none()
            && self.latitude.is_none()
    }
}

#[derive(crate::kernel::db::FromRow)]
pub struct HarbourRow {
    id: Uuid,
    name: String,
    aliases: Json<Vec<String>>,
    city: Option<String>,
    province: Option<String>,
    timezone: Zone,
    latitude: Option<f64>,
    longitude: Option<f64>,
    status: HarbourStatus,
}

impl From<HarbourRow> for Harbour {
    fn from(row: HarbourRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            aliases: row.aliases.0,
            city: row.city,
            province: row.province,
            timezone: row.timezone,
            latitude: row.latitude,
            longitude: row.longitude,
            status: row.status,
        }
    }
}

/// A line of a harbour. A blank one means none (`tidy_texts`).
fn optional_line(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "maxLength": 80, "pattern": ONE_LINE })
}

#[derive(Deserialize, JsonSchema)]
pub struct NewHarbour {
    pub name: HarbourName,
    #[schemars(length(max = MOST_ALIASES))]
    pub aliases: Option<Vec<HarbourName>>,
    #[serde(default)]
    #[schemars(schema_with = "optional_line")]
    pub city: Option<Line<80>>,
    #[serde(default)]
    #[schemars(schema_with = "optional_line")]
    pub province: Option<Line<80>>,
    pub timezone: Zone,
    #[schemars(range(min = -90, max = 90))]
    pub latitude: Option<f64>,
    #[schemars(range(min = -180, max = 180))]
    pub longitude: Option<f64>,
    /// Default: verified.
    pub status: Option<HarbourStatus>,
}

/// Fields that are left out keep their value.
#[derive(Deserialize, JsonSchema)]
pub struct HarbourChange {
    /// The old name becomes an alias, unless `aliases` are given.
    pub name: Option<HarbourName>,
    #[serde(default)]
    #[schemars(length(max = MOST_ALIASES))]
    pub aliases: Patch<Vec<HarbourName>>,
    #[serde(default)]
    #[schemars(schema_with = "optional_line")]
    pub city: Patch<Line<80>>,
    #[serde(default)]
    #[schemars(schema_with = "optional_line")]
    pub province: Patch<Line<80>>,
    pub timezone: Option<Zone>,
    #[serde(default)]
    #[schemars(range(min = -90, max = 90))]
    pub latitude: Patch<f64>,
    #[serde(default)]
    #[schemars(range(min = -180, max = 180))]
    pub longitude: Patch<f64>,
    pub status: Option<HarbourStatus>,
}

impl Input for NewHarbour {
    fn tidy(value: &mut Value) {
        tidy_texts(value);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_names(value, faults);
    }
}

impl Input for HarbourChange {
    fn tidy(value: &mut Value) {
        tidy_texts(value);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        check_names(value, faults);
    }
}

/// A list that is too long is refused as a whole, so its items are left alone.
fn aliases(value: &Value) -> &[Value] {
    let aliases = value["aliases"].as_array().map(Vec::as_slice).unwrap_or_default();
    if aliases.len() <= MOST_ALIASES { aliases } else { &[] }
}

fn tidy_texts(value: &mut Value) {
    let trimmed = |value: &Value| match value {
        Value::String(text) => Value::String(text.trim().to_owned()),
        other => other.clone(),
    };
    if value["name"].is_string() {
        value["name"] = trimmed(&value["name"]);
    }
    if !aliases(value).is_empty() {
        value["aliases"] = aliases(value).iter().map(trimmed).collect();
    }
    for name in ["city", "province"] {
        if value[name].as_str().is_some_and(|text| text.trim().is_empty()) {
            value[name] = Value::Null;
        }
    }
}

/// A name of which nothing is left to compare, e.g. accents alone, could never be found.
fn check_names(value: &Value, faults: &mut Vec<Fault>) {
    let name = std::iter::once(("name".to_owned(), &value["name"]));
    let aliases = aliases(value).iter().enumerate();
    let aliases = aliases.map(|(index, alias)| (format!("aliases[{index}]"), alias));
    for (field, name) in name.chain(aliases) {
        if name.as_str().is_some_and(|name| !name.is_empty() && key(name).is_empty()) {
            let message = text("This is not a valid name.", "Ini bukan nama yang valid.");
            faults.push(Fault::new(field, "format", message));
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct MergeHarbour {
    /// UUID of the harbour that remains.
    pub into_id: Uuid,
}

impl Input for MergeHarbour {}

crate::string_enum! {
    pub enum HarbourSort { Name = "name", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct HarboursQuery {
    #[serde(flatten)]
    pub paging: Paging,
    /// Only the harbour with this id.
    pub id: Option<Uuid>,
    pub status: Option<HarbourStatus>,
    /// Default: by name.
    pub sort_by: Option<HarbourSort>,
}

impl Input for HarboursQuery {}
