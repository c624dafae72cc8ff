//! Pages of the console that no kind covers. Like all pages, they ask operations and decide nothing.

mod account;
mod changes;
mod counter;
mod find;
mod home;
mod notifications;
mod onboarding;
mod reports;
mod sailings;
mod sign_in;
mod terms;

pub use account::account;
pub use changes::audit_entry;
pub use counter::{book, search_to_book};
pub use find::find;
pub use home::home;
pub use notifications::open_notification;
pub use onboarding::onboarding;
pub use reports::reports;
pub use sailings::day;
pub use sign_in::{SIGN_IN, confirm_page, login, logout, stop_acting};
pub use terms::terms;
