-- Edition 4. Raise it with every change of this file that is released: a process that knows an older
-- edition leaves the triggers of a newer one as they are.
--
-- The current text of all triggers and their functions, for PostgreSQL. `sqlite/triggers.sql` has the
-- same rules. At start the service compares the file with what it applied last; if anything differs,
-- it drops all triggers that it created, runs pending migrations, and runs this file, in one
-- transaction. Each statement begins with CREATE OR REPLACE at the start of a line: the service finds
-- by that what it has to drop later.
--
-- PostgreSQL runs the triggers of one event in the order of their names. The triggers of one booking
-- lock rows in a fixed order, so that two statements on one booking each do not deadlock: the sailing,
-- the promotion and its uses, then the counters of unpaid holds in the order e-mail, network, charter,
-- reseller.
-- `bookings_unpaid_…` sorts after `bookings_give_back` and `bookings_take…` for that reason.

---------------------------------------------------------------------------------------------------
-- Audit log: what its search looks in
---------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION audit_logs_search() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    -- An erased person is no longer found by name.
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM audit_actors WHERE actor_id = OLD.actor_id AND name = OLD.actor_name
            AND email = OLD.actor_email;
    END IF;
    INSERT INTO audit_actors (actor_id, name, email)
    VALUES (NEW.actor_id, NEW.actor_name, NEW.actor_email) ON CONFLICT DO NOTHING;
    INSERT INTO audit_actions (action) VALUES (NEW.action) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER audit_logs_search_insert AFTER INSERT ON audit_logs
    FOR EACH ROW EXECUTE FUNCTION audit_logs_search();
CREATE OR REPLACE TRIGGER audit_logs_search_update AFTER UPDATE OF actor_name, actor_email
    ON audit_logs FOR EACH ROW
    WHEN (NEW.actor_name <> OLD.actor_name OR NEW.actor_email <> OLD.actor_email)
    EXECUTE FUNCTION audit_logs_search();

---------------------------------------------------------------------------------------------------
-- Accounts
---------------------------------------------------------------------------------------------------

-- An address that an account can still return to belongs to no other account. The change that reserves
-- it is requested while the unique index keeps others from taking it. AFTER: an insert that waited for
-- the unique index sees the change that was committed in the meantime.
CREATE OR REPLACE FUNCTION accounts_email_reserved() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM email_changes
               WHERE old_email = NEW.email AND account_id <> NEW.id) THEN
        RAISE check_violation USING MESSAGE = 'email_reserved';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER accounts_email_reserved AFTER INSERT OR UPDATE OF email, deleted_at
    ON accounts FOR EACH ROW WHEN (NEW.deleted_at IS NULL)
    EXECUTE FUNCTION accounts_email_reserved();

---------------------------------------------------------------------------------------------------
-- Sailings
---------------------------------------------------------------------------------------------------

-- Writes changes of open sailings, from which the totals of days are made. A sale of seats changes
-- nothing of them: it is before the departure.
CREATE OR REPLACE FUNCTION sailings_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
    SELECT day, COUNT(*), COUNT(*) FILTER (WHERE tallied),
        COALESCE(SUM(capacity) FILTER (WHERE tallied), 0),
        COALESCE(SUM(seats_taken) FILTER (WHERE tallied), 0)
    FROM inserted WHERE status = 'open' GROUP BY day;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER sailings_tell AFTER INSERT ON sailings
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION sailings_tell();

CREATE OR REPLACE FUNCTION sailings_tell_of_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    was INTEGER := OLD.tallied::INTEGER;
    becomes INTEGER;
BEGIN
    IF OLD.status = 'open' THEN
        INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
        VALUES (OLD.day, -1, -was, -was * OLD.capacity, -was * OLD.seats_taken);
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF NEW.status = 'open' THEN
            becomes := NEW.tallied::INTEGER;
            INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
            VALUES (NEW.day, 1, becomes, becomes * NEW.capacity, becomes * NEW.seats_taken);
        END IF;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER sailings_tell_of_change
    AFTER UPDATE OF status, day, tallied, capacity, seats_taken ON sailings FOR EACH ROW
    WHEN (NEW.tallied OR OLD.tallied OR NEW.status <> OLD.status OR NEW.day <> OLD.day)
    EXECUTE FUNCTION sailings_tell_of_change();
