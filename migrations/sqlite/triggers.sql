-- Edition 4. Raise it with every change of this file that is released: a process that knows an older
-- edition leaves the triggers of a newer one as they are.
--
-- The current text of all triggers, for SQLite. `postgres/triggers.sql` has the same rules. At start
-- the service compares the file with what it applied last; if anything differs, it drops all triggers
-- that it created, runs pending migrations, and runs this file, in one transaction. Each CREATE
-- TRIGGER is at the start of a line: the service finds by that what it has to drop later.
--
-- There is one writer, so no trigger has to lock a row. SQLite does not define the order of triggers
-- of one event and time, so none relies on another of the same kind; BEFORE comes before AFTER.
-- RAISE(ABORT, 'CHECK constraint failed: …') looks like a failed CHECK of that name, as on PostgreSQL.

---------------------------------------------------------------------------------------------------
-- Audit log: what its search looks in
---------------------------------------------------------------------------------------------------

DROP TRIGGER IF EXISTS audit_logs_search_insert;
CREATE TRIGGER audit_logs_search_insert AFTER INSERT ON audit_logs BEGIN
    INSERT INTO audit_actors (actor_id, name, email)
    VALUES (NEW.actor_id, NEW.actor_name, NEW.actor_email) ON CONFLICT DO NOTHING;
    INSERT INTO audit_actions (action) VALUES (NEW.action) ON CONFLICT DO NOTHING;
END;

-- An erased person is no longer found by name.
DROP TRIGGER IF EXISTS audit_logs_search_update;
CREATE TRIGGER audit_logs_search_update AFTER UPDATE OF actor_name, actor_email ON audit_logs
WHEN NEW.actor_name <> OLD.actor_name OR NEW.actor_email <> OLD.actor_email
BEGIN
    DELETE FROM audit_actors WHERE actor_id = OLD.actor_id AND name = OLD.actor_name
        AND email = OLD.actor_email;
    INSERT INTO audit_actors (actor_id, name, email)
    VALUES (NEW.actor_id, NEW.actor_name, NEW.actor_email) ON CONFLICT DO NOTHING;
END;

---------------------------------------------------------------------------------------------------
-- Accounts
---------------------------------------------------------------------------------------------------

-- An address that an account can still return to belongs to no other account. The change that reserves
-- it is requested while the unique index keeps others from taking it.
DROP TRIGGER IF EXISTS accounts_email_reserved_insert;
CREATE TRIGGER accounts_email_reserved_insert AFTER INSERT ON accounts
WHEN NEW.deleted_at IS NULL
BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: email_reserved') FROM email_changes
    WHERE old_email = NEW.email AND account_id <> NEW.id;
END;

DROP TRIGGER IF EXISTS accounts_email_reserved_update;
CREATE TRIGGER accounts_email_reserved_update AFTER UPDATE OF email, deleted_at ON accounts
WHEN NEW.deleted_at IS NULL
BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: email_reserved') FROM email_changes
    WHERE old_email = NEW.email AND account_id <> NEW.id;
END;

---------------------------------------------------------------------------------------------------
-- Sailings
---------------------------------------------------------------------------------------------------

-- A boat is in one place at a time (PostgreSQL has an exclusion constraint for it). Its open sailings
-- do not overlap, so of those that depart before the new one arrives only the last can still be at
-- sea when the new one departs.
DROP TRIGGER IF EXISTS sailings_one_place_at_a_time_insert;
CREATE TRIGGER sailings_one_place_at_a_time_insert BEFORE INSERT ON sailings
WHEN NEW.status = 'open' AND NEW.departure_at < (
    SELECT arrival_at FROM sailings
    WHERE speedboat_id = NEW.speedboat_id AND status = 'open'
      AND departure_at < NEW.arrival_at
    ORDER BY departure_at DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'a boat is never in two places');
END;

DROP TRIGGER IF EXISTS sailings_one_place_at_a_time_update;
CREATE TRIGGER sailings_one_place_at_a_time_update
BEFORE UPDATE OF speedboat_id, departure_at, arrival_at, status ON sailings
WHEN NEW.status = 'open' AND NEW.departure_at < (
    SELECT arrival_at FROM sailings
    WHERE speedboat_id = NEW.speedboat_id AND status = 'open' AND id <> NEW.id
      AND departure_at < NEW.arrival_at
    ORDER BY departure_at DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'a boat is never in two places');
END;

-- Writes changes of open sailings, from which the totals of days are made. A sale of seats changes
-- nothing of them: it is before the departure.
DROP TRIGGER IF EXISTS sailings_tell;
CREATE TRIGGER sailings_tell AFTER INSERT ON sailings WHEN NEW.status = 'open' BEGIN
    INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
    VALUES (NEW.day, 1, NEW.tallied, NEW.tallied * NEW.capacity, NEW.tallied * NEW.seats_taken);
END;

