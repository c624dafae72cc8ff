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
        rule: "refunds payable equal the refunds due of bookings",
        size: "SELECT COUNT(*) FROM bookings WHERE refund_amount IS NOT NULL",
        broken: "SELECT k.code || ' (' || k.status || ') owes '
               || CAST(-COALESCE(l.amount, 0) AS TEXT) || ', not '
               || CAST(CASE WHEN k.status = 'refund_pending' THEN COALESCE(k.refund_amount, -1)
                    ELSE 0 END AS TEXT)
             FROM bookings k LEFT JOIN
               (SELECT booking_id, SUM(amount) AS amount FROM ledger_lines
                WHERE account = 'refund_payable' AND source IN ('booking', 'reschedule')
                  AND kind NOT IN ('rescheduled', 'difference_refunded')
                GROUP BY booking_id) l ON l.booking_id = k.id
             WHERE -COALESCE(l.amount, 0)
               <> CASE WHEN k.status = 'refund_pending' THEN COALESCE(k.refund_amount, -1)
                    ELSE 0 END
             LIMIT 50",
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
             WHERE k.status = 'completed' AND (d.gross IS NULL OR d.gross <> k.subtotal
               OR d.commission <> k.commission OR d.commission_tax <> k.commission_tax) LIMIT 50",
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
                WHERE t.status IS NULL OR t.status <> 'released' GROUP BY d.partner_id) d
               ON d.partner_id = p.id
             LEFT JOIN
               (SELECT partner_id, SUM(amount) AS taken FROM
                  (SELECT l.partner_id, l.amount FROM ledger_lines l
                   JOIN bookings k ON k.id = l.booking_id
                   WHERE l.account = 'partner_payable' AND k.status = 'paid'
                   UNION ALL
                   SELECT d.partner_id, -d.collected FROM partner_dues d
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
             WHERE i.due_id IS NULL LIMIT 50",
    },
    Invariant {
        rule: "exactly the released settlements are posted to the bank",
        size: "SELECT COUNT(*) FROM settlements WHERE status = 'released'",
        broken: "SELECT t.code || ' (' || t.status || ')'
             FROM settlements t LEFT JOIN ledger_lines l
               ON l.source = 'settlement' AND l.source_id = t.id AND l.account = 'bank'
             WHERE COALESCE(-l.amount, 0) <> CASE t.status WHEN 'released' THEN t.net ELSE 0 END
             LIMIT 50",
    },
    Invariant {
        rule: "every released settlement was paid to a bank account",
        size: "SELECT COUNT(*) FROM settlements WHERE status = 'released'",
        broken: "SELECT code FROM settlements
             WHERE status = 'released' AND bank_account ->> 'account_number' IS NULL LIMIT 50",
    },
    Invariant {
        rule: "unapplied payments equal open reviews",
        size: "SELECT COUNT(*) FROM payment_reviews",
        broken: "SELECT 'reviews wait for ' || CAST(v.waiting AS TEXT) || ', the ledger has '
               || CAST(l.unapplied AS TEXT)
             FROM (SELECT COALESCE(SUM(v.amount), 0) AS waiting
                   FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id
                   WHERE v.resolution IS NULL AND e.outcome <> 'unowed_refund') v,
                  (SELECT COALESCE(-SUM(amount), 0) AS unapplied FROM ledger_lines
                   WHERE account = 'unapplied_payments') l
             WHERE v.waiting <> l.unapplied",
    },
    Invariant {
        rule: "excess payments are owed until refunded",
        size: "SELECT COUNT(*) FROM payment_reviews WHERE excess > 0",
        broken: "SELECT 'reviews owe ' || CAST(v.owed AS TEXT) || ', the ledger has '
               || CAST(l.owed AS TEXT)
             FROM (SELECT COALESCE(SUM(excess), 0) AS owed FROM payment_reviews
                   WHERE excess_paid_at IS NULL) v,
                  (SELECT COALESCE(-SUM(amount), 0) AS owed FROM ledger_lines
                   WHERE account = 'refund_payable' AND source = 'review') l
             WHERE v.owed <> l.owed",
    },
    Invariant {
        rule: "reschedule differences are owed until refunded",
        size: "SELECT COUNT(*) FROM reschedules WHERE difference < 0",
        broken: "SELECT 'moves owe ' || CAST(r.owed AS TEXT) || ', the ledger has '
               || CAST(l.owed AS TEXT)
             FROM (SELECT COALESCE(-SUM(difference), 0) AS owed FROM reschedules
                   WHERE status = 'done' AND difference < 0 AND refunded_at IS NULL) r,
                  (SELECT COALESCE(-SUM(amount), 0) AS owed FROM ledger_lines
                   WHERE account = 'refund_payable'
                     AND kind IN ('rescheduled', 'difference_refunded')) l
             WHERE r.owed <> l.owed",
    },
    Invariant {
        rule: "a rescheduled booking is on its new sailing",
        size: "SELECT COUNT(*) FROM reschedules WHERE status = 'done'",
        broken: "SELECT k.code FROM bookings k JOIN reschedules r ON r.id = k.reschedule_id
             WHERE r.status <> 'done' OR r.booking_id <> k.id OR r.to_sailing_id <> k.sailing_id
             LIMIT 50",
    },
    Invariant {
        rule: "paid amounts of the reports equal those of the bookings",
        size: "SELECT COUNT(*) FROM sales_days",
        broken:
            "SELECT 'the days have ' || CAST(d.gross AS TEXT) || ' of ' || CAST(d.bookings AS TEXT)
               || ', the bookings ' || CAST(k.gross AS TEXT) || ' of ' || CAST(k.bookings AS TEXT)
             FROM (SELECT COALESCE(SUM(gross), 0) AS gross, COALESCE(SUM(bookings), 0) AS bookings,
                     COALESCE(SUM(tax), 0) AS tax, COALESCE(SUM(refunds), 0) AS refunds
                   FROM (SELECT gross, bookings, tax, refunds FROM sales_days UNION ALL
                         SELECT gross, bookings, tax, refunds FROM sales_moves) each) d,
                  (SELECT COALESCE(SUM(total), 0) AS gross, COUNT(*) AS bookings,
                     COALESCE(SUM(tax), 0) AS tax,
                     COALESCE(SUM(CASE WHEN status = 'refunded' THEN refund_amount END), 0)
                       AS refunds
                   FROM bookings WHERE paid_at IS NOT NULL) k
             WHERE d.gross <> k.gross OR d.bookings <> k.bookings OR d.tax <> k.tax
               OR d.refunds <> k.refunds",
    },
    Invariant {
        rule: "monthly report figures equal the daily ones",
        size: "SELECT COUNT(*) FROM sales_months",
        broken: "SELECT month || ', ' || type || ' by ' || method || ': the month has '
               || CAST(SUM(gross) AS TEXT) || ' more than its days, '
               || CAST(SUM(refunds) AS TEXT) || ' of refunds'
             FROM (SELECT substr(CAST(month AS TEXT), 1, 7) AS month, type, method, bookings,
                 passengers, gross, discount, tax, commission, partner_net, refunds
               FROM sales_months
               UNION ALL
               SELECT substr(CAST(day AS TEXT), 1, 7), type, method, -bookings, -passengers,
                 -gross, -discount, -tax, -commission, -partner_net, -refunds
               FROM sales_days) each
             GROUP BY month, type, method
             HAVING SUM(bookings) <> 0 OR SUM(passengers) <> 0 OR SUM(gross) <> 0
               OR SUM(discount) <> 0 OR SUM(tax) <> 0 OR SUM(commission) <> 0
               OR SUM(partner_net) <> 0 OR SUM(refunds) <> 0 LIMIT 50",
    },
    Invariant {
        rule: "report figures of partners equal their bookings",
        size: "SELECT COUNT(*) FROM partner_days",
        broken:
            "SELECT a.name || ' sold ' || CAST(COALESCE(k.gross, 0) AS TEXT) || '; its days have '
               || CAST(COALESCE(d.gross, 0) AS TEXT) || ', its months '
               || CAST(COALESCE(m.gross, 0) AS TEXT) || ', its routes '
               || CAST(COALESCE(r.gross, 0) AS TEXT)
             FROM partners p JOIN accounts a ON a.id = p.account_id LEFT JOIN
               (SELECT partner_id, SUM(total) AS gross FROM bookings WHERE paid_at IS NOT NULL
                GROUP BY partner_id) k ON k.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM partner_days
                GROUP BY partner_id) d ON d.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM partner_months
                GROUP BY partner_id) m ON m.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM route_months
                GROUP BY partner_id) r ON r.partner_id = p.id
             LEFT JOIN (SELECT partner_id, SUM(gross) AS gross FROM sales_moves
                GROUP BY partner_id) u ON u.partner_id = p.id
             WHERE COALESCE(k.gross, 0) <> COALESCE(d.gross, 0) + COALESCE(u.gross, 0)
               OR COALESCE(k.gross, 0) <> COALESCE(m.gross, 0) + COALESCE(u.gross, 0)
               OR COALESCE(k.gross, 0) <> COALESCE(r.gross, 0) + COALESCE(u.gross, 0) LIMIT 50",
    },
    Invariant {
        rule: "booking counts by status equal those of the reports",
        size: "SELECT COUNT(*) FROM partner_standings",
        broken:
            "SELECT a.name || ': ' || CAST(SUM(bookings) AS TEXT) || ' too many ' || each.status
             FROM (SELECT partner_id, status, bookings, subtotal FROM partner_standings
               UNION ALL SELECT partner_id, to_status, 1, subtotal FROM booking_moves
                 WHERE to_status <> 'rescheduled'
               UNION ALL SELECT partner_id, from_status, -1, -subtotal FROM booking_moves
                 WHERE from_status NOT IN ('pending_payment', 'rescheduled')
               UNION ALL SELECT partner_id, status, -COUNT(*), -SUM(subtotal) FROM bookings
                 WHERE status <> 'pending_payment' GROUP BY partner_id, status) each
             JOIN partners p ON p.id = each.partner_id JOIN accounts a ON a.id = p.account_id
             GROUP BY a.name, each.partner_id, each.status
             HAVING SUM(bookings) <> 0 OR SUM(subtotal) <> 0 LIMIT 50",
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
                 OR k.contact_phone <> '' OR k.note <> ''
                 OR EXISTS (SELECT 1 FROM payments y JOIN payment_events e
                     ON e.payment_id = y.id
                   WHERE y.booking_id = k.id AND CAST(e.raw AS TEXT) <> '{}'))
             LIMIT 50",
    },
    Invariant {
        rule: "totals equal subtotal less discount plus tax",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT code FROM bookings
             WHERE total <> subtotal - discount + tax OR discount > subtotal
               OR partner_net <> subtotal - commission - commission_tax
               OR (type = 'speedboat' AND subtotal <> unit_price * qty)
               OR (type = 'charter' AND subtotal <> unit_price * seats) LIMIT 50",
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
