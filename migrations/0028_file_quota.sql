-- How much each account keeps, and which files nothing refers to.

-- Taken in one conditional statement before a file is announced; given back with its row.
CREATE TABLE file_usage (
    account_id UUID PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    files BIGINT NOT NULL CHECK (files >= 0),
    bytes BIGINT NOT NULL CHECK (bytes >= 0)
);
INSERT INTO file_usage (account_id, files, bytes)
    SELECT owner_id, COUNT(*), CAST(SUM(size) AS BIGINT) FROM files GROUP BY owner_id;

-- When a request last referred to it, or the sweep last looked who does. Never NULL in a row that
-- is ready.
ALTER TABLE files ADD COLUMN checked_at TIMESTAMPTZ;
-- Whether anything referred to it then.
ALTER TABLE files ADD COLUMN in_use BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE files SET checked_at = created_at;
CREATE INDEX files_checked ON files (checked_at) WHERE status = 'ready';

-- Who refers to a file.
CREATE INDEX accounts_avatar ON accounts (avatar_file_id) WHERE avatar_file_id IS NOT NULL;
CREATE INDEX partner_documents_file ON partner_documents (file_id);
CREATE INDEX promotions_image ON promotions (image_file_id) WHERE image_file_id IS NOT NULL;
CREATE INDEX settlements_proof ON settlements (proof_file_id) WHERE proof_file_id IS NOT NULL;
