-- The news of one booking are delivered in order, from the first on.
-- The same rule as in the other engine's folder.

DROP TRIGGER bookings_announce;
CREATE TRIGGER bookings_announce AFTER INSERT ON bookings BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    VALUES (NEW.id, 'booking.created', json_object('booking_id', lower(hex(NEW.id))), 0,
        NEW.created_at, NEW.created_at, lower(hex(NEW.id)), 'event');
END;
