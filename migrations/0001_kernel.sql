-- What every domain stands on. One text for SQLite and PostgreSQL.

CREATE TABLE locks (
    name TEXT PRIMARY KEY,
    taken BIGINT NOT NULL
);

CREATE TABLE outbox (
    id UUID PRIMARY KEY,
    topic TEXT NOT NULL,
    payload JSONB NOT NULL,
    attempts INTEGER NOT NULL,
    due_at TIMESTAMPTZ NOT NULL,
    lease UUID,
    dead_at TIMESTAMPTZ,
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE dead_at IS NULL;
CREATE INDEX outbox_dead ON outbox (dead_at) WHERE dead_at IS NOT NULL;

CREATE TABLE idempotency_keys (
    id UUID PRIMARY KEY,
    caller UUID NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    answer JSONB,
    lease UUID NOT NULL,
    leased_until TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    UNIQUE (caller, operation, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

CREATE TABLE audit_logs (
    id UUID PRIMARY KEY,
    actor_id UUID NOT NULL,
    actor_name TEXT NOT NULL,
    actor_email TEXT NOT NULL,
    on_behalf_of_id UUID,
    on_behalf_of_name TEXT,
    on_behalf_of_email TEXT,
    action TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id UUID NOT NULL,
    before_change JSONB,
    after_change JSONB,
    address TEXT NOT NULL,
    user_agent TEXT,
    request_id TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX audit_logs_newest ON audit_logs (created_at, id);
CREATE INDEX audit_logs_actor ON audit_logs (actor_id, created_at);
CREATE INDEX audit_logs_entity ON audit_logs (entity_type, entity_id, created_at);
