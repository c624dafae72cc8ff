//! The SQL of personal data: what is due for erasure (`retention`), the erasure itself (`erasure`) and
//! what an export shows (`export`).

/// When a booking was over, as the index `bookings_retention` has it. The index also needs the condition on
/// the status of [`expired`].
macro_rules! over_at {
    () => {
        "(CASE WHEN k.status = 'expired' THEN k.expires_at
           WHEN k.cancelled_at IS NOT NULL AND k.completed_at IS NULL THEN k.cancelled_at
           ELSE k.arrival_at END)"
    };
}

/// Money or a decision that is still due for the booking `k`.
macro_rules! owes {
    () => {
        "(EXISTS (SELECT 1 FROM payment_reviews v WHERE v.booking_id = k.id
            AND v.resolution IS NULL)
          OR EXISTS (SELECT 1 FROM refunds f WHERE f.booking_id = k.id AND f.unpaid > 0)
          OR EXISTS (SELECT 1 FROM reschedules r WHERE r.booking_id = k.id
            AND r.status = 'pending'))"
    };
}

mod erasure;
mod export;
mod retention;

use super::model::AccountRecord;
use crate::kernel::{
    db::{Db, Tx},
    email::Email,
    error::Result,
};

pub use erasure::{
    AccountToErase, account, booking, delete_notifications, erase_account, erase_address,
    erase_audit_entries, erase_booking, erase_ops_address, erase_partner, erase_reseller,
    lock_account, lock_accounts,
};
pub use export::{
    audit_entries, bookings, devices, documents, failed_sign_ins, files, networks, notifications,
    onboarding, paid_to, partner, reseller, reseller_keys, resellers_of_ops_address, sessions,
    staff, subscriptions,
};
pub use retention::{
    Pending, count_pending, count_pending_in, delete_pending, delete_pending_in, due, due_of,
    expired, insert_pending, insert_pending_bookings, pending, postpone,
};

macro_rules! account {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, email, email_verified,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = accounts.id AND c.status = 'pending') AS pending_email,
               (SELECT c.partner_id FROM crew c WHERE c.account_id = accounts.id) AS crew_of,
               totp_confirmed_at IS NOT NULL AS second_factor,
               phone, role, status, last_login_at, created_at, deleted_at
             FROM accounts",
            $rest
        )
    };
}

const ACCOUNTS: &str = concat!(
    account!(" WHERE email = $1 AND deleted_at IS NULL UNION ALL "),
    account!(" WHERE email = $1 AND deleted_at IS NOT NULL")
);

/// Accounts with an address, deleted ones included.
pub async fn accounts(db: &Db, email: &Email) -> Result<Vec<AccountRecord>> {
    Ok(db.sql(ACCOUNTS).bind(email.clone()).all().await?)
}

pub async fn accounts_in(tx: &mut Tx, email: &Email) -> Result<Vec<AccountRecord>> {
    Ok(tx.sql(ACCOUNTS).bind(email.clone()).all().await?)
}
