-- The schema of the first release, for PostgreSQL. `sqlite/0001_baseline.sql` has the same tables.
--
-- Tables are grouped by domain. A table comes after those that it refers to. Triggers are in
-- `triggers.sql`. Sums of money are whole rupiah, rates are basis points (100 = 1 %). An index named
-- `…_newest` serves the list of its table, which is sorted by creation and paged. A partial index
-- holds only the rows that its query can return, so it stays small while the table grows.

-- `sailings_one_place_at_a_time` compares ids inside a GiST index.
CREATE EXTENSION IF NOT EXISTS btree_gist;

---------------------------------------------------------------------------------------------------
-- Kernel: what every domain uses
---------------------------------------------------------------------------------------------------

-- Named locks, held until the end of a transaction, for rules that span rows.
CREATE TABLE locks (
    name TEXT PRIMARY KEY,
    taken BIGINT NOT NULL
);

-- Domain events and the work that follows from them, written in the transaction that causes them and
-- delivered at least once.
CREATE TABLE outbox (
    id UUID PRIMARY KEY,
    topic TEXT NOT NULL,
    payload JSONB NOT NULL,
    attempts INTEGER NOT NULL,
    -- A claim moves it past the end of the lease.
    due_at TIMESTAMPTZ NOT NULL,
    -- Only the holder of the lease may finish the item.
    lease UUID,
    -- Set after the last attempt; a person has to look at it.
    dead_at TIMESTAMPTZ,
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    -- Items of one lane are delivered in the order of (created_at, id). NULL: in no order.
    lane TEXT,
    -- Queues are independent: a slow mail server delays no webhook.
    queue TEXT NOT NULL DEFAULT 'event'
        CHECK (queue IN ('event', 'mail', 'payment', 'webhook'))
);
-- The next due items of a queue.
CREATE INDEX outbox_due ON outbox (queue, due_at) WHERE dead_at IS NULL;
-- The first item of a lane, which is the only one that may be claimed.
CREATE INDEX outbox_lane ON outbox (lane, created_at, id)
    WHERE lane IS NOT NULL AND dead_at IS NULL;
-- `dermaga outbox` and `dermaga doctor`.
CREATE INDEX outbox_dead ON outbox (dead_at) WHERE dead_at IS NOT NULL;

-- Responses to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    id UUID PRIMARY KEY,
    caller UUID NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    -- Hash of the request: the same key with another request is an error.
    fingerprint BYTEA NOT NULL,
    -- NULL while the first request runs.
    answer JSONB,
    lease UUID NOT NULL,
    leased_until TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- Of two requests at once, one inserts and the other waits for its answer.
    UNIQUE (caller, operation, key)
);
-- The sweep of expired keys.
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- One row per change that a person made. Names are copied: they must outlive the accounts. They are
-- replaced when the person is erased. The changes hold no values of personal fields.
CREATE TABLE audit_logs (
    id UUID PRIMARY KEY,
    actor_id UUID NOT NULL,
    actor_name TEXT NOT NULL,
    actor_email TEXT NOT NULL,
    -- The partner that the actor impersonates.
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
-- The list, filtered by one column. Each index has the columns of the other filters, so that no row is
-- read for them.
CREATE INDEX audit_logs_actor ON audit_logs (actor_id, created_at, id, action, entity_type);
CREATE INDEX audit_logs_action ON audit_logs (action, created_at, id, actor_id, entity_type);
CREATE INDEX audit_logs_type ON audit_logs (entity_type, created_at, id, action, actor_id);
CREATE INDEX audit_logs_entity ON audit_logs (entity_id, created_at, id);
-- Erasing a person whom staff impersonated.
CREATE INDEX audit_logs_on_behalf_of ON audit_logs (on_behalf_of_id)
    WHERE on_behalf_of_id IS NOT NULL;

-- The names and actions in the audit log, each once, for its search; maintained by triggers.
CREATE TABLE audit_actors (
    actor_id UUID NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (actor_id, name, email)
);
CREATE TABLE audit_actions (
    action TEXT PRIMARY KEY
);

-- Rows that a background job failed to process. Batches leave them out; each is retried alone.
CREATE TABLE set_aside (
    job TEXT NOT NULL,
    -- Id of a booking, a reschedule or a partner, or the number of a move, depending on the job.
    entity_id UUID NOT NULL,
    failures INTEGER NOT NULL CHECK (failures > 0),
    last_error TEXT NOT NULL,
    first_failed_at TIMESTAMPTZ NOT NULL,
    next_try_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (job, entity_id)
);
-- The rows of a job that are due for a retry.
CREATE INDEX set_aside_due ON set_aside (job, next_try_at);

-- What is still to be erased of people who asked for it. The address is not stored.
CREATE TABLE pending_erasures (
    kind TEXT NOT NULL CHECK (kind IN ('account', 'booking', 'letters')),
    -- Id of the account or booking; of letters, the first half of `subject`.
    entity_id UUID NOT NULL,
    -- Keyed hash of the e-mail address, in hexadecimal.
    subject TEXT NOT NULL,
    requested_at TIMESTAMPTZ NOT NULL,
    next_try_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, entity_id)
);
-- The job that erases what is over.
CREATE INDEX pending_erasures_due ON pending_erasures (next_try_at);
-- What a person's request still waits for.
CREATE INDEX pending_erasures_subject ON pending_erasures (subject, next_try_at);

---------------------------------------------------------------------------------------------------
-- Accounts
---------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    -- Stored in lower case, so that uniqueness ignores case.
    email TEXT NOT NULL CHECK (email = lower(email)),
    -- Whether a link that was mailed to the address has been used.
    email_verified BOOLEAN NOT NULL DEFAULT FALSE,
    phone TEXT,
    role TEXT NOT NULL CHECK (role IN ('admin', 'staff', 'mitra', 'crew', 'reseller')),
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'suspended')),
    -- NULL until an invitation is accepted.
    password_hash TEXT,
    -- The secret of the second factor, encrypted. It is pending until `totp_confirmed_at` is set.
    totp_secret TEXT,
    totp_created_at TIMESTAMPTZ CHECK ((totp_created_at IS NULL) = (totp_secret IS NULL)),
    totp_confirmed_at TIMESTAMPTZ CHECK (totp_confirmed_at IS NULL OR totp_secret IS NOT NULL),
    -- The 30-second step of the last accepted code. Only a later one is accepted, so a code works once.
    totp_last_step BIGINT CHECK ((totp_last_step IS NULL) = (totp_confirmed_at IS NULL)),
    -- Not a foreign key: `files` refers to its owner already.
    avatar_file_id UUID,
    last_login_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- A deleted account keeps its row, because history refers to it.
    deleted_at TIMESTAMPTZ
);
-- An address belongs to one account; deleting the account frees it. Also sign-in.
CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE deleted_at IS NULL;
-- Export and erasure: accounts that were deleted keep their address until then.
CREATE INDEX accounts_deleted_email ON accounts (email) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_newest ON accounts (created_at, id) WHERE deleted_at IS NULL;
-- Lists and counts by role and status, and the check that an active admin remains.
CREATE INDEX accounts_role ON accounts (role, status) WHERE deleted_at IS NULL;
-- The sweep of unused files: is this file an avatar?
CREATE INDEX accounts_avatar ON accounts (avatar_file_id) WHERE avatar_file_id IS NOT NULL;
-- The sweep of partners that registered and never verified their address.
CREATE INDEX accounts_unverified ON accounts (email_verified, created_at)
    WHERE email_verified = FALSE AND password_hash IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE sessions (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id),
    -- Tokens are stored as hashes: whoever reads the database cannot use them.
    token_hash BYTEA NOT NULL UNIQUE,
    -- Set in a session in which staff acts as a partner.
    impersonator_id UUID REFERENCES accounts (id),
    -- The family of the remember token that opened the session. Theft of a token ends the family.
    family_id UUID,
    address TEXT NOT NULL,
    user_agent TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- A session ends 2 hours after its last request. Written at most once a minute.
    last_used_at TIMESTAMPTZ NOT NULL,
    -- When the password was last given in this session. NULL if a remember token or an impersonator
    -- opened it.
    authenticated_at TIMESTAMPTZ CHECK (authenticated_at IS NULL OR impersonator_id IS NULL)
);
-- An account's open sessions, and ending all of them.
CREATE INDEX sessions_account ON sessions (account_id, created_at);
-- Ending the sessions of a stolen remember token.
CREATE INDEX sessions_family ON sessions (family_id) WHERE family_id IS NOT NULL;
-- Ending impersonations when the staff member is suspended or removed.
CREATE INDEX sessions_impersonator ON sessions (impersonator_id)
    WHERE impersonator_id IS NOT NULL;
-- The sweep of expired sessions.
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE remember_tokens (
    id UUID PRIMARY KEY,
    family_id UUID NOT NULL,
    account_id UUID NOT NULL REFERENCES accounts (id),
    token_hash BYTEA NOT NULL UNIQUE,
    -- Set when a newer token replaced it. The row is kept, so that a stolen copy is recognised.
    rotated_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- When the family began. Its tokens end 90 days later, however often they were exchanged.
    enrolled_at TIMESTAMPTZ NOT NULL
);
-- Removing a family after a theft.
CREATE INDEX remember_tokens_family ON remember_tokens (family_id);
-- Removing all tokens of an account.
CREATE INDEX remember_tokens_account ON remember_tokens (account_id);
-- The sweep of expired tokens.
CREATE INDEX remember_tokens_expiry ON remember_tokens (expires_at);

-- Changes of an account's e-mail address. A pending change waits for the link that was mailed to the
-- new address. A confirmed change can be undone by the link that was mailed to the old address, which
-- stays reserved for the account until the change is final (triggers). Addresses are removed as soon
-- as nothing needs them. The row stays, because it says who requested the change.
CREATE TABLE email_changes (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id),
    -- The position among the changes of the account.
    number INTEGER NOT NULL CHECK (number > 0),
    status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed', 'final', 'cancelled')),
    old_email TEXT CHECK (old_email = lower(old_email)),
    new_email TEXT CHECK (new_email = lower(new_email)),
    requested_by UUID NOT NULL REFERENCES accounts (id),
    requested_at TIMESTAMPTZ NOT NULL,
    UNIQUE (account_id, number),
    CHECK ((old_email IS NOT NULL) = (status IN ('pending', 'confirmed'))),
    CHECK ((new_email IS NOT NULL) = (status = 'pending'))
);
-- An account has one pending change.
CREATE UNIQUE INDEX email_changes_pending ON email_changes (account_id) WHERE status = 'pending';
-- Whether an address is reserved.
CREATE INDEX email_changes_reserved ON email_changes (old_email) WHERE old_email IS NOT NULL;
-- The sweep of changes that can no longer be confirmed or undone.
CREATE INDEX email_changes_open ON email_changes (requested_at) WHERE old_email IS NOT NULL;

-- Links in letters. An account can have several reset links at once. Rows outlive their use, because
-- letters are counted per hour and a letter that is sent again must not make its link valid again.
CREATE TABLE mailed_tokens (
    -- The outbox item of the letter.
    item_id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL CHECK (kind IN ('reset', 'invitation', 'verification',
        'email_confirmation', 'email_cancellation')),
    -- The change that the link confirms or cancels.
    email_change_id UUID REFERENCES email_changes (id),
    token_hash BYTEA NOT NULL UNIQUE,
    expires_at TIMESTAMPTZ NOT NULL,
    -- Set when this link, or another one of the account, was used, or the account changed.
    voided_at TIMESTAMPTZ,
    CHECK ((email_change_id IS NOT NULL)
        = (kind IN ('email_confirmation', 'email_cancellation')))
);
-- How many letters an account got recently; voiding its links.
CREATE INDEX mailed_tokens_account ON mailed_tokens (account_id, kind, expires_at);
-- Voiding the links of a change.
CREATE INDEX mailed_tokens_change ON mailed_tokens (email_change_id)
    WHERE email_change_id IS NOT NULL;
-- The sweep of expired links.
CREATE INDEX mailed_tokens_expiry ON mailed_tokens (expires_at);

-- Failed sign-ins within a window, by account and network. An empty e-mail stands for all accounts,
-- an empty network for all networks.
CREATE TABLE login_failures (
    email TEXT NOT NULL,
    network TEXT NOT NULL,
    failures INTEGER NOT NULL,
    since TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (email, network)
);
-- The sweep of windows that are over.
CREATE INDEX login_failures_since ON login_failures (since);

-- Recovery codes of the second factor, as hashes of 80 random bits. Using a code deletes its row.
CREATE TABLE recovery_codes (
    account_id UUID NOT NULL REFERENCES accounts (id),
    code_hash BYTEA NOT NULL,
    PRIMARY KEY (account_id, code_hash)
);

