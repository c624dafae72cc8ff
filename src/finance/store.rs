//! SQL of what the clerk posts: periods, balances, journals, payouts of providers, tax payments and
//! deposits.

use std::collections::HashSet;

use chrono::{DateTime, NaiveDate, Utc};

use super::model::{
    CashDeposit, JournalLineForm, JournalLineRow, JournalRow, JournalStatus, JournalsQuery,
    PayingProvider, PeriodRow, ProviderSettlement, ProviderSettlementsQuery, SettledLine,
    TaxPayment,
};
use crate::{
    kernel::{
        db::{Db, Total, Tx},
        error::Result,
        http::Paging,
        ids::Uuid,
    },
    ledger::Month,
};

/// Whether anything is posted from `start` (or ever) until the day before `end`.
pub async fn has_postings(tx: &mut Tx, start: Option<NaiveDate>, end: NaiveDate) -> Result<bool> {
    let found: Option<(i32,)> = tx
        .sql("SELECT 1 FROM ledger_lines WHERE posted_on >= $1 AND posted_on < $2 LIMIT 1")
        .bind(start.unwrap_or(NaiveDate::from_ymd_opt(1, 1, 1).unwrap_or_default()))
        .bind(end)
        .maybe()
        .await?;
    Ok(found.is_some())
}

pub async fn close(tx: &mut Tx, month: Month, by: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO finance_periods (month, closed_at, closed_by) VALUES ($1, $2, $3)
         ON CONFLICT (month) DO UPDATE SET closed_at = excluded.closed_at,
           closed_by = excluded.closed_by",
    )
    .bind(month.first_day())
    .bind(now)
    .bind(by)
    .run()
    .await?;
    Ok(())
}

pub async fn reopen(
    tx: &mut Tx,
    month: Month,
    by: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE finance_periods SET closed_at = NULL, closed_by = NULL, reopened_at = $1,
           reopened_by = $2, reason = $3
         WHERE month = $4",
    )
    .bind(now)
    .bind(by)
    .bind(reason.to_owned())
    .bind(month.first_day())
    .run()
    .await?;
    Ok(())
}

const PERIODS: &str =
    "SELECT month, closed_at, closed_by, reopened_at, reopened_by, reason FROM finance_periods";

/// Months that were ever closed.
pub async fn periods(db: &Db) -> Result<Vec<PeriodRow>> {
    Ok(db.sql(PERIODS).all().await?)
}

pub async fn periods_in(tx: &mut Tx) -> Result<Vec<PeriodRow>> {
    Ok(tx.sql(PERIODS).all().await?)
}

pub async fn first_posting(db: &Db) -> Result<Option<NaiveDate>> {
    Ok(db.sql("SELECT MIN(posted_on) FROM ledger_lines").scalar().await?)
}

/// Whether the tax is configured or has ever been posted.
pub async fn knows_tax(tx: &mut Tx, code: &str) -> Result<bool> {
    let found: Option<(i32,)> = tx
        .sql(
            "SELECT 1 FROM taxes WHERE code = $1
             UNION ALL SELECT 1 FROM ledger_days WHERE account = 'tax_payable' AND tax_code = $1
             UNION ALL SELECT 1 FROM ledger_moves WHERE account = 'tax_payable' AND tax_code = $1
             LIMIT 1",
        )
        .bind(code.to_owned())
        .maybe()
        .await?;
    Ok(found.is_some())
}

/// `false` if the tax was paid with this reference before.
pub async fn insert_tax_payment(tx: &mut Tx, new: &TaxPayment) -> Result<bool> {
    let inserted = tx
        .sql(
            "INSERT INTO tax_payments (id, tax_code, amount, paid_on, reference, created_by,
               created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tax_code, reference) DO NOTHING",
        )
        .bind(new.id)
        .bind(new.tax_code.clone())
        .bind(new.amount)
        .bind(new.paid_on)
        .bind(new.reference.clone())
        .bind(new.created_by)
        .bind(new.created_at)
        .run()
        .await?;
    Ok(inserted == 1)
}

