//! The console: through HTTP, and in a real browser where one is installed.

mod again;
mod browser;
mod choices;
mod counter;
mod form_fields;
mod forms;
mod guard;
mod looks;
mod managing;
mod partner_pages;
mod pier;
mod resellers;
mod scenarios;
mod sign_in;
mod site;
mod sites;
#[allow(dead_code, unused_macros)]
#[path = "../support/mod.rs"]
mod support;
mod table;
mod travellers;
mod views;
mod walk;

#[allow(unused_imports)]
use support::{authenticator, binary, cluster, fake_provider, form, harbour, postgres, s3, world};
