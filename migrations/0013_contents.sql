-- What the platform tells the world: its call to partners, and its terms.

-- There is one.
CREATE TABLE cta_partnership (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    button_label TEXT NOT NULL,
    button_url TEXT NOT NULL,
    image_file_id UUID REFERENCES files (id),
    is_active BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Terms of a type, version by version. One is published at most, and one is being written.
CREATE TABLE terms (
    id UUID PRIMARY KEY,
    type TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    -- HTML, sanitised on its way in.
    content TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    created_by UUID NOT NULL REFERENCES accounts (id),
    -- Who changed it last.
    edited_by UUID NOT NULL REFERENCES accounts (id),
    validated_by UUID REFERENCES accounts (id),
    published_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK ((status = 'draft') = (published_at IS NULL)),
    UNIQUE (type, version)
);
CREATE UNIQUE INDEX terms_draft ON terms (type) WHERE status = 'draft';
CREATE UNIQUE INDEX terms_published ON terms (type) WHERE status = 'published';

-- Which version of the customer's terms was accepted with a booking.
ALTER TABLE bookings ADD COLUMN accepted_terms_id UUID REFERENCES terms (id);
