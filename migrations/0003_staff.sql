-- What staff may do, and who they are.

CREATE TABLE permissions (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('owner', 'manager', 'supervisor', 'operator', 'viewer')),
    rules JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX permissions_name ON permissions (lower(name));

-- Name, e-mail, number and status are the account's. The row goes when the account is deleted.
CREATE TABLE staff (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL UNIQUE REFERENCES accounts (id),
    permission_id UUID NOT NULL REFERENCES permissions (id),
    join_date DATE NOT NULL,
    working_type TEXT NOT NULL
        CHECK (working_type IN ('full_time', 'part_time', 'contract', 'freelance')),
    show_salary BOOLEAN NOT NULL,
    salary BIGINT NOT NULL CHECK (salary >= 0),
    address JSONB NOT NULL,
    bank_code TEXT NOT NULL,
    -- Sealed: unreadable without the service's key.
    account_number TEXT NOT NULL,
    account_name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX staff_permission ON staff (permission_id);
CREATE INDEX staff_newest ON staff (created_at, id);
