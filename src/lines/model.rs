//! Types of lines.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fares::{Category, Fare, FarePrice, OLDEST, Residency, key};
use crate::kernel::{
    db::Json, error::Fault, http::Paging, ids::Uuid, lang::text, money::Rupiah, patch::Patch,
    schema::Input,
};

crate::string_enum! {
    /// Which passengers of a reseller's booking are named.
    pub enum PassengerNames { Lead = "lead", All = "all" }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct LineRow {
    pub id: Uuid,
    pub partner_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub timezone: String,
    pub resale: bool,
    pub day_ticket: bool,
    pub names: PassengerNames,
    pub max_party: i32,
    pub cutoff_minutes: Option<i32>,
    pub fares: Json<Vec<Fare>>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Line {
    pub id: Uuid,
    pub mitra_id: Uuid,
    pub from: String,
    pub to: String,
    pub timezone: String,
    /// Whether resellers may sell it.
    pub resale: bool,
    /// Whether resellers may also sell tickets for any sailing of a day.
    pub day_ticket: bool,
    pub names: PassengerNames,
    /// The most passengers of one booking of a reseller.
    pub max_party: i32,
    /// Minutes before departure at which the sale ends. Null: the service's setting.
    pub cutoff_minutes: Option<i32>,
    /// The first one is the default of a passenger.
    pub fares: Vec<Fare>,
    pub updated_at: DateTime<Utc>,
}

impl From<LineRow> for Line {
    fn from(row: LineRow) -> Self {
        Self {
            id: row.id,
            mitra_id: row.partner_id,
            from: row.from_name,
            to: row.to_name,
            timezone: row.timezone,
            resale: row.resale,
            day_ticket: row.day_ticket,
            names: row.names,
            max_party: row.max_party,
            cutoff_minutes: row.cutoff_minutes,
            fares: row.fares.0,
            updated_at: row.updated_at,
        }
    }
}

/// Percent of the sailing's price, or a fixed amount: exactly one of them.
#[derive(Deserialize, JsonSchema)]
pub struct FarePriceForm {
    #[schemars(range(min = 0, max = 1_000))]
    percent: Option<i32>,
    #[schemars(range(min = 0, max = 1_000_000_000))]
    amount: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct FareForm {
    /// May be left out: it follows from category and residency.
    #[schemars(length(max = 32))]
    #[allow(dead_code, reason = "checked before")]
    key: Option<String>,
    category: Category,
    /// Default `any`.
    residency: Option<Residency>,
    /// Default 0, which is no limit.
    #[schemars(range(min = 0, max = 120))]
    min_age: Option<i32>,
    /// Default 120, which is no limit.
    #[schemars(range(min = 0, max = 120))]
    max_age: Option<i32>,
    price: FarePriceForm,
    #[schemars(extend("default" = true))]
    takes_seat: Option<bool>,
    /// Default false.
    id_required: Option<bool>,
}

impl FareForm {
    fn to_fare(&self) -> Fare {
        let residency = self.residency.unwrap_or(Residency::Any);
        Fare {
            key: key(self.category, residency),
            category: self.category,
            residency,
            min_age: self.min_age.unwrap_or(0),
            max_age: self.max_age.unwrap_or(OLDEST),
            price: match (self.price.percent, self.price.amount) {
                (Some(percent), _) => FarePrice::Percent(percent),
                (None, amount) => FarePrice::Amount(Rupiah(amount.unwrap_or_default())),
            },
            takes_seat: self.takes_seat.unwrap_or(true),
            id_required: self.id_required.unwrap_or(false),
        }
    }
}

/// Fields that are left out keep their values.
#[derive(Deserialize, JsonSchema)]
pub struct LineForm {
    resale: Option<bool>,
    day_ticket: Option<bool>,
    names: Option<PassengerNames>,
    #[schemars(range(min = 1, max = 50))]
    max_party: Option<i32>,
    /// Null: the service's setting.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_080))]
    cutoff_minutes: Patch<i32>,
    /// Null: one fare for everybody, the price of the sailing.
    #[serde(default)]
    #[schemars(length(min = 1, max = 12))]
    fares: Patch<Vec<FareForm>>,
}

impl LineForm {
    /// The line with these changes.
    pub fn over(&self, line: &LineRow) -> LineRow {
        let fares = match &self.fares {
            Patch::Keep => line.fares.0.clone(),
            Patch::Clear => Fare::standard(),
            Patch::Set(fares) => fares.iter().map(FareForm::to_fare).collect(),
        };
        LineRow {
            resale: self.resale.unwrap_or(line.resale),
            day_ticket: self.day_ticket.unwrap_or(line.day_ticket),
            names: self.names.unwrap_or(line.names),
            max_party: self.max_party.unwrap_or(line.max_party),
            cutoff_minutes: self.cutoff_minutes.clone().over(line.cutoff_minutes),
            fares: Json(fares),
            ..line.clone()
        }
    }
}

impl Input for LineForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let Some(fares) = value["fares"].as_array() else { return };
        let mut keys = HashSet::new();
        for (index, fare) in fares.iter().enumerate() {
            let category = fare["category"].as_str().and_then(|word| word.parse().ok());
            let residency = match &fare["residency"] {
                Value::String(word) => word.parse().ok(),
                _ => Some(Residency::Any),
            };
            let key = category.zip(residency).map(|(category, of)| key(category, of));
            for (name, rule, message) in fare_faults(fare, key.as_deref()) {
                faults.push(Fault::new(format!("fares[{index}].{name}"), rule, message));
            }
            if let Some(key) = key
                && !keys.insert(key)
            {
                let message = text(
                    "Another fare has the same category and residency.",
                    "Kategori dan domisili ini sudah ada pada tarif lain.",
                );
                faults.push(Fault::new(format!("fares[{index}].key"), "unique", message));
            }
        }
        if !fares.is_empty() && fares.iter().all(|fare| fare["takes_seat"] == false) {
            let message = text(
                "At least one fare must take a seat.",
                "Paling sedikit satu tarif harus memakai kursi.",
            );
            faults.push(Fault::new("fares", "seat_required", message));
        }
    }
}

/// Rules across the fields of a fare.
fn fare_faults(
    fare: &Value,
    key: Option<&str>,
) -> Vec<(&'static str, &'static str, crate::kernel::lang::Text)> {
    let mut faults = Vec::new();
    if let (Some(stated), Some(key)) = (fare["key"].as_str(), key)
        && stated != key
    {
        let message = text(
            "The key follows from category and residency.",
            "Kunci mengikuti kategori dan domisili.",
        );
        faults.push(("key", "mismatch", message));
    }
    let age = |name: &str, default| fare[name].as_i64().unwrap_or(default);
    if age("min_age", 0) > age("max_age", OLDEST.into()) {
        let message = text(
            "The highest age is below the lowest.",
            "Usia tertinggi lebih rendah dari usia terendah.",
        );
        faults.push(("max_age", "order", message));
    }
    let (percent, amount) = (&fare["price"]["percent"], &fare["price"]["amount"]);
    if fare["price"].is_object() && percent.is_null() == amount.is_null() {
        let message = text("State either percent or amount.", "Isi persen atau jumlah saja.");
        faults.push(("price", "one_of", message));
    }
    // A seat for nothing could be taken by anybody who asks.
    let takes_seat = fare["takes_seat"] != false;
    for (name, value, least) in [("price.percent", percent, 1), ("price.amount", amount, 1_000)] {
        if takes_seat && value.as_i64().is_some_and(|value| (0..least).contains(&value)) {
            let message = match least {
                1 => text(
                    "A seat costs at least 1 percent.",
                    "Tarif dengan kursi paling sedikit 1 persen.",
                ),
                _ => text(
                    "A seat costs at least 1,000 rupiah.",
                    "Tarif dengan kursi paling sedikit Rp 1.000.",
                ),
            };
            faults.push((name, "min", message));
        }
    }
    faults
}

#[derive(Deserialize, JsonSchema)]
pub struct LinesQuery {
    #[serde(flatten)]
    pub paging: Paging,
    /// Ignored for partners, who see their own.
    pub mitra_id: Option<Uuid>,
    pub resale: Option<bool>,
}

impl Input for LinesQuery {}