DROP TRIGGER IF EXISTS sailings_tell_of_change;
CREATE TRIGGER sailings_tell_of_change
AFTER UPDATE OF status, day, tallied, capacity, seats_taken ON sailings
WHEN NEW.tallied OR OLD.tallied OR NEW.status <> OLD.status OR NEW.day <> OLD.day
BEGIN
    INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
    SELECT OLD.day, -1, -OLD.tallied, -OLD.tallied * OLD.capacity, -OLD.tallied * OLD.seats_taken
    WHERE OLD.status = 'open'
    UNION ALL
    SELECT NEW.day, 1, NEW.tallied, NEW.tallied * NEW.capacity, NEW.tallied * NEW.seats_taken
    WHERE NEW.status = 'open';
END;

DROP TRIGGER IF EXISTS sailings_tell_of_removal;
CREATE TRIGGER sailings_tell_of_removal AFTER DELETE ON sailings WHEN OLD.status = 'open' BEGIN
    INSERT INTO sailing_moves (day, departures, tallied, seats, seats_taken)
    VALUES (OLD.day, -1, -OLD.tallied, -OLD.tallied * OLD.capacity,
        -OLD.tallied * OLD.seats_taken);
END;

-- Writes what resellers are told of their products: new sailings, and changes of price, time or
-- status.
DROP TRIGGER IF EXISTS sailings_tell_resellers;
CREATE TRIGGER sailings_tell_resellers AFTER INSERT ON sailings BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day)
    SELECT l.id, NEW.day, NEW.day FROM lines l WHERE l.id = NEW.line_id AND l.resale;
END;

DROP TRIGGER IF EXISTS sailings_tell_resellers_of_change;
CREATE TRIGGER sailings_tell_resellers_of_change AFTER UPDATE OF status, price, departure_at,
    capacity, seats_taken, chartered, manifest_closed_at ON sailings
WHEN NEW.status <> OLD.status OR NEW.price <> OLD.price OR NEW.departure_at <> OLD.departure_at
    OR NEW.chartered <> OLD.chartered
    OR (NEW.manifest_closed_at IS NULL) <> (OLD.manifest_closed_at IS NULL)
    OR (NEW.seats_taken >= NEW.capacity) <> (OLD.seats_taken >= OLD.capacity)
    OR (2 * (NEW.capacity - NEW.seats_taken) < NEW.capacity)
        <> (2 * (OLD.capacity - OLD.seats_taken) < OLD.capacity)
BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day)
    SELECT l.id, MIN(OLD.day, NEW.day), MAX(OLD.day, NEW.day)
    FROM lines l WHERE l.id = NEW.line_id AND l.resale;
END;

DROP TRIGGER IF EXISTS lines_tell_resellers;
CREATE TRIGGER lines_tell_resellers AFTER UPDATE OF resale, day_ticket, names, max_party,
    cutoff_minutes, fares ON lines
WHEN NEW.resale <> OLD.resale OR NEW.resale AND (NEW.day_ticket <> OLD.day_ticket
    OR NEW.names <> OLD.names OR NEW.max_party <> OLD.max_party OR NEW.fares <> OLD.fares
    OR COALESCE(NEW.cutoff_minutes, -1) <> COALESCE(OLD.cutoff_minutes, -1))
BEGIN
    INSERT INTO line_changes (line_id, first_day, last_day) VALUES (NEW.id, NULL, NULL);
END;

---------------------------------------------------------------------------------------------------
-- Contents
---------------------------------------------------------------------------------------------------

-- Customers have agreed to published terms, so their text never changes. They can only be archived.
DROP TRIGGER IF EXISTS terms_stay;
CREATE TRIGGER terms_stay BEFORE UPDATE ON terms
WHEN OLD.status <> 'draft' AND (NEW.content <> OLD.content OR NEW.type <> OLD.type
    OR NEW.version <> OLD.version OR NEW.published_at <> OLD.published_at
    OR NEW.status = 'draft' OR (OLD.status = 'archived' AND NEW.status <> 'archived'))
BEGIN
    SELECT RAISE(ABORT, 'published terms never change');
END;

DROP TRIGGER IF EXISTS terms_remain;
CREATE TRIGGER terms_remain BEFORE DELETE ON terms WHEN OLD.status <> 'draft' BEGIN
    SELECT RAISE(ABORT, 'published terms never go');
END;

---------------------------------------------------------------------------------------------------
-- Bookings: seats and promotions
---------------------------------------------------------------------------------------------------

-- A live booking (pending, paid or completed) holds its seats and its use of a promotion; any other
-- booking holds neither.
DROP TRIGGER IF EXISTS bookings_give_back;
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

