//! SQL of what the clerk reads: balances, entries, statements, taxes and reconciliation.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::model::{
    AccountBalance, EntriesQuery, EntryRow, ReconciledDay, ReconciledTotal, StatementRow,
    TaxOfMonth,
};
use crate::{
    kernel::{
        db::{Db, Total},
        error::{Error, Result},
        ids::Uuid,
        money::{BaseFactor, Rate, Rupiah},
    },
    ledger::{Month, Source},
};

/// Balances of all accounts before `start`, and what was posted until `end`.
pub async fn trial_balance(
    db: &Db,
    start: NaiveDate,
    end: NaiveDate,
) -> Result<Vec<AccountBalance>> {
    let mut accounts: Vec<AccountBalance> = db
        .sql(
            "SELECT account, CASE tax_code WHEN '' THEN NULL ELSE tax_code END AS tax_code,
               CAST(SUM(CASE WHEN posted_on < $1 THEN debit - credit ELSE 0 END) AS BIGINT)
                 AS opening,
               CAST(SUM(CASE WHEN posted_on >= $1 THEN debit ELSE 0 END) AS BIGINT) AS debit,
               CAST(SUM(CASE WHEN posted_on >= $1 THEN credit ELSE 0 END) AS BIGINT) AS credit
             FROM (SELECT account, tax_code, posted_on, debit, credit FROM ledger_days
                   WHERE posted_on <= $2
                   UNION ALL
                   SELECT account, tax_code, posted_on, debit, credit FROM ledger_moves
                   WHERE posted_on <= $2) each
             GROUP BY each.account, each.tax_code ORDER BY each.account, each.tax_code",
        )
        .bind(start)
        .bind(end)
        .long()
        .all()
        .await?;
    for account in &mut accounts {
        account.closing = account.opening + account.debit - account.credit;
    }
    Ok(accounts)
}

macro_rules! entry {
    ($rest:literal) => {
        concat!(
            "SELECT l.id, l.posted_on, l.account, l.tax_code, l.amount, l.partner_id,
               l.booking_id, k.code AS booking_code, l.source, l.source_id, l.kind, l.created_at
             FROM ledger_lines l LEFT JOIN bookings k ON k.id = l.booking_id",
            $rest
        )
    };
}

/// Lines of the ledger, newest first. One filter drives the query, and the others are only checked, by
/// conditions that no index supports. Most lines are of bookings.
pub async fn entries(
    db: &Db,
    query: &EntriesQuery,
    limit: i64,
    offset: i64,
) -> Result<(Vec<EntryRow>, Total)> {
    /// A count checks at most this many lines.
    const EXAMINED: i64 = 100_000;
    let list = db.list(entry!("")).found_in("SELECT l.id FROM ledger_lines l").examining(
        "SELECT l.id, l.account, l.partner_id, l.booking_id, l.source, l.posted_on
         FROM ledger_lines l",
        EXAMINED,
    );
    let EntriesQuery { booking_id, mitra_id, mut account, mut source, .. } = *query;
    let list = match (booking_id, mitra_id, account, source) {
        (Some(_), ..) => list
            .filter("l.booking_id = ?", booking_id)
            .check("COALESCE(l.partner_id, l.id) = ?", mitra_id),
        (_, Some(_), ..) => list.filter("l.partner_id = ?", mitra_id),
        // An index of the few lines that are not of bookings has both.
        (.., Some(_), Some(of)) if of != Source::Booking => list
            .only("l.source <> 'booking'")
            .filter("l.source = ?", source.take())
            .filter("l.account = ?", account.take()),
        (.., None, Some(_)) => list.filter("l.source = ?", source.take()),
        _ => list.filter("l.account = ?", account.take()),
    };
    let rows = list
        .filter("l.posted_on >= ?", query.start_date)
        .filter("l.posted_on <= ?", query.end_date)
        .check("l.account || '' = ?", account)
        .check("l.source || '' = ?", source)
        .page(query.paging.sort(None, "l.posted_on"), "l.id", limit, offset)
        .await?;
    Ok(rows)
}

/// Whose account a statement shows.
#[derive(Clone, Copy)]
pub enum Holder {
    /// Positive amounts are owed to the partner.
    Partner(Uuid),
    /// Positive amounts are owed by the reseller.
    Reseller(Uuid),
}

impl Holder {
    fn id(self) -> Uuid {
        match self {
            Self::Partner(id) | Self::Reseller(id) => id,
        }
    }
}

/// The SQL of a statement for partners and for resellers, whose amounts have opposite signs.
macro_rules! of_holder {
    ($holder:expr, $sql:ident) => {
        match $holder {
            Holder::Partner(_) => $sql!("partner_id", "-"),
            Holder::Reseller(_) => $sql!("reseller_id", ""),
        }
    };
}

/// The account from `start` to `end`: opening balance, change and number of lines.
#[derive(crate::kernel::db::FromRow)]
pub struct StatementSums {
    pub opening: Rupiah,
    pub change: Rupiah,
    pub lines: i64,
}