-- Networks from which an account has signed in with its password.
CREATE TABLE known_networks (
    account_id UUID NOT NULL REFERENCES accounts (id),
    network TEXT NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, network)
);
-- The sweep of networks that are no longer used.
CREATE INDEX known_networks_last_used ON known_networks (last_used_at);

---------------------------------------------------------------------------------------------------
-- Files
---------------------------------------------------------------------------------------------------

-- Metadata of uploads. The content is in the storage.
CREATE TABLE files (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES accounts (id),
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size BIGINT NOT NULL CHECK (size > 0),
    purpose TEXT NOT NULL CHECK (purpose IN ('avatar', 'photo', 'content', 'document', 'proof')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'ready')),
    -- Key of the checked content. Each upload gets a key of its own, so a ready file never changes.
    object_key TEXT CHECK ((object_key IS NULL) = (status = 'pending')),
    -- Until when the content of a pending file may be uploaded.
    expires_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- When a request last referred to the file, or the sweep last looked for references. Never NULL
    -- in a ready file.
    checked_at TIMESTAMPTZ,
    -- Whether anything referred to it at `checked_at`.
    in_use BOOLEAN NOT NULL DEFAULT TRUE
);
-- The sweep of uploads that never came.
CREATE INDEX files_pending ON files (expires_at) WHERE status = 'pending';
-- The sweep of files that nothing refers to: the files not checked for the longest time.
CREATE INDEX files_checked ON files (checked_at) WHERE status = 'ready';
-- Export, erasure, and deletion of an unverified account: the files that an account uploaded.
CREATE INDEX files_owner ON files (owner_id, created_at);

-- Quota: what each account stores. One conditional UPDATE takes the room before the file's row is
-- inserted; deleting the row gives it back.
CREATE TABLE file_usage (
    account_id UUID PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    files BIGINT NOT NULL CHECK (files >= 0),
    bytes BIGINT NOT NULL CHECK (bytes >= 0)
);

---------------------------------------------------------------------------------------------------
-- Staff
---------------------------------------------------------------------------------------------------

CREATE TABLE permissions (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('owner', 'manager', 'supervisor', 'operator', 'viewer')),
    rules JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
-- Names are unique without regard to case.
CREATE UNIQUE INDEX permissions_name ON permissions (lower(name));

-- Name, e-mail, phone and status are the account's. The row is removed when the account is deleted.
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
    -- Encrypted with the service's key.
    account_number TEXT NOT NULL,
    account_name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
-- Who has a permission; a permission in use cannot be removed.
CREATE INDEX staff_permission ON staff (permission_id);
CREATE INDEX staff_newest ON staff (created_at, id);

---------------------------------------------------------------------------------------------------
-- Partners
---------------------------------------------------------------------------------------------------

CREATE TABLE partners (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL UNIQUE REFERENCES accounts (id),
    address TEXT NOT NULL,
    partner_type TEXT NOT NULL CHECK (partner_type IN ('individual', 'company')),
    status TEXT NOT NULL
        CHECK (status IN ('draft', 'in_review', 'revision', 'active', 'suspended')),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    lang TEXT NOT NULL DEFAULT 'id' CHECK (lang IN ('en', 'id')),
    -- Who created the partner and chose its e-mail address. NULL: it registered itself.
    invited_by UUID REFERENCES accounts (id),
    -- NULL: the platform's default rate.
    commission_rate INTEGER CHECK (commission_rate BETWEEN 0 AND 10000),
    submitted_at TIMESTAMPTZ,
    -- When the partner first became active.
    verified_at TIMESTAMPTZ,
    -- The address of its public page, given with the first activation.
    slug TEXT UNIQUE,
    -- Time and reason are set exactly while the partner is suspended.
    suspended_at TIMESTAMPTZ CHECK ((suspended_at IS NOT NULL) = (status = 'suspended')),
    suspended_reason TEXT CHECK ((suspended_reason IS NOT NULL) = (status = 'suspended'))
);
CREATE INDEX partners_newest ON partners (created_at, id);
-- The list, filtered by status.
CREATE INDEX partners_status ON partners (status, created_at);

-- The crew of partners: accounts that board passengers. The partner's own account is not crew. Name,
-- e-mail, phone and status are the account's. The row is removed when the account is deleted.
CREATE TABLE crew (
    account_id UUID PRIMARY KEY REFERENCES accounts (id),
    partner_id UUID NOT NULL REFERENCES partners (id),
    -- When an invitation was last requested.
    invited_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
-- A partner's crew: the list, and the count against the limit.
CREATE INDEX crew_partner ON crew (partner_id, created_at);

-- Details of a partner, filled in step by step: one row per partner.
CREATE TABLE onboardings (
    partner_id UUID PRIMARY KEY REFERENCES partners (id),
    legal_name TEXT,
    nib TEXT,
    -- Encrypted, because a person's NPWP may be their NIK.
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
    -- Encrypted.
    pic_nik TEXT,
    bank_code TEXT,
    -- Encrypted.
    account_number TEXT,
    account_name TEXT,
    -- NULL until there is a bank account.
    bank_account_status TEXT CHECK (bank_account_status IN ('pending', 'approved', 'rejected')),
    -- Why the account was rejected.
    bank_account_note TEXT,
    -- Who last changed the account in person. Somebody else approves it.
    bank_changed_by UUID REFERENCES accounts (id),
    bank_reviewed_by UUID REFERENCES accounts (id),
    bank_reviewed_at TIMESTAMPTZ,
    -- The account that settlements are paid to: the last one that was approved.
    approved_bank_code TEXT,
    -- Encrypted.
    approved_account_number TEXT,
    approved_account_name TEXT,
    approved_at TIMESTAMPTZ,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK ((approved_account_number IS NULL) = (approved_bank_code IS NULL)
        AND (approved_account_number IS NULL) = (approved_account_name IS NULL)
        AND (approved_account_number IS NULL) = (approved_at IS NULL)),
    CHECK (bank_account_status <> 'approved' OR approved_account_number IS NOT NULL),
    CHECK (bank_account_status <> 'rejected' OR bank_account_note IS NOT NULL),
    CHECK (bank_account_note IS NULL OR bank_account_status = 'rejected')
);
-- Which bank accounts wait for approval: dashboard, and the list of partners.
CREATE INDEX onboardings_bank_pending ON onboardings (partner_id)
    WHERE bank_account_status = 'pending';
-- The list of partners with a rejected bank account.
CREATE INDEX onboardings_bank_rejected ON onboardings (partner_id)
    WHERE bank_account_status = 'rejected';

CREATE TABLE partner_documents (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    type TEXT NOT NULL
        CHECK (type IN ('ktp', 'npwp', 'nib', 'deed', 'bank_book', 'operating_permit')),
    file_id UUID NOT NULL REFERENCES files (id),
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
    note TEXT,
    reviewed_by UUID REFERENCES accounts (id),
    -- Set exactly when the document was reviewed.
    reviewed_at TIMESTAMPTZ CHECK ((reviewed_at IS NULL) = (status = 'pending')),
    -- Who handed it in, in person.
    handed_in_by UUID NOT NULL REFERENCES accounts (id),
    -- NULL until the partner submits it. Only submitted documents are reviewed.
    submitted_at TIMESTAMPTZ CHECK (submitted_at IS NOT NULL OR status = 'pending'),
    -- Set when a newer document replaced it. The row is kept: it shows what was approved, and when.
    replaced_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
-- A partner has one current document of each type.
CREATE UNIQUE INDEX partner_documents_current ON partner_documents (partner_id, type)
    WHERE replaced_at IS NULL;
-- Which partners wait for a review: dashboard, partner statistics and the list of partners.
CREATE INDEX partner_documents_pending ON partner_documents (partner_id)
    WHERE status = 'pending' AND replaced_at IS NULL AND submitted_at IS NOT NULL;
-- The sweep of unused files: is this file a document?
CREATE INDEX partner_documents_file ON partner_documents (file_id);
-- Export and erasure: all documents of a partner, also those that were replaced.
CREATE INDEX partner_documents_partner ON partner_documents (partner_id);

---------------------------------------------------------------------------------------------------
-- Fleet and sailings
---------------------------------------------------------------------------------------------------

CREATE TABLE speedboats (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    name TEXT NOT NULL,
    registration_number TEXT NOT NULL,
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 1 AND 500),
    year_built INTEGER,
    manufacturer TEXT,
    engine TEXT,
    facilities JSONB NOT NULL,
    description TEXT,
    -- Ids of files; the first is the main photo.
    photos JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'maintenance', 'inactive')),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- A deleted boat keeps its row, because its sailings refer to it.
    deleted_at TIMESTAMPTZ,
    -- What a sailing refers to.
    UNIQUE (id, partner_id)
);
-- A registration number belongs to one boat; deleting the boat frees it.
CREATE UNIQUE INDEX speedboats_registration ON speedboats (upper(registration_number))
    WHERE deleted_at IS NULL;
-- A partner's boats.
CREATE INDEX speedboats_partner ON speedboats (partner_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX speedboats_newest ON speedboats (created_at, id) WHERE deleted_at IS NULL;

-- Where routes start and end.
CREATE TABLE harbours (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    aliases JSONB NOT NULL,
    city TEXT,
    province TEXT,
    timezone TEXT NOT NULL,
    latitude DOUBLE PRECISION CHECK (latitude BETWEEN -90 AND 90),
    longitude DOUBLE PRECISION CHECK (longitude BETWEEN -180 AND 180),
    status TEXT NOT NULL CHECK (status IN ('verified', 'unverified')),
    -- Keys of its names, city and province, for the search in the list.
    search_keys TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK ((latitude IS NULL) = (longitude IS NULL))
);

-- The names and aliases of harbours. A name belongs to one harbour, without regard to case, accents
-- and repeated spaces.
CREATE TABLE harbour_names (
    key TEXT PRIMARY KEY,
    harbour_id UUID NOT NULL REFERENCES harbours (id),
    name TEXT NOT NULL
);
CREATE INDEX harbour_names_harbour ON harbour_names (harbour_id);

-- Which of the service's own harbours were loaded, so that none comes back after it was deleted.
CREATE TABLE loaded_harbours (
    key TEXT PRIMARY KEY
);

-- What all routes of a partner between two harbours have in common.
CREATE TABLE lines (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    from_harbour_id UUID NOT NULL REFERENCES harbours (id),
    to_harbour_id UUID NOT NULL REFERENCES harbours (id),
    timezone TEXT NOT NULL,
    -- Whether resellers may sell it, and also as a ticket for any sailing of a day.
    resale BOOLEAN NOT NULL,
    day_ticket BOOLEAN NOT NULL,
    -- Whether resellers name one passenger or all of them.
    names TEXT NOT NULL CHECK (names IN ('lead', 'all')),
    max_party INTEGER NOT NULL CHECK (max_party BETWEEN 1 AND 50),
    -- NULL: the setting of the service. Copied to the sailings.
    cutoff_minutes INTEGER CHECK (cutoff_minutes >= 0),
    -- 1 to 12; the first one is the default of a passenger.
    fares JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (partner_id, from_harbour_id, to_harbour_id, timezone)
);
-- A partner's lines.
CREATE INDEX lines_partner ON lines (partner_id, created_at);
CREATE INDEX lines_newest ON lines (created_at, id);
-- The lines of a harbour.
CREATE INDEX lines_from_harbour ON lines (from_harbour_id);
CREATE INDEX lines_to_harbour ON lines (to_harbour_id);

CREATE TABLE routes (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    speedboat_id UUID NOT NULL REFERENCES speedboats (id),
    line_id UUID NOT NULL REFERENCES lines (id),
    -- As written by the partner.
    from_name TEXT NOT NULL,
    to_name TEXT NOT NULL,
    from_harbour_id UUID NOT NULL REFERENCES harbours (id),
    to_harbour_id UUID NOT NULL REFERENCES harbours (id),
    schedule_type TEXT NOT NULL CHECK (schedule_type IN ('once', 'daily', 'weekly')),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    price BIGINT NOT NULL CHECK (price > 0),
    -- The zones of its times of departure and of arrival.
    timezone TEXT NOT NULL,
    arrival_timezone TEXT NOT NULL,
    times JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    published_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK (from_harbour_id <> to_harbour_id),
    -- What a sailing refers to.
    UNIQUE (id, partner_id),
    UNIQUE (id, from_harbour_id, to_harbour_id)
);
-- The routes of a harbour.
CREATE INDEX routes_from_harbour ON routes (from_harbour_id);
CREATE INDEX routes_to_harbour ON routes (to_harbour_id);
-- A partner's routes.
CREATE INDEX routes_partner ON routes (partner_id, created_at);
CREATE INDEX routes_newest ON routes (created_at, id);
-- The routes of a boat: the list, and archiving them when the boat is removed.
CREATE INDEX routes_speedboat ON routes (speedboat_id);
-- The foreign key when a line is removed with its partner.
CREATE INDEX routes_line ON routes (line_id);
-- Public locations: published routes that have not ended.
CREATE INDEX routes_running ON routes (end_date) WHERE status = 'published';

-- Dated departures, which seats are sold on.
CREATE TABLE sailings (
    id UUID PRIMARY KEY,
    route_id UUID NOT NULL,
    line_id UUID NOT NULL REFERENCES lines (id),
    speedboat_id UUID NOT NULL,
    partner_id UUID NOT NULL,
    from_harbour_id UUID NOT NULL,
    to_harbour_id UUID NOT NULL,
    -- The day of departure in the time zone of the harbour.
    day DATE NOT NULL,
    departure_at TIMESTAMPTZ NOT NULL,
    arrival_at TIMESTAMPTZ NOT NULL CHECK (arrival_at > departure_at),
    duration_minutes INTEGER NOT NULL CHECK (duration_minutes > 0),
    price BIGINT NOT NULL CHECK (price > 0),
    capacity INTEGER NOT NULL,
    -- Seats of live bookings and of pending reschedules to this sailing; maintained by triggers.
    seats_taken INTEGER NOT NULL,
    -- Sold as a whole: no seats are sold, even if the boat's capacity grows. Maintained by triggers.
    chartered BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'cancelled', 'withdrawn')),
    -- From then on nobody can be added to the passengers.
    manifest_closed_at TIMESTAMPTZ,
    cancelled_at TIMESTAMPTZ,
    -- Why it was cancelled or moved.
    reason TEXT,
    -- Whether its seats are part of `sailing_days`: after its departure.
    tallied BOOLEAN NOT NULL DEFAULT FALSE,
    -- A copy of the line's, and when the sale ends by it. NULL: by the setting of the service.
    cutoff_minutes INTEGER,
    closes_at TIMESTAMPTZ GENERATED ALWAYS AS ((departure_at AT TIME ZONE 'UTC' - make_interval(mins => cutoff_minutes))
        AT TIME ZONE 'UTC') STORED,
    -- A sailing is never sold beyond its capacity. The sale reports this name as "sold out".
    CONSTRAINT sailings_seats CHECK (seats_taken BETWEEN 0 AND capacity),
    -- The harbours are those of the route. A merge of harbours changes the route, and its sailings
    -- follow.
    FOREIGN KEY (route_id, from_harbour_id, to_harbour_id)
        REFERENCES routes (id, from_harbour_id, to_harbour_id) ON UPDATE CASCADE,
    -- Route and boat are of one partner. The boat may be another than the route's.
    FOREIGN KEY (route_id, partner_id) REFERENCES routes (id, partner_id),
    FOREIGN KEY (speedboat_id, partner_id) REFERENCES speedboats (id, partner_id),
    -- A boat is in one place at a time: its open sailings do not overlap.
    CONSTRAINT sailings_one_place_at_a_time
        EXCLUDE USING gist (speedboat_id WITH =, tstzrange(departure_at, arrival_at) WITH &&)
        WHERE (status = 'open')
)
-- Every sale updates `seats_taken`. Free room on each page keeps the new version of the row on the
-- same page, and then no index is touched.
WITH (fillfactor = 80);
-- Search: one range of this index, whatever the size of the table.
CREATE INDEX sailings_search ON sailings (from_harbour_id, to_harbour_id, day, departure_at)
    WHERE status = 'open';
