//! Totals of the ledger by day, and the balances that follow from them.
//!
//! A trigger stores every line as a row of `ledger_moves`. A job adds these rows to the totals of days
//! and deletes them. Balances read the totals and the remaining rows in one statement: they are exact,
//! and cost as much as there are days, not lines.

use chrono::NaiveDate;
use futures_util::FutureExt;

use super::{Account, Month, receipts};
use crate::{
    app::App,
    kernel::{
        db::Tx,
        error::{Error, Result},
        money::Rupiah,
        roll_up::{RollUp, rebuilt},
        set_aside::Pass,
    },
    roll_up,
};

/// Only one process at a time changes the totals.
pub(super) const LOCK: &str = "ledger_days";

const LINES: RollUp = roll_up!(
    LOCK, "ledger_moves" => "ledger_days"
    by ("account", "tax_code", "posted_on") of ("debit", "credit")
);

/// Adds everything new to the totals; returns the number of rows.
pub async fn roll_up(app: &App) -> Result<u64> {
    let mut done = 0;
    loop {
        let pass = roll_up_batch(app).await?;
        done += pass.done;
        if !pass.more {
            return Ok(done);
        }
    }
}

/// Adds some new lines to the totals of the ledger, of payments and of their taxes.
pub async fn roll_up_batch(app: &App) -> Result<Pass> {
    let mut all = Pass::default();
    for totals in [LINES, receipts::PAYMENTS, receipts::TAXES] {
        let pass = totals.run(&app.db).await?;
        all = Pass { done: all.done + pass.done, more: all.more || pass.more };
    }
    Ok(all)
}

/// Rebuilds the totals of the ledger, of payments and of their taxes.
pub async fn rebuild(app: &App) -> Result<()> {
    rebuilt(|| make(app).boxed()).await?;
    Ok(app.db.analyze(["ledger_days", "payment_days", "tax_days"]).await?)
}

/// Uses one snapshot; lines that are posted meanwhile are added later. One statement per month, so
/// that none takes long.
async fn make(app: &App) -> Result<()> {
    let mut tx = app.db.begin_repeatable_read().await?;
    tx.lock(LOCK).await?;
    tx.sql("DELETE FROM ledger_moves").run().await?;
    tx.sql("DELETE FROM ledger_days").run().await?;
    tx.sql("DELETE FROM tax_moves").run().await?;
    tx.sql("DELETE FROM tax_days").run().await?;
    receipts::rebuild_payments(&mut tx).await?;
    let first: Option<NaiveDate> =
        tx.sql("SELECT MIN(posted_on) FROM ledger_lines").scalar().await?;
    let last: Option<NaiveDate> =
        tx.sql("SELECT MAX(posted_on) FROM ledger_lines").scalar().await?;
    let Some((first, last)) = first.zip(last) else { return Ok(tx.commit().await?) };
    let mut month = Month::of(first);
    while month <= Month::of(last) {
        tx.sql(
            "INSERT INTO ledger_days (account, tax_code, posted_on, debit, credit)
             SELECT account, COALESCE(tax_code, ''), posted_on,
               SUM(CASE WHEN amount > 0 THEN amount ELSE 0 END),
               SUM(CASE WHEN amount < 0 THEN -amount ELSE 0 END)
             FROM ledger_lines WHERE posted_on BETWEEN $1 AND $2
             GROUP BY account, COALESCE(tax_code, ''), posted_on",
        )
        .bind(month.first_day())
        .bind(month.last_day())
        .run()
        .await?;
        receipts::rebuild_taxes(&mut tx, month).await?;
        month = month.next();
    }
    Ok(tx.commit().await?)
}

/// Changes of an account (and tax) by day, in order.
pub async fn changes_by_day(
    tx: &mut Tx,
    account: Account,
    tax_code: &str,
) -> Result<Vec<(NaiveDate, Rupiah)>> {
    let changes = tx
        .sql(
            "SELECT posted_on, CAST(SUM(debit - credit) AS BIGINT)
             FROM (SELECT posted_on, debit, credit FROM ledger_days
                   WHERE account = $1 AND tax_code = $2
                   UNION ALL
                   SELECT posted_on, debit, credit FROM ledger_moves
                   WHERE account = $1 AND tax_code = $2) each
             GROUP BY posted_on ORDER BY posted_on",
        )
        .bind(account)
        .bind(tax_code.to_owned())
        .all()
        .await?;
    Ok(changes)
}

/// Locks the till and refuses a payment that exceeds the cash on that day or a later one (409
/// `not_enough_cash`). The lock prevents two payments from taking the same cash.
pub async fn ensure_cash(tx: &mut Tx, amount: Rupiah, day: NaiveDate) -> Result<()> {
    tx.lock("cash").await?;
    let changes = changes_by_day(tx, Account::Cash, "").await?;
    match lowest_balance(&changes, day) < amount {
        true => Err(Error::conflict(
            "not_enough_cash",
            "There is not enough cash.",
            "Uang tunai tidak sebanyak itu.",
        )),
        false => Ok(()),
    }
}

/// The lowest balance at the end of `day` or of a later one, from the changes of days in order. What
/// is taken on a day must be there on it and on every later one.
pub fn lowest_balance(changes: &[(NaiveDate, Rupiah)], day: NaiveDate) -> Rupiah {
    let before = changes.iter().filter(|(on, _)| *on <= day).map(|(_, change)| *change).sum();
    let (mut balance, mut lowest): (Rupiah, Rupiah) = (before, before);
    for (_, change) in changes.iter().filter(|(on, _)| *on > day) {
        balance = balance + *change;
        lowest = lowest.min(balance);
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_later_is_not_there_earlier() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let changes = [
            (day("2026-11-01"), Rupiah(100)),
            (day("2026-11-03"), Rupiah(-80)),
            (day("2026-11-05"), Rupiah(500)),
        ];
        let lowest = |text: &str| lowest_balance(&changes, day(text)).0;
        assert_eq!(lowest("2026-10-31"), 0);
        assert_eq!(lowest("2026-11-01"), 20);
        assert_eq!(lowest("2026-11-04"), 20);
        assert_eq!(lowest("2026-11-05"), 520);
        assert_eq!(lowest_balance(&[], day("2026-11-05")), Rupiah::ZERO);
    }
}
