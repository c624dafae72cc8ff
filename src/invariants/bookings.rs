//! Bookings: their sailing, prices, passengers, promotions and holds.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
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
        rule: "a rescheduled booking is on its new sailing",
        size: "SELECT COUNT(*) FROM reschedules WHERE status = 'done'",
        broken: "SELECT k.code FROM bookings k JOIN reschedules r ON r.id = k.reschedule_id
             WHERE r.status <> 'done' OR r.booking_id <> k.id OR r.to_sailing_id <> k.sailing_id
             LIMIT 50",
    },
    Invariant {
        rule: "a booking is older than its departure, unless its sailing was moved",
        size: "SELECT COUNT(*) FROM bookings",
        broken: "SELECT code FROM bookings
             WHERE created_at > departure_at AND promised_at IS NULL LIMIT 50",
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
        rule: "the surcharge of a booking leads from its net price to the fares with their taxes",
        size: "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller'",
        broken: concat!(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
             SELECT k.code || ' has a surcharge of ' || CAST(k.surcharge AS TEXT)
             FROM bookings k
             WHERE k.channel = 'reseller' AND k.surcharge <> k.margin - k.tax + ",
            retail_tax!("k.fare_lines", "k.taxes"),
            " LIMIT 50"
        ),
    },
    Invariant {
        rule: "the surcharge of a reschedule follows from its prices, its fee and its difference",
        size: "SELECT COUNT(*) FROM reschedules r JOIN bookings k ON k.id = r.booking_id
             WHERE k.channel = 'reseller' AND r.status = 'done'",
        broken: concat!(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19),
             prices AS (SELECT k.code, r.surcharge, r.fee, r.difference,
                 CAST(r.was ->> 'total' AS BIGINT) AS total, ",
            surcharge!("r.was"),
            "    AS was, ",
            surcharge!("r.becomes"),
            "    AS becomes
               FROM reschedules r JOIN bookings k ON k.id = r.booking_id
               WHERE k.channel = 'reseller' AND r.status = 'done'),
             moves AS (SELECT code, surcharge, difference, difference + becomes - was
                 + CASE WHEN total = 0 THEN 0
                   ELSE (2 * fee * was + total) / (2 * total) END AS at_retail
               FROM prices)
             SELECT code || ' was moved for ' || CAST(at_retail AS TEXT) || ', and paid '
               || CAST(difference AS TEXT) || ' and ' || CAST(surcharge AS TEXT) || ' more'
             FROM moves
             WHERE surcharge <> CASE WHEN at_retail > 0 THEN at_retail ELSE 0 END
               - CASE WHEN difference > 0 THEN difference ELSE 0 END LIMIT 50"
        ),
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
        rule: "no booking was made before what is known as the first one of its day of departure",
        size: "SELECT COUNT(*) FROM departure_days",
        broken: "WITH known AS MATERIALIZED (
               SELECT CAST(day AS TEXT) AS day, booked_since FROM departure_days)
             SELECT k.code FROM bookings k
             LEFT JOIN known d ON d.day = substr(CAST(k.departure_at AS TEXT), 1, 10)
             WHERE d.booked_since IS NULL OR d.booked_since > k.created_at LIMIT 50",
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
];
