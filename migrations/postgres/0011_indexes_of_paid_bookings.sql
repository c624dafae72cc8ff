-- Fewer indexes are written when a booking is made.

-- A partner has few bookings: its list by total is sorted.
DROP INDEX bookings_partner_total;
DROP INDEX bookings_partner;
CREATE INDEX bookings_partner ON bookings (partner_id, created_at, id) INCLUDE (status, type, channel,
    qty, speedboat_id, departure_at, total, refund_due, surcharge, reseller_id);

-- Few bookings are unpaid at a time, so their list by departure is sorted. The job that completes bookings
-- reads this index too.
DROP INDEX bookings_sailed;
DROP INDEX bookings_status_departure;
CREATE INDEX bookings_status_departure ON bookings (status, departure_at, id) INCLUDE (type,
    channel, qty, partner_id, speedboat_id, total, created_at, refund_due,
    arrival_at) WHERE status <> 'pending_payment';

-- The unpaid bookings of a partner are counted among all that are unpaid.
DROP INDEX bookings_pending;
DROP INDEX bookings_holds;
CREATE INDEX bookings_holds ON bookings (expires_at, partner_id) WHERE status = 'pending_payment';

-- Only bookings that are over can be due for erasure.
DROP INDEX bookings_retention;
CREATE INDEX bookings_retention ON bookings ((CASE WHEN status = 'expired' THEN expires_at
        WHEN cancelled_at IS NOT NULL AND completed_at IS NULL THEN cancelled_at
        ELSE arrival_at END))
    WHERE erased_at IS NULL AND status IN ('completed', 'expired', 'cancelled', 'refunded');
