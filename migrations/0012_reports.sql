-- The figures that reports are made of.

-- Figures of what was paid and refunded, by day in the service's zone. Kept by the job that folds
-- `booking_moves` into them; a report reads both.
CREATE TABLE sales_days (
    day DATE NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    PRIMARY KEY (day, type, method)
);

CREATE TABLE partner_days (
    partner_id UUID NOT NULL,
    day DATE NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (partner_id, day)
);
CREATE INDEX partner_days_day ON partner_days (day);

CREATE TABLE partner_months (
    month DATE NOT NULL,
    partner_id UUID NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (month, partner_id)
);

CREATE TABLE route_months (
    month DATE NOT NULL,
    route_id UUID NOT NULL,
    partner_id UUID NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (month, route_id)
);

-- How many bookings of a partner stand where, and what they are worth. Pending ones are counted
-- where they are: they are few.
CREATE TABLE partner_standings (
    partner_id UUID NOT NULL,
    status TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    subtotal BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    PRIMARY KEY (partner_id, status)
);
CREATE INDEX bookings_pending ON bookings (partner_id) WHERE status = 'pending_payment';

-- In which zone the days above were counted; no row until they have been.
CREATE TABLE report_zones (
    zone TEXT PRIMARY KEY,
    built_at TIMESTAMPTZ NOT NULL
);

-- Of the moves that were not folded yet, what counts as paid or refunded.
CREATE VIEW sales_moves AS
SELECT at, partner_id, route_id, type, method,
    CASE WHEN to_status = 'paid' THEN 1 ELSE 0 END AS bookings,
    CASE WHEN to_status = 'paid' THEN passengers ELSE 0 END AS passengers,
    CASE WHEN to_status = 'paid' THEN total ELSE 0 END AS gross,
    CASE WHEN to_status = 'paid' THEN discount ELSE 0 END AS discount,
    CASE WHEN to_status = 'paid' THEN tax ELSE 0 END AS tax,
    CASE WHEN to_status = 'paid' THEN commission ELSE 0 END AS commission,
    CASE WHEN to_status = 'paid' THEN partner_net ELSE 0 END AS partner_net,
    refund AS refunds
FROM booking_moves WHERE to_status IN ('paid', 'refunded');