-- The UPDATE finds no row if the sailing is not open, its manifest is closed, it is chartered, or a
-- charter finds seats sold. Too many seats violate the CHECK `sailings_seats`, which is the name that
-- is raised here, too. A new booking has the departure, the price and the boat of its sailing: none of
-- them changes between reading the offer and taking the seats.
DROP TRIGGER IF EXISTS bookings_take;
CREATE TRIGGER bookings_take BEFORE INSERT ON bookings BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_moved') FROM sailings
    WHERE id = NEW.sailing_id AND (departure_at <> NEW.departure_at
      OR price <> NEW.unit_price OR speedboat_id <> NEW.speedboat_id);
    UPDATE promotions SET used = used + 1 WHERE id = NEW.promotion_id;
    INSERT INTO promotion_uses (promotion_id, email, used)
        SELECT NEW.promotion_id, NEW.contact_email, 1 WHERE NEW.promotion_id IS NOT NULL
        ON CONFLICT (promotion_id, email) DO UPDATE SET used = promotion_uses.used + 1;
    SELECT RAISE(ABORT, 'CHECK constraint failed: promotion_uses_limit')
    FROM promotion_uses u JOIN promotions p ON p.id = u.promotion_id
    WHERE u.promotion_id = NEW.promotion_id AND u.email = NEW.contact_email
      AND u.used > p.per_customer_limit;
END;

-- A booking that becomes live again is not limited per customer: it had its use before.
DROP TRIGGER IF EXISTS bookings_take_again;
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

-- The seats of a live booking follow it to another sailing.
DROP TRIGGER IF EXISTS bookings_change_sailing;
CREATE TRIGGER bookings_change_sailing BEFORE UPDATE OF sailing_id ON bookings
WHEN NEW.sailing_id <> OLD.sailing_id AND OLD.status IN ('pending_payment', 'paid', 'completed')
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.sailing_id;
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
END;

-- A live booking gives back the seats of passengers who are cancelled.
DROP TRIGGER IF EXISTS bookings_change_seats;
CREATE TRIGGER bookings_change_seats BEFORE UPDATE OF seats ON bookings
WHEN NEW.seats <> OLD.seats AND NEW.sailing_id = OLD.sailing_id
    AND OLD.status IN ('pending_payment', 'paid', 'completed')
BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats - OLD.seats WHERE id = NEW.sailing_id;
END;

---------------------------------------------------------------------------------------------------
-- Bookings: event and first payment
---------------------------------------------------------------------------------------------------

-- The statement that inserts a booking also writes its `booking.created` event and opens its first
-- payment. The event has the booking's id, and its lane orders the events of the booking. The id of the
-- payment begins with the time in that of the booking: random ids would be spread over the whole index.
DROP TRIGGER IF EXISTS bookings_announce;
CREATE TRIGGER bookings_announce AFTER INSERT ON bookings BEGIN
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    VALUES (NEW.id, 'booking.created', json_object('booking_id', lower(hex(NEW.id))), 0,
        NEW.created_at, NEW.created_at, lower(hex(NEW.id)), 'event');
END;

DROP TRIGGER IF EXISTS bookings_open_payment;
CREATE TRIGGER bookings_open_payment AFTER INSERT ON bookings WHEN NEW.provider IS NOT NULL BEGIN
    INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
        leased_until, created_at)
    VALUES (CAST(substr(NEW.id, 1, 8) || randomblob(8) AS BLOB), NEW.id, 1, NEW.provider,
        NEW.code || '-1', 'pending', NEW.total, NEW.created_at, NEW.created_at);
END;

---------------------------------------------------------------------------------------------------
-- Reschedules
---------------------------------------------------------------------------------------------------

-- A pending move holds seats on the sailing that it leads to.
DROP TRIGGER IF EXISTS reschedules_hold;
CREATE TRIGGER reschedules_hold BEFORE INSERT ON reschedules WHEN NEW.status = 'pending' BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.to_sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
END;

-- Done or dropped, it holds none. The booking takes its own when it changes its sailing.
DROP TRIGGER IF EXISTS reschedules_let_go;
CREATE TRIGGER reschedules_let_go BEFORE UPDATE OF status ON reschedules
WHEN OLD.status = 'pending' AND NEW.status <> 'pending'
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.to_sailing_id;
END;

-- A change of the booking's status drops its pending move.
DROP TRIGGER IF EXISTS bookings_drop_reschedules;
CREATE TRIGGER bookings_drop_reschedules AFTER UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
BEGIN
    UPDATE reschedules SET status = 'dropped' WHERE booking_id = NEW.id AND status = 'pending';
END;

---------------------------------------------------------------------------------------------------
-- Bookings: rows for the reports
---------------------------------------------------------------------------------------------------

-- A booking that costs nothing is inserted as paid.
DROP TRIGGER IF EXISTS bookings_tell_of_free;
CREATE TRIGGER bookings_tell_of_free AFTER INSERT ON bookings WHEN NEW.status = 'paid' BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin, surcharge)
    SELECT NEW.partner_id, s.route_id, NEW.type, 'other', NULL, NEW.status, NEW.updated_at,
        NEW.qty, NEW.subtotal, NEW.discount, NEW.tax, NEW.total, NEW.commission, NEW.partner_net,
        0, 0, 0, NEW.reseller_id, NEW.margin, NEW.surcharge
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;

