-- What travellers pay beyond the net price of a reseller: its margin, with the taxes on it. A partner sees
-- total + surcharge.
ALTER TABLE bookings ADD COLUMN surcharge BIGINT NOT NULL DEFAULT 0
    CONSTRAINT bookings_surcharge CHECK (surcharge >= 0 AND (surcharge = 0 OR margin > 0));

-- The taxes are computed for each passenger at the fare, and rounded half up (`prices::surcharge`).
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
UPDATE bookings SET surcharge = margin - tax + (
    SELECT COALESCE(SUM(count * ((2 * unit_price * numerator + denominator) / (2 * denominator))), 0)
    FROM (SELECT CAST((fare_lines -> i) ->> 'count' AS BIGINT) AS count,
            CAST((fare_lines -> i) ->> 'unit_price' AS BIGINT) AS unit_price
        FROM n WHERE (fare_lines -> i) IS NOT NULL) lines
    CROSS JOIN (SELECT points * CAST(rtrim(rtrim(factor, '0123456789'), '/') AS BIGINT) AS numerator,
            10000 * CAST(ltrim(ltrim(factor, '0123456789'), '/') AS BIGINT) AS denominator
        FROM (SELECT CAST(ROUND(CAST((taxes -> i) ->> 'rate' AS NUMERIC) * 100) AS BIGINT) AS points,
                COALESCE(NULLIF((taxes -> i) ->> 'base_factor', '1'), '1/1') AS factor
            FROM n WHERE (taxes -> i) IS NOT NULL) parts) rates)
WHERE channel = 'reseller' AND margin > 0;

-- A partner's list by total. No total is negative: the condition keeps the index from lists in another
-- order.
CREATE INDEX bookings_partner_total ON bookings (partner_id, (total + surcharge), id, status, type, channel,
    qty, speedboat_id, departure_at, created_at, refund_due, reseller_id, total, surcharge)
    WHERE total >= 0;