CREATE OR REPLACE TRIGGER sailings_tell_of_removal AFTER DELETE ON sailings
    FOR EACH ROW EXECUTE FUNCTION sailings_tell_of_change();

-- Writes what resellers are told of their products: new sailings, and changes of price, time or
-- status.
CREATE OR REPLACE FUNCTION sailings_tell_resellers() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day)
    SELECT l.id, MIN(i.day), MAX(i.day) FROM inserted i JOIN lines l ON l.id = i.line_id
    WHERE l.resale GROUP BY l.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER sailings_tell_resellers AFTER INSERT ON sailings
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION sailings_tell_resellers();

CREATE OR REPLACE FUNCTION sailings_tell_resellers_of_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day)
    SELECT l.id, LEAST(OLD.day, NEW.day), GREATEST(OLD.day, NEW.day)
    FROM lines l WHERE l.id = NEW.line_id AND l.resale;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER sailings_tell_resellers_of_change AFTER UPDATE OF status, price,
    departure_at, capacity, seats_taken, chartered, manifest_closed_at ON sailings FOR EACH ROW
    WHEN (NEW.status <> OLD.status OR NEW.price <> OLD.price
        OR NEW.departure_at <> OLD.departure_at OR NEW.chartered <> OLD.chartered
        OR (NEW.manifest_closed_at IS NULL) <> (OLD.manifest_closed_at IS NULL)
        OR (NEW.seats_taken >= NEW.capacity) <> (OLD.seats_taken >= OLD.capacity)
        OR (2 * (NEW.capacity - NEW.seats_taken) < NEW.capacity)
            <> (2 * (OLD.capacity - OLD.seats_taken) < OLD.capacity))
    EXECUTE FUNCTION sailings_tell_resellers_of_change();

CREATE OR REPLACE FUNCTION lines_tell_resellers() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day) VALUES (NEW.id, NULL, NULL);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER lines_tell_resellers AFTER UPDATE OF resale, day_ticket, names, max_party,
    cutoff_minutes, fares ON lines FOR EACH ROW
    WHEN (NEW.resale <> OLD.resale OR NEW.resale AND (NEW.day_ticket <> OLD.day_ticket
        OR NEW.names <> OLD.names OR NEW.max_party <> OLD.max_party OR NEW.fares <> OLD.fares
        OR COALESCE(NEW.cutoff_minutes, -1) <> COALESCE(OLD.cutoff_minutes, -1)))
    EXECUTE FUNCTION lines_tell_resellers();

---------------------------------------------------------------------------------------------------
-- Contents
---------------------------------------------------------------------------------------------------

-- Customers have agreed to published terms, so their text never changes. They can only be archived.
CREATE OR REPLACE FUNCTION terms_stay() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'published terms never change';
END $$;

CREATE OR REPLACE TRIGGER terms_stay BEFORE UPDATE ON terms
    FOR EACH ROW WHEN (OLD.status <> 'draft' AND (NEW.content <> OLD.content
        OR NEW.type <> OLD.type OR NEW.version <> OLD.version
        OR NEW.published_at <> OLD.published_at
        OR NEW.status = 'draft' OR (OLD.status = 'archived' AND NEW.status <> 'archived')))
    EXECUTE FUNCTION terms_stay();
CREATE OR REPLACE TRIGGER terms_remain BEFORE DELETE ON terms
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION terms_stay();

---------------------------------------------------------------------------------------------------
-- Bookings: seats and promotions
---------------------------------------------------------------------------------------------------

-- A live booking holds its seats and its use of a promotion; any other booking holds neither.
CREATE OR REPLACE FUNCTION bookings_live(status TEXT) RETURNS BOOLEAN LANGUAGE SQL IMMUTABLE AS
    $$ SELECT status IN ('pending_payment', 'paid', 'completed') $$;

-- The UPDATE locks the sailing, so it sees the seats that concurrent sales took. It finds no row if
-- the sailing is not open, its manifest is closed, it is chartered, or a charter finds seats sold.
-- Too many seats violate the CHECK `sailings_seats`, which is the name that is raised here, too.
-- A new booking has the departure, the price and the boat of its sailing: none of them changes between
-- reading the offer and taking the seats. A booking that becomes live again is not limited per
-- customer: it had its use before.
CREATE OR REPLACE FUNCTION bookings_take() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    sailing RECORD;
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0)
    RETURNING departure_at, price, speedboat_id INTO sailing;
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'sailings_seats';
    END IF;
    IF TG_OP = 'INSERT' AND (sailing.departure_at <> NEW.departure_at
        OR sailing.price <> NEW.unit_price OR sailing.speedboat_id <> NEW.speedboat_id) THEN
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

