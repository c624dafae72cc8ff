//! Handlers of months.

use std::collections::BTreeMap;

use axum::extract::State;
use chrono::Datelike;

use super::files::{maybe, word};
use crate::{
    app::App,
    finance::{
        model::{FinancePeriod, PeriodRow, PeriodStatus, PeriodsQuery, ReopenForm},
        periods, store,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        db::Total,
        error::{Error, Result},
        http::{OptionalBody, Page, Path, Query, Reply},
        ids::Uuid,
    },
    ledger::Month,
    reports::{self, Accepts, Format, Report, Sheet},
};

/// From the month of the first posting to the current one, newest first.
pub async fn list_periods(
    State(app): State<App>,
    accepts: Accepts,
    Query(query): Query<PeriodsQuery>,
) -> Result<Report<Page<FinancePeriod>>> {
    let rows = store::periods(&app.db).await?;
    let first = store::first_posting(&app.db).await?.map(Month::of);
    let first = first.into_iter().chain(rows.iter().map(|row| Month::of(row.month))).min();
    let current = Month::of(app.today());
    let mut months = Vec::new();
    let mut month = current;
    while month >= first.unwrap_or(current) {
        months.push(view(month, &rows));
        month = month.previous();
    }
    let paging = &query.paging;
    Ok(match accepts.or(query.format) {
        Format::Json => {
            let total = Total::exactly(months.len() as i64);
            let skip = usize::try_from(paging.offset()).unwrap_or(usize::MAX);
            let size = usize::try_from(paging.limit()).unwrap_or(0);
            let page = months.into_iter().skip(skip).take(size).collect();
            Report::Json(paging.page((page, total)))
        }
        format => {
            let rows = months.iter().map(|period| {
                vec![
                    word(period.month),
                    word(period.status),
                    maybe(period.closed_at.map(|at| at.to_rfc3339())),
                    maybe(period.reopened_at.map(|at| at.to_rfc3339())),
                    maybe(period.reason.as_deref()),
                ]
            });
            let sheet = Sheet {
                name: "Periods",
                header: &["month", "status", "closed_at", "reopened_at", "reason"],
                rows: rows.collect(),
            };
            reports::file("dermaga-periods".to_owned(), format, vec![sheet]).await?
        }
    })
}

/// A month is closed if it or a later one was closed.
fn view(month: Month, rows: &[PeriodRow]) -> FinancePeriod {
    let by_month: BTreeMap<_, _> = rows.iter().map(|row| (Month::of(row.month), row)).collect();
    let last = by_month.iter().rev().find(|(_, row)| row.closed_at.is_some());
    let is_closed = last.is_some_and(|(last, _)| month <= *last);
    let row = by_month.get(&month);
    FinancePeriod {
        month,
        status: if is_closed { PeriodStatus::Closed } else { PeriodStatus::Open },
        closed_at: row.and_then(|row| row.closed_at),
        closed_by: row.and_then(|row| row.closed_by),
        reopened_at: row.and_then(|row| row.reopened_at),
        reopened_by: row.and_then(|row| row.reopened_by),
        reason: row.and_then(|row| row.reason.clone()),
    }
}

pub async fn close_period(
    State(app): State<App>,
    caller: Caller,
    Path(month): Path<String>,
) -> Result<Reply<FinancePeriod>> {
    let period = change(&app, &caller, &month, None).await?;
    Ok(Reply::data(period).saying("The month has been closed.", "Bulan ditutup."))
}

pub async fn reopen_period(
    State(app): State<App>,
    caller: Caller,
    Path(month): Path<String>,
    OptionalBody(form): OptionalBody<ReopenForm>,
) -> Result<Reply<FinancePeriod>> {
    let reason = form.reason.as_deref().unwrap_or_default();
    let period = change(&app, &caller, &month, Some(reason)).await?;
    Ok(Reply::data(period).saying("The month has been reopened.", "Bulan dibuka kembali."))
}

/// Reopens the month with a reason, or closes it.
async fn change(
    app: &App,
    caller: &Caller,
    month: &str,
    reason: Option<&str>,
) -> Result<FinancePeriod> {
    let month: Month = month.parse().map_err(|()| Error::NotFound)?;
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let before = view(month, &store::periods_in(&mut tx).await?);
    let by = caller.person.id;
    let action = match reason {
        None => {
            periods::close(app, &mut tx, month, by).await?;
            "finance_period.closed"
        }
        Some(reason) => {
            periods::reopen(app, &mut tx, month, by, reason).await?;
            "finance_period.reopened"
        }
    };
    let after = view(month, &store::periods_in(&mut tx).await?);
    tx.record(Change {
        action,
        entity: "finance_period",
        id: audit_id(month),
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(after)
}

/// The audit log knows records by id, and a month has none: `2026-11` is `…-000000202611`.
fn audit_id(month: Month) -> Uuid {
    let day = month.first_day();
    let digits = format!("{:04}{:02}", day.year(), day.month());
    Uuid::from_u128(u128::from_str_radix(&digits, 16).unwrap_or_default())
}