-- The next departures of all partners: the dashboard, and the job that tallies those that have departed.
CREATE INDEX sailings_upcoming ON sailings (departure_at) WHERE status = 'open' AND NOT tallied;
-- The sailings of a route.
CREATE INDEX sailings_route ON sailings (route_id, departure_at, id);
-- The sailings of a line by day, and the foreign key when a line is removed with its partner.
CREATE INDEX sailings_line ON sailings (line_id, day, departure_at);
-- A boat's calendar, and the list of its sailings.
CREATE INDEX sailings_boat ON sailings (speedboat_id, departure_at, id);
-- A partner's departures.
CREATE INDEX sailings_partner ON sailings (partner_id, departure_at) WHERE status = 'open';
-- The list of a partner's sailings, in any status.
CREATE INDEX sailings_partner_list ON sailings (partner_id, departure_at, id);
-- The list of all sailings, in any status. It has the columns of other filters and of the search, so
-- that no row is read for them.
CREATE INDEX sailings_list ON sailings (departure_at, id, day, status, route_id, speedboat_id);
-- The list of cancelled or withdrawn sailings, which are few.
CREATE INDEX sailings_called_off ON sailings (status, departure_at, id) WHERE status <> 'open';

-- Changes of open sailings, written by triggers, until a job adds them to `sailing_days` and deletes
-- them. A report reads both.
CREATE TABLE sailing_moves (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day DATE NOT NULL,
    departures BIGINT NOT NULL,
    tallied BIGINT NOT NULL,
    seats BIGINT NOT NULL,
    seats_taken BIGINT NOT NULL
);

-- Open sailings by day of departure, and the seats of those that are tallied.
CREATE TABLE sailing_days (
    day DATE PRIMARY KEY,
    departures BIGINT NOT NULL,
    tallied BIGINT NOT NULL,
    seats BIGINT NOT NULL,
    seats_taken BIGINT NOT NULL
);

-- What a change of many sailings sets on each of them. Rows exist only within its transaction.
CREATE TABLE sailing_changes (
    change_id UUID NOT NULL,
    sailing_id UUID NOT NULL,
    speedboat_id UUID NOT NULL,
    capacity INTEGER NOT NULL,
    departure_at TIMESTAMPTZ NOT NULL,
    arrival_at TIMESTAMPTZ NOT NULL,
    duration_minutes INTEGER NOT NULL,
    price BIGINT NOT NULL,
    PRIMARY KEY (change_id, sailing_id)
);

---------------------------------------------------------------------------------------------------
-- Contents
---------------------------------------------------------------------------------------------------

-- The call to become a partner: one row at most.
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

-- Terms and conditions, one row per version. A published version never changes (triggers).
CREATE TABLE terms (
    id UUID PRIMARY KEY,
    type TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    -- HTML, sanitised before it is stored.
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
-- Each type has one draft and one published version at most.
CREATE UNIQUE INDEX terms_draft ON terms (type) WHERE status = 'draft';
CREATE UNIQUE INDEX terms_published ON terms (type) WHERE status = 'published';

---------------------------------------------------------------------------------------------------
-- Taxes and promotions
---------------------------------------------------------------------------------------------------

CREATE TABLE taxes (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    rate INTEGER NOT NULL CHECK (rate BETWEEN 0 AND 10000),
    applies_to TEXT NOT NULL CHECK (applies_to IN ('booking', 'seats', 'charter', 'commission')),
    is_active BOOLEAN NOT NULL,
    -- The part of the price that is taxed, as a fraction: 11/12 taxes eleven twelfths of it.
    base_numerator INTEGER NOT NULL DEFAULT 1 CHECK (base_numerator > 0),
    base_denominator INTEGER NOT NULL DEFAULT 1 CHECK (base_denominator >= base_numerator),
    -- Since when it may have been charged; NULL: never. Bookings made since then may carry its code.
    active_since TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
-- Codes are unique without regard to case.
CREATE UNIQUE INDEX taxes_code ON taxes (upper(code));

CREATE TABLE promotions (
    id UUID PRIMARY KEY,
    title TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    -- NULL: no limit.
    quota INTEGER,
    -- Live bookings with the code; maintained by triggers.
    used INTEGER NOT NULL,
    -- NULL: no limit.
    per_customer_limit INTEGER,
    target_type TEXT NOT NULL CHECK (target_type IN ('all', 'mitra', 'speedboat', 'route')),
    target_ids JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'inactive')),
    tnc TEXT NOT NULL,
    discount_type TEXT NOT NULL CHECK (discount_type IN ('percentage', 'fixed')),
    -- Basis points or rupiah, depending on the type.
    discount_value BIGINT NOT NULL CHECK (discount_value > 0),
    max_amount BIGINT,
    min_purchase BIGINT,
    -- Who pays for the discount.
    funded_by TEXT NOT NULL DEFAULT 'platform' CHECK (funded_by IN ('platform', 'partner')),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    image_file_id UUID REFERENCES files (id),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- A code is never used beyond its quota. The sale reports this name as "exhausted".
    CONSTRAINT promotions_quota CHECK (used >= 0 AND (quota IS NULL OR used <= quota))
);
CREATE INDEX promotions_newest ON promotions (created_at, id);
-- Public promotions: active ones that have not ended.
CREATE INDEX promotions_running ON promotions (end_date) WHERE status = 'active';
-- The sweep of unused files: is this file an image of a promotion?
CREATE INDEX promotions_image ON promotions (image_file_id) WHERE image_file_id IS NOT NULL;

-- Live bookings with a code, per customer; maintained by triggers.
CREATE TABLE promotion_uses (
    promotion_id UUID NOT NULL REFERENCES promotions (id),
    email TEXT NOT NULL,
    used INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (promotion_id, email)
);

---------------------------------------------------------------------------------------------------
-- Resellers
---------------------------------------------------------------------------------------------------

