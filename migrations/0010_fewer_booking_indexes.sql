-- The bookings of a boat are found among those of its partner. Every booking paid for this index.
DROP INDEX bookings_boat;
