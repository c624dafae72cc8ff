//! Handlers of the books.

mod books;
mod files;
mod journals;
mod periods;
mod postings;
mod providers;

pub use books::{
    get_partner_statement, get_reseller_statement, get_tax_report, get_trial_balance, list_entries,
};
pub use journals::{approve_journal, create_journal, list_journals, reject_journal};
pub use periods::{close_period, list_periods, reopen_period};
pub use postings::{create_cash_deposit, create_tax_payment};
pub use providers::{create_provider_settlement, get_reconciliation, list_provider_settlements};
