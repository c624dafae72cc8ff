//! Sums of the ledger over a range of days.

use chrono::NaiveDate;

use super::Account;
use crate::kernel::{db::Db, error::Result, money::Rupiah};

#[derive(crate::kernel::db::FromRow)]
struct Row {
    account: Account,
    debit: Rupiah,
    credit: Rupiah,
    /// What was paid to the state.
    tax_paid: Rupiah,
}

/// Debits and credits of each account.
pub struct LedgerSums(Vec<Row>);

impl LedgerSums {
    fn of(&self, account: Account) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(move |row| row.account == account)
    }

    /// Debits less credits.
    pub fn debited(&self, account: Account) -> Rupiah {
        self.of(account).map(|row| row.debit - row.credit).sum()
    }

    /// Tax that became due, less what was taken back. Paying it to the state does not reduce it.
    pub fn tax_due(&self) -> Rupiah {
        self.of(Account::TaxPayable).map(|row| row.credit - row.debit + row.tax_paid).sum()
    }
}

/// The postings from one day to another, both included.
pub async fn sums(db: &Db, start: NaiveDate, end: NaiveDate) -> Result<LedgerSums> {
    let rows = db
        .sql(
            "SELECT account, CAST(SUM(debit) AS BIGINT) AS debit,
               CAST(SUM(credit) AS BIGINT) AS credit, CAST(0 AS BIGINT) AS tax_paid
             FROM (SELECT account, debit, credit FROM ledger_days
                   WHERE posted_on BETWEEN $1 AND $2
                   UNION ALL
                   SELECT account, debit, credit FROM ledger_moves
                   WHERE posted_on BETWEEN $1 AND $2) each
             GROUP BY account
             UNION ALL
             SELECT 'tax_payable', CAST(0 AS BIGINT), CAST(0 AS BIGINT),
               CAST(COALESCE(SUM(amount), 0) AS BIGINT)
             FROM tax_payments WHERE paid_on BETWEEN $1 AND $2",
        )
        .bind(start)
        .bind(end)
        .long()
        .all()
        .await?;
    Ok(LedgerSums(rows))
}