-- Agencies that sell seats through the OCTO API, on account.
CREATE TABLE resellers (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL UNIQUE REFERENCES accounts (id),
    legal_name TEXT NOT NULL,
    npwp TEXT,
    -- Where changes of sailings are told to; NULL: the address of the account.
    ops_email TEXT,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    -- Why it was suspended.
    status_reason TEXT,
    credit_limit BIGINT NOT NULL CHECK (credit_limit >= 0),
    -- What it owes; negative: it has paid in advance. The sum of its lines of `reseller_receivable`;
    -- maintained by triggers.
    balance BIGINT NOT NULL DEFAULT 0,
    -- Payments and credits that no invoice has used up yet.
    unapplied BIGINT NOT NULL DEFAULT 0 CHECK (unapplied >= 0),
    invoice_schedule TEXT NOT NULL CHECK (invoice_schedule IN ('weekly', 'monthly')),
    terms_days INTEGER NOT NULL CHECK (terms_days BETWEEN 0 AND 365),
    -- The last day of the last period that the schedule has invoiced.
    invoiced_until DATE,
    -- Its unpaid bookings, counted by triggers, and the most of them.
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
    max_holds INTEGER NOT NULL CHECK (max_holds BETWEEN 0 AND 10000),
    rate_per_minute INTEGER NOT NULL CHECK (rate_per_minute BETWEEN 1 AND 60000),
    currency_precision INTEGER NOT NULL CHECK (currency_precision IN (0, 2)),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX resellers_newest ON resellers (created_at, id);

-- API keys. The key itself is shown once; its SHA-256 hash is kept.
CREATE TABLE reseller_keys (
    id UUID PRIMARY KEY,
    reseller_id UUID NOT NULL REFERENCES resellers (id),
    name TEXT NOT NULL,
    -- The first characters, by which people recognise it.
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    -- Words of `Scope`.
    scopes JSONB NOT NULL,
    -- The only partner that it is for; NULL: all that are granted.
    partner_id UUID REFERENCES partners (id),
    -- Networks that it may be used from, in CIDR notation; empty: all.
    addresses JSONB NOT NULL,
    expires_at TIMESTAMPTZ,
    -- Written once a minute at most.
    last_used_at TIMESTAMPTZ,
    last_used_address TEXT,
    revoked_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX reseller_keys_reseller ON reseller_keys (reseller_id, created_at);

-- The partners that a reseller may sell, and for how much.
CREATE TABLE reseller_grants (
    id UUID PRIMARY KEY,
    reseller_id UUID NOT NULL REFERENCES resellers (id),
    -- NULL: every partner that has no grant of its own.
    partner_id UUID REFERENCES partners (id),
    -- Basis points of the fare.
    margin_rate INTEGER NOT NULL CHECK (margin_rate BETWEEN 0 AND 10000),
    -- Agreed net fares: line, key of the fare, and price.
    net_fares JSONB NOT NULL,
    -- Like the setting; NULL: the setting.
    refund_policy JSONB,
    -- The margin may be higher than the partner's commission.
    allow_loss BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (reseller_id, partner_id)
);
-- There is one grant for all others; UNIQUE alone would allow any number of NULLs.
CREATE UNIQUE INDEX reseller_grants_all ON reseller_grants (reseller_id) WHERE partner_id IS NULL;

---------------------------------------------------------------------------------------------------
-- Bookings
---------------------------------------------------------------------------------------------------

CREATE TABLE bookings (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL CHECK (type IN ('speedboat', 'charter')),
    -- Pending, paid and completed bookings are live: they hold seats (triggers).
    status TEXT NOT NULL CHECK (status IN ('pending_payment', 'paid', 'completed', 'expired',
        'cancelled', 'refund_pending', 'refunded')),
    channel TEXT NOT NULL CHECK (channel IN ('web', 'staff', 'mitra', 'reseller')),
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    speedboat_id UUID NOT NULL,
    partner_id UUID NOT NULL REFERENCES partners (id),
    -- Copied from the sailing, for the lists and jobs that filter by it.
    departure_at TIMESTAMPTZ NOT NULL,
    arrival_at TIMESTAMPTZ NOT NULL,
    qty INTEGER NOT NULL CHECK (qty > 0),
    -- What it takes of the sailing: a charter takes all seats; an infant may take none.
    seats INTEGER NOT NULL CHECK (seats > 0 AND (type <> 'charter' OR seats >= qty)),
    promotion_id UUID REFERENCES promotions (id),
    code_promo TEXT,
    note TEXT NOT NULL,
    contact_name TEXT NOT NULL,
    contact_email TEXT NOT NULL,
    contact_phone TEXT NOT NULL,
    -- The partner has replaced the e-mail address, so whoever reads it names no account for refunds.
    contact_by_partner BOOLEAN NOT NULL DEFAULT FALSE,
    lang TEXT NOT NULL,
    -- Identity numbers in it are encrypted. Each has the fare that it was sold for.
    passengers JSONB NOT NULL,
    -- Those who were cancelled while the rest travels: name, ticket and fare of each.
    cancelled_passengers JSONB NOT NULL DEFAULT '[]',
    accepted_terms BOOLEAN NOT NULL,
    -- Payment provider; NULL where nothing has to be paid.
    provider TEXT,
    -- The price of the sailing, which the fares are computed from.
    unit_price BIGINT NOT NULL,
    -- The subtotal by fare. A charter has none.
    fare_lines JSONB NOT NULL DEFAULT '[]',
    subtotal BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    taxes JSONB NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    commission_rate INTEGER NOT NULL,
    commission BIGINT NOT NULL,
    -- The taxes on the commission, like `taxes`.
    commission_taxes JSONB NOT NULL,
    commission_tax BIGINT NOT NULL,
    -- The part of the discount that the partner pays for.
    partner_discount BIGINT NOT NULL DEFAULT 0,
    partner_net BIGINT NOT NULL,
    -- Until when unpaid seats are held.
    expires_at TIMESTAMPTZ NOT NULL,
    paid_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    cancelled_at TIMESTAMPTZ,
    cancel_reason TEXT,
    -- What the cancellation owes to the customer, and when all of it was paid back. `refunds` has the
    -- rows.
    refund_amount BIGINT,
    refunded_at TIMESTAMPTZ,
    -- Whether a refund is not paid yet; maintained by triggers.
    refund_due BOOLEAN NOT NULL DEFAULT FALSE,
    -- Where the customer wants refunds that no provider can send: bank code, account number and name,
    -- encrypted.
    refund_account TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    -- The version of the terms that the customer accepted.
    accepted_terms_id UUID REFERENCES terms (id),
    -- When each passenger boarded, by passenger id: a copy of `boardings`.
    boarded JSONB NOT NULL DEFAULT '{}',
    -- Cancelled together with its sailing: the customer may move to another one instead of taking
    -- the money.
    called_off BOOLEAN NOT NULL DEFAULT FALSE,
    -- The departure that it was sold with, if the sailing was moved since.
    promised_at TIMESTAMPTZ,
    -- The reschedule that brought it to its present sailing. It starts a new segment in the ledger
    -- and in what the partner is owed. References `reschedules`, see below.
    reschedule_id UUID,
    -- The highest percentage that a cancellation gives back; NULL: as the refund policy says.
    refund_cap INTEGER,
    -- What an unpaid booking is counted under in `unpaid_holds`. NULL: no limit applies to it, or it
    -- is no longer unpaid.
    held_email TEXT,
    held_network TEXT,
    -- When contact, passengers and free texts were replaced by placeholders. Nobody can write a
    -- contact into the booking afterwards.
    erased_at TIMESTAMPTZ,
    -- Of a reseller: who sold it, its id and its reference there, and what the platform leaves to it.
    reseller_id UUID REFERENCES resellers (id),
    octo_uuid UUID,
    reseller_reference TEXT,
    margin BIGINT NOT NULL DEFAULT 0,
    -- Sold as a ticket for any sailing of its day.
    day_ticket BOOLEAN NOT NULL DEFAULT FALSE,
    -- The reseller wants tickets to be mailed to the traveller.
    email_receipt BOOLEAN NOT NULL DEFAULT FALSE,
    -- The contact as the reseller sent it. Our own columns are normalised, and may be empty.
    octo_contact JSONB,
    -- A hash of the request that made it, by which a repetition is recognised.
    request_digest TEXT,
    CONSTRAINT bookings_octo_uuid UNIQUE (reseller_id, octo_uuid),
    CONSTRAINT bookings_reseller CHECK ((channel = 'reseller') = (reseller_id IS NOT NULL)
        AND (channel = 'reseller') = (octo_uuid IS NOT NULL)
        AND (channel = 'reseller' OR (margin = 0 AND NOT day_ticket AND NOT email_receipt))),
    CONSTRAINT bookings_erased CHECK (erased_at IS NULL OR (contact_name = '[erased]'
        AND contact_phone = '' AND note = '' AND held_email IS NULL AND held_network IS NULL
        AND refund_account IS NULL AND octo_contact IS NULL)),
    -- The parts of a price add up.
    CONSTRAINT bookings_price CHECK (discount BETWEEN 0 AND subtotal AND tax >= 0
        AND margin BETWEEN 0 AND subtotal - discount
        AND total = subtotal - discount - margin + tax
        AND partner_discount BETWEEN 0 AND discount
        AND partner_net = subtotal - partner_discount - commission - commission_tax)
);
-- The list of bookings, see `src/bookings/store/list.rs`. Each index has all columns that other
-- filters check, so that no row is read for them.
CREATE INDEX bookings_newest ON bookings (created_at, id) INCLUDE (status, type, channel, qty,
    partner_id, speedboat_id, departure_at, total, refund_due);
CREATE INDEX bookings_departure ON bookings (departure_at, id) INCLUDE (status, type, channel, qty,
    partner_id, speedboat_id, total, created_at, refund_due);
CREATE INDEX bookings_total ON bookings (total, id) INCLUDE (status, type, channel, qty, partner_id,
    speedboat_id, departure_at, created_at, refund_due);
CREATE INDEX bookings_status ON bookings (status, created_at, id) INCLUDE (type, channel, qty,
    partner_id, speedboat_id, departure_at, total, refund_due);
CREATE INDEX bookings_status_departure ON bookings (status, departure_at, id) INCLUDE (type,
    channel, qty, partner_id, speedboat_id, total, created_at, refund_due);
CREATE INDEX bookings_partner ON bookings (partner_id, created_at, id) INCLUDE (status, type,
    channel, qty, speedboat_id, departure_at, total, refund_due);
CREATE INDEX bookings_boat ON bookings (speedboat_id, created_at, id) INCLUDE (status, type,
    channel, qty, partner_id, departure_at, total, refund_due);
-- Few bookings are in these.
CREATE INDEX bookings_charter ON bookings (created_at, id) INCLUDE (status, type, channel, qty,
    partner_id, speedboat_id, departure_at, total, refund_due) WHERE type = 'charter';
CREATE INDEX bookings_channel ON bookings (channel, created_at, id) INCLUDE (status, type, qty,
    partner_id, speedboat_id, departure_at, total, refund_due) WHERE channel <> 'web';
CREATE INDEX bookings_qty ON bookings (qty, created_at, id) INCLUDE (status, type, channel,
    partner_id, speedboat_id, departure_at, total, refund_due) WHERE qty >= 5;
CREATE INDEX bookings_refund_due ON bookings (created_at, id) INCLUDE (status, type, channel, qty,
    partner_id, speedboat_id, departure_at, total, refund_due) WHERE refund_due;
CREATE INDEX bookings_code_promo ON bookings (code_promo, created_at, id) INCLUDE (status, type,
    channel, qty, partner_id, speedboat_id, departure_at, total, refund_due) WHERE code_promo IS NOT
    NULL;
-- Notes are too long for an index.
CREATE INDEX bookings_note ON bookings (substr(note, 1, 100), created_at, id) WHERE note <> '';
-- A reseller's bookings: the list, by day of travel, and by its own reference.
CREATE INDEX bookings_reseller ON bookings (reseller_id, created_at, id) INCLUDE (status, type,
    channel, qty, partner_id, speedboat_id, departure_at, total, refund_due)
    WHERE reseller_id IS NOT NULL;
CREATE INDEX bookings_reseller_departure ON bookings (reseller_id, departure_at)
    WHERE reseller_id IS NOT NULL;
CREATE INDEX bookings_reseller_reference ON bookings (reseller_id, reseller_reference)
    WHERE reseller_reference IS NOT NULL;
-- Manifest, and cancelling or moving a sailing with its bookings.
CREATE INDEX bookings_sailing ON bookings (sailing_id);
-- A customer's bookings.
CREATE INDEX bookings_email ON bookings (contact_email, created_at);
-- A promotion that was used cannot be removed: the foreign key looks for its bookings here.
CREATE INDEX bookings_promotion ON bookings (promotion_id) WHERE promotion_id IS NOT NULL;
-- Jobs: holds to expire, sailed trips to complete.
CREATE INDEX bookings_holds ON bookings (expires_at) WHERE status = 'pending_payment';
CREATE INDEX bookings_sailed ON bookings (arrival_at) WHERE status = 'paid';
-- A partner's pending bookings, which `partner_standings` does not count.
CREATE INDEX bookings_pending ON bookings (partner_id) WHERE status = 'pending_payment';
-- The job that erases personal data: bookings by when they were over. One that never sailed was over
-- when it expired or was cancelled.
CREATE INDEX bookings_retention ON bookings ((CASE WHEN status = 'expired' THEN expires_at
        WHEN cancelled_at IS NOT NULL AND completed_at IS NULL THEN cancelled_at
        ELSE arrival_at END)) WHERE erased_at IS NULL;

-- What the list of bookings searches, in lower case: code, contact and passengers; maintained by
-- triggers.
CREATE TABLE booking_search (
    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    booking_id UUID NOT NULL UNIQUE,
    text TEXT NOT NULL
);
CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- A short list of pending entries: every search reads all of it.
CREATE INDEX booking_search_trigrams ON booking_search USING gin (text gin_trgm_ops)
    WITH (gin_pending_list_limit = 2048);
-- As SQLite's index, for the same statements. PostgreSQL indexes every text at once.
CREATE VIEW booking_search_index AS SELECT number AS rowid, text FROM booking_search;
CREATE TABLE booking_search_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    indexed_to BIGINT NOT NULL
);
INSERT INTO booking_search_state (id, indexed_to) VALUES (1, 9223372036854775807);

-- Unpaid bookings of guests, per contact e-mail and client network; maintained by triggers inside
-- the statement that sells, so two sales at once cannot both be the last one that is allowed.
CREATE TABLE unpaid_holds (
    -- 'charter' counts the charters of a network; 'network' counts them as well.
    kind TEXT NOT NULL CHECK (kind IN ('email', 'network', 'charter')),
    subject TEXT NOT NULL,
    held INTEGER NOT NULL CHECK (held >= 0),
    PRIMARY KEY (kind, subject),
    -- The limits. The sale reports these names as "too many unpaid bookings".
    CONSTRAINT unpaid_holds_email CHECK (kind <> 'email' OR held <= 5),
    CONSTRAINT unpaid_holds_network CHECK (kind <> 'network' OR held <= 10),
    CONSTRAINT unpaid_holds_charter CHECK (kind <> 'charter' OR held <= 2)
);

-- When somebody last asked for the bookings of an address by mail: at most three times an hour. The
-- address is its keyed hash.
CREATE TABLE booking_lookups (
    address TEXT PRIMARY KEY,
    latest_at TIMESTAMPTZ NOT NULL,
    second_at TIMESTAMPTZ,
    third_at TIMESTAMPTZ
);
-- The sweep.
CREATE INDEX booking_lookups_latest ON booking_lookups (latest_at);

-- Moves of a booking to another sailing.
CREATE TABLE reschedules (
    id UUID PRIMARY KEY,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    from_sailing_id UUID NOT NULL REFERENCES sailings (id),
    to_sailing_id UUID NOT NULL REFERENCES sailings (id),
    -- Pending: the difference has to be paid first, and seats are held on both sailings (triggers).
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'dropped')),
    -- What it takes of the other sailing.
    type TEXT NOT NULL CHECK (type IN ('speedboat', 'charter')),
    seats INTEGER NOT NULL CHECK (seats > 0),
    reason TEXT NOT NULL,
    -- NULL: the customer.
    requested_by UUID REFERENCES accounts (id),
    -- The price before and after.
    was JSONB NOT NULL,
    becomes JSONB NOT NULL,
    fee BIGINT NOT NULL CHECK (fee >= 0),
    -- What the customer has to pay or (negative) is owed; `refunds` has a row for the latter.
    difference BIGINT NOT NULL,
    -- The departure of the other sailing when the move was requested.
    departure_at TIMESTAMPTZ NOT NULL,
    -- The booking's `refund_cap` after the move.
    refund_cap INTEGER CHECK (refund_cap BETWEEN 0 AND 100),
    -- Until when the difference can be paid.
    expires_at TIMESTAMPTZ NOT NULL,
    done_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((status = 'done') = (done_at IS NOT NULL)),
    -- Only a move that costs something waits.
    CHECK (difference > 0 OR status <> 'pending')
);
-- A booking has one pending move at most.
CREATE UNIQUE INDEX reschedules_pending ON reschedules (booking_id) WHERE status = 'pending';
-- The moves of a booking.
CREATE INDEX reschedules_booking ON reschedules (booking_id);
-- Dropping the pending moves to a sailing that is cancelled or closed.
CREATE INDEX reschedules_held ON reschedules (to_sailing_id) WHERE status = 'pending';
-- The job that drops unpaid moves.
CREATE INDEX reschedules_due ON reschedules (expires_at) WHERE status = 'pending';

