//! Sailings: seats, manifests and harbours.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
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
        rule: "a cancelled sailing has no live bookings",
        size: "SELECT COUNT(*) FROM sailings WHERE status <> 'open'",
        broken: "SELECT k.code || ' (' || k.status || ')'
             FROM sailings s JOIN bookings k ON k.sailing_id = s.id
             WHERE s.status <> 'open' AND k.status IN ('pending_payment', 'paid') LIMIT 50",
    },
    Invariant {
        rule: "exactly the closed manifests are stored",
        size: "SELECT COUNT(*) FROM manifests",
        broken: "SELECT 'a sailing at ' || CAST(s.departure_at AS TEXT)
             FROM sailings s LEFT JOIN manifests m ON m.sailing_id = s.id
             WHERE (s.manifest_closed_at IS NULL) <> (m.sailing_id IS NULL) LIMIT 50",
    },
    Invariant {
        rule: "a harbour is found by its name",
        size: "SELECT COUNT(*) FROM harbours",
        broken: "SELECT h.name FROM harbours h
             WHERE NOT EXISTS (SELECT 1 FROM harbour_names n
               WHERE n.harbour_id = h.id AND n.name = h.name) LIMIT 50",
    },
];
