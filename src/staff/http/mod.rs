//! Handlers of staff and permissions.

mod permissions;
mod staff;

pub use permissions::{
    create_permission, delete_permission, get_permission, get_permission_rules, list_permissions,
    update_permission,
};
pub use staff::{create_staff, delete_staff, get_staff, list_staff, update_staff};
