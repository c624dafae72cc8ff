-- The first lines of an invoice are read without the others.
DROP INDEX reseller_invoice_lines_invoice;
CREATE INDEX reseller_invoice_lines_invoice ON reseller_invoice_lines (invoice_id, line_id);

-- A settlement reads the journals of its partner.
CREATE INDEX journals_partner ON journals (partner_id) WHERE partner_id IS NOT NULL;

-- Partners do not see what is refunded to the accounts of resellers.
CREATE INDEX refunds_to_customers ON refunds (partner_id, due_at, id)
    WHERE COALESCE(paid_by, '') <> 'account';

-- The figures of a partner add what travellers paid to resellers.
CREATE INDEX bookings_resold ON bookings (partner_id, created_at) WHERE channel = 'reseller';
CREATE INDEX reschedules_done ON reschedules (done_at) WHERE status = 'done';

-- Lines of an account from one source. Most lines are of bookings, and an account has few others.
CREATE INDEX ledger_lines_source_account ON ledger_lines (source, account, posted_on, id)
    WHERE source <> 'booking';
