-- Failed sign-ins within a window, by account and network. An empty e-mail stands for all accounts,
-- an empty network for all networks. What was counted so far is dropped: it would have lasted for
-- 15 minutes at most.
DROP TABLE login_failures;
CREATE TABLE login_failures (
    email TEXT NOT NULL,
    network TEXT NOT NULL,
    failures INTEGER NOT NULL,
    since TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (email, network)
);
CREATE INDEX login_failures_since ON login_failures (since);

-- Networks from which an account has signed in with its password.
CREATE TABLE known_networks (
    account_id UUID NOT NULL REFERENCES accounts (id),
    network TEXT NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, network)
);
CREATE INDEX known_networks_last_used ON known_networks (last_used_at);

-- An account can have several reset links at once. Rows outlive their use, since letters are
-- counted by the hour and a letter that is sent again must not revive its link.
ALTER TABLE mailed_tokens RENAME TO old_mailed_tokens;
CREATE TABLE mailed_tokens (
    -- The outbox item of the letter.
    item_id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL CHECK (kind IN ('reset', 'invitation')),
    token_hash BYTEA NOT NULL UNIQUE,
    expires_at TIMESTAMPTZ NOT NULL,
    -- Set when the link, or another one of the account, was used, or the account changed.
    voided_at TIMESTAMPTZ
);
INSERT INTO mailed_tokens (item_id, account_id, kind, token_hash, expires_at)
SELECT item_id, account_id, kind, token_hash, expires_at FROM old_mailed_tokens;
DROP TABLE old_mailed_tokens;
CREATE INDEX mailed_tokens_account ON mailed_tokens (account_id, kind, expires_at);
CREATE INDEX mailed_tokens_expiry ON mailed_tokens (expires_at);
