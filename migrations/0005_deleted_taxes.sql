-- Prices and ledger lines name a tax by its code, so the row of a tax that was charged stays.
ALTER TABLE taxes ADD COLUMN deleted_at TIMESTAMPTZ;
DROP INDEX taxes_code;
CREATE UNIQUE INDEX taxes_code ON taxes (upper(code)) WHERE deleted_at IS NULL;

-- The session in which the holder of an account requested the change.
ALTER TABLE email_changes ADD COLUMN session_id UUID;