CREATE OR REPLACE FUNCTION bookings_give_back() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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

-- The seats of a live booking follow it to another sailing.
CREATE OR REPLACE FUNCTION bookings_change_sailing() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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

-- A live booking gives back the seats of passengers who are cancelled.
CREATE OR REPLACE FUNCTION bookings_change_seats() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats - OLD.seats WHERE id = NEW.sailing_id;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER bookings_take BEFORE INSERT ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_take();
CREATE OR REPLACE TRIGGER bookings_take_again BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (NOT bookings_live(OLD.status) AND bookings_live(NEW.status))
    EXECUTE FUNCTION bookings_take();
CREATE OR REPLACE TRIGGER bookings_give_back BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (bookings_live(OLD.status) AND NOT bookings_live(NEW.status))
    EXECUTE FUNCTION bookings_give_back();
CREATE OR REPLACE TRIGGER bookings_change_sailing BEFORE UPDATE OF sailing_id ON bookings
    FOR EACH ROW WHEN (NEW.sailing_id <> OLD.sailing_id AND bookings_live(OLD.status))
    EXECUTE FUNCTION bookings_change_sailing();
CREATE OR REPLACE TRIGGER bookings_change_seats BEFORE UPDATE OF seats ON bookings
    FOR EACH ROW WHEN (NEW.seats <> OLD.seats AND NEW.sailing_id = OLD.sailing_id
        AND bookings_live(OLD.status))
    EXECUTE FUNCTION bookings_change_seats();

---------------------------------------------------------------------------------------------------
-- Bookings: event and first payment
---------------------------------------------------------------------------------------------------

-- The statement that inserts a booking also writes its `booking.created` event and opens its first
-- payment. The event has the booking's id, and its lane orders the events of the booking. The id of the
-- payment begins with the time in that of the booking: random ids would be spread over the whole index.
CREATE OR REPLACE FUNCTION bookings_announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    VALUES (NEW.id, 'booking.created', jsonb_build_object('booking_id', NEW.id), 0,
        NEW.created_at, NEW.created_at, replace(NEW.id::text, '-', ''), 'event');
    IF NEW.provider IS NOT NULL THEN
        INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
            leased_until, created_at)
        VALUES (CAST(substr(NEW.id::text, 1, 19) || substr(gen_random_uuid()::text, 20) AS UUID),
            NEW.id, 1, NEW.provider, NEW.code || '-1', 'pending', NEW.total, NEW.created_at,
            NEW.created_at);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER bookings_announce AFTER INSERT ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_announce();

---------------------------------------------------------------------------------------------------
-- Reschedules
---------------------------------------------------------------------------------------------------

-- A pending move holds seats on the sailing that it leads to.
CREATE OR REPLACE FUNCTION reschedules_hold() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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

-- Done or dropped, it holds none. The booking takes its own when it changes its sailing.
CREATE OR REPLACE FUNCTION reschedules_let_go() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.to_sailing_id;
    RETURN NEW;
END $$;

-- A change of the booking's status drops its pending move.
CREATE OR REPLACE FUNCTION bookings_drop_reschedules() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reschedules SET status = 'dropped' WHERE booking_id = NEW.id AND status = 'pending';
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER reschedules_hold BEFORE INSERT ON reschedules
    FOR EACH ROW WHEN (NEW.status = 'pending') EXECUTE FUNCTION reschedules_hold();
CREATE OR REPLACE TRIGGER reschedules_let_go BEFORE UPDATE OF status ON reschedules
    FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status <> 'pending')
    EXECUTE FUNCTION reschedules_let_go();
CREATE OR REPLACE TRIGGER bookings_drop_reschedules AFTER UPDATE OF status ON bookings
    FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION bookings_drop_reschedules();

---------------------------------------------------------------------------------------------------
-- Bookings: rows for the reports
---------------------------------------------------------------------------------------------------

-- How the booking itself was paid; payments of a reschedule's difference do not count.
CREATE OR REPLACE FUNCTION bookings_method(booking UUID) RETURNS TEXT LANGUAGE SQL STABLE AS $$
    SELECT COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = booking
        AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other')
$$;

