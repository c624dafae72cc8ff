//! The crew of partners: people who board passengers.
//!
//! - A crew member is an account with role `crew` that belongs to one partner. It sees the partner's
//!   sailings and manifests, with masked identity numbers, and checks passengers in.
//! - Only an active partner invites crew, at most [`LIMIT`] people. The partner's row is locked for
//!   the count, so concurrent invitations cannot exceed the limit.
//! - Crew accounts have a status of their own. A suspension of the partner leaves it as it is, so
//!   that passengers who have paid can be boarded.
//! - A partner with crew cannot be deleted; a foreign key enforces it.

mod http;
mod model;
mod store;

pub use http::{invite_crew, list_crew, remove_crew, resend_crew_invitation};
pub use model::LIMIT;
