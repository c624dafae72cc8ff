//! The ledger: postings, totals by day and journal entries.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        rule: "every ledger posting is balanced",
        size: "SELECT COUNT(*) FROM ledger_lines",
        broken:
            "SELECT source || ' ' || kind || ' of ' || COALESCE(MAX(k.code), '?') || ' is off by '
               || CAST(SUM(l.amount) AS TEXT)
            FROM ledger_lines l LEFT JOIN bookings k ON k.id = l.booking_id
            GROUP BY source, source_id, kind HAVING SUM(l.amount) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "totals of ledger days equal the ledger",
        size: "SELECT COUNT(*) FROM ledger_days",
        broken: "SELECT account || ' ' || tax_code || ' on ' || CAST(posted_on AS TEXT)
               || ' is off by ' || CAST(SUM(debit) AS TEXT) || ' and ' || CAST(SUM(credit) AS TEXT)
             FROM (SELECT account, tax_code, posted_on, debit, credit FROM ledger_days
               UNION ALL SELECT account, tax_code, posted_on, debit, credit FROM ledger_moves
               UNION ALL SELECT account, COALESCE(tax_code, ''), posted_on,
                   CASE WHEN amount > 0 THEN -amount ELSE 0 END,
                   CASE WHEN amount < 0 THEN amount ELSE 0 END
                 FROM ledger_lines) each
             GROUP BY account, tax_code, posted_on
             HAVING SUM(debit) <> 0 OR SUM(credit) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "nothing was posted into a month after it was closed",
        size: "SELECT COUNT(*) FROM finance_periods WHERE closed_at IS NOT NULL",
        broken: "SELECT l.source || ' ' || l.kind || ' on ' || CAST(l.posted_on AS TEXT)
             FROM finance_periods p JOIN ledger_lines l ON l.created_at > p.closed_at
               AND substr(CAST(l.posted_on AS TEXT), 1, 7) <= substr(CAST(p.month AS TEXT), 1, 7)
             WHERE p.closed_at IS NOT NULL LIMIT 50",
    },
    Invariant {
        // Two assets can be below zero: a provider takes a refund from what it has not paid out yet
        // (gateway_clearing), and the bank is opened by a journal entry.
        rule: "cash and prepaid taxes are not below zero at the end of any day",
        size: "SELECT COUNT(*) FROM ledger_lines
            WHERE account IN ('cash', 'vat_input', 'prepaid_pph23')",
        broken: "SELECT account || ' ends ' || CAST(posted_on AS TEXT) || ' with '
               || CAST(balance AS TEXT)
             FROM (SELECT account, posted_on,
                 SUM(SUM(amount)) OVER (PARTITION BY account ORDER BY posted_on) AS balance
               FROM ledger_lines WHERE account IN ('cash', 'vat_input', 'prepaid_pph23')
               GROUP BY account, posted_on) days
             WHERE balance < 0 LIMIT 50",
    },
    Invariant {
        rule: "exactly the posted journal entries are in the ledger, and they balance",
        size: "SELECT COUNT(*) FROM journals",
        broken: "SELECT account || ' ' || tax_code || ' of a journal entry is off by '
               || CAST(SUM(amount) AS TEXT)
             FROM (SELECT n.journal_id, n.account, COALESCE(n.tax_code, '') AS tax_code, n.amount
               FROM journal_lines n JOIN journals j ON j.id = n.journal_id
               WHERE j.status = 'posted'
               UNION ALL SELECT source_id, account, COALESCE(tax_code, ''), -amount
               FROM ledger_lines WHERE source = 'journal') each
             GROUP BY journal_id, account, tax_code HAVING SUM(amount) <> 0
             UNION ALL
             SELECT 'the debits of ' || j.memo || ' are not ' || CAST(j.amount AS TEXT)
             FROM journals j LEFT JOIN journal_lines n ON n.journal_id = j.id
             GROUP BY j.id, j.memo, j.amount
             HAVING SUM(n.amount) <> 0 OR COUNT(n.number) < 2
               OR SUM(CASE WHEN n.amount > 0 THEN n.amount ELSE 0 END) <> j.amount LIMIT 50",
    },
    Invariant {
        rule: "a journal entry of a partner is due to it",
        size: "SELECT COUNT(*) FROM journals WHERE partner_id IS NOT NULL",
        broken:
            "SELECT 'a journal entry moved ' || CAST(-COALESCE(l.amount, 0) AS TEXT) || ', and '
               || CAST(COALESCE(d.net, 0) AS TEXT) || ' is due'
             FROM journals j
             LEFT JOIN ledger_lines l ON l.source = 'journal' AND l.source_id = j.id
               AND l.account = 'partner_payable'
             LEFT JOIN partner_dues d ON d.kind = 'journal' AND d.source_id = j.id
             WHERE -COALESCE(l.amount, 0) <> COALESCE(d.net, 0) LIMIT 50",
    },
    Invariant {
        rule: "tax payments and cash deposits equal their postings to the bank",
        size: "SELECT (SELECT COUNT(*) FROM tax_payments) + (SELECT COUNT(*) FROM cash_deposits)",
        broken: "SELECT source || ' is off by ' || CAST(SUM(amount) AS TEXT)
             FROM (SELECT 'tax_payment' AS source, id, -amount AS amount FROM tax_payments
               UNION ALL SELECT 'cash_deposit', id, amount FROM cash_deposits
               UNION ALL SELECT source, source_id, -amount FROM ledger_lines
                 WHERE source IN ('tax_payment', 'cash_deposit') AND account = 'bank') each
             GROUP BY source, id HAVING SUM(amount) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "every deposit entry belongs to a booking",
        size: "SELECT COUNT(*) FROM ledger_lines WHERE account = 'customer_deposits'",
        broken: "SELECT source || ' ' || kind || ': ' || CAST(amount AS TEXT) FROM ledger_lines
            WHERE account = 'customer_deposits' AND booking_id IS NULL LIMIT 50",
    },
];
