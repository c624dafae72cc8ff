-- What a partner proves before it may sell, and how it stands.

ALTER TABLE partners ADD COLUMN lang TEXT NOT NULL DEFAULT 'id' CHECK (lang IN ('en', 'id'));
-- In basis points; NULL means the platform's default.
ALTER TABLE partners ADD COLUMN commission_rate INTEGER
    CHECK (commission_rate BETWEEN 0 AND 10000);
ALTER TABLE partners ADD COLUMN submitted_at TIMESTAMPTZ;
-- When it became active for the first time.
ALTER TABLE partners ADD COLUMN verified_at TIMESTAMPTZ;
ALTER TABLE partners ADD COLUMN suspended_at TIMESTAMPTZ
    CHECK ((suspended_at IS NOT NULL) = (status = 'suspended'));
ALTER TABLE partners ADD COLUMN suspended_reason TEXT
    CHECK ((suspended_reason IS NOT NULL) = (status = 'suspended'));
CREATE INDEX partners_newest ON partners (created_at, id);
CREATE INDEX partners_status ON partners (status, created_at);

-- One row per partner, filled step by step. What is sealed cannot be read without the key.
CREATE TABLE onboardings (
    partner_id UUID PRIMARY KEY REFERENCES partners (id),
    legal_name TEXT,
    nib TEXT,
    -- Sealed, since a person's NPWP may be their NIK.
    npwp TEXT,
    address TEXT,
    city TEXT,
    province TEXT,
    postal_code TEXT,
    description TEXT,
    pic_name TEXT,
    pic_position TEXT,
    pic_phone TEXT,
    pic_email TEXT,
    -- Sealed.
    pic_nik TEXT,
    bank_code TEXT,
    -- Sealed.
    account_number TEXT,
    account_name TEXT,
    -- NULL until there is an account.
    bank_account_status TEXT CHECK (bank_account_status IN ('pending', 'approved')),
    updated_at TIMESTAMPTZ NOT NULL
);
INSERT INTO onboardings (partner_id, updated_at) SELECT id, created_at FROM partners;

CREATE TABLE partner_documents (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    type TEXT NOT NULL
        CHECK (type IN ('ktp', 'npwp', 'nib', 'deed', 'bank_book', 'operating_permit')),
    file_id UUID NOT NULL REFERENCES files (id),
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
    note TEXT,
    reviewed_by UUID REFERENCES accounts (id),
    reviewed_at TIMESTAMPTZ CHECK ((reviewed_at IS NULL) = (status = 'pending')),
    -- Set when a newer one has taken its place. Kept: it shows what was approved, and when.
    replaced_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX partner_documents_current ON partner_documents (partner_id, type)
    WHERE replaced_at IS NULL;
CREATE INDEX partner_documents_pending ON partner_documents (partner_id)
    WHERE status = 'pending' AND replaced_at IS NULL;
