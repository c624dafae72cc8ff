-- What is sold: prices, promotions, bookings, payments and the ledger.

CREATE TABLE taxes (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    rate INTEGER NOT NULL CHECK (rate BETWEEN 0 AND 10000),
    applies_to TEXT NOT NULL CHECK (applies_to IN ('booking', 'commission')),
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX taxes_code ON taxes (upper(code));

CREATE TABLE promotions (
    id UUID PRIMARY KEY,
    title TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    -- NULL: no limit.
    quota INTEGER,
    -- Live bookings with the code; kept by the triggers of bookings.
    used INTEGER NOT NULL,
    per_customer_limit INTEGER,
    target_type TEXT NOT NULL CHECK (target_type IN ('all', 'mitra', 'speedboat', 'route')),
    target_ids JSONB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'inactive')),
    tnc TEXT NOT NULL,
    discount_type TEXT NOT NULL CHECK (discount_type IN ('percentage', 'fixed')),
    -- Basis points, or rupiah.
    discount_value BIGINT NOT NULL CHECK (discount_value > 0),
    max_amount BIGINT,
    min_purchase BIGINT,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL CHECK (end_date >= start_date),
    image_file_id UUID REFERENCES files (id),
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT promotions_quota CHECK (used >= 0 AND (quota IS NULL OR used <= quota))
);
CREATE INDEX promotions_newest ON promotions (created_at, id);
CREATE INDEX promotions_running ON promotions (end_date) WHERE status = 'active';

-- How often each customer holds a promotion.
CREATE TABLE promotion_uses (
    promotion_id UUID NOT NULL REFERENCES promotions (id),
    email TEXT NOT NULL,
    used INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (promotion_id, email)
);

CREATE TABLE bookings (
    id UUID PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL CHECK (type IN ('speedboat', 'charter')),
    status TEXT NOT NULL CHECK (status IN ('pending_payment', 'paid', 'completed', 'expired',
        'cancelled', 'refund_pending', 'refunded')),
    channel TEXT NOT NULL CHECK (channel IN ('web', 'staff', 'mitra')),
    sailing_id UUID NOT NULL REFERENCES sailings (id),
    speedboat_id UUID NOT NULL,
    partner_id UUID NOT NULL REFERENCES partners (id),
    -- When its sailing is; copied for the lists and jobs that look for it.
    departure_at TIMESTAMPTZ NOT NULL,
    arrival_at TIMESTAMPTZ NOT NULL,
    qty INTEGER NOT NULL CHECK (qty > 0),
    -- What it takes of the sailing: a charter takes all.
    seats INTEGER NOT NULL CHECK (seats >= qty),
    promotion_id UUID REFERENCES promotions (id),
    code_promo TEXT,
    note TEXT NOT NULL,
    contact_name TEXT NOT NULL,
    contact_email TEXT NOT NULL,
    contact_phone TEXT NOT NULL,
    lang TEXT NOT NULL,
    -- Identity numbers are sealed.
    passengers JSONB NOT NULL,
    accepted_terms BOOLEAN NOT NULL,
    -- Who is asked for the payment; NULL where nothing has to be paid.
    provider TEXT,
    unit_price BIGINT NOT NULL,
    subtotal BIGINT NOT NULL,
    discount BIGINT NOT NULL,
    taxes JSONB NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    commission_rate INTEGER NOT NULL,
    commission BIGINT NOT NULL,
    commission_tax BIGINT NOT NULL,
    partner_net BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    paid_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    cancelled_at TIMESTAMPTZ,
    cancel_reason TEXT,
    -- Due to the customer, and when and how it was paid back.
    refund_amount BIGINT,
    refunded_at TIMESTAMPTZ,
    refund_reference TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT bookings_price CHECK (discount BETWEEN 0 AND subtotal AND tax >= 0
        AND total = subtotal - discount + tax
        AND partner_net = subtotal - commission - commission_tax)
);
CREATE INDEX bookings_newest ON bookings (created_at, id);
CREATE INDEX bookings_partner ON bookings (partner_id, created_at, id);
CREATE INDEX bookings_sailing ON bookings (sailing_id);
CREATE INDEX bookings_email ON bookings (contact_email, created_at);
-- How many unpaid ones somebody holds.
CREATE INDEX bookings_held_by ON bookings (contact_email) WHERE status = 'pending_payment';
CREATE INDEX bookings_departure ON bookings (departure_at, id);
CREATE INDEX bookings_promotion ON bookings (promotion_id) WHERE promotion_id IS NOT NULL;
-- What is due: holds to expire, trips to complete.
CREATE INDEX bookings_holds ON bookings (expires_at) WHERE status = 'pending_payment';
CREATE INDEX bookings_sailed ON bookings (arrival_at) WHERE status = 'paid';
CREATE INDEX bookings_refunds ON bookings (created_at) WHERE status = 'refund_pending';

