-- Other systems that follow what happens.

CREATE TABLE webhooks (
    id UUID PRIMARY KEY,
    url TEXT NOT NULL,
    -- The names of the events it is for.
    events JSONB NOT NULL,
    active BOOLEAN NOT NULL,
    -- Sealed.
    secret TEXT NOT NULL,
    -- Since when nothing has got through; NULL while something does.
    failing_since TIMESTAMPTZ,
    -- Why it was switched off, if it was not by hand.
    disabled_reason TEXT CHECK (disabled_reason IN ('gone', 'failing')),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK (disabled_reason IS NULL OR NOT active)
);
CREATE INDEX webhooks_newest ON webhooks (created_at, id);

CREATE TABLE webhook_deliveries (
    id UUID PRIMARY KEY,
    webhook_id UUID NOT NULL REFERENCES webhooks (id),
    event_id UUID NOT NULL,
    type TEXT NOT NULL,
    payload JSONB NOT NULL,
    -- In which order it belongs.
    lane TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    response_status INTEGER,
    last_error TEXT,
    last_attempt_at TIMESTAMPTZ,
    delivered_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
