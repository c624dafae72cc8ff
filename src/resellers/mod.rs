//! Resellers: agencies that sell seats through OCTO, on account.
//!
//! - A reseller owes the net price of what it sells. Its lines of `reseller_receivable` in the ledger
//!   add up to its balance, which a trigger maintains.
//! - A sale takes credit: the balance never passes the limit.

mod credit;
mod model;

pub use credit::ensure as ensure_credit;
pub use model::{NetFare, PolicyStep, ResellerStatus, Scope};
