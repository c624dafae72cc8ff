//! Types of speedboats.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    http::Paging,
    ids::Uuid,
    patch::Patch,
    schema::Input,
    text::{Description, Line, Name},
};

crate::string_enum! {
    pub enum BoatStatus {
        Active = "active",
        Maintenance = "maintenance",
        Inactive = "inactive",
    }
}

/// Reference to a partner.
#[derive(Clone, Debug, Serialize, serde::Deserialize, JsonSchema)]
pub struct Owner {
    pub id: Uuid,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Speedboat {
    pub id: Uuid,
    pub mitra_id: Uuid,
    pub mitra: Owner,
    pub name: String,
    pub registration_number: String,
    pub capacity: i32,
    pub year_built: Option<i32>,
    pub manufacturer: Option<String>,
    pub engine: Option<String>,
    pub facilities: Vec<String>,
    pub description: Option<String>,
    pub photos: Vec<Photo>,
    pub status: BoatStatus,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A speedboat as customers see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogSpeedboat {
    pub id: Uuid,
    pub mitra: Owner,
    pub name: String,
    pub capacity: i32,
    pub facilities: Vec<String>,
    pub description: Option<String>,
    pub photos: Vec<Photo>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Photo {
    pub file_id: Uuid,
    pub url: String,
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct SpeedboatRow {
    pub id: Uuid,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub name: String,
    pub registration_number: String,
    pub capacity: i32,
    pub year_built: Option<i32>,
    pub manufacturer: Option<String>,
    pub engine: Option<String>,
    pub facilities: Value,
    pub description: Option<String>,
    pub photos: Value,
    pub status: BoatStatus,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// In an update, optional fields that are left out keep their value.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct SpeedboatChange {
    pub name: Name,
    pub registration_number: Line<40>,
    #[schemars(range(min = 1, max = 500))]
    pub capacity: i32,
    #[serde(default)]
    pub year_built: Patch<Year>,
    #[serde(default)]
    pub manufacturer: Patch<Name>,
    #[serde(default)]
    pub engine: Patch<Name>,
    #[serde(default)]
    pub facilities: Patch<Facilities>,
    #[serde(default)]
    pub description: Patch<Description>,
    #[serde(default)]
    pub photo_file_ids: Patch<PhotoIds>,
    pub status: Option<BoatStatus>,
}

impl Input for SpeedboatChange {
    fn tidy(value: &mut Value) {
        blank_is_null(value);
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct NewSpeedboat {
    /// Owner of the boat; only for admins and staff.
    pub mitra_id: Option<Uuid>,
    #[serde(flatten)]
    pub boat: SpeedboatChange,
}

impl Input for NewSpeedboat {
    fn tidy(value: &mut Value) {
        blank_is_null(value);
    }
}

/// Forms send missing values as empty strings.
fn blank_is_null(value: &mut Value) {
    for name in ["year_built", "manufacturer", "engine", "description", "mitra_id"] {
        if let Some(field) = value.get_mut(name)
            && field.as_str().is_some_and(|text| text.trim().is_empty())
        {
            *field = Value::Null;
        }
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Year(#[schemars(range(min = 1900, max = 2100))] i32);

impl From<Year> for i32 {
    fn from(year: Year) -> i32 {
        year.0
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Facilities(#[schemars(length(max = 30))] Vec<Line<60>>);

impl From<Facilities> for Value {
    fn from(facilities: Facilities) -> Value {
        facilities.0.into_iter().map(String::from).collect()
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhotoIds(#[schemars(length(max = 12))] pub Vec<String>);

crate::string_enum! {
    pub enum SpeedboatSort {
        Name = "name",
        Capacity = "capacity",
        Status = "status",
        CreatedAt = "created_at",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SpeedboatsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub mitra_id: Option<Uuid>,
    pub status: Option<BoatStatus>,
    pub sort_by: Option<SpeedboatSort>,
}

impl Input for SpeedboatsQuery {}

/// Owner filter.
#[derive(Deserialize, JsonSchema)]
pub struct Scope {
    pub mitra_id: Option<Uuid>,
}

impl Input for Scope {}
