//! Taxes: what customers and partners were charged is what is owed to the state.

use super::Invariant;

/// The taxes that customers paid, one row each: up to ten of a booking.
macro_rules! with_taxes {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "(SELECT k.id AS booking_id, k.total, (k.taxes -> i.n) ->> 'code' AS code,
                CAST((k.taxes -> i.n) ->> 'amount' AS BIGINT) AS amount
              FROM bookings k JOIN
                (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
                 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7
                 UNION ALL SELECT 8 UNION ALL SELECT 9) i ON (k.taxes -> i.n) IS NOT NULL)",
            $after
        )
    };
}

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        rule: "totals of received taxes equal those in the prices of what was paid",
        size: "SELECT COUNT(*) FROM tax_days",
        broken: "SELECT CAST(day AS TEXT) || ', ' || tax_code || ': ' || CAST(SUM(amount) AS TEXT)
               || ' too much of ' || CAST(SUM(base) AS TEXT)
             FROM (SELECT day, tax_code, base_factor, amount, base FROM tax_days
               UNION ALL SELECT day, tax_code, base_factor, amount, base FROM tax_moves
               UNION ALL SELECT day, tax_code, base_factor, -amount, -base FROM tax_receipts) each
             GROUP BY day, tax_code, base_factor
             HAVING SUM(amount) <> 0 OR SUM(base) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "a cancelled booking's tax is kept in proportion",
        size: "SELECT COUNT(*) FROM ledger_lines WHERE kind = 'kept'",
        broken:
            "SELECT k.code || ' kept ' || CAST(d.kept AS TEXT) || ' of ' || CAST(k.total AS TEXT)
               || ' and owes ' || CAST(COALESCE(t.tax, 0) - COALESCE(u.tax, 0) AS TEXT)
               || ' of ' || CAST(k.tax AS TEXT) || ' tax'
             FROM bookings k JOIN
               (SELECT booking_id, SUM(amount) AS kept FROM ledger_lines
                WHERE kind = 'kept' AND account = 'customer_deposits' AND source <> 'cancellation'
                GROUP BY booking_id) d
               ON d.booking_id = k.id
             LEFT JOIN
               (SELECT booking_id, -SUM(amount) AS tax FROM ledger_lines
                WHERE kind = 'kept' AND account = 'tax_payable' AND source <> 'cancellation'
                GROUP BY booking_id) t
               ON t.booking_id = k.id
             LEFT JOIN
               (SELECT booking_id, SUM(commission_tax) AS tax FROM partner_dues
                WHERE kind = 'kept' AND source_id IS NULL GROUP BY booking_id) u
               ON u.booking_id = k.id
             WHERE ABS((COALESCE(t.tax, 0) - COALESCE(u.tax, 0)) * k.total - k.tax * d.kept)
               > 4 * k.total LIMIT 50",
    },
    Invariant {
        rule: "taxes of bookings are owed to the state in proportion to what was earned",
        size: "SELECT COUNT(*) FROM ledger_lines WHERE account = 'tax_payable'",
        broken: with_taxes!(
            "SELECT k.code || ' owes ' || CAST(COALESCE(l.amount, 0) AS TEXT) || ' of ' || e.code
               || ', not ' || CAST(e.amount AS TEXT)
             FROM (SELECT t.booking_id, t.code, SUM(t.amount * CASE d.kind WHEN 'completed' THEN 1.0
                 ELSE CAST(d.amount AS DOUBLE PRECISION) / t.total END) AS amount
               FROM ",
            " t JOIN
                 (SELECT booking_id, kind, SUM(amount) AS amount FROM ledger_lines
                  WHERE account = 'customer_deposits' AND source <> 'cancellation'
                    AND kind IN ('completed', 'kept', 'completion_reversed')
                  GROUP BY booking_id, kind) d ON d.booking_id = t.booking_id
               WHERE t.total > 0 GROUP BY t.booking_id, t.code) e
             JOIN bookings k ON k.id = e.booking_id LEFT JOIN
               (SELECT booking_id, tax_code, -SUM(amount) AS amount FROM ledger_lines
                WHERE account = 'tax_payable' AND source <> 'cancellation'
                  AND kind IN ('completed', 'kept', 'completion_reversed')
                GROUP BY booking_id, tax_code) l
               ON l.booking_id = e.booking_id AND l.tax_code = e.code
             WHERE ABS(COALESCE(l.amount, 0) - e.amount) > 0.501 LIMIT 50"
        ),
    },
    Invariant {
        rule: "taxes on commission are owed to the state as they are charged to partners",
        size: "SELECT COUNT(*) FROM partner_dues WHERE commission_tax <> 0",
        broken: with_taxes!(
            "SELECT k.code || ' owes ' || CAST(SUM(e.amount) AS TEXT) || ' more than is charged'
             FROM (SELECT l.booking_id, -l.amount AS amount FROM ledger_lines l LEFT JOIN ",
            " t ON t.booking_id = l.booking_id AND t.code = l.tax_code
               WHERE l.account = 'tax_payable' AND t.code IS NULL
                 AND l.kind IN ('completed', 'kept', 'completion_reversed')
               UNION ALL
               SELECT booking_id, -commission_tax FROM partner_dues
               WHERE kind IN ('sale', 'kept', 'reversal')) e
             JOIN bookings k ON k.id = e.booking_id
             GROUP BY k.id, k.code HAVING SUM(e.amount) <> 0 LIMIT 50"
        ),
    },
];
