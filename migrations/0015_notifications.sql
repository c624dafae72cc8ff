-- What people are told in the application, and the order in which things are delivered.

-- Items of one lane are delivered one after the other, in the order in which they were put in.
ALTER TABLE outbox ADD COLUMN lane TEXT;
CREATE INDEX outbox_lane ON outbox (lane, created_at, id)
    WHERE lane IS NOT NULL AND dead_at IS NULL;

-- News, from which other things follow; and these, by whom they have to wait for. No queue waits for
-- another.
ALTER TABLE outbox ADD COLUMN queue TEXT NOT NULL DEFAULT 'event'
    CHECK (queue IN ('event', 'mail', 'payment', 'webhook'));
UPDATE outbox SET queue = 'mail' WHERE topic LIKE 'account.%';
UPDATE outbox SET queue = 'payment' WHERE topic = 'payment.unconfirmed';
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (queue, due_at) WHERE dead_at IS NULL;

-- The words are found when it is read, in the reader's language.
CREATE TABLE notifications (
    id UUID PRIMARY KEY,
    -- What happened: nobody is told twice.
    event_id UUID NOT NULL,
    account_id UUID NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    data JSONB NOT NULL,
    read_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (event_id, account_id)
);
CREATE INDEX notifications_newest ON notifications (account_id, id);
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_age ON notifications (created_at);
