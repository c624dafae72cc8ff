//! Invoices of resellers.
//!
//! - An invoice has lines of `reseller_receivable`: bookings, moves and refunds. A line is in one
//!   invoice at most, by the primary key of `reseller_invoice_lines`.
//! - Payments, and invoices that are credits, settle the oldest open invoices first. What none has used
//!   up is `resellers.unapplied`.
//! - The reseller's row is locked for all of it. A sale needs the same lock for its posting, so no line
//!   appears meanwhile.

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::ResellerRow;
use crate::{
    kernel::{
        db::{Db, Tx},
        error::{Fault, Result},
        http::{Page, Pages},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        schema::Input,
    },
    ledger::Source,
};

crate::string_enum! {
    pub enum InvoiceStatus { Open = "open", Paid = "paid" }
}

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ResellerInvoice {
    pub id: Uuid,
    pub code: String,
    /// First day of the period.
    pub start_date: NaiveDate,
    /// Last day of the period.
    pub end_date: NaiveDate,
    /// The sum of its lines; negative: a credit. Whole rupiah.
    pub amount: Rupiah,
    /// What payments and credits have settled of it. Whole rupiah.
    pub paid: Rupiah,
    pub due_on: NaiveDate,
    pub status: InvoiceStatus,
    pub line_count: i64,
    /// The first ones: at most 1,000, and at most 2,000 of all invoices of a page. The statement has
    /// all.
    #[row(skip)]
    pub lines: Vec<ResellerInvoiceLine>,
    pub created_at: DateTime<Utc>,
}

/// A booking, a move or a refund.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ResellerInvoiceLine {
    #[serde(skip)]
    invoice_id: Uuid,
    pub posted_on: NaiveDate,
    pub source: Source,
    pub kind: String,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    /// The reseller's own reference of the booking.
    pub reseller_reference: Option<String>,
    /// Negative for a refund. Whole rupiah.
    pub amount: Rupiah,
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellerInvoiceForm {
    pub start_date: NaiveDate,
    /// Today or earlier.
    pub end_date: NaiveDate,
}

impl Input for ResellerInvoiceForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let (start, end) = (value["start_date"].as_str(), value["end_date"].as_str());
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            let message = text("The end is before the start.", "Berakhir sebelum dimulai.");
            faults.push(Fault::new("end_date", "min", message));
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellerInvoicesQuery {
    #[serde(flatten)]
    pub paging: Pages,
    pub status: Option<InvoiceStatus>,
}

impl Input for ResellerInvoicesQuery {}

macro_rules! invoice {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.code, v.start_date, v.end_date, v.amount, v.paid, v.due_on, v.status,
               (SELECT COUNT(*) FROM reseller_invoice_lines i WHERE i.invoice_id = v.id)
                 AS line_count,
               v.created_at
             FROM reseller_invoices v",
            $rest
        )
    };
}

/// The first `$1` + 1 lines of each invoice.
macro_rules! lines {
    () => {
        "SELECT i.invoice_id, l.posted_on, l.source, l.kind, l.booking_id,
           k.code AS booking_code, k.reseller_reference, l.amount
         FROM reseller_invoices v
         JOIN reseller_invoice_lines i ON i.invoice_id = v.id AND i.line_id <= COALESCE(
           (SELECT n.line_id FROM reseller_invoice_lines n WHERE n.invoice_id = v.id
            ORDER BY n.line_id LIMIT 1 OFFSET CAST($1 AS BIGINT)),
           (SELECT m.line_id FROM reseller_invoice_lines m WHERE m.invoice_id = v.id
            ORDER BY m.line_id DESC LIMIT 1))
         JOIN ledger_lines l ON l.id = i.line_id
         LEFT JOIN bookings k ON k.id = l.booking_id
         WHERE v.id IN"
    };
}

const IN_ORDER: &str = " ORDER BY i.invoice_id, i.line_id";

/// The last position of a line in a response with this many invoices. One of many thousand bookings
/// does not fit a response.
fn last_line(invoices: usize) -> i64 {
    const OF_ONE: usize = 1_000;
    const OF_ALL: usize = 2_000;
    (OF_ALL / invoices.max(1)).min(OF_ONE) as i64 - 1
}

pub async fn list(
    db: &Db,
    reseller: Uuid,
    query: &ResellerInvoicesQuery,
) -> Result<Page<ResellerInvoice>> {
    let paging = &query.paging;
    let (mut invoices, total) = db
        .list(invoice!(""))
        .filter("v.reseller_id = ?", Some(reseller))
        .filter("v.status = ?", query.status)
        .page(paging.sort(None, "v.created_at"), "v.id", paging.limit(), paging.offset())
        .await?;
    let ids: Vec<Uuid> = invoices.iter().map(|invoice: &ResellerInvoice| invoice.id).collect();
    if !ids.is_empty() {
        let lines = db.sql_among(lines!(), ids.len(), IN_ORDER).bind(last_line(ids.len()));
        let lines = ids.iter().fold(lines, |lines, id| lines.bind(*id)).long().all().await?;
        attach(&mut invoices, lines);
    }
    Ok(paging.page((invoices, total)))
}

