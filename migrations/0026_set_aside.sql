-- Rows that a background job could not deal with. Batches leave them out, and each is retried alone.

CREATE TABLE set_aside (
    job TEXT NOT NULL,
    -- Of a booking, a reschedule or a partner, or the number of a move, depending on the job.
    entity_id UUID NOT NULL,
    failures INTEGER NOT NULL CHECK (failures > 0),
    last_error TEXT NOT NULL,
    first_failed_at TIMESTAMPTZ NOT NULL,
    next_try_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (job, entity_id)
);
CREATE INDEX set_aside_due ON set_aside (job, next_try_at);
