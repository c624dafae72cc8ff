-- A boat is never in two places.

CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Room on each page, so that a change of seats stays on it and touches no index.
ALTER TABLE sailings SET (fillfactor = 80);

ALTER TABLE sailings ADD CONSTRAINT sailings_one_place_at_a_time
    EXCLUDE USING gist (speedboat_id WITH =, tstzrange(departure_at, arrival_at) WITH &&)
    WHERE (status = 'open');
