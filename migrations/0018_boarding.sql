-- What happens between payment and departure.

-- Since when nobody can be added to those who sail.
ALTER TABLE sailings ADD COLUMN manifest_closed_at TIMESTAMPTZ;
ALTER TABLE sailings ADD COLUMN cancelled_at TIMESTAMPTZ;
-- Why it was cancelled or moved.
ALTER TABLE sailings ADD COLUMN reason TEXT;

-- When those passengers boarded who have: copied from `boardings` for whoever looks at the booking.
ALTER TABLE bookings ADD COLUMN boarded JSONB NOT NULL DEFAULT '{}';
-- Cancelled together with its sailing: its booker may choose another instead of the money.
ALTER TABLE bookings ADD COLUMN called_off BOOLEAN NOT NULL DEFAULT FALSE;
-- The departure that it was sold with, once its sailing has been moved.
ALTER TABLE bookings ADD COLUMN promised_at TIMESTAMPTZ;

-- Who went on board, and who was taken off the list again.
CREATE TABLE boardings (
    id UUID PRIMARY KEY,
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    booking_id UUID NOT NULL REFERENCES bookings (id),
    passenger_id UUID NOT NULL,
    -- The device's own name for it, so that handing it in again changes nothing.
    scan_id TEXT,
    -- When the code was scanned, and when we heard of it.
    boarded_at TIMESTAMPTZ NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    recorded_by UUID NOT NULL REFERENCES accounts (id),
    undone_at TIMESTAMPTZ,
    undone_by UUID REFERENCES accounts (id),
    CHECK ((undone_at IS NULL) = (undone_by IS NULL))
);
-- Once.
CREATE UNIQUE INDEX boardings_once ON boardings (sailing_id, passenger_id) WHERE undone_at IS NULL;
CREATE UNIQUE INDEX boardings_scan ON boardings (sailing_id, scan_id) WHERE scan_id IS NOT NULL;

-- Scans that let nobody on board: handed in again they have the same outcome.
CREATE TABLE refused_scans (
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    scan_id TEXT NOT NULL,
    -- Of the code that was scanned.
    digest TEXT NOT NULL,
    outcome TEXT NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (sailing_id, scan_id)
);

-- What was handed to the harbour master, sealed: it holds identity numbers.
CREATE TABLE manifests (
    sailing_id UUID PRIMARY KEY REFERENCES sailings (id),
    content TEXT NOT NULL,
    closed_by UUID NOT NULL REFERENCES accounts (id),
    closed_at TIMESTAMPTZ NOT NULL
);
