-- Raised by triggers with every change of a booking, its payments and its refunds, so that a response
-- about it can be kept until then.
ALTER TABLE bookings ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
