//! Contents: the call to become a partner, and terms and conditions.
//!
//! - Terms of a type have versions. One is published, one at most is a draft; what was published
//!   never changes, which the database sees to.
//! - Who writes and who validates are the callers themselves, and two people.
//! - Content is HTML, sanitised on its way in: what is stored is harmless.

mod cta;
mod model;
mod store;
mod terms;

pub use cta::{get_cta_partnership, save_cta_partnership};
pub use terms::{create_terms, get_terms, list_terms_history, publish_terms, update_terms};
