//! Totals of what customers paid, by day: per method of payment, with what providers have settled of
//! it (`payment_days`), and per tax (`tax_days`).
//!
//! They are kept like those of the ledger: triggers write rows of `payment_moves` and `tax_moves`, a
//! job adds them to the totals and deletes them, and a report reads both in one statement.

use super::{Month, days::LOCK};
use crate::{
    kernel::{db::Tx, error::Result, ids::Uuid, roll_up::RollUp},
    roll_up,
};

pub const PAYMENTS: RollUp = roll_up!(
    LOCK, "payment_moves" => "payment_days"
    by ("day", "method") of ("received", "settled", "refunds", "fees", "fee_taxes", "extra")
);
pub const TAXES: RollUp = roll_up!(
    LOCK, "tax_moves" => "tax_days" by ("day", "tax_code", "base_factor") of ("amount", "base")
);

/// Rebuilds the totals of payments from the payments and the payouts, some payments at a time, so
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

/// Rebuilds the totals of the taxes of one month. The caller has deleted the old ones.
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
