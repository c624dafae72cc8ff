//! Resellers: agencies that sell seats through OCTO, on account.
//!
//! - A reseller owes the net price of what it sells. Its lines of `reseller_receivable` in the ledger
//!   add up to its balance, which a trigger maintains.
//! - A sale takes credit: the balance never passes the limit.

mod credit;
mod grants;
mod http;
mod invoices;
mod keys;
mod model;
mod networks;
mod payments;
mod schedule;
mod store;

pub use credit::ensure as ensure_credit;
pub use http::{
    create_reseller, create_reseller_invoice, create_reseller_key, find, get_reseller,
    get_reseller_grants, list_reseller_invoices, list_reseller_keys, list_resellers,
    record_reseller_payment, resend_reseller_invitation, revoke_reseller_key, set_reseller_grants,
    suspend_reseller, unsuspend_reseller, update_reseller,
};
pub use model::{NetFare, PolicyStep, ResellerStatus, Scope};
pub use schedule::run as run_schedules;
