//! Handlers of accounts.

mod device;
mod email;
mod passwords;
mod profile;
mod proof;
mod remember;
mod second_factor;
mod sessions;
mod users;

use super::model::User;
use crate::{app::App, files};

pub use email::{cancel_email_change, confirm_email, resend_verification, verify_email};
pub use passwords::{change_password, forgot_password, reset_password};
pub use profile::{get_profile, update_profile};
pub use remember::remember_me;
pub use second_factor::{confirm_totp, enrol_totp, reauthenticate, remove_totp, reset_totp};
pub use sessions::{end_session, list_sessions, login, logout};
pub use users::{change_admin_status, get_user, invite_admin, list_users, user_statistics};

impl User {
    /// Adds the address of the avatar.
    pub fn to_response(mut self, app: &App) -> Self {
        self.avatar_url = self.avatar_file_id.map(|file| files::public_url(app, file));
        self
    }
}