fn attach(invoices: &mut [ResellerInvoice], lines: Vec<ResellerInvoiceLine>) {
    let mut by_invoice = HashMap::<Uuid, Vec<_>>::new();
    for line in lines {
        by_invoice.entry(line.invoice_id).or_default().push(line);
    }
    for invoice in invoices {
        invoice.lines = by_invoice.remove(&invoice.id).unwrap_or_default();
    }
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<ResellerInvoice> {
    let invoice: ResellerInvoice = tx.sql(invoice!(" WHERE v.id = $1")).bind(id).one().await?;
    let mut invoices = [invoice];
    let lines = tx.sql_among(lines!(), 1, IN_ORDER).bind(last_line(1)).bind(id).all().await?;
    attach(&mut invoices, lines);
    let [invoice] = invoices;
    Ok(invoice)
}

/// The lines of a reseller until a day that are in no invoice. Transfers settle invoices and are in
/// none.
macro_rules! uninvoiced {
    ($head:literal) => {
        concat!(
            $head,
            " FROM ledger_lines l
              WHERE l.reseller_id = $1 AND l.posted_on BETWEEN $2 AND $3
                AND l.source <> 'reseller_payment'
                AND NOT EXISTS (SELECT 1 FROM reseller_invoice_lines i WHERE i.line_id = l.id)"
        )
    };
}

#[derive(crate::kernel::db::FromRow)]
struct Uninvoiced {
    amount: Rupiah,
    first: Option<NaiveDate>,
}

/// The days of an invoice, and the day from which lines are taken that no invoice has.
pub struct Period {
    pub from: NaiveDate,
    pub start: NaiveDate,
    pub end: NaiveDate,
}

/// Makes an invoice of all lines of the period that are in none; `None` if there are none. The
/// reseller's row must be locked.
pub async fn make(
    tx: &mut Tx,
    reseller: &ResellerRow,
    period: Period,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Option<Uuid>> {
    let Uninvoiced { amount, first } = tx
        .sql(uninvoiced!(
            "SELECT CAST(COALESCE(SUM(l.amount), 0) AS BIGINT) AS amount,
               MIN(l.posted_on) AS first"
        ))
        .bind(reseller.id)
        .bind(period.from)
        .bind(period.end)
        .one()
        .await?;
    let Some(first) = first else { return Ok(None) };
    let id = ids::fresh();
    let due_on = tx.date_of(now) + Days::new(u64::from(reseller.terms_days.unsigned_abs()));
    let status = if amount > Rupiah::ZERO { InvoiceStatus::Open } else { InvoiceStatus::Paid };
    tx.sql(
        "INSERT INTO reseller_invoices (id, code, reseller_id, start_date, end_date, amount,
           due_on, status, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id)
    .bind(ids::fresh_code("INV"))
    .bind(reseller.id)
    .bind(period.start.min(first))
    .bind(period.end)
    .bind(amount)
    .bind(due_on)
    .bind(status)
    .bind(by)
    .bind(now)
    .run()
    .await?;
    tx.sql(concat!(
        "INSERT INTO reseller_invoice_lines (line_id, invoice_id) ",
        uninvoiced!("SELECT l.id, $4")
    ))
    .bind(reseller.id)
    .bind(period.from)
    .bind(period.end)
    .bind(id)
    .run()
    .await?;
    // A credit pays for others; a new invoice may be paid already.
    settle(tx, reseller.id, (-amount).max(Rupiah::ZERO)).await?;
    Ok(Some(id))
}

#[derive(crate::kernel::db::FromRow)]
struct Owed {
    id: Uuid,
    unpaid: Rupiah,
}

/// Settles the oldest open invoices with this amount and what was not used up before. The reseller's
/// row must be locked.
pub async fn settle(tx: &mut Tx, reseller: Uuid, amount: Rupiah) -> Result<()> {
    let unapplied: Rupiah =
        tx.sql("SELECT unapplied FROM resellers WHERE id = $1").bind(reseller).scalar().await?;
    let mut left = unapplied + amount;
    let open: Vec<Owed> = tx
        .sql(
            "SELECT id, amount - paid AS unpaid FROM reseller_invoices
             WHERE reseller_id = $1 AND status = 'open' ORDER BY due_on, created_at, id",
        )
        .bind(reseller)
        .all()
        .await?;
    for Owed { id, unpaid } in open {
        let used = unpaid.min(left);
        if used <= Rupiah::ZERO {
            break;
        }
        tx.sql(
            "UPDATE reseller_invoices SET paid = paid + $1,
               status = CASE WHEN paid + $1 >= amount THEN 'paid' ELSE 'open' END
             WHERE id = $2",
        )
        .bind(used)
        .bind(id)
        .run()
        .await?;
        left = left - used;
    }
    tx.sql("UPDATE resellers SET unapplied = $1 WHERE id = $2")
        .bind(left)
        .bind(reseller)
        .run()
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn a_page_has_at_most_two_thousand_lines() {
        assert_eq!(
            [1, 2, 20, 100].map(|invoices| last_line(invoices) + 1),
            [1_000, 1_000, 100, 20]
        );
        assert!((1..=100).all(|invoices| (last_line(invoices) + 1) * invoices as i64 <= 2_000));
    }
}
