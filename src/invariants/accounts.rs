//! Accounts, their files and personal data.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        rule: "an account belongs to a partner's crew if and only if its role is crew",
        size: "SELECT COUNT(*) FROM crew",
        broken: "SELECT a.email FROM accounts a LEFT JOIN crew c ON c.account_id = a.id
             WHERE (a.role = 'crew' AND a.deleted_at IS NULL) <> (c.account_id IS NOT NULL)
             LIMIT 50",
    },
    Invariant {
        rule: "an address that an account can return to belongs to no other account",
        size: "SELECT COUNT(*) FROM email_changes WHERE old_email IS NOT NULL",
        broken: "SELECT a.name || ' has an address that is reserved for another account'
             FROM email_changes c
             JOIN accounts a ON a.email = c.old_email AND a.deleted_at IS NULL
               AND a.id <> c.account_id LIMIT 50",
    },
    Invariant {
        rule: "file counters equal the stored files and bytes",
        size: "SELECT COUNT(*) FROM file_usage",
        broken: "SELECT a.name || ' has ' || CAST(COALESCE(f.files, 0) AS TEXT) || ' files of '
               || CAST(COALESCE(f.bytes, 0) AS TEXT) || ' bytes, counted as '
               || CAST(COALESCE(u.files, 0) AS TEXT) || ' of ' || CAST(COALESCE(u.bytes, 0) AS TEXT)
             FROM accounts a LEFT JOIN file_usage u ON u.account_id = a.id
             LEFT JOIN (SELECT owner_id, COUNT(*) AS files, SUM(size) AS bytes FROM files
               GROUP BY owner_id) f ON f.owner_id = a.id
             WHERE COALESCE(u.files, 0) <> COALESCE(f.files, 0)
               OR COALESCE(u.bytes, 0) <> COALESCE(f.bytes, 0) LIMIT 50",
    },
    Invariant {
        rule: "erased bookings have no contact and nothing that a provider said",
        size: "SELECT COUNT(*) FROM bookings WHERE erased_at IS NOT NULL",
        broken: "SELECT k.code FROM bookings k WHERE k.erased_at IS NOT NULL
               AND (k.contact_name <> '[erased]' OR k.contact_email LIKE '%@%'
                 OR k.contact_phone <> '' OR k.note <> '' OR k.refund_account IS NOT NULL
                 OR EXISTS (SELECT 1 FROM payments y JOIN payment_events e
                     ON e.payment_id = y.id
                   WHERE y.booking_id = k.id AND CAST(e.raw AS TEXT) <> '{}'))
             LIMIT 50",
    },
];