-- One row per attempt to pay.
CREATE TABLE payments (
    id UUID PRIMARY KEY,
    booking_id UUID NOT NULL REFERENCES bookings (id),
    attempt INTEGER NOT NULL,
    provider TEXT NOT NULL CHECK (provider IN ('simulator', 'midtrans', 'xendit', 'cash')),
    reference TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'paid', 'failed', 'expired', 'refunded')),
    amount BIGINT NOT NULL,
    method TEXT CHECK (method IN ('qris', 'bank_transfer', 'credit_card', 'ewallet', 'retail',
        'cash', 'other')),
    redirect_url TEXT,
    -- Who is asking the provider for it just now, and until when.
    leased_until TIMESTAMPTZ NOT NULL,
    paid_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (booking_id, attempt)
);

-- What a provider told us, raw and for good. Two events of a payment are the same when transaction,
-- status and amount are.
CREATE TABLE payment_events (
    id UUID PRIMARY KEY,
    payment_id UUID NOT NULL REFERENCES payments (id),
    provider TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    status TEXT NOT NULL,
    amount BIGINT NOT NULL,
    method TEXT NOT NULL,
    raw JSONB NOT NULL,
    -- What came of it.
    outcome TEXT NOT NULL,
    received_at TIMESTAMPTZ NOT NULL,
    UNIQUE (payment_id, transaction_id, status, amount)
);
CREATE INDEX payment_events_payment ON payment_events (payment_id);

-- Money that could not be applied by itself.
CREATE TABLE payment_reviews (
    id UUID PRIMARY KEY,
    event_id UUID NOT NULL UNIQUE REFERENCES payment_events (id),
    payment_id UUID NOT NULL REFERENCES payments (id),
    booking_id UUID NOT NULL REFERENCES bookings (id),
    reason TEXT NOT NULL CHECK (reason IN ('wrong_amount', 'late', 'duplicate')),
    amount BIGINT NOT NULL,
    expected BIGINT NOT NULL,
    -- What was paid above the total and applied: owed until it is paid back.
    excess BIGINT NOT NULL DEFAULT 0,
    excess_paid_at TIMESTAMPTZ,
    resolution TEXT CHECK (resolution IN ('apply', 'refund', 'dismiss')),
    note TEXT,
    resolved_by UUID REFERENCES accounts (id),
    resolved_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX payment_reviews_open ON payment_reviews (created_at) WHERE resolution IS NULL;
CREATE INDEX payment_reviews_booking ON payment_reviews (booking_id);
CREATE INDEX payment_reviews_newest ON payment_reviews (created_at, id);

-- Double entry, append-only. Debits are positive; the lines of one posting sum to zero.
CREATE TABLE ledger_lines (
    id UUID PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('booking', 'payment', 'review', 'settlement')),
    source_id UUID NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL CHECK (account IN ('gateway_clearing', 'customer_deposits',
        'unapplied_payments', 'refund_payable', 'partner_payable', 'commission_revenue',
        'promotion_expense', 'tax_payable', 'bank', 'cash')),
    -- For partner_payable, and only there.
    partner_id UUID REFERENCES partners (id),
    booking_id UUID REFERENCES bookings (id),
    amount BIGINT NOT NULL CHECK (amount <> 0),
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((partner_id IS NOT NULL) = (account = 'partner_payable')),
    -- No repetition can post twice.
    UNIQUE (source, source_id, kind, account)
);
CREATE INDEX ledger_lines_booking ON ledger_lines (booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX ledger_lines_partner ON ledger_lines (partner_id, created_at)
    WHERE partner_id IS NOT NULL;
CREATE INDEX ledger_lines_newest ON ledger_lines (created_at);
