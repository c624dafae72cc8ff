-- A boat is never in two places. Its open sailings do not overlap, so of those that depart before
-- the new one arrives only the last can still be at sea when the new one departs.

CREATE TRIGGER sailings_one_place_at_a_time_insert BEFORE INSERT ON sailings
WHEN NEW.status = 'open' AND NEW.departure_at < (
    SELECT arrival_at FROM sailings
    WHERE speedboat_id = NEW.speedboat_id AND status = 'open'
      AND departure_at < NEW.arrival_at
    ORDER BY departure_at DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'a boat is never in two places');
END;

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