pub async fn insert_cash_deposit(tx: &mut Tx, new: &CashDeposit) -> Result<()> {
    tx.sql(
        "INSERT INTO cash_deposits (id, amount, deposited_on, reference, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(new.id)
    .bind(new.amount)
    .bind(new.deposited_on)
    .bind(new.reference.clone())
    .bind(new.created_by)
    .bind(new.created_at)
    .run()
    .await?;
    Ok(())
}

pub async fn insert_journal(
    tx: &mut Tx,
    new: &JournalRow,
    lines: &[JournalLineForm],
) -> Result<()> {
    tx.sql(
        "INSERT INTO journals (id, status, posted_on, memo, partner_id, amount, created_by,
           created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(new.id)
    .bind(new.status)
    .bind(new.posted_on)
    .bind(new.memo.clone())
    .bind(new.partner_id)
    .bind(new.amount)
    .bind(new.created_by)
    .bind(new.created_at)
    .run()
    .await?;
    let id = new.id;
    let lines: Vec<_> = (1_i32..).zip(lines).collect();
    tx.insert_all(
        "INSERT INTO journal_lines (journal_id, number, account, tax_code, amount)",
        5,
        &lines,
        |statement, (number, line)| {
            statement
                .bind(id)
                .bind(*number)
                .bind(line.account)
                .bind(line.tax_code.clone().map(String::from))
                .bind(line.amount())
        },
    )
    .await?;
    Ok(())
}

macro_rules! journal {
    ($rest:literal) => {
        concat!(
            "SELECT j.id, j.status, j.posted_on, j.memo, j.partner_id, j.amount, j.created_by,
               j.created_at, j.decided_by, j.decided_at
             FROM journals j",
            $rest
        )
    };
}

pub async fn journal(db: &Db, id: Uuid) -> Result<Option<JournalRow>> {
    Ok(db.sql(journal!(" WHERE j.id = $1")).bind(id).maybe().await?)
}

pub async fn journal_in(tx: &mut Tx, id: Uuid) -> Result<JournalRow> {
    Ok(tx.sql(journal!(" WHERE j.id = $1")).bind(id).one().await?)
}

pub async fn journal_lines_in(tx: &mut Tx, id: Uuid) -> Result<Vec<JournalLineRow>> {
    let lines = tx
        .sql(
            "SELECT journal_id, account, tax_code, amount FROM journal_lines
             WHERE journal_id = $1 ORDER BY number",
        )
        .bind(id)
        .all()
        .await?;
    Ok(lines)
}

/// Approves or rejects a draft; `false` if it is none any more.
pub async fn decide_journal(
    tx: &mut Tx,
    id: Uuid,
    status: JournalStatus,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let decided = tx
        .sql(
            "UPDATE journals SET status = $1, decided_by = $2, decided_at = $3
             WHERE id = $4 AND status = 'draft'",
        )
        .bind(status)
        .bind(by)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(decided == 1)
}

/// Journal entries with their lines.
pub async fn journals(
    db: &Db,
    query: &JournalsQuery,
    paging: &Paging,
    limit: i64,
    offset: i64,
) -> Result<(Vec<JournalRow>, Vec<JournalLineRow>, Total)> {
    let (rows, total): (Vec<JournalRow>, Total) = db
        .list(journal!(""))
        .filter("j.id = ?", query.id)
        .filter("j.status = ?", query.status)
        .filter("j.posted_on >= ?", query.start_date)
        .filter("j.posted_on <= ?", query.end_date)
        .search(&["j.memo"], paging.search())
        .page(paging.sort(None, "j.created_at"), "j.id", limit, offset)
        .await?;
    let mut lines = Vec::new();
    for some in rows.chunks(1_000) {
        let among = db.sql_among(
            "SELECT journal_id, account, tax_code, amount FROM journal_lines WHERE journal_id IN",
            some.len(),
            "ORDER BY journal_id, number",
        );
        let among = some.iter().fold(among, |among, row| among.bind(row.id));
        lines.extend(among.all::<JournalLineRow>().await?);
    }
    Ok((rows, lines, total))
}

/// A payment of ours and another name that a provider's report may use.
#[derive(crate::kernel::db::FromRow)]
pub struct NamedPayment {
    pub id: Uuid,
    pub reference: String,
    pub name: Option<String>,
}

/// The provider's payments with one of these names: our reference, an id of the provider, or that of
/// a refund.
pub async fn payments_named(
    tx: &mut Tx,
    provider: PayingProvider,
    names: &[&str],
) -> Result<Vec<NamedPayment>> {
    let mut found = Vec::new();
    for some in names.chunks(1_000) {
        for head in [
            "SELECT id, reference, NULL AS name FROM payments
             WHERE provider = $1 AND reference IN",
            "SELECT id, reference, transaction_id AS name FROM payments
             WHERE provider = $1 AND transaction_id IN",
            "SELECT id, reference, channel ->> 'payment_id' AS name FROM payments
             WHERE provider = $1 AND channel IS NOT NULL AND channel ->> 'payment_id' IN",
            "SELECT y.id, y.reference, t.provider_id AS name
             FROM transfers t JOIN payments y ON y.id = t.payment_id
             WHERE y.provider = $1 AND t.provider_id IN",
        ] {
            let among = tx.sql_among(head, some.len(), "ORDER BY 1").bind(provider);
            let among = some.iter().fold(among, |among, name| among.bind((*name).to_owned()));
            found.extend(among.all::<NamedPayment>().await?);
        }
        let ours: Vec<Uuid> = some.iter().filter_map(|name| name.parse().ok()).collect();
        if !ours.is_empty() {
            let among = tx.sql_among(
                "SELECT y.id, y.reference, t.id
                 FROM transfers t JOIN payments y ON y.id = t.payment_id
                 WHERE y.provider = $1 AND t.id IN",
                ours.len(),
                "ORDER BY 1",
            );
            let among = ours.iter().fold(among.bind(provider), |among, id| among.bind(*id));
            // A cast to text would read the bytes of the id on SQLite.
            found.extend(among.all::<(Uuid, String, Uuid)>().await?.into_iter().map(
                |(id, reference, ours)| NamedPayment {
                    id,
                    reference,
                    name: Some(ours.to_string()),
                },
            ));
        }
    }
    Ok(found)
}

/// Those of the payments that a payout of the provider contains already.
pub async fn settled_payments(tx: &mut Tx, payments: &[Uuid]) -> Result<HashSet<Uuid>> {
    let mut settled = HashSet::new();
    for some in payments.chunks(1_000) {
        let among = tx.sql_among(
            "SELECT DISTINCT payment_id FROM provider_settlement_lines
             WHERE gross > 0 AND payment_id IN",
            some.len(),
            "",
        );
        let among = some.iter().fold(among, |among, id| among.bind(*id));
        settled.extend(among.all::<(Uuid,)>().await?.into_iter().map(|(id,)| id));
    }
    Ok(settled)
}

/// `false` if the payout was entered before.
pub async fn insert_provider_settlement(
    tx: &mut Tx,
    new: &ProviderSettlement,
    lines: &[(&SettledLine, Option<Uuid>)],
) -> Result<bool> {
    let inserted = tx
        .sql(
            "INSERT INTO provider_settlements (id, provider, payout_id, paid_on, gross, fee,
               fee_tax, net, unknown_gross, line_count, created_by, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
             ON CONFLICT (provider, payout_id) DO NOTHING",
        )
        .bind(new.id)
        .bind(new.provider)
        .bind(new.payout_id.clone())
        .bind(new.paid_on)
        .bind(new.gross)
        .bind(new.fee)
        .bind(new.fee_tax)
        .bind(new.net)
        .bind(new.unknown_gross)
        .bind(new.line_count)
        .bind(new.created_by)
        .bind(new.created_at)
        .run()
        .await?;
    if inserted == 0 {
        return Ok(false);
    }
    let id = new.id;
    let lines: Vec<_> = (1_i32..).zip(lines).collect();
    tx.insert_all(
        "INSERT INTO provider_settlement_lines (settlement_id, number, reference, payment_id,
           gross, fee, fee_tax, net)",
        8,
        &lines,
        |statement, (number, (line, payment))| {
            statement
                .bind(id)
                .bind(*number)
                .bind(line.reference.to_string())
                .bind(*payment)
                .bind(line.gross)
                .bind(line.fee)
                .bind(line.fee_tax)
                .bind(line.net)
        },
    )
    .await?;
    Ok(true)
}

pub async fn provider_settlements(
    db: &Db,
    query: &ProviderSettlementsQuery,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ProviderSettlement>, Total)> {
    let paging = &query.paging;
    let rows = db
        .list(
            "SELECT s.id, s.provider, s.payout_id, s.paid_on, s.gross, s.fee, s.fee_tax, s.net,
               s.unknown_gross, s.line_count, s.created_by, s.created_at
             FROM provider_settlements s",
        )
        .filter("s.provider = ?", query.provider)
        .filter("s.paid_on >= ?", query.start_date)
        .filter("s.paid_on <= ?", query.end_date)
        .search(&["s.payout_id"], paging.search())
        .page(paging.sort(None, "s.paid_on"), "s.id", limit, offset)
        .await?;
    Ok(rows)
}
