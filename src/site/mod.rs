//! The travellers' site: Indonesian at `/`, English at `/en`.
//!
//! It never reads the session of the console: every visitor is a guest. The bookings that a visitor has
//! opened are in a sealed cookie ([`bookings`]).

mod book;
mod bookings;
mod front;
mod partner;
mod search;
mod sitemap;
mod structured;
mod terms;

pub use book::site_book;
pub use bookings::{site_booking, site_bookings, site_cancel, site_change, site_move, site_ticket};
pub use front::front;
pub use partner::{site_partner, site_widget};
pub use search::site_search;
pub use sitemap::{robots, sitemap, sitemap_lines, sitemap_partners};
pub use terms::site_terms;

use crate::{kernel::lang::Lang, web::visit::Visit};

/// The address of a page in the language of the visit.
fn at(visit: &Visit, path: &str) -> String {
    format!("{}{path}", visit.lang().of("/en", ""))
}

fn in_english(lang: Lang) -> bool {
    lang == Lang::En
}
