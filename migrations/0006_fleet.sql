-- Boats, the routes they are meant to sail, and the dated sailings that seats are sold on.

CREATE TABLE speedboats (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    name TEXT NOT NULL,
    registration_number TEXT NOT NULL,
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 1 AND 500),
    year_built INTEGER,
    manufacturer TEXT,
    engine TEXT,
    facilities JSONB NOT NULL,
    description TEXT,
    -- Ids of files, the first being the one that is shown.
    photos JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'maintenance', 'inactive')),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- A deleted boat stays for the history of its sailings and frees its number.
    deleted_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX speedboats_registration ON speedboats (upper(registration_number))
    WHERE deleted_at IS NULL;
CREATE INDEX speedboats_partner ON speedboats (partner_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX speedboats_newest ON speedboats (created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE routes (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    speedboat_id UUID NOT NULL REFERENCES speedboats (id),
    from_name TEXT NOT NULL,
    to_name TEXT NOT NULL,
    -- The names without regard to case, accents and repeated spaces.
    from_key TEXT NOT NULL,
    to_key TEXT NOT NULL,
    schedule_type TEXT NOT NULL CHECK (schedule_type IN ('once', 'daily', 'weekly')),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    price BIGINT NOT NULL CHECK (price > 0),
    timezone TEXT NOT NULL,
    times JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    published_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (id, speedboat_id, partner_id)
);
CREATE INDEX routes_partner ON routes (partner_id, created_at);
CREATE INDEX routes_newest ON routes (created_at, id);
CREATE INDEX routes_speedboat ON routes (speedboat_id);
CREATE INDEX routes_running ON routes (end_date) WHERE status = 'published';

CREATE TABLE sailings (
    id UUID PRIMARY KEY,
    route_id UUID NOT NULL,
    speedboat_id UUID NOT NULL,
    partner_id UUID NOT NULL,
    from_key TEXT NOT NULL,
    to_key TEXT NOT NULL,
    -- The day of departure where it departs.
    day DATE NOT NULL,
    departure_at TIMESTAMPTZ NOT NULL,
    arrival_at TIMESTAMPTZ NOT NULL CHECK (arrival_at > departure_at),
    duration_minutes INTEGER NOT NULL CHECK (duration_minutes > 0),
    price BIGINT NOT NULL CHECK (price > 0),
    capacity INTEGER NOT NULL,
    seats_taken INTEGER NOT NULL,
    -- Taken as a whole: closed even if its boat should grow.
    chartered BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'cancelled', 'withdrawn')),
    CONSTRAINT sailings_seats CHECK (seats_taken BETWEEN 0 AND capacity),
    -- Boat and partner are those of the route.
    FOREIGN KEY (route_id, speedboat_id, partner_id)
        REFERENCES routes (id, speedboat_id, partner_id)
);
-- Search: one range of this index, whatever the size of the table.
CREATE INDEX sailings_search ON sailings (from_key, to_key, day, departure_at)
    WHERE status = 'open';
-- What is still to come, of everyone.
CREATE INDEX sailings_upcoming ON sailings (departure_at) WHERE status = 'open';
CREATE INDEX sailings_route ON sailings (route_id, departure_at);
-- A boat's calendar.
CREATE INDEX sailings_boat ON sailings (speedboat_id, departure_at) WHERE status = 'open';
CREATE INDEX sailings_partner ON sailings (partner_id, departure_at) WHERE status = 'open';
