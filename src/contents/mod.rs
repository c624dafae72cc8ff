//! Contents: the partnership call to action, and terms and conditions.
//!
//! - Terms have a type and versions. One version is published and at most one is a draft; triggers
//!   prevent changes of published versions.
//! - Author and publisher are the callers themselves, and different people if four eyes are required.
//! - HTML is sanitised before it is stored.

mod cta;
mod model;
mod store;
mod terms;

pub use cta::{get_cta_partnership, save_cta_partnership};
pub use terms::{create_terms, get_terms, list_terms_history, publish_terms, update_terms};
