-- Unpaid bookings of guests are counted per contact e-mail and per client network, in the statement
-- that sells: two sales at once cannot both be the last one that is allowed.
-- The same rules as in the other engine's folder.

CREATE TABLE unpaid_holds (
    -- 'charter': charters of a network, which 'network' counts as well.
    kind TEXT NOT NULL CHECK (kind IN ('email', 'network', 'charter')),
    subject TEXT NOT NULL,
    held INTEGER NOT NULL CHECK (held >= 0),
    PRIMARY KEY (kind, subject),
    CONSTRAINT unpaid_holds_email CHECK (kind <> 'email' OR held <= 5),
    CONSTRAINT unpaid_holds_network CHECK (kind <> 'network' OR held <= 10),
    CONSTRAINT unpaid_holds_charter CHECK (kind <> 'charter' OR held <= 2)
);

-- What an unpaid booking is counted under. NULL: no limit applies to it, or it is no longer unpaid.
ALTER TABLE bookings ADD COLUMN held_email TEXT;
ALTER TABLE bookings ADD COLUMN held_network TEXT;

-- The counters replace the count that this index served.
DROP INDEX bookings_held_by;

-- Rows are locked in the same order everywhere: sailing, promotion, then the counters in the order
-- e-mail, network, charter. Triggers of one event run in the order of their names, so these come
-- after bookings_take and bookings_give_back.
CREATE FUNCTION bookings_unpaid_take() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO unpaid_holds (kind, subject, held) VALUES ('email', NEW.held_email, 1)
    ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
    INSERT INTO unpaid_holds (kind, subject, held) VALUES ('network', NEW.held_network, 1)
    ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
    IF NEW.type = 'charter' THEN
        INSERT INTO unpaid_holds (kind, subject, held) VALUES ('charter', NEW.held_network, 1)
        ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION bookings_unpaid_release() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE unpaid_holds SET held = held - 1 WHERE kind = 'email' AND subject = OLD.held_email;
    UPDATE unpaid_holds SET held = held - 1 WHERE kind = 'network' AND subject = OLD.held_network;
    IF OLD.type = 'charter' THEN
        UPDATE unpaid_holds SET held = held - 1
        WHERE kind = 'charter' AND subject = OLD.held_network;
    END IF;
    DELETE FROM unpaid_holds WHERE kind = 'email' AND subject = OLD.held_email AND held = 0;
    DELETE FROM unpaid_holds
    WHERE kind IN ('network', 'charter') AND subject = OLD.held_network AND held = 0;
    NEW.held_email := NULL;
    NEW.held_network := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER bookings_unpaid_take BEFORE INSERT ON bookings
    FOR EACH ROW WHEN (NEW.status = 'pending_payment' AND NEW.held_email IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_take();
CREATE TRIGGER bookings_unpaid_release BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (OLD.status = 'pending_payment' AND NEW.status <> 'pending_payment'
        AND OLD.held_email IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_release();
