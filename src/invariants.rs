//! Invariants of the data, each as a query for violations.
//!
//! Every invariant is one statement, so that a live database is not blocked and the statement sees a
//! consistent snapshot under concurrent sales.

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

macro_rules! live {
    ($before:literal, $after:literal) => {
        concat!($before, "('pending_payment', 'paid', 'completed')", $after)
    };
}

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

/// Condition: a line of money that a customer paid, or a reseller owes for it, or (negative) whose payment was voided. A review
/// that applies money to a reschedule takes it off again, because the posting of the reschedule has it.
macro_rules! receipts {
    ($before:literal $(, $after:literal)?) => {
        concat!(
            $before,
            "(l.account IN ('gateway_clearing', 'cash', 'partner_payable', 'reseller_receivable')
               AND ((l.source = 'booking' AND l.kind IN ('paid', 'late_payment'))
                 OR (l.source = 'payment' AND l.kind = 'unapplied')
                 OR (l.source = 'reschedule' AND l.kind = 'rescheduled')
                 OR (l.source = 'review' AND l.kind IN ('apply', 'dismiss'))))"
            $(, $after)?
        )
    };
}

const INVARIANTS: &[Invariant] = &[
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
        rule: "totals of sailings by day equal the open sailings",
        size: "SELECT COUNT(*) FROM sailing_days",
        broken: "SELECT CAST(day AS TEXT) || ' has ' || CAST(SUM(departures) AS TEXT)
               || ' departures and ' || CAST(SUM(seats_taken) AS TEXT) || ' seats too many'
             FROM (SELECT day, departures, tallied, seats, seats_taken FROM sailing_days
               UNION ALL SELECT day, departures, tallied, seats, seats_taken FROM sailing_moves
               UNION ALL SELECT day, -1, CASE WHEN tallied THEN -1 ELSE 0 END,
                 CASE WHEN tallied THEN -capacity ELSE 0 END,
                 CASE WHEN tallied THEN -seats_taken ELSE 0 END
                 FROM sailings WHERE status = 'open') each
             GROUP BY day
             HAVING SUM(departures) <> 0 OR SUM(tallied) <> 0 OR SUM(seats) <> 0
               OR SUM(seats_taken) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "payments have what came in by the ledger and what providers have settled",
        size: "SELECT COUNT(*) FROM payments",
        broken: "SELECT y.reference || ' has ' || CAST(-SUM(each.received) AS TEXT)
               || ' received and ' || CAST(-SUM(each.settled) AS TEXT) || ' settled too much'
             FROM (SELECT payment_id, amount AS received, 0 AS settled FROM receipts
               UNION ALL SELECT payment_id, 0, gross FROM provider_settlement_lines
                 WHERE payment_id IS NOT NULL AND gross > 0
               UNION ALL SELECT id, -received, -settled FROM payments
                 WHERE received <> 0 OR settled <> 0) each
             JOIN payments y ON y.id = each.payment_id
             GROUP BY y.id, y.reference
             HAVING SUM(each.received) <> 0 OR SUM(each.settled) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "totals of payments by day equal the payments and the payouts of providers",
        size: "SELECT COUNT(*) FROM payment_days",
        broken: "SELECT CAST(day AS TEXT) || ' by ' || method || ': ' || CAST(SUM(received) AS TEXT)
               || ' received, ' || CAST(SUM(settled) AS TEXT) || ' settled, '
               || CAST(SUM(refunds) AS TEXT) || ' refunded, ' || CAST(SUM(fees) AS TEXT)
               || ' of fees, ' || CAST(SUM(extra) AS TEXT) || ' extra too much'
             FROM (SELECT day, method, received, settled, refunds, fees, fee_taxes, extra
                 FROM payment_days
               UNION ALL SELECT day, method, received, settled, refunds, fees, fee_taxes, extra
                 FROM payment_moves
               UNION ALL SELECT received_on, received_by, -received, -settled, 0, 0, 0,
                 CASE WHEN settled > received THEN received - settled ELSE 0 END
                 FROM payments WHERE received_on IS NOT NULL
               UNION ALL SELECT y.received_on, y.received_by, 0, 0,
                 CASE WHEN s.gross < 0 THEN s.gross ELSE 0 END, -s.fee, -s.fee_tax, 0
                 FROM provider_settlement_lines s JOIN payments y ON y.id = s.payment_id
                 WHERE y.received_on IS NOT NULL
               UNION ALL SELECT t.paid_on, 'unknown', 0,
                 CASE WHEN s.gross > 0 THEN -s.gross ELSE 0 END,
                 CASE WHEN s.gross < 0 THEN s.gross ELSE 0 END, -s.fee, -s.fee_tax,
                 CASE WHEN s.gross > 0 THEN -s.gross ELSE 0 END
                 FROM provider_settlement_lines s
                 JOIN provider_settlements t ON t.id = s.settlement_id
                 WHERE s.payment_id IS NULL) each
             GROUP BY day, method
             HAVING SUM(received) <> 0 OR SUM(settled) <> 0 OR SUM(refunds) <> 0
               OR SUM(fees) <> 0 OR SUM(fee_taxes) <> 0 OR SUM(extra) <> 0 LIMIT 50",
    },
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
        rule: "nothing was posted into a month after it was closed",
        size: "SELECT COUNT(*) FROM finance_periods WHERE closed_at IS NOT NULL",
        broken: "SELECT l.source || ' ' || l.kind || ' on ' || CAST(l.posted_on AS TEXT)
             FROM finance_periods p JOIN ledger_lines l ON l.created_at > p.closed_at
               AND substr(CAST(l.posted_on AS TEXT), 1, 7) <= substr(CAST(p.month AS TEXT), 1, 7)
             WHERE p.closed_at IS NOT NULL LIMIT 50",
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
        rule: "a provider settlement equals its lines and its posting",
        size: "SELECT COUNT(*) FROM provider_settlements",
        broken: "SELECT t.provider || ' ' || t.payout_id
             FROM provider_settlements t LEFT JOIN
               (SELECT settlement_id, COUNT(*) AS lines, SUM(gross) AS gross, SUM(fee) AS fee,
                  SUM(fee_tax) AS fee_tax, SUM(net) AS net,
                  SUM(CASE WHEN payment_id IS NULL THEN gross ELSE 0 END) AS unknown_gross
                FROM provider_settlement_lines GROUP BY settlement_id) n ON n.settlement_id = t.id
             LEFT JOIN
               (SELECT source_id,
                  SUM(CASE WHEN account = 'bank' THEN amount ELSE 0 END) AS bank,
                  SUM(CASE WHEN account = 'gateway_fees' THEN amount ELSE 0 END) AS fees,
                  SUM(CASE WHEN account = 'vat_input' THEN amount ELSE 0 END) AS vat,
                  SUM(CASE WHEN account = 'gateway_clearing' THEN amount ELSE 0 END) AS clearing,
                  SUM(CASE WHEN account = 'suspense' THEN amount ELSE 0 END) AS suspense
                FROM ledger_lines WHERE source = 'provider_settlement' GROUP BY source_id) l
               ON l.source_id = t.id
             WHERE COALESCE(n.lines, 0) <> t.line_count OR n.gross <> t.gross OR n.fee <> t.fee
               OR n.fee_tax <> t.fee_tax OR n.net <> t.net
               OR n.unknown_gross <> t.unknown_gross
               OR COALESCE(l.bank, 0) <> t.net OR COALESCE(l.fees, 0) <> t.fee
               OR COALESCE(l.vat, 0) <> t.fee_tax OR COALESCE(l.suspense, 0) <> -t.unknown_gross
               OR COALESCE(l.clearing, 0) <> t.unknown_gross - t.gross LIMIT 50",
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
    Invariant {
        rule: "seats taken equal the seats of live bookings and pending reschedules",
        size: "SELECT COUNT(*) FROM sailings WHERE seats_taken > 0",
        broken: live!(
            "SELECT 'a sailing at ' || CAST(s.departure_at AS TEXT) || ' has '
               || CAST(s.seats_taken AS TEXT) || ' seats taken and '
               || CAST(COALESCE(k.seats, 0) AS TEXT) || ' booked'
             FROM sailings s LEFT JOIN
               (SELECT sailing_id, SUM(seats) AS seats FROM
                  (SELECT to_sailing_id AS sailing_id, seats FROM reschedules
                   WHERE status = 'pending'
                   UNION ALL SELECT sailing_id, seats FROM bookings WHERE status IN ",
            ") held GROUP BY sailing_id) k ON k.sailing_id = s.id
             WHERE s.seats_taken <> COALESCE(k.seats, 0) LIMIT 50"
        ),
    },
    Invariant {
        rule: "a sailing is chartered if and only if it has a live charter",
        size: "SELECT COUNT(*) FROM sailings WHERE chartered",
        broken: live!(
            "SELECT 'a sailing at ' || CAST(s.departure_at AS TEXT)
             FROM sailings s LEFT JOIN
               (SELECT to_sailing_id AS sailing_id FROM reschedules
                WHERE type = 'charter' AND status = 'pending'
                UNION SELECT sailing_id FROM bookings WHERE type = 'charter' AND status IN ",
            ") k ON k.sailing_id = s.id
             WHERE s.chartered <> (k.sailing_id IS NOT NULL) LIMIT 50"
        ),
    },
    Invariant {
        rule: "a booking has the departure time of its sailing",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT k.code FROM bookings k JOIN sailings s ON s.id = k.sailing_id
             WHERE k.departure_at <> s.departure_at LIMIT 50",
    },
    Invariant {
        rule: "a booking has the boat of its sailing",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT k.code FROM bookings k JOIN sailings s ON s.id = k.sailing_id
             WHERE k.speedboat_id <> s.speedboat_id LIMIT 50",
    },
    Invariant {
        rule: "a harbour is found by its name",
        size: "SELECT COUNT(*) FROM harbours",
        broken: "SELECT h.name FROM harbours h
             WHERE NOT EXISTS (SELECT 1 FROM harbour_names n
               WHERE n.harbour_id = h.id AND n.name = h.name) LIMIT 50",
    },
    Invariant {
        rule: "exactly the closed manifests are stored",
        size: "SELECT COUNT(*) FROM manifests",
        broken: "SELECT 'a sailing at ' || CAST(s.departure_at AS TEXT)
             FROM sailings s LEFT JOIN manifests m ON m.sailing_id = s.id
             WHERE (s.manifest_closed_at IS NULL) <> (m.sailing_id IS NULL) LIMIT 50",
    },
    Invariant {
        rule: "a cancelled sailing has no live bookings",
        size: "SELECT COUNT(*) FROM sailings WHERE status <> 'open'",
        broken: "SELECT k.code || ' (' || k.status || ')'
             FROM sailings s JOIN bookings k ON k.sailing_id = s.id
             WHERE s.status <> 'open' AND k.status IN ('pending_payment', 'paid') LIMIT 50",
    },
    Invariant {
        rule: "promotion uses equal those of live bookings",
        size: "SELECT COUNT(*) FROM promotions",
        broken: live!(
            "SELECT p.code || ' has ' || CAST(p.used AS TEXT) || ' uses and '
               || CAST(COALESCE(k.bookings, 0) AS TEXT) || ' bookings'
             FROM promotions p LEFT JOIN
               (SELECT promotion_id, COUNT(*) AS bookings FROM bookings
                WHERE promotion_id IS NOT NULL AND status IN ",
            " GROUP BY promotion_id) k ON k.promotion_id = p.id
             WHERE p.used <> COALESCE(k.bookings, 0) LIMIT 50"
        ),
    },
    Invariant {
        rule: "promotion uses per customer equal those of live bookings",
        size: "SELECT COUNT(*) FROM promotion_uses",
        broken: live!(
            "SELECT c.code || ': a customer has ' || CAST(u.used AS TEXT) || ' uses and '
               || CAST(COALESCE(k.bookings, 0) AS TEXT) || ' bookings'
             FROM promotion_uses u JOIN promotions c ON c.id = u.promotion_id LEFT JOIN
               (SELECT promotion_id, contact_email, COUNT(*) AS bookings FROM bookings
                WHERE promotion_id IS NOT NULL AND status IN ",
            " GROUP BY promotion_id, contact_email) k
               ON k.promotion_id = u.promotion_id AND k.contact_email = u.email
             WHERE u.used <> COALESCE(k.bookings, 0) LIMIT 50"
        ),
    },
    Invariant {
        rule: "hold counters equal the unpaid bookings that are held",
        size: "SELECT COUNT(*) FROM unpaid_holds",
        broken: "SELECT 'a counter by ' || kind || ' is off by ' || CAST(SUM(held) AS TEXT)
             FROM (SELECT kind, subject, held FROM unpaid_holds
                UNION ALL SELECT 'email', held_email, -1 FROM bookings
                WHERE status = 'pending_payment' AND held_email IS NOT NULL
                UNION ALL SELECT 'network', held_network, -1 FROM bookings
                WHERE status = 'pending_payment' AND held_email IS NOT NULL
                UNION ALL SELECT 'charter', held_network, -1 FROM bookings
                WHERE status = 'pending_payment' AND held_email IS NOT NULL
                  AND type = 'charter') each
             GROUP BY kind, subject HAVING SUM(held) <> 0
             UNION ALL
             SELECT code || ' is no longer unpaid, and still counted' FROM bookings
             WHERE status <> 'pending_payment'
               AND (held_email IS NOT NULL OR held_network IS NOT NULL) LIMIT 50",
    },
    Invariant {
        rule: "deposits equal the totals of paid bookings",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT k.code || ' (' || k.status || ') has '
               || CAST(-COALESCE(l.amount, 0) AS TEXT) || ' in deposits, not '
               || CAST(CASE WHEN k.status = 'paid' THEN k.total ELSE 0 END AS TEXT)
             FROM bookings k LEFT JOIN
               (SELECT booking_id, SUM(amount) AS amount FROM ledger_lines
                WHERE account = 'customer_deposits' GROUP BY booking_id) l ON l.booking_id = k.id
             WHERE -COALESCE(l.amount, 0) <> CASE WHEN k.status = 'paid' THEN k.total ELSE 0 END
             LIMIT 50",
    },
    Invariant {
        rule: "unpaid refunds equal the refund payable",
        size: "SELECT COUNT(*) FROM refunds",
        broken: "SELECT COALESCE(k.code, 'no booking') || ' owes ' || CAST(SUM(o.unpaid) AS TEXT)
               || ', the ledger ' || CAST(SUM(o.payable) AS TEXT)
             FROM (SELECT booking_id, unpaid, 0 AS payable FROM refunds WHERE unpaid > 0
                UNION ALL SELECT booking_id, 0, -amount FROM ledger_lines
                WHERE account = 'refund_payable') o
             LEFT JOIN bookings k ON k.id = o.booking_id
             GROUP BY o.booking_id, k.code HAVING SUM(o.unpaid) <> SUM(o.payable) LIMIT 50",
    },
    Invariant {
        rule: "a refund is unpaid by its amount less its payments",
        size: "SELECT COUNT(*) FROM refund_payments",
        broken: "SELECT f.code || ' (' || f.status || ') has ' || CAST(f.unpaid AS TEXT)
               || ' unpaid, and was paid ' || CAST(COALESCE(p.paid, 0) AS TEXT)
             FROM refunds f LEFT JOIN
               (SELECT refund_id, SUM(amount) AS paid FROM refund_payments
                WHERE returned_at IS NULL GROUP BY refund_id) p ON p.refund_id = f.id
             WHERE CASE WHEN f.status = 'void' THEN COALESCE(p.paid, 0) <> 0
               ELSE f.unpaid <> f.amount - COALESCE(p.paid, 0) END LIMIT 50",
    },
    Invariant {
        rule: "exactly the bookings that owe their cancellation wait for a refund",
        size: "SELECT COUNT(*) FROM bookings WHERE refund_amount IS NOT NULL",
        broken: "SELECT k.code || ' (' || k.status || ') is to refund '
               || CAST(COALESCE(k.refund_amount, 0) AS TEXT) || ', its refunds are '
               || CAST(COALESCE(f.amount, 0) AS TEXT) || ' with '
               || CAST(COALESCE(f.unpaid, 0) AS TEXT) || ' unpaid'
             FROM bookings k LEFT JOIN
               (SELECT booking_id, SUM(amount) AS amount, SUM(unpaid) AS unpaid FROM refunds
                WHERE status <> 'void' AND review_id IS NULL AND cancellation_id IS NULL
                  AND kind IN ('cancellation', 'late', 'complaint')
                GROUP BY booking_id) f ON f.booking_id = k.id
             WHERE COALESCE(k.refund_amount, 0) <> COALESCE(f.amount, 0)
               OR (k.status = 'refund_pending') <> (COALESCE(f.unpaid, 0) > 0) LIMIT 50",
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
        rule: "the shares of a partly cancelled booking sum to what was paid",
        size: "SELECT COUNT(*) FROM passenger_cancellations",
        broken: "SELECT k.code || ' was paid ' || CAST(-l.amount AS TEXT) || ', its rest costs '
               || CAST(k.total AS TEXT) || ', those cancelled ' || CAST(c.total AS TEXT)
             FROM bookings k JOIN
               (SELECT booking_id, SUM(total) AS total FROM passenger_cancellations
                GROUP BY booking_id) c ON c.booking_id = k.id
             JOIN
               (SELECT booking_id, SUM(amount) AS amount FROM ledger_lines
                WHERE account = 'customer_deposits'
                  AND kind IN ('paid', 'apply', 'rescheduled') GROUP BY booking_id) l
               ON l.booking_id = k.id
             WHERE k.total + c.total <> -l.amount
             UNION ALL
             SELECT k.code || ' owes ' || CAST(COALESCE(f.amount, 0) AS TEXT) || ' and keeps '
               || CAST(COALESCE(d.kept, 0) AS TEXT) || ' of ' || CAST(c.total AS TEXT)
             FROM passenger_cancellations c JOIN bookings k ON k.id = c.booking_id
             LEFT JOIN refunds f ON f.cancellation_id = c.id
             LEFT JOIN
               (SELECT source_id, SUM(amount) AS kept FROM ledger_lines
                WHERE source = 'cancellation' AND kind = 'kept' AND account = 'customer_deposits'
                GROUP BY source_id) d ON d.source_id = c.id
             WHERE COALESCE(f.amount, 0) <> c.refund
               OR COALESCE(d.kept, 0) + c.refund <> c.total LIMIT 50",
    },
    Invariant {
        rule: "the cancelled passengers of a booking are those of its cancellations",
        size: "SELECT COUNT(*) FROM passenger_cancellations",
        broken: "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
             SELECT k.code || ' has ' || CAST(c.listed AS TEXT) || ' cancelled passengers, not '
               || CAST(c.qty AS TEXT)
             FROM (SELECT booking_id, SUM(qty) AS qty, SUM(listed) AS listed
               FROM (SELECT booking_id, qty, 0 AS listed FROM passenger_cancellations
                 UNION ALL
                 SELECT k.id, 0, 1 FROM bookings k
                 JOIN n ON (k.cancelled_passengers -> n.i) IS NOT NULL
                 WHERE k.cancelled_passengers <> '[]') each
               GROUP BY booking_id) c
             JOIN bookings k ON k.id = c.booking_id WHERE c.qty <> c.listed LIMIT 50",
    },
    Invariant {
        rule: "partner postings of a booking equal its dues",
        size: "SELECT COUNT(*) FROM partner_dues",
        broken:
            "SELECT k.code || ' (' || k.status || ') moved ' || CAST(-COALESCE(l.amount, 0) AS TEXT)
               || ', and ' || CAST(COALESCE(d.net, 0) AS TEXT) || ' is due'
             FROM bookings k LEFT JOIN
               (SELECT booking_id, SUM(amount) AS amount FROM ledger_lines
                WHERE account = 'partner_payable' GROUP BY booking_id) l ON l.booking_id = k.id
             LEFT JOIN
               (SELECT booking_id, SUM(net) AS net FROM partner_dues GROUP BY booking_id) d
               ON d.booking_id = k.id
             WHERE k.status <> 'paid' AND -COALESCE(l.amount, 0) <> COALESCE(d.net, 0) LIMIT 50",
    },
    Invariant {
        rule: "a completed booking has a due with the amounts of the sale",
        size: "SELECT COUNT(*) FROM bookings WHERE status = 'completed'",
        broken: "SELECT k.code FROM bookings k LEFT JOIN partner_dues d
               ON d.booking_id = k.id AND d.kind = 'sale'
             WHERE k.status = 'completed'
               AND (COALESCE(d.gross, 0) <> k.subtotal - k.partner_discount
                 OR COALESCE(d.commission, 0) <> k.commission
                 OR COALESCE(d.commission_tax, 0) <> k.commission_tax) LIMIT 50",
    },
    Invariant {
        rule: "partner payable equals dues not paid out less cash collected in advance",
        size: "SELECT COUNT(*) FROM partners",
        broken: "SELECT a.name || ' is owed ' || CAST(COALESCE(l.owed, 0) AS TEXT) || ', not '
               || CAST(COALESCE(d.net, 0) - COALESCE(c.taken, 0) AS TEXT)
             FROM partners p JOIN accounts a ON a.id = p.account_id LEFT JOIN
               (SELECT partner_id, -SUM(amount) AS owed FROM ledger_lines
                WHERE account = 'partner_payable' GROUP BY partner_id) l ON l.partner_id = p.id
             LEFT JOIN
               (SELECT d.partner_id, SUM(d.net) AS net FROM partner_dues d
                LEFT JOIN settlements t ON t.id = d.settlement_id
                WHERE t.status IS NULL OR t.status IN ('pending', 'processing')
                GROUP BY d.partner_id) d
               ON d.partner_id = p.id
             LEFT JOIN
               (SELECT partner_id, SUM(amount) AS taken FROM
                  (SELECT l.partner_id, l.amount FROM ledger_lines l
                   JOIN bookings k ON k.id = l.booking_id
                   WHERE l.account = 'partner_payable' AND k.status = 'paid'
                   UNION ALL
                   SELECT d.partner_id, d.net FROM partner_dues d
                   JOIN bookings k ON k.id = d.booking_id WHERE k.status = 'paid') cash
                GROUP BY partner_id) c ON c.partner_id = p.id
             WHERE COALESCE(l.owed, 0) <> COALESCE(d.net, 0) - COALESCE(c.taken, 0) LIMIT 50",
    },
    Invariant {
        rule: "a settlement equals the sum of its items",
        size: "SELECT COUNT(*) FROM settlements",
        broken: "SELECT t.code || ' has ' || CAST(t.net AS TEXT) || ', its items '
               || CAST(COALESCE(i.net, 0) AS TEXT)
             FROM settlements t LEFT JOIN
               (SELECT i.settlement_id, SUM(d.net) AS net, SUM(d.gross) AS gross,
                  SUM(d.commission) AS commission, SUM(d.commission_tax) AS commission_tax,
                  COUNT(DISTINCT d.booking_id) AS bookings
                FROM settlement_items i JOIN partner_dues d ON d.id = i.due_id
                GROUP BY i.settlement_id) i ON i.settlement_id = t.id
             WHERE t.net <> COALESCE(i.net, 0) OR t.gross <> COALESCE(i.gross, 0)
               OR t.commission <> COALESCE(i.commission, 0)
               OR t.commission_tax <> COALESCE(i.commission_tax, 0)
               OR t.booking_count <> COALESCE(i.bookings, 0) LIMIT 50",
    },
    Invariant {
        rule: "dues of live settlements are assigned to them, those of cancelled ones are not",
        size: "SELECT COUNT(*) FROM settlement_items",
        broken: "SELECT t.code || ' (' || t.status || ')'
             FROM settlements t JOIN settlement_items i ON i.settlement_id = t.id
             JOIN partner_dues d ON d.id = i.due_id
             WHERE (t.status = 'cancelled')
               = (d.settlement_id IS NOT NULL AND d.settlement_id = t.id)
             UNION
             SELECT t.code || ' lists less than it took'
             FROM settlements t JOIN partner_dues d ON d.settlement_id = t.id
             LEFT JOIN settlement_items i ON i.settlement_id = t.id AND i.due_id = d.id
             WHERE i.due_id IS NULL
               AND NOT (t.status = 'cancelled' AND d.kind = 'carried' AND d.source_id = t.id)
             LIMIT 50",
    },
    Invariant {
        rule: "exactly the released settlements have a payout that stands",
        size: "SELECT COUNT(*) FROM settlements WHERE status = 'released'",
        broken: "SELECT t.code || ' (' || t.status || ') of ' || CAST(t.net AS TEXT) || ' was paid '
               || CAST(COALESCE(p.amount, 0) AS TEXT)
             FROM settlements t LEFT JOIN settlement_payouts p
               ON p.settlement_id = t.id AND p.returned_at IS NULL
             WHERE COALESCE(p.amount, 0) <> CASE t.status WHEN 'released' THEN t.net ELSE 0 END
             LIMIT 50",
    },
    Invariant {
        rule: "payouts of settlements are posted to the bank, and again when they came back",
        size: "SELECT COUNT(*) FROM settlement_payouts",
        broken: "SELECT 'a payout of ' || CAST(p.amount AS TEXT) || ' is posted as '
               || CAST(COALESCE(l.released, 0) AS TEXT) || ' and '
               || CAST(COALESCE(l.returned, 0) AS TEXT)
             FROM settlement_payouts p LEFT JOIN
               (SELECT source_id, SUM(CASE WHEN kind = 'released' THEN amount ELSE 0 END) AS released,
                  SUM(CASE WHEN kind = 'returned' THEN amount ELSE 0 END) AS returned
                FROM ledger_lines WHERE source = 'settlement' AND account = 'bank'
                GROUP BY source_id) l ON l.source_id = p.id
             WHERE COALESCE(l.released, 0) <> -p.amount OR COALESCE(l.returned, 0)
               <> CASE WHEN p.returned_at IS NULL THEN 0 ELSE p.amount END
             UNION ALL
             SELECT 'settlement ' || l.kind || ' of no payout: ' || CAST(l.amount AS TEXT)
             FROM ledger_lines l LEFT JOIN settlement_payouts p ON p.id = l.source_id
             WHERE l.source = 'settlement' AND l.account = 'bank' AND p.id IS NULL LIMIT 50",
    },
    Invariant {
        rule: "every released settlement was paid to a bank account that had been approved",
        size: "SELECT COUNT(*) FROM settlement_payouts",
        broken: "SELECT t.code FROM settlement_payouts p JOIN settlements t ON t.id = p.settlement_id
             WHERE p.account_approved_at IS NULL OR p.account_approved_at > p.released_at
               OR (t.status = 'released' AND t.bank_account ->> 'account_number' IS NULL) LIMIT 50",
    },
    Invariant {
        rule: "the debt of a statement is carried once, and not after it was cancelled",
        size: "SELECT COUNT(*) FROM settlements WHERE net <= 0",
        broken: "SELECT t.code || ' (' || t.status || ') of ' || CAST(t.net AS TEXT) || ' carries '
               || CAST(COALESCE(d.net, 0) AS TEXT)
             FROM settlements t LEFT JOIN partner_dues d ON d.kind = 'carried' AND d.source_id = t.id
             WHERE (t.status = 'statement' AND COALESCE(d.net, 0) <> t.net)
               OR (d.id IS NOT NULL AND t.status NOT IN ('statement', 'cancelled'))
               OR (d.id IS NOT NULL AND t.status = 'cancelled'
                 AND (d.settlement_id IS NULL OR d.settlement_id <> t.id)) LIMIT 50",
    },
    Invariant {
        rule: "receipts of partners are posted and reduce what they owe",
        size: "SELECT COUNT(*) FROM settlement_receipts",
        broken: "SELECT r.code || ' of ' || CAST(r.amount AS TEXT) || ': posted '
               || CAST(COALESCE(l.amount, 0) AS TEXT) || ', due '
               || CAST(COALESCE(d.net, 0) AS TEXT)
             FROM settlement_receipts r
             LEFT JOIN partner_dues d ON d.kind = 'receipt' AND d.source_id = r.id
             LEFT JOIN ledger_lines l ON l.source = 'receipt' AND l.source_id = r.id
               AND l.account = r.method AND l.posted_on = r.received_on
             WHERE COALESCE(d.net, 0) <> r.amount OR COALESCE(l.amount, 0) <> r.amount LIMIT 50",
    },
    Invariant {
        rule: "what a partner has earned is the sum of its dues, settled or not",
        size: "SELECT COUNT(*) FROM partners",
        broken: "SELECT a.name || ' has dues of ' || CAST(COALESCE(d.earned, 0) AS TEXT)
               || ', and is shown ' || CAST(COALESCE(s.earned, 0) AS TEXT)
             FROM partners p JOIN accounts a ON a.id = p.account_id LEFT JOIN
               (SELECT partner_id, SUM(gross - commission - commission_tax) AS earned
                FROM partner_dues GROUP BY partner_id) d ON d.partner_id = p.id
             LEFT JOIN
               (SELECT partner_id, SUM(earned) AS earned FROM
                  (SELECT partner_id, net + collected AS earned FROM partner_dues
                   WHERE settlement_id IS NULL
                   UNION ALL
                   SELECT partner_id, net + collected FROM settlements
                   WHERE status <> 'cancelled') each
                GROUP BY partner_id) s ON s.partner_id = p.id
             WHERE COALESCE(d.earned, 0) <> COALESCE(s.earned, 0) LIMIT 50",
    },
    Invariant {
        rule: "unapplied payments equal the open reviews of money that came in",
        size: "SELECT COUNT(*) FROM payment_reviews",
        broken: "SELECT 'reviews wait for ' || CAST(v.waiting AS TEXT) || ', the ledger has '
               || CAST(l.unapplied AS TEXT)
             FROM (SELECT COALESCE(SUM(amount), 0) AS waiting FROM payment_reviews
                   WHERE resolution IS NULL AND reason IN ('wrong_amount', 'late', 'duplicate')) v,
                  (SELECT COALESCE(-SUM(amount), 0) AS unapplied FROM ledger_lines
                   WHERE account = 'unapplied_payments') l
             WHERE v.waiting <> l.unapplied",
    },
    Invariant {
        rule: "suspense equals the open reviews of refunds that were not owed",
        size: "SELECT COUNT(*) FROM payment_reviews
            WHERE reason IN ('unowed_refund', 'chargeback')",
        broken: "SELECT 'reviews wait for ' || CAST(v.waiting AS TEXT) || ', the ledger has '
               || CAST(l.gone AS TEXT)
             FROM (SELECT COALESCE(SUM(amount), 0) AS waiting FROM payment_reviews
                   WHERE resolution IS NULL AND reason IN ('unowed_refund', 'chargeback')) v,
                  (SELECT COALESCE(SUM(amount), 0) AS gone FROM ledger_lines
                   WHERE account = 'suspense' AND source IN ('payment', 'review')) l
             WHERE v.waiting <> l.gone",
    },
    Invariant {
        rule: "refunds that a provider told are posted, each once",
        size: "SELECT COUNT(*) FROM told_refunds",
        broken: "SELECT y.reference || ' was refunded by ' || CAST(t.amount AS TEXT)
               || ', posted as ' || CAST(COALESCE(m.paid, 0) + COALESCE(-u.amount, 0) AS TEXT)
             FROM told_refunds t JOIN payments y ON y.id = t.payment_id
             LEFT JOIN
               (SELECT p.told_id, SUM(-l.amount) AS paid FROM refund_payments p
                JOIN ledger_lines l ON l.source = 'refund' AND l.source_id = p.id
                  AND l.kind = 'paid' AND l.account = 'gateway_clearing'
                WHERE p.told_id IS NOT NULL GROUP BY p.told_id) m ON m.told_id = t.id
             LEFT JOIN ledger_lines u ON u.source = 'payment' AND u.source_id = t.id
               AND u.kind = 'unowed_refund' AND u.account = 'gateway_clearing'
             WHERE t.amount <> COALESCE(m.paid, 0) + COALESCE(-u.amount, 0) LIMIT 50",
    },
    Invariant {
        rule: "no review of money that the provider took is dismissed",
        size: "SELECT COUNT(*) FROM payment_reviews WHERE resolution = 'dismiss'",
        broken: "SELECT k.code || ' had ' || CAST(v.amount AS TEXT)
             FROM payment_reviews v JOIN bookings k ON k.id = v.booking_id
             JOIN payment_events e ON e.id = v.event_id
             WHERE v.resolution = 'dismiss' AND NOT EXISTS
               (SELECT 1 FROM payment_events o WHERE o.payment_id = e.payment_id
                  AND o.transaction_id = e.transaction_id AND o.outcome = 'voided') LIMIT 50",
    },
    Invariant {
        rule: "cash goes back as cash, by whoever took it, and to the account of a reseller",
        size: "SELECT COUNT(*) FROM refund_payments",
        broken: "SELECT r.code || ' went back by ' || p.paid_by
             FROM refund_payments p JOIN refunds r ON r.id = p.refund_id
             JOIN bookings k ON k.id = r.booking_id
             LEFT JOIN ledger_lines l ON l.source = 'booking' AND l.source_id = r.booking_id
               AND l.kind = 'paid' AND l.account IN ('cash', 'partner_payable')
               AND r.review_id IS NULL
             WHERE p.returned_at IS NULL AND CASE
               WHEN k.reseller_id IS NOT NULL THEN p.paid_by <> 'account'
               WHEN l.account IS NULL THEN p.paid_by NOT IN ('bank', 'provider')
               WHEN l.account = 'cash' THEN p.paid_by <> 'cash'
               ELSE p.paid_by NOT IN ('cash', 'partner') END LIMIT 50",
    },
    Invariant {
        rule: "a rescheduled booking is on its new sailing",
        size: "SELECT COUNT(*) FROM reschedules WHERE status = 'done'",
        broken: "SELECT k.code FROM bookings k JOIN reschedules r ON r.id = k.reschedule_id
             WHERE r.status <> 'done' OR r.booking_id <> k.id OR r.to_sailing_id <> k.sailing_id
             LIMIT 50",
    },
    Invariant {
        rule: "sales and refunds of the reports equal those of the bookings",
        size: "SELECT COUNT(*) FROM sales_days",
        broken: "SELECT 'the reports have ' || CAST(SUM(bookings) AS TEXT) || ' sales, '
               || CAST(SUM(discount) AS TEXT) || ' of discount, ' || CAST(SUM(tax) AS TEXT)
               || ' of tax, ' || CAST(SUM(refunds) AS TEXT) || ' of refunds and '
               || CAST(SUM(refund_tax) AS TEXT) || ' of tax in them too many'
             FROM (SELECT bookings, passengers, discount, tax, partner_net, refunds, refund_tax
                 FROM sales_days
               UNION ALL SELECT bookings, passengers, discount, tax, partner_net, refunds,
                 refund_tax FROM sales_moves
               UNION ALL SELECT -1, -qty, -discount, -tax, -partner_net, 0, 0 FROM bookings
                 WHERE paid_at IS NOT NULL
               UNION ALL SELECT 0, -qty, -discount, -tax, -partner_net, 0, 0
                 FROM passenger_cancellations
               UNION ALL SELECT 0, 0, 0, 0, 0, -amount, -tax FROM refund_payments
                 WHERE returned_at IS NULL) each
             HAVING SUM(bookings) <> 0 OR SUM(passengers) <> 0 OR SUM(discount) <> 0
               OR SUM(tax) <> 0 OR SUM(partner_net) <> 0 OR SUM(refunds) <> 0
               OR SUM(refund_tax) <> 0",
    },
    Invariant {
        rule: "receipts equal the reported gross and unapplied payments",
        size: receipts!("SELECT COUNT(*) FROM ledger_lines l WHERE "),
        broken: receipts!(
            "SELECT CAST(r.receipts AS TEXT) || ' came in, ' || CAST(d.gross AS TEXT)
               || ' is reported and ' || CAST(-u.applied AS TEXT) || ' waits'
             FROM (SELECT COALESCE(SUM(gross), 0) AS gross
                   FROM (SELECT gross FROM sales_days
                         UNION ALL SELECT gross FROM sales_moves) each) d,
                  (SELECT COALESCE(SUM(amount), 0) AS applied FROM ledger_lines
                   WHERE account = 'unapplied_payments') u,
                  (SELECT COALESCE(SUM(l.amount), 0) AS receipts FROM ledger_lines l WHERE ",
            ") r WHERE r.receipts <> d.gross - u.applied"
        ),
    },
    Invariant {
        rule: "refunds of the reports equal what was posted as paid back",
        size: "SELECT COUNT(*) FROM refund_payments",
        broken: "SELECT CAST(d.refunds AS TEXT) || ' is reported, ' || CAST(l.refunds AS TEXT)
               || ' was posted'
             FROM (SELECT COALESCE(SUM(refunds), 0) AS refunds
                   FROM (SELECT refunds FROM sales_days
                         UNION ALL SELECT refunds FROM sales_moves) each) d,
                  (SELECT COALESCE(SUM(amount), 0) AS refunds FROM ledger_lines
                   WHERE source = 'refund' AND account = 'refund_payable') l
             WHERE d.refunds <> l.refunds",
    },
    Invariant {
        rule: "reported commission equals what was posted for journeys, and what has not sailed",
        size: "SELECT COUNT(*) FROM bookings WHERE paid_at IS NOT NULL",
        broken: "SELECT CAST(d.commission AS TEXT) || ' is reported, ' || CAST(l.posted AS TEXT)
               || ' is posted and ' || CAST(k.waiting AS TEXT) || ' has not sailed'
             FROM (SELECT COALESCE(SUM(commission), 0) AS commission
                   FROM (SELECT commission FROM sales_days
                         UNION ALL SELECT commission FROM sales_moves) each) d,
                  (SELECT COALESCE(-SUM(amount), 0) AS posted FROM ledger_lines
                   WHERE kind = 'completed' AND account = 'commission_revenue') l,
                  (SELECT COALESCE(SUM(commission), 0) AS waiting FROM
                     (SELECT commission FROM bookings
                      WHERE paid_at IS NOT NULL AND completed_at IS NULL
                      UNION ALL SELECT commission FROM passenger_cancellations) each) k
             WHERE d.commission <> l.posted + k.waiting",
    },
    Invariant {
        rule: "monthly report figures equal the daily ones",
        size: "SELECT COUNT(*) FROM sales_months",
        broken: "SELECT month || ', ' || type || ' by ' || method || ': the month has '
               || CAST(SUM(gross) AS TEXT) || ' more than its days, '
               || CAST(SUM(refunds) AS TEXT) || ' of refunds'
             FROM (SELECT substr(CAST(month AS TEXT), 1, 7) AS month, type, method, bookings,
                 passengers, gross, discount, tax, commission, partner_net, refunds, refund_tax
               FROM sales_months
               UNION ALL
               SELECT substr(CAST(day AS TEXT), 1, 7), type, method, -bookings, -passengers,
                 -gross, -discount, -tax, -commission, -partner_net, -refunds, -refund_tax
               FROM sales_days) each
             GROUP BY month, type, method
             HAVING SUM(bookings) <> 0 OR SUM(passengers) <> 0 OR SUM(gross) <> 0
               OR SUM(discount) <> 0 OR SUM(tax) <> 0 OR SUM(commission) <> 0
               OR SUM(partner_net) <> 0 OR SUM(refunds) <> 0 OR SUM(refund_tax) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "gross of partners in the reports equals what came in for their bookings",
        size: "SELECT COUNT(*) FROM partner_days",
        broken: receipts!(
            "SELECT a.name || ' got ' || CAST(COALESCE(k.gross, 0) AS TEXT) || '; its days have '
               || CAST(COALESCE(d.gross, 0) AS TEXT) || ', its months '
               || CAST(COALESCE(m.gross, 0) AS TEXT) || ', its routes '
               || CAST(COALESCE(r.gross, 0) AS TEXT)
             FROM partners p JOIN accounts a ON a.id = p.account_id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM partner_days
                GROUP BY partner_id) d ON d.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM partner_months
                GROUP BY partner_id) m ON m.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM route_months
                GROUP BY partner_id) r ON r.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM sales_moves
                GROUP BY partner_id) u ON u.partner_id = p.id
             LEFT JOIN (SELECT k.partner_id, SUM(l.amount) AS gross
                FROM ledger_lines l JOIN bookings k ON k.id = l.booking_id
                WHERE l.account = 'unapplied_payments' OR ",
            "   GROUP BY k.partner_id) k ON k.partner_id = p.id
             WHERE COALESCE(k.gross, 0) <> COALESCE(d.gross, 0) + COALESCE(u.gross, 0)
               OR COALESCE(k.gross, 0) <> COALESCE(m.gross, 0) + COALESCE(u.gross, 0)
               OR COALESCE(k.gross, 0) <> COALESCE(r.gross, 0) + COALESCE(u.gross, 0) LIMIT 50"
        ),
    },
    Invariant {
        rule: "sales, margin and refunds of resellers in the reports equal those of their bookings",
        size: "SELECT COUNT(*) FROM reseller_days",
        broken: receipts!(
            "SELECT a.name || ' has ' || CAST(SUM(bookings) AS TEXT) || ' sales, '
               || CAST(SUM(gross) AS TEXT) || ' of gross, ' || CAST(SUM(margin) AS TEXT)
               || ' of margin and ' || CAST(SUM(refunds) AS TEXT) || ' of refunds too many'
             FROM (SELECT reseller_id, bookings, passengers, gross, margin, refunds
                 FROM reseller_days
               UNION ALL SELECT reseller_id, bookings, passengers, gross, margin, refunds
                 FROM sales_moves WHERE reseller_id IS NOT NULL
               UNION ALL SELECT reseller_id, -1, -qty, 0, -margin, 0 FROM bookings
                 WHERE reseller_id IS NOT NULL AND paid_at IS NOT NULL
               UNION ALL SELECT l.reseller_id, 0, 0, -l.amount, 0, 0 FROM ledger_lines l
                 WHERE l.reseller_id IS NOT NULL AND ",
            "  UNION ALL SELECT reseller_id, 0, 0, 0, 0, amount FROM ledger_lines
                 WHERE reseller_id IS NOT NULL AND source = 'refund') each
             JOIN resellers e ON e.id = each.reseller_id JOIN accounts a ON a.id = e.account_id
             GROUP BY a.name, each.reseller_id
             HAVING SUM(bookings) <> 0 OR SUM(passengers) <> 0 OR SUM(gross) <> 0
               OR SUM(margin) <> 0 OR SUM(refunds) <> 0 LIMIT 50"
        ),
    },
    Invariant {
        rule: "booking counts by status equal those of the reports",
        size: "SELECT COUNT(*) FROM partner_standings",
        broken:
            "SELECT a.name || ': ' || CAST(SUM(bookings) AS TEXT) || ' too many ' || each.status
             FROM (SELECT partner_id, status, bookings, subtotal FROM partner_standings
               UNION ALL SELECT partner_id, to_status, 1, subtotal FROM booking_moves
                 WHERE to_status NOT IN ('rescheduled', 'reduced')
               UNION ALL SELECT partner_id, from_status, -1, -subtotal FROM booking_moves
                 WHERE from_status NOT IN ('pending_payment', 'rescheduled', 'reduced')
               UNION ALL SELECT partner_id, status, -COUNT(*), -SUM(subtotal) FROM bookings
                 WHERE status <> 'pending_payment' GROUP BY partner_id, status) each
             JOIN partners p ON p.id = each.partner_id JOIN accounts a ON a.id = p.account_id
             GROUP BY a.name, each.partner_id, each.status
             HAVING SUM(bookings) <> 0 OR SUM(subtotal) <> 0 LIMIT 50",
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
    Invariant {
        rule: "file counters equal the stored files and bytes",
        size: "SELECT COUNT(*) FROM file_usage",
        broken: "SELECT a.name || ' has ' || CAST(COALESCE(f.files, 0) AS TEXT) || ' files of '
               || CAST(COALESCE(f.bytes, 0) AS TEXT) || ' bytes, counted as '
               || CAST(COALESCE(u.files, 0) AS TEXT) || ' of ' || CAST(COALESCE(u.bytes, 0) AS TEXT)
             FROM accounts a LEFT JOIN file_usage u ON u.account_id = a.id
             LEFT JOIN (SELECT owner_id, COUNT(*) AS files, SUM(size) AS bytes FROM files
               GROUP BY owner_id) f ON f.owner_id = a.id
             WHERE COALESCE(u.files, 0) <> COALESCE(f.files, 0)
               OR COALESCE(u.bytes, 0) <> COALESCE(f.bytes, 0) LIMIT 50",
    },
    Invariant {
        rule: "an address that an account can return to belongs to no other account",
        size: "SELECT COUNT(*) FROM email_changes WHERE old_email IS NOT NULL",
        broken: "SELECT a.name || ' has an address that is reserved for another account'
             FROM email_changes c
             JOIN accounts a ON a.email = c.old_email AND a.deleted_at IS NULL
               AND a.id <> c.account_id LIMIT 50",
    },
    Invariant {
        rule: "an account belongs to a partner's crew if and only if its role is crew",
        size: "SELECT COUNT(*) FROM crew",
        broken: "SELECT a.email FROM accounts a LEFT JOIN crew c ON c.account_id = a.id
             WHERE (a.role = 'crew' AND a.deleted_at IS NULL) <> (c.account_id IS NOT NULL)
             LIMIT 50",
    },
    Invariant {
        rule: "erased bookings have no contact and nothing that a provider said",
        size: "SELECT COUNT(*) FROM bookings WHERE erased_at IS NOT NULL",
        broken: "SELECT k.code FROM bookings k WHERE k.erased_at IS NOT NULL
               AND (k.contact_name <> '[erased]' OR k.contact_email LIKE '%@%'
                 OR k.contact_phone <> '' OR k.note <> '' OR k.refund_account IS NOT NULL
                 OR EXISTS (SELECT 1 FROM payments y JOIN payment_events e
                     ON e.payment_id = y.id
                   WHERE y.booking_id = k.id AND CAST(e.raw AS TEXT) <> '{}'))
             LIMIT 50",
    },
    Invariant {
        rule: "totals equal subtotal less discount and margin plus tax",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT code FROM bookings
             WHERE total <> subtotal - discount - margin + tax OR discount > subtotal
               OR margin NOT BETWEEN 0 AND subtotal - discount
               OR (margin <> 0 AND reseller_id IS NULL)
               OR partner_net <> subtotal - partner_discount - commission - commission_tax
               OR partner_discount NOT BETWEEN 0 AND discount
               OR (type = 'charter' AND subtotal <> unit_price * seats) LIMIT 50",
    },
    Invariant {
        rule: "seats and subtotal of a booking equal those of its passengers",
        size: "SELECT COUNT(*) FROM bookings WHERE type = 'speedboat'",
        broken: "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
             SELECT k.code || ' has ' || CAST(k.seats AS TEXT) || ' seats for '
               || CAST(k.subtotal AS TEXT)
             FROM bookings k JOIN n ON n.i < k.qty WHERE k.type = 'speedboat'
             GROUP BY k.id, k.code, k.seats, k.subtotal
             HAVING k.seats <> SUM(CASE WHEN
                 CAST((k.passengers -> n.i) ->> 'takes_seat' AS TEXT) IN ('true', '1')
                 THEN 1 ELSE 0 END)
               OR k.subtotal <> COALESCE(
                 SUM(CAST((k.passengers -> n.i) ->> 'unit_price' AS BIGINT)), -1) LIMIT 50",
    },
    Invariant {
        rule: "the lines of a price add up to its subtotal, its margin and its passengers",
        size: "SELECT COUNT(*) FROM bookings WHERE type = 'speedboat'",
        broken: "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
             SELECT k.code || ' has a subtotal of ' || CAST(k.subtotal AS TEXT) || ' for '
               || CAST(k.qty AS TEXT)
             FROM bookings k JOIN n ON n.i < k.qty WHERE k.type = 'speedboat'
             GROUP BY k.id, k.code, k.qty, k.subtotal, k.margin
             HAVING k.qty <> COALESCE(
                 SUM(CAST((k.fare_lines -> n.i) ->> 'count' AS BIGINT)), -1)
               OR k.subtotal <> COALESCE(
                 SUM(CAST((k.fare_lines -> n.i) ->> 'count' AS BIGINT)
                   * CAST((k.fare_lines -> n.i) ->> 'unit_price' AS BIGINT)), -1)
               OR k.margin <> COALESCE(
                 SUM(CAST((k.fare_lines -> n.i) ->> 'count' AS BIGINT)
                   * CAST((k.fare_lines -> n.i) ->> 'margin' AS BIGINT)), 0) LIMIT 50",
    },
    Invariant {
        rule: "a search finds every booking by its code and its contact, an erased one by its code",
        size: "SELECT COUNT(*) FROM booking_search",
        broken: "SELECT k.code || ' has the text ' || COALESCE(n.text, 'of none')
             FROM bookings k LEFT JOIN booking_search n ON n.booking_id = k.id
             WHERE n.text IS NULL OR replace(n.text, lower(k.code), '') = n.text
               OR k.erased_at IS NULL AND (
                 k.contact_name <> '' AND replace(n.text, lower(k.contact_name), '') = n.text
                 OR k.contact_email <> ''
                   AND replace(n.text, replace(lower(k.contact_email), '@', 'qqq'), '') = n.text)
               OR k.erased_at IS NOT NULL AND n.text <> lower(k.code) LIMIT 50",
    },
    Invariant {
        rule: "a booking is older than its departure, unless its sailing was moved",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT code FROM bookings
             WHERE created_at > departure_at AND promised_at IS NULL LIMIT 50",
    },
    Invariant {
        rule: "a booking is marked while a refund of it is not paid",
        size: "SELECT COUNT(*) FROM bookings WHERE refund_due",
        broken: "SELECT code || CASE WHEN refund_due THEN ' is marked without' ELSE ' has' END
               || ' an unpaid refund'
             FROM bookings k WHERE refund_due <> EXISTS
               (SELECT 1 FROM refunds r WHERE r.booking_id = k.id AND r.unpaid > 0) LIMIT 50",
    },
    Invariant {
        rule: "a paid booking with a price has exactly one payment",
        size: "SELECT COUNT(*) FROM payments",
        broken: "SELECT k.code || ' has ' || CAST(COUNT(y.id) AS TEXT) || ' paid attempts'
             FROM bookings k LEFT JOIN payments y
               ON y.booking_id = k.id AND y.status IN ('paid', 'refunded')
                 AND y.reschedule_id IS NULL
             WHERE (k.paid_at IS NOT NULL OR k.refund_amount IS NOT NULL) AND k.total > 0
               AND k.reschedule_id IS NULL
             GROUP BY k.id, k.code HAVING COUNT(y.id) <> 1 LIMIT 50",
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
    Invariant {
        rule: "an account has a reseller's record if and only if its role is reseller",
        size: "SELECT COUNT(*) FROM resellers",
        broken: "SELECT a.email || CASE WHEN e.id IS NULL THEN ' is a reseller without a record'
               ELSE ' has a record, and its role is ' || a.role END
             FROM accounts a LEFT JOIN resellers e ON e.account_id = a.id
             WHERE (a.role = 'reseller') <> (e.id IS NOT NULL) LIMIT 50",
    },
];

/// Checks all invariants.
pub async fn check(db: &Db) -> Result<Vec<Checked>> {
    let mut checked = Vec::with_capacity(INVARIANTS.len());
    for invariant in INVARIANTS {
        let looked_at = db.sql(invariant.size).scalar().await?;
        let broken: Vec<(String,)> = db.sql(invariant.broken).all().await?;
        let broken = broken.into_iter().map(|(text,)| text).collect();
        checked.push(Checked { rule: invariant.rule, looked_at, broken });
    }
    Ok(checked)
}