-- Writes a change of status to `booking_moves`.
CREATE OR REPLACE FUNCTION bookings_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin, surcharge)
    SELECT NEW.partner_id, s.route_id, NEW.type, bookings_method(NEW.id),
        CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.updated_at, NEW.qty,
        NEW.subtotal, NEW.discount, NEW.tax, NEW.total, NEW.commission, NEW.partner_net, 0, 0, 0,
        NEW.reseller_id, NEW.margin, NEW.surcharge
    FROM sailings s WHERE s.id = NEW.sailing_id;
    RETURN NULL;
END $$;

-- Writes a reschedule: the old price is taken back, the new one is set.
CREATE OR REPLACE FUNCTION bookings_tell_of_reschedule() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT OLD.partner_id, s.route_id, OLD.type, bookings_method(NEW.id), OLD.status,
        'rescheduled', NEW.updated_at, OLD.qty, OLD.subtotal, OLD.discount, OLD.tax, OLD.total,
        OLD.commission, OLD.partner_net, 0, 0, 0, OLD.reseller_id, OLD.margin
    FROM sailings s WHERE s.id = OLD.sailing_id;
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT NEW.partner_id, s.route_id, NEW.type, bookings_method(NEW.id), 'rescheduled',
        NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax, NEW.total,
        NEW.commission, NEW.partner_net, 0, 0, 0, NEW.reseller_id, NEW.margin
    FROM sailings s WHERE s.id = NEW.sailing_id;
    RETURN NULL;
END $$;

-- Writes that passengers were cancelled: their share remains sold, and the booking in its status has
-- less.
CREATE OR REPLACE FUNCTION bookings_tell_of_fewer() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT OLD.partner_id, s.route_id, OLD.type, 'other', OLD.status, 'reduced', NEW.updated_at,
        OLD.qty, OLD.subtotal, OLD.discount, OLD.tax, OLD.total, OLD.commission, OLD.partner_net,
        0, 0, 0, OLD.reseller_id, OLD.margin
    FROM sailings s WHERE s.id = OLD.sailing_id;
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT NEW.partner_id, s.route_id, NEW.type, 'other', 'reduced', NEW.status, NEW.updated_at,
        NEW.qty, NEW.subtotal, NEW.discount, NEW.tax, NEW.total, NEW.commission, NEW.partner_net,
        0, 0, 0, NEW.reseller_id, NEW.margin
    FROM sailings s WHERE s.id = NEW.sailing_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER bookings_tell AFTER UPDATE OF status ON bookings
    FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION bookings_tell();
-- A booking that costs nothing is inserted as paid.
CREATE OR REPLACE TRIGGER bookings_tell_of_free AFTER INSERT ON bookings
    FOR EACH ROW WHEN (NEW.status = 'paid') EXECUTE FUNCTION bookings_tell();
-- A hold of a reseller that changes was not sold yet.
CREATE OR REPLACE TRIGGER bookings_tell_of_reschedule AFTER UPDATE OF sailing_id ON bookings
    FOR EACH ROW WHEN (NEW.sailing_id <> OLD.sailing_id AND OLD.status <> 'pending_payment')
    EXECUTE FUNCTION bookings_tell_of_reschedule();
CREATE OR REPLACE TRIGGER bookings_tell_of_fewer AFTER UPDATE OF qty ON bookings
    FOR EACH ROW WHEN (NEW.qty <> OLD.qty AND OLD.status <> 'pending_payment')
    EXECUTE FUNCTION bookings_tell_of_fewer();

-- The difference of a reschedule is received under the method of its own payment, and counts for the
-- route that the booking was sold for.
CREATE OR REPLACE FUNCTION payments_tell_of_difference() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, COALESCE(NEW.method, 'other'), NULL, NULL,
        NEW.paid_at, 0, 0, 0, 0, 0, 0, 0, NEW.amount, 0, 0, k.reseller_id, 0
    FROM sales_keys k WHERE k.booking_id = NEW.booking_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER payments_tell_of_paid_difference AFTER INSERT ON payments
    FOR EACH ROW WHEN (NEW.reschedule_id IS NOT NULL AND NEW.status = 'paid')
    EXECUTE FUNCTION payments_tell_of_difference();
CREATE OR REPLACE TRIGGER payments_tell_of_difference AFTER UPDATE OF status ON payments
    FOR EACH ROW WHEN (NEW.reschedule_id IS NOT NULL AND NEW.status = 'paid'
        AND OLD.status NOT IN ('paid', 'refunded'))
    EXECUTE FUNCTION payments_tell_of_difference();

