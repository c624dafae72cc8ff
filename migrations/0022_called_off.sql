-- Cancelled together with its sailing: its booker may choose another instead of the money.
ALTER TABLE bookings ADD COLUMN called_off BOOLEAN NOT NULL DEFAULT FALSE;
-- Until now it was told by the time at which both were cancelled.
UPDATE bookings SET called_off = TRUE
WHERE status IN ('refund_pending', 'cancelled') AND EXISTS (SELECT 1 FROM sailings s
    WHERE s.id = bookings.sailing_id AND s.status = 'cancelled'
      AND s.cancelled_at = bookings.cancelled_at);
