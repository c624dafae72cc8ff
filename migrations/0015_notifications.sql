-- What people are told in the application, and the order in which things are delivered.

-- Items of one lane are delivered one after the other, in the order in which they were put in.
ALTER TABLE outbox ADD COLUMN lane TEXT;
CREATE INDEX outbox_lane ON outbox (lane, created_at, id)
    WHERE lane IS NOT NULL AND dead_at IS NULL;

-- Whether it is news, from which other things follow, or one of these: a letter, a call to another
-- system. The first are dealt with in the database alone and never wait for the others.
ALTER TABLE outbox ADD COLUMN is_event BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (is_event, due_at) WHERE dead_at IS NULL;

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
