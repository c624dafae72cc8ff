//! Settlement configuration of partners: commission and payout schedule.
//!
//! Each value is the partner's own, else the configured default, else a built-in default. A
//! partner's commission rate is stored with the partner.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{
    db::{Db, Tx},
    error::{Fault, Result},
    ids::{self, Uuid},
    lang::text,
    money::{Rate, Rupiah},
    patch::Patch,
    schema::Input,
};

/// Built-in commission rate in basis points.
const COMMISSION: i32 = 1_000;

crate::string_enum! {
    pub enum Schedule {
        Manual = "manual",
        Daily = "daily",
        Weekly = "weekly",
        Monthly = "monthly",
    }
}

/// Configuration of a partner, or the default.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettlementConfiguration {
    /// Null for the default.
    pub mitra_id: Option<Uuid>,
    pub commission_rate: Rate,
    /// Percent, for bookings that resellers have sold; null: `commission_rate`.
    pub resale_commission_rate: Option<Rate>,
    pub schedule: Schedule,
    /// Day of the week (Monday is 1) or of the month.
    pub day: Option<i32>,
    /// Days after departure before a scheduled settlement includes a booking.
    pub hold_days: i32,
    /// Smaller amounts wait for the next scheduled settlement. Whole rupiah.
    pub minimum_amount: Rupiah,
    /// Fields for which the partner uses the default.
    pub inherited: Vec<&'static str>,
    /// Day on which the schedule was last changed.
    #[serde(skip)]
    pub scheduled_on: Option<NaiveDate>,
}

/// Fields that are left out keep their value; null means the default.
#[derive(Deserialize, JsonSchema)]
pub struct SettlementConfigurationForm {
    /// Null or left out: changes the default.
    pub mitra_id: Option<Uuid>,
    #[serde(default)]
    pub commission_rate: Patch<Rate>,
    /// For bookings that resellers sell. Null in the default: `commission_rate`.
    #[serde(default)]
    pub resale_commission_rate: Patch<Rate>,
    #[serde(default)]
    pub schedule: Patch<Schedule>,
    /// 1 to 7 for `weekly` (Monday is 1), 1 to 28 for `monthly`; requires `schedule`.
    #[serde(default)]
    #[schemars(range(min = 1, max = 28))]
    pub day: Option<i32>,
    #[serde(default)]
    #[schemars(range(min = 0, max = 365))]
    pub hold_days: Patch<i32>,
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub minimum_amount: Patch<Rupiah>,
}

