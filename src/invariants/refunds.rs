//! Cancellations and refunds.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
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
        rule: "a booking is marked while a refund of it is not paid",
        size: "SELECT COUNT(*) FROM bookings WHERE refund_due",
        broken: "SELECT code || CASE WHEN refund_due THEN ' is marked without' ELSE ' has' END
               || ' an unpaid refund'
             FROM bookings k WHERE refund_due <> EXISTS
               (SELECT 1 FROM refunds r WHERE r.booking_id = k.id AND r.unpaid > 0) LIMIT 50",
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
               WHEN l.account = 'cash' THEN p.paid_by NOT IN ('cash', 'bank', 'provider')
               ELSE p.paid_by = 'account' END
             UNION ALL
             SELECT k.code || ' took ' || CAST(l.amount AS TEXT) || ' in cash, of which '
               || CAST(back.cash AS TEXT) || ' went back as cash, and '
               || CAST(back.other AS TEXT) || ' otherwise'
             FROM (SELECT r.booking_id,
                   SUM(CASE WHEN p.paid_by IN ('cash', 'partner') THEN p.amount ELSE 0 END) AS cash,
                   SUM(CASE WHEN p.paid_by IN ('cash', 'partner') THEN 0 ELSE p.amount END) AS other
                 FROM refund_payments p JOIN refunds r ON r.id = p.refund_id
                 WHERE p.returned_at IS NULL AND r.review_id IS NULL GROUP BY r.booking_id) back
             JOIN bookings k ON k.id = back.booking_id
             JOIN ledger_lines l ON l.source = 'booking' AND l.source_id = k.id AND l.kind = 'paid'
               AND l.account IN ('cash', 'partner_payable')
             WHERE back.cash > l.amount OR back.other > (SELECT COALESCE(SUM(y.amount), 0)
               FROM payments y WHERE y.booking_id = k.id AND y.provider <> 'cash'
                 AND y.paid_at IS NOT NULL) LIMIT 50",
    },
];
