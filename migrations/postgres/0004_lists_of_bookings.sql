-- When the first booking of each day of departure (UTC) was made. The list of a period begins there when
-- its oldest bookings are asked for.
CREATE TABLE departure_days (
    day DATE PRIMARY KEY,
    first_booked_at TIMESTAMPTZ NOT NULL
);

INSERT INTO departure_days (day, first_booked_at)
SELECT CAST(departure_at AT TIME ZONE 'UTC' AS DATE), MIN(created_at) FROM bookings GROUP BY 1;

-- Bookings that were not made on the website, by their total.
CREATE INDEX bookings_channel_total ON bookings (channel, total, id, status, type, qty, partner_id,
    speedboat_id, departure_at, created_at, refund_due) WHERE channel <> 'web';
