-- A live booking holds its seats and its use of a promotion; one that is no longer live does not.
-- Said once, here, so that no path through the code can forget it or do it twice.
-- A booking is announced, and its first payment opened, in the statement that makes it.
-- The same rules as in the other engine's folder.

CREATE TRIGGER bookings_take BEFORE INSERT ON bookings BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND NOT chartered
      AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
    UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
    INSERT INTO promotion_uses (promotion_id, email, used)
        SELECT NEW.promotion_id, NEW.contact_email, 1 WHERE NEW.promotion_id IS NOT NULL
        ON CONFLICT (promotion_id, email) DO UPDATE SET used = promotion_uses.used + 1;
    SELECT RAISE(ABORT, 'CHECK constraint failed: promotion_uses_limit')
    FROM promotion_uses u JOIN promotions p ON p.id = u.promotion_id
    WHERE u.promotion_id = NEW.promotion_id AND u.email = NEW.contact_email
      AND u.used > p.per_customer_limit;
END;

CREATE TRIGGER bookings_take_again BEFORE UPDATE OF status ON bookings
WHEN OLD.status NOT IN ('pending_payment', 'paid', 'completed')
    AND NEW.status IN ('pending_payment', 'paid', 'completed')
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND NOT chartered
      AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
    UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
    UPDATE promotion_uses SET used = used + 1
    WHERE promotion_id = NEW.promotion_id AND email = NEW.contact_email;
END;

CREATE TRIGGER bookings_give_back BEFORE UPDATE OF status ON bookings
WHEN OLD.status IN ('pending_payment', 'paid', 'completed')
    AND NEW.status NOT IN ('pending_payment', 'paid', 'completed')
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.sailing_id;
    UPDATE promotions SET used = used - 1 WHERE id = OLD.promotion_id;
    UPDATE promotion_uses SET used = used - 1
    WHERE promotion_id = OLD.promotion_id AND email = OLD.contact_email;
END;

CREATE TRIGGER bookings_announce AFTER INSERT ON bookings BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at)
    VALUES (NEW.id, 'booking.created', json_object('booking_id', lower(hex(NEW.id))), 0,
        NEW.created_at, NEW.created_at);
END;

CREATE TRIGGER bookings_open_payment AFTER INSERT ON bookings WHEN NEW.provider IS NOT NULL BEGIN
    INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
        leased_until, created_at)
    VALUES (randomblob(16), NEW.id, 1, NEW.provider, NEW.code || '-1', 'pending', NEW.total,
        NEW.created_at, NEW.created_at);
END;

CREATE TRIGGER ledger_lines_stay BEFORE UPDATE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_lines_remain BEFORE DELETE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
