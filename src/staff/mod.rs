//! Staff and permissions.
//!
//! - Nobody can raise their own rights: staff manage and assign only permissions below their own
//!   level whose rules they all hold, and manage only staff below their own level.
//! - Every change takes one lock and then reads the caller's current rights, so that concurrent
//!   changes cannot circumvent that rule.
//! - Name, e-mail, phone and status belong to the account. Permissions are read on every request, so
//!   a change takes effect with the next one.

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

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}