impl Input for SettlementConfigurationForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let day = value["day"].as_i64();
        let mut fault = |field, rule, en, id| faults.push(Fault::new(field, rule, text(en, id)));
        match (value["schedule"].as_str(), day) {
            (Some("weekly" | "monthly"), None) => {
                fault("day", "required", "State the day.", "Sebutkan harinya.");
            }
            (Some("weekly"), Some(8..)) => {
                fault(
                    "day",
                    "max",
                    "The day of a week is 1 to 7.",
                    "Hari dalam seminggu adalah 1 sampai 7.",
                );
            }
            (None, Some(_)) => {
                let id = "Hari memerlukan jadwal.";
                fault("schedule", "required", "A day requires a schedule.", id);
            }
            _ => {}
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SettlementConfigurationQuery {
    /// UUID of the partner. Left out: the default. Ignored for partners, who get their own.
    pub mitra_id: Option<Uuid>,
}

impl Input for SettlementConfigurationQuery {}

/// Stored values; null means the default.
#[derive(Clone, Debug, Default, crate::kernel::db::FromRow)]
pub struct Terms {
    pub commission_rate: Option<Rate>,
    pub resale_commission_rate: Option<Rate>,
    pub schedule: Option<Schedule>,
    pub day: Option<i32>,
    pub scheduled_on: Option<NaiveDate>,
    pub hold_days: Option<i32>,
    pub minimum_amount: Option<Rupiah>,
}

impl Terms {
    /// The values after an update made today.
    pub fn changed(self, form: &SettlementConfigurationForm, today: NaiveDate) -> Self {
        let (schedule, day, scheduled_on) = match form.schedule {
            Patch::Keep => (self.schedule, self.day, self.scheduled_on),
            Patch::Clear => (None, None, Some(today)),
            Patch::Set(schedule) => {
                let dated = matches!(schedule, Schedule::Weekly | Schedule::Monthly);
                let day = form.day.filter(|_| dated);
                let same = self.schedule == Some(schedule) && self.day == day;
                let since = self.scheduled_on.filter(|_| same).unwrap_or(today);
                (Some(schedule), day, Some(since))
            }
        };
        Self {
            commission_rate: form.commission_rate.clone().over(self.commission_rate),
            resale_commission_rate: form
                .resale_commission_rate
                .clone()
                .over(self.resale_commission_rate),
            schedule,
            day,
            scheduled_on,
            hold_days: form.hold_days.clone().over(self.hold_days),
            minimum_amount: form.minimum_amount.clone().over(self.minimum_amount),
        }
    }

    /// Combines these values with the default.
    pub fn over(self, default: Self, mitra_id: Option<Uuid>) -> SettlementConfiguration {
        let own = mitra_id.is_some();
        let inherited = [
            ("commission_rate", self.commission_rate.is_none()),
            ("resale_commission_rate", self.resale_commission_rate.is_none()),
            ("schedule", self.schedule.is_none()),
            ("hold_days", self.hold_days.is_none()),
            ("minimum_amount", self.minimum_amount.is_none()),
        ];
        let commission = self.commission_rate.or(default.commission_rate);
        let timing = if self.schedule.is_some() { &self } else { &default };
        SettlementConfiguration {
            mitra_id,
            commission_rate: commission.unwrap_or_else(standard_commission),
            resale_commission_rate: self.resale_commission_rate.or(default.resale_commission_rate),
            schedule: timing.schedule.unwrap_or(Schedule::Manual),
            day: timing.day,
            // The later change counts.
            scheduled_on: timing.scheduled_on.max(self.scheduled_on),
            hold_days: self.hold_days.or(default.hold_days).unwrap_or(0),
            minimum_amount: self.minimum_amount.or(default.minimum_amount).unwrap_or(Rupiah::ZERO),
            inherited: inherited.into_iter().filter(|i| own && i.1).map(|i| i.0).collect(),
        }
    }
}

pub fn standard_commission() -> Rate {
    Rate::basis_points(COMMISSION).unwrap_or_default()
}

const OF: &str = "SELECT p.commission_rate, c.resale_commission_rate, c.schedule, c.day,
      c.scheduled_on, c.hold_days, c.minimum_amount
    FROM partners p LEFT JOIN settlement_configurations c ON c.partner_id = p.id
    WHERE p.id = $1";
const DEFAULT: &str = "SELECT commission_rate, resale_commission_rate, schedule, day, scheduled_on,
      hold_days, minimum_amount
    FROM settlement_configurations WHERE partner_id IS NULL";

/// The effective configuration of a partner, or the default.
pub async fn get(db: &Db, partner: Option<Uuid>) -> Result<SettlementConfiguration> {
    let default: Option<Terms> = db.sql(DEFAULT).maybe().await?;
    let own = match partner {
        Some(partner) => db.sql(OF).bind(partner).maybe().await?,
        None => None,
    };
    Ok(layered(partner, own, default))
}

fn layered(
    partner: Option<Uuid>,
    own: Option<Terms>,
    default: Option<Terms>,
) -> SettlementConfiguration {
    let (own, default) = (own.unwrap_or_default(), default.unwrap_or_default());
    own.over(default, partner)
}

/// Stores an update; returns the configuration before and after. Bookings that were sold before
/// keep their commission rate.
pub async fn change(
    tx: &mut Tx,
    form: &SettlementConfigurationForm,
    today: NaiveDate,
    now: DateTime<Utc>,
) -> Result<(SettlementConfiguration, SettlementConfiguration)> {
    tx.lock("settlement_configuration").await?;
    let partner = form.mitra_id;
    let default: Option<Terms> = tx.sql(DEFAULT).maybe().await?;
    let own: Option<Terms> = match partner {
        Some(partner) => tx.sql(OF).bind(partner).maybe().await?,
        None => default.clone(),
    };
    let own = own.unwrap_or_default();
    let changed = own.clone().changed(form, today);
    save(tx, partner, &changed, now).await?;
    Ok(match partner {
        Some(_) => {
            let before = layered(partner, Some(own), default.clone());
            (before, layered(partner, Some(changed), default))
        }
        None => (layered(None, None, default), layered(None, None, Some(changed))),
    })
}

async fn save(tx: &mut Tx, partner: Option<Uuid>, terms: &Terms, now: DateTime<Utc>) -> Result<()> {
    let of_default = terms.commission_rate.filter(|_| partner.is_none());
    let statement = match partner {
        Some(_) => {
            tx.sql("UPDATE partners SET commission_rate = $1 WHERE id = $2")
                .bind(terms.commission_rate)
                .bind(partner)
                .run()
                .await?;
            "INSERT INTO settlement_configurations (id, partner_id, commission_rate, schedule, day,
               scheduled_on, hold_days, minimum_amount, updated_at, resale_commission_rate)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (partner_id) DO UPDATE SET
               resale_commission_rate = excluded.resale_commission_rate,
               schedule = excluded.schedule, day = excluded.day,
               scheduled_on = excluded.scheduled_on,
               hold_days = excluded.hold_days, minimum_amount = excluded.minimum_amount,
               updated_at = excluded.updated_at"
        }
        None => {
            "INSERT INTO settlement_configurations (id, partner_id, commission_rate, schedule, day,
               scheduled_on, hold_days, minimum_amount, updated_at, resale_commission_rate)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT ((partner_id IS NULL)) WHERE partner_id IS NULL DO UPDATE SET
               commission_rate = excluded.commission_rate,
               resale_commission_rate = excluded.resale_commission_rate,
               schedule = excluded.schedule,
               day = excluded.day, scheduled_on = excluded.scheduled_on,
               hold_days = excluded.hold_days, minimum_amount = excluded.minimum_amount,
               updated_at = excluded.updated_at"
        }
    };
    tx.sql(statement)
        .bind(ids::fresh())
        .bind(partner)
        .bind(of_default)
        .bind(terms.schedule)
        .bind(terms.day)
        .bind(terms.scheduled_on)
        .bind(terms.hold_days)
        .bind(terms.minimum_amount)
        .bind(now)
        .bind(terms.resale_commission_rate)
        .run()
        .await?;
    Ok(())
}