-- The two tables refer to each other, so one of the references is added afterwards.
ALTER TABLE bookings ADD FOREIGN KEY (reschedule_id) REFERENCES reschedules (id);

-- Passengers who were cancelled while the rest of their booking travels. The amounts are their share of
-- the price; the booking has the rest.
CREATE TABLE passenger_cancellations (
    id UUID PRIMARY KEY,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    -- The sailing of the booking at the time.
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    passenger_ids JSONB NOT NULL,
    qty INTEGER NOT NULL CHECK (qty > 0),
    seats INTEGER NOT NULL CHECK (seats BETWEEN 0 AND qty),
    -- How many passengers travel on. It falls with every row of a booking.
    qty_left INTEGER NOT NULL CHECK (qty_left > 0),
    subtotal BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    taxes JSONB NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    commission_taxes JSONB NOT NULL,
    commission_tax BIGINT NOT NULL,
    partner_discount BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    -- What of the total is paid back.
    refund BIGINT NOT NULL,
    -- What the rest was first sold for, from which later reschedules compute; NULL: the booking had not
    -- been rescheduled.
    sold JSONB,
    reason TEXT NOT NULL,
    -- NULL: the customer.
    cancelled_by UUID REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    CHECK (discount BETWEEN 0 AND subtotal AND tax >= 0 AND total = subtotal - discount + tax
        AND partner_discount BETWEEN 0 AND discount AND refund BETWEEN 0 AND total
        AND partner_net = subtotal - partner_discount - commission - commission_tax)
);
CREATE UNIQUE INDEX passenger_cancellations_booking
    ON passenger_cancellations (booking_id, qty_left);

---------------------------------------------------------------------------------------------------
-- Payments
---------------------------------------------------------------------------------------------------

-- One row per attempt to pay.
CREATE TABLE payments (
    id UUID PRIMARY KEY,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    attempt INTEGER NOT NULL,
    provider TEXT NOT NULL CHECK (provider IN ('simulator', 'midtrans', 'xendit', 'cash', 'account')),
    -- Our name for it at the provider.
    reference TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'refunded')),
    amount BIGINT NOT NULL,
    method TEXT CHECK (method IN ('qris', 'bank_transfer', 'credit_card', 'ewallet', 'retail',
        'cash', 'account', 'other')),
    redirect_url TEXT,
    -- The provider's own id of the payment, by which it is refunded.
    transaction_id TEXT,
    -- What the provider said of the payment that decides whether and until when it can be refunded:
    -- its kind of payment, issuer, acquirer, further ids.
    channel JSONB,
    -- Until then one request may open the payment at the provider; others wait.
    leased_until TIMESTAMPTZ NOT NULL,
    paid_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    -- Set if it pays the difference of a reschedule instead of the booking.
    reschedule_id UUID REFERENCES reschedules (id),
    -- What came in through the provider according to the ledger, and what the provider has settled of
    -- it; maintained by triggers. In the reconciliation it counts on the day and by the method of its
    -- first receipt, which are NULL until then.
    received BIGINT NOT NULL DEFAULT 0,
    received_on DATE,
    received_by TEXT CHECK ((received_by IS NULL) = (received_on IS NULL)),
    settled BIGINT NOT NULL DEFAULT 0,
    -- Of two requests for another attempt, one wins.
    UNIQUE (booking_id, attempt)
);
-- The payments of a reschedule.
CREATE INDEX payments_reschedule ON payments (reschedule_id) WHERE reschedule_id IS NOT NULL;
-- The callback of a refund names the payment by one of the provider's ids.
CREATE INDEX payments_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX payments_channel_payment ON payments ((channel ->> 'payment_id'))
    WHERE channel IS NOT NULL;
CREATE INDEX payments_channel_request ON payments ((channel ->> 'payment_request_id'))
    WHERE channel IS NOT NULL;

-- Notifications of payment providers. `raw` is unchanged until the booking's personal data is erased;
-- the rest is kept for good.
CREATE TABLE payment_events (
    id UUID PRIMARY KEY,
    payment_id UUID NOT NULL REFERENCES payments (id),
    provider TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    status TEXT NOT NULL,
    amount BIGINT NOT NULL,
    method TEXT NOT NULL,
    -- As that of the payment. NULL: it does not pay at once.
    channel JSONB,
    raw JSONB NOT NULL,
    -- What we did about it.
    outcome TEXT NOT NULL,
    received_at TIMESTAMPTZ NOT NULL,
    -- Providers repeat notifications; a repetition is recognised by these columns.
    UNIQUE (payment_id, transaction_id, status, amount)
);
-- The events of a payment. The unique constraint above would serve them as well.
CREATE INDEX payment_events_payment ON payment_events (payment_id);

-- Money that could not be applied without a decision by staff.
CREATE TABLE payment_reviews (
    id UUID PRIMARY KEY,
    event_id UUID NOT NULL REFERENCES payment_events (id),
    payment_id UUID NOT NULL REFERENCES payments (id),
    booking_id UUID NOT NULL REFERENCES bookings (id),
    reason TEXT NOT NULL CHECK (reason IN ('wrong_amount', 'late', 'duplicate',
        'unowed_refund', 'chargeback')),
    amount BIGINT NOT NULL,
    expected BIGINT NOT NULL,
    -- What was paid above the total and applied; `refunds` has a row for it.
    excess BIGINT NOT NULL DEFAULT 0,
    -- NULL: open.
    resolution TEXT CHECK (resolution IN ('apply', 'refund', 'dismiss', 'charge_partner', 'write_off',
        'match')),
    note TEXT,
    resolved_by UUID REFERENCES accounts (id),
    resolved_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
-- Open reviews.
CREATE INDEX payment_reviews_open ON payment_reviews (created_at) WHERE resolution IS NULL;
-- The reviews of a booking.
CREATE INDEX payment_reviews_booking ON payment_reviews (booking_id);
CREATE INDEX payment_reviews_newest ON payment_reviews (created_at, id);
-- The list, filtered by reason.
CREATE INDEX payment_reviews_reason ON payment_reviews (reason, created_at, id, resolution);

---------------------------------------------------------------------------------------------------
-- Refunds and transfers
---------------------------------------------------------------------------------------------------

-- What customers are owed, one row per cause. The posting of the cause credits `refund_payable`; each
-- row of `refund_payments` debits it.
CREATE TABLE refunds (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    partner_id UUID NOT NULL REFERENCES partners (id),
    kind TEXT NOT NULL CHECK (kind IN ('cancellation', 'excess', 'difference', 'duplicate', 'late',
        'complaint')),
    amount BIGINT NOT NULL CHECK (amount > 0),
    -- What is still owed. A provider may pay in parts.
    unpaid BIGINT NOT NULL CHECK (unpaid BETWEEN 0 AND amount),
    -- The booking tax in the amount, which the state no longer gets. 0 where the price itself changed.
    tax BIGINT NOT NULL DEFAULT 0 CHECK (tax BETWEEN 0 AND amount),
    -- Due, failed (the provider refused it) and returned (the transfer bounced) wait to be paid; sent
    -- is on its way; void is no longer owed, because the customer took another sailing instead.
    status TEXT NOT NULL CHECK (status IN ('due', 'sent', 'paid', 'failed', 'returned', 'void')),
    -- How it was paid last, or how it is being sent.
    paid_by TEXT CHECK (paid_by IN ('provider', 'bank', 'cash', 'partner', 'account')),
    reference TEXT,
    note TEXT,
    -- The cause: the reschedule or the review, or some passengers who were cancelled.
    reschedule_id UUID REFERENCES reschedules (id),
    review_id UUID REFERENCES payment_reviews (id),
    cancellation_id UUID REFERENCES passenger_cancellations (id),
    -- When it may be sent automatically; NULL: a person has to decide.
    send_at TIMESTAMPTZ,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    due_at TIMESTAMPTZ NOT NULL,
    paid_at TIMESTAMPTZ,
    -- The codes of the booking and of the refund in lower case, for the search; written by a trigger.
    codes TEXT NOT NULL DEFAULT '',
    CHECK ((status IN ('paid', 'void')) = (unpaid = 0)),
    CHECK ((status = 'paid') = (paid_at IS NOT NULL))
);
-- The list, alone or filtered by one column. Each index has the columns of the other filters and of
-- the search, so that no row is read for them.
CREATE INDEX refunds_newest ON refunds (due_at, id, codes);
CREATE INDEX refunds_status ON refunds (status, due_at, id, kind, paid_by, codes);
CREATE INDEX refunds_kind ON refunds (kind, due_at, id, status, paid_by, codes);
CREATE INDEX refunds_by ON refunds (paid_by, due_at, id, status, kind, codes)
    WHERE paid_by IS NOT NULL;
-- Codes that few refunds contain.
CREATE INDEX refunds_search ON refunds USING gin (codes gin_trgm_ops)
    WITH (gin_pending_list_limit = 2048);
CREATE INDEX refunds_booking ON refunds (booking_id);
CREATE INDEX refunds_partner ON refunds (partner_id, due_at, id);
CREATE INDEX refunds_review ON refunds (review_id) WHERE review_id IS NOT NULL;
-- What is owed, of one partner or of all. `unpaid` is part of it, so that the sum reads the index alone.
CREATE INDEX refunds_unpaid ON refunds (partner_id, unpaid) WHERE unpaid > 0;
-- The job that sends refunds.
CREATE INDEX refunds_to_send ON refunds (send_at) WHERE send_at IS NOT NULL;

-- Calls of a provider that move money: a refund of a payment, or a payout of a settlement. The row is
-- committed before the provider is called, and its id is the key by which the provider recognises a
-- repetition. A new key is a new row, made only after a final failure.
CREATE TABLE transfers (
    id UUID PRIMARY KEY,
    refund_id UUID REFERENCES refunds (id),
    -- References `settlements`, see below.
    settlement_id UUID,
    -- The payment that is refunded, and the provider's own id of it.
    payment_id UUID REFERENCES payments (id),
    transaction_id TEXT,
    provider TEXT NOT NULL CHECK (provider IN ('simulator', 'midtrans', 'xendit')),
    amount BIGINT NOT NULL CHECK (amount > 0),
    -- Sent: the outcome of the call is unknown. Accepted: the provider works on it. Confirmed and
    -- failed are final, except that a confirmed transfer can be reversed.
    status TEXT NOT NULL
        CHECK (status IN ('created', 'sent', 'accepted', 'confirmed', 'failed', 'reversed')),
    -- Where a payout goes: bank code, account number and name, encrypted. Removed when it is finished.
    account TEXT,
    -- The provider's own id.
    provider_id TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- When the job calls or asks next; NULL: never. A process that works on it sets it to the end of
    -- its lease.
    next_at TIMESTAMPTZ,
    -- When the provider was first called without saying that it did nothing, and when it accepted.
    sent_at TIMESTAMPTZ,
    accepted_at TIMESTAMPTZ,
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    CHECK ((refund_id IS NULL) <> (settlement_id IS NULL)),
    CHECK ((refund_id IS NULL) = (payment_id IS NULL))
);
-- One is on its way at a time.
CREATE UNIQUE INDEX transfers_refund_once ON transfers (refund_id)
    WHERE refund_id IS NOT NULL AND status IN ('created', 'sent', 'accepted');
CREATE UNIQUE INDEX transfers_settlement_once ON transfers (settlement_id)
    WHERE settlement_id IS NOT NULL AND status IN ('created', 'sent', 'accepted');
CREATE INDEX transfers_refund ON transfers (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX transfers_settlement ON transfers (settlement_id) WHERE settlement_id IS NOT NULL;
CREATE INDEX transfers_due ON transfers (next_at) WHERE next_at IS NOT NULL;
-- What is on its way for a payment cannot be refunded again.
CREATE INDEX transfers_payment ON transfers (payment_id) WHERE payment_id IS NOT NULL;
-- The callback of a payout names the provider's id.
CREATE INDEX transfers_provider_id ON transfers (provider_id) WHERE provider_id IS NOT NULL;

-- Refunds and chargebacks that a provider has told, each once: by the provider's id of it, or by the
-- cumulative amount if it has none. Voided: the payment itself was taken back.
CREATE TABLE told_refunds (
    id UUID PRIMARY KEY,
    payment_id UUID NOT NULL REFERENCES payments (id),
    -- The provider's id of what was refunded; cumulative amounts are of one transaction.
    transaction_id TEXT NOT NULL,
    told_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('refund', 'chargeback', 'voided')),
    amount BIGINT NOT NULL CHECK (amount > 0),
    -- The part that no refund was owed for; it waits in `suspense`.
    unmatched BIGINT NOT NULL CHECK (unmatched BETWEEN 0 AND amount),
    event_id UUID REFERENCES payment_events (id),
    -- The review of what is unmatched.
    review_id UUID REFERENCES payment_reviews (id),
    told_at TIMESTAMPTZ NOT NULL,
    UNIQUE (payment_id, told_key)
);
CREATE INDEX told_refunds_review ON told_refunds (review_id) WHERE review_id IS NOT NULL;

-- Money that went to a customer, or came back because the transfer bounced.
CREATE TABLE refund_payments (
    id UUID PRIMARY KEY,
    refund_id UUID NOT NULL REFERENCES refunds (id),
    amount BIGINT NOT NULL CHECK (amount > 0),
    -- Its part of the refund's tax.
    tax BIGINT NOT NULL DEFAULT 0 CHECK (tax BETWEEN 0 AND amount),
    paid_by TEXT NOT NULL CHECK (paid_by IN ('provider', 'bank', 'cash', 'partner', 'account')),
    reference TEXT,
    transfer_id UUID REFERENCES transfers (id),
    told_id UUID REFERENCES told_refunds (id),
    -- NULL: a provider.
    recorded_by UUID REFERENCES accounts (id),
    paid_at TIMESTAMPTZ NOT NULL,
    returned_at TIMESTAMPTZ,
    return_reason TEXT
);
CREATE INDEX refund_payments_refund ON refund_payments (refund_id);
CREATE INDEX refund_payments_told ON refund_payments (told_id) WHERE told_id IS NOT NULL;

---------------------------------------------------------------------------------------------------
-- Boarding
---------------------------------------------------------------------------------------------------

-- Check-ins, and check-ins that were undone.
CREATE TABLE boardings (
    id UUID PRIMARY KEY,
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    booking_id UUID NOT NULL REFERENCES bookings (id),
    passenger_id UUID NOT NULL,
    -- The scanning device's id for the scan: uploading it again changes nothing.
    scan_id TEXT,
    -- When the ticket was scanned, and when the scan reached us.
    boarded_at TIMESTAMPTZ NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    recorded_by UUID NOT NULL REFERENCES accounts (id),
    undone_at TIMESTAMPTZ,
    undone_by UUID REFERENCES accounts (id),
    CHECK ((undone_at IS NULL) = (undone_by IS NULL))
);
-- A passenger boards once.
CREATE UNIQUE INDEX boardings_once ON boardings (sailing_id, passenger_id) WHERE undone_at IS NULL;
-- A scan counts once.
CREATE UNIQUE INDEX boardings_scan ON boardings (sailing_id, scan_id) WHERE scan_id IS NOT NULL;

-- Scans that let nobody on board: uploaded again they get the same outcome.
CREATE TABLE refused_scans (
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    scan_id TEXT NOT NULL,
    -- Hash of the scanned code.
    digest TEXT NOT NULL,
    outcome TEXT NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (sailing_id, scan_id)
);

-- The closed passenger list of a sailing, as handed to the harbour master. Encrypted: it holds
-- identity numbers.
CREATE TABLE manifests (
    sailing_id UUID PRIMARY KEY REFERENCES sailings (id),
    content TEXT NOT NULL,
    closed_by UUID NOT NULL REFERENCES accounts (id),
    closed_at TIMESTAMPTZ NOT NULL
);

---------------------------------------------------------------------------------------------------
-- Ledger and settlements
---------------------------------------------------------------------------------------------------

-- Double entry, append-only (triggers). Debits are positive; the lines of one posting sum to zero.
CREATE TABLE ledger_lines (
    id UUID PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('booking', 'payment', 'review', 'settlement', 'reschedule',
        'cancellation', 'refund', 'receipt', 'provider_settlement', 'tax_payment', 'cash_deposit', 'journal',
        'reseller_payment')),
    source_id UUID NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL CHECK (account IN ('gateway_clearing', 'customer_deposits',
        'unapplied_payments', 'refund_payable', 'partner_payable', 'commission_revenue',
        'promotion_expense', 'tax_payable', 'bank', 'cash', 'gateway_fees', 'vat_input', 'suspense',
        'losses', 'prepaid_pph23', 'bank_fees', 'equity', 'reseller_receivable', 'reseller_margin')),
    partner_id UUID REFERENCES partners (id),
    reseller_id UUID REFERENCES resellers (id),
    booking_id UUID REFERENCES bookings (id),
    -- The tax that a line of `tax_payable` belongs to.
    tax_code TEXT,
    amount BIGINT NOT NULL CHECK (amount <> 0),
    -- The day in the books, in the zone of the service.
    posted_on DATE NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- partner_payable is kept per partner, the other accounts are not.
    CHECK ((partner_id IS NOT NULL) = (account = 'partner_payable')),
    CHECK ((reseller_id IS NOT NULL) = (account = 'reseller_receivable')),
    CHECK ((tax_code IS NOT NULL) = (account = 'tax_payable'))
);
-- No repetition can post twice.
CREATE UNIQUE INDEX ledger_lines_once
    ON ledger_lines (source, source_id, kind, account, (COALESCE(tax_code, '')));
