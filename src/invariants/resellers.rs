//! Resellers: balance, invoices and payments.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        rule: "an account has a reseller's record if and only if its role is reseller",
        size: "SELECT COUNT(*) FROM resellers",
        broken: "SELECT a.email || CASE WHEN e.id IS NULL THEN ' is a reseller without a record'
               ELSE ' has a record, and its role is ' || a.role END
             FROM accounts a LEFT JOIN resellers e ON e.account_id = a.id
             WHERE (a.role = 'reseller') <> (e.id IS NOT NULL) LIMIT 50",
    },
    Invariant {
        rule: "the balance of a reseller is what it owes by the ledger",
        size: "SELECT COUNT(*) FROM resellers",
        broken: "SELECT e.legal_name || ' owes ' || CAST(e.balance AS TEXT) || ', by the ledger '
               || CAST(COALESCE(l.amount, 0) AS TEXT)
             FROM resellers e LEFT JOIN
               (SELECT reseller_id, SUM(amount) AS amount FROM ledger_lines
                WHERE reseller_id IS NOT NULL GROUP BY reseller_id) l ON l.reseller_id = e.id
             WHERE e.balance <> COALESCE(l.amount, 0) LIMIT 50",
    },
    Invariant {
        rule: "the unpaid bookings of a reseller are counted",
        size: "SELECT COUNT(*) FROM resellers",
        broken: "SELECT e.legal_name || ' has ' || CAST(COALESCE(k.unpaid, 0) AS TEXT)
               || ' unpaid bookings, counted ' || CAST(e.held AS TEXT)
             FROM resellers e LEFT JOIN
               (SELECT reseller_id, COUNT(*) AS unpaid FROM bookings
                WHERE status = 'pending_payment' AND reseller_id IS NOT NULL
                GROUP BY reseller_id) k ON k.reseller_id = e.id
             WHERE e.held <> COALESCE(k.unpaid, 0) LIMIT 50",
    },
    Invariant {
        rule: "an invoice is the sum of what its reseller owes by its lines",
        size: "SELECT COUNT(*) FROM reseller_invoices",
        broken: "SELECT v.code || ' is ' || CAST(v.amount AS TEXT) || ', its lines '
               || CAST(COALESCE(SUM(l.amount), 0) AS TEXT)
             FROM reseller_invoices v
             LEFT JOIN reseller_invoice_lines i ON i.invoice_id = v.id
             LEFT JOIN ledger_lines l ON l.id = i.line_id AND l.reseller_id = v.reseller_id
               AND l.source <> 'reseller_payment' AND l.posted_on <= v.end_date
             GROUP BY v.id, v.code, v.amount
             HAVING v.amount <> COALESCE(SUM(l.amount), 0) OR COUNT(*) <> COUNT(l.id) LIMIT 50",
    },
    Invariant {
        rule: "payments and credits of a reseller have settled its invoices or are unapplied",
        size: "SELECT COUNT(*) FROM reseller_payments",
        broken: "SELECT e.legal_name || ' has paid ' || CAST(COALESCE(SUM(o.paid), 0) AS TEXT)
               || ', used ' || CAST(COALESCE(SUM(o.used), 0) AS TEXT) || ' and has left '
               || CAST(e.unapplied AS TEXT)
             FROM resellers e LEFT JOIN
               (SELECT reseller_id, amount AS paid, 0 AS used FROM reseller_payments
                UNION ALL SELECT reseller_id, CASE WHEN amount < 0 THEN -amount ELSE 0 END, paid
                FROM reseller_invoices) o ON o.reseller_id = e.id
             GROUP BY e.id, e.legal_name, e.unapplied
             HAVING COALESCE(SUM(o.paid), 0) <> COALESCE(SUM(o.used), 0) + e.unapplied LIMIT 50",
    },
];
