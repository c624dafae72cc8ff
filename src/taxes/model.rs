//! Types of taxes.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    kernel::{
        http::Paging,
        ids::Uuid,
        money::{BaseFactor, Rate},
        patch::Patch,
        schema::Input,
        text::{Line, Name},
    },
    sailings::BookingType,
};

crate::string_enum! {
    pub enum AppliesTo {
        /// Added to the customer's total, of seats and of charters.
        Booking = "booking",
        /// Added to the customer's total, of seats alone.
        Seats = "seats",
        /// Added to the customer's total, of charters alone.
        Charter = "charter",
        /// Charged to the partner on the platform's commission.
        Commission = "commission",
    }
}

impl AppliesTo {
    /// Whether a customer pays it on a purchase of this type.
    pub fn is_on_sale_of(self, kind: BookingType) -> bool {
        match self {
            Self::Booking => true,
            Self::Seats => kind == BookingType::Speedboat,
            Self::Charter => kind == BookingType::Charter,
            Self::Commission => false,
        }
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct TaxRow {
    pub id: Uuid,
    pub name: String,
    pub code: String,
    pub rate: Rate,
    pub applies_to: AppliesTo,
    pub base_numerator: i32,
    pub base_denominator: i32,
    pub is_active: bool,
    pub active_since: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

impl TaxRow {
    pub fn base_factor(&self) -> BaseFactor {
        BaseFactor::new(self.base_numerator, self.base_denominator).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tax {
    pub id: Uuid,
    pub name: String,
    pub code: String,
    pub rate: Rate,
    pub applies_to: AppliesTo,
    /// The part of the price that is taxed.
    pub base_factor: BaseFactor,
    pub is_active: bool,
    pub created_at: DateTime<Utc>,
}

impl From<TaxRow> for Tax {
    fn from(row: TaxRow) -> Self {
        let base_factor = row.base_factor();
        let TaxRow { id, name, code, rate, applies_to, is_active, created_at, .. } = row;
        Self { id, name, code, rate, applies_to, base_factor, is_active, created_at }
    }
}

/// A tax as needed for prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxRate {
    pub code: String,
    pub name: String,
    pub rate: Rate,
    pub base_factor: BaseFactor,
    pub applies_to: AppliesTo,
}

#[derive(Deserialize, JsonSchema)]
pub struct TaxForm {
    pub name: Name,
    pub code: Line<32>,
    pub rate: Rate,
    pub applies_to: AppliesTo,
    /// Left out when a tax is created, or null: 1.
    #[serde(default)]
    pub base_factor: Patch<BaseFactor>,
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
