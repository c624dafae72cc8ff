//! The travellers' site: Indonesian at `/`, English at `/en`.
//!
//! It never reads the session of the console: every visitor is a guest. The bookings that a visitor has
//! opened are in a sealed cookie ([`bookings`]).

mod book;
mod bookings;
mod front;
mod search;
mod terms;

pub use book::site_book;
pub use bookings::{site_booking, site_bookings, site_ticket};
pub use front::front;
pub use search::site_search;
pub use terms::site_terms;

use crate::{kernel::lang::Lang, web::visit::Visit};

/// The address of a page in the language of the visit.
fn at(visit: &Visit, path: &str) -> String {
    format!("{}{path}", visit.lang().of("/en", ""))
}

fn in_english(lang: Lang) -> bool {
    lang == Lang::En
}
