-- No booking of this day of departure (UTC) was made before this time. It is that of the first booking, or
-- earlier if that one has moved to another day. Lists of a period in the order of creation begin there.
CREATE TABLE departure_days (
    day DATE PRIMARY KEY,
    booked_since TIMESTAMPTZ NOT NULL
);

INSERT INTO departure_days (day, booked_since)
SELECT CAST(departure_at AT TIME ZONE 'UTC' AS DATE), MIN(created_at) FROM bookings GROUP BY 1;

-- Bookings that were not made on the website, by their total. No total is negative: the condition keeps
-- the index from lists in another order.
CREATE INDEX bookings_channel_total ON bookings (channel, total, id, status, type, qty, partner_id,
    speedboat_id, departure_at, created_at, refund_due) WHERE channel <> 'web' AND total >= 0;

-- The list of settlements by amount and by status, with what it filters and searches.
DROP INDEX settlements_net;
CREATE INDEX settlements_net ON settlements (net, id, partner_id, status, origin, start_date, end_date,
    code, reference);
CREATE INDEX settlements_by_status ON settlements (status, id, partner_id, origin, start_date,
    end_date, code, reference);
