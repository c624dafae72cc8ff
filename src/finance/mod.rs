//! The books: what a finance clerk reads in the ledger and posts into it.
//!
//! - Balances are those of `ledger::days`.
//! - What the clerk posts has a day. Its posting takes the lock `finance` and is refused if the month is
//!   closed. Everything else posts on today's date, and a month can be closed only an hour after its
//!   end, so it always finds an open month.
//! - Months are closed in order: nothing is posted into the last closed month or before it, so the
//!   opening balances of the open month stay as they are.
//! - A journal entry changes nothing until a second person approves it (four eyes).

mod books;
mod http;
mod model;
mod periods;
mod rules;
mod store;

pub use http::{
    approve_journal, close_period, create_cash_deposit, create_journal, create_provider_settlement,
    create_tax_payment, get_partner_statement, get_reconciliation, get_reseller_statement,
    get_tax_report, get_trial_balance, list_entries, list_journals, list_periods,
    list_provider_settlements, reject_journal, reopen_period,
};