-- Writes a reschedule: the old price is taken back, the new one is set.
DROP TRIGGER IF EXISTS bookings_tell_of_reschedule;
CREATE TRIGGER bookings_tell_of_reschedule AFTER UPDATE OF sailing_id ON bookings
WHEN NEW.sailing_id <> OLD.sailing_id AND OLD.status <> 'pending_payment'
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT OLD.partner_id, s.route_id, OLD.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        OLD.status, 'rescheduled', NEW.updated_at, OLD.qty, OLD.subtotal, OLD.discount, OLD.tax,
        OLD.total, OLD.commission, OLD.partner_net, 0, 0, 0, OLD.reseller_id, OLD.margin
    FROM sailings s WHERE s.id = OLD.sailing_id;
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT NEW.partner_id, s.route_id, NEW.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        'rescheduled', NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax,
        NEW.total, NEW.commission, NEW.partner_net, 0, 0, 0, NEW.reseller_id, NEW.margin
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;

-- Writes that passengers were cancelled: their share remains sold, and the booking in its status has
-- less.
DROP TRIGGER IF EXISTS bookings_tell_of_fewer;
CREATE TRIGGER bookings_tell_of_fewer AFTER UPDATE OF qty ON bookings
WHEN NEW.qty <> OLD.qty AND OLD.status <> 'pending_payment'
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
END;

-- Writes a change of status to `booking_moves`. The method is how the booking itself was paid;
-- payments of a reschedule's difference do not count.
DROP TRIGGER IF EXISTS bookings_tell;
CREATE TRIGGER bookings_tell AFTER UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin, surcharge)
    SELECT NEW.partner_id, s.route_id, NEW.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        OLD.status, NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax,
        NEW.total, NEW.commission, NEW.partner_net, 0, 0, 0, NEW.reseller_id, NEW.margin,
        NEW.surcharge
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;

-- The difference of a reschedule is received under the method of its own payment, and counts for the
-- route that the booking was sold for.
DROP TRIGGER IF EXISTS payments_tell_of_paid_difference;
CREATE TRIGGER payments_tell_of_paid_difference AFTER INSERT ON payments
WHEN NEW.reschedule_id IS NOT NULL AND NEW.status = 'paid'
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, COALESCE(NEW.method, 'other'), NULL, NULL,
        NEW.paid_at, 0, 0, 0, 0, 0, 0, 0, NEW.amount, 0, 0, k.reseller_id, 0
    FROM sales_keys k WHERE k.booking_id = NEW.booking_id;
END;

DROP TRIGGER IF EXISTS payments_tell_of_difference;
CREATE TRIGGER payments_tell_of_difference AFTER UPDATE OF status ON payments
WHEN NEW.reschedule_id IS NOT NULL AND NEW.status = 'paid' AND OLD.status NOT IN ('paid', 'refunded')
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, COALESCE(NEW.method, 'other'), NULL, NULL,
        NEW.paid_at, 0, 0, 0, 0, 0, 0, 0, NEW.amount, 0, 0, k.reseller_id, 0
    FROM sales_keys k WHERE k.booking_id = NEW.booking_id;
END;

-- What a move of a reseller's booking adds at the prices of travellers, also where nothing is paid for it.
DROP TRIGGER IF EXISTS reschedules_tell_of_surcharge;
CREATE TRIGGER reschedules_tell_of_surcharge AFTER INSERT ON reschedules WHEN NEW.surcharge <> 0
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin, surcharge)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.done_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, k.reseller_id, 0, NEW.surcharge
    FROM sales_keys k WHERE k.booking_id = NEW.booking_id;
END;

-- What was paid too much, twice or too late is received when it is known to be owed back.
DROP TRIGGER IF EXISTS refunds_tell;
CREATE TRIGGER refunds_tell AFTER INSERT ON refunds WHEN NEW.kind IN ('excess', 'duplicate', 'late')
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.due_at, 0, 0, 0, 0, 0, 0, 0, NEW.amount, 0, 0, k.reseller_id, 0
    FROM refund_keys k WHERE k.refund_id = NEW.id;
END;

-- Money that goes back to a customer.
DROP TRIGGER IF EXISTS refund_payments_tell;
CREATE TRIGGER refund_payments_tell AFTER INSERT ON refund_payments BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.paid_at, 0, 0, 0, 0, 0, 0, 0, 0, NEW.amount, NEW.tax, k.reseller_id, 0
    FROM refund_keys k WHERE k.refund_id = NEW.refund_id;
END;

-- A payment that bounced.
DROP TRIGGER IF EXISTS refund_payments_tell_of_return;
CREATE TRIGGER refund_payments_tell_of_return AFTER UPDATE OF returned_at ON refund_payments
WHEN OLD.returned_at IS NULL AND NEW.returned_at IS NOT NULL
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, received, refund,
        refund_tax, reseller_id, margin)
    SELECT k.partner_id, k.route_id, k.type, k.method, NULL, NULL,
        NEW.returned_at, 0, 0, 0, 0, 0, 0, 0, 0, -NEW.amount, -NEW.tax, k.reseller_id, 0
    FROM refund_keys k WHERE k.refund_id = NEW.refund_id;
