//! What partners are made of, and what callers send and get.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    accounts::{Password, User, same},
    kernel::{
        email::Email, error::Fault, ids::Uuid, phone::Phone, schema::Input, text::Name, text::Note,
    },
};

crate::words! {
    pub enum PartnerType { Individual = "individual", Company = "company" }
}

crate::words! {
    pub enum PartnerStatus {
        Draft = "draft",
        InReview = "in_review",
        Revision = "revision",
        Active = "active",
        Suspended = "suspended",
    }
}

/// A partner as the platform sees it.
#[derive(Debug, Serialize, JsonSchema, sqlx::FromRow)]
pub struct Partner {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub email: String,
    pub phone: Option<String>,
    pub address: String,
    #[serde(rename = "partnerType")]
    pub partner_type: PartnerType,
    pub status: PartnerStatus,
    pub created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RegisterMitra {
    pub name: Name,
    pub email: Email,
    pub phone: Phone,
    pub password: Password,
    #[allow(dead_code)]
    cpassword: String,
    pub address: Note,
    #[serde(rename = "partnerType")]
    pub partner_type: PartnerType,
}

impl Input for RegisterMitra {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        same(value, faults);
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Registered {
    pub user: User,
    pub mitra: Partner,
}
