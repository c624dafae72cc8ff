-- A live booking holds its seats and its use of a promotion; one that is no longer live does not.
-- Said once, here, so that no path through the code can forget it or do it twice.
-- A booking is announced, and its first payment opened, in the statement that makes it.
-- The same rules as in the other engine's folder.

CREATE FUNCTION bookings_live(status TEXT) RETURNS BOOLEAN LANGUAGE SQL IMMUTABLE AS
    $$ SELECT status IN ('pending_payment', 'paid', 'completed') $$;

CREATE FUNCTION bookings_take() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND NOT chartered
      AND (NEW.type <> 'charter' OR seats_taken = 0);
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'sailings_seats';
    END IF;
    IF NEW.promotion_id IS NOT NULL THEN
        UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
        INSERT INTO promotion_uses (promotion_id, email, used)
        VALUES (NEW.promotion_id, NEW.contact_email, 1)
        ON CONFLICT (promotion_id, email) DO UPDATE SET used = promotion_uses.used + 1;
        IF TG_OP = 'INSERT' THEN
            PERFORM 1 FROM promotion_uses u JOIN promotions p ON p.id = u.promotion_id
            WHERE u.promotion_id = NEW.promotion_id AND u.email = NEW.contact_email
              AND u.used > p.per_customer_limit;
            IF FOUND THEN
                RAISE check_violation USING MESSAGE = 'promotion_uses_limit';
            END IF;
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION bookings_give_back() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.sailing_id;
    IF OLD.promotion_id IS NOT NULL THEN
        UPDATE promotions SET used = used - 1 WHERE id = OLD.promotion_id;
        UPDATE promotion_uses SET used = used - 1
        WHERE promotion_id = OLD.promotion_id AND email = OLD.contact_email;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION bookings_announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at)
    VALUES (NEW.id, 'booking.created', jsonb_build_object('booking_id', NEW.id), 0,
        NEW.created_at, NEW.created_at);
    IF NEW.provider IS NOT NULL THEN
        INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
            leased_until, created_at)
        VALUES (gen_random_uuid(), NEW.id, 1, NEW.provider, NEW.code || '-1', 'pending',
            NEW.total, NEW.created_at, NEW.created_at);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION ledger_lines_stay() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END $$;

CREATE TRIGGER bookings_take BEFORE INSERT ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_take();
CREATE TRIGGER bookings_take_again BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (NOT bookings_live(OLD.status) AND bookings_live(NEW.status))
    EXECUTE FUNCTION bookings_take();
CREATE TRIGGER bookings_give_back BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (bookings_live(OLD.status) AND NOT bookings_live(NEW.status))
    EXECUTE FUNCTION bookings_give_back();
CREATE TRIGGER bookings_announce AFTER INSERT ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_announce();
CREATE TRIGGER ledger_lines_stay BEFORE UPDATE OR DELETE ON ledger_lines
    FOR EACH ROW EXECUTE FUNCTION ledger_lines_stay();
