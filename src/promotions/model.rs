//! Types of promotions.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    error::{Error, Fault, Result},
    http::Paging,
    ids::Uuid,
    lang::text,
    money::{Rate, Rupiah},
    patch::Patch,
    schema::Input,
    text::{Description, Name},
};

crate::string_enum! {
    /// Who pays for a discount.
    pub enum FundedBy { Platform = "platform", Partner = "partner" }
}

crate::string_enum! {
    pub enum TargetType {
        All = "all",
        Mitra = "mitra",
        Speedboat = "speedboat",
        Route = "route",
    }
}

crate::string_enum! {
    pub enum PromotionStatus { Draft = "draft", Active = "active", Inactive = "inactive" }
}

crate::string_enum! {
    /// Current state of a promotion, computed from status, period and uses.
    pub enum PromotionState {
        Draft = "draft",
        Inactive = "inactive",
        Scheduled = "scheduled",
        Running = "running",
        Exhausted = "exhausted",
        Ended = "ended",
    }
}

crate::string_enum! {
    pub enum DiscountType { Percentage = "percentage", Fixed = "fixed" }
}

/// The discount of a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discount {
    pub kind: DiscountValue,
    pub max_amount: Option<Rupiah>,
    pub min_purchase: Option<Rupiah>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscountValue {
    Percentage(Rate),
    Fixed(Rupiah),
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct Promotion {
    pub id: Uuid,
    pub title: String,
    pub code: String,
    pub description: String,
    pub quota: Option<i32>,
    pub used: i32,
    pub per_customer_limit: Option<i32>,
    pub target_type: TargetType,
    pub target_ids: Value,
    pub status: PromotionStatus,
    pub tnc: String,
    pub discount_type: DiscountType,
    pub discount_value: i64,
    pub max_amount: Option<Rupiah>,
    pub min_purchase: Option<Rupiah>,
    pub funded_by: FundedBy,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub image_file_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

impl Promotion {
    pub fn targets(&self) -> Vec<Uuid> {
        let ids = self.target_ids.as_array().into_iter().flatten();
        ids.filter_map(Value::as_str).filter_map(|id| id.parse().ok()).collect()
    }

    pub fn discount(&self) -> Discount {
        let kind = match self.discount_type {
            DiscountType::Percentage => {
                let points = i32::try_from(self.discount_value).ok().and_then(Rate::basis_points);
                DiscountValue::Percentage(points.unwrap_or_default())
            }
            DiscountType::Fixed => DiscountValue::Fixed(Rupiah(self.discount_value)),
        };
        Discount { kind, max_amount: self.max_amount, min_purchase: self.min_purchase }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PromotionRecord {
    pub id: Uuid,
    pub title: String,
    pub code: String,
    pub description: String,
    /// Null: no limit.
    pub quota: Option<i32>,
    pub used: i32,
    pub remaining: Option<i32>,
    pub per_customer_limit: Option<i32>,
    pub target_type: TargetType,
    #[schemars(with = "Vec<Uuid>")]
    pub target_ids: Value,
    pub status: PromotionStatus,
    pub state: PromotionState,
    pub tnc: String,
    pub discount: DiscountRecord,
    /// Who pays for the discount.
    pub funded_by: FundedBy,
    pub period: Period,
    pub image_file_id: Option<Uuid>,
    pub image_url: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DiscountRecord {
    #[serde(rename = "type")]
    pub kind: DiscountType,
    /// Percent or whole rupiah, by `type`.
    #[schemars(with = "f64")]
    pub value: Value,
    pub max_amount: Option<Rupiah>,
    pub min_purchase: Option<Rupiah>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Period {
    pub start_date: NaiveDate,
    /// Last day on which it can be used.
    pub end_date: NaiveDate,
}

/// 3 to 32 characters of A–Z, 0–9, - and _; stored in upper case.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(from = "String")]
pub struct Code(
    #[schemars(with = "String", regex(pattern = r"^\s*[A-Za-z0-9_-]{3,32}\s*$"))] String,
);

impl From<String> for Code {
    fn from(text: String) -> Self {
        Self(text.trim().to_ascii_uppercase())
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct DiscountForm {
    #[serde(rename = "type")]
    pub kind: DiscountType,
    /// Percent with at most two decimals or whole rupiah, by `type`.
    #[schemars(with = "f64", range(min = 0))]
    pub value: serde_json::Number,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub max_amount: Patch<i64>,
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000_000_i64))]
    pub min_purchase: Patch<i64>,
}

impl DiscountForm {
    /// The stored value: basis points or rupiah. `None` if invalid.
    pub fn stored(kind: DiscountType, value: &serde_json::Number) -> Option<i64> {
        match kind {
            DiscountType::Percentage => {
                let rate = Rate::percent(value.as_f64()?)?;
                Some(rate.points().into()).filter(|points| *points > 0)
            }
            DiscountType::Fixed => value.as_i64().filter(|v| (1..=1_000_000_000_000).contains(v)),
        }
    }
}

/// Optional fields that are left out of an update keep their value; null clears them.
#[derive(Deserialize, JsonSchema)]
pub struct PromotionForm {
    pub title: Name,
    pub code: Code,
    pub description: Description,
    /// Null: no limit. A new promotion states it.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub quota: Patch<i32>,
    pub target_type: TargetType,
    /// Required unless `target_type` is `all` or stays the same.
    #[serde(default)]
    #[schemars(length(max = 200), extend("uniqueItems" = true))]
    pub target_ids: Patch<Vec<Uuid>>,
    pub status: PromotionStatus,
    pub tnc: Description,
    pub discount: DiscountForm,
    /// `platform` if it is left out. The partner pays for it only on its own sailings: `partner`
    /// needs another `target_type` than `all`.
    #[serde(default)]
    pub funded_by: Patch<FundedBy>,
    pub period: Period,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_customer_limit: Patch<i32>,
    #[serde(default)]
    pub image_file_id: Patch<String>,
}

impl Input for PromotionForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let discount = &value["discount"];
        let kind = discount["type"].as_str().and_then(|word| word.parse().ok());
        if let (Some(kind), Some(number)) = (kind, discount["value"].as_number())
            && DiscountForm::stored(kind, number).is_none()
            && !faults.iter().any(|fault| fault.field == "discount.value")
        {
            let message = text(
                "This must be a percentage up to 100 with at most two decimals, or whole rupiah.",
                "Persentase sampai 100 dengan dua desimal, atau rupiah bulat.",
            );
            faults.push(Fault::new("discount.value", "range", message));
        }
        let date = |name: &str| value["period"][name].as_str()?.parse::<NaiveDate>().ok();
        if let (Some(start), Some(end)) = (date("start_date"), date("end_date"))
            && end < start
        {
            let message = text("The end is before the start.", "Berakhir sebelum dimulai.");
            faults.push(Fault::new("period.end_date", "order", message));
        }
    }
}

/// A promotion to create. The targets are required with the type.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct NewPromotion(pub PromotionForm);

impl Input for NewPromotion {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        PromotionForm::check(value, faults);
        // Null must be given explicitly.
        if value.get("quota").is_none() {
            let message = text("This is required.", "Wajib diisi.");
            faults.push(Fault::new("quota", "required", message));
        }
        let target = value["target_type"].as_str();
        let none = value["target_ids"].as_array().is_none_or(Vec::is_empty);
        if target.is_some_and(|target| target != TargetType::All.as_str()) && none {
            faults.push(targets_required());
        }
    }
}

fn targets_required() -> Fault {
    let message = text("State the targets.", "Sebutkan sasarannya.");
    Fault::new("target_ids", "required", message)
}

/// The values of a promotion after a creation or an update.
pub struct PromotionValues {
    pub title: String,
    pub code: String,
    pub description: String,
    pub quota: Option<i32>,
    pub per_customer_limit: Option<i32>,
    pub target_type: TargetType,
    pub target_ids: Vec<Uuid>,
    pub status: PromotionStatus,
    pub tnc: String,
    pub discount_type: DiscountType,
    pub discount_value: i64,
    pub max_amount: Option<Rupiah>,
    pub min_purchase: Option<Rupiah>,
    pub funded_by: FundedBy,
    pub period: Period,
    pub image: Patch<String>,
}

impl PromotionForm {
    /// The values after the form was applied to what there was before.
    pub fn over(self, before: Option<&Promotion>) -> Result<PromotionValues> {
        let discount_value = DiscountForm::stored(self.discount.kind, &self.discount.value);
        let discount_value =
            discount_value.ok_or_else(|| Error::internal("a validated discount is invalid"))?;
        let funded_by = self.funded_by.over(before.map(|before| before.funded_by));
        // Targets of another type are not kept.
        let kept = before.filter(|before| before.target_type == self.target_type);
        let target_ids = self.target_ids.over(kept.map(Promotion::targets)).unwrap_or_default();
        let values = PromotionValues {
            title: self.title.to_string(),
            code: self.code.0,
            description: self.description.to_string(),
            quota: self.quota.over(before.and_then(|before| before.quota)),
            per_customer_limit: self
                .per_customer_limit
                .over(before.and_then(|before| before.per_customer_limit)),
            target_type: self.target_type,
            target_ids,
            status: self.status,
            tnc: self.tnc.to_string(),
            discount_type: self.discount.kind,
            discount_value,
            max_amount: rupiah(self.discount.max_amount, before.and_then(|b| b.max_amount)),
            min_purchase: rupiah(self.discount.min_purchase, before.and_then(|b| b.min_purchase)),
            funded_by: funded_by.unwrap_or(FundedBy::Platform),
            period: self.period,
            image: self.image_file_id,
        };
        match values.fault() {
            Some(fault) => Err(Error::Invalid(vec![fault])),
            None => Ok(values),
        }
    }
}

fn rupiah(amount: Patch<i64>, before: Option<Rupiah>) -> Option<Rupiah> {
    amount.over(before.map(|before| before.0)).map(Rupiah)
}

impl PromotionValues {
    /// What is wrong with values that depend on each other, some of them kept from before.
    fn fault(&self) -> Option<Fault> {
        let lacks_targets = self.target_type != TargetType::All && self.target_ids.is_empty();
        lacks_targets.then(targets_required)
    }
}

crate::string_enum! {
    pub enum PromotionSort {
        Title = "title",
        Code = "code",
        StartDate = "start_date",
        EndDate = "end_date",
        CreatedAt = "created_at",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct PromotionsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub status: Option<PromotionStatus>,
    pub state: Option<PromotionState>,
    pub target_type: Option<TargetType>,
    pub funded_by: Option<FundedBy>,
    pub sort_by: Option<PromotionSort>,
}

impl Input for PromotionsQuery {}

/// Query of the public list.
#[derive(Deserialize, JsonSchema)]
pub struct RunningQuery {
    #[serde(flatten)]
    pub paging: Paging,
}

impl Input for RunningQuery {}