END;

---------------------------------------------------------------------------------------------------
-- Bookings: limits of unpaid holds
---------------------------------------------------------------------------------------------------

-- Counts a guest's unpaid booking under its e-mail and network. The CHECKs of `unpaid_holds` refuse
-- one too many. AFTER: a sailing that is sold out is reported first.
DROP TRIGGER IF EXISTS bookings_unpaid_take;
CREATE TRIGGER bookings_unpaid_take AFTER INSERT ON bookings
WHEN NEW.status = 'pending_payment' AND NEW.held_email IS NOT NULL
BEGIN
    INSERT INTO unpaid_holds (kind, subject, held) VALUES ('email', NEW.held_email, 1)
        ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
    INSERT INTO unpaid_holds (kind, subject, held) VALUES ('network', NEW.held_network, 1)
        ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
    INSERT INTO unpaid_holds (kind, subject, held)
        SELECT 'charter', NEW.held_network, 1 WHERE NEW.type = 'charter'
        ON CONFLICT (kind, subject) DO UPDATE SET held = unpaid_holds.held + 1;
END;

-- Ends the count when the booking is no longer unpaid, and deletes counters that reached zero.
DROP TRIGGER IF EXISTS bookings_unpaid_release;
CREATE TRIGGER bookings_unpaid_release AFTER UPDATE OF status ON bookings
WHEN OLD.status = 'pending_payment' AND NEW.status <> 'pending_payment'
    AND OLD.held_email IS NOT NULL
BEGIN
    UPDATE unpaid_holds SET held = held - 1 WHERE kind = 'email' AND subject = OLD.held_email;
    UPDATE unpaid_holds SET held = held - 1 WHERE kind = 'network' AND subject = OLD.held_network;
    UPDATE unpaid_holds SET held = held - 1
    WHERE kind = 'charter' AND subject = OLD.held_network AND OLD.type = 'charter';
    DELETE FROM unpaid_holds WHERE kind = 'email' AND subject = OLD.held_email AND held = 0;
    DELETE FROM unpaid_holds
    WHERE kind IN ('network', 'charter') AND subject = OLD.held_network AND held = 0;
    UPDATE bookings SET held_email = NULL, held_network = NULL, revision = revision + 1
    WHERE id = NEW.id;
END;

-- Counts the unpaid bookings of a reseller, and refuses one too many.
DROP TRIGGER IF EXISTS bookings_unpaid_take_reseller;
CREATE TRIGGER bookings_unpaid_take_reseller AFTER INSERT ON bookings
WHEN NEW.status = 'pending_payment' AND NEW.reseller_id IS NOT NULL
BEGIN
    UPDATE resellers SET held = held + 1 WHERE id = NEW.reseller_id AND held < max_holds;
    SELECT RAISE(ABORT, 'CHECK constraint failed: resellers_holds') WHERE changes() = 0;
END;

DROP TRIGGER IF EXISTS bookings_unpaid_release_reseller;
CREATE TRIGGER bookings_unpaid_release_reseller AFTER UPDATE OF status ON bookings
WHEN OLD.status = 'pending_payment' AND NEW.status <> 'pending_payment'
    AND NEW.reseller_id IS NOT NULL
BEGIN
    UPDATE resellers SET held = held - 1 WHERE id = NEW.reseller_id;
END;

---------------------------------------------------------------------------------------------------
-- Boarding
---------------------------------------------------------------------------------------------------

-- After the manifest is closed nobody boards, and no check-in is undone.
DROP TRIGGER IF EXISTS boardings_while_open;
CREATE TRIGGER boardings_while_open BEFORE INSERT ON boardings BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: manifest_closed') FROM sailings
    WHERE id = NEW.sailing_id AND manifest_closed_at IS NOT NULL;
END;

DROP TRIGGER IF EXISTS boardings_undone_while_open;
CREATE TRIGGER boardings_undone_while_open BEFORE UPDATE OF undone_at ON boardings BEGIN
    SELECT RAISE(ABORT, 'CHECK constraint failed: manifest_closed') FROM sailings
    WHERE id = NEW.sailing_id AND manifest_closed_at IS NOT NULL;
END;

---------------------------------------------------------------------------------------------------
-- Ledger
---------------------------------------------------------------------------------------------------

DROP TRIGGER IF EXISTS ledger_lines_stay;
CREATE TRIGGER ledger_lines_stay BEFORE UPDATE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

-- Writes every line to `ledger_moves`, from which the totals of days are made.
DROP TRIGGER IF EXISTS ledger_lines_tell;
CREATE TRIGGER ledger_lines_tell AFTER INSERT ON ledger_lines BEGIN
    INSERT INTO ledger_moves (posted_on, account, tax_code, debit, credit)
    VALUES (NEW.posted_on, NEW.account, COALESCE(NEW.tax_code, ''), MAX(NEW.amount, 0),
        MAX(-NEW.amount, 0));
END;