-- What a move of a reseller's booking adds at the prices of travellers, also where nothing is paid for it.
CREATE OR REPLACE FUNCTION reschedules_tell_of_surcharge() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin, surcharge)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.done_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, k.reseller_id, 0, NEW.surcharge
    FROM sales_keys k WHERE k.booking_id = NEW.booking_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER reschedules_tell_of_surcharge AFTER INSERT ON reschedules
    FOR EACH ROW WHEN (NEW.surcharge <> 0) EXECUTE FUNCTION reschedules_tell_of_surcharge();

-- What was paid too much, twice or too late is received when it is known to be owed back.
CREATE OR REPLACE FUNCTION refunds_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.due_at, 0, 0, 0, 0, 0, 0, 0, NEW.amount, 0, 0, k.reseller_id, 0
    FROM refund_keys k WHERE k.refund_id = NEW.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER refunds_tell AFTER INSERT ON refunds
    FOR EACH ROW WHEN (NEW.kind IN ('excess', 'duplicate', 'late')) EXECUTE FUNCTION refunds_tell();

-- Money that goes back to a customer, or bounced.
CREATE OR REPLACE FUNCTION refund_payments_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    times BIGINT := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        CASE WHEN TG_OP = 'INSERT' THEN NEW.paid_at ELSE NEW.returned_at END,
        0, 0, 0, 0, 0, 0, 0, 0, times * NEW.amount, times * NEW.tax, k.reseller_id, 0
    FROM refund_keys k WHERE k.refund_id = NEW.refund_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER refund_payments_tell AFTER INSERT ON refund_payments
    FOR EACH ROW EXECUTE FUNCTION refund_payments_tell();
CREATE OR REPLACE TRIGGER refund_payments_tell_of_return AFTER UPDATE OF returned_at
    ON refund_payments FOR EACH ROW WHEN (OLD.returned_at IS NULL AND NEW.returned_at IS NOT NULL)
    EXECUTE FUNCTION refund_payments_tell();

---------------------------------------------------------------------------------------------------
-- Bookings: limits of unpaid holds
---------------------------------------------------------------------------------------------------

-- Counts a guest's unpaid booking under its e-mail and network. The CHECKs of `unpaid_holds` refuse
-- one too many.
CREATE OR REPLACE FUNCTION bookings_unpaid_take() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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

