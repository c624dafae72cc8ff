-- Accounts, how they sign in, and the partnership of a partner.

CREATE TABLE accounts (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL CHECK (email = lower(email)),
    phone TEXT,
    role TEXT NOT NULL CHECK (role IN ('admin', 'staff', 'mitra')),
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'suspended')),
    -- NULL until an invitation is accepted.
    password_hash TEXT,
    avatar_file_id UUID,
    last_login_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- A deleted account keeps its name for history and frees its e-mail.
    deleted_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE deleted_at IS NULL;
CREATE INDEX accounts_newest ON accounts (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX accounts_role ON accounts (role, status) WHERE deleted_at IS NULL;

CREATE TABLE partners (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL UNIQUE REFERENCES accounts (id),
    address TEXT NOT NULL,
    partner_type TEXT NOT NULL CHECK (partner_type IN ('individual', 'company')),
    status TEXT NOT NULL
        CHECK (status IN ('draft', 'in_review', 'revision', 'active', 'suspended')),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE sessions (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id),
    token_hash BYTEA NOT NULL UNIQUE,
    impersonator_id UUID REFERENCES accounts (id),
    -- The remember token's family that opened it: a theft ends them together.
    family_id UUID,
    address TEXT NOT NULL,
    user_agent TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id, created_at);
CREATE INDEX sessions_family ON sessions (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX sessions_impersonator ON sessions (impersonator_id)
    WHERE impersonator_id IS NOT NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE remember_tokens (
    id UUID PRIMARY KEY,
    family_id UUID NOT NULL,
    account_id UUID NOT NULL REFERENCES accounts (id),
    token_hash BYTEA NOT NULL UNIQUE,
    -- Set when a newer token has taken its place. Kept, so that a stolen copy is recognised.
    rotated_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX remember_tokens_family ON remember_tokens (family_id);
CREATE INDEX remember_tokens_account ON remember_tokens (account_id);
CREATE INDEX remember_tokens_expiry ON remember_tokens (expires_at);

-- Mailed tokens: the newest of its kind is the only one.
CREATE TABLE mailed_tokens (
    account_id UUID NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL CHECK (kind IN ('reset', 'invitation')),
    token_hash BYTEA NOT NULL UNIQUE,
    -- The letter that carries it; a newer letter wins.
    item_id UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, kind)
);

-- Failed sign-ins of an e-mail address or a network address within a window.
CREATE TABLE login_failures (
    subject TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    since TIMESTAMPTZ NOT NULL
);