-- The postings of a booking: what was collected and what is due.
CREATE INDEX ledger_lines_booking ON ledger_lines (booking_id) WHERE booking_id IS NOT NULL;
-- Statements of a partner's account. `amount` is part of it, so that sums read the index alone.
CREATE INDEX ledger_lines_partner ON ledger_lines (partner_id, posted_on, id, amount)
    WHERE partner_id IS NOT NULL;
-- Statements and invoices of a reseller.
CREATE INDEX ledger_lines_reseller ON ledger_lines (reseller_id, posted_on, id, amount)
    WHERE reseller_id IS NOT NULL;
-- The journal of a period, alone or with one of its filters. Sums of a period are in `ledger_days`.
CREATE INDEX ledger_lines_posted ON ledger_lines (posted_on, id);
CREATE INDEX ledger_lines_account ON ledger_lines (account, posted_on, id, source);
CREATE INDEX ledger_lines_source ON ledger_lines (source, posted_on, id, account);

-- New lines, written by a trigger, until a job adds them to `ledger_days` and deletes them. A report
-- reads both.
CREATE TABLE ledger_moves (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    posted_on DATE NOT NULL,
    account TEXT NOT NULL,
    -- Empty if the line has none.
    tax_code TEXT NOT NULL,
    debit BIGINT NOT NULL,
    credit BIGINT NOT NULL
);

-- The ledger by day, account and tax: a trial balance reads days and not lines.
CREATE TABLE ledger_days (
    account TEXT NOT NULL,
    tax_code TEXT NOT NULL,
    posted_on DATE NOT NULL,
    debit BIGINT NOT NULL,
    credit BIGINT NOT NULL,
    PRIMARY KEY (account, tax_code, posted_on)
);

-- Lines of the ledger with money that customers paid through a provider or (negative) whose payment was
-- voided, and the payment of each. A review that applies money to a reschedule takes it off again,
-- because the posting of the reschedule has it.
CREATE VIEW receipts AS
SELECT l.id AS line_id, y.id AS payment_id, COALESCE(y.method, 'other') AS method, l.posted_on,
    l.amount
FROM ledger_lines l JOIN payments y ON y.booking_id = l.booking_id AND y.reschedule_id IS NULL
    AND y.status IN ('paid', 'refunded')
WHERE l.account = 'gateway_clearing' AND l.source = 'booking'
    AND l.kind IN ('paid', 'late_payment')
UNION ALL
SELECT l.id, y.id, COALESCE(y.method, 'other'), l.posted_on, l.amount
FROM ledger_lines l JOIN payments y ON y.reschedule_id = l.source_id
    AND y.status IN ('paid', 'refunded')
WHERE l.account = 'gateway_clearing' AND l.source = 'reschedule' AND l.kind = 'rescheduled'
UNION ALL
SELECT l.id, e.payment_id, e.method, l.posted_on, l.amount
FROM ledger_lines l JOIN payment_events e ON e.id = l.source_id
WHERE l.account = 'gateway_clearing' AND l.source = 'payment' AND l.kind = 'unapplied'
UNION ALL
SELECT l.id, v.payment_id, e.method, l.posted_on, l.amount
FROM ledger_lines l JOIN payment_reviews v ON v.id = l.source_id
    JOIN payment_events e ON e.id = v.event_id
WHERE l.account = 'gateway_clearing' AND l.source = 'review' AND l.kind IN ('apply', 'dismiss');

-- New receipts and new lines of providers' payouts, written by triggers, until a job adds them to
-- `payment_days` and deletes them. A report reads both.
CREATE TABLE payment_moves (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day DATE NOT NULL,
    method TEXT NOT NULL,
    received BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    fees BIGINT NOT NULL,
    fee_taxes BIGINT NOT NULL,
    extra BIGINT NOT NULL
);

-- What payments brought and what providers have settled of them, by the day and method of the first
-- receipt. Method `unknown`: what a provider paid for no payment of ours, by the day of the payout.
CREATE TABLE payment_days (
    day DATE NOT NULL,
    method TEXT NOT NULL,
    received BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    fees BIGINT NOT NULL,
    fee_taxes BIGINT NOT NULL,
    -- What was settled of a payment above what it brought. What is missing follows from the rest.
    extra BIGINT NOT NULL,
    PRIMARY KEY (day, method)
);

-- The taxes in what customers paid, and what each was charged on before its factor. A booking has the
-- price of today, so its cancelled passengers are added, and its moves to other sailings taken back.
-- The difference of a move to a dearer sailing was paid on a day of its own.
CREATE VIEW tax_receipts AS
SELECT day, t ->> 'code' AS tax_code, COALESCE(t ->> 'base_factor', '1') AS base_factor,
    times * CAST(t ->> 'amount' AS BIGINT) AS amount, times * base AS base
FROM (SELECT l.posted_on AS day, 1 AS times, k.taxes, k.subtotal - k.discount - k.margin AS base
    FROM ledger_lines l JOIN bookings k ON k.id = l.booking_id
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.kind IN ('paid', 'apply')
    UNION ALL
    SELECT l.posted_on, 1, c.taxes, c.subtotal - c.discount
    FROM ledger_lines l JOIN passenger_cancellations c ON c.booking_id = l.booking_id
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.kind IN ('paid', 'apply')
    UNION ALL
    SELECT l.posted_on, 1, r.was -> 'taxes',
        CAST(r.was ->> 'subtotal' AS BIGINT) - CAST(r.was ->> 'discount' AS BIGINT)
            - CAST(COALESCE(r.was ->> 'margin', '0') AS BIGINT)
    FROM ledger_lines l JOIN reschedules r ON r.booking_id = l.booking_id AND r.status = 'done'
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.kind IN ('paid', 'apply')
    UNION ALL
    SELECT l.posted_on, -1, r.becomes -> 'taxes',
        CAST(r.becomes ->> 'subtotal' AS BIGINT) - CAST(r.becomes ->> 'discount' AS BIGINT)
            - CAST(COALESCE(r.becomes ->> 'margin', '0') AS BIGINT)
    FROM ledger_lines l JOIN reschedules r ON r.booking_id = l.booking_id AND r.status = 'done'
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.kind IN ('paid', 'apply')
    UNION ALL
    SELECT l.posted_on, 1, r.becomes -> 'taxes',
        CAST(r.becomes ->> 'subtotal' AS BIGINT) - CAST(r.becomes ->> 'discount' AS BIGINT)
            - CAST(COALESCE(r.becomes ->> 'margin', '0') AS BIGINT)
    FROM ledger_lines l JOIN reschedules r ON r.id = l.source_id
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.source = 'reschedule'
        AND l.kind = 'rescheduled'
    UNION ALL
    SELECT l.posted_on, -1, r.was -> 'taxes',
        CAST(r.was ->> 'subtotal' AS BIGINT) - CAST(r.was ->> 'discount' AS BIGINT)
            - CAST(COALESCE(r.was ->> 'margin', '0') AS BIGINT)
    FROM ledger_lines l JOIN reschedules r ON r.id = l.source_id
    WHERE l.account = 'customer_deposits' AND l.amount < 0 AND l.source = 'reschedule'
        AND l.kind = 'rescheduled') priced