-- Ends the count when the booking is no longer unpaid, and deletes counters that reached zero.
CREATE OR REPLACE FUNCTION bookings_unpaid_release() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE TRIGGER bookings_unpaid_take BEFORE INSERT ON bookings
    FOR EACH ROW WHEN (NEW.status = 'pending_payment' AND NEW.held_email IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_take();
CREATE OR REPLACE TRIGGER bookings_unpaid_release BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (OLD.status = 'pending_payment' AND NEW.status <> 'pending_payment'
        AND OLD.held_email IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_release();

-- Counts the unpaid bookings of a reseller, and refuses one too many.
CREATE OR REPLACE FUNCTION bookings_unpaid_reseller() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE resellers SET held = held + 1 WHERE id = NEW.reseller_id AND held < max_holds;
        IF NOT FOUND THEN
            RAISE check_violation USING MESSAGE = 'resellers_holds';
        END IF;
    ELSE
        UPDATE resellers SET held = held - 1 WHERE id = NEW.reseller_id;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER bookings_unpaid_take_reseller BEFORE INSERT ON bookings
    FOR EACH ROW WHEN (NEW.status = 'pending_payment' AND NEW.reseller_id IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_reseller();
CREATE OR REPLACE TRIGGER bookings_unpaid_release_reseller BEFORE UPDATE OF status ON bookings
    FOR EACH ROW WHEN (OLD.status = 'pending_payment' AND NEW.status <> 'pending_payment'
        AND NEW.reseller_id IS NOT NULL)
    EXECUTE FUNCTION bookings_unpaid_reseller();

---------------------------------------------------------------------------------------------------
-- Boarding
---------------------------------------------------------------------------------------------------

-- After the manifest is closed nobody boards, and no check-in is undone. FOR SHARE makes closing wait
-- until a concurrent check-in has committed, and the other way round; check-ins do not block one
-- another.
CREATE OR REPLACE FUNCTION boardings_while_open() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM sailings WHERE id = NEW.sailing_id AND manifest_closed_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE check_violation USING MESSAGE = 'manifest_closed';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER boardings_while_open BEFORE INSERT OR UPDATE OF undone_at ON boardings
    FOR EACH ROW EXECUTE FUNCTION boardings_while_open();

---------------------------------------------------------------------------------------------------
-- Ledger
---------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION ledger_lines_stay() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END $$;

CREATE OR REPLACE TRIGGER ledger_lines_stay BEFORE UPDATE OR DELETE ON ledger_lines
    FOR EACH ROW EXECUTE FUNCTION ledger_lines_stay();

-- Writes the lines of a statement to `ledger_moves`, from which the totals of days are made, and what
-- they say about payments and taxes to `payment_moves` and `tax_moves`.
CREATE OR REPLACE FUNCTION ledger_lines_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    line RECORD;
    receipt RECORD;
    payment RECORD;
BEGIN
    INSERT INTO ledger_moves (posted_on, account, tax_code, debit, credit)
    SELECT posted_on, account, COALESCE(tax_code, ''), SUM(GREATEST(amount, 0)),
        SUM(GREATEST(-amount, 0))
    FROM inserted GROUP BY posted_on, account, COALESCE(tax_code, '');
    -- Money that came in through a provider, or was taken off again. With the first receipt of a
    -- payment counts what the provider has settled of it before. The lock orders this and the line
    -- of a payout of the same payment.
    FOR line IN SELECT id, source, booking_id, posted_on, amount FROM inserted
        WHERE account = 'gateway_clearing'
          AND source IN ('booking', 'reschedule', 'payment', 'review')
          AND kind IN ('paid', 'late_payment', 'rescheduled', 'unapplied', 'apply', 'dismiss')
    LOOP
        -- The frequent case, which `receipts` has as well.
        IF line.source = 'booking' THEN
            SELECT y.id AS payment_id, COALESCE(y.method, 'other') AS method INTO receipt
            FROM payments y WHERE y.booking_id = line.booking_id AND y.reschedule_id IS NULL
              AND y.status IN ('paid', 'refunded');
        ELSE
            SELECT r.payment_id, r.method INTO receipt FROM receipts r WHERE r.line_id = line.id;
        END IF;
        CONTINUE WHEN NOT FOUND;
        SELECT y.received_on, y.received_by, y.received, y.settled INTO payment
        FROM payments y WHERE y.id = receipt.payment_id FOR NO KEY UPDATE;
        INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
        VALUES (COALESCE(payment.received_on, line.posted_on),
            COALESCE(payment.received_by, receipt.method), line.amount, 0, 0, 0, 0,
            GREATEST(payment.settled - payment.received - line.amount, 0)
                - CASE WHEN payment.received_on IS NULL THEN 0
                    ELSE GREATEST(payment.settled - payment.received, 0) END);
        IF payment.received_on IS NULL THEN
            INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes,
                extra)
            SELECT line.posted_on, receipt.method, 0, GREATEST(s.gross, 0), GREATEST(-s.gross, 0),
                s.fee, s.fee_tax, 0
            FROM provider_settlement_lines s WHERE s.payment_id = receipt.payment_id;
        END IF;
        UPDATE payments SET received = received + line.amount,
            received_on = COALESCE(received_on, line.posted_on),
            received_by = COALESCE(received_by, receipt.method)
        WHERE id = receipt.payment_id;
    END LOOP;
    -- Taxes in what a customer paid for a booking, or for a move to a dearer sailing.
    FOR line IN SELECT posted_on, source_id, booking_id, kind FROM inserted
        WHERE account = 'customer_deposits' AND amount < 0 AND (kind IN ('paid', 'apply')
            OR (source = 'reschedule' AND kind = 'rescheduled'))
    LOOP
        IF line.kind = 'rescheduled' THEN
            INSERT INTO tax_moves (day, tax_code, base_factor, amount, base)
            SELECT line.posted_on, t ->> 'code', COALESCE(t ->> 'base_factor', '1'),
                p.times * (t ->> 'amount')::BIGINT,
                p.times * ((p.price ->> 'subtotal')::BIGINT - (p.price ->> 'discount')::BIGINT
                    - COALESCE((p.price ->> 'margin')::BIGINT, 0))
            FROM reschedules r,
                LATERAL (VALUES (1, r.becomes), (-1, r.was)) p (times, price),
                jsonb_array_elements(p.price -> 'taxes') t
            WHERE r.id = line.source_id;
        ELSE
            INSERT INTO tax_moves (day, tax_code, base_factor, amount, base)
            SELECT line.posted_on, t ->> 'code', COALESCE(t ->> 'base_factor', '1'),
                (t ->> 'amount')::BIGINT, k.subtotal - k.discount - k.margin
            FROM bookings k, jsonb_array_elements(k.taxes) t WHERE k.id = line.booking_id;
        END IF;
    END LOOP;
    -- What resellers owe. Ordered: two statements lock the same resellers in the same order.
    FOR line IN SELECT reseller_id, SUM(amount) AS amount FROM inserted
        WHERE reseller_id IS NOT NULL GROUP BY reseller_id ORDER BY reseller_id
    LOOP
        UPDATE resellers SET balance = balance + line.amount WHERE id = line.reseller_id;
    END LOOP;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER ledger_lines_tell AFTER INSERT ON ledger_lines
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_lines_tell();

---------------------------------------------------------------------------------------------------
-- The list of bookings
---------------------------------------------------------------------------------------------------

-- What a search looks in. Of an erased booking only the code is found. The names of a large group are
-- cut off, because a guest may correct them often and each correction indexes the whole text again. `@`
-- is stored as letters, since PostgreSQL indexes nothing else.
CREATE OR REPLACE FUNCTION booking_search_text(k bookings) RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- A function in SQL with a subquery would be planned for each call, which takes as long as the insert.
    RETURN lower(k.code || CASE WHEN k.erased_at IS NULL THEN
        chr(10) || k.contact_name || chr(10) || replace(k.contact_email, '@', 'qqq')
        || chr(10) || k.contact_phone
        || chr(10) || substr((SELECT COALESCE(string_agg(p ->> 'name', chr(10)), '')
            FROM jsonb_array_elements(k.passengers) p), 1, 2000) ELSE '' END);
END $$;

CREATE OR REPLACE FUNCTION bookings_search_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_search (booking_id, text) VALUES (NEW.id, booking_search_text(NEW));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER bookings_search_insert AFTER INSERT ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_search_insert();

CREATE OR REPLACE FUNCTION bookings_search_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    found_in TEXT := booking_search_text(NEW);
BEGIN
    UPDATE booking_search SET text = found_in WHERE booking_id = NEW.id AND text <> found_in;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER bookings_search_update
    AFTER UPDATE OF contact_name, contact_email, contact_phone, passengers ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_search_update();

-- The first booking of a day of departure. Almost always there is an earlier one, and nothing is locked. A
-- day keeps its time when that booking leaves: the time only has to be early enough.
CREATE OR REPLACE FUNCTION bookings_begin_day() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    departure_day DATE := CAST(NEW.departure_at AT TIME ZONE 'UTC' AS DATE);
BEGIN
    IF NOT EXISTS (SELECT 1 FROM departure_days d
        WHERE d.day = departure_day AND d.booked_since <= NEW.created_at)
    THEN
        INSERT INTO departure_days (day, booked_since) VALUES (departure_day, NEW.created_at)
        ON CONFLICT (day) DO UPDATE
        SET booked_since = LEAST(departure_days.booked_since, excluded.booked_since);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER bookings_begin_day AFTER INSERT OR UPDATE OF departure_at ON bookings
    FOR EACH ROW EXECUTE FUNCTION bookings_begin_day();

-- An ordinary payment, which the service records as paid at once: its attempt is paid, and the booking
-- is announced as paid. All others are decided after they are recorded.
CREATE OR REPLACE FUNCTION payment_events_pay() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    booking UUID;
BEGIN
    -- The booking is locked before its payment, as by everything else that changes both.
    SELECT k.id INTO booking FROM payments y JOIN bookings k ON k.id = y.booking_id
    WHERE y.id = NEW.payment_id FOR NO KEY UPDATE OF k;
    UPDATE payments SET status = 'paid', method = NEW.method, paid_at = NEW.received_at,
        transaction_id = COALESCE(transaction_id, NEW.transaction_id),
        channel = COALESCE(channel, NEW.channel)
    WHERE id = NEW.payment_id AND status = 'pending';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the payment was ended concurrently' USING ERRCODE = 'serialization_failure';
    END IF;
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    VALUES (NEW.id, 'booking.paid', jsonb_build_object('booking_id', booking), 0,
        NEW.received_at, NEW.received_at, replace(booking::text, '-', ''), 'event');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER payment_events_pay AFTER INSERT ON payment_events
    FOR EACH ROW WHEN (NEW.outcome = 'paid') EXECUTE FUNCTION payment_events_pay();

-- Whether a booking has a refund that is not paid yet. A changed debt is also a change of its booking.
CREATE OR REPLACE FUNCTION refunds_due_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE bookings SET refund_due = TRUE WHERE id = NEW.booking_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER refunds_due_insert AFTER INSERT ON refunds
    FOR EACH ROW WHEN (NEW.unpaid > 0) EXECUTE FUNCTION refunds_due_insert();

CREATE OR REPLACE FUNCTION refunds_due_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE bookings SET refund_due = EXISTS (SELECT 1 FROM refunds r
        WHERE r.booking_id = NEW.booking_id AND r.unpaid > 0)
    WHERE id = NEW.booking_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER refunds_due_update AFTER UPDATE OF unpaid ON refunds
    FOR EACH ROW WHEN (NEW.unpaid <> OLD.unpaid) EXECUTE FUNCTION refunds_due_update();

---------------------------------------------------------------------------------------------------
-- Bookings: revision
---------------------------------------------------------------------------------------------------

-- Every change of a booking raises its revision.
CREATE OR REPLACE FUNCTION bookings_revise() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER bookings_revise BEFORE UPDATE ON bookings
    FOR EACH ROW WHEN (NEW.revision = OLD.revision) EXECUTE FUNCTION bookings_revise();

-- The first attempt to pay is inserted with its booking. An attempt becomes paid only in a transaction that
-- also updates the booking: an ordinary payment moves it to paid, any other locks it by an UPDATE.
CREATE OR REPLACE FUNCTION payments_revise() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE bookings SET revision = revision + 1 WHERE id = NEW.booking_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER payments_revise_insert AFTER INSERT ON payments
    FOR EACH ROW WHEN (NEW.attempt > 1 OR NEW.status <> 'pending') EXECUTE FUNCTION payments_revise();

CREATE OR REPLACE TRIGGER payments_revise_update
    AFTER UPDATE OF provider, reference, status, method, redirect_url, paid_at ON payments
    FOR EACH ROW WHEN (NOT (OLD.status = 'pending' AND NEW.status = 'paid'))
    EXECUTE FUNCTION payments_revise();

---------------------------------------------------------------------------------------------------
-- Finance
---------------------------------------------------------------------------------------------------

-- What a provider has settled of a payment counts with the payment. Of one that has brought nothing
-- yet, it counts with the first receipt; the lock orders the two. What it paid for no payment of ours
-- counts on the day of the payout.
CREATE OR REPLACE FUNCTION provider_settlement_lines_tell() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    payment RECORD;
    paid BIGINT := GREATEST(NEW.gross, 0);
BEGIN
    IF NEW.payment_id IS NULL THEN
        INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
        SELECT t.paid_on, 'unknown', 0, paid, GREATEST(-NEW.gross, 0), NEW.fee, NEW.fee_tax, paid
        FROM provider_settlements t WHERE t.id = NEW.settlement_id;
        RETURN NULL;
    END IF;
    SELECT y.received_on, y.received_by, y.received, y.settled INTO payment
    FROM payments y WHERE y.id = NEW.payment_id FOR NO KEY UPDATE;
    IF payment.received_on IS NOT NULL THEN
        INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
        VALUES (payment.received_on, payment.received_by, 0, paid, GREATEST(-NEW.gross, 0),
            NEW.fee, NEW.fee_tax, GREATEST(payment.settled + paid - payment.received, 0)
                - GREATEST(payment.settled - payment.received, 0));
    END IF;
    UPDATE payments SET settled = settled + paid WHERE id = NEW.payment_id AND paid > 0;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER provider_settlement_lines_tell AFTER INSERT ON provider_settlement_lines
    FOR EACH ROW EXECUTE FUNCTION provider_settlement_lines_tell();

---------------------------------------------------------------------------------------------------
-- The list of refunds
---------------------------------------------------------------------------------------------------

-- What a search looks in.
CREATE OR REPLACE FUNCTION refunds_search() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.codes := lower((SELECT k.code FROM bookings k WHERE k.id = NEW.booking_id)
        || ' ' || NEW.code);
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER refunds_search BEFORE INSERT ON refunds
    FOR EACH ROW EXECUTE FUNCTION refunds_search();
