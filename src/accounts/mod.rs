//! Accounts, sign-in and sessions.
//!
//! - An e-mail address belongs to at most one account that is not deleted, by a unique index.
//! - An e-mail address changes when the new one is confirmed, and the old one can take the change
//!   back (`email_change`).
//! - Only hashes of passwords and tokens are stored.
//! - Opening and ending sessions (a reset, a suspension) both lock the account's row first, so they
//!   are serialised.

mod admins;
mod email_change;
mod hash_queue;
mod http;
mod letters;
mod lockout;
mod model;
mod password;
mod second_factor;
mod store;
mod tokens;
mod totp;

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    events::{self, AccountLetter, AccountRef},
    kernel::{
        caller::{Caller, Context},
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        lang::Lang,
    },
};

use email_change::Request;
use model::SessionRow;
use tokens::OpenedBy;

pub use admins::{
    FirstAdmin, create_admin, first_admin, mark_email_verified, reset_second_factor,
    set_invited_password,
};
pub use hash_queue::Origin;
pub use http::{
    cancel_email_change, change_admin_status, change_password, confirm_email, confirm_totp,
    end_session, enrol_totp, forgot_password, get_profile, get_user, invite_admin, list_sessions,
    list_users, login, logout, reauthenticate, remember_me, remove_totp, resend_verification,
    reset_password, reset_totp, update_profile, user_statistics, verify_email,
};
pub use letters::send_letter;
pub use model::{AccountChange, Impersonation, NewAccount, Status, User, rules};
pub use password::{Password, Passwords, check_confirmation};

/// The account of a bearer token with its current rights. One statement. Does not count as use of
/// the session: an open stream of notifications checks the session by this, and a forgotten browser
/// tab must not keep the session alive.
pub async fn caller(app: &App, token: &str, context: Context) -> Result<Caller> {
    session(app, token).await?.into_caller(context)
}

/// The caller of a request, like [`caller`]. Counts as use of the session.
///
/// `last_used_at` is written at most once a minute, and beside the request: a read waits for no
/// write, neither for its commit nor for the writer of SQLite. A lost write ends an idle session a
/// minute early at most.
pub async fn authenticate(app: &App, token: &str, context: Context) -> Result<Caller> {
    let row = session(app, token).await?;
    let (id, now) = (row.session_id, app.clock.now());
    if row.last_used_at + tokens::TOUCH <= now {
        let app = app.clone();
        tokio::spawn(async move {
            if let Err(why) = tokens::touch(&app.db, id, now).await {
                tracing::debug!("the use of a session was not written down: {why}");
            }
        });
    }
    row.into_caller(context)
}

/// The open session of a token, of an account that is active.
async fn session(app: &App, token: &str) -> Result<SessionRow> {
    let row = tokens::session(&app.db, &ids::hash(token), app.clock.now()).await?;
    let row = row.ok_or(Error::Unauthenticated)?;
    row.status.standing()?;
    Ok(row)
}

/// Creates an account; 409 if the e-mail address is in use.
pub async fn create(tx: &mut Tx, account: &NewAccount, now: DateTime<Utc>) -> Result<Uuid> {
    store::insert(tx, account, now).await
}

/// Updates an account for the caller. A deactivated account loses its sessions. Another e-mail address
/// has to be confirmed; that of an invited account changes at once, and the invitation is sent again.
/// The current address keeps a pending change, as in a profile.
pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    change: &AccountChange,
    caller: &Caller,
    now: DateTime<Utc>,
) -> Result<()> {
    store::lock_row(tx, id).await?;
    let before = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    store::update(tx, id, change, now).await?;
    if before.email != change.email.as_str() {
        let (requested_by, lang) = (caller.person.id, caller.context.lang);
        if before.password_hash.is_some() {
            let request = Request { requested_by, session_id: None, lang };
            email_change::request(tx, &before, &change.email, request, now).await?;
        } else {
            email_change::replace_unproven(tx, &before, &change.email, requested_by, now).await?;
            invite(tx, id, lang, now).await?;
        }
    }
    if change.status.is_some_and(|status| status != Status::Active) {
        tokens::end_all(tx, id, None, now).await?;
    }
    Ok(())
}