-- What resellers owe.
DROP TRIGGER IF EXISTS ledger_lines_tell_of_reseller;
CREATE TRIGGER ledger_lines_tell_of_reseller AFTER INSERT ON ledger_lines
WHEN NEW.reseller_id IS NOT NULL
BEGIN
    UPDATE resellers SET balance = balance + NEW.amount WHERE id = NEW.reseller_id;
END;

-- The price of a booking came in through a provider. With the first receipt of a payment counts what
-- the provider has settled of it before.
DROP TRIGGER IF EXISTS ledger_lines_tell_of_price;
CREATE TRIGGER ledger_lines_tell_of_price AFTER INSERT ON ledger_lines
WHEN NEW.account = 'gateway_clearing' AND NEW.source = 'booking'
    AND NEW.kind IN ('paid', 'late_payment')
BEGIN
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT COALESCE(y.received_on, NEW.posted_on), COALESCE(y.received_by, y.method, 'other'),
        NEW.amount, 0, 0, 0, 0, MAX(y.settled - y.received - NEW.amount, 0)
            - CASE WHEN y.received_on IS NULL THEN 0 ELSE MAX(y.settled - y.received, 0) END
    FROM payments y WHERE y.booking_id = NEW.booking_id AND y.reschedule_id IS NULL
        AND y.status IN ('paid', 'refunded');
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT NEW.posted_on, COALESCE(y.method, 'other'), 0, MAX(s.gross, 0), MAX(-s.gross, 0), s.fee,
        s.fee_tax, 0
    FROM payments y CROSS JOIN provider_settlement_lines s ON s.payment_id = y.id
    WHERE y.booking_id = NEW.booking_id AND y.reschedule_id IS NULL
        AND y.status IN ('paid', 'refunded') AND y.received_on IS NULL;
    UPDATE payments SET received = received + NEW.amount,
        received_on = COALESCE(received_on, NEW.posted_on),
        received_by = COALESCE(received_by, method, 'other')
    WHERE booking_id = NEW.booking_id AND reschedule_id IS NULL
        AND status IN ('paid', 'refunded');
END;

-- The same for other money that came in, or was taken off again.
DROP TRIGGER IF EXISTS ledger_lines_tell_of_receipt;
CREATE TRIGGER ledger_lines_tell_of_receipt AFTER INSERT ON ledger_lines
WHEN NEW.account = 'gateway_clearing' AND NEW.source IN ('reschedule', 'payment', 'review')
    AND NEW.kind IN ('rescheduled', 'unapplied', 'apply', 'dismiss')
BEGIN
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT COALESCE(y.received_on, NEW.posted_on), COALESCE(y.received_by, r.method), NEW.amount,
        0, 0, 0, 0, MAX(y.settled - y.received - NEW.amount, 0)
            - CASE WHEN y.received_on IS NULL THEN 0 ELSE MAX(y.settled - y.received, 0) END
    FROM receipts r JOIN payments y ON y.id = r.payment_id WHERE r.line_id = NEW.id;
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT NEW.posted_on, r.method, 0, MAX(s.gross, 0), MAX(-s.gross, 0), s.fee, s.fee_tax, 0
    FROM receipts r JOIN payments y ON y.id = r.payment_id AND y.received_on IS NULL
    JOIN provider_settlement_lines s ON s.payment_id = y.id WHERE r.line_id = NEW.id;
    UPDATE payments SET received = payments.received + NEW.amount,
        received_on = COALESCE(payments.received_on, NEW.posted_on),
        received_by = COALESCE(payments.received_by, r.method)
    FROM receipts r WHERE r.line_id = NEW.id AND payments.id = r.payment_id;
END;

-- Taxes in what a customer paid for a booking.
DROP TRIGGER IF EXISTS ledger_lines_tell_of_taxes;
CREATE TRIGGER ledger_lines_tell_of_taxes AFTER INSERT ON ledger_lines
WHEN NEW.account = 'customer_deposits' AND NEW.amount < 0 AND NEW.kind IN ('paid', 'apply')
BEGIN
    INSERT INTO tax_moves (day, tax_code, base_factor, amount, base)
    SELECT NEW.posted_on, t.value ->> 'code', COALESCE(t.value ->> 'base_factor', '1'),
        t.value ->> 'amount', k.subtotal - k.discount - k.margin
    FROM bookings k JOIN json_each(k.taxes) t WHERE k.id = NEW.booking_id;
END;

-- The same for the difference of a move to a dearer sailing.
DROP TRIGGER IF EXISTS ledger_lines_tell_of_dearer;
CREATE TRIGGER ledger_lines_tell_of_dearer AFTER INSERT ON ledger_lines
WHEN NEW.account = 'customer_deposits' AND NEW.amount < 0 AND NEW.source = 'reschedule'
    AND NEW.kind = 'rescheduled'
