//! Payments of customers, their reviews, and the settlements of providers.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
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
        broken:
            "SELECT CAST(day AS TEXT) || ' by ' || method || ': ' || CAST(SUM(received) AS TEXT)
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
];