/// Sets the status; ends all sessions unless it is active.
pub async fn set_status(tx: &mut Tx, id: Uuid, status: Status, now: DateTime<Utc>) -> Result<()> {
    store::set_status(tx, id, status, now).await?;
    match status {
        Status::Active => Ok(()),
        Status::Inactive | Status::Suspended => tokens::end_all(tx, id, None, now).await,
    }
}

/// Whether the account has no password yet.
pub async fn is_invited(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let account = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    Ok(account.password_hash.is_none())
}

/// Opens a short impersonated session for the caller.
pub async fn impersonate(
    tx: &mut Tx,
    caller: &Caller,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<Impersonation> {
    // Locks both rows in a fixed order, so that ending the sessions of either is serialised with
    // this.
    for id in [caller.person.id.min(id), caller.person.id.max(id)] {
        store::lock_row(tx, id).await?;
    }
    if !tokens::session_exists(tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let user = store::user_in(tx, id).await?.ok_or(Error::NotFound)?;
    let opened = OpenedBy::Impersonator(caller.person.id);
    let token = tokens::open_session(tx, id, opened, &caller.context, now).await?;
    let access_token = token.reveal().to_owned();
    Ok(Impersonation { access_token, expires_in: tokens::IMPERSONATION.num_seconds(), user })
}

/// Deletes an account: its sessions end, its e-mail address becomes available, its name is kept for
/// history.
pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    store::delete(tx, id, now).await?;
    email_change::close_all(tx, id).await?;
    second_factor::remove(tx, id).await?;
    tokens::end_all(tx, id, None, now).await
}

/// Removes an account that was created until `created_until` and never verified its address, with all
/// personal data; `false` if there is no such account. An empty row is kept, as of every deleted
/// account.
pub async fn erase_unverified(
    tx: &mut Tx,
    id: Uuid,
    created_until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let erased = store::erase_unverified(tx, id, created_until, now).await?;
    if erased {
        second_factor::remove(tx, id).await?;
        store::delete_traces(tx, id).await?;
    }
    Ok(erased)
}

/// Queues an invitation mail.
pub async fn invite(tx: &mut Tx, account_id: Uuid, lang: Lang, now: DateTime<Utc>) -> Result<()> {
    events::send(tx, &AccountLetter::Invited(AccountRef { account_id, lang }), now).await
}

/// Queues a mail with a link that verifies the address.
pub async fn send_verification(
    tx: &mut Tx,
    account_id: Uuid,
    lang: Lang,
    now: DateTime<Utc>,
) -> Result<()> {
    events::send(tx, &AccountLetter::EmailVerification(AccountRef { account_id, lang }), now).await
}

pub async fn is_email_verified(tx: &mut Tx, id: Uuid) -> Result<bool> {
    store::is_email_verified(tx, id).await
}

/// Who requested the latest change of an account's e-mail address that its holder did not request;
/// `None` if there was none.
pub async fn last_email_change_by(tx: &mut Tx, account_id: Uuid) -> Result<Option<Uuid>> {
    email_change::last_requested_by(tx, account_id).await
}

pub async fn exists(db: &Db, id: Uuid) -> Result<bool> {
    Ok(store::user(db, id).await?.is_some())
}

pub async fn user(tx: &mut Tx, id: Uuid) -> Result<Option<User>> {
    store::user_in(tx, id).await
}

/// Encrypts secrets of second factors that older keys have encrypted with the current one; returns
/// how many.
pub async fn reseal(app: &App) -> Result<u64> {
    second_factor::reseal(&app.db, &app.sealer).await
}

/// Deletes expired sessions, tokens, failures and known networks, and ends changes of e-mail addresses
/// whose time is over.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    tokens::sweep(db, now).await?;
    email_change::sweep(db, now).await?;
    lockout::sweep(db, now).await
}
