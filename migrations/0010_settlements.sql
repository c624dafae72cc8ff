-- What partners are owed, and how it is paid out.

-- What is agreed with one partner, or (partner_id NULL) with all who agreed nothing of their own.
-- NULL means the default. A partner's own commission is on its record.
CREATE TABLE settlement_configurations (
    id UUID PRIMARY KEY,
    partner_id UUID UNIQUE REFERENCES partners (id),
    commission_rate INTEGER CHECK (commission_rate BETWEEN 0 AND 10000),
    schedule TEXT CHECK (schedule IN ('manual', 'daily', 'weekly', 'monthly')),
    -- Of the week (Monday is 1) or of the month.
    day INTEGER,
    -- The day on which the schedule was last chosen: periods that ended before are not its own.
    scheduled_on DATE,
    hold_days INTEGER CHECK (hold_days >= 0),
    minimum_amount BIGINT CHECK (minimum_amount >= 0),
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK (commission_rate IS NULL OR partner_id IS NULL),
    CHECK (CASE COALESCE(schedule, '') WHEN 'weekly' THEN COALESCE(day, 0) BETWEEN 1 AND 7
        WHEN 'monthly' THEN COALESCE(day, 0) BETWEEN 1 AND 28 ELSE day IS NULL END)
);
CREATE UNIQUE INDEX settlement_configurations_default
    ON settlement_configurations ((partner_id IS NULL)) WHERE partner_id IS NULL;

CREATE TABLE settlements (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    partner_id UUID NOT NULL REFERENCES partners (id),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    -- The sums of its items.
    gross BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    commission_tax BIGINT NOT NULL,
    -- Cash that the partner has taken itself.
    collected BIGINT NOT NULL,
    net BIGINT NOT NULL,
    booking_count INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'released', 'cancelled')),
    origin TEXT NOT NULL CHECK (origin IN ('manual', 'scheduled')),
    -- Where it was paid to, masked.
    bank_account JSONB,
    note TEXT NOT NULL,
    reference TEXT,
    proof_file_id UUID REFERENCES files (id),
    -- NULL: the schedule.
    created_by UUID REFERENCES accounts (id),
    released_by UUID REFERENCES accounts (id),
    released_at TIMESTAMPTZ,
    cancelled_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK (net = gross - commission - commission_tax - collected),
    CHECK ((status = 'released') = (released_at IS NOT NULL)),
    CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
    UNIQUE (id, partner_id)
);
CREATE INDEX settlements_newest ON settlements (created_at, id);
CREATE INDEX settlements_partner ON settlements (partner_id, created_at, id);
CREATE INDEX settlements_pending ON settlements (partner_id) WHERE status = 'pending';

-- What a partner is owed for a booking: a sale that was sailed, money kept of a cancelled one, and
-- what is taken back when a sale is refunded after all. Each has one live settlement at most: the
-- one that its row names.
CREATE TABLE partner_dues (
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
    CHECK (net = gross - commission - commission_tax - collected),
    UNIQUE (booking_id, kind),
    FOREIGN KEY (settlement_id, partner_id) REFERENCES settlements (id, partner_id)
);
-- With what they come to, so that a sum over them reads nothing else.
CREATE INDEX partner_dues_open ON partner_dues (partner_id, day, net)
    WHERE settlement_id IS NULL;
CREATE INDEX partner_dues_settlement ON partner_dues (settlement_id)
    WHERE settlement_id IS NOT NULL;

-- What a settlement is made of, and for a cancelled one was.
CREATE TABLE settlement_items (
    settlement_id UUID NOT NULL REFERENCES settlements (id),
    due_id UUID NOT NULL REFERENCES partner_dues (id),
    PRIMARY KEY (settlement_id, due_id)
);

-- Which periods the schedule has dealt with: each once, whatever came of it.
CREATE TABLE settlement_runs (
    partner_id UUID NOT NULL REFERENCES partners (id),
    due_on DATE NOT NULL,
    settlement_id UUID REFERENCES settlements (id),
    PRIMARY KEY (partner_id, due_on)
);

-- Money kept, and cash taken by partners, before there were dues.
INSERT INTO partner_dues (id, partner_id, booking_id, kind, day, gross, commission,
    commission_tax, collected, net, created_at)
SELECT k.id, k.partner_id, k.id, 'kept', s.day, l.gross, l.commission, l.tax, l.collected,
    l.gross - l.commission - l.tax - l.collected, k.updated_at
FROM bookings k JOIN sailings s ON s.id = k.sailing_id JOIN
    (SELECT booking_id,
       CAST(SUM(CASE WHEN kind = 'kept' AND account = 'customer_deposits' THEN amount ELSE 0 END)
         AS BIGINT) AS gross,
       CAST(SUM(CASE WHEN kind = 'kept' AND account = 'commission_revenue' THEN -amount ELSE 0 END)
         AS BIGINT) AS commission,
       CAST(SUM(CASE WHEN kind = 'kept' AND account = 'tax_payable' THEN -amount ELSE 0 END)
         AS BIGINT) AS tax,
       CAST(SUM(CASE WHEN kind = 'paid' AND account = 'partner_payable' THEN amount ELSE 0 END)
         AS BIGINT) AS collected,
       SUM(CASE WHEN account = 'partner_payable' THEN 1 ELSE 0 END) AS theirs
     FROM ledger_lines WHERE booking_id IS NOT NULL GROUP BY booking_id) l
    ON l.booking_id = k.id
WHERE l.theirs > 0 AND k.status IN ('cancelled', 'refund_pending', 'refunded');
