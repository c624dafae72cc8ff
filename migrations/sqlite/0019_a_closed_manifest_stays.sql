-- Once its manifest is closed, nobody joins a sailing, boards it, or is taken off its list. Nobody
-- books by a departure that is no longer true.
-- The same rules as in the other engine's folder.

DROP TRIGGER bookings_take;
CREATE TRIGGER bookings_take BEFORE INSERT ON bookings BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_moved') FROM sailings
    WHERE id = NEW.sailing_id AND departure_at <> NEW.departure_at;
    UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
    INSERT INTO promotion_uses (promotion_id, email, used)
        SELECT NEW.promotion_id, NEW.contact_email, 1 WHERE NEW.promotion_id IS NOT NULL
        ON CONFLICT (promotion_id, email) DO UPDATE SET used = promotion_uses.used + 1;
    SELECT RAISE(ABORT, 'CHECK constraint failed: promotion_uses_limit')
    FROM promotion_uses u JOIN promotions p ON p.id = u.promotion_id
    WHERE u.promotion_id = NEW.promotion_id AND u.email = NEW.contact_email
      AND u.used > p.per_customer_limit;
END;

DROP TRIGGER bookings_take_again;
CREATE TRIGGER bookings_take_again BEFORE UPDATE OF status ON bookings
WHEN OLD.status NOT IN ('pending_payment', 'paid', 'completed')
    AND NEW.status IN ('pending_payment', 'paid', 'completed')
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
    UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
    UPDATE promotion_uses SET used = used + 1
    WHERE promotion_id = NEW.promotion_id AND email = NEW.contact_email;
END;

CREATE TRIGGER boardings_while_open BEFORE INSERT ON boardings BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: manifest_closed') FROM sailings
    WHERE id = NEW.sailing_id AND manifest_closed_at IS NOT NULL;
END;
CREATE TRIGGER boardings_undone_while_open BEFORE UPDATE OF undone_at ON boardings BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: manifest_closed') FROM sailings
    WHERE id = NEW.sailing_id AND manifest_closed_at IS NOT NULL;
END;
