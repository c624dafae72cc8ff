-- Files: what was uploaded, by whom and for what. The content is in the storage.

CREATE TABLE files (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES accounts (id),
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size BIGINT NOT NULL CHECK (size > 0),
    purpose TEXT NOT NULL CHECK (purpose IN ('avatar', 'photo', 'content', 'document', 'proof')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    -- Where the checked content is; each arrival has a place of its own.
    object_key TEXT CHECK ((object_key IS NULL) = (status = 'pending')),
    -- Until when a pending file may arrive.
    expires_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX files_pending ON files (expires_at) WHERE status = 'pending';
