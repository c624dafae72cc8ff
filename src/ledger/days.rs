//! Totals of the ledger by day, and the balances that follow from them.
//!
//! A trigger stores every line as a row of `ledger_moves`. A job adds these rows to the totals of days
//! and deletes them. Balances read the totals and the remaining rows in one statement: they are exact,
//! and cost as much as there are days, not lines.

use std::{collections::BTreeMap, time::Duration};

use chrono::NaiveDate;

use super::{Account, Month, receipts};
use crate::{
    app::App,
    kernel::{
        db::Tx,
        error::{Error, Result},
        money::Rupiah,
        set_aside::Pass,
    },
};

/// Only one process at a time changes the totals.
const LOCK: &str = "ledger_days";

#[derive(crate::kernel::db::FromRow)]
struct Moved {
    posted_on: NaiveDate,
    account: String,
    tax_code: String,
    debit: i64,
    credit: i64,
}

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
    let passes = [
        roll_up_lines(app).await?,
        receipts::roll_up_payments(&app.db, LOCK).await?,
        receipts::roll_up_taxes(&app.db, LOCK).await?,
    ];
    let done = passes.iter().map(|pass| pass.done).sum();
    Ok(Pass { done, more: passes.iter().any(|pass| pass.more) })
}

async fn roll_up_lines(app: &App) -> Result<Pass> {
    const SOME: usize = 5_000;
    let waiting: Vec<(i64,)> = app
        .db
        .sql("SELECT id FROM ledger_moves ORDER BY id LIMIT CAST($1 AS BIGINT)")
        .without_cached_plan()
        .bind(SOME as i64)
        .all()
        .await?;
    if waiting.is_empty() {
        return Ok(Pass::default());
    }
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    let taken = tx.sql_among(
        "DELETE FROM ledger_moves WHERE id IN",
        waiting.len(),
        "RETURNING posted_on, account, tax_code, debit, credit",
    );
    let moves: Vec<Moved> =
        waiting.iter().fold(taken, |taken, (id,)| taken.bind(*id)).all().await?;
    let mut totals = BTreeMap::<(String, String, NaiveDate), (i64, i64)>::new();
    for moved in &moves {
        let key = (moved.account.clone(), moved.tax_code.clone(), moved.posted_on);
        let total = totals.entry(key).or_default();
        total.0 += moved.debit;
        total.1 += moved.credit;
    }
    let totals: Vec<_> = totals.into_iter().collect();
    tx.upsert_all(
        "INSERT INTO ledger_days (account, tax_code, posted_on, debit, credit)",
        5,
        &totals,
        "ON CONFLICT (account, tax_code, posted_on) DO UPDATE SET
           debit = ledger_days.debit + excluded.debit,
           credit = ledger_days.credit + excluded.credit",
        |statement, ((account, tax_code, posted_on), (debit, credit))| {
            statement
                .bind(account.clone())
                .bind(tax_code.clone())
                .bind(*posted_on)
                .bind(*debit)
                .bind(*credit)
        },
    )
    .await?;
    tx.commit().await?;
    Ok(Pass { done: moves.len() as u64, more: waiting.len() == SOME })
}

/// Makes the totals of the ledger, of payments and of their taxes anew.
pub async fn rebuild(app: &App) -> Result<()> {
    const TRIES: u32 = 50;
    let mut tried = 0;
    loop {
        tried += 1;
        match make(app).await {
            // Another process is rebuilding or has just rolled up.
            Err(Error::Contention(_)) if tried < TRIES => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            done => return done,
        }
    }
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

/// Locks the till, so that two payments cannot both take the last cash, and refuses to take more than it has, on the day or on a later one: 409
/// `not_enough_cash`.
pub async fn ensure_cash(tx: &mut Tx, amount: Rupiah, day: NaiveDate) -> Result<()> {
    tx.lock("cash").await?;
    let changes = changes_by_day(tx, Account::Cash, "").await?;
    match lowest_balance(&changes, day) < amount {
        true => Err(Error::conflict(
            "not_enough_cash",
            "There is not that much cash.",
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
