-- Bookings that move to another sailing.

CREATE TABLE reschedules (
    id UUID PRIMARY KEY,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    from_sailing_id UUID NOT NULL REFERENCES sailings (id),
    to_sailing_id UUID NOT NULL REFERENCES sailings (id),
    -- Pending: the difference has to be paid first, and the seats are held on both sailings.
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'dropped')),
    -- What it takes of the other sailing.
    type TEXT NOT NULL CHECK (type IN ('speedboat', 'charter')),
    seats INTEGER NOT NULL CHECK (seats > 0),
    reason TEXT NOT NULL,
    -- NULL: the booker.
    requested_by UUID REFERENCES accounts (id),
    -- The price before and after.
    was JSONB NOT NULL,
    becomes JSONB NOT NULL,
    fee BIGINT NOT NULL CHECK (fee >= 0),
    -- What the customer has to pay, or (negative) is owed; and when that was paid back.
    difference BIGINT NOT NULL,
    refunded_at TIMESTAMPTZ,
    refund_reference TEXT,
    -- When the other sailing was to depart.
    departure_at TIMESTAMPTZ NOT NULL,
    -- The most percent that a later cancellation gives back; NULL: as the policy says.
    refund_cap INTEGER CHECK (refund_cap BETWEEN 0 AND 100),
    expires_at TIMESTAMPTZ NOT NULL,
    done_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((status = 'done') = (done_at IS NOT NULL)),
    CHECK (difference > 0 OR status <> 'pending')
);
CREATE UNIQUE INDEX reschedules_pending ON reschedules (booking_id) WHERE status = 'pending';
CREATE INDEX reschedules_booking ON reschedules (booking_id);
CREATE INDEX reschedules_held ON reschedules (to_sailing_id) WHERE status = 'pending';
CREATE INDEX reschedules_owed ON reschedules (created_at)
    WHERE status = 'done' AND difference < 0 AND refunded_at IS NULL;
CREATE INDEX reschedules_due ON reschedules (expires_at) WHERE status = 'pending';

-- The move that brought the booking to its sailing; what happens to it from then on is a new
-- chapter, for the ledger and for what its partner is owed.
ALTER TABLE bookings ADD COLUMN reschedule_id UUID REFERENCES reschedules (id);
ALTER TABLE bookings ADD COLUMN refund_cap INTEGER;

-- What a payment is for, where it is not the booking itself.
ALTER TABLE payments ADD COLUMN reschedule_id UUID REFERENCES reschedules (id);
CREATE INDEX payments_reschedule ON payments (reschedule_id) WHERE reschedule_id IS NOT NULL;

-- A move to another sailing takes a sale back and makes it anew; a booking that comes back from
-- being refunded was sold before.
DROP VIEW sales_moves;
CREATE VIEW sales_moves AS
SELECT at, partner_id, route_id, type, method, times AS bookings,
    times * passengers AS passengers, times * total AS gross, times * discount AS discount,
    times * tax AS tax, times * commission AS commission, times * partner_net AS partner_net,
    refund AS refunds
FROM (SELECT m.*,
        CASE WHEN to_status = 'rescheduled' THEN -1
            WHEN from_status = 'rescheduled' THEN 1
            WHEN to_status = 'paid'
                AND COALESCE(from_status, 'pending_payment') IN ('pending_payment', 'expired')
                THEN 1
            ELSE 0 END AS times
    FROM booking_moves m) moves
WHERE times <> 0 OR refund <> 0;
