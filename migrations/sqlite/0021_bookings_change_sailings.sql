-- Seats follow a booking to its new sailing, and are held there while it waits to be paid for.
-- The same rules as in the other engine's folder.

-- Tables whose rules change are made anew: this engine cannot change a rule in place.
CREATE TABLE ledger_lines_new (
    id UUID PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('booking', 'payment', 'review', 'settlement',
        'reschedule')),
    source_id UUID NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL CHECK (account IN ('gateway_clearing', 'customer_deposits',
        'unapplied_payments', 'refund_payable', 'partner_payable', 'commission_revenue',
        'promotion_expense', 'tax_payable', 'bank', 'cash')),
    -- For partner_payable, and only there.
    partner_id UUID REFERENCES partners (id),
    booking_id UUID REFERENCES bookings (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((partner_id IS NOT NULL) = (account = 'partner_payable')),
    -- No repetition can post twice.
    UNIQUE (source, source_id, kind, account)
);
INSERT INTO ledger_lines_new (id, source, source_id, kind, account, partner_id, booking_id, amount,
    created_at)
SELECT id, source, source_id, kind, account, partner_id, booking_id, amount, created_at
FROM ledger_lines;
DROP TABLE ledger_lines;
ALTER TABLE ledger_lines_new RENAME TO ledger_lines;
CREATE INDEX ledger_lines_booking ON ledger_lines (booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX ledger_lines_partner ON ledger_lines (partner_id, created_at)
    WHERE partner_id IS NOT NULL;
CREATE INDEX ledger_lines_newest ON ledger_lines (created_at);
CREATE TRIGGER ledger_lines_stay BEFORE UPDATE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_lines_remain BEFORE DELETE ON ledger_lines BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TABLE partner_dues_new (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    booking_id UUID NOT NULL REFERENCES bookings (id),
    kind TEXT NOT NULL CHECK (kind IN ('sale', 'kept', 'reversal')),
    -- The day of departure where it departs.
    day DATE NOT NULL,
    gross BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    commission_tax BIGINT NOT NULL,
    collected BIGINT NOT NULL,
    net BIGINT NOT NULL,
    settlement_id UUID,
    created_at TIMESTAMPTZ NOT NULL,
    reschedule_id UUID REFERENCES reschedules (id),
    CHECK (net = gross - commission - commission_tax - collected),
    FOREIGN KEY (settlement_id, partner_id) REFERENCES settlements (id, partner_id)
);
INSERT INTO partner_dues_new (id, partner_id, booking_id, kind, day, gross, commission,
    commission_tax, collected, net, settlement_id, created_at)
SELECT id, partner_id, booking_id, kind, day, gross, commission, commission_tax, collected, net,
    settlement_id, created_at
FROM partner_dues;
CREATE TABLE settlement_items_new (
    settlement_id UUID NOT NULL REFERENCES settlements (id),
    due_id UUID NOT NULL REFERENCES partner_dues_new (id),
    PRIMARY KEY (settlement_id, due_id)
);
INSERT INTO settlement_items_new SELECT settlement_id, due_id FROM settlement_items;
DROP TABLE settlement_items;
DROP TABLE partner_dues;
ALTER TABLE partner_dues_new RENAME TO partner_dues;
ALTER TABLE settlement_items_new RENAME TO settlement_items;
CREATE INDEX partner_dues_open ON partner_dues (partner_id, day, net)
    WHERE settlement_id IS NULL;
CREATE INDEX partner_dues_settlement ON partner_dues (settlement_id)
    WHERE settlement_id IS NOT NULL;
CREATE INDEX partner_dues_booking ON partner_dues (booking_id);
-- Once in each chapter of a booking.
CREATE UNIQUE INDEX partner_dues_once ON partner_dues (booking_id, kind)
    WHERE reschedule_id IS NULL;
CREATE UNIQUE INDEX partner_dues_once_a_chapter ON partner_dues (booking_id, kind, reschedule_id)
    WHERE reschedule_id IS NOT NULL;

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

CREATE TRIGGER reschedules_hold BEFORE INSERT ON reschedules WHEN NEW.status = 'pending' BEGIN
    UPDATE sailings SET seats_taken = seats_taken + NEW.seats,
        chartered = chartered OR NEW.type = 'charter'
    WHERE id = NEW.to_sailing_id AND status = 'open' AND manifest_closed_at IS NULL
      AND NOT chartered AND (NEW.type <> 'charter' OR seats_taken = 0);
    SELECT RAISE(ABORT, 'CHECK constraint failed: sailings_seats') WHERE changes() = 0;
END;

CREATE TRIGGER reschedules_let_go BEFORE UPDATE OF status ON reschedules
WHEN OLD.status = 'pending' AND NEW.status <> 'pending'
BEGIN
    UPDATE sailings SET seats_taken = seats_taken - OLD.seats,
        chartered = chartered AND OLD.type <> 'charter'
    WHERE id = OLD.to_sailing_id;
END;

-- Whatever else happens to a booking, it no longer waits to be moved.
CREATE TRIGGER bookings_drop_reschedules AFTER UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
BEGIN
    UPDATE reschedules SET status = 'dropped' WHERE booking_id = NEW.id AND status = 'pending';
END;

CREATE TRIGGER bookings_tell_of_reschedule AFTER UPDATE OF sailing_id ON bookings
WHEN NEW.sailing_id <> OLD.sailing_id
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT OLD.partner_id, s.route_id, OLD.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        OLD.status, 'rescheduled', NEW.updated_at, OLD.qty, OLD.subtotal, OLD.discount, OLD.tax,
        OLD.total, OLD.commission, OLD.partner_net, 0
    FROM sailings s WHERE s.id = OLD.sailing_id;
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        'rescheduled', NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax,
        NEW.total, NEW.commission, NEW.partner_net, 0
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;

-- By what the booking itself was paid.
DROP TRIGGER bookings_tell;
CREATE TRIGGER bookings_tell AFTER UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type,
        COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = NEW.id
            AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        OLD.status, NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax,
        NEW.total, NEW.commission, NEW.partner_net,
        -- What was paid in vain was no sale, so its way back is no refund of one.
        CASE WHEN NEW.status = 'refunded' AND NEW.paid_at IS NOT NULL
            THEN COALESCE(NEW.refund_amount, 0) ELSE 0 END
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;
