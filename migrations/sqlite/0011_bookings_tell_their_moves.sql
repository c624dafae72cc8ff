-- Every move of a booking is written down, in the statement that makes it, for the reports: a row
-- of its own, so that sales never wait for one another. A job folds the rows into the figures.
-- The same rules as in the other engine's folder.

CREATE TABLE booking_moves (
    id INTEGER PRIMARY KEY,
    partner_id UUID NOT NULL,
    route_id UUID NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    from_status TEXT,
    to_status TEXT NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    passengers INTEGER NOT NULL,
    subtotal BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    refund BIGINT NOT NULL
);

CREATE TRIGGER bookings_tell AFTER UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type,
        COALESCE((SELECT y.method FROM payments y
            WHERE y.booking_id = NEW.id AND y.status IN ('paid', 'refunded') LIMIT 1), 'other'),
        OLD.status, NEW.status, NEW.updated_at, NEW.qty, NEW.subtotal, NEW.discount, NEW.tax,
        NEW.total, NEW.commission, NEW.partner_net,
        -- What was paid in vain was no sale, so its way back is no refund of one.
        CASE WHEN NEW.status = 'refunded' AND NEW.paid_at IS NOT NULL
            THEN COALESCE(NEW.refund_amount, 0) ELSE 0 END
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;

-- What costs nothing is paid from the start.
CREATE TRIGGER bookings_tell_of_free AFTER INSERT ON bookings WHEN NEW.status = 'paid' BEGIN
    INSERT INTO booking_moves (partner_id, route_id, type, method, from_status, to_status, at,
        passengers, subtotal, discount, tax, total, commission, partner_net, refund)
    SELECT NEW.partner_id, s.route_id, NEW.type, 'other', NULL, NEW.status, NEW.updated_at,
        NEW.qty, NEW.subtotal, NEW.discount, NEW.tax, NEW.total, NEW.commission, NEW.partner_net, 0
    FROM sailings s WHERE s.id = NEW.sailing_id;
END;
