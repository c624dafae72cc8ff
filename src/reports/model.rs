//! Types of reports.

use std::ops::AddAssign;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rules::{ComparisonMode, LONGEST, Percent, PeriodType, Window};
use crate::kernel::{error::Fault, http::Pages, lang::text, schema::Input};

/// Sums of sales and refunds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::kernel::db::FromRow)]
pub struct Sums {
    pub bookings: i64,
    pub passengers: i64,
    pub gross: i64,
    pub discount: i64,
    pub tax: i64,
    pub commission: i64,
    pub partner_net: i64,
    pub refunds: i64,
    /// The tax in the refunds.
    pub refund_tax: i64,
    /// What travellers paid beyond the gross, to resellers. Only in figures of a partner.
    pub surcharge: i64,
    /// What is left to resellers. Only in `reseller_days`.
    #[row(skip)]
    pub margin: i64,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, more: Self) {
        self.bookings += more.bookings;
        self.passengers += more.passengers;
        self.gross += more.gross;
        self.discount += more.discount;
        self.tax += more.tax;
        self.commission += more.commission;
        self.partner_net += more.partner_net;
        self.refunds += more.refunds;
        self.refund_tax += more.refund_tax;
        self.surcharge += more.surcharge;
        self.margin += more.margin;
    }
}

/// A figure and that of the compared period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Figure {
    pub current: i64,
    pub previous: i64,
    /// Null if the previous figure is 0.
    pub change_percent: Option<Percent>,
}

impl Figure {
    pub fn new(current: i64, previous: i64) -> Self {
        Self { current, previous, change_percent: Percent::change(current, previous) }
    }
}

crate::string_enum! {
    pub enum Format { Json = "json", Csv = "csv", Xlsx = "xlsx" }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReportQuery {
    pub period_type: PeriodType,
    pub comparison_mode: ComparisonMode,
    /// A day of the period. Default: today. Required for `Custom`.
    pub start_date: Option<NaiveDate>,
    /// Last day of a `Custom` period of at most five years.
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for ReportQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        custom_days(value, faults);
    }
}

fn custom_days(value: &Value, faults: &mut Vec<Fault>) {
    if value["period_type"] != PeriodType::Custom.as_str() {
        return;
    }
    let day = |name: &str| value[name].as_str().and_then(|day| day.parse::<NaiveDate>().ok());
    let mut fault = |field, rule, en, id| faults.push(Fault::new(field, rule, text(en, id)));
    for name in ["start_date", "end_date"] {
        if value[name].is_null() {
            let id = "Periode khusus memerlukan tanggal ini.";
            fault(name, "required", "A custom period requires this date.", id);
        }
    }
    let Some((start, end)) = day("start_date").zip(day("end_date")) else { return };
    if end < start {
        fault("end_date", "min", "The end is before the start.", "Berakhir sebelum dimulai.");
    } else if start.checked_add_months(LONGEST).is_none_or(|latest| end >= latest) {
        fault(
            "end_date",
            "max",
            "A period has at most five years.",
            "Periode paling lama lima tahun.",
        );
    }
}

/// Query of the paged reports by partner and by reseller.
#[derive(Deserialize, JsonSchema)]
pub struct PagedReportQuery {
    #[serde(flatten)]
    pub report: ReportQuery,
    #[serde(flatten)]
    pub paging: Pages,
}

impl Input for PagedReportQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        custom_days(value, faults);
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Overview {
    pub as_of: DateTime<Utc>,
    pub period: Window,
    pub previous: Window,
    /// Money received for bookings, without deducting refunds. Includes the paid difference of a
    /// reschedule, and money that was paid too much, twice or too late as soon as it is owed back.
    pub gross_revenue: Figure,
    /// Of the bookings sold; a reschedule counts with the change of the price.
    pub discount: Figure,
    /// Of the bookings sold; a reschedule counts with the change of the price.
    pub tax: Figure,
    /// Money paid back, less transfers that bounced.
    pub refunds: Figure,
    /// The tax in the refunds.
    pub refund_tax: Figure,
    /// Gross revenue less refunds, and less the tax that is not refunded.
    pub net_revenue: Figure,
    /// As sold; `commission_earned` has what the books have.
    pub commission: Figure,
    /// As sold.
    pub partner_payable: Figure,
    /// Commission and fees by the books: of journeys that took place and of money that was kept.
    pub commission_earned: Figure,
    /// Tax that became due by the books, whether or not it was paid to the state yet.
    pub tax_due: Figure,
    /// Discounts that the platform has paid for.
    pub promotion_cost: Figure,
    /// What was left to resellers, by the books.
    pub reseller_margin: Figure,
    /// What payment providers have charged.
    pub gateway_fees: Figure,
    /// Commission earned less promotions, margins of resellers, fees of providers and banks, and losses.
    pub platform_income: Figure,
    pub bookings: Figure,
    pub passengers: Figure,
    pub average_booking: Figure,
    pub series: Vec<Point>,
}

/// Figures of a day, or of a month in long periods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Point {
    pub bucket: String,
    pub gross_revenue: i64,
    pub bookings: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct Breakdown {
    pub as_of: DateTime<Utc>,
    pub period: Window,
    pub previous: Window,
    pub total: Figure,
    pub items: Vec<Slice>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Slice {
    pub key: String,
    pub label: String,
    pub revenue: Figure,
    pub bookings: Figure,
    /// Share of the total of the current period.
    pub share_percent: Percent,
}

/// Revenue by reseller.
#[derive(Serialize, JsonSchema)]
pub struct ResellerBreakdown {
    pub as_of: DateTime<Utc>,
    pub period: Window,
    pub previous: Window,
    pub total: Figure,
    pub items: Vec<ResellerSlice>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResellerSlice {
    #[serde(flatten)]
    pub slice: Slice,
    pub passengers: Figure,
    /// What the platform leaves to the reseller, as sold; a reschedule counts with the change.
    pub margin: Figure,
    /// Money credited to the account of the reseller.
    pub refunds: Figure,
}
