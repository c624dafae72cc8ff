//! Types of crew.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    accounts::Status,
    kernel::{
        email::Email,
        error::Fault,
        http::Paging,
        ids::Uuid,
        phone::Phone,
        schema::Input,
        text::{Name, without_url},
    },
};

/// Maximum number of crew members of a partner.
pub const LIMIT: i64 = 100;

/// Minimum time between two invitations of one person: the partner chooses the address, which may
/// be that of a stranger.
pub const RESEND_AFTER: TimeDelta = TimeDelta::minutes(5);

#[derive(Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct CrewMember {
    /// UUID of the account.
    pub id: Uuid,
    pub name: String,
    pub email: String,
    pub phone: Option<String>,
    pub status: Status,
    /// Whether the invitation has not been accepted yet.
    pub invited: bool,
    pub last_login_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    #[serde(skip)]
    pub invited_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct InviteCrew {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
}

impl Input for InviteCrew {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        // The name appears in a mail to an address that the partner chooses.
        without_url("name", value["name"].as_str().unwrap_or_default(), faults);
    }
}

crate::string_enum! {
    pub enum CrewSort { Name = "name", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct CrewQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub sort_by: Option<CrewSort>,
}

impl Input for CrewQuery {}
