//! Totals of what customers paid, by day: per method of payment, with what providers have settled of
//! it (`payment_days`), and per tax (`tax_days`).
//!
//! They are kept like those of the ledger: triggers write rows of `payment_moves` and `tax_moves`, a
//! job adds them to the totals and deletes them, and a report reads both in one statement.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::Month;
use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::Uuid,
    set_aside::Pass,
};

/// Rows of one run.
const SOME: usize = 5_000;

#[derive(crate::kernel::db::FromRow)]
struct PaymentMove {
    day: NaiveDate,
    method: String,
    received: i64,
    settled: i64,
    refunds: i64,
    fees: i64,
    fee_taxes: i64,
    extra: i64,
}

#[derive(crate::kernel::db::FromRow)]
struct TaxMove {
    day: NaiveDate,
    tax_code: String,
    base_factor: String,
    amount: i64,
    base: i64,
}

async fn waiting(db: &Db, statement: &'static str) -> Result<Vec<(i64,)>> {
    Ok(db.sql(statement).without_cached_plan().bind(SOME as i64).all().await?)
}

/// Adds some new receipts and lines of payouts to the totals.
pub async fn roll_up_payments(db: &Db, lock: &'static str) -> Result<Pass> {
    let text = "SELECT id FROM payment_moves ORDER BY id LIMIT CAST($1 AS BIGINT)";
    let waiting = waiting(db, text).await?;
    if waiting.is_empty() {
        return Ok(Pass::default());
    }
    let mut tx = db.begin().await?;
    tx.lock(lock).await?;
    let taken = tx.sql_among(
        "DELETE FROM payment_moves WHERE id IN",
        waiting.len(),
        "RETURNING day, method, received, settled, refunds, fees, fee_taxes, extra",
    );
    let moves: Vec<PaymentMove> =
        waiting.iter().fold(taken, |taken, (id,)| taken.bind(*id)).all().await?;
    let mut totals = BTreeMap::<(NaiveDate, String), [i64; 6]>::new();
    for moved in &moves {
        let PaymentMove { day, received, settled, refunds, fees, fee_taxes, extra, .. } = *moved;
        let total = totals.entry((day, moved.method.clone())).or_default();
        let more = [received, settled, refunds, fees, fee_taxes, extra];
        total.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    let totals: Vec<_> = totals.into_iter().collect();
    tx.upsert_all(
        "INSERT INTO payment_days (day, method, received, settled, refunds, fees, fee_taxes, extra)",
        8,
        &totals,
        "ON CONFLICT (day, method) DO UPDATE SET
           received = payment_days.received + excluded.received,
           settled = payment_days.settled + excluded.settled,
           refunds = payment_days.refunds + excluded.refunds,
           fees = payment_days.fees + excluded.fees,
           fee_taxes = payment_days.fee_taxes + excluded.fee_taxes,
           extra = payment_days.extra + excluded.extra",
        |statement, ((day, method), sums)| {
            let statement = statement.bind(*day).bind(method.clone());
            sums.iter().fold(statement, |statement, sum| statement.bind(*sum))
        },
    )
    .await?;
    tx.commit().await?;
    Ok(Pass { done: moves.len() as u64, more: waiting.len() == SOME })
}

/// Adds the taxes of some new payments to the totals.
pub async fn roll_up_taxes(db: &Db, lock: &'static str) -> Result<Pass> {
    let text = "SELECT id FROM tax_moves ORDER BY id LIMIT CAST($1 AS BIGINT)";
    let waiting = waiting(db, text).await?;
    if waiting.is_empty() {
        return Ok(Pass::default());
    }
    let mut tx = db.begin().await?;
    tx.lock(lock).await?;
    let taken = tx.sql_among(
        "DELETE FROM tax_moves WHERE id IN",
        waiting.len(),
        "RETURNING day, tax_code, base_factor, amount, base",
    );
    let moves: Vec<TaxMove> =
        waiting.iter().fold(taken, |taken, (id,)| taken.bind(*id)).all().await?;
    let mut totals = BTreeMap::<(NaiveDate, String, String), (i64, i64)>::new();
    for moved in &moves {
        let key = (moved.day, moved.tax_code.clone(), moved.base_factor.clone());
        let total = totals.entry(key).or_default();
        total.0 += moved.amount;
        total.1 += moved.base;
    }
    let totals: Vec<_> = totals.into_iter().collect();
    tx.upsert_all(
        "INSERT INTO tax_days (day, tax_code, base_factor, amount, base)",
        5,
        &totals,
        "ON CONFLICT (day, tax_code, base_factor) DO UPDATE SET
           amount = tax_days.amount + excluded.amount, base = tax_days.base + excluded.base",
        |statement, ((day, tax_code, base_factor), (amount, base))| {
            statement
                .bind(*day)
                .bind(tax_code.clone())
                .bind(base_factor.clone())
                .bind(*amount)
                .bind(*base)
        },
    )
    .await?;
    tx.commit().await?;
    Ok(Pass { done: moves.len() as u64, more: waiting.len() == SOME })
}

/// Makes the totals of payments anew from the payments and the payouts, some payments at a time, so
/// that no statement takes long.
pub async fn rebuild_payments(tx: &mut Tx) -> Result<()> {
    const STEP: i64 = 20_000;
    tx.sql("DELETE FROM payment_moves").run().await?;
    tx.sql("DELETE FROM payment_days").run().await?;
    tx.sql(
        "INSERT INTO payment_days (day, method, received, settled, refunds, fees, fee_taxes, extra)
         SELECT t.paid_on, 'unknown', 0,
           CAST(SUM(CASE WHEN s.gross > 0 THEN s.gross ELSE 0 END) AS BIGINT),
           CAST(SUM(CASE WHEN s.gross < 0 THEN -s.gross ELSE 0 END) AS BIGINT),
           CAST(SUM(s.fee) AS BIGINT), CAST(SUM(s.fee_tax) AS BIGINT),
           CAST(SUM(CASE WHEN s.gross > 0 THEN s.gross ELSE 0 END) AS BIGINT)
         FROM provider_settlement_lines s JOIN provider_settlements t ON t.id = s.settlement_id
         WHERE s.payment_id IS NULL GROUP BY t.paid_on",
    )
    .run()
    .await?;
    let mut after = Uuid::nil();
    loop {
        let until: Option<(Uuid,)> = tx
            .sql(
                "SELECT id FROM (SELECT id FROM payments WHERE id > $1 ORDER BY id
                   LIMIT CAST($2 AS BIGINT)) batch
                 ORDER BY id DESC LIMIT 1",
            )
            .bind(after)
            .bind(STEP)
            .maybe()
            .await?;
        let Some((until,)) = until else { return Ok(()) };
        tx.sql(
            "INSERT INTO payment_days (day, method, received, settled, refunds, fees, fee_taxes,
               extra)
             SELECT received_on, received_by, CAST(SUM(received) AS BIGINT),
               CAST(SUM(settled) AS BIGINT), CAST(SUM(refunds) AS BIGINT),
               CAST(SUM(fees) AS BIGINT), CAST(SUM(fee_taxes) AS BIGINT),
               CAST(SUM(CASE WHEN settled > received THEN settled - received ELSE 0 END)
                 AS BIGINT)
             FROM (SELECT y.id, y.received_on, y.received_by, y.received, y.settled,
                 COALESCE(SUM(CASE WHEN s.gross < 0 THEN -s.gross ELSE 0 END), 0) AS refunds,
                 COALESCE(SUM(s.fee), 0) AS fees, COALESCE(SUM(s.fee_tax), 0) AS fee_taxes
               FROM payments y LEFT JOIN provider_settlement_lines s ON s.payment_id = y.id
               WHERE y.id > $1 AND y.id <= $2 AND y.received_on IS NOT NULL
               GROUP BY y.id, y.received_on, y.received_by, y.received, y.settled) each
             WHERE received_on IS NOT NULL
             GROUP BY received_on, received_by
             ON CONFLICT (day, method) DO UPDATE SET
               received = payment_days.received + excluded.received,
               settled = payment_days.settled + excluded.settled,
               refunds = payment_days.refunds + excluded.refunds,
               fees = payment_days.fees + excluded.fees,
               fee_taxes = payment_days.fee_taxes + excluded.fee_taxes,
               extra = payment_days.extra + excluded.extra",
        )
        .bind(after)
        .bind(until)
        .run()
        .await?;
        after = until;
    }
}

/// Makes the totals of the taxes of one month anew. The caller has deleted the old ones.
pub async fn rebuild_taxes(tx: &mut Tx, month: Month) -> Result<()> {
    tx.sql(
        "INSERT INTO tax_days (day, tax_code, base_factor, amount, base)
         SELECT day, tax_code, base_factor, CAST(SUM(amount) AS BIGINT), CAST(SUM(base) AS BIGINT)
         FROM tax_receipts WHERE day BETWEEN $1 AND $2
         GROUP BY day, tax_code, base_factor",
    )
    .bind(month.first_day())
    .bind(month.last_day())
    .run()
    .await?;
    Ok(())
}
