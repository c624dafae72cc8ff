-- What a move adds at the prices of travellers to the difference that its reseller pays.
ALTER TABLE reschedules ADD COLUMN surcharge BIGINT NOT NULL DEFAULT 0
    CONSTRAINT reschedules_surcharge CHECK (surcharge = 0 OR status = 'done');

-- As `prices::surcharge_of_move` has it.
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19),
sides AS (
    SELECT r.id, 'was' AS side, r.was AS price
    FROM reschedules r JOIN bookings k ON k.id = r.booking_id
    WHERE k.channel = 'reseller' AND r.status = 'done'
    UNION ALL
    SELECT r.id, 'becomes', r.becomes
    FROM reschedules r JOIN bookings k ON k.id = r.booking_id
    WHERE k.channel = 'reseller' AND r.status = 'done'),
surcharges AS (
    SELECT id, side, CAST(price ->> 'margin' AS BIGINT) - CAST(price ->> 'tax' AS BIGINT) + (
        SELECT COALESCE(SUM(count
            * ((2 * unit_price * numerator + denominator) / (2 * denominator))), 0)
        FROM (SELECT CAST(((price -> 'lines') -> i) ->> 'count' AS BIGINT) AS count,
                CAST(((price -> 'lines') -> i) ->> 'unit_price' AS BIGINT) AS unit_price
            FROM n WHERE ((price -> 'lines') -> i) IS NOT NULL) lines
        CROSS JOIN (SELECT
                points * CAST(rtrim(rtrim(factor, '0123456789'), '/') AS BIGINT) AS numerator,
                10000 * CAST(ltrim(ltrim(factor, '0123456789'), '/') AS BIGINT) AS denominator
            FROM (SELECT
                    CAST(ROUND(CAST(((price -> 'taxes') -> i) ->> 'rate' AS NUMERIC) * 100) AS BIGINT)
                        AS points,
                    COALESCE(NULLIF(((price -> 'taxes') -> i) ->> 'base_factor', '1'), '1/1')
                        AS factor
                FROM n WHERE ((price -> 'taxes') -> i) IS NOT NULL) parts) rates) AS amount
    FROM sides),
pairs AS (
    SELECT r.id, r.fee, r.difference, CAST(r.was ->> 'total' AS BIGINT) AS total,
        CAST(SUM(CASE WHEN s.side = 'was' THEN s.amount ELSE 0 END) AS BIGINT) AS before_it,
        CAST(SUM(CASE WHEN s.side = 'was' THEN 0 ELSE s.amount END) AS BIGINT) AS after_it
    FROM reschedules r JOIN surcharges s ON s.id = r.id
    GROUP BY r.id),
changes AS (
    SELECT id, difference, difference + after_it - before_it + CASE WHEN total = 0 THEN 0
        ELSE (2 * fee * before_it + total) / (2 * total) END AS at_retail
    FROM pairs)
UPDATE reschedules SET surcharge = CASE WHEN c.at_retail > 0 THEN c.at_retail ELSE 0 END
    - CASE WHEN c.difference > 0 THEN c.difference ELSE 0 END
FROM changes c WHERE c.id = reschedules.id;

-- Of a sale, or (money alone) of a move.
ALTER TABLE booking_moves ADD COLUMN surcharge BIGINT NOT NULL DEFAULT 0;
-- What the partner sees is gross + surcharge.
ALTER TABLE partner_days ADD COLUMN surcharge BIGINT NOT NULL DEFAULT 0;
ALTER TABLE route_months ADD COLUMN surcharge BIGINT NOT NULL DEFAULT 0;

-- Sales, changed prices and money among the moves that are not rolled up yet. A reschedule is no sale:
-- it takes the old price back (-1) and sets the new one (+1). A booking that becomes paid again after
-- a cancellation was counted before.
DROP VIEW sales_moves;
CREATE VIEW sales_moves AS
SELECT at, partner_id, route_id, type, method, sold AS bookings, sold * passengers AS passengers,
    sold * total + received AS gross, priced * discount AS discount, priced * tax AS tax,
    priced * commission AS commission, priced * partner_net AS partner_net, refund AS refunds,
    refund_tax, reseller_id, priced * margin AS margin,
    CASE WHEN to_status IS NULL THEN surcharge ELSE sold * surcharge END AS surcharge
FROM (SELECT m.*, sold + CASE WHEN to_status = 'rescheduled' THEN -1
            WHEN from_status = 'rescheduled' THEN 1
            ELSE 0 END AS priced
    FROM (SELECT m.*,
            CASE WHEN to_status = 'paid'
                AND COALESCE(from_status, 'pending_payment') IN ('pending_payment', 'expired')
                THEN 1 ELSE 0 END AS sold
        FROM booking_moves m) m) moves
WHERE priced <> 0 OR to_status IS NULL;

-- The figures have no surcharges of earlier sales: they are built again at the start.
DELETE FROM report_zones WHERE EXISTS (SELECT 1 FROM bookings WHERE channel = 'reseller');

-- Nothing reads resold bookings and moves of a period any more.
DROP INDEX bookings_resold;
DROP INDEX reschedules_done;