CROSS JOIN LATERAL jsonb_array_elements(priced.taxes) t;

-- Taxes in new payments, written by a trigger, until a job adds them to `tax_days` and deletes them. A
-- report reads both.
CREATE TABLE tax_moves (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day DATE NOT NULL,
    tax_code TEXT NOT NULL,
    base_factor TEXT NOT NULL,
    amount BIGINT NOT NULL,
    base BIGINT NOT NULL
);

-- The taxes in what customers paid, by day. `base` is the amount that `base_factor` is applied to.
CREATE TABLE tax_days (
    day DATE NOT NULL,
    tax_code TEXT NOT NULL,
    base_factor TEXT NOT NULL,
    amount BIGINT NOT NULL,
    base BIGINT NOT NULL,
    PRIMARY KEY (day, tax_code, base_factor)
);

-- Invoices of resellers.
CREATE TABLE reseller_invoices (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    reseller_id UUID NOT NULL REFERENCES resellers (id),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    -- The sum of its lines; negative: a credit.
    amount BIGINT NOT NULL,
    -- What payments and credits have settled of it, oldest invoice first.
    paid BIGINT NOT NULL DEFAULT 0,
    due_on DATE NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'paid')),
    -- NULL: the schedule.
    created_by UUID REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    CHECK (paid BETWEEN 0 AND CASE WHEN amount > 0 THEN amount ELSE 0 END),
    CHECK ((status = 'paid') = (paid >= amount))
);
CREATE INDEX reseller_invoices_list ON reseller_invoices (reseller_id, created_at, id);
-- What is owed, oldest first, and what is overdue.
CREATE INDEX reseller_invoices_open ON reseller_invoices (reseller_id, due_on) WHERE status = 'open';

-- The lines of `reseller_receivable` of each invoice: bookings, moves and refunds, each in one invoice.
CREATE TABLE reseller_invoice_lines (
    line_id UUID PRIMARY KEY REFERENCES ledger_lines (id),
    invoice_id UUID NOT NULL REFERENCES reseller_invoices (id)
);
CREATE INDEX reseller_invoice_lines_invoice ON reseller_invoice_lines (invoice_id);

-- Transfers of resellers to our bank account.
CREATE TABLE reseller_payments (
    id UUID PRIMARY KEY,
    reseller_id UUID NOT NULL REFERENCES resellers (id),
    amount BIGINT NOT NULL CHECK (amount > 0),
    reference TEXT NOT NULL UNIQUE,
    received_on DATE NOT NULL,
    recorded_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX reseller_payments_list ON reseller_payments (reseller_id, received_on, id);

-- Agreements with one partner, or (partner_id NULL) with all that have none of their own. NULL
-- columns mean the default. A partner's own commission rate is on its record.
CREATE TABLE settlement_configurations (
    id UUID PRIMARY KEY,
    partner_id UUID UNIQUE REFERENCES partners (id),
    commission_rate INTEGER CHECK (commission_rate BETWEEN 0 AND 10000),
    schedule TEXT CHECK (schedule IN ('manual', 'daily', 'weekly', 'monthly')),
    -- Day of the week (Monday is 1) or of the month.
    day INTEGER,
    -- When the schedule was last changed: periods that ended before it are not settled by it.
    scheduled_on DATE,
    hold_days INTEGER CHECK (hold_days >= 0),
    minimum_amount BIGINT CHECK (minimum_amount >= 0),
    -- For bookings of resellers; NULL: that of the default, else the usual commission.
    resale_commission_rate INTEGER CHECK (resale_commission_rate BETWEEN 0 AND 10000),
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK (commission_rate IS NULL OR partner_id IS NULL),
    -- Only weekly and monthly schedules have a day, and they must have one.
    CHECK (CASE COALESCE(schedule, '') WHEN 'weekly' THEN COALESCE(day, 0) BETWEEN 1 AND 7
        WHEN 'monthly' THEN COALESCE(day, 0) BETWEEN 1 AND 28 ELSE day IS NULL END)
);
-- There is one default; UNIQUE alone would allow any number of NULLs.
CREATE UNIQUE INDEX settlement_configurations_default
    ON settlement_configurations ((partner_id IS NULL)) WHERE partner_id IS NULL;

-- Payouts to partners.
CREATE TABLE settlements (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    partner_id UUID NOT NULL REFERENCES partners (id),
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    -- Sums of its items.
    gross BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    commission_tax BIGINT NOT NULL,
    -- Cash that the partner has taken itself.
    collected BIGINT NOT NULL,
    net BIGINT NOT NULL,
    booking_count INTEGER NOT NULL,
    -- Processing: a provider is paying it out. Statement: nothing is paid out, the debt is
    -- carried to the next one.
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'processing', 'released', 'cancelled', 'statement')),
    origin TEXT NOT NULL CHECK (origin IN ('manual', 'scheduled')),
    -- Where it was paid to, masked, and when that account had been approved.
    bank_account JSONB,
    account_approved_at TIMESTAMPTZ,
    note TEXT NOT NULL,
    reference TEXT,
    proof_file_id UUID REFERENCES files (id),
    -- NULL: the schedule.
    created_by UUID REFERENCES accounts (id),
    released_by UUID REFERENCES accounts (id),
    released_at TIMESTAMPTZ,
    cancelled_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    -- Why the last payout failed or came back.
    failure TEXT,
    CHECK (net = gross - commission - commission_tax - collected),
    CHECK ((status = 'statement') = (net <= 0) OR status IN ('pending', 'cancelled')),
    CHECK ((status = 'released') = (released_at IS NOT NULL)),
    CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
    -- What a due refers to.
    UNIQUE (id, partner_id)
);
CREATE INDEX settlements_newest ON settlements (created_at, id);
-- The list, sorted by another column or filtered by status.
CREATE INDEX settlements_end ON settlements (end_date, id);
CREATE INDEX settlements_net ON settlements (net, id);
CREATE INDEX settlements_status ON settlements (status, created_at, id);
-- A partner's settlements.
CREATE INDEX settlements_partner ON settlements (partner_id, created_at, id);
-- What is agreed and not paid out yet.
CREATE INDEX settlements_pending ON settlements (partner_id)
    WHERE status IN ('pending', 'processing');
-- The sweep of unused files: is this file a proof of payment?
CREATE INDEX settlements_proof ON settlements (proof_file_id) WHERE proof_file_id IS NOT NULL;

-- What a partner is owed: for a sale that was sailed, for money kept of a cancelled one; less what is
-- taken back when a sale is refunded later. `returned` is cash that it handed back to a customer,
-- `charge` a refund at the provider that it has to bear, `receipt` money that it paid us, `carried` the
-- debt of an earlier statement, `journal` a correction.
CREATE TABLE partner_dues (
    id UUID PRIMARY KEY,
    partner_id UUID NOT NULL REFERENCES partners (id),
    booking_id UUID REFERENCES bookings (id),
    kind TEXT NOT NULL CHECK (kind IN ('sale', 'kept', 'reversal', 'returned', 'charge', 'receipt',
        'carried', 'journal')),
    -- The cause of a due that is not of a sale: refund payment, review, receipt, statement, journal, or
    -- some passengers who were cancelled.
    source_id UUID,
    -- The day of departure in the time zone of the harbour, or the day of the cause.
    day DATE NOT NULL,
    gross BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    commission_tax BIGINT NOT NULL,
    collected BIGINT NOT NULL,
    net BIGINT NOT NULL,
    -- The settlement that pays it; NULL while there is none that was not cancelled. The carried debt of
    -- a cancelled statement belongs to that statement: it is no longer owed.
    settlement_id UUID,
    created_at TIMESTAMPTZ NOT NULL,
    -- The booking's reschedule at the time; NULL before the first one.
    reschedule_id UUID REFERENCES reschedules (id),
    CHECK (net = gross - commission - commission_tax - collected),
    CHECK (kind = 'kept' OR (kind IN ('sale', 'reversal')) = (source_id IS NULL)),
    CHECK (booking_id IS NOT NULL OR source_id IS NOT NULL),
    -- A settlement pays the dues of its own partner only.
    FOREIGN KEY (settlement_id, partner_id) REFERENCES settlements (id, partner_id)
);
-- Open dues of a partner. The amounts are part of it, so that their sums read the index alone.
CREATE INDEX partner_dues_open ON partner_dues (partner_id, day, net, collected)
    WHERE settlement_id IS NULL;
-- Deleting a partner: has it any dues?
CREATE INDEX partner_dues_partner ON partner_dues (partner_id);
-- The dues of a settlement.
CREATE INDEX partner_dues_settlement ON partner_dues (settlement_id)
    WHERE settlement_id IS NOT NULL;
-- The dues of a booking.
CREATE INDEX partner_dues_booking ON partner_dues (booking_id) WHERE booking_id IS NOT NULL;
-- Each kind is due once between two reschedules of a booking. Two indexes, because NULLs are
-- distinct in a unique index.
CREATE UNIQUE INDEX partner_dues_once ON partner_dues (booking_id, kind)
    WHERE reschedule_id IS NULL AND source_id IS NULL;
CREATE UNIQUE INDEX partner_dues_once_a_segment ON partner_dues (booking_id, kind, reschedule_id)
    WHERE reschedule_id IS NOT NULL AND source_id IS NULL;
CREATE UNIQUE INDEX partner_dues_once_a_source ON partner_dues (kind, source_id)
    WHERE source_id IS NOT NULL;

-- The dues of a settlement, also of a cancelled one.
CREATE TABLE settlement_items (
    settlement_id UUID NOT NULL REFERENCES settlements (id),
    due_id UUID NOT NULL REFERENCES partner_dues (id),
    PRIMARY KEY (settlement_id, due_id)
);

ALTER TABLE transfers ADD FOREIGN KEY (settlement_id) REFERENCES settlements (id);

-- Releases of settlements: one row each, so that a payout that came back can be released again. The
-- postings refer to these rows.
CREATE TABLE settlement_payouts (
    id UUID PRIMARY KEY,
    settlement_id UUID NOT NULL REFERENCES settlements (id),
    amount BIGINT NOT NULL CHECK (amount > 0),
    method TEXT NOT NULL CHECK (method IN ('manual', 'payout')),
    transfer_id UUID REFERENCES transfers (id),
    reference TEXT NOT NULL,
    proof_file_id UUID REFERENCES files (id),
    -- When the bank account that it was paid to had been approved.
    account_approved_at TIMESTAMPTZ,
    -- NULL: a provider.
    released_by UUID REFERENCES accounts (id),
    released_at TIMESTAMPTZ NOT NULL,
    returned_by UUID REFERENCES accounts (id),
    returned_at TIMESTAMPTZ,
    return_reason TEXT,
    CHECK ((method = 'payout') = (transfer_id IS NOT NULL)),
    CHECK ((returned_at IS NULL) = (return_reason IS NULL))
);
CREATE INDEX settlement_payouts_settlement ON settlement_payouts (settlement_id);
-- At most one release of a settlement stands.
CREATE UNIQUE INDEX settlement_payouts_once ON settlement_payouts (settlement_id)
    WHERE returned_at IS NULL;
-- A provider confirms a transfer once.
CREATE UNIQUE INDEX settlement_payouts_transfer ON settlement_payouts (transfer_id)
    WHERE transfer_id IS NOT NULL;
-- The sweep of unused files: is this file a proof of payment?
CREATE INDEX settlement_payouts_proof ON settlement_payouts (proof_file_id)
    WHERE proof_file_id IS NOT NULL;

