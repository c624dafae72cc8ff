//! What partners are owed, and their settlements.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
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
             LEFT JOIN transfers t ON t.id = l.source_id AND t.settlement_id IS NOT NULL
               AND l.kind IN ('paid_twice', 'paid_twice_returned')
             WHERE l.source = 'settlement' AND l.account = 'bank' AND p.id IS NULL
               AND t.id IS NULL LIMIT 50",
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
];