/// The commission of these partners for bookings that resellers sell: the partner's own rate for
/// them, else the default's, else the usual commission. Unknown partners are left out.
pub async fn resale_commissions(tx: &mut Tx, partners: &[Uuid]) -> Result<HashMap<Uuid, Rate>> {
    if partners.is_empty() {
        return Ok(HashMap::new());
    }
    let rates = tx.sql_among(
        "SELECT p.id, COALESCE(c.resale_commission_rate, d.resale_commission_rate,
           p.commission_rate, d.commission_rate)
         FROM partners p LEFT JOIN settlement_configurations c ON c.partner_id = p.id
         LEFT JOIN settlement_configurations d ON d.partner_id IS NULL
         WHERE p.id IN",
        partners.len(),
        "",
    );
    let rates: Vec<(Uuid, Option<Rate>)> =
        partners.iter().fold(rates, |rates, id| rates.bind(*id)).all().await?;
    let or_standard =
        |(id, rate): (Uuid, Option<Rate>)| (id, rate.unwrap_or_else(standard_commission));
    Ok(rates.into_iter().map(or_standard).collect())
}

/// The same of a partner that has no rates of its own.
pub async fn default_resale_commission(tx: &mut Tx) -> Result<Rate> {
    let default: Option<Terms> = tx.sql(DEFAULT).maybe().await?;
    let default = default.unwrap_or_default();
    let rate = default.resale_commission_rate.or(default.commission_rate);
    Ok(rate.unwrap_or_else(standard_commission))
}

#[derive(crate::kernel::db::FromRow)]
struct Owed {
    partner_id: Uuid,
    #[row(flatten)]
    terms: Terms,
    last_run: Option<NaiveDate>,
}

/// The configuration of each partner that is owed money and has a schedule, with the last day that
/// was settled.
pub async fn scheduled(db: &Db) -> Result<Vec<(Uuid, SettlementConfiguration, Option<NaiveDate>)>> {
    let default: Option<Terms> = db.sql(DEFAULT).maybe().await?;
    let default = default.unwrap_or_default();
    let owed: Vec<Owed> = db
        .sql(
            "SELECT p.id AS partner_id, p.commission_rate, c.resale_commission_rate, c.schedule,
               c.day, c.scheduled_on, c.hold_days, c.minimum_amount,
               (SELECT MAX(r.due_on) FROM settlement_runs r WHERE r.partner_id = p.id) AS last_run
             FROM partners p LEFT JOIN settlement_configurations c ON c.partner_id = p.id
             WHERE COALESCE(c.schedule, $1, 'manual') <> 'manual' AND EXISTS
               (SELECT 1 FROM partner_dues d
                WHERE d.partner_id = p.id AND d.settlement_id IS NULL)",
        )
        .bind(default.schedule)
        .all()
        .await?;
    let held = owed.into_iter().map(|owed| {
        let configuration = owed.terms.over(default.clone(), Some(owed.partner_id));
        (owed.partner_id, configuration, owed.last_run)
    });
    Ok(held.collect())
}