/// One range of the index for each sum: a condition for each line takes four times as long.
macro_rules! sums {
    ($holder:literal, $sign:literal) => {
        concat!(
            "SELECT (SELECT CAST(COALESCE(SUM(",
            $sign,
            "amount), 0) AS BIGINT) FROM ledger_lines
                WHERE ",
            $holder,
            " = $1 AND posted_on < $2) AS opening,
               CAST(COALESCE(SUM(",
            $sign,
            "amount), 0) AS BIGINT) AS change,
               COUNT(*) AS lines
             FROM ledger_lines WHERE ",
            $holder,
            " = $1 AND posted_on BETWEEN $2 AND $3"
        )
    };
}

pub async fn statement_sums(
    db: &Db,
    holder: Holder,
    start: NaiveDate,
    end: NaiveDate,
) -> Result<StatementSums> {
    let sums = db.sql(of_holder!(holder, sums));
    Ok(sums.bind(holder.id()).bind(start).bind(end).long().one().await?)
}

macro_rules! earlier {
    ($holder:literal, $sign:literal) => {
        concat!(
            "SELECT CAST(COALESCE(SUM(",
            $sign,
            "amount), 0) AS BIGINT) FROM
               (SELECT amount FROM ledger_lines
                WHERE ",
            $holder,
            " = $1 AND posted_on BETWEEN $2 AND $3
                ORDER BY posted_on, id LIMIT CAST($4 AS BIGINT)) earlier"
        )
    };
}

macro_rules! lines {
    ($holder:literal, $sign:literal) => {
        concat!(
            "SELECT l.posted_on, l.source, l.kind, l.booking_id, k.code AS booking_code,
               k.reseller_reference, ",
            $sign,
            "l.amount AS amount
             FROM (SELECT id, posted_on FROM ledger_lines
                   WHERE ",
            $holder,
            " = $1 AND posted_on BETWEEN $2 AND $3
                   ORDER BY posted_on, id LIMIT CAST($4 AS BIGINT) OFFSET $5) page
             JOIN ledger_lines l ON l.id = page.id
             LEFT JOIN bookings k ON k.id = l.booking_id
             ORDER BY l.posted_on, l.id"
        )
    };
}

/// The lines of a statement in order, each with the balance after it.
pub async fn statement_lines(
    db: &Db,
    holder: Holder,
    (start, end): (NaiveDate, NaiveDate),
    opening: Rupiah,
    limit: i64,
    offset: i64,
) -> Result<Vec<StatementRow>> {
    let mut balance = opening;
    if offset > 0 {
        let before: i64 = db
            .sql(of_holder!(holder, earlier))
            .bind(holder.id())
            .bind(start)
            .bind(end)
            .bind(offset)
            .long()
            .scalar()
            .await?;
        balance = balance + Rupiah(before);
    }
    let mut lines: Vec<StatementRow> = db
        .sql(of_holder!(holder, lines))
        .bind(holder.id())
        .bind(start)
        .bind(end)
        .bind(limit)
        .bind(offset)
        .long()
        .all()
        .await?;
    for line in &mut lines {
        balance = balance + line.amount;
        line.balance = balance;
    }
    Ok(lines)
}

#[derive(crate::kernel::db::FromRow)]
struct Posted {
    tax_code: String,
    opening: Rupiah,
    debit: Rupiah,
    credit: Rupiah,
}

/// Amounts of a tax by cause.
#[derive(crate::kernel::db::FromRow)]
struct ByCause {
    tax_code: String,
    debit: Rupiah,
    credit: Rupiah,
}

/// The taxes of a month, by code.
pub async fn taxes(db: &Db, month: Month) -> Result<Vec<TaxOfMonth>> {
    let (first, last) = (month.first_day(), month.last_day());
    let mut taxes = BTreeMap::<String, TaxOfMonth>::new();
    let balances = trial_balance(db, first, last).await?;
    let posted = balances.into_iter().filter_map(|account| {
        let AccountBalance { tax_code, opening, debit, credit, .. } = account;
        Some(Posted { tax_code: tax_code?, opening, debit, credit })
    });
    for Posted { tax_code, opening, debit, credit } in posted {
        let tax = of_code(&mut taxes, &tax_code);
        tax.opening = -opening;
        tax.collected = credit;
        tax.reversed = debit;
        tax.owed = credit - debit - opening;
    }
    // What was paid and what journal entries posted is no reversal.
    let paid: Vec<(String, Rupiah)> = db
        .sql(
            "SELECT tax_code, CAST(SUM(amount) AS BIGINT) FROM tax_payments
             WHERE paid_on BETWEEN $1 AND $2 GROUP BY tax_code",
        )
        .bind(first)
        .bind(last)
        .all()
        .await?;
    for (tax_code, amount) in paid {
        let tax = of_code(&mut taxes, &tax_code);
        tax.paid = amount;
        tax.reversed = tax.reversed - amount;
    }
    let adjusted: Vec<ByCause> = db
        .sql(
            "SELECT l.tax_code,
               CAST(SUM(CASE WHEN l.amount > 0 THEN l.amount ELSE 0 END) AS BIGINT) AS debit,
               CAST(SUM(CASE WHEN l.amount < 0 THEN -l.amount ELSE 0 END) AS BIGINT) AS credit
             FROM ledger_lines l
             WHERE l.source = 'journal' AND l.posted_on BETWEEN $1 AND $2
               AND l.tax_code IS NOT NULL
             GROUP BY l.tax_code",
        )
        .bind(first)
        .bind(last)
        .long()
        .all()
        .await?;
    for ByCause { tax_code, debit, credit } in adjusted {
        let tax = of_code(&mut taxes, &tax_code);
        tax.adjusted = credit - debit;
        tax.collected = tax.collected - credit;
        tax.reversed = tax.reversed - debit;
    }
    for ReceivedTax { tax_code, base_factor, amount, base } in received_taxes(db, month).await? {
        let base_factor: BaseFactor = base_factor.parse().map_err(Error::internal)?;
        let tax = of_code(&mut taxes, &tax_code);
        tax.received = tax.received + amount;
        let whole = Rate::basis_points(10_000).unwrap_or_default();
        tax.received_base = tax.received_base + base_factor.tax(whole, base);
    }
    Ok(taxes.into_values().collect())
}

fn of_code<'t>(taxes: &'t mut BTreeMap<String, TaxOfMonth>, code: &str) -> &'t mut TaxOfMonth {
    taxes
        .entry(code.to_owned())
        .or_insert_with(|| TaxOfMonth { tax_code: code.to_owned(), ..TaxOfMonth::default() })
}

#[derive(crate::kernel::db::FromRow)]
struct ReceivedTax {
    tax_code: String,
    base_factor: String,
    amount: Rupiah,
    /// The amount that the factor is applied to.
    base: Rupiah,
}

/// The taxes in payments of bookings of a month.
async fn received_taxes(db: &Db, month: Month) -> Result<Vec<ReceivedTax>> {
    let taxes = db
        .sql(
            "SELECT tax_code, base_factor, CAST(SUM(amount) AS BIGINT) AS amount,
               CAST(SUM(base) AS BIGINT) AS base
             FROM (SELECT tax_code, base_factor, amount, base FROM tax_days
                   WHERE day BETWEEN $1 AND $2
                   UNION ALL
                   SELECT tax_code, base_factor, amount, base FROM tax_moves
                   WHERE day BETWEEN $1 AND $2) each
             GROUP BY tax_code, base_factor",
        )
        .bind(month.first_day())
        .bind(month.last_day())
        .long()
        .all()
        .await?;
    Ok(taxes)
}

/// What was received by payment, and what the providers have settled of it. A payment counts on the
/// day and by the method of its first receipt. What belongs to no payment counts on the day of the
/// payout. `extra` is kept per payment; what is missing follows, because `missing - extra` is what was
/// received and not settled.
pub async fn reconciliation(
    db: &Db,
    start: NaiveDate,
    end: NaiveDate,
) -> Result<Vec<ReconciledDay>> {
    let days = db
        .sql(
            "SELECT day, method, CAST(SUM(received) AS BIGINT) AS ours,
               CAST(SUM(settled) AS BIGINT) AS theirs, CAST(SUM(refunds) AS BIGINT) AS refunds,
               CAST(SUM(fees) AS BIGINT) AS fees, CAST(SUM(fee_taxes) AS BIGINT) AS fee_taxes,
               CAST(SUM(received - settled + extra) AS BIGINT) AS missing,
               CAST(SUM(extra) AS BIGINT) AS extra
             FROM (SELECT day, method, received, settled, refunds, fees, fee_taxes, extra
                   FROM payment_days WHERE day BETWEEN $1 AND $2
                   UNION ALL
                   SELECT day, method, received, settled, refunds, fees, fee_taxes, extra
                   FROM payment_moves WHERE day BETWEEN $1 AND $2) each
             GROUP BY day, method
             HAVING SUM(received) <> 0 OR SUM(settled) <> 0 OR SUM(refunds) <> 0
               OR SUM(fees) <> 0 OR SUM(fee_taxes) <> 0 OR SUM(extra) <> 0
             ORDER BY day, method",
        )
        .bind(start)
        .bind(end)
        .long()
        .all()
        .await?;
    Ok(days)
}

impl std::ops::AddAssign for ReconciledTotal {
    fn add_assign(&mut self, more: Self) {
        self.ours = self.ours + more.ours;
        self.theirs = self.theirs + more.theirs;
        self.refunds = self.refunds + more.refunds;
        self.fees = self.fees + more.fees;
        self.fee_taxes = self.fee_taxes + more.fee_taxes;
        self.missing = self.missing + more.missing;
        self.extra = self.extra + more.extra;
    }
}
