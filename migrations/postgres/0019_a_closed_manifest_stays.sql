-- Once its manifest is closed, nobody joins a sailing, boards it, or is taken off its list. Nobody
-- books by a departure that is no longer true.
-- The same rules as in the other engine's folder.

CREATE OR REPLACE FUNCTION bookings_take() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    departs TIMESTAMPTZ;
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0)
    RETURNING departure_at INTO departs;
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'sailings_seats';
    END IF;
    IF TG_OP = 'INSERT' AND departs <> NEW.departure_at THEN
        RAISE check_violation USING MESSAGE = 'sailings_moved';
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

-- Whoever boards keeps the manifest from being closed until that is written, and the other way
-- round; they do not keep one another.
CREATE FUNCTION boardings_while_open() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM sailings WHERE id = NEW.sailing_id AND manifest_closed_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'manifest_closed';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER boardings_while_open BEFORE INSERT OR UPDATE OF undone_at ON boardings
    FOR EACH ROW EXECUTE FUNCTION boardings_while_open();