BEGIN
    INSERT INTO tax_moves (day, tax_code, base_factor, amount, base)
    SELECT NEW.posted_on, t.value ->> 'code', COALESCE(t.value ->> 'base_factor', '1'),
        t.value ->> 'amount', (r.becomes ->> 'subtotal') - (r.becomes ->> 'discount')
            - COALESCE(r.becomes ->> 'margin', 0)
    FROM reschedules r JOIN json_each(r.becomes -> 'taxes') t WHERE r.id = NEW.source_id
    UNION ALL
    SELECT NEW.posted_on, t.value ->> 'code', COALESCE(t.value ->> 'base_factor', '1'),
        -(t.value ->> 'amount'), (r.was ->> 'discount') + COALESCE(r.was ->> 'margin', 0)
            - (r.was ->> 'subtotal')
    FROM reschedules r JOIN json_each(r.was -> 'taxes') t WHERE r.id = NEW.source_id;
END;

DROP TRIGGER IF EXISTS ledger_lines_remain;
CREATE TRIGGER ledger_lines_remain BEFORE DELETE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

---------------------------------------------------------------------------------------------------
-- The list of bookings
---------------------------------------------------------------------------------------------------

-- What a search looks in. The names of a large group are cut off, because a guest may correct them
-- often and each correction indexes the whole text again. `@` is stored as letters, since PostgreSQL
-- indexes nothing else.
DROP TRIGGER IF EXISTS bookings_search_insert;
CREATE TRIGGER bookings_search_insert AFTER INSERT ON bookings BEGIN
    INSERT INTO booking_search (booking_id, text)
    VALUES (NEW.id, lower(NEW.code || char(10) || NEW.contact_name || char(10)
        || replace(NEW.contact_email, '@', 'qqq') || char(10) || NEW.contact_phone || char(10)
        || substr((SELECT COALESCE(group_concat(p.value ->> 'name', char(10)), '')
            FROM json_each(NEW.passengers) p), 1, 2000)));
END;

-- Of an erased booking only the code is found.
DROP TRIGGER IF EXISTS bookings_search_update;
CREATE TRIGGER bookings_search_update
AFTER UPDATE OF contact_name, contact_email, contact_phone, passengers ON bookings BEGIN
    UPDATE booking_search SET text = lower(NEW.code || CASE WHEN NEW.erased_at IS NULL THEN
        char(10) || NEW.contact_name || char(10) || replace(NEW.contact_email, '@', 'qqq')
        || char(10) || NEW.contact_phone || char(10)
        || substr((SELECT COALESCE(group_concat(p.value ->> 'name', char(10)), '')
            FROM json_each(NEW.passengers) p), 1, 2000) ELSE '' END)
    WHERE booking_id = NEW.id;
END;

DROP TRIGGER IF EXISTS booking_search_reindex;
CREATE TRIGGER booking_search_reindex AFTER UPDATE OF text ON booking_search
WHEN NEW.text <> OLD.text AND NEW.number <= (SELECT indexed_to FROM booking_search_state)
BEGIN
    INSERT INTO booking_search_index (booking_search_index, rowid, text)
    VALUES ('delete', OLD.number, OLD.text);
    INSERT INTO booking_search_index (rowid, text) VALUES (NEW.number, NEW.text);
END;

-- The first booking of a day of departure. Almost always there is an earlier one. A day keeps its time
-- when that booking leaves: the time only has to be early enough.
DROP TRIGGER IF EXISTS bookings_begin_day;
CREATE TRIGGER bookings_begin_day AFTER INSERT ON bookings
WHEN NOT EXISTS (SELECT 1 FROM departure_days d
    WHERE d.day = substr(NEW.departure_at, 1, 10) AND d.booked_since <= NEW.created_at)
BEGIN
    INSERT INTO departure_days (day, booked_since)
    VALUES (substr(NEW.departure_at, 1, 10), NEW.created_at)
    ON CONFLICT (day) DO UPDATE SET booked_since = excluded.booked_since;
END;

DROP TRIGGER IF EXISTS bookings_begin_other_day;
CREATE TRIGGER bookings_begin_other_day AFTER UPDATE OF departure_at ON bookings
WHEN NOT EXISTS (SELECT 1 FROM departure_days d
    WHERE d.day = substr(NEW.departure_at, 1, 10) AND d.booked_since <= NEW.created_at)
BEGIN
    INSERT INTO departure_days (day, booked_since)
    VALUES (substr(NEW.departure_at, 1, 10), NEW.created_at)
    ON CONFLICT (day) DO UPDATE SET booked_since = excluded.booked_since;
END;

-- An ordinary payment, which the service records as paid at once: its attempt is paid, and the booking
-- is announced as paid. All others are decided after they are recorded.
DROP TRIGGER IF EXISTS payment_events_pay;
CREATE TRIGGER payment_events_pay AFTER INSERT ON payment_events WHEN NEW.outcome = 'paid' BEGIN
    UPDATE payments SET status = 'paid', method = NEW.method, paid_at = NEW.received_at,
        transaction_id = COALESCE(transaction_id, NEW.transaction_id),
        channel = COALESCE(channel, NEW.channel)
    WHERE id = NEW.payment_id AND status = 'pending';
    INSERT INTO outbox (id, topic, payload, attempts, due_at, created_at, lane, queue)
    SELECT NEW.id, 'booking.paid', json_object('booking_id', lower(hex(y.booking_id))), 0,
        NEW.received_at, NEW.received_at, lower(hex(y.booking_id)), 'event'
    FROM payments y WHERE y.id = NEW.payment_id;
