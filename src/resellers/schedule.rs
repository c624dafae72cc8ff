//! Scheduled invoices.

use std::collections::HashMap;

use chrono::{Datelike, Days, NaiveDate};

use super::{
    invoices::{self, Period},
    model::InvoiceSchedule,
    store,
};
use crate::{
    app::App,
    kernel::{
        error::Result,
        ids::Uuid,
        set_aside::{self, RowJob},
    },
    ledger::Month,
};

const JOB: RowJob = RowJob::InvoiceResellers;

/// The period that ended last: the week before this one, or the month before this one.
fn last_period(schedule: InvoiceSchedule, today: NaiveDate) -> (NaiveDate, NaiveDate) {
    match schedule {
        InvoiceSchedule::Weekly => {
            let monday = today - Days::new(today.weekday().num_days_from_monday().into());
            (monday - Days::new(7), monday - Days::new(1))
        }
        InvoiceSchedule::Monthly => {
            let month = Month::of(today).previous();
            (month.first_day(), month.last_day())
        }
    }
}

/// Invoices every period that has ended, including missed ones. A reseller whose invoice fails does
/// not affect others; it is retried with growing pauses.
pub async fn run(app: &App) -> Result<u64> {
    let (today, now) = (app.today(), app.clock.now());
    let mut due = HashMap::new();
    for (id, schedule, invoiced_until) in store::schedules(&app.db).await? {
        let (start, end) = last_period(schedule, today);
        if invoiced_until.is_none_or(|last| last < end) {
            due.insert(id, (start, end));
        }
    }
    let one = |reseller: Uuid| {
        let due = due.get(&reseller).copied();
        async move {
            match due {
                Some(period) => invoice(app, reseller, period).await,
                None => Ok(false),
            }
        }
    };
    let noted = set_aside::noted(&app.db, JOB).await?;
    let fresh = due.keys().filter(|id| !noted.contains(id)).copied().collect();
    let made = set_aside::each(&app.db, JOB, fresh, 1, now, one).await?;
    Ok(made + set_aside::retry(&app.db, JOB, now, one).await?)
}

async fn invoice(app: &App, reseller: Uuid, (start, end): (NaiveDate, NaiveDate)) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    if !store::claim_invoice(&mut tx, reseller, end, now).await? {
        return Ok(false);
    }
    let reseller = store::get_in(&mut tx, reseller).await?;
    // Includes everything that is in no invoice, such as a refund after the invoice of its day.
    let period = Period { from: NaiveDate::default(), start, end };
    let made = invoices::make(&mut tx, &reseller, period, None, now).await?;
    tx.commit().await?;
    Ok(made.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_ends_with_a_week_or_a_month() {
        let period = |schedule, today: &str| {
            let (start, end) = last_period(schedule, today.parse().unwrap());
            format!("{start} {end}")
        };
        // 2026-11-16 is a Monday.
        for today in ["2026-11-16", "2026-11-19", "2026-11-22"] {
            assert_eq!(period(InvoiceSchedule::Weekly, today), "2026-11-09 2026-11-15");
        }
        assert_eq!(period(InvoiceSchedule::Weekly, "2026-11-15"), "2026-11-02 2026-11-08");
        for today in ["2026-11-01", "2026-11-30"] {
            assert_eq!(period(InvoiceSchedule::Monthly, today), "2026-10-01 2026-10-31");
        }
    }
}
