//! The platform's people, and what they may do.
//!
//! - Nobody rises by this door: staff create, change, assign or remove only permissions below
//!   their own level whose rules they all hold, and touch only staff below their own level.
//! - Every change takes one lock and then reads who the caller is now, so that two editors cannot
//!   get around that rule between them.
//! - Name, e-mail, number and status are the account's; a permission is read fresh on every
//!   request, so that a change of it acts on the next one.

mod catalogue;
mod http;
mod model;
mod permissions;
mod rules;
mod store;

use crate::{app::App, kernel::error::Result};

pub use http::{
    create_permission, create_staff, delete_permission, delete_staff, get_permission,
    get_permission_rules, get_staff, list_permissions, list_staff, update_permission, update_staff,
};

/// Puts what older keys have sealed under the current one; says how many rows that were.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}
