//! Types of taxes.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{
    http::Paging,
    ids::Uuid,
    money::Rate,
    schema::Input,
    text::{Line, Name},
};

crate::string_enum! {
    pub enum AppliesTo {
        /// Added to the customer's total.
        Booking = "booking",
        /// Charged to the partner on the platform's commission.
        Commission = "commission",
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct Tax {
    pub id: Uuid,
    pub name: String,
    pub code: String,
    pub rate: Rate,
    pub applies_to: AppliesTo,
    pub is_active: bool,
    pub created_at: DateTime<Utc>,
}

/// A tax as needed for prices.
#[derive(Clone, Debug, PartialEq, Eq, crate::kernel::db::FromRow)]
pub struct TaxRate {
    pub code: String,
    pub name: String,
    pub rate: Rate,
    pub applies_to: AppliesTo,
}

#[derive(Deserialize, JsonSchema)]
pub struct TaxForm {
    pub name: Name,
    pub code: Line<32>,
    pub rate: Rate,
    pub applies_to: AppliesTo,
    pub is_active: bool,
}

impl Input for TaxForm {}

crate::string_enum! {
    pub enum TaxSort { Name = "name", Code = "code", CreatedAt = "created_at" }
}

#[derive(Deserialize, JsonSchema)]
pub struct TaxesQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub applies_to: Option<AppliesTo>,
    pub is_active: Option<bool>,
    pub sort_by: Option<TaxSort>,
}

impl Input for TaxesQuery {}
