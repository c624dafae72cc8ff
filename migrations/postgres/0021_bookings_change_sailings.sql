-- Seats follow a booking to its new sailing, and are held there while it waits to be paid for.
-- The same rules as in the other engine's folder.

ALTER TABLE ledger_lines DROP CONSTRAINT ledger_lines_source_check;
ALTER TABLE ledger_lines ADD CONSTRAINT ledger_lines_source_check
    CHECK (source IN ('booking', 'payment', 'review', 'settlement', 'reschedule'));

ALTER TABLE partner_dues ADD COLUMN reschedule_id UUID REFERENCES reschedules (id);
ALTER TABLE partner_dues DROP CONSTRAINT partner_dues_booking_id_kind_key;
CREATE INDEX partner_dues_booking ON partner_dues (booking_id);
-- Once in each chapter of a booking.
CREATE UNIQUE INDEX partner_dues_once ON partner_dues (booking_id, kind)
    WHERE reschedule_id IS NULL;
CREATE UNIQUE INDEX partner_dues_once_a_chapter ON partner_dues (booking_id, kind, reschedule_id)
    WHERE reschedule_id IS NOT NULL;

CREATE FUNCTION bookings_change_sailing() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.sailing_id;
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'sailings_seats';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION reschedules_hold() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.to_sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'sailings_seats';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION reschedules_let_go() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.to_sailing_id;
    RETURN NEW;
END $$;

-- Whatever else happens to a booking, it no longer waits to be moved.
CREATE FUNCTION bookings_drop_reschedules() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reschedules SET status = 'dropped' WHERE booking_id = NEW.id AND status = 'pending';
    RETURN NULL;
END $$;

-- By what the booking itself was paid.
CREATE FUNCTION bookings_method(booking UUID) RETURNS TEXT LANGUAGE SQL STABLE AS $$
    SELECT COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = booking
        AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other')
$$;

CREATE OR REPLACE FUNCTION bookings_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type, bookings_method(NEW.id),
        CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.updated_at, NEW.qty,
        NEW.subtotal, NEW.discount, NEW.tax, NEW.total, NEW.commission, NEW.partner_net,
        -- What was paid in vain was no sale, so its way back is no refund of one.
        CASE WHEN NEW.status = 'refunded' AND NEW.paid_at IS NOT NULL
            THEN COALESCE(NEW.refund_amount, 0) ELSE 0 END
    FROM sailings s WHERE s.id = NEW.sailing_id;
    RETURN NULL;
END $$;

CREATE FUNCTION bookings_tell_of_reschedule() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT OLD.partner_id, s.route_id, OLD.type, bookings_method(NEW.id), OLD.status,
        'rescheduled', NEW.updated_at, OLD.qty, OLD.subtotal, OLD.discount, OLD.tax, OLD.total,
        OLD.commission, OLD.partner_net, 0
    FROM sailings s WHERE s.id = OLD.sailing_id;
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type, bookings_method(NEW.id), 'rescheduled',
        NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax, NEW.total,
        NEW.commission, NEW.partner_net, 0
    FROM sailings s WHERE s.id = NEW.sailing_id;
    RETURN NULL;
END $$;

CREATE TRIGGER bookings_change_sailing BEFORE UPDATE OF sailing_id ON bookings
    FOR EACH ROW WHEN (NEW.sailing_id <> OLD.sailing_id AND bookings_live(OLD.status))
    EXECUTE FUNCTION bookings_change_sailing();
CREATE TRIGGER reschedules_hold BEFORE INSERT ON reschedules
    FOR EACH ROW WHEN (NEW.status = 'pending') EXECUTE FUNCTION reschedules_hold();
CREATE TRIGGER reschedules_let_go BEFORE UPDATE OF status ON reschedules
    FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status <> 'pending')
    EXECUTE FUNCTION reschedules_let_go();
CREATE TRIGGER bookings_drop_reschedules AFTER UPDATE OF status ON bookings
    FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION bookings_drop_reschedules();
CREATE TRIGGER bookings_tell_of_reschedule AFTER UPDATE OF sailing_id ON bookings
    FOR EACH ROW WHEN (NEW.sailing_id <> OLD.sailing_id)
    EXECUTE FUNCTION bookings_tell_of_reschedule();
