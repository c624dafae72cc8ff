//! Invariants of the data, each as a query for violations.
//!
//! Every invariant is one statement, so that a live database is not blocked and the statement sees a
//! consistent snapshot under concurrent sales.

/// The bookings that hold seats and promotions, between the two parts of a statement.
macro_rules! live {
    ($before:literal, $after:literal) => {
        concat!($before, "('pending_payment', 'paid', 'completed')", $after)
    };
}

/// The taxes on these fare lines without a margin, computed for each passenger and rounded half up. The
/// statement begins with the numbers `n (i)`.
macro_rules! retail_tax {
    ($($lines:literal)+, $($taxes:literal)+) => {
        concat!(
            "(SELECT COALESCE(SUM(count
                 * ((2 * unit_price * numerator + denominator) / (2 * denominator))), 0)
              FROM (SELECT CAST((",
            $($lines,)+
            " -> i) ->> 'count' AS BIGINT) AS count,
                  CAST((",
            $($lines,)+
            " -> i) ->> 'unit_price' AS BIGINT) AS unit_price
                FROM n WHERE (",
            $($lines,)+
            " -> i) IS NOT NULL) lines
              CROSS JOIN (SELECT
                  points * CAST(rtrim(rtrim(factor, '0123456789'), '/') AS BIGINT) AS numerator,
                  10000 * CAST(ltrim(ltrim(factor, '0123456789'), '/') AS BIGINT) AS denominator
                FROM (SELECT
                    CAST(ROUND(CAST((",
            $($taxes,)+
            " -> i) ->> 'rate' AS NUMERIC) * 100) AS BIGINT) AS points,
                    COALESCE(NULLIF((",
            $($taxes,)+
            " -> i) ->> 'base_factor', '1'), '1/1') AS factor
                  FROM n WHERE (",
            $($taxes,)+
            " -> i) IS NOT NULL) parts) rates)"
        )
    };
}

/// The surcharge of a price that is stored as a whole. The statement begins with the numbers `n (i)`.
macro_rules! surcharge {
    ($price:literal) => {
        concat!(
            "CAST(CAST(",
            $price,
            " ->> 'margin' AS BIGINT) - CAST(",
            $price,
            " ->> 'tax' AS BIGINT) + ",
            retail_tax!("(" $price " -> 'lines')", "(" $price " -> 'taxes')"),
            " AS BIGINT)"
        )
    };
}

mod accounts;
mod bookings;
mod ledger;
mod payments;
mod refunds;
mod reports;
mod resellers;
mod sailings;
mod settlements;
mod taxes;

use crate::kernel::{db::Db, error::Result};

/// Result of checking an invariant.
pub struct Checked {
    pub rule: &'static str,
    pub looked_at: i64,
    pub broken: Vec<String>,
}

struct Invariant {
    rule: &'static str,
    /// Counts the rows that the rule applies to.
    size: &'static str,
    /// Finds violations, each described as one text.
    broken: &'static str,
}

const SUBJECTS: &[&[Invariant]] = &[
    sailings::INVARIANTS,
    bookings::INVARIANTS,
    ledger::INVARIANTS,
    payments::INVARIANTS,
    refunds::INVARIANTS,
    taxes::INVARIANTS,
    settlements::INVARIANTS,
    resellers::INVARIANTS,
    reports::INVARIANTS,
    accounts::INVARIANTS,
];

/// Checks all invariants.
pub async fn check(db: &Db) -> Result<Vec<Checked>> {
    let mut checked = Vec::new();
    for subject in SUBJECTS {
        for invariant in *subject {
            let looked_at = db.sql(invariant.size).scalar().await?;
            let broken: Vec<(String,)> = db.sql(invariant.broken).all().await?;
            let broken = broken.into_iter().map(|(text,)| text).collect();
            checked.push(Checked { rule: invariant.rule, looked_at, broken });
        }
    }
    Ok(checked)
}
