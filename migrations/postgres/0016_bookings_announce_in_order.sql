-- The news of one booking are delivered in order, from the first on.
-- The same rule as in the other engine's folder.

CREATE OR REPLACE FUNCTION bookings_announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    VALUES (NEW.id, 'booking.created', jsonb_build_object('booking_id', NEW.id), 0,
        NEW.created_at, NEW.created_at, replace(NEW.id::text, '-', ''), 'event');
    IF NEW.provider IS NOT NULL THEN
        INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
            leased_until, created_at)
        VALUES (gen_random_uuid(), NEW.id, 1, NEW.provider, NEW.code || '-1', 'pending',
            NEW.total, NEW.created_at, NEW.created_at);
    END IF;
    RETURN NULL;
END $$;