-- Money that partners paid us.
CREATE TABLE settlement_receipts (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    partner_id UUID NOT NULL REFERENCES partners (id),
    amount BIGINT NOT NULL CHECK (amount > 0),
    method TEXT NOT NULL CHECK (method IN ('bank', 'cash')),
    reference TEXT NOT NULL,
    received_on DATE NOT NULL,
    recorded_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX settlement_receipts_newest ON settlement_receipts (created_at, id);
-- A partner's receipts.
CREATE INDEX settlement_receipts_partner ON settlement_receipts (partner_id, created_at, id);

-- Periods that the schedule has processed: each once, whatever the result.
CREATE TABLE settlement_runs (
    partner_id UUID NOT NULL REFERENCES partners (id),
    due_on DATE NOT NULL,
    -- NULL: there was nothing to pay.
    settlement_id UUID REFERENCES settlements (id),
    PRIMARY KEY (partner_id, due_on)
);

---------------------------------------------------------------------------------------------------
-- Finance
---------------------------------------------------------------------------------------------------

-- Months that are closed: nothing is posted into the last of them or before it. A row without
-- `closed_at` was reopened.
CREATE TABLE finance_periods (
    -- The first day of the month.
    month DATE PRIMARY KEY,
    closed_at TIMESTAMPTZ,
    closed_by UUID REFERENCES accounts (id),
    reopened_at TIMESTAMPTZ,
    reopened_by UUID REFERENCES accounts (id),
    -- Why it was reopened.
    reason TEXT
);

-- What a payment provider paid to our bank account, as its report says.
CREATE TABLE provider_settlements (
    id UUID PRIMARY KEY,
    provider TEXT NOT NULL CHECK (provider IN ('simulator', 'midtrans', 'xendit')),
    -- The provider's name for it.
    payout_id TEXT NOT NULL,
    paid_on DATE NOT NULL,
    -- Sums of its lines.
    gross BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    fee_tax BIGINT NOT NULL,
    net BIGINT NOT NULL,
    -- The part of `gross` that belongs to no payment of ours; it waits in `suspense`.
    unknown_gross BIGINT NOT NULL,
    line_count INTEGER NOT NULL,
    created_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    CHECK (net = gross - fee - fee_tax),
    UNIQUE (provider, payout_id)
);
CREATE INDEX provider_settlements_newest ON provider_settlements (paid_on, id);

CREATE TABLE provider_settlement_lines (
    settlement_id UUID NOT NULL REFERENCES provider_settlements (id),
    number INTEGER NOT NULL,
    reference TEXT NOT NULL,
    -- NULL: no payment of ours has the reference.
    payment_id UUID REFERENCES payments (id),
    -- Negative for a refund.
    gross BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    fee_tax BIGINT NOT NULL,
    net BIGINT NOT NULL,
    PRIMARY KEY (settlement_id, number),
    CHECK (net = gross - fee - fee_tax)
);
-- What was settled of a payment.
CREATE INDEX provider_settlement_lines_payment ON provider_settlement_lines (payment_id)
    WHERE payment_id IS NOT NULL;
-- What the provider paid for something that we do not know.
CREATE INDEX provider_settlement_lines_unknown ON provider_settlement_lines (settlement_id)
    WHERE payment_id IS NULL;

-- Taxes paid to the state.
CREATE TABLE tax_payments (
    id UUID PRIMARY KEY,
    tax_code TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    paid_on DATE NOT NULL,
    -- NTPN: the state's number of the payment.
    reference TEXT NOT NULL,
    created_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (tax_code, reference)
);
CREATE INDEX tax_payments_day ON tax_payments (paid_on);

-- Cash that was brought to the bank.
CREATE TABLE cash_deposits (
    id UUID PRIMARY KEY,
    amount BIGINT NOT NULL CHECK (amount > 0),
    deposited_on DATE NOT NULL,
    reference TEXT NOT NULL,
    created_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL
);

-- Corrections and opening balances. A draft is posted when a second person approves it.
CREATE TABLE journals (
    id UUID PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('draft', 'posted', 'rejected')),
    posted_on DATE NOT NULL,
    memo TEXT NOT NULL,
    -- The partner of its lines of `partner_payable`.
    partner_id UUID REFERENCES partners (id),
    -- The sum of its debits.
    amount BIGINT NOT NULL CHECK (amount > 0),
    created_by UUID NOT NULL REFERENCES accounts (id),
    created_at TIMESTAMPTZ NOT NULL,
    -- Who approved or rejected it.
    decided_by UUID REFERENCES accounts (id),
    decided_at TIMESTAMPTZ,
    CHECK ((status = 'draft') = (decided_at IS NULL))
);
CREATE INDEX journals_newest ON journals (created_at, id);

CREATE TABLE journal_lines (
    journal_id UUID NOT NULL REFERENCES journals (id),
    number INTEGER NOT NULL,
    account TEXT NOT NULL,
    tax_code TEXT,
    -- Debits are positive.
    amount BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (journal_id, number),
    CHECK ((tax_code IS NOT NULL) = (account = 'tax_payable'))
);

---------------------------------------------------------------------------------------------------
-- Reports
---------------------------------------------------------------------------------------------------

-- Status changes and reschedules of bookings, and money that came in or went back beside them, written
-- by triggers: one row each, so that sales do not contend for a counter. A job rolls the rows up into
-- the tables below and deletes them; a report reads both.
CREATE TABLE booking_moves (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    partner_id UUID NOT NULL,
    -- That of the sale. A reschedule does not change it.
    route_id UUID NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    -- NULL: the booking was inserted in this status, or there is no status at all.
    from_status TEXT,
    -- NULL: money alone.
    to_status TEXT,
    at TIMESTAMPTZ NOT NULL,
    passengers INTEGER NOT NULL,
    subtotal BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    -- Money that came in beside the sale: the difference of a reschedule, or what was paid too much,
    -- twice or too late.
    received BIGINT NOT NULL,
    -- Money that went back; negative: it was returned to us.
    refund BIGINT NOT NULL,
    refund_tax BIGINT NOT NULL,
    -- Who sold it, and what is left to it; NULL and 0: nobody but us.
    reseller_id UUID,
    margin BIGINT NOT NULL
);

-- Sales, changed prices and money among the moves that are not rolled up yet. A reschedule is no sale:
-- it takes the old price back (-1) and sets the new one (+1). A booking that becomes paid again after
-- a cancellation was counted before.
CREATE VIEW sales_moves AS
SELECT at, partner_id, route_id, type, method, sold AS bookings, sold * passengers AS passengers,
    sold * total + received AS gross, priced * discount AS discount, priced * tax AS tax,
    priced * commission AS commission, priced * partner_net AS partner_net, refund AS refunds,
    refund_tax, reseller_id, priced * margin AS margin
FROM (SELECT m.*, sold + CASE WHEN to_status = 'rescheduled' THEN -1
            WHEN from_status = 'rescheduled' THEN 1
            ELSE 0 END AS priced
    FROM (SELECT m.*,
            CASE WHEN to_status = 'paid'
                AND COALESCE(from_status, 'pending_payment') IN ('pending_payment', 'expired')
                THEN 1 ELSE 0 END AS sold
        FROM booking_moves m) m) moves
WHERE priced <> 0 OR received <> 0 OR refund <> 0;

-- What the money of a booking counts under: the route that it was sold for, wherever it was moved to
-- later, and the method of its own payment. Those of a reschedule's difference do not count.
CREATE VIEW sales_keys AS
SELECT k.id AS booking_id, k.partner_id, k.type, k.reseller_id,
    (SELECT s.route_id FROM sailings s WHERE s.id = COALESCE(
        (SELECT r.from_sailing_id FROM reschedules r WHERE r.booking_id = k.id
            AND r.status = 'done' ORDER BY r.done_at, r.id LIMIT 1), k.sailing_id)) AS route_id,
    COALESCE((SELECT y.method FROM payments y WHERE y.booking_id = k.id
        AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded') LIMIT 1), 'other') AS method
FROM bookings k;

-- The same of refunds. Money that was reviewed has the method of its own payment.
CREATE VIEW refund_keys AS
SELECT f.id AS refund_id, k.partner_id, k.type, k.route_id, k.reseller_id,
    COALESCE((SELECT e.method FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id
        WHERE v.id = f.review_id), k.method) AS method
FROM refunds f JOIN sales_keys k ON k.booking_id = f.booking_id;

-- Sales and refunds by day, in the zone of `report_zones`.
CREATE TABLE sales_days (
    day DATE NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    refund_tax BIGINT NOT NULL,
    PRIMARY KEY (day, type, method)
);

-- The same by month: a report over years reads months for the whole months in it.
CREATE TABLE sales_months (
    month DATE NOT NULL,
    type TEXT NOT NULL,
    method TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    refund_tax BIGINT NOT NULL,
    PRIMARY KEY (month, type, method)
);

-- Sales of a partner by day.
CREATE TABLE partner_days (
    partner_id UUID NOT NULL,
    day DATE NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (partner_id, day)
);
-- The best partners of a period.
CREATE INDEX partner_days_day ON partner_days (day);

-- Sales of a partner by month.
CREATE TABLE partner_months (
    month DATE NOT NULL,
    partner_id UUID NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (month, partner_id)
);

-- Sales of a route by month.
CREATE TABLE route_months (
    month DATE NOT NULL,
    route_id UUID NOT NULL,
    partner_id UUID NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    PRIMARY KEY (month, route_id)
);

-- Sales of a reseller by day. The margin is that of the prices; a reschedule counts with its change.
CREATE TABLE reseller_days (
    day DATE NOT NULL,
    reseller_id UUID NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    gross BIGINT NOT NULL,
    margin BIGINT NOT NULL,
    refunds BIGINT NOT NULL,
    PRIMARY KEY (day, reseller_id)
);

-- Bookings of a partner by status, and their worth. Pending ones are counted in `bookings`, because
-- they are few.
CREATE TABLE partner_standings (
    partner_id UUID NOT NULL,
    status TEXT NOT NULL,
    bookings BIGINT NOT NULL,
    passengers BIGINT NOT NULL,
    subtotal BIGINT NOT NULL,
    commission BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    PRIMARY KEY (partner_id, status)
);

-- The time zone that the days and months were counted in; no row before the first roll-up.
CREATE TABLE report_zones (
    zone TEXT PRIMARY KEY,
    built_at TIMESTAMPTZ NOT NULL
);

---------------------------------------------------------------------------------------------------
-- Notifications and webhooks
---------------------------------------------------------------------------------------------------

-- Texts are made when a notification is read, in the reader's language.
CREATE TABLE notifications (
    id UUID PRIMARY KEY,
    event_id UUID NOT NULL,
    account_id UUID NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    data JSONB NOT NULL,
    read_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    -- An event that is delivered again notifies nobody twice.
    UNIQUE (event_id, account_id)
);
-- An account's notifications; ids are sorted by time.
CREATE INDEX notifications_newest ON notifications (account_id, id);
-- Those that were read.
CREATE INDEX notifications_read ON notifications (account_id, id) WHERE read_at IS NOT NULL;
-- The number of unread ones, and marking them as read.
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
-- The sweep of old notifications.
CREATE INDEX notifications_age ON notifications (created_at);
-- Removing what was told about a partner that never verified its address.
CREATE INDEX notifications_registered ON notifications ((data ->> 'mitra_id'))
    WHERE type = 'partner.registered';
-- Erasing a partner: notifications that name it.
CREATE INDEX notifications_named ON notifications ((data ->> 'mitra_id'))
    WHERE (data ->> 'name') IS NOT NULL;

CREATE TABLE webhooks (
    id UUID PRIMARY KEY,
    url TEXT NOT NULL,
    -- Names of the events that it receives.
    events JSONB NOT NULL,
    active BOOLEAN NOT NULL,
    -- Encrypted.
    secret TEXT NOT NULL,
    -- Since when every delivery has failed; NULL after a success.
    failing_since TIMESTAMPTZ,
    -- Why the service switched it off; NULL if a person did.
    disabled_reason TEXT CHECK (disabled_reason IN ('gone', 'failing')),
    -- The reseller that it belongs to; NULL: the platform's own.
    reseller_id UUID REFERENCES resellers (id),
    -- Headers that a reseller wants with each call, encrypted.
    headers TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK (disabled_reason IS NULL OR NOT active)
);
CREATE INDEX webhooks_newest ON webhooks (created_at, id);
CREATE INDEX webhooks_reseller ON webhooks (reseller_id, created_at) WHERE reseller_id IS NOT NULL;

-- Changes of lines that resellers sell, written by triggers, until a job tells their subscribers and
-- deletes them.
CREATE TABLE line_changes (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line_id UUID NOT NULL,
    -- The days whose availability has changed. NULL: the product itself.
    first_day DATE,
    last_day DATE
);

CREATE TABLE webhook_deliveries (
    id UUID PRIMARY KEY,
    webhook_id UUID NOT NULL REFERENCES webhooks (id),
    event_id UUID NOT NULL,
    type TEXT NOT NULL,
    payload JSONB NOT NULL,
    -- The outbox lane that it is delivered in.
    lane TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    response_status INTEGER,
    last_error TEXT,
    last_attempt_at TIMESTAMPTZ,
    delivered_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    -- An event that is delivered again makes no second delivery.
    UNIQUE (webhook_id, event_id)
);
-- The deliveries of a webhook.
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, created_at, id);
-- Those that were not delivered, which are few.
CREATE INDEX webhook_deliveries_undelivered
    ON webhook_deliveries (webhook_id, status, created_at, id) WHERE status <> 'delivered';
-- The sweep of old deliveries.
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
-- Erasing a partner: deliveries that name it.
CREATE INDEX webhook_deliveries_named ON webhook_deliveries ((payload -> 'data' ->> 'mitra_id'))
    WHERE (payload -> 'data' ->> 'name') IS NOT NULL;