END;

-- Whether a booking has a refund that is not paid yet. A changed debt is also a change of its booking.
DROP TRIGGER IF EXISTS refunds_due_insert;
CREATE TRIGGER refunds_due_insert AFTER INSERT ON refunds WHEN NEW.unpaid > 0 BEGIN
    UPDATE bookings SET refund_due = TRUE WHERE id = NEW.booking_id;
END;

DROP TRIGGER IF EXISTS refunds_due_update;
CREATE TRIGGER refunds_due_update AFTER UPDATE OF unpaid ON refunds WHEN NEW.unpaid <> OLD.unpaid
BEGIN
    UPDATE bookings SET refund_due = EXISTS (SELECT 1 FROM refunds r
        WHERE r.booking_id = NEW.booking_id AND r.unpaid > 0)
    WHERE id = NEW.booking_id;
END;

---------------------------------------------------------------------------------------------------
-- Bookings: revision
---------------------------------------------------------------------------------------------------

-- Every change of a booking raises its revision. A statement that raises it itself saves the second
-- UPDATE.
DROP TRIGGER IF EXISTS bookings_revise;
CREATE TRIGGER bookings_revise AFTER UPDATE ON bookings WHEN NEW.revision = OLD.revision BEGIN
    UPDATE bookings SET revision = revision + 1 WHERE id = NEW.id;
END;

-- The first attempt to pay is inserted with its booking. An attempt becomes paid only in a transaction that
-- also updates the booking: an ordinary payment moves it to paid, any other locks it by an UPDATE.
DROP TRIGGER IF EXISTS payments_revise_insert;
CREATE TRIGGER payments_revise_insert AFTER INSERT ON payments
WHEN NEW.attempt > 1 OR NEW.status <> 'pending'
BEGIN
    UPDATE bookings SET revision = revision + 1 WHERE id = NEW.booking_id;
END;

DROP TRIGGER IF EXISTS payments_revise_update;
CREATE TRIGGER payments_revise_update
AFTER UPDATE OF provider, reference, status, method, redirect_url, paid_at ON payments
WHEN NOT (OLD.status = 'pending' AND NEW.status = 'paid')
BEGIN
    UPDATE bookings SET revision = revision + 1 WHERE id = NEW.booking_id;
END;

---------------------------------------------------------------------------------------------------
-- Finance
---------------------------------------------------------------------------------------------------

-- What a provider has settled of a payment counts with the payment. Of one that has brought nothing
-- yet, it counts with the first receipt.
DROP TRIGGER IF EXISTS provider_settlement_lines_tell;
CREATE TRIGGER provider_settlement_lines_tell AFTER INSERT ON provider_settlement_lines
WHEN NEW.payment_id IS NOT NULL
BEGIN
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT y.received_on, y.received_by, 0, MAX(NEW.gross, 0), MAX(-NEW.gross, 0), NEW.fee,
        NEW.fee_tax, MAX(y.settled + MAX(NEW.gross, 0) - y.received, 0)
            - MAX(y.settled - y.received, 0)
    FROM payments y WHERE y.id = NEW.payment_id AND y.received_on IS NOT NULL;
    UPDATE payments SET settled = settled + MAX(NEW.gross, 0) WHERE id = NEW.payment_id;
END;

-- What a provider paid for no payment of ours.
DROP TRIGGER IF EXISTS provider_settlement_lines_tell_of_unknown;
CREATE TRIGGER provider_settlement_lines_tell_of_unknown AFTER INSERT ON provider_settlement_lines
WHEN NEW.payment_id IS NULL
BEGIN
    INSERT INTO payment_moves (day, method, received, settled, refunds, fees, fee_taxes, extra)
    SELECT t.paid_on, 'unknown', 0, MAX(NEW.gross, 0), MAX(-NEW.gross, 0), NEW.fee, NEW.fee_tax,
        MAX(NEW.gross, 0)
    FROM provider_settlements t WHERE t.id = NEW.settlement_id;
END;

---------------------------------------------------------------------------------------------------
-- The list of refunds
---------------------------------------------------------------------------------------------------

-- What a search looks in. The names of a large group are cut off, because a guest may correct them
-- often and each correction indexes the whole text again. `@` is stored as letters, since PostgreSQL
-- indexes nothing else.
DROP TRIGGER IF EXISTS refunds_search;
CREATE TRIGGER refunds_search AFTER INSERT ON refunds BEGIN
    UPDATE refunds SET codes = lower((SELECT k.code FROM bookings k WHERE k.id = NEW.booking_id)
        || ' ' || NEW.code)
    WHERE id = NEW.id;
END;
