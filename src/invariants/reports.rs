//! Figures of the reports.

use super::Invariant;

/// Condition: a line of money that a customer paid, or a reseller owes for it, or (negative) whose
/// payment was voided. A review that applies money to a reschedule takes it off again, because the
/// posting of the reschedule has it.
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

pub(super) const INVARIANTS: &[Invariant] = &[
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
        rule: "surcharges of partners in the reports equal those of their bookings and reschedules",
        size: "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller' AND paid_at IS NOT NULL",
        broken: concat!(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
             SELECT a.name || ' has ' || CAST(SUM(each.days) AS TEXT)
               || ' of surcharges too many by its days, ' || CAST(SUM(each.routes) AS TEXT)
               || ' by its routes'
             FROM (SELECT partner_id, surcharge AS days, 0 AS routes FROM partner_days
               UNION ALL SELECT partner_id, 0, surcharge FROM route_months
               UNION ALL SELECT partner_id, surcharge, surcharge FROM sales_moves
               UNION ALL SELECT k.partner_id, -r.surcharge, -r.surcharge
                 FROM reschedules r JOIN bookings k ON k.id = r.booking_id
                 WHERE EXISTS (SELECT 1 FROM report_zones)
               UNION ALL SELECT partner_id, -sold, -sold
                 FROM (SELECT k.partner_id, COALESCE((SELECT ",
            surcharge!("r.was"),
            "        FROM reschedules r WHERE r.booking_id = k.id AND r.status = 'done'
                     ORDER BY r.done_at, r.id LIMIT 1), k.surcharge) AS sold
                   FROM bookings k
                   WHERE k.channel = 'reseller' AND k.paid_at IS NOT NULL
                     AND EXISTS (SELECT 1 FROM report_zones)) sales) each
             JOIN partners p ON p.id = each.partner_id JOIN accounts a ON a.id = p.account_id
             GROUP BY a.name, each.partner_id
             HAVING SUM(each.days) <> 0 OR SUM(each.routes) <> 0 LIMIT 50"
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
];
