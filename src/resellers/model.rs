//! Types of resellers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{ids::Uuid, money::Rupiah};

crate::string_enum! {
    pub enum ResellerStatus { Active = "active", Suspended = "suspended" }
}

crate::string_enum! {
    /// What an API key may be used for.
    pub enum Scope {
        /// Products and availability.
        Catalog = "catalog",
        BookingsRead = "bookings.read",
        BookingsWrite = "bookings.write",
    }
}

/// The price of a fare that was agreed with a reseller, instead of a margin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetFare {
    pub line_id: Uuid,
    /// Key of the fare.
    pub fare: String,
    /// Before taxes. Whole rupiah.
    pub net: Rupiah,
}

/// A step of a refund policy: the percentage that a cancellation gives back until so many hours before
/// departure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyStep {
    pub hours_before: u32,
    #[schemars(range(max = 100))]
    pub percent: u8,
}
